import Quantities

/// A quarter of an hour of the performance record: how much of it there are samples of, and how much of the
/// nameplate was in service meanwhile. With the events it is what a score over a longer time stands on.
public struct FrequencyTime: Sendable, Equatable {
    /// In ms; begins at multiples of it since 1970.
    public static let length: Int64 = 900_000

    /// Of the first and the last sample, ms since 1970 UTC.
    public var from: Int64
    public var until: Int64
    /// Between samples that are close enough, ms.
    public var covered: Int64 = 0
    /// Of it, without a frequency, and without a delivered power.
    public var withoutFrequency: Int64 = 0
    public var withoutPower: Int64 = 0
    /// ms, each counted by the share of the nameplate that was in service.
    public var inService = 0.0
    /// What was given at which deviation.
    public var deviations = DeviationTable()

    /// Members of a JSON object.
    public var members: String {
        "\"from_ms\":\(from),\"until_ms\":\(until),\"covered_s\":\(Words.seconds(covered))"
            + ",\"in_service_s\":\(Words.fixed(inService / 1_000, 3))"
            + ",\"without_frequency_s\":\(Words.seconds(withoutFrequency))"
            + ",\"without_power_s\":\(Words.seconds(withoutPower)),\"deviations\":\(deviations.json)"
    }
}

/// Puts samples together by quarters of an hour. What a test shows is not the grid's and is left out.
public struct FrequencyClock: Sendable {
    private let rules: FrequencyRules
    private var last: FrequencySample?
    private var open: FrequencyTime?
    /// Since when the frequency is on one side, and on which.
    private var side: (isUnder: Bool, since: Int64)?

    public init(_ rules: FrequencyRules) { self.rules = rules }

    /// - Returns: the quarter that is over.
    public mutating func take(_ sample: FrequencySample) -> FrequencyTime? {
        guard !sample.isSimulated else {
            (last, side) = (nil, nil)
            return nil
        }
        let now = sample.milliseconds
        var over: FrequencyTime?
        if let one = open, now < one.until || now / FrequencyTime.length != one.until / FrequencyTime.length {
            over = one
            open = nil
        }
        var time = open ?? FrequencyTime(from: now, until: now)
        if let last, now > last.milliseconds, now - last.milliseconds <= rules.longestStep {
            let step = now - last.milliseconds
            // The step across the quarter's begin belongs to the new one.
            time.from = min(time.from, last.milliseconds)
            time.covered += step
            time.inService += last.inService / last.rated * Double(step)
            if last.frequency == nil { time.withoutFrequency += step }
            if last.delivered == nil { time.withoutPower += step }
            if isDue(last) { time.deviations.add(last, for: step) }
        } else {
            side = nil
        }
        time.until = max(time.until, now)
        open = time
        last = sample
        return over
    }

    /// Whether the frequency has been on the sample's side for as long as a full response may take.
    private mutating func isDue(_ sample: FrequencySample) -> Bool {
        guard let deviation = DeviationTable.deviation(of: sample) else {
            side = nil
            return false
        }
        let isUnder = deviation < 0
        if side?.isUnder != isUnder { side = (isUnder, sample.milliseconds) }
        return side.map { sample.milliseconds - $0.since >= rules.fullResponse } ?? false
    }
}
