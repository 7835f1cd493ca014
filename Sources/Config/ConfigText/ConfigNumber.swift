/// The one way of writing numbers: `12`, `-0.5`, `1.2e1`. No hexadecimal, octal, infinity, NaN, underscore.
public enum ConfigNumber {
    /// The number that `text` says; `nil` where it says none or one too large for a `Double`.
    public static func parse(_ text: String) -> Double? {
        guard text.utf8.count <= 32, isDecimal(text.utf8[...]) else { return nil }
        guard let number = Double(text), number.isFinite else { return nil }
        return number
    }

    private static func isDecimal(_ text: Substring.UTF8View) -> Bool {
        var rest = text
        skipSign(&rest)
        let whole = skipDigits(&rest)
        // `012` was octal in YAML 1.1: refused, because readers disagree on it.
        if whole.isEmpty || (whole.count > 1 && whole.first == UInt8(ascii: "0")) { return false }
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            if skipDigits(&rest).isEmpty { return false }
        }
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest = rest.dropFirst()
            skipSign(&rest)
            if skipDigits(&rest).isEmpty { return false }
        }
        return rest.isEmpty
    }

    private static func skipSign(_ text: inout Substring.UTF8View) {
        if text.first == UInt8(ascii: "-") || text.first == UInt8(ascii: "+") { text = text.dropFirst() }
    }

    private static func skipDigits(_ text: inout Substring.UTF8View) -> Substring.UTF8View {
        let digits = text.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        text = text[digits.endIndex...]
        return digits
    }
}
