import Quantities

/// What may flow in total now. Limits bound the total power, never the increment that a response adds.
public struct PowerBounds: Sendable, BitwiseCopyable, Equatable {
    /// Zero or less.
    public let charge: Watts
    /// Zero or more.
    public let discharge: Watts

    /// - Parameters:
    ///   - charge: what is above zero counts as zero.
    ///   - discharge: what is below zero counts as zero.
    public init(charge: Watts, discharge: Watts) {
        self.charge = charge > .zero ? .zero : charge
        self.discharge = discharge < .zero ? .zero : discharge
    }

    /// Far beyond every site.
    public static var unlimited: PowerBounds {
        PowerBounds(charge: Watts(-1e15), discharge: Watts(1e15))
    }

    public func clamp(_ power: Watts) -> Watts { power.clamped(charge, discharge) }

    /// The total of a base and a response, inside the bounds.
    ///
    /// - Parameter lowest: a programmed lower bound (P_min); it never widens the others.
    public func total(_ base: Watts, _ response: Watts, lowest: Watts? = nil) -> Watts {
        let total = clamp(base + response)
        guard let lowest else { return total }
        let floor = clamp(lowest)
        return total < floor ? floor : total
    }

    /// The part of `increment` that fits on top of `base`.
    ///
    /// - Parameter base: inside the bounds.
    public func allowed(_ increment: Watts, on base: Watts) -> Watts {
        let total = base + increment
        if total > discharge { return discharge - base }
        if total < charge { return charge - base }
        return increment
    }
}

/// The two ends of the state of charge and how power fades towards them.
public struct ChargeWalls: Sendable, BitwiseCopyable, Equatable {
    /// At or below it nothing is discharged.
    public var low: Fraction
    /// At or above it nothing is charged.
    public var high: Fraction
    /// Power falls linearly to zero over this part inside each wall; zero = at once.
    public var taper: Fraction

    /// So that power does not chatter at the wall.
    public static var standardTaper: Fraction { Fraction(0.02) }

    public init(low: Fraction, high: Fraction, taper: Fraction) {
        self.low = low
        self.high = high
        self.taper = taper
    }

    /// The share of the power that may be discharged, 0 … 1.
    public func dischargeShare(at charge: Fraction) -> Double { share(of: charge - low) }

    /// The share of the power that may be charged, 0 … 1.
    public func chargeShare(at charge: Fraction) -> Double { share(of: high - charge) }

    private func share(of room: Fraction) -> Double {
        guard room > .zero else { return 0 }
        return room < taper ? room / taper : 1
    }
}
