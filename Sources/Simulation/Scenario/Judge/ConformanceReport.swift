import Quantities
import SiteConfig

/// What a conformance run found: the computed rows, the rows that cannot be used, and how well expectations
/// were met.
public struct ConformanceReport: Sendable {
    /// The largest difference to an expectation, as share of nominal power.
    public struct Worst: Sendable, Equatable {
        public var id: String
        public var error: Double
    }

    /// Share of nominal power within which a computed power is the expected one.
    public static let exactness = 1e-6

    /// CSV, its header first.
    public private(set) var lines: [String]
    /// Rows that were left out.
    public private(set) var errors: [CSVError] = []
    /// Rows that were computed and of which somebody should know something.
    public private(set) var notes: [CSVError] = []
    public private(set) var checkedCount = 0
    /// One for each row that is not as expected.
    public private(set) var misses: [CSVError] = []
    public private(set) var worst: Worst?

    public init(header: String) { lines = [header] }

    public var isGood: Bool { errors.isEmpty && misses.isEmpty }

    /// What `worst` is measured in.
    public var worstUnit = "of nominal power"

    /// `29 of 29 rows as expected; worst error 3.3e-08 of nominal power, row V100`.
    public var summary: String? {
        guard checkedCount > 0 else { return nil }
        let counts = "\(checkedCount - misses.count) of \(checkedCount) rows as expected"
        return worst.map { "\(counts); worst error \($0.error) \(worstUnit), row \($0.id)" } ?? counts
    }

    public mutating func reject(_ error: CSVError) { errors.append(error) }

    public mutating func note(_ note: CSVError) { notes.append(note) }

    /// Adds a computed power, and compares it where the row says what is expected.
    public mutating func add(_ power: Watts, of row: CSVTable.Row, nominal: Watts) throws(CSVError) {
        let id = try row.required("id")
        let expected = try row.number("expect_p_kw", in: -1e12...1e12)
        // A billionth of a kilowatt; the sum turns −0 into 0.
        let kilowatts = (power.kilowatts * 1e9).rounded() / 1e9 + 0
        lines.append("\(Self.field(id)),\(kilowatts)")
        guard let expected else { return }
        checkedCount += 1
        let error = (power.kilowatts - expected).magnitude
        let rounding = Self.halfLastDigit(row.text("expect_p_kw") ?? "")
        let share = max(0, error - rounding) / nominal.kilowatts
        if share > worst?.error ?? -1 { worst = Worst(id: id, error: share) }
        // Not "more than", so that no comparison with a NaN can pass.
        guard share <= Self.exactness else {
            misses.append(row.fail("expect_p_kw", "row \(id): expected \(expected), computed \(kilowatts)"))
            return
        }
    }

    /// Adds what became of a profile and when, and compares it where the row says what is expected.
    public mutating func add(_ verdict: String, at seconds: Double, of row: CSVTable.Row) throws(CSVError) {
        let id = try row.required("id")
        let expected = try row.number("expect_t_s", in: 0...864_000)
        lines.append("\(Self.field(id)),\(verdict),\((seconds * 1e6).rounded() / 1e6)")
        guard row.text("expect_verdict") != nil || expected != nil else { return }
        checkedCount += 1
        if let wanted = row.text("expect_verdict"), wanted != verdict {
            misses.append(row.fail("expect_verdict", "row \(id): expected \(wanted), computed \(verdict)"))
            return
        }
        guard let expected else { return }
        let error = max(0, (seconds - expected).magnitude - Self.halfLastDigit(row.text("expect_t_s") ?? ""))
        if error > worst?.error ?? -1 { worst = Worst(id: id, error: error) }
        guard error <= 0.001 else {
            misses.append(row.fail("expect_t_s", "row \(id): expected \(expected) s, computed \(seconds) s"))
            return
        }
    }

    /// Half a unit of the last digit that the text has: an expectation cannot be more exact than written.
    static func halfLastDigit(_ text: String) -> Double {
        guard let point = text.firstIndex(of: "."), !text.contains("e"), !text.contains("E") else { return 0 }
        return text[text.index(after: point)...].reduce(0.5) { unit, _ in unit / 10 }
    }

    private static func field(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy {
            $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "\"") && $0 >= 0x20
        }
        return isPlain
            ? text
            : "\"\(text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\""))\""
    }
}
