import Quantities

/// How events are told apart and judged.
public struct FrequencyRules: Sendable, Equatable {
    /// A frequency range whose edges belong to the inside.
    public struct Band: Sendable, Equatable {
        public var lowMillihertz: Int
        public var highMillihertz: Int

        public init(lowMillihertz: Int, highMillihertz: Int) {
            self.lowMillihertz = lowMillihertz
            self.highMillihertz = highMillihertz
        }

        /// Edges are whole millihertz, the measured frequency is never rounded: 10⁻⁶ mHz covers an edge's
        /// binary form.
        public func contains(_ frequency: Hertz) -> Bool {
            let millihertz = frequency.value * 1_000
            return millihertz >= Double(lowMillihertz) - 1e-6 && millihertz <= Double(highMillihertz) + 1e-6
        }
    }

    /// The grid's normal operating band: shown, never scored. `nil` = not asked for.
    public var operatingBand: Band?
    /// The times to hold that a site tells apart beside its own: a grid code asks for one of them. In ms.
    public static let holds: [Int64] = [60_000, 120_000, 300_000, 600_000, 900_000, 1_200_000, 1_800_000]

    /// Outside it an event begins; `nil` = outside the deadband of the curve in force.
    public var eventBand: Band?
    /// In this time the response must be full.
    public var fullResponse: Int64
    /// So long it must then be held.
    public var hold: Int64
    /// An event is over when the frequency has been back for this long.
    public var settle: Int64
    /// Two samples further apart have a gap between them.
    public var longestStep: Int64

    /// Times in ms. The defaults are those of primary response in India: full in 30 s, held for 5 min.
    public init(
        operatingBand: Band? = nil, eventBand: Band? = nil, fullResponse: Int64 = 30_000,
        hold: Int64 = 300_000, settle: Int64 = 10_000, longestStep: Int64 = 2_500
    ) {
        self.operatingBand = operatingBand
        self.eventBand = eventBand
        self.fullResponse = fullResponse
        self.hold = hold
        self.settle = settle
        self.longestStep = longestStep
    }

    func isOutside(_ sample: FrequencySample) -> Bool? {
        guard let eventBand else { return sample.isOutside }
        return sample.frequency.map { !eventBand.contains($0) }
    }
}
