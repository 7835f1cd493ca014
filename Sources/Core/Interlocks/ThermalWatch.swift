import Quantities

/// How fast the hottest cell warms, and whether a cell runs away.
///
/// The hottest cell may become another one; then the step between the two counts as a rise, to the safe
/// side. Fixed memory: at most 32 samples, thinned out so that they reach over the longest window.
public struct ThermalWatch: Sendable, BitwiseCopyable {
    /// K/s; a rise that warns, and one that warns strongly and counts as a sign of runaway.
    public static let rise = (slow: 0.1, fast: 1.0)
    /// From when on heat is a sign of runaway.
    public struct Heat: Sendable, BitwiseCopyable, Equatable {
        /// A cell this hot needs only a fast rise to count as running away: the highest temperature at which
        /// the chemistry may work.
        public let suspect: Celsius
        /// A cell this hot counts as running away alone.
        public var alone: Celsius { suspect + Celsius(5) }

        public init(suspect: Celsius) { self.suspect = suspect }
    }

    /// A cell that loses this share of its voltage within the window.
    public static let voltageFall = 0.25

    private struct Sample: BitwiseCopyable {
        var at: MonotonicTime
        var temperature: Celsius
        var voltage: Volts?
    }

    private var samples: InlineArray<32, Sample>
    private var count = 0
    private var newest = 31
    private let resolution: Celsius
    private let heat: Heat
    private let longest: Duration
    private let spacing: Duration
    /// K/s over the window that the limits `rise` need; `nil` while the samples do not reach over it.
    public private(set) var slow: Double?
    public private(set) var fast: Double?

    /// - Parameters:
    ///   - resolution: the step in which the temperature is reported.
    ///   - heat: of the chemistry.
    public init(resolution: Celsius, heat: Heat) {
        self.heat = heat
        samples = InlineArray(
            repeating: Sample(at: MonotonicTime(nanoseconds: 0), temperature: .zero, voltage: nil))
        self.resolution = resolution
        longest = Self.window(resolution, Self.rise.slow)
        spacing = longest / 24
    }

    /// Ten seconds, or longer where the resolution over ten seconds is more than half of the limit.
    private static func window(_ resolution: Celsius, _ limit: Double) -> Duration {
        let needed = Duration.nanoseconds(Int64((resolution.value / limit * 2e9).clamped(to: 0...600e9)))
        return max(.seconds(10), needed)
    }

    /// Takes a good reading. Known ones, and ones too close to the last, are left out; after a gap it begins
    /// anew.
    public mutating func add(_ temperature: Celsius, _ voltage: Volts?, at time: MonotonicTime) {
        if count > 0 {
            let passed = time - samples[newest].at
            if passed > longest || passed < .zero { count = 0 } else if passed < spacing { return }
        }
        newest = (newest + 1) % 32
        samples[newest] = Sample(at: time, temperature: temperature, voltage: voltage)
        count = min(32, count + 1)
        slow = slope(over: longest)
        fast = slope(over: Self.window(resolution, Self.rise.fast))
    }

    // Read through a borrow, each sample costs a copy of them all (Swift 6.3): this and what calls it is
    // mutating.
    private mutating func sample(_ back: Int) -> Sample { samples[(newest + 32 - back) % 32] }

    /// Least squares over the newest samples that span `window`, at least five.
    private mutating func slope(over window: Duration) -> Double? {
        let end = sample(0)
        var used = 0
        var hasSpan = false
        var time = 0.0
        var warmth = 0.0
        while used < count && !(hasSpan && used >= 5) {
            let next = sample(used)
            time += (next.at - end.at).seconds
            warmth += (next.temperature - end.temperature).value
            hasSpan = end.at - next.at >= window
            used += 1
        }
        guard hasSpan, used >= 5 else { return nil }
        let middle = (time: time / Double(used), warmth: warmth / Double(used))
        var products = 0.0
        var squares = 0.0
        for back in 0..<used {
            let next = sample(back)
            let distance = (next.at - end.at).seconds - middle.time
            products += distance * ((next.temperature - end.temperature).value - middle.warmth)
            squares += distance * distance
        }
        return products / squares
    }

    /// Whether a cell runs away: it is hot or its voltage falls, and the temperature rises fast; `nil` while
    /// nobody knows how fast it rises. A voltage that is not known, now or before, counts as fallen.
    public mutating func isRunaway(_ hottest: Celsius, _ weakest: Volts?) -> Bool? {
        if hottest >= heat.alone { return true }
        guard let fast else { return nil }
        guard fast >= Self.rise.fast else { return false }
        return hottest >= heat.suspect || hasFallen(weakest)
    }

    private mutating func hasFallen(_ voltage: Volts?) -> Bool {
        guard let voltage else { return true }
        var isKnown = false
        for back in 0..<count {
            guard let before = sample(back).voltage else { continue }
            if voltage < before * (1 - Self.voltageFall) { return true }
            isKnown = true
        }
        return !isKnown
    }
}
