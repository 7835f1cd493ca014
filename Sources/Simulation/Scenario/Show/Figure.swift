/// Numbers as people read them.
public enum Figure {
    /// At most three decimals, none that are zero: `0.25`, `10`, `-0.5`.
    public static func text(_ value: Double) -> String {
        guard value.isFinite, value.magnitude < 1e12 else { return "\(value)" }
        let thousandths = Int64((value * 1_000).rounded())
        let (whole, part) = (thousandths.magnitude / 1_000, thousandths.magnitude % 1_000)
        var digits = "\(whole)"
        if part > 0 {
            let decimals = String(repeating: "0", count: part < 10 ? 2 : (part < 100 ? 1 : 0)) + "\(part)"
            digits += "." + decimals
            while digits.last == "0" { digits.removeLast() }
        }
        return (thousandths < 0 ? "-" : "") + digits
    }
}
