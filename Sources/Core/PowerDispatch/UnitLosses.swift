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

    /// Where the site says nothing: more than an inverter of the usual kind loses, 0.5 % of its rating at
    /// rest and 3 % of the power.
    public static func assumed(at rating: Watts) -> UnitLosses {
        UnitLosses(idle: rating * 0.005, linear: .percent(3), square: .zero, at: rating)
    }

    /// What the quadratic part alone loses at `rating`, as a share of it; a magnitude.
    public func squareShare(at rating: Watts) -> Fraction { Fraction(square * rating.value) }

    /// The most that may be injected so that the battery gives no more than `power`: what is lost comes out
    /// of the battery too.
    public func injected(from power: Watts) -> Watts {
        let rest = power - idle
        guard rest > .zero else { return .zero }
        let slope = 1 + linear.value
        guard square > 0 else { return rest * (1 / slope) }
        let root = (slope * slope + 4 * square * rest.value).squareRoot()
        return Watts((root - slope) / (2 * square))
    }

    /// The most that may be absorbed so that the battery takes no more than `power`: what is lost does not
    /// reach it. No more than the loss at `power` itself is counted on, which is less than what is lost.
    public func absorbed(into power: Watts) -> Watts { power + loss(at: power) }

    /// The loss at a power in either direction; a magnitude.
    public func loss(at power: Watts) -> Watts {
        let magnitude = power.magnitude
        guard magnitude > .zero else { return .zero }
        return idle + magnitude * linear + magnitude * (square * magnitude.value)
    }
}
