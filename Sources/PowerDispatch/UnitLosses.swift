import Quantities

/// What a unit loses while it runs: `idle + linear · |P| + square · P²`. At zero power it rests and loses
/// nothing.
public struct UnitLosses: Sendable, BitwiseCopyable, Equatable {
    /// Lost at any power but zero; zero or more.
    public let idle: Watts
    /// Share of the power; zero or more.
    public let linear: Fraction
    /// W per W²; zero or more.
    let square: Double

    public static let none = UnitLosses(idle: .zero, linear: .zero, square: .zero, at: Watts(1))

    /// - Parameters:
    ///   - linear: share of the power, at any power.
    ///   - square: share of `rating` that the quadratic part alone loses at `rating`.
    ///   - rating: a magnitude above zero.
    public init(idle: Watts, linear: Fraction, square: Fraction, at rating: Watts) {
        precondition(idle >= .zero && linear >= .zero && square >= .zero && rating > .zero)
        self.idle = idle
        self.linear = linear
        self.square = square.value / rating.value
    }

    /// The loss at a power in either direction; a magnitude.
    public func loss(at power: Watts) -> Watts {
        let magnitude = power.magnitude
        guard magnitude > .zero else { return .zero }
        return idle + magnitude * linear + magnitude * (square * magnitude.value)
    }
}
