import Quantities

/// Looks at the samples of one event.
struct EventJudge {
    let samples: [FrequencySample]
    let span: EventFinder.Span
    let rules: FrequencyRules

    private var start: Int64 { samples[span.first].milliseconds }
    private var back: Int64 { samples[span.back ?? span.last].milliseconds }
    private func time(_ index: Int) -> Int64 { samples[index].milliseconds }
    private func step(_ index: Int) -> Int64 { time(index + 1) - time(index) }

    /// `nil` only where no sample of the span has a frequency, which a finder does not make.
    func event() -> FrequencyEvent? {
        let known = samples[span.first...span.last].filter { $0.frequency != nil }
        guard let nadir = known.compactMap(\.frequency).min(),
            let zenith = known.compactMap(\.frequency).max()
        else { return nil }
        let change = samples[span.first...(span.back.map { $0 - 1 } ?? span.last)]
        let expectedPeak = Self.peak(change.compactMap(\.expectedChange)) ?? .zero
        let beta = self.beta()
        let response = self.response(expectedPeak)
        var event = FrequencyEvent(
            begin: span.begin, end: span.end, startMilliseconds: start, durationMilliseconds: back - start,
            nadir: nadir, zenith: zenith, expectedPeak: expectedPeak,
            deliveredPeak: Self.peak(change.compactMap(\.deliveredChange)),
            expectedEnergy: .init(), deliveredEnergy: .init(), energyRatio: nil,
            response: response, betaMegawattsPerHertz: beta.perHertz, betaShare: beta.share,
            gapMilliseconds: 0, unmeasuredMilliseconds: 0,
            score: score(response), samples: span.first...span.last)
        event.heldShares = FrequencyRules.holds.map { sustained(for: $0).share }
        integrate(&event)
        return event
    }

    private static func peak(_ powers: [Watts]) -> Watts? {
        powers.max { $0.magnitude < $1.magnitude }
    }

    private func integrate(_ event: inout FrequencyEvent) {
        var both = (expected: WattHours.zero, delivered: WattHours.zero)
        for index in span.first..<span.last {
            let step = self.step(index)
            guard step <= rules.longestStep else {
                event.gapMilliseconds += step
                continue
            }
            let (a, b) = (samples[index], samples[index + 1])
            let expected = Self.energy(a.expectedChange, b.expectedChange, step)
            let delivered = Self.energy(a.deliveredChange, b.deliveredChange, step)
            if let expected { event.expectedEnergy += expected }
            if let delivered { event.deliveredEnergy += delivered }
            guard let expected, let delivered else {
                event.unmeasuredMilliseconds += step
                continue
            }
            both.expected += expected.net
            both.delivered += delivered.net
        }
        if both.expected.magnitude > WattHours(1e-9) { event.energyRatio = both.delivered / both.expected }
    }

    private static func energy(_ from: Watts?, _ to: Watts?, _ step: Int64) -> TrapezoidEnergy? {
        guard let from, let to else { return nil }
        return TrapezoidEnergy(from, to, .milliseconds(step))
    }

    // MARK: Response time

    private func response(_ peak: Watts) -> ResponseTime {
        guard span.begin == .seen, peak != .zero else { return .unknown }
        func isThere(_ power: Watts?) -> Bool {
            guard let power, (power > .zero) == (peak > .zero) else { return false }
            return power.magnitude >= peak.magnitude * 0.9 - Watts(1e-6)
        }
        guard let asked = (span.first...span.last).first(where: { isThere(samples[$0].expectedChange) })
        else { return .unknown }
        let delivered = (asked...span.last).first { isThere(samples[$0].deliveredChange) }
        // What was not measured on the way may have been there sooner: then the time is not known.
        let blind = (asked...(delivered ?? span.last)).contains { index in
            samples[index].delivered == nil || (index > asked && step(index - 1) > rules.longestStep)
        }
        if blind { return .unknown }
        if let delivered { return .reached(time(delivered) - time(asked)) }
        let released =
            (asked...span.last).first { !isThere(samples[$0].expectedChange) } ?? span.last
        return time(released) - time(asked) >= rules.fullResponse ? .missed : .unknown
    }

    // MARK: Beta

    private func mean(
        _ range: ClosedRange<Int64>, _ value: (FrequencySample) -> Double?
    ) -> Double? {
        var sum = 0.0
        var count = 0
        // Samples come slower before an event than in it: each whole second counts once.
        var second: Int64?
        for sample in samples[samples.firstIndex(from: range.lowerBound)...] {
            if sample.milliseconds > range.upperBound { break }
            let own = (sample.milliseconds - range.lowerBound) / 1_000
            if own == second { continue }
            second = own
            guard let number = value(sample) else { return nil }
            sum += number
            count += 1
        }
        // Three quarters of the window must have been seen.
        guard Int64(count) * 4_000 >= (range.upperBound - range.lowerBound) * 3 else { return nil }
        return sum / Double(count)
    }

    /// As NERC BAL-003 frames it: from the mean of 16 … 2 s before to the mean of 20 … 52 s after.
    private func beta() -> (perHertz: Double?, share: Double?) {
        let before = (start - 16_000)...(start - 2_000)
        let after = (start + 20_000)...(start + 52_000)
        guard span.begin == .seen, back >= after.upperBound,
            let power = mean(after, { $0.deliveredChange?.value }),
            let ideal = mean(after, { $0.expectedChange?.value })
        else { return (nil, nil) }
        let share = ideal.magnitude > 1e-9 ? power / ideal : nil
        guard let powerBefore = mean(before, { $0.deliveredChange?.value }),
            let frequencyBefore = mean(before, { $0.frequency?.value }),
            let frequencyAfter = mean(after, { $0.frequency?.value }),
            (frequencyAfter - frequencyBefore).magnitude >= 0.001
        else { return (nil, share) }
        return (-(power - powerBefore) / 1e6 / (frequencyAfter - frequencyBefore), share)
    }

    // MARK: Score

    private func score(_ response: ResponseTime) -> EventScore {
        let (accuracy, accuracyWeight) = accuracy()
        let (sustained, sustainedWeight) = sustained(for: rules.hold)
        return EventScore(
            accuracy: accuracy, accuracyWeight: accuracyWeight, delay: delay(response), sustained: sustained,
            sustainedWeight: sustainedWeight)
    }

    private func delay(_ response: ResponseTime) -> Double? {
        switch response {
        case .unknown: nil
        case .missed: 0
        case .reached(let time):
            min(1, max(0, 2 - Double(time) / Double(max(1, rules.fullResponse))))
        }
    }

    /// What is not measured counts as an error of 1, a gap too.
    private func accuracy() -> (Double?, Int64) {
        var weight: Int64 = 0
        var errors = 0.0
        for index in span.first..<span.last where time(index) - start >= rules.fullResponse {
            let sample = samples[index]
            let step = self.step(index)
            if step > rules.longestStep {
                weight += step
                errors += Double(step)
                continue
            }
            let least = sample.rated * 0.02
            let isOutside = rules.isOutside(sample) ?? true
            let isAway = sample.deliveredChange.map { $0.magnitude > least } ?? false
            guard isOutside || isAway else { continue }
            weight += step
            var error = 1.0
            if let delivered = sample.delivered, let target = sample.target,
                let change = sample.expectedChange
            {
                let scale = change.magnitude > least ? change.magnitude : least
                error = min(1, (delivered - target).magnitude / scale)
            }
            errors += error * Double(step)
        }
        return (weight > 0 ? 1 - errors / Double(weight) : nil, weight)
    }

    /// Only while the frequency asks for something, and while the state of charge lets it.
    private func sustained(for hold: Int64) -> (share: Double?, weight: Int64) {
        let window = (start + rules.fullResponse)..<(start + rules.fullResponse + hold)
        var weight: Int64 = 0
        var good: Int64 = 0
        for index in span.first..<span.last where window.contains(time(index)) {
            let sample = samples[index]
            if rules.isOutside(sample) == false || Self.isExcused(sample) { continue }
            let step = min(self.step(index), window.upperBound - time(index))
            weight += step
            guard self.step(index) <= rules.longestStep, let delivered = sample.delivered,
                let target = sample.target
            else { continue }
            if (delivered - target).magnitude <= sample.rated * 0.05 + Watts(1e-6) { good += step }
        }
        return (weight > 0 ? Double(good) / Double(weight) : nil, weight)
    }

    private static func isExcused(_ sample: FrequencySample) -> Bool {
        guard let target = sample.target else { return false }
        switch sample.chargeLimit {
        case .none: return false
        case .charge: return target < .zero
        case .discharge: return target > .zero
        case .both: return true
        }
    }
}

extension [FrequencySample] {
    /// By halving; the end where all are before.
    fileprivate func firstIndex(from milliseconds: Int64) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if self[middle].milliseconds < milliseconds { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
