import Quantities
import SiteConfig

/// Grid frequency over time: straight lines between the rows of a table, the first and last value held beyond
/// its ends.
public struct FrequencyProfile: Sendable, Equatable {
    public struct Point: Sendable, Equatable {
        public var time: Duration
        public var frequency: Hertz

        public init(time: Duration, frequency: Hertz) {
            self.time = time
            self.frequency = frequency
        }
    }

    /// Why a text is no profile; lines count from 1.
    public struct ParseError: Error, Equatable, CustomStringConvertible {
        public enum Problem: Sendable, Equatable {
            /// The first line that is no comment must be `t_s,f_hz`.
            case header(String)
            /// A row is not two numbers.
            case row(String)
            /// The time is negative, above ten days, or not after the row before.
            case time(String)
            /// The frequency is outside 40 … 70 Hz.
            case frequency(String)
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
                "line \(line): the header must be t_s,f_hz, not \(ConfigText.quoted(text))"
            case .row(let text):
                "line \(line): \(ConfigText.quoted(text)) is not two numbers (time in s, frequency in Hz)"
            case .time(let text):
                "line \(line): time \(text) s must be in 0 … 864000 and after the row before"
            case .frequency(let text): "line \(line): frequency \(text) Hz is outside 40 … 70"
            case .empty: "line \(line): the profile has no row"
            }
        }
    }

    /// One or more, times strictly rising.
    public let points: [Point]

    /// A flat profile.
    public init(constant frequency: Hertz) { points = [Point(time: .zero, frequency: frequency)] }

    /// Reads CSV: lines that begin with `#` and empty lines are skipped, then `t_s,f_hz`, then the rows.
    public init(csv text: String) throws(ParseError) {
        var points: [Point] = []
        var isHeaderSeen = false
        var lineNumber = 0
        // By bytes: to `Character`, CR LF is one letter and no line feed.
        for line in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            lineNumber += 1
            let content = String(Substring(line)).trimmed
            if content.isEmpty || content.utf8.first == UInt8(ascii: "#") { continue }
            guard isHeaderSeen else {
                guard content == "t_s,f_hz" else {
                    throw ParseError(line: lineNumber, problem: .header(content))
                }
                isHeaderSeen = true
                continue
            }
            points.append(try Self.point(content, line: lineNumber, after: points.last))
        }
        guard !points.isEmpty else { throw ParseError(line: lineNumber, problem: .empty) }
        self.points = points
    }

    private static func point(_ row: String, line: Int, after last: Point?) throws(ParseError) -> Point {
        let fields = row.split(separator: ",", omittingEmptySubsequences: false)
        guard fields.count == 2, let seconds = Double(fields[0].trimmed),
            let hertz = Double(fields[1].trimmed), seconds.isFinite, hertz.isFinite
        else { throw ParseError(line: line, problem: .row(row)) }
        guard seconds >= 0, seconds <= 864_000 else {
            throw ParseError(line: line, problem: .time(String(fields[0])))
        }
        let time = Duration.microseconds(Int64((seconds * 1e6).rounded()))
        if let last, time <= last.time { throw ParseError(line: line, problem: .time(String(fields[0]))) }
        guard hertz >= 40, hertz <= 70 else {
            throw ParseError(line: line, problem: .frequency(String(fields[1])))
        }
        return Point(time: time, frequency: Hertz(hertz))
    }

    /// The frequency at `time` of the profile's own clock; any time.
    public func frequency(at time: Duration) -> Hertz {
        // The first point after `time`, by halving.
        var low = 0
        var high = points.count
        while low < high {
            let middle = (low + high) / 2
            if points[middle].time <= time { low = middle + 1 } else { high = middle }
        }
        if low == 0 { return points[0].frequency }
        let before = points[low - 1]
        if low == points.count { return before.frequency }
        let after = points[low]
        let share = (time - before.time).seconds / (after.time - before.time).seconds
        return before.frequency + (after.frequency - before.frequency) * share
    }

    /// Time of the last row.
    public var end: Duration { points.last?.time ?? .zero }
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
