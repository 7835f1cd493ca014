import Quantities

/// 5 % droop, or another share: the power asked for at a frequency, with a deadband whose edges belong to the
/// inside and are *subtracted* (the response starts from zero at the edge, without a step).
public struct DroopCurve: Sendable, BitwiseCopyable {
    public let nominal: Hertz
    /// Edges in whole millihertz: 50.05 − 50 is not 0.05 in binary.
    public let deadbandLowMillihertz: Int
    public let deadbandHighMillihertz: Int
    public let droop: Fraction

    /// - Parameters:
    ///   - deadbandLowMillihertz: lower edge, below nominal.
    ///   - deadbandHighMillihertz: upper edge, above nominal.
    ///   - droop: share of nominal frequency beyond the edge that asks for full power; more than zero.
    public init(nominal: Hertz, deadbandLowMillihertz: Int, deadbandHighMillihertz: Int, droop: Fraction) {
        precondition(droop > .zero && deadbandLowMillihertz <= deadbandHighMillihertz)
        self.nominal = nominal
        self.deadbandLowMillihertz = deadbandLowMillihertz
        self.deadbandHighMillihertz = deadbandHighMillihertz
        self.droop = droop
    }

    /// The droop response at `frequency`, on `rated` power; not bounded by it.
    ///
    /// - Returns: positive = inject (low frequency); zero inside the deadband; continuous.
    /// - Source: IEEE 1547-2018 6.5.2.7, FERC Order 842 (deadband subtracted, slope on nameplate).
    public func power(at frequency: Hertz, rated: Watts) -> Watts {
        // A measured frequency is never rounded; 10⁻⁶ mHz covers the binary form of an edge.
        let millihertz = frequency.value * 1_000
        let below = Double(deadbandLowMillihertz) - millihertz
        let above = millihertz - Double(deadbandHighMillihertz)
        let fullScale = nominal.value * 1_000 * droop.value
        if below > 1e-6 { return rated * (below / fullScale) }
        if above > 1e-6 { return -rated * (above / fullScale) }
        return .zero
    }
}
