import Quantities

/// Puts a PMU's time stamps on our own clock, and finds frames that came twice, late, or from another time.
///
/// The two clocks are never compared: the least delay seen so far counts as none, and what a frame took
/// longer is its age. So a burst that waited somewhere is old when it comes, whatever either clock says.
struct PhasorTimeline: Sendable, BitwiseCopyable {
    enum Verdict: Sendable, BitwiseCopyable, Equatable {
        /// The sample belongs to this instant, never later than its arrival.
        case sampled(MonotonicTime)
        case duplicate
        /// Older than one that came before it, or so far ahead that one of the clocks was set.
        case outOfOrder
    }

    /// A stamp that is ahead by more is no jitter: a clock was set.
    static let leap = Duration.seconds(1)
    /// How long frames must be out of order before their time counts as the new one.
    static let patience = Duration.seconds(1)
    /// How far apart the two clocks may run, in parts per million.
    private static let drift: Int64 = 200

    private struct Mark: Sendable, BitwiseCopyable {
        var stamp: Int64
        var arrival: MonotonicTime
        /// Least arrival − stamp, in nanoseconds.
        var floor: Int64
    }

    private var last: Mark?
    private var outOfOrderSince: MonotonicTime?

    /// - Parameter stamp: the PMU's time in nanoseconds since any fixed instant.
    mutating func judge(_ stamp: Int64, at now: MonotonicTime) -> Verdict {
        let offset = now.nanoseconds &- stamp
        guard let mark = last else { return restart(stamp, offset, now) }
        if stamp == mark.stamp { return .duplicate }
        let elapsed = now.nanoseconds &- mark.arrival.nanoseconds
        let floor = mark.floor &+ elapsed / 1_000_000 &* Self.drift
        guard stamp > mark.stamp, floor &- offset <= Self.leap.nanoseconds else {
            guard let since = outOfOrderSince else {
                outOfOrderSince = now
                return .outOfOrder
            }
            return now - since >= Self.patience ? restart(stamp, offset, now) : .outOfOrder
        }
        outOfOrderSince = nil
        let least = min(floor, offset)
        last = Mark(stamp: stamp, arrival: now, floor: least)
        return .sampled(MonotonicTime(nanoseconds: stamp &+ least))
    }

    private mutating func restart(_ stamp: Int64, _ offset: Int64, _ now: MonotonicTime) -> Verdict {
        last = Mark(stamp: stamp, arrival: now, floor: offset)
        outOfOrderSince = nil
        return .sampled(now)
    }
}
