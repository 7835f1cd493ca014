import Quantities

/// How long one device is waited for, and how much silence its line gets before it is asked: both learnt
/// from its answers, and bounded.
struct ModbusPace: Equatable {
    /// No device is given less, and none is probed for less.
    static let shortestProbe = Duration.milliseconds(20)
    static let shortestTimeout = Duration.milliseconds(100)
    static let longestGap = Duration.milliseconds(50)
    private static let gapPatience = 200

    /// As configured: the time-out is never longer.
    let limit: Duration
    /// t3.5, or as configured: the silence is never shorter.
    let leastGap: Duration
    /// Over TCP an answer is late, not lost, and nobody waits for it where the device is alone: nothing is
    /// learnt.
    let isLearning: Bool

    /// The slowest of the recent good answers, without the time on the wire; forgotten by 1/64 with each.
    private(set) var slowest: Duration?
    private(set) var gap: Duration
    private var answers = 0
    /// Doubled by each missed answer.
    private var patience: Int64 = 1
    private var goodInRow = 0

    init(limit: Duration, leastGap: Duration, isLearning: Bool) {
        self.limit = limit
        self.leastGap = leastGap
        self.isLearning = isLearning
        gap = leastGap
    }

    /// Longest wait for the next answer: eight times the slowest, and all that is allowed until eight have
    /// been seen.
    var timeout: Duration {
        guard isLearning, let slowest, answers >= 8 else { return limit }
        return min(limit, max(Self.shortestTimeout, slowest * 8) * Int(patience))
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
        if goodInRow % 16 == 0 { patience = 1 }
        guard goodInRow % Self.gapPatience == 0 else { return }
        gap = max(leastGap, gap - .nanoseconds(gap.nanoseconds / 4))
    }

    /// An answer that came too late is an answer: the next wait is long enough for it.
    mutating func heardLate(after time: Duration) { slowest = max(slowest ?? .zero, min(time, limit)) }

    mutating func missed() {
        goodInRow = 0
        patience = min(patience * 2, 64)
        if leastGap > .zero { gap = min(Self.longestGap, max(gap * 2, .milliseconds(2))) }
    }
}
