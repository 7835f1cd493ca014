import Interlocks
import Quantities
import Testing

/// Whether an inverter does what it is told, judged on a response time of two seconds.
@Suite struct ActuationWatchTests {
    static let start = MonotonicTime(nanoseconds: 5_000_000_000)

    /// 20 ms cycles; the setpoint of each instant comes from `setpoint`.
    static func watch(
        for duration: Duration, _ setpoint: (Duration) -> Double
    ) -> (watch: ActuationWatch, now: MonotonicTime) {
        var watch = ActuationWatch(response: .seconds(2))
        var passed = Duration.zero
        while passed <= duration {
            watch.record(Watts(setpoint(passed)), at: start + passed)
            passed += .milliseconds(20)
        }
        return (watch, start + passed)
    }

    @Test func `nothing is judged before a whole response time is known`() {
        let early = Self.watch(for: .milliseconds(1_960)) { _ in 100 }
        #expect(early.watch.error(of: .zero, at: early.now) == nil)
        #expect(ActuationWatch(response: .seconds(2)).error(of: .zero, at: Self.start) == nil)
        let later = Self.watch(for: .milliseconds(1_980)) { _ in 100 }
        #expect(later.watch.error(of: .zero, at: later.now) == Watts(100))
    }

    // swift-format-ignore
    static let powers: [(power: Double, error: Double, why: Comment)] = [
        ( 100,   0, "what it was told"),
        (  99,   1, "too little"),
        ( 101,   1, "too much"),
        (-100, 200, "the other way"),
    ]

    @Test(arguments: powers)
    func `a settled setpoint is compared with the power itself`(
        row: (power: Double, error: Double, why: Comment)
    ) {
        let settled = Self.watch(for: .seconds(10)) { $0 < .seconds(5) ? -300 : 100 }
        #expect(settled.watch.error(of: Watts(row.power), at: settled.now) == Watts(row.error), row.why)
    }

    // swift-format-ignore
    static let steps: [(after: Int, old: Double, why: Comment)] = [
        (  20,   0, "just told: the old power is allowed"),
        (1_900,  0, "in its response time"),
        (2_300, 80, "a response time and a seventh later it is not"),
    ]

    @Test(arguments: steps)
    func `after a step the old power is allowed for the response time`(
        row: (after: Int, old: Double, why: Comment)
    ) {
        let total = Duration.seconds(10) + .milliseconds(row.after)
        let stepped = Self.watch(for: total) { $0 < .seconds(10) ? 80 : 0 }
        #expect(stepped.watch.error(of: Watts(80), at: stepped.now) == Watts(row.old), row.why)
        #expect(stepped.watch.error(of: Watts(0), at: stepped.now) == .zero, "the new power always is")
        let more = stepped.watch.error(of: Watts(90), at: stepped.now)
        #expect(more.map { $0 >= Watts(10) } == true, "and never more than both")
    }

    @Test func `a setpoint that never rests is judged all the same`() {
        let moving = Self.watch(for: .seconds(20)) { 10 * $0.seconds }
        #expect(moving.watch.error(of: Watts(190), at: moving.now) == .zero, "one second behind")
        let stuck = moving.watch.error(of: Watts(100), at: moving.now)
        #expect(stuck.map { $0 > Watts(70) } == true, "stuck ten seconds ago")
    }

    @Test func `a long gap leaves the last setpoint in force and forgets the older ones`() {
        var (watch, now) = Self.watch(for: .seconds(5)) { $0 < .milliseconds(4_500) ? 80 : 30 }
        now = now + .seconds(60)
        watch.record(Watts(30), at: now)
        #expect(watch.error(of: Watts(80), at: now) == Watts(50))
        watch.record(Watts(0), at: now - .seconds(90))
        #expect(watch.error(of: Watts(0), at: now) == .zero, "a clock that goes back does not trap")
    }
}
