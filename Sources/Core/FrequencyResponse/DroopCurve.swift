import Quantities

/// The power that a grid code asks for at a frequency: droop in one of its conventions, on both sides or on
/// one, or a service given by points.
///
/// Edges of the deadband belong to the inside. A measured frequency is never rounded.
public struct DroopCurve: Sendable, BitwiseCopyable, Equatable {
    /// How the response begins at the edge, and where it is full.
    public enum Shape: Sendable, BitwiseCopyable, Equatable {
        /// From zero at the edge; full one droop beyond the edge. IEEE 1547-2018, FERC Order 842.
        case subtracted
        /// With the whole deviation from nominal outside the band: a step at the edge. Back to zero only
        /// `hysteresisMillihertz` inside the edge, so that it cannot chatter.
        case stepped(hysteresisMillihertz: Int)
        /// From zero at the edge; full one droop from nominal. ERCOT BAL-001-TRE.
        case renormalised
        /// Straight lines between points.
        case points(ResponsePoints)
    }

    /// The response to frequencies on one side of nominal.
    public struct Side: Sendable, BitwiseCopyable, Equatable {
        /// The deadband's edge in whole millihertz: 50.05 − 50 is not 0.05 in binary.
        public var edgeMillihertz: Int
        /// Share of nominal frequency that asks for full power; more than zero.
        public var droop: Fraction

        public init(edgeMillihertz: Int, droop: Fraction) {
            self.edgeMillihertz = edgeMillihertz
            self.droop = droop
        }
    }

    /// Where a frequency stands.
    public enum Region: Sendable, BitwiseCopyable, Equatable { case inside, below, above }

    public let nominal: Hertz
    /// The response to low frequency; `nil` = none. Unused where the shape has points.
    public let under: Side?
    /// The response to high frequency; `nil` = none.
    public let over: Side?
    public let shape: Shape

    /// - Returns: `nil` where an edge is on the wrong side of nominal, a droop is not more than zero, a
    ///   hysteresis is negative or as wide as half the band, or a renormalised droop ends inside the edge.
    public init?(nominal: Hertz, under: Side?, over: Side?, shape: Shape = .subtracted) {
        let center = nominal.value * 1_000
        let low = under.map { center - Double($0.edgeMillihertz) } ?? 0
        let high = over.map { Double($0.edgeMillihertz) - center } ?? 0
        guard low >= 0, high >= 0, (under?.droop.value ?? 1) > 0, (over?.droop.value ?? 1) > 0 else {
            return nil
        }
        switch shape {
        case .subtracted, .points: break
        case .stepped(let hysteresis):
            guard hysteresis >= 0, Double(hysteresis) <= (low + high) / 2 else { return nil }
        case .renormalised:
            guard low < center * (under?.droop.value ?? 1), high < center * (over?.droop.value ?? 1) else {
                return nil
            }
        }
        self.nominal = nominal
        self.under = under
        self.over = over
        self.shape = shape
    }

    /// Droop with its deadband subtracted, alike on both sides.
    ///
    /// - Parameters:
    ///   - deadbandLowMillihertz: lower edge, not above nominal.
    ///   - deadbandHighMillihertz: upper edge, not below nominal.
    ///   - droop: share of nominal frequency beyond the edge that asks for full power; more than zero.
    public init(nominal: Hertz, deadbandLowMillihertz: Int, deadbandHighMillihertz: Int, droop: Fraction) {
        precondition(droop > .zero && deadbandLowMillihertz <= deadbandHighMillihertz)
        self.nominal = nominal
        under = Side(edgeMillihertz: deadbandLowMillihertz, droop: droop)
        over = Side(edgeMillihertz: deadbandHighMillihertz, droop: droop)
        shape = .subtracted
    }

    /// A service given by its points.
    public init(nominal: Hertz, points: ResponsePoints) {
        self.nominal = nominal
        under = nil
        over = nil
        shape = .points(points)
    }

    /// The binary form of an edge may lie this far from its decimal one.
    private static let tolerance = 1e-6

    /// Where `frequency` stands.
    ///
    /// - Parameter last: where it stood before: with a hysteresis it is left only that much inside the edge.
    public func region(at frequency: Hertz, after last: Region = .inside) -> Region {
        let millihertz = millihertz(frequency)
        if case .points(let points) = shape {
            let share = points.share(at: millihertz - nominal.value * 1_000)
            return share > 0 ? .below : (share < 0 ? .above : .inside)
        }
        var margin = 0.0
        if case .stepped(let hysteresis) = shape { margin = Double(hysteresis) }
        if let under {
            let edge = Double(under.edgeMillihertz) + (last == .below ? margin : 0)
            if edge - millihertz > (last == .below && margin > 0 ? 0 : Self.tolerance) { return .below }
        }
        if let over {
            let edge = Double(over.edgeMillihertz) - (last == .above ? margin : 0)
            if millihertz - edge > (last == .above && margin > 0 ? 0 : Self.tolerance) { return .above }
        }
        return .inside
    }

    /// The response at `frequency`, on `rated` power; not bounded by it.
    ///
    /// - Parameters:
    ///   - frequency: what is outside 0 … 1000 Hz counts as that.
    ///   - rated: the nameplate, also where less is available.
    ///   - region: where the frequency stands, from `region(at:after:)`.
    /// - Returns: positive = inject (low frequency); zero inside; never rising with frequency.
    public func power(at frequency: Hertz, rated: Watts, in region: Region) -> Watts {
        let millihertz = millihertz(frequency)
        let center = nominal.value * 1_000
        if case .points(let points) = shape { return rated * points.share(at: millihertz - center) }
        switch region {
        case .inside: return .zero
        case .below: return under.map { rated * share($0, center, deviation: center - millihertz) } ?? .zero
        case .above: return over.map { -rated * share($0, center, deviation: millihertz - center) } ?? .zero
        }
    }

    /// The response at `frequency` without a memory: as if it had just come from inside.
    public func power(at frequency: Hertz, rated: Watts) -> Watts {
        power(at: frequency, rated: rated, in: region(at: frequency))
    }

    /// - Parameter deviation: from nominal towards this side, in millihertz.
    private func share(_ side: Side, _ center: Double, deviation: Double) -> Double {
        let deadband = (Double(side.edgeMillihertz) - center).magnitude
        let full = center * side.droop.value
        switch shape {
        case .subtracted, .points: return (deviation - deadband) / full
        case .stepped: return deviation / full
        case .renormalised: return (deviation - deadband) / (full - deadband)
        }
    }

    private func millihertz(_ frequency: Hertz) -> Double {
        frequency.clamped(.zero, Hertz(1_000)).value * 1_000
    }
}
