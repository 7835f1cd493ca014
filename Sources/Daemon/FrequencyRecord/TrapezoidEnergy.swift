import Quantities

/// The area under a straight line of power over time, split at its zero; magnitudes.
public struct TrapezoidEnergy: Sendable, Equatable {
    public var injected: WattHours = .zero
    public var absorbed: WattHours = .zero
    public var net: WattHours { injected - absorbed }

    public init() {}

    public init(_ from: Watts, _ to: Watts, _ step: Duration) {
        guard (from > .zero && to < .zero) || (from < .zero && to > .zero) else {
            let energy = ((from + to) * 0.5) * step
            if energy > .zero { injected = energy } else { absorbed = -energy }
            return
        }
        let whole = from.magnitude + to.magnitude
        let first = (from.magnitude * 0.5 * (from.magnitude / whole)) * step
        let second = (to.magnitude * 0.5 * (to.magnitude / whole)) * step
        (injected, absorbed) = from > .zero ? (first, second) : (second, first)
    }

    static func += (a: inout TrapezoidEnergy, b: TrapezoidEnergy) {
        a.injected += b.injected
        a.absorbed += b.absorbed
    }
}
