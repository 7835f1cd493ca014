import JSONText

/// What a grid code asks of primary response from a day on.
public struct GridCode: Sendable, Equatable {
    /// What is asked at a steady deviation of the frequency.
    public struct Curve: Sendable, Equatable {
        /// In Hz.
        public var nominal: Double
        /// A site answers beyond it, in mHz either way.
        public var deadband: Int
        /// The deviation at which all of the nameplate is asked for, as a share of the nominal frequency: the
        /// steepest and the flattest that will do.
        public var droop: ClosedRange<Double>
        /// The grid's normal operating band: beyond it whoever gives too little breaks that rule.
        public var operatingBand: FrequencyRules.Band?

        public init(
            nominal: Double, deadband: Int, droop: ClosedRange<Double>, operatingBand: FrequencyRules.Band?
        ) {
            self.nominal = nominal
            self.deadband = deadband
            self.droop = droop
            self.operatingBand = operatingBand
        }
    }

    /// UTC, ms since 1970.
    public var effectiveFrom: Int64
    /// The time for a full response, in ms.
    public var fullResponse: Int64
    /// How long it must then be held, in ms: one of `FrequencyRules.holds`.
    public var hold: Int64
    /// `nil` = not judged.
    public var curve: Curve?

    public init(
        effectiveFrom: Int64 = .min, fullResponse: Int64 = FrequencyRules().fullResponse,
        hold: Int64 = FrequencyRules().hold, curve: Curve? = nil
    ) {
        self.effectiveFrom = effectiveFrom
        self.fullResponse = fullResponse
        self.hold = hold
        self.curve = curve
    }

    /// What is measured at rest is worth no more, as a share of the nameplate.
    static let noise = 0.005
    /// A row that stands on less proves nothing, in s.
    static let shortest = 10.0

    /// What a row of a quarter of an hour breaks.
    ///
    /// - Returns: the rule, and how much of it was done, 0 … 1; `nil` = nothing, or it proves nothing.
    func judge(_ row: DeviationTable.Told) -> (rule: ResponseViolation.Rule, share: Double)? {
        guard let curve, row.seconds >= Self.shortest, abs(row.edge) >= curve.deadband,
            row.edge != 0, (row.edge < 0) == (row.deviation < 0)
        else { return nil }
        let size = row.deviation.magnitude
        let given = row.edge < 0 ? row.share : -row.share
        let beyond = max(0, size - Double(curve.deadband) / 1_000)
        let least = min(1, beyond / (curve.nominal * curve.droop.upperBound))
        let most = min(1, size / (curve.nominal * curve.droop.lowerBound))
        if given < least * 0.9 - Self.noise {
            let rule: ResponseViolation.Rule =
                curve.isOutside(row.edge) ? .operatingBand : given < Self.noise ? .deadband : .droop
            return (rule, max(0, given) / least)
        }
        return given > most * 1.1 + Self.noise ? (.droop, most / given) : nil
    }
}

extension GridCode.Curve {
    /// Whether all of a row lies outside the operating band.
    fileprivate func isOutside(_ edge: Int) -> Bool {
        guard let operatingBand else { return false }
        let frequency = Int((nominal * 1_000).rounded()) + edge
        return frequency <= operatingBand.lowMillihertz || frequency >= operatingBand.highMillihertz
    }
}

/// A grid code with its changes, and whose word that is.
public struct GridCodes: Sendable, Equatable {
    public var regulation: String
    public var source: String
    /// How sure it is: `verified`, `second_hand`, `recalled` or `illustrative`.
    public var mark: String
    private let dated: [GridCode]

    /// The times of primary response in India, and nothing else.
    public init() {
        self.init(
            "primary response: full in 30 s, held for 5 min", source: "built in", mark: "recalled",
            [GridCode()])
    }

    /// - Precondition: there is one.
    public init(_ regulation: String, source: String, mark: String, _ codes: [GridCode]) {
        precondition(!codes.isEmpty)
        self.regulation = regulation
        self.source = source
        self.mark = mark
        dated = codes.sorted { $0.effectiveFrom < $1.effectiveFrom }
    }

    /// What holds at an instant, ms since 1970 UTC; before all of them nothing is judged.
    public func code(at time: Int64) -> GridCode? { dated.last { $0.effectiveFrom <= time } }

    /// What holds at an instant, in a line.
    public func words(at time: Int64) -> String {
        let whose = "\(regulation) (\(mark): \(source))"
        guard let code = code(at: time) else { return "\(whose): not in force yet, nothing is judged" }
        let times = "full in \(code.fullResponse / 1_000) s, held for \(code.hold / 1_000) s"
        guard let curve = code.curve else { return "\(whose): \(times)" }
        let droop = [curve.droop.lowerBound, curve.droop.upperBound].map { Words.fixed($0 * 100, 1) }
        let band = curve.operatingBand.map { band in
            let edges = [band.lowMillihertz, band.highMillihertz].map { Words.fixed(Double($0) / 1_000, 3) }
            return ", operating band \(edges[0]) … \(edges[1]) Hz"
        }
        return "\(whose): \(times), deadband \(curve.deadband) mHz"
            + ", droop \(droop[0]) … \(droop[1]) %\(band ?? "")"
    }

    /// One object, of what holds at an instant.
    public func json(at time: Int64) -> String {
        var members = [
            ("regulation", JSONText.quoted(regulation)), ("source", JSONText.quoted(source)),
            ("mark", JSONText.quoted(mark)),
        ]
        guard let code = code(at: time) else { return Words.object(members) }
        members += [
            ("full_response_s", "\(code.fullResponse / 1_000)"),
            ("held_s", "\(code.hold / 1_000)"),
        ]
        guard let curve = code.curve else { return Words.object(members) }
        members += [
            ("nominal_hz", Words.fixed(curve.nominal, 0)),
            ("deadband_hz", Words.fixed(Double(curve.deadband) / 1_000, 3)),
            ("droop_min", Words.fixed(curve.droop.lowerBound, 4)),
            ("droop_max", Words.fixed(curve.droop.upperBound, 4)),
        ]
        if let band = curve.operatingBand {
            members += [
                ("operating_band_low_hz", Words.fixed(Double(band.lowMillihertz) / 1_000, 3)),
                ("operating_band_high_hz", Words.fixed(Double(band.highMillihertz) / 1_000, 3)),
            ]
        }
        return Words.object(members)
    }
}
