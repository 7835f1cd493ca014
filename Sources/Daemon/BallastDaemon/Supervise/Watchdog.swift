import Glibc
import LinuxIO
import Quantities

/// Whether the process really works: the cycle counter moves, and every bus thread goes round its loop. A
/// silent device or a single overrun is no reason to withhold the feed. A value type; `WatchdogThread` acts
/// on it.
struct Watchdog: Sendable {
    enum Verdict: Equatable {
        case feed
        /// Something stands still, not yet for too long.
        case wait
        /// For longer than the plant may be left to it.
        case end(String)
    }

    private struct Watched: Sendable {
        let name: String
        let count: @Sendable () -> UInt64
        /// After it there is no feed.
        let bound: Duration
        /// After it the process ends.
        let limit: Duration
        var last: UInt64 = 0
        var movedAt: MonotonicTime
    }

    private var watched: [Watched] = []
    private var seenAt: MonotonicTime?

    /// Looks come so often; what is more was not ours to see, and is no fault of those who are watched.
    static let interval = Duration.milliseconds(50)

    /// A counter that must move at least once each `bound`, and for the process to go on each `limit`.
    mutating func watch(
        _ name: String, within bound: Duration, limit: Duration, _ count: @escaping @Sendable () -> UInt64
    ) {
        watched.append(
            Watched(name: name, count: count, bound: bound, limit: limit, movedAt: .now()))
    }

    /// Looks at every counter.
    mutating func look(at now: MonotonicTime) -> Verdict {
        let held = max(.zero, seenAt.map { now - $0 - Self.interval - Self.interval } ?? .zero)
        seenAt = now
        var verdict = Verdict.feed
        for index in watched.indices {
            let count = watched[index].count()
            watched[index].movedAt = watched[index].movedAt + held
            if count != watched[index].last {
                watched[index].last = count
                watched[index].movedAt = now
            }
            let age = now - watched[index].movedAt
            if age > watched[index].limit { return .end(watched[index].name) }
            if age > watched[index].bound { verdict = .wait }
        }
        return verdict
    }
}

/// The watchdog's thread: it looks at counters, and feeds. It touches no file, no log, no lock and no socket
/// but the service manager's, which cannot block.
struct WatchdogThread: Sendable {
    private var watchdog: Watchdog
    private let onlookers: Onlookers
    /// Asks the buses to write zero and to close.
    private let busStop: StopFlag
    private let stop: StopFlag
    private var beats: [(count: UInt64, movedAt: MonotonicTime)]

    /// How long the threads that are well have to write zero, before the process ends because one is not.
    static let lastWords = Duration.milliseconds(200)
    private static let feedPause = Duration.milliseconds(250)

    init(_ watchdog: Watchdog, _ onlookers: Onlookers, busStop: StopFlag, stop: StopFlag) {
        self.watchdog = watchdog
        self.onlookers = onlookers
        self.busStop = busStop
        self.stop = stop
        beats = onlookers.all.map { _ in (0, MonotonicTime.now()) }
    }

    /// Until `stop`.
    mutating func run() {
        let feed = Array("WATCHDOG=1".utf8)
        let isFed = ServiceManager.watchdogMicroseconds() != nil
        let socket = NotifySocket()
        var next = MonotonicTime.now()
        var fedAt = next - Self.feedPause
        while !stop.isRaised {
            let now = MonotonicTime.now()
            note(at: now)
            switch watchdog.look(at: now) {
            case .feed:
                if now - fedAt >= Self.feedPause {
                    _ = socket.send(feed)
                    fedAt = now
                }
            case .wait: break
            case .end(let name): if isFed { end(name, socket) }
            }
            next = max(next + Watchdog.interval, now)
            next.sleep()
        }
    }

    /// Those who are well write zero; then the service manager sees the end at once, and not after its own
    /// time.
    private func end(_ name: String, _ socket: borrowing NotifySocket?) {
        busStop.raise()
        _ = socket.send(Array("STATUS=\(name) stands still: ending".utf8))
        (MonotonicTime.now() + Self.lastWords).sleep()
        if !stop.isRaised { abort() }
    }

    private mutating func note(at now: MonotonicTime) {
        var standing: UInt64 = 0
        for (index, beat) in onlookers.all.enumerated() {
            let count = beat.count
            // One that was never started stands at zero.
            if count != beats[index].count || count == 0 { beats[index] = (count, now) }
            if now - beats[index].movedAt > .seconds(Int64(Onlookers.patience)) {
                standing |= 1 << UInt64(index)
            }
        }
        onlookers.standing = standing
    }
}

extension Optional where Wrapped == NotifySocket {
    fileprivate func send(_ bytes: [UInt8]) -> Bool {
        switch self {
        case .some(let socket): socket.send(bytes)
        case .none: true
        }
    }
}
