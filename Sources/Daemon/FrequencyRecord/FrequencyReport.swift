import Quantities

/// What a row of samples says about the site's frequency response. Pure and total: any samples in, a report
/// out.
public struct FrequencyReport: Sendable, Equatable {
    /// A stretch of time without a sample.
    public struct Gap: Sendable, Equatable {
        public var fromMilliseconds: Int64
        public var toMilliseconds: Int64
        public var milliseconds: Int64 { toMilliseconds - fromMilliseconds }
    }

    /// The time that was asked for; ms since 1970 UTC.
    public var fromMilliseconds: Int64
    public var toMilliseconds: Int64
    /// In the order of time, inside the time asked for.
    public var samples: [FrequencySample]
    /// Samples at a time that an earlier one already had or passed: the wall clock was set back. Left out.
    public var disordered: Int
    public var gaps: [Gap]
    /// Time between samples that are close enough.
    public var coveredMilliseconds: Int64
    /// Of it, without a frequency, and without a delivered power.
    public var withoutFrequencyMilliseconds: Int64
    public var withoutPowerMilliseconds: Int64
    /// Share of the time with a frequency in the grid's operating band. The grid's figure, not the site's.
    public var operatingBandShare: Double?
    public var events: [FrequencyEvent]
    public var verdict: ScoreVerdict
    public var rules: FrequencyRules
    /// When the report was made, ms since 1970 UTC; `nil` = that does not matter.
    public var madeAt: Int64?
    /// What was wrong with the record.
    public var remarks: [String]

    /// Share of the time asked for in which there are samples, 0 … 1.
    public var coverage: Double {
        let asked = toMilliseconds - fromMilliseconds
        return asked > 0 ? Double(coveredMilliseconds) / Double(asked) : 0
    }

    /// - Parameters:
    ///   - from: begin of the time asked for, ms since 1970 UTC; `nil` = the first sample.
    ///   - to: its end, included; `nil` = the last sample.
    public init(
        _ all: [FrequencySample], rules: FrequencyRules, from: Int64? = nil, to: Int64? = nil,
        madeAt: Int64? = nil, remarks: [String] = []
    ) {
        let (kept, dropped) = Self.ordered(all, from ?? .min, to ?? .max)
        self.rules = rules
        self.madeAt = madeAt
        self.remarks = remarks
        samples = kept
        disordered = dropped
        fromMilliseconds = from ?? kept.first?.milliseconds ?? to ?? 0
        toMilliseconds = max(fromMilliseconds, to ?? kept.last?.milliseconds ?? fromMilliseconds)
        gaps = []
        coveredMilliseconds = 0
        withoutFrequencyMilliseconds = 0
        withoutPowerMilliseconds = 0
        operatingBandShare = nil
        events = []
        verdict = .noData
        measureCoverage()
        events = EventFinder.spans(kept, rules).compactMap {
            EventJudge(samples: kept, span: $0, rules: rules).event()
        }
        verdict = ScoreVerdict(self)
    }

    private static func ordered(
        _ all: [FrequencySample], _ from: Int64, _ to: Int64
    ) -> (kept: [FrequencySample], dropped: Int) {
        var kept: [FrequencySample] = []
        var dropped = 0
        for sample in all where sample.milliseconds >= from && sample.milliseconds <= to {
            if let last = kept.last, sample.milliseconds <= last.milliseconds {
                dropped += 1
            } else {
                kept.append(sample)
            }
        }
        return (kept, dropped)
    }

    private mutating func measureCoverage() {
        var inBand: Int64 = 0
        var known: Int64 = 0
        var last = fromMilliseconds
        for (index, sample) in samples.enumerated() {
            let step = sample.milliseconds - last
            if step > rules.longestStep {
                gaps.append(Gap(fromMilliseconds: last, toMilliseconds: sample.milliseconds))
            } else if index > 0 {
                let held = samples[index - 1]
                coveredMilliseconds += step
                if held.delivered == nil { withoutPowerMilliseconds += step }
                if let frequency = held.frequency {
                    known += step
                    if rules.operatingBand?.contains(frequency) == true { inBand += step }
                } else {
                    withoutFrequencyMilliseconds += step
                }
            }
            last = sample.milliseconds
        }
        if toMilliseconds - last > rules.longestStep {
            gaps.append(Gap(fromMilliseconds: last, toMilliseconds: toMilliseconds))
        }
        if rules.operatingBand != nil, known > 0 { operatingBandShare = Double(inBand) / Double(known) }
    }
}

/// The score of a time, or why there is none. Not a regulator's number.
public enum ScoreVerdict: Sendable, Equatable {
    /// There is no sample.
    case noData
    /// The frequency never left the deadband: nothing was asked for, so nothing is scored.
    case noEvents
    /// There were events, but none lasted beyond the time for full response with its begin seen.
    case notJudged
    case scored(FrequencyScore)

    init(_ report: FrequencyReport) {
        guard !report.samples.isEmpty else {
            self = .noData
            return
        }
        guard !report.events.isEmpty else {
            self = .noEvents
            return
        }
        self = FrequencyScore(report).map { .scored($0) } ?? .notJudged
    }
}

/// 100 · (0.4 accuracy + 0.25 delay + 0.2 sustained + 0.15 in service). Not a regulator's number.
public struct FrequencyScore: Sendable, Equatable {
    /// Each 0 … 1.
    public var accuracy: Double
    public var delay: Double
    public var sustained: Double
    /// In-service share of the nameplate over the time from the first to the last sample; gaps count as out.
    public var inService: Double
    /// 0 … 100.
    public var total: Double
    /// Mean of the events' delivered by expected power in 20 … 52 s; `nil` where no event was judged so.
    public var betaShare: Double?
    /// How many events each part stands on.
    public var accuracyEvents: Int
    public var delayEvents: Int
    public var sustainedEvents: Int

    /// The bands of the Indian frequency response performance.
    public var betaBand: String? {
        guard let betaShare else { return nil }
        // A share on a band's edge, whatever its last bit, belongs to the better one.
        let share = betaShare + 1e-9
        if share >= 1 { return "excellent" }
        if share >= 0.85 { return "good" }
        if share >= 0.75 { return "average" }
        return share >= 0.5 ? "below average" : "poor"
    }

    init?(_ report: FrequencyReport) {
        self.init(
            report.events.map(\.score), betaShares: report.events.compactMap(\.betaShare),
            inService: Self.inService(report))
    }

    /// - Parameter shares: of the events that were judged so.
    init?(_ scores: [EventScore], betaShares shares: [Double], inService: Double) {
        let delays = scores.compactMap(\.delay)
        guard let accuracy = Self.mean(scores, \.accuracy, \.accuracyWeight),
            let sustained = Self.mean(scores, \.sustained, \.sustainedWeight), !delays.isEmpty
        else { return nil }
        self.accuracy = accuracy
        self.sustained = sustained
        delay = delays.reduce(0, +) / Double(delays.count)
        self.inService = inService
        total = 100 * (0.4 * accuracy + 0.25 * delay + 0.2 * sustained + 0.15 * inService)
        betaShare = shares.isEmpty ? nil : shares.reduce(0, +) / Double(shares.count)
        accuracyEvents = scores.count { $0.accuracy != nil }
        delayEvents = delays.count
        sustainedEvents = scores.count { $0.sustained != nil }
    }

    private static func mean(
        _ scores: [EventScore], _ value: (EventScore) -> Double?, _ weight: (EventScore) -> Int64
    ) -> Double? {
        var sum = 0.0
        var whole: Int64 = 0
        for score in scores {
            guard let number = value(score) else { continue }
            sum += number * Double(weight(score))
            whole += weight(score)
        }
        return whole > 0 ? sum / Double(whole) : nil
    }

    private static func inService(_ report: FrequencyReport) -> Double {
        let samples = report.samples
        guard let first = samples.first, let last = samples.last, last.milliseconds > first.milliseconds
        else { return 0 }
        var sum = 0.0
        for (a, b) in zip(samples, samples.dropFirst())
        where b.milliseconds - a.milliseconds <= report.rules.longestStep {
            sum += (a.inService / a.rated) * Double(b.milliseconds - a.milliseconds)
        }
        return sum / Double(last.milliseconds - first.milliseconds)
    }
}
