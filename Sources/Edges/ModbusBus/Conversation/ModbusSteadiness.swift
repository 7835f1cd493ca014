import LinuxIO
import Quantities

/// What a link that comes and goes costs: it is not opened again and again without a pause where each
/// connection soon brings what answers nothing, and not told as up and down each time.
struct ModbusSteadiness {
    /// A connection that has answered for so long is no part of what was before it.
    static let steady = Duration.seconds(2)
    /// Two losses within it are one trouble.
    private static let window = Duration.seconds(10)
    private static let shortestPause = Duration.milliseconds(50)
    private static let longestPause = Duration.milliseconds(500)
    private static let longestHold = Duration.seconds(60)

    private var openedAt = MonotonicTime(nanoseconds: 0)
    private var downAt: MonotonicTime?
    /// Before the next connection that follows soon.
    private var pause = Duration.zero
    /// For how long it must answer before it is told as up.
    private var hold = Duration.zero
    private var isCounted = false

    mutating func opened(at now: MonotonicTime) { (openedAt, isCounted) = (now, false) }

    mutating func answered(at now: MonotonicTime) {
        if now - openedAt >= Self.steady { pause = .zero }
    }

    /// The connection has brought what answers nothing, and is closed.
    ///
    /// - Returns: how long the next one waits: nothing the first time, for one disturbed answer is a hiccup.
    mutating func rubbish(at now: MonotonicTime) -> Duration {
        if now - openedAt >= Self.steady { pause = .zero }
        defer { pause = min(max(pause * 2, Self.shortestPause), Self.longestPause) }
        return pause
    }

    /// It is told as down.
    mutating func toldDown(at now: MonotonicTime) {
        let isAgain = downAt.map { now - $0 < max(Self.window, hold * 2) } ?? false
        hold = isAgain ? min(max(hold * 2, Self.steady), Self.longestHold) : .zero
        downAt = now
    }

    /// Whether it answers for long enough to be told as up.
    func holds(at now: MonotonicTime) -> Bool { now - openedAt >= hold }

    /// Whether this connection is held back for the first time.
    mutating func isNew() -> Bool {
        defer { isCounted = true }
        return !isCounted
    }
}

extension ModbusConversation {
    func reportDown(_ error: ModbusError) {
        status.up.store(false, ordering: .relaxed)
        if isReportedUp != false {
            steadiness.toldDown(at: now)
            report(0, .linkDown(error))
        }
        isReportedUp = false
    }

    /// That a link is up is told once it holds, where it went down again and again before; connections that
    /// are not told are counted.
    func reportUp() {
        guard isReportedUp != true else { return }
        guard isReportedUp == nil || steadiness.holds(at: now) else {
            if steadiness.isNew() { status.suppressed.add(1, ordering: .relaxed) }
            return
        }
        report(0, .linkUp)
        isReportedUp = true
    }
}
