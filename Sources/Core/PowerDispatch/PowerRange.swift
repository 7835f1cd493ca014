import Quantities

/// The units' power as far as anybody knows it: somewhere between the two.
public struct PowerRange: Sendable, BitwiseCopyable, Equatable {
    public private(set) var least: Watts
    public private(set) var most: Watts

    /// Known to the watt.
    public init(_ power: Watts) { (least, most) = (power, power) }

    public mutating func include(_ power: Watts) { (least, most) = (min(least, power), max(most, power)) }

    public var middle: Watts { (least + most) * 0.5 }

    public static func + (one: PowerRange, other: PowerRange) -> PowerRange {
        var sum = one
        (sum.least, sum.most) = (one.least + other.least, one.most + other.most)
        return sum
    }
}
