import Quantities

/// One excursion of frequency and what the site did in it.
public struct FrequencyEvent: Sendable, Equatable {
    public enum Begin: String, Sendable {
        /// The last sample before it was inside.
        case seen
        /// It was under way when the data begins, or begins again.
        case beforeData = "before_data"
    }

    public enum End: String, Sendable {
        /// The frequency came back and stayed.
        case returned
        /// The data ends before that.
        case endOfData = "end_of_data"
        /// A gap longer than the settle time follows.
        case gap
    }

    public var begin: Begin
    public var end: End
    /// Of its first sample outside; ms since 1970 UTC.
    public var startMilliseconds: Int64
    /// Until back inside, or to the last sample of an event that is cut.
    public var durationMilliseconds: Int64
    public var nadir: Hertz
    public var zenith: Hertz
    /// The largest power beside the base point by magnitude, with its sign.
    public var expectedPeak: Watts
    public var deliveredPeak: Watts?
    /// Beside the base point, to the end of the settle time.
    public var expectedEnergy: TrapezoidEnergy
    /// Over the time in which power was measured.
    public var deliveredEnergy: TrapezoidEnergy
    /// Delivered by expected, where both are known; `nil` where nothing was expected there.
    public var energyRatio: Double?
    /// From the instant at which 90 % of the event's peak was asked for until it was there.
    public var response: ResponseTime
    /// Power over frequency from the 14 s before the event to 20 … 52 s after its begin; positive helps the
    /// grid. `nil` where one of the two was not seen, or the frequency was back by then.
    public var betaMegawattsPerHertz: Double?
    /// The same as a share of what the curve asked for.
    public var betaShare: Double?
    /// Time between samples that are too far apart.
    public var gapMilliseconds: Int64
    /// Time with a frequency or a delivered power that nobody measured.
    public var unmeasuredMilliseconds: Int64
    public var score: EventScore
    /// The same as `sustained` of the score for each of `FrequencyRules.holds`.
    public var heldShares: [Double?] = []
    /// Indexes into the samples of the report.
    public var samples: ClosedRange<Int>
}

/// How long the site took to be at 90 % of an event's peak.
public enum ResponseTime: Sendable, Equatable {
    /// ms; in steps of the samples.
    case reached(Int64)
    /// 90 % was asked for as long as a full response may take, and was not delivered.
    case missed
    /// The event was too short, its begin was not seen, or nobody measured.
    case unknown
}

/// The parts of the score that one event gives; `nil` where it does not judge that part.
public struct EventScore: Sendable, Equatable {
    /// 1 − mean of min(|P − P*| ÷ max(|ΔP*|, 2 % of rated), 1), after the time for full response.
    public var accuracy: Double?
    /// ms on which `accuracy` stands.
    public var accuracyWeight: Int64
    /// 1 if 90 % came in the time for full response, linear to 0 at twice that.
    public var delay: Double?
    /// Share of the time to hold with an error of at most 5 % of rated.
    public var sustained: Double?
    public var sustainedWeight: Int64
}
