/// A second of civil time, UTC, counted from 1970. Leap seconds do not exist in it.
public struct UTCInstant: Hashable, Comparable, Sendable {
    public let seconds: Int64

    public init(seconds: Int64) { self.seconds = seconds }

    public static func < (a: UTCInstant, b: UTCInstant) -> Bool { a.seconds < b.seconds }
    public static func + (a: UTCInstant, seconds: Int64) -> UTCInstant {
        UTCInstant(seconds: a.seconds + seconds)
    }
    public static func - (a: UTCInstant, b: UTCInstant) -> Int64 { a.seconds - b.seconds }

    /// An instant as RFC 3339 writes it, years 1970 … 9999: `2026-11-01T00:00:00+05:30`; the seconds may be
    /// left out.
    ///
    /// The offset may not: without it the hour that a clock shows twice would be two instants.
    public init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard bytes.count >= 17, bytes[4] == 0x2D, bytes[7] == 0x2D, bytes[10] == 0x54, bytes[13] == 0x3A,
            let year = Self.number(bytes[0..<4]), let month = Self.number(bytes[5..<7]),
            let day = Self.number(bytes[8..<10]), let hour = Self.number(bytes[11..<13]),
            let minute = Self.number(bytes[14..<16])
        else { return nil }
        var rest = bytes[16...]
        var second: Int64 = 0
        if rest.first == 0x3A {
            guard rest.count >= 4, let value = Self.number(rest[17..<19]) else { return nil }
            second = value
            rest = rest.dropFirst(3)
        }
        guard let offset = Self.offset(Array(rest)), year >= 1970, (1...12).contains(month),
            (1...Self.days(inMonth: month, of: year)).contains(day), hour < 24, minute < 60, second < 60
        else { return nil }
        let days = Self.days(year: year, month: month, day: day)
        seconds = ((days * 24 + hour) * 60 + minute) * 60 + second - offset
    }

    /// `2026-11-01T00:00:00Z`.
    public var text: String {
        let date = civil
        let second = seconds - Int64(dayNumber) * 86_400
        return "\(date.year)-\(Self.two(date.month))-\(Self.two(date.day))"
            + "T\(Self.two(second / 3_600)):\(Self.two(second / 60 % 60)):\(Self.two(second % 60))Z"
    }

    /// `2026-11-01`.
    public var day: String { String(text.prefix(10)) }

    /// The minute of the day, 0 … 1439, on a clock that is `offsetMinutes` ahead of UTC.
    public func minuteOfDay(offsetMinutes: Int) -> Int {
        let local = seconds + Int64(offsetMinutes) * 60
        return Int((local % 86_400 + 86_400) % 86_400 / 60)
    }

    private var dayNumber: Int64 { seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400 }

    /// Days are counted in eras of 400 years that begin on 1 March.
    private var civil: (year: Int64, month: Int64, day: Int64) {
        let shifted = dayNumber + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let year = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * year + year / 4 - year / 100)
        let month = (5 * dayOfYear + 2) / 153
        let civilMonth = month < 10 ? month + 3 : month - 9
        return (
            year + era * 400 + (civilMonth <= 2 ? 1 : 0), civilMonth, dayOfYear - (153 * month + 2) / 5 + 1
        )
    }

    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let y = month <= 2 ? year - 1 : year
        let era = y / 400
        let yearOfEra = y - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func days(inMonth month: Int64, of year: Int64) -> Int64 {
        let isLeap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0
        return month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        var value: Int64 = 0
        for digit in digits {
            guard (0x30...0x39).contains(digit) else { return nil }
            value = value * 10 + Int64(digit - 0x30)
        }
        return value
    }

    /// Seconds that the clock is ahead of UTC.
    private static func offset(_ text: [UInt8]) -> Int64? {
        if text == [0x5A] { return 0 }
        guard text.count == 6, text[0] == 0x2B || text[0] == 0x2D, text[3] == 0x3A,
            let hours = number(text[1..<3]), let minutes = number(text[4..<6]), hours < 24, minutes < 60
        else { return nil }
        return (text[0] == 0x2D ? -1 : 1) * (hours * 3_600 + minutes * 60)
    }

    private static func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
}

/// From an instant up to another, which is not part of it.
public struct Period: Hashable, Sendable {
    public let from: UTCInstant
    public let until: UTCInstant

    /// `nil` unless `from` is before `until`.
    public init?(from: UTCInstant, until: UTCInstant) {
        guard from < until else { return nil }
        self.from = from
        self.until = until
    }

    public func contains(_ time: UTCInstant) -> Bool { from <= time && time < until }
    public func overlaps(_ other: Period) -> Bool { from < other.until && other.from < until }
    public var seconds: Int64 { until - from }
}

/// How long the stretches are in which energy is counted and traded. They start at multiples of their length,
/// UTC.
public enum BlockLength: Int64, CaseIterable, Sendable {
    case fiveMinutes = 300
    case quarterHour = 900
    case hour = 3_600

    public var seconds: Int64 { rawValue }

    /// Whether a block of this length may start at `time`.
    public func isAligned(_ time: UTCInstant) -> Bool { time.seconds % seconds == 0 }

    /// The starts of all blocks in the period; `nil` unless both its ends are aligned.
    public func starts(in period: Period) -> [UTCInstant]? {
        guard isAligned(period.from), isAligned(period.until) else { return nil }
        return stride(from: period.from.seconds, to: period.until.seconds, by: Int(seconds)).map {
            UTCInstant(seconds: $0)
        }
    }
}
