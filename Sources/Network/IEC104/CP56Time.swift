/// A time in seven octets (CP56Time2a). Fields stand as they came; `milliseconds1970` says whether they are a
/// time.
public struct CP56Time: Sendable, Equatable {
    /// Of the minute, seconds included: 0 … 59999 where it is a time.
    public var milliseconds: UInt16
    /// 0 … 63.
    public var minute: UInt8
    /// IV: the sender's clock was not to be trusted.
    public var isInvalid: Bool
    /// 0 … 31.
    public var hour: UInt8
    /// SU.
    public var isSummerTime: Bool
    /// 0 … 31.
    public var day: UInt8
    /// 0 = not used, 1 = Monday.
    public var weekday: UInt8
    /// 0 … 15.
    public var month: UInt8
    /// Since 2000, 0 … 127.
    public var year: UInt8

    static let length = 7

    init(_ bytes: ArraySlice<UInt8>) {
        let bytes = Array(bytes)
        milliseconds = UInt16(bytes[0]) | UInt16(bytes[1]) << 8
        minute = bytes[2] & 0x3F
        isInvalid = bytes[2] & 0x80 != 0
        hour = bytes[3] & 0x1F
        isSummerTime = bytes[3] & 0x80 != 0
        day = bytes[4] & 0x1F
        weekday = bytes[4] >> 5
        month = bytes[5] & 0x0F
        year = bytes[6] & 0x7F
    }

    /// UTC, without summer time.
    ///
    /// - Parameter wall: milliseconds since 1970-01-01 00:00 UTC; years 2000 … 2099, others become their
    ///   nearest.
    public init(milliseconds1970 wall: Int64, isInvalid: Bool = false) {
        let bounded = min(max(wall, Self.first), Self.last)
        let (days, rest) = bounded.quotientAndRemainder(dividingBy: 86_400_000)
        let date = Self.date(ofDay: days)
        milliseconds = UInt16(rest % 60_000)
        minute = UInt8(rest / 60_000 % 60)
        hour = UInt8(rest / 3_600_000)
        self.isInvalid = isInvalid
        isSummerTime = false
        day = UInt8(date.day)
        // 1970-01-01 was a Thursday.
        weekday = UInt8((days + 3) % 7 + 1)
        month = UInt8(date.month)
        year = UInt8(date.year - 2_000)
    }

    private static let first: Int64 = 946_684_800_000
    private static let last: Int64 = 4_102_444_799_999

    var bytes: [UInt8] {
        [
            UInt8(truncatingIfNeeded: milliseconds), UInt8(truncatingIfNeeded: milliseconds >> 8),
            minute & 0x3F | (isInvalid ? 0x80 : 0), hour & 0x1F | (isSummerTime ? 0x80 : 0),
            day & 0x1F | weekday << 5, month & 0x0F, year & 0x7F,
        ]
    }

    /// Milliseconds since 1970-01-01 00:00 UTC, the fields read as UTC; `nil` where they are no time, or said
    /// to be invalid.
    public var milliseconds1970: Int64? {
        guard !isInvalid, milliseconds < 60_000, minute < 60, hour < 24, (1...12).contains(month), day >= 1,
            year < 100
        else { return nil }
        let days = Self.day(year: Int64(year) + 2_000, month: Int64(month), day: Int64(day))
        let date = Self.date(ofDay: days)
        guard date.day == Int64(day), date.month == Int64(month) else { return nil }
        let summer: Int64 = isSummerTime ? 3_600_000 : 0
        return days * 86_400_000 + Int64(hour) * 3_600_000 + Int64(minute) * 60_000 + Int64(milliseconds)
            - summer
    }

    /// Days since 1970-01-01 in the Gregorian calendar, years from 1 March (Hinnant's civil days).
    private static func day(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted / 400
        let ofEra = shifted - era * 400
        let ofYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719_468
    }

    private static func date(ofDay days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = shifted / 146_097
        let ofEra = shifted - era * 146_097
        let years = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * years + years / 4 - years / 100)
        let shiftedMonth = (5 * ofYear + 2) / 153
        let day = ofYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (years + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }
}
