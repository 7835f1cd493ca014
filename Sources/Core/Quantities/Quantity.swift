/// A number with its unit. Each unit is a type of its own, so that watts cannot be added to volts.
///
/// Values made by our own arithmetic must be finite (`init`, a programming error otherwise); values that come
/// from outside go through `init?(decoded:)`, which refuses NaN and the infinities.
public protocol Quantity: Comparable, Sendable, BitwiseCopyable {
    var value: Double { get }
    /// For our own arithmetic; traps on a value that is not finite.
    init(_ value: Double)
}

extension Quantity {
    /// For decoders: `nil` where the number is not finite.
    @inlinable public init?(decoded number: Double) {
        guard number.isFinite else { return nil }
        self.init(number)
    }

    @inlinable public static var zero: Self { Self(0) }
    @inlinable public var magnitude: Self { Self(value.magnitude) }

    @inlinable public static func < (a: Self, b: Self) -> Bool { a.value < b.value }
    @inlinable public static func + (a: Self, b: Self) -> Self { Self(a.value + b.value) }
    @inlinable public static func - (a: Self, b: Self) -> Self { Self(a.value - b.value) }
    @inlinable public static prefix func - (a: Self) -> Self { Self(-a.value) }
    @inlinable public static func * (a: Self, factor: Double) -> Self { Self(a.value * factor) }
    /// The ratio of two values of one unit; the divisor must not be zero.
    @inlinable public static func / (a: Self, b: Self) -> Double { a.value / b.value }
    @inlinable public static func / (a: Self, divisor: Double) -> Self { Self(a.value / divisor) }
    @inlinable public static func += (a: inout Self, b: Self) { a = a + b }
    @inlinable public static func -= (a: inout Self, b: Self) { a = a - b }

    /// The nearest value inside `low ... high`.
    @inlinable public func clamped(_ low: Self, _ high: Self) -> Self {
        self < low ? low : (high < self ? high : self)
    }
}

extension Double {
    /// The nearest number inside `range`; NaN stays what it is.
    @inlinable public func clamped(to range: ClosedRange<Double>) -> Double {
        self < range.lowerBound ? range.lowerBound : (self > range.upperBound ? range.upperBound : self)
    }
}
