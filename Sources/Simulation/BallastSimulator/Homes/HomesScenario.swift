import ConfigText
import YAMLText

/// A run of homes as a file says it, and what must come of it: the shape of `hil/scenarios`, with
/// expectations on bills, positions and balances instead of powers and modes.
public struct HomesScenario: Sendable {
    /// One thing that the aggregator's books must say.
    struct Expectation: Sendable {
        enum Subject: Sendable {
            /// The total of a party's bill in paise; positive = it gets.
            case bill(String, paise: Int64)
            /// What a home made more than it drew, in Wh.
            case position(Int, wattHours: Int64)
            /// Of an account in paise.
            case balance(String, paise: Int64)
        }

        var subject: Subject
        var why: String
    }

    /// How many.
    public var homes: Int
    /// From 2026-01-01 on.
    public var days: Int
    /// The same seed, the same days.
    public var seed: UInt64
    var expectations: [Expectation]

    /// Throws what is wrong with the file, with its place and what would be right.
    public init(path: String) throws {
        self = try ConfigReader.read(try YAMLText.load(path: path), file: path, Self.read)
    }

    private static func read(_ reader: ConfigReader) -> HomesScenario? {
        _ = reader.value(words("why", .required, "what it shows"))
        let homes = reader.value(whole("homes", 1...10_000))
        let days = reader.value(whole("days", 1...365))
        let seed = reader.value(whole("seed", 0...1_000_000))
        let expectations = reader.list("expect", count: 1...1_000) { section, _ in expectation(section) }
        guard let homes, let days, let seed else { return nil }
        return HomesScenario(homes: homes, days: days, seed: UInt64(seed), expectations: expectations)
    }

    private init(homes: Int, days: Int, seed: UInt64, expectations: [Expectation]) {
        (self.homes, self.days, self.seed, self.expectations) = (homes, days, seed, expectations)
    }

    private static func words(
        _ name: String, _ fallback: ConfigDefault<String>, _ note: String
    ) -> ConfigKey<String> {
        .text(name, allowed: "1 … 200 characters", fallback, note) {
            (1...200).contains($0.count) ? $0 : nil
        }
    }

    private static func whole(_ name: String, _ range: ClosedRange<Int>) -> ConfigKey<Int> {
        .whole(name, range, "", .required, "how many") { $0 }
    }

    private static func decimal(_ name: String, _ digits: Int) -> ConfigKey<Int64> {
        .text(name, allowed: "a number with \(digits) decimals", .required, "exactly") {
            Self.number($0, decimals: digits)
        }
    }

    private static func expectation(_ reader: ConfigReader) -> Expectation? {
        let why = reader.value(words("why", .fixed("-"), "for people")) ?? "-"
        let subjects = ["bill", "position", "balance"].filter { reader.has($0) }
        guard subjects.count == 1 else {
            reader.refuse("expect", "takes one of bill, position, balance, found \(subjects.count)")
            return nil
        }
        let name = reader.value(words(subjects[0], .required, "of whom"))
        switch subjects[0] {
        case "bill":
            guard let name, let paise = reader.value(decimal("total_inr", 2)) else { return nil }
            return Expectation(subject: .bill(name, paise: paise), why: why)
        case "position":
            guard let name, let energy = reader.value(decimal("netto_kwh", 3)) else { return nil }
            guard name.hasPrefix("h"), let home = Int(name.dropFirst()) else {
                reader.refuse("position", "takes a home, h0 and so on")
                return nil
            }
            return Expectation(subject: .position(home, wattHours: energy), why: why)
        case _:
            guard let name, let paise = reader.value(decimal("inr", 2)) else { return nil }
            return Expectation(subject: .balance(name, paise: paise), why: why)
        }
    }

    /// `-12.50` in hundredths; all decimals must stand there, and nothing else.
    static func number(_ text: String, decimals: Int) -> Int64? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].utf8.count == decimals,
            parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return Int64(parts[0] + parts[1])
    }
}
