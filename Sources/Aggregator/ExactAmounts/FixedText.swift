/// Decimal texts of whole numbers: `12.5` with three decimals is 12500.
public enum FixedText {
    /// The number in `text`, in units of its last decimal.
    ///
    /// - Returns: `nil` for anything but digits with at most one sign before and one point among them, for
    ///   more decimals than `decimals`, and for what does not fit.
    public static func parse(_ text: some StringProtocol, decimals: Int) -> Int64? {
        var value: Int64 = 0
        var digits = 0
        var after: Int?
        var isNegative = false
        for (index, byte) in text.utf8.enumerated() {
            switch byte {
            case UInt8(ascii: "-") where index == 0: isNegative = true
            case UInt8(ascii: ".") where after == nil && digits > 0: after = 0
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                guard let next = appended(Int64(byte &- 0x30), to: value, isNegative) else { return nil }
                value = next
                digits += 1
                if let count = after { after = count + 1 }
                if let after, after > decimals { return nil }
            default: return nil
            }
        }
        if digits == 0 || after == 0 { return nil }
        for _ in (after ?? 0)..<decimals {
            guard let next = appended(0, to: value, isNegative) else { return nil }
            value = next
        }
        return value
    }

    private static func appended(_ digit: Int64, to value: Int64, _ isNegative: Bool) -> Int64? {
        let (product, tooLarge) = value.multipliedReportingOverflow(by: 10)
        let (sum, overflows) = product.addingReportingOverflow(isNegative ? -digit : digit)
        return tooLarge || overflows ? nil : sum
    }

    /// `value` with `decimals` digits after the point: 12500 with three is `12.500`.
    public static func write(_ value: Int128, decimals: Int) -> String {
        let digits = String(value.magnitude)
        let sign = value < 0 ? "-" : ""
        if decimals == 0 { return sign + digits }
        let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.utf8.count)) + digits
        return sign + padded.dropLast(decimals) + "." + padded.suffix(decimals)
    }
}

extension MinorUnits {
    /// In the asset's whole unit, without its code: `437.15`.
    public func text(_ asset: Asset) -> String { FixedText.write(Int128(count), decimals: asset.decimals) }
}

extension WattHours {
    /// In kWh with three decimals.
    public var kilowattHours: String { FixedText.write(Int128(count), decimals: 3) }
}

extension Price {
    /// In the currency for each kWh, at least two decimals and as many as there are.
    public var text: String {
        var text = FixedText.write(Int128(micro), decimals: 6)
        for _ in 0..<4 where text.hasSuffix("0") { text.removeLast() }
        return text
    }
}
