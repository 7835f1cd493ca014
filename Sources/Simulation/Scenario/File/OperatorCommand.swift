import Quantities

/// What a person asks of the site, in the words that follow `ballastctl`.
///
/// `lease agc|aggregator KW --for TIME` stands for what comes from above over the network; `ballastctl` has
/// no such word, and so only the virtual tier takes it. So it is with `--by`, the account of the person who
/// asks (1000 without it), for a run has one account.
public struct OperatorCommand: Sendable, Equatable {
    public enum Wish: Sendable, Equatable {
        case reset(unit: String)
        case stop
        /// `nil` = the site.
        case resume(unit: String?)
        case setpoint(Watts, unit: String?, for: Duration)
        case revoke(unit: String?)
        case maintenance(unit: String, for: Duration)
        case standby(unit: String, for: Duration)
        /// `nil` = until somebody ends it.
        case hold(unit: String, for: Duration?)
        /// Ends what the person has locked, or what the account `of` has.
        case auto(unit: String, of: UInt32?)
        case lease(Source, Watts, for: Duration)
    }

    public enum Source: String, Sendable, Equatable, CaseIterable { case agc, aggregator }

    /// Why the words are no command.
    public struct ParseError: Error, Equatable {
        public var description: String
    }

    public var wish: Wish
    /// Why a person asks for it; "scenario" where the file says nothing.
    public var reason: String
    /// Who asks: `--by NAME`. The virtual tier tells people apart by it; real programs by their accounts.
    public var person: String
    /// As they follow `ballastctl`, with the reason.
    public var arguments: [String]

    /// Whether only the virtual tier can carry it out.
    public var isVirtualOnly: Bool { arguments.first == "lease" || userID != Self.ordinaryUserID }
    /// Who asks.
    public let userID: UInt32
    private static let ordinaryUserID: UInt32 = 1_000

    /// The unit that it names.
    public var unit: String? {
        switch wish {
        case .reset(let unit), .maintenance(let unit, _), .standby(let unit, _), .hold(let unit, _),
            .auto(let unit, _):
            unit
        case .resume(let unit), .setpoint(_, let unit, _), .revoke(let unit): unit
        case .stop, .lease: nil
        }
    }

    /// Reads a line; words may stand in double quotes.
    public init(_ line: String) throws(ParseError) {
        var words = Words(try Self.split(line))
        let reason = try words.option("--reason")
        userID =
            try words.option("--by").map { (text) throws(ParseError) in try Self.userID(text) }
            ?? Self.ordinaryUserID
        self.reason = reason ?? "scenario"
        person = try words.option("--by") ?? ""
        arguments = words.left + ["--reason", self.reason]
        let unit = try words.option("--unit")
        let time = try words.option("--for").map { (text) throws(ParseError) in try Self.duration(text) }
        wish = try Self.wish(&words, unit: unit, time: time)
        guard words.left.isEmpty else {
            throw ParseError(description: "'\(words.left[0])' is a word too many")
        }
    }

    private static let allowed =
        "reset UNIT, stop, resume [UNIT], setpoint KW [--unit UNIT] --for TIME, setpoint revoke [--unit UNIT],"
        + " mode UNIT maintenance|standby|hold --for TIME, mode UNIT auto [--of ACCOUNT], lease agc|aggregator KW"
        + " --for TIME; any of them --by ACCOUNT"

    private static func wish(
        _ words: inout Words, unit: String?, time: Duration?
    ) throws(ParseError) -> Wish {
        func needed() throws(ParseError) -> Duration {
            guard let time else { throw ParseError(description: "needs --for with a time: 90s, 15m, 2h") }
            return time
        }
        switch words.next() {
        case "reset": return .reset(unit: try words.needed("a unit"))
        case "stop": return .stop
        case "resume": return .resume(unit: words.next())
        case "setpoint":
            let word = try words.needed("a power in kW, or revoke")
            if word == "revoke" { return .revoke(unit: unit) }
            return .setpoint(try power(word), unit: unit, for: try needed())
        case "mode":
            let unit = try words.needed("a unit")
            switch try words.needed("maintenance, standby, hold or auto") {
            case "maintenance": return .maintenance(unit: unit, for: try needed())
            case "standby": return .standby(unit: unit, for: try needed())
            case "hold": return .hold(unit: unit, for: time)
            case "auto":
                let person = try words.option("--of").map { (text) throws(ParseError) in try userID(text) }
                return .auto(unit: unit, of: person)
            case let word:
                throw ParseError(description: "'\(word)' is none of maintenance, standby, hold, auto")
            }
        case "lease":
            let name = try words.needed("agc or aggregator")
            guard let source = Source(rawValue: name) else {
                throw ParseError(description: "'\(name)' is none of agc, aggregator")
            }
            return .lease(source, try power(try words.needed("a power in kW")), for: try needed())
        case let word: throw ParseError(description: "'\(word ?? "")' is no command; allowed: \(allowed)")
        }
    }

    private static func userID(_ text: String) throws(ParseError) -> UInt32 {
        guard let id = UInt32(text) else { throw ParseError(description: "'\(text)' is no account's number") }
        return id
    }

    private static func power(_ word: String) throws(ParseError) -> Watts {
        guard let power = Double(word), power.isFinite, power.magnitude <= 1e6 else {
            throw ParseError(description: "'\(word)' is no power in kW")
        }
        return .kilowatts(power)
    }

    private static func duration(_ text: String) throws(ParseError) -> Duration {
        let factors: [Character: Double] = ["s": 1, "m": 60, "h": 3_600]
        guard let last = text.last, let factor = factors[last], let number = Double(text.dropLast()),
            (0...86_400).contains(number * factor)
        else { throw ParseError(description: "'\(text)' is no time: 90s, 15m, 2h") }
        return ScenarioKeys.seconds(number * factor)
    }

    private static func split(_ line: String) throws(ParseError) -> [String] {
        var words: [String] = []
        var word: String?
        var isQuoted = false
        for character in line {
            if character == "\"" {
                isQuoted.toggle()
                word = word ?? ""
            } else if character == " " && !isQuoted {
                if let done = word { words.append(done) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        guard !isQuoted else { throw ParseError(description: "a quotation mark is missing") }
        if let word { words.append(word) }
        return words
    }

    private struct Words {
        var left: [String]

        init(_ words: [String]) { left = words }

        mutating func next() -> String? { left.isEmpty ? nil : left.removeFirst() }

        mutating func needed(_ what: String) throws(ParseError) -> String {
            guard let word = next() else { throw ParseError(description: "needs \(what)") }
            return word
        }

        mutating func option(_ name: String) throws(ParseError) -> String? {
            guard let index = left.firstIndex(of: name) else { return nil }
            guard left.indices.contains(index + 1) else {
                throw ParseError(description: "\(name) needs a value")
            }
            let value = left[index + 1]
            left.removeSubrange(index...(index + 1))
            return value
        }
    }
}
