/// A set of flags in one word. `OptionSet` would do the same, but brings `Array` with it, which the
/// compiler's proof that the cycle allocates nothing refuses.
public protocol BitSet: Sendable, BitwiseCopyable, Equatable {
    associatedtype RawValue: FixedWidthInteger & BitwiseCopyable & Sendable
    var rawValue: RawValue { get set }
    init(rawValue: RawValue)
}

extension BitSet {
    @inlinable public static var none: Self { Self(rawValue: 0) }
    @inlinable public var isEmpty: Bool { rawValue == 0 }
    /// Whether every flag of `other` is set.
    @inlinable public func contains(_ other: Self) -> Bool { rawValue & other.rawValue == other.rawValue }
    @inlinable public func union(_ other: Self) -> Self { Self(rawValue: rawValue | other.rawValue) }
    @inlinable public func intersection(_ other: Self) -> Self { Self(rawValue: rawValue & other.rawValue) }
    @inlinable public func subtracting(_ other: Self) -> Self { Self(rawValue: rawValue & ~other.rawValue) }
    @inlinable public mutating func insert(_ other: Self) { rawValue |= other.rawValue }
    @inlinable public mutating func remove(_ other: Self) { rawValue &= ~other.rawValue }
}

#if !hasFeature(Embedded)
    extension BitSet where Self: ExpressibleByArrayLiteral, ArrayLiteralElement == Self {
        public init(arrayLiteral elements: Self...) {
            self.init(rawValue: elements.reduce(0) { $0 | $1.rawValue })
        }
    }
    extension BatteryAlarms: ExpressibleByArrayLiteral {
        public typealias ArrayLiteralElement = BatteryAlarms
    }
    extension DigitalInputSet: ExpressibleByArrayLiteral {
        public init(arrayLiteral elements: DigitalInput...) {
            self.init(rawValue: elements.reduce(0) { $0 | DigitalInputSet($1).rawValue })
        }
    }
    extension BatteryPermissions: ExpressibleByArrayLiteral {
        public typealias ArrayLiteralElement = BatteryPermissions
    }
#endif
