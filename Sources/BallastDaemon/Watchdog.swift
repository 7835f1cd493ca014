import LinuxIO
import Quantities

/// Feeds the service manager's watchdog while the process really works: the cycle counter moves, and every
/// bus thread goes round its loop. A silent device or a single overrun is no reason to withhold the feed.
struct Watchdog {
    private struct Watched {
        let count: () -> UInt64
        let bound: Duration
        var last: UInt64
        var movedAt: MonotonicTime
    }

    private var watched: [Watched] = []
    private var fedAt = MonotonicTime(nanoseconds: 0)

    /// A counter that must move at least once each `bound`.
    mutating func watch(within bound: Duration, _ count: @escaping () -> UInt64) {
        watched.append(Watched(count: count, bound: bound, last: 0, movedAt: .now()))
    }

    /// Looks at every counter.
    ///
    /// - Returns: whether all of them move.
    mutating func isHealthy(at now: MonotonicTime) -> Bool {
        var isHealthy = true
        for index in watched.indices {
            let count = watched[index].count()
            if count != watched[index].last {
                watched[index].last = count
                watched[index].movedAt = now
            }
            if now - watched[index].movedAt > watched[index].bound { isHealthy = false }
        }
        return isHealthy
    }

    /// Feeds at most each 250 ms.
    mutating func tend(at now: MonotonicTime) {
        guard isHealthy(at: now), now - fedAt >= .milliseconds(250) else { return }
        ServiceManager.feedWatchdog()
        fedAt = now
    }
}
