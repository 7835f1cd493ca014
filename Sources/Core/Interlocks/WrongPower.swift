import Plant
import Quantities

/// Power that no share of the rating excuses: any of a unit that is to have none, and power the wrong way.
///
/// The row `not_following` judges how far power lies from what is asked; this judges whether it obeys at all.
public struct WrongPower: Sendable, BitwiseCopyable {
    /// What one cycle sees.
    public struct Sight: Sendable, BitwiseCopyable {
        /// Of the whole response time, lowest and highest.
        public var lowest: Watts
        public var highest: Watts
        /// In force now.
        public var asked: Watts
        public var delivered: Watts
        /// Of `delivered`.
        public var age: Duration
        /// Up to this magnitude power counts as none.
        public var zero: Watts

        public init(
            lowest: Watts, highest: Watts, asked: Watts, delivered: Watts, age: Duration, zero: Watts
        ) {
            self.lowest = lowest
            self.highest = highest
            self.asked = asked
            self.delivered = delivered
            self.age = age
            self.zero = zero
        }
    }

    /// Longer than the tail of any ramp.
    public static let zeroLimit = Duration.seconds(2)
    /// The response time has been waited for before.
    static let directionLimit = Duration.milliseconds(500)
    /// For setpoints that turn faster than the response: the sums fade over this many seconds …
    private static let memory = 10.0
    /// … and say nothing before so many are in them.
    private static let least = 3.0
    /// An older sample belongs to another setpoint.
    private static let oldest = Duration.milliseconds(300)

    private var notZeroFor = Duration.zero
    private var besideFor = Duration.zero
    private var againstFor = Duration.zero
    /// Asked × delivered, asked × asked, and their time.
    private var product = 0.0
    private var square = 0.0
    private var seconds = 0.0

    public init() {}

    /// Next to nothing has been asked for, and so much more or less flows for so long that people are told: a
    /// warning, since a device may be as inaccurate.
    public var isBeside: Bool { besideFor >= Self.zeroLimit }

    /// Judges one cycle.
    ///
    /// - Returns: whether the power has been wrong for long enough.
    public mutating func look(_ seen: Sight, after elapsed: Duration) -> Bool {
        correlate(seen, after: elapsed)
        let isZeroAsked = seen.lowest == .zero && seen.highest == .zero
        count(isZeroAsked && seen.delivered.magnitude > seen.zero, &notZeroFor, Self.zeroLimit, elapsed)
        count(isBeside(seen), &besideFor, Self.zeroLimit, elapsed)
        count(isAgainst(seen), &againstFor, Self.directionLimit, elapsed)
        return notZeroFor >= Self.zeroLimit || againstFor >= Self.directionLimit
    }

    private func isBeside(_ seen: Sight) -> Bool {
        guard seen.lowest >= -seen.zero, seen.highest <= seen.zero else { return false }
        return seen.delivered < seen.lowest - seen.zero || seen.delivered > seen.highest + seen.zero
    }

    private func count(_ isWrong: Bool, _ time: inout Duration, _ limit: Duration, _ elapsed: Duration) {
        time =
            isWrong ? min(limit, time + elapsed) : max(.zero, time - .nanoseconds(elapsed.nanoseconds / 2))
    }

    /// Everything asked in the response time lies on the other side of zero; or, where the setpoint turns
    /// faster than that, power has gone against it for most of the last seconds.
    private func isAgainst(_ seen: Sight) -> Bool {
        if seen.lowest >= .zero && seen.highest > .zero && seen.delivered < -seen.zero { return true }
        if seen.highest <= .zero && seen.lowest < .zero && seen.delivered > seen.zero { return true }
        guard seen.lowest < .zero, seen.highest > .zero, seconds >= Self.least else { return false }
        return square > seen.zero.value * seen.zero.value * seconds && product < -0.5 * square
    }

    private mutating func correlate(_ seen: Sight, after elapsed: Duration) {
        let time = elapsed.seconds
        let rest = max(0, 1 - time / Self.memory)
        (product, square, seconds) = (product * rest, square * rest, seconds * rest)
        guard seen.age <= Self.oldest, seen.asked.magnitude > seen.zero else { return }
        product += seen.asked.value * seen.delivered.value * time
        square += seen.asked.value * seen.asked.value * time
        seconds += time
    }
}
