import Quantities

/// Rate of change of frequency (ROCOF): the slope of the least-squares line through the samples of a window.
///
/// Two samples of a noisy meter say nothing about its slope; a window of 500 ms does.
public struct RateOfChangeFilter: Sendable, BitwiseCopyable {
    /// Samples that are kept; closer ones than the window divided by half of it are passed over.
    private static let capacity = 64
    /// Share of the window that samples must span before there is a slope.
    private static let coverage = 0.8

    private struct Point: Sendable, BitwiseCopyable {
        var frequency = Hertz.zero
        var at = MonotonicTime(nanoseconds: 0)
    }

    private let window: Duration
    private var points: InlineArray<64, Point> = InlineArray(repeating: Point())
    private var start = 0
    private var count = 0

    /// - Parameter window: longer than zero.
    public init(window: Duration) {
        precondition(window > .zero)
        self.window = window
    }

    /// Forgets all samples, as where another meter begins to measure.
    public mutating func restart() { count = 0 }

    /// Takes a sample of `time`; one that is not newer than the last is passed over.
    public mutating func add(_ frequency: Hertz, at time: MonotonicTime) {
        if count > 0 {
            let age = time - point(count - 1).at
            // After a gap the line would join two stories.
            if age > window { count = 0 }
            let least = Duration.nanoseconds(window.nanoseconds / Int64(Self.capacity / 2))
            guard count == 0 || age >= least else { return }
        }
        while count > 0, time - point(0).at > window || count == Self.capacity {
            start = (start + 1) % Self.capacity
            count -= 1
        }
        points[(start + count) % Self.capacity] = Point(frequency: frequency, at: time)
        count += 1
    }

    /// The slope; `nil` while the samples do not span the window, or the newest is older than it.
    public func slope(at now: MonotonicTime) -> HertzPerSecond? {
        guard count >= 3, now - point(count - 1).at <= window,
            (point(count - 1).at - point(0).at).seconds >= window.seconds * Self.coverage
        else { return nil }
        let origin = point(0)
        var (sumTime, sumValue, sumProduct, sumSquare) = (0.0, 0.0, 0.0, 0.0)
        for index in 0..<count {
            let time = (point(index).at - origin.at).seconds
            let value = point(index).frequency.value - origin.frequency.value
            sumTime += time
            sumValue += value
            sumProduct += time * value
            sumSquare += time * time
        }
        let number = Double(count)
        let spread = number * sumSquare - sumTime * sumTime
        guard spread > 0 else { return nil }
        return HertzPerSecond((number * sumProduct - sumTime * sumValue) / spread)
    }

    private func point(_ index: Int) -> Point { points[(start + index) % Self.capacity] }
}
