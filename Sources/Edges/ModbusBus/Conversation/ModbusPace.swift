import Quantities

/// How long one device is waited for, and how much silence its line gets before it is asked: learnt from its
/// answers, and bounded. The configured time-out holds; what is learnt is when a request is repeated over TCP
/// while its first answer may still come, how long a probe is, and the silence.
struct ModbusPace: Equatable {
    /// No device is given less, and none is probed for less.
    static let shortestProbe = Duration.milliseconds(20)
    /// No request is repeated sooner.
    static let shortestRepeat = Duration.milliseconds(20)
    static let longestGap = Duration.milliseconds(50)
    private static let gapPatience = 200

    /// As configured: the time-out is never longer.
    let limit: Duration
    /// t3.5, or as configured: the silence is never shorter.
    let leastGap: Duration

    /// The slowest of the recent good answers, without the time on the wire; forgotten by 1/64 with each.
    private(set) var slowest: Duration?
    private(set) var gap: Duration
    private var answers = 0
    private var goodInRow = 0

    init(limit: Duration, leastGap: Duration) {
        self.limit = limit
        self.leastGap = leastGap
        gap = leastGap
    }

    /// Longest wait for the next answer.
    var timeout: Duration { limit }

    /// TCP: a value that has not come after this time is asked for once more, while its first answer may
    /// still come. Four times the slowest answer, so that a slow device is not asked twice; but not much more
    /// than a poll, so that the last reading still counts.
    func repeatTime(poll: Duration) -> Duration {
        guard let slowest, answers >= 8 else { return limit }
        let wanted = min(slowest * 4, .nanoseconds(poll.nanoseconds * 3 / 2))
        return min(limit, max(Self.shortestRepeat, max(slowest * 2, wanted)))
    }

    /// Longest wait for a device that has not answered of late, which may only cost what nobody else needs.
    ///
    /// - Returns: at most `slack` and twice the slowest answer, but 20 ms; `nil` where the slack is less.
    func probe(slack: Duration) -> Duration? {
        guard slack >= Self.shortestProbe else { return nil }
        let wanted = slowest.map { max(Self.shortestProbe, $0 * 2) } ?? limit
        return min(slack, min(max(wanted, Self.shortestProbe), max(limit, Self.shortestProbe)))
    }

    /// - Parameter turnaround: from the end of the request to the start of the answer.
    mutating func answered(in turnaround: Duration) {
        let kept = slowest.map { $0 - .nanoseconds($0.nanoseconds / 64) } ?? .zero
        slowest = max(max(turnaround, kept), .zero)
        answers = min(answers + 1, 8)
        goodInRow += 1
        guard goodInRow % Self.gapPatience == 0 else { return }
        gap = max(leastGap, gap - .nanoseconds(gap.nanoseconds / 4))
    }

    /// An answer that came too late is an answer: the next wait is long enough for it.
    mutating func heardLate(after time: Duration) { slowest = max(slowest ?? .zero, min(time, limit)) }

    mutating func missed() {
        goodInRow = 0
        if leastGap > .zero { gap = min(Self.longestGap, max(gap * 2, .milliseconds(2))) }
    }
}
