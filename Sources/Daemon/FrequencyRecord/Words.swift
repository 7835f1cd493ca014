/// Numbers and times as text, the same on every machine.
public enum Words {
    /// With a fixed number of decimals, 0 … 9; `-` for what has none.
    public static func fixed(_ number: Double, _ decimals: Int) -> String {
        var scale = 1.0
        for _ in 0..<decimals { scale *= 10 }
        guard number.isFinite, number.magnitude * scale < 9e15 else { return "-" }
        let scaled = Int64((number.magnitude * scale).rounded())
        let sign = number < 0 && scaled != 0 ? "-" : ""
        guard decimals > 0 else { return sign + String(scaled) }
        let digits = String(scaled)
        let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.utf8.count)) + digits
        return sign + padded.dropLast(decimals) + "." + padded.suffix(decimals)
    }

    static func percent(_ share: Double, _ decimals: Int = 1) -> String {
        fixed(share * 100, decimals) + " %"
    }

    /// `2019-08-09T15:52:33.500Z`; any instant.
    ///
    /// - Source: the civil calendar from days, counted in eras of 400 years that begin in March.
    static func utc(_ milliseconds: Int64) -> String {
        let bounded = max(-62_135_596_800_000, min(253_402_300_799_999, milliseconds))
        let days = floor(bounded, 86_400_000)
        let inDay = bounded - days * 86_400_000
        let shifted = days + 719_468
        let era = floor(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let part = (5 * dayOfYear + 2) / 153
        let month = part < 10 ? part + 3 : part - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let clock = [inDay / 3_600_000, inDay / 60_000 % 60, inDay / 1_000 % 60].map { padded($0, 2) }
        return padded(year, 4) + "-" + padded(month, 2) + "-"
            + padded(dayOfYear - (153 * part + 2) / 5 + 1, 2)
            + "T" + clock.joined(separator: ":") + "." + padded(inDay % 1_000, 3) + "Z"
    }

    static func events(_ count: Int) -> String { count == 1 ? "1 event" : "\(count) events" }

    /// `6 min 3.5 s`, `2 h 5 min`, `3 d 2 h`.
    static func span(_ milliseconds: Int64) -> String {
        let seconds = milliseconds / 1_000
        if seconds >= 172_800 { return "\(seconds / 86_400) d \(seconds / 3_600 % 24) h" }
        if seconds >= 3_600 { return "\(seconds / 3_600) h \(seconds / 60 % 60) min" }
        let rest = fixed(Double(milliseconds % 60_000) / 1_000, 1) + " s"
        return seconds >= 60 ? "\(seconds / 60) min \(rest)" : rest
    }

    /// Whatever a name holds, it stays text; what XML cannot carry becomes a question mark.
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case _ where scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF:
                result += "?"
            case _: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }

    private static func floor(_ number: Int64, _ divisor: Int64) -> Int64 {
        number >= 0 ? number / divisor : -((-number + divisor - 1) / divisor)
    }
}
