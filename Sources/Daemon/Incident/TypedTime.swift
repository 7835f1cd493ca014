/// A time as people and logs write it, UTC where it names no zone: `14:03`, `14:03:07.25`,
/// `2026-11-24T14:03:07Z`, `2026-11-24 14:03:07+0100`, `20261124T140307`.
public struct TypedTime: Sendable, Equatable {
    /// Since 1970-01-01 00:00 UTC, or since midnight where no date stands before it, µs.
    public let microseconds: Int64
    /// How long what is named lasts, µs: a minute without seconds, otherwise a second.
    public let span: Int64
    public let hasDate: Bool

    private static let day: Int64 = 86_400_000_000

    /// `nil` where `text` is none, or more.
    public init?(_ text: String) {
        var rest = TimeText(Array(text.utf8)[...])
        self.init(reading: &rest)
        guard rest.bytes.isEmpty else { return nil }
    }

    /// The date and time with which a line begins; `nil` where it begins with none.
    public init?(beginOf line: ArraySlice<UInt8>) {
        var rest = TimeText(line)
        self.init(reading: &rest)
        guard hasDate else { return nil }
    }

    private init?(reading rest: inout TimeText) {
        let date = rest.date()
        if date != nil {
            guard rest.take("T") || rest.take(" ") else { return nil }
        }
        guard let clock = rest.clock(isCompact: date?.isCompact == true) else { return nil }
        var zone: Int64 = 0
        if !rest.take("Z"), date != nil { zone = rest.zone() }
        microseconds = (date?.days ?? 0) * Self.day + clock.microseconds - zone
        span = clock.span
        hasDate = date != nil
    }

    /// Since 1970-01-01 00:00 UTC, µs: of what names no day, the one that is the nearest to `other`.
    public func microseconds(near other: Int64) -> Int64 {
        guard !hasDate else { return microseconds }
        var apart = (microseconds - other) % Self.day
        if apart > Self.day / 2 { apart -= Self.day }
        if apart < -Self.day / 2 { apart += Self.day }
        return other + apart
    }
}

/// The rest of a text that may hold a time.
private struct TimeText {
    private(set) var bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard let first = bytes.first, UInt32(first) == character.value else { return false }
        bytes = bytes.dropFirst()
        return true
    }

    private var isAtDigit: Bool { bytes.first.map { (0x30...0x39).contains($0) } ?? false }

    /// So many digits, as a number below `end`.
    private mutating func number(_ digits: Int, below end: Int64) -> Int64? {
        var (value, rest): (Int64, ArraySlice<UInt8>) = (0, bytes)
        for _ in 0..<digits {
            guard let digit = rest.popFirst(), (0x30...0x39).contains(digit) else { return nil }
            value = value * 10 + Int64(digit - 0x30)
        }
        guard value < end else { return nil }
        bytes = rest
        return value
    }

    /// `nil` where no date from 1970 on stands here; then nothing is taken.
    mutating func date() -> (days: Int64, isCompact: Bool)? {
        var ahead = self
        guard let year = ahead.number(4, below: 10_000), year >= 1_970 else { return nil }
        let isCompact = !ahead.take("-")
        guard let month = ahead.number(2, below: 13), month >= 1 else { return nil }
        if !isCompact {
            guard ahead.take("-") else { return nil }
        }
        guard let day = ahead.number(2, below: 32), day >= 1 else { return nil }
        let days = Self.days(year, month, day)
        // The 31st of a shorter month is another month's day.
        guard CivilTime(microseconds: days * 86_400_000_000).day == Int(day) else { return nil }
        self = ahead
        return (days, isCompact)
    }

    /// Since 1970-01-01, in eras of 400 years, of years that begin in March.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// - Parameter isCompact: colons may be left out.
    mutating func clock(isCompact: Bool) -> (microseconds: Int64, span: Int64)? {
        guard let hour = number(2, below: 24) else { return nil }
        let hasColon = take(":")
        guard hasColon || isCompact, let minute = number(2, below: 60) else { return nil }
        let minutes = (hour * 60 + minute) * 60_000_000
        guard hasColon ? take(":") : isAtDigit else { return (minutes, 60_000_000) }
        guard let second = number(2, below: 61) else { return nil }
        var fraction: Int64 = 0
        if take(".") || take(",") {
            guard isAtDigit else { return nil }
            var worth: Int64 = 100_000
            while let digit = number(1, below: 10) {
                fraction += digit * worth
                worth /= 10
            }
        }
        return (minutes + second * 1_000_000 + fraction, 1_000_000)
    }

    /// How far a zone is ahead of UTC, µs; 0 where none is named.
    mutating func zone() -> Int64 {
        var ahead = self
        let isBehind = ahead.take("-")
        guard isBehind || ahead.take("+"), let hours = ahead.number(2, below: 15) else { return 0 }
        _ = ahead.take(":")
        let minutes = ahead.number(2, below: 60) ?? 0
        self = ahead
        return (isBehind ? -1 : 1) * (hours * 60 + minutes) * 60_000_000
    }
}
