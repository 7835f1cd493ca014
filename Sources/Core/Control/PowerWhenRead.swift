import PowerDispatch
import Quantities

/// The steered units' power as it was when the meter was read: beside a reading of half a second ago, the
/// power of now would pass for somebody's load.
struct PowerWhenRead: Sendable, BitwiseCopyable {
    private static let size = 128
    private static let spacing = Duration.milliseconds(20)
    /// Many meters repeat what they measured a second ago. What stands for longer is an even power.
    private static let repeats = Duration.seconds(2)

    /// When the inverters were read, and what they gave.
    private var times: InlineArray<128, MonotonicTime> = InlineArray(
        repeating: MonotonicTime(nanoseconds: 0))
    private var powers: InlineArray<128, PowerRange> = InlineArray(repeating: PowerRange(.zero))
    private var count = 0
    private var newest = 0
    /// What the meter shows, and when it was read so first.
    private var shown: (meter: Watts, since: MonotonicTime)?

    /// Other units are counted from now on.
    mutating func restart() { (count, newest, shown) = (0, 0, nil) }

    /// Notes what the inverters showed, once a cycle.
    mutating func note(_ own: PowerRange, readAt time: MonotonicTime) {
        if count > 0, time - times[newest] >= Self.spacing { newest = (newest + 1) % Self.size }
        if count == 0 || time >= times[newest] { (times[newest], powers[newest]) = (time, own) }
        if count <= newest { count = newest + 1 }
    }

    /// The units' power to compare a reading of the meter with: of the moment nearest to it.
    ///
    /// - Parameter time: when the meter was read.
    mutating func own(beside meter: Watts, readAt time: MonotonicTime) -> PowerRange? {
        var moment = time
        if let shown, shown.meter == meter {
            if time - shown.since < Self.repeats { moment = shown.since }
        } else {
            shown = (meter, time)
        }
        guard count > 0 else { return nil }
        var best = newest
        for back in 0..<count {
            let index = (newest + Self.size - back) % Self.size
            if Self.between(times[index], moment) < Self.between(times[best], moment) { best = index }
            if times[index] <= moment { break }
        }
        return powers[best]
    }
    private static func between(_ one: MonotonicTime, _ other: MonotonicTime) -> Duration {
        one > other ? one - other : other - one
    }
}
