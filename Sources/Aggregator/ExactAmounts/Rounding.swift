/// The one place that rounds, and the one that splits.
public enum Rounding {
    /// The nearest whole multiple, halves to the even one: `value == quotient × unit + remainder`.
    ///
    /// - Parameter unit: greater than 0.
    /// - Returns: a remainder of at most half a unit either way.
    public static func halfEven(_ value: Int128, by unit: Int128) -> (quotient: Int128, remainder: Int128) {
        precondition(unit > 0)
        var (quotient, remainder) = value.quotientAndRemainder(dividingBy: unit)
        if remainder < 0 {
            quotient -= 1
            remainder += unit
        }
        let rest = unit - remainder
        if remainder > rest || (remainder == rest && quotient & 1 != 0) {
            return (quotient + 1, remainder - unit)
        }
        return (quotient, remainder)
    }

    /// `total` in whole parts as the weights stand to each other; the parts' sum is `total` to the last unit.
    ///
    /// What whole division leaves over goes to the largest remainders, the first of equals first. So a part
    /// is never more than its weight where `total` is at most the sum of the weights.
    ///
    /// - Parameters:
    ///   - total: not negative.
    ///   - weights: not negative, not all zero.
    public static func shares(of total: Int64, by weights: [Int64]) -> [Int64] {
        let sum = weights.reduce(Int128(0)) { $0 + Int128($1) }
        precondition(total >= 0 && sum > 0 && weights.allSatisfy { $0 >= 0 })
        var parts: [Int64] = []
        var remainders: [(index: Int, remainder: Int128)] = []
        for (index, weight) in weights.enumerated() {
            let (part, remainder) = (Int128(total) * Int128(weight)).quotientAndRemainder(dividingBy: sum)
            parts.append(Int64(part))
            remainders.append((index, remainder))
        }
        let left = Int(total - parts.reduce(0, +))
        remainders.sort { ($1.remainder, $0.index) < ($0.remainder, $1.index) }
        for entry in remainders.prefix(left) { parts[entry.index] += 1 }
        return parts
    }
}
