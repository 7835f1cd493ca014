import Quantities

/// Brings the state of charge slowly back to its target by moving the base point: it begins outside a band
/// around the target and ends at the target. It rests while an event goes on.
public struct EnergyManagement: Sendable, BitwiseCopyable {
    public struct Settings: Sendable, BitwiseCopyable, Equatable {
        public var target: Fraction
        /// How far the state of charge may go from the target before anything is done; more than zero.
        public var band: Fraction
        /// Share of nameplate that is used; taken up and given back within `rampTime`.
        public var power: Fraction

        public init(target: Fraction, band: Fraction, power: Fraction) {
            self.target = target
            self.band = band
            self.power = power
        }
    }

    /// From nothing to the whole correction.
    public static let rampTime = Duration.seconds(60)

    private enum Direction: Sendable, BitwiseCopyable { case none, charging, discharging }

    private let settings: Settings
    private var direction = Direction.none
    private var correction: Watts = .zero

    public init(settings: Settings) { self.settings = settings }

    /// What to add to the base point; positive = discharge.
    ///
    /// - Parameters:
    ///   - charge: the site's state of charge; `nil` where it is not known: then nothing is moved.
    ///   - isResting: an event goes on: the correction stays as it is.
    ///   - isAllowed: somebody who wants exactly the base point asks for it otherwise.
    public mutating func correction(
        charge: Fraction?, rated: Watts, isResting: Bool, isAllowed: Bool, after elapsed: Duration
    ) -> Watts {
        if isResting && isAllowed { return correction }
        decide(charge, isAllowed)
        let whole = rated * settings.power
        let goal: Watts =
            switch direction {
            case .none: .zero
            case .charging: -whole
            case .discharging: whole
            }
        let step = whole * (elapsed.seconds / Self.rampTime.seconds)
        correction = goal.clamped(correction - step, correction + step)
        return correction
    }

    private mutating func decide(_ charge: Fraction?, _ isAllowed: Bool) {
        guard let charge, isAllowed else {
            direction = .none
            return
        }
        let excess = charge - settings.target
        switch direction {
        case .none:
            if excess.magnitude > settings.band { direction = excess > .zero ? .discharging : .charging }
        case .charging: if excess >= .zero { direction = .none }
        case .discharging: if excess <= .zero { direction = .none }
        }
    }
}
