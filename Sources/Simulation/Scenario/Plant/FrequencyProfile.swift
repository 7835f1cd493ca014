import ConfigText
import Quantities
import SiteConfig

/// Grid frequency over time, and where the file says so voltage and permit: straight lines between the rows
/// of a table, the first and last value held beyond its ends.
public struct FrequencyProfile: Sendable, Equatable {
    public struct Point: Sendable, Equatable {
        /// Read to the nanosecond.
        public var time: Duration
        public var frequency: Hertz
        /// Share of nominal voltage, 0 … 2; `nil` where the file has no `v_pu`.
        public var voltage: Fraction?
        /// Whether the grid's operator permits service; `nil` where the file has no `permit`.
        public var isPermitted: Bool?

        public init(
            time: Duration, frequency: Hertz, voltage: Fraction? = nil, isPermitted: Bool? = nil
        ) {
            self.time = time
            self.frequency = frequency
            self.voltage = voltage
            self.isPermitted = isPermitted
        }
    }

    /// One or more; times never fall, and two of the same time make a step.
    public let points: [Point]

    /// A flat profile.
    public init(constant frequency: Hertz) { points = [Point(time: .zero, frequency: frequency)] }

    /// Reads CSV: lines that begin with `#` and empty lines are skipped, then the header `t_s,f_hz` and
    /// optionally `v_pu` and `permit` (0 or 1), then the rows.
    public init(csv text: String) throws(ParseError) {
        var reader = ProfileReader()
        var lineNumber = 0
        // By bytes: to `Character`, CR LF is one letter and no line feed.
        for line in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            lineNumber += 1
            let content = String(Substring(line)).trimmed
            if content.isEmpty || content.utf8.first == UInt8(ascii: "#") { continue }
            try reader.read(content, line: lineNumber)
        }
        guard !reader.points.isEmpty else { throw ParseError(line: lineNumber, problem: .empty) }
        points = reader.points
    }

    /// The frequency at `time` of the profile's own clock, after the step where there is one; any time.
    public func frequency(at time: Duration) -> Hertz {
        between(time, { $0.frequency }) { before, after, share in before + (after - before) * share }
    }

    /// Share of nominal voltage at `time`; `nil` where the file does not say.
    public func voltage(at time: Duration) -> Fraction? {
        between(time, { $0.voltage }) { before, after, share in
            guard let before, let after else { return nil }
            return before + (after - before) * share
        }
    }

    /// Whether service is permitted at `time`: what the row before says; `nil` where the file does not say.
    public func isPermitted(at time: Duration) -> Bool? {
        between(time, { $0.isPermitted }) { before, _, _ in before }
    }

    /// Time of the last row.
    public var end: Duration { points.last?.time ?? .zero }

    private func between<Value>(
        _ time: Duration, _ value: (Point) -> Value, _ mix: (Value, Value, Double) -> Value
    ) -> Value {
        // The first point after `time`, by halving.
        var low = 0
        var high = points.count
        while low < high {
            let middle = (low + high) / 2
            if points[middle].time <= time { low = middle + 1 } else { high = middle }
        }
        if low == 0 { return value(points[0]) }
        let before = points[low - 1]
        if low == points.count { return value(before) }
        let after = points[low]
        let share = (time - before.time).seconds / (after.time - before.time).seconds
        return mix(value(before), value(after), share)
    }
}

extension FrequencyProfile {
    /// Why a text is no profile; lines count from 1.
    public struct ParseError: Error, Equatable, CustomStringConvertible {
        public enum Problem: Sendable, Equatable {
            /// The first line that is no comment must be `t_s,f_hz` and optionally `v_pu`, `permit`.
            case header(String)
            /// A row has not one number for each column.
            case row(String)
            /// The time is negative, above ten days, before the row before, or repeats it without a step.
            case time(String)
            /// The frequency is outside 40 … 70 Hz.
            case frequency(String)
            /// The voltage is outside 0 … 2 of nominal.
            case voltage(String)
            /// The permit is neither 0 nor 1.
            case permit(String)
            /// There is no row.
            case empty
        }

        public var line: Int
        public var problem: Problem

        public init(line: Int, problem: Problem) {
            self.line = line
            self.problem = problem
        }

        public var description: String {
            switch problem {
            case .header(let text):
                "line \(line): the header must be t_s,f_hz and optionally v_pu,permit, not "
                    + ConfigWording.quoted(text)
            case .row(let text):
                "line \(line): \(ConfigWording.quoted(text)) has not one number for each column"
            case .time(let text):
                "line \(line): time \(ConfigWording.shown(text)) s must be in 0 … 864000 and after the row before"
                    + " (twice the same time is a step, and needs another value)"
            case .frequency(let text):
                "line \(line): frequency \(ConfigWording.shown(text)) Hz is outside 40 … 70"
            case .voltage(let text):
                "line \(line): voltage \(ConfigWording.shown(text)) is outside 0 … 2 of nominal"
            case .permit(let text): "line \(line): permit \(ConfigWording.shown(text)) is neither 0 nor 1"
            case .empty: "line \(line): the profile has no row"
            }
        }
    }
}

/// Takes the header first and then one row after the other.
private struct ProfileReader {
    typealias Point = FrequencyProfile.Point
    typealias ParseError = FrequencyProfile.ParseError

    var points: [Point] = []
    private var columns: [String] = []

    mutating func read(_ content: String, line: Int) throws(ParseError) {
        func fail(_ problem: ParseError.Problem) -> ParseError { ParseError(line: line, problem: problem) }
        let fields = content.split(separator: ",", omittingEmptySubsequences: false).map(\.trimmed)
        guard !columns.isEmpty else {
            let optional = fields.dropFirst(2)
            let isKnown = optional.allSatisfy { $0 == "v_pu" || $0 == "permit" }
            guard fields.starts(with: ["t_s", "f_hz"]), isKnown, Set(optional).count == optional.count else {
                throw fail(.header(content))
            }
            columns = fields
            return
        }
        let numbers = fields.compactMap { CSVNumber.parse($0) }
        guard fields.count == columns.count, numbers.count == fields.count else { throw fail(.row(content)) }
        guard numbers[0] >= 0, numbers[0] <= 864_000 else { throw fail(.time(fields[0])) }
        guard numbers[1] >= 40, numbers[1] <= 70 else { throw fail(.frequency(fields[1])) }
        let time = Duration.nanoseconds(Int64((numbers[0] * 1e9).rounded()))
        var point = Point(time: time, frequency: Hertz(numbers[1]))
        for (index, column) in columns.enumerated().dropFirst(2) {
            if column == "v_pu" {
                guard (0...2).contains(numbers[index]) else { throw fail(.voltage(fields[index])) }
                point.voltage = Fraction(numbers[index])
            } else {
                guard numbers[index] == 0 || numbers[index] == 1 else { throw fail(.permit(fields[index])) }
                point.isPermitted = numbers[index] == 1
            }
        }
        guard isAfterTheLast(point) else { throw fail(.time(fields[0])) }
        points.append(point)
    }

    /// Later, or the second of two rows that make a step.
    private func isAfterTheLast(_ point: Point) -> Bool {
        guard let last = points.last, point.time <= last.time else { return true }
        let isThird = points.count > 1 && points[points.count - 2].time == last.time
        return point.time == last.time && point != last && !isThird
    }
}

extension StringProtocol {
    /// Without spaces, tabs and carriage returns at the ends.
    var trimmed: String {
        func isBlank(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 || byte == 13 }
        var bytes = Array(utf8)[...]
        while let first = bytes.first, isBlank(first) { bytes.removeFirst() }
        while let last = bytes.last, isBlank(last) { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }
}
