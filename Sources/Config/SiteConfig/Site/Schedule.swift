import ConfigText
import Quantities

/// A site's schedule: which power is asked for when, by wall time. Between its rows the default holds.
public struct Schedule: Sendable, Equatable {
    /// The first line of a file.
    public static let heading = "start_utc,end_utc,power_kw"
    /// A year of quarter hours, twice.
    public static let mostRows = 70_272

    public struct Row: Sendable, Equatable {
        /// Seconds since 1970-01-01 00:00 UTC; the start belongs to the row, the end does not.
        public var start: Int64
        public var end: Int64
        /// Positive = discharge.
        public var power: Watts

        public init(start: Int64, end: Int64, power: Watts) {
            self.start = start
            self.end = end
            self.power = power
        }
    }

    /// In the order of time, without overlap.
    public let rows: [Row]

    /// What is wrong with a file, and in which line (from 1).
    public struct Fault: Error, Equatable, CustomStringConvertible {
        public var file: String
        public var line: Int
        public var text: String

        public init(file: String, line: Int, text: String) {
            self.file = file
            self.line = line
            self.text = text
        }

        public var description: String { "\(file):\(line): \(text)" }
    }

    /// Reads a CSV file's text: the heading, then a row on each line, sorted by time.
    ///
    /// Strict: no quotes, no spaces, times as `2026-11-22T00:15:00Z`, powers as decimal numbers whose
    /// magnitude is at most `limit`; the last line may end without a line feed, and lines may end in CR LF.
    ///
    /// - Throws: `Fault` for the first line that is wrong; a file is taken whole or not at all.
    public static func read(_ text: String, file: String, limit: Watts) throws(Fault) -> Schedule {
        var lines = text.utf8.split(separator: 10, omittingEmptySubsequences: false).map { line in
            String(Substring(line.last == 13 ? line.dropLast() : line))
        }
        if lines.last == "" { lines.removeLast() }
        guard lines.first == heading else {
            throw Fault(file: file, line: 1, text: "the first line must be \(heading)")
        }
        guard lines.count - 1 <= mostRows else {
            throw Fault(file: file, line: mostRows + 2, text: "more than \(mostRows) rows")
        }
        var rows: [Row] = []
        for (index, line) in lines.enumerated().dropFirst() {
            switch row(line, after: rows.last, limit: limit) {
            case .success(let row): rows.append(row)
            case .failure(let wrong): throw Fault(file: file, line: index + 1, text: wrong.text)
            }
        }
        return Schedule(rows: rows)
    }

    /// - Precondition: `rows` are in the order of time, without overlap.
    init(rows: [Row]) { self.rows = rows }

    /// The row that holds at `seconds` since 1970-01-01 00:00 UTC; `nil` in a gap.
    public func row(at seconds: Int64) -> Row? {
        var low = 0
        var high = rows.count
        while low < high {
            let middle = (low + high) / 2
            if rows[middle].end <= seconds { low = middle + 1 } else { high = middle }
        }
        return low < rows.count && rows[low].start <= seconds ? rows[low] : nil
    }

    private struct Wrong: Error { var text: String }

    private static func row(_ line: String, after last: Row?, limit: Watts) -> Result<Row, Wrong> {
        let fields = line.split(separator: ",", omittingEmptySubsequences: false).map { String($0) }
        func wrong(_ text: String) -> Result<Row, Wrong> { .failure(Wrong(text: text)) }
        guard fields.count == 3 else { return wrong("a row has 3 fields, this line has \(fields.count)") }
        guard let start = UTCTime.seconds(fields[0]) else { return wrong(badTime("start_utc", fields[0])) }
        guard let end = UTCTime.seconds(fields[1]) else { return wrong(badTime("end_utc", fields[1])) }
        guard let kilowatts = number(fields[2]) else {
            return wrong("power_kw: \(ConfigWording.quoted(fields[2])) is not a number")
        }
        let power = Watts.kilowatts(kilowatts)
        guard power.magnitude <= limit.magnitude else {
            let most = limit.magnitude.value / 1_000
            return wrong("power_kw is \(fields[2]); allowed: -\(most) … \(most)")
        }
        guard start < end else { return wrong("end_utc \(fields[1]) is not after start_utc \(fields[0])") }
        if let last, start < last.end {
            return wrong(
                start < last.start ? "rows are not in the order of time" : "overlaps the row before it")
        }
        return .success(Row(start: start, end: end, power: power))
    }

    private static func badTime(_ name: String, _ text: String) -> String {
        "\(name): \(ConfigWording.quoted(text)) is not a time like 2026-11-22T00:15:00Z"
    }

    /// A decimal number and nothing else: Swift's own reading also takes `0x1p3`, `nan` and `inf`.
    private static func number(_ text: String) -> Double? {
        let isPlain = text.utf8.allSatisfy { (48...57).contains($0) || $0 == 45 || $0 == 46 }
        guard isPlain, text.utf8.count <= 20 else { return nil }
        return Double(text)
    }
}

/// Times in UTC as text.
public enum UTCTime {
    /// Seconds since 1970-01-01 00:00 UTC of `2026-11-22T00:15:00Z`; years 1970 … 2199. No leap second: the
    /// clocks of Linux have none.
    public static func seconds(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count == 20, bytes[4] == 45, bytes[7] == 45, bytes[10] == 84, bytes[13] == 58,
            bytes[16] == 58, bytes[19] == 90
        else { return nil }
        func field(_ start: Int, _ end: Int, _ range: ClosedRange<Int>) -> Int? {
            var number = 0
            for byte in bytes[start..<end] {
                guard (48...57).contains(byte) else { return nil }
                number = number * 10 + Int(byte - 48)
            }
            return range.contains(number) ? number : nil
        }
        guard let year = field(0, 4, 1970...2199), let month = field(5, 7, 1...12),
            let day = field(8, 10, 1...daysIn(month, of: year)), let hour = field(11, 13, 0...23),
            let minute = field(14, 16, 0...59), let second = field(17, 19, 0...59)
        else { return nil }
        var days = day - 1
        for earlier in 1970..<year { days += isLeap(earlier) ? 366 : 365 }
        for earlier in 1..<month { days += daysIn(earlier, of: year) }
        return Int64(((days * 24 + hour) * 60 + minute) * 60 + second)
    }

    private static func isLeap(_ year: Int) -> Bool {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }

    private static func daysIn(_ month: Int, of year: Int) -> Int {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
