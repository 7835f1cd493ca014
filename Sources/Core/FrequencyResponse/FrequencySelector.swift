import Quantities

/// Chooses among several measurements of one frequency, and hands over between them without a jump.
///
/// The sources stand in the order of their rank. A source counts while it is fresh and plausible and is no
/// suspect; who calls says which samples are fresh.
public struct FrequencySelector: Sendable, BitwiseCopyable {
    public static let maximumCount = 8

    /// A fresh measurement.
    public struct Sample: Sendable, BitwiseCopyable {
        public var frequency: Hertz
        /// Since it was taken; zero or more.
        public var age: Duration

        public init(_ frequency: Hertz, age: Duration) {
            self.frequency = frequency
            self.age = age
        }
    }

    public struct Settings: Sendable, BitwiseCopyable, Equatable {
        /// Sources that differ by more suspect each other.
        public var disagreement = Hertz(0.2)
        /// Fastest change of a grid that still is one: samples of different age may differ by so much more.
        public var fastest = HertzPerSecond(3)
        /// How long suspects must agree before they count again.
        public var recovery = Duration.milliseconds(300)
        /// How long a better source must be good before it takes over from one that works.
        public var patience = Duration.seconds(1)
        /// How fast the difference between two sources goes away after a hand-over …
        public var handover = HertzPerSecond(0.05)
        /// … and the longest that takes.
        public var handoverLimit = Duration.seconds(4)
        /// After a longer time without any source there is nothing to be continued.
        public var gap = Duration.milliseconds(500)

        public init() {}
    }

    /// What is to be used now.
    public struct Selection: Sendable, BitwiseCopyable, Equatable {
        /// Rank of the source, from 0; `nil` = there is none.
        public var rank: Int?
        /// What it measures.
        public var measured: Hertz?
        /// What to respond to: after a hand-over it goes over to `measured` without a jump.
        public var used: Hertz?
        /// Age of the sample.
        public var age: Duration = .zero
        /// Sources disagree, and nobody can say which one is right.
        public var isDisputed = false

        public init() {}
    }

    private struct Used: Sendable, BitwiseCopyable {
        var frequency: Hertz
        var at: MonotonicTime
    }

    private let settings: Settings
    private let count: Int
    private var suspectedAt: InlineArray<8, MonotonicTime?> = InlineArray(repeating: nil)
    private var goodSince: InlineArray<8, MonotonicTime?> = InlineArray(repeating: nil)
    private var current: Int?
    /// The rank that was used last, whenever that was.
    private var lastRank: Int?
    private var lastUsed: Used?
    private var offset = Hertz.zero
    private var decay = HertzPerSecond.zero

    /// - Parameter count: how many sources there are, 0 … 8.
    public init(settings: Settings, count: Int) {
        precondition(count >= 0 && count <= Self.maximumCount)
        self.settings = settings
        self.count = count
    }

    /// - Parameter samples: by rank; `nil` = not fresh or not plausible.
    public mutating func select(
        _ samples: borrowing InlineArray<8, Sample?>, at now: MonotonicTime, after elapsed: Duration
    ) -> Selection {
        judge(samples, now)
        var selection = Selection()
        let before = current
        guard let rank = choice(samples, now), let sample = samples[rank] else {
            for index in 0..<count where samples[index] != nil { selection.isDisputed = true }
            current = nil
            return selection
        }
        current = rank
        let isHandedOver = rank != (before ?? lastRank)
        if isHandedOver {
            begin(from: sample.frequency, now)
        } else {
            let step = Hertz(decay.value * elapsed.seconds)
            offset = offset.magnitude <= step ? .zero : (offset > .zero ? offset - step : offset + step)
        }
        lastRank = rank
        selection.rank = rank
        selection.measured = sample.frequency
        selection.age = sample.age
        let used = sample.frequency + offset
        selection.used = used
        lastUsed = Used(frequency: used, at: now)
        return selection
    }

    /// Another source: the difference to what was used stays for now.
    private mutating func begin(from frequency: Hertz, _ now: MonotonicTime) {
        offset = .zero
        guard let last = lastUsed, now - last.at <= settings.gap else { return }
        offset = last.frequency - frequency
        let slowest = offset.magnitude.value / settings.handoverLimit.seconds
        decay = HertzPerSecond(slowest > settings.handover.value ? slowest : settings.handover.value)
    }

    /// Marks those that the majority does not confirm; two that disagree are both suspect.
    private mutating func judge(_ samples: borrowing InlineArray<8, Sample?>, _ now: MonotonicTime) {
        var seen = 0
        for index in 0..<count where samples[index] != nil { seen += 1 }
        for index in 0..<count {
            guard let own = samples[index] else {
                goodSince[index] = nil
                continue
            }
            var agreeing = 0
            for other in 0..<count {
                if let sample = samples[other], agrees(own, sample) { agreeing += 1 }
            }
            if agreeing * 2 <= seen { suspectedAt[index] = now }
            if goodSince[index] == nil { goodSince[index] = now }
            if isSuspect(index, now) { goodSince[index] = now }
        }
    }

    private func agrees(_ a: Sample, _ b: Sample) -> Bool {
        let apart = a.age > b.age ? a.age - b.age : b.age - a.age
        let allowed = settings.disagreement.value + settings.fastest.value * apart.seconds
        return (a.frequency - b.frequency).magnitude.value <= allowed + 1e-9
    }

    private func isSuspect(_ index: Int, _ now: MonotonicTime) -> Bool {
        guard let since = suspectedAt[index] else { return false }
        return now - since < settings.recovery
    }

    private func choice(_ samples: borrowing InlineArray<8, Sample?>, _ now: MonotonicTime) -> Int? {
        var best: Int?
        for index in 0..<count where best == nil {
            if samples[index] != nil && !isSuspect(index, now) { best = index }
        }
        guard let best, let current, current != best, samples[current] != nil, !isSuspect(current, now) else {
            return best
        }
        // The one in use works: a better one takes over once it has been good for a while.
        guard let since = goodSince[best], now - since >= settings.patience else { return current }
        return best
    }
}
