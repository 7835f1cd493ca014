import Quantities
import Testing

@testable import BallastDaemon
@testable import SiteConfig

/// What is said of a cycle that is late, and when it ends the site's service.
@Suite struct TimingWatchTests {
    private static func limits(stop: Int?) -> TimingLimitsConfig {
        TimingLimitsConfig(
            latenessWarning: .milliseconds(10), executionWarning: .milliseconds(5), overrunStop: stop)
    }

    private static func at(_ seconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: seconds * 1_000_000_000)
    }

    @Test func `a late cycle is said at most once in ten seconds, with what was counted meanwhile`() {
        var watch = TimingWatch(Self.limits(stop: nil), at: Self.at(0))
        var said: [String] = []
        for second in 1...30 {
            let counts = TimingWatch.Counts(overruns: 0, late: UInt64(min(second, 15)), long: 0)
            if case .warning(let text) = watch.look(counts, at: Self.at(Int64(second))) { said.append(text) }
        }
        #expect(
            said == [
                "in the last 10 s 10 cycles began more than 10.0 ms late",
                "in the last 10 s 5 cycles began more than 10.0 ms late",
            ])
    }

    // swift-format-ignore
    static let starts: [(late: Int64, begun: Int64, why: Comment)] = [
        (-50, 0,   "before its time"),
        (0,   0,   "in time"),
        (19,  0,   "within the first period"),
        (234, 220, "behind a slow start: found by the rig, where eleven periods counted as missed"),
    ]

    @Test(arguments: starts)
    func `what passed before the cycle ran is no missed period, and its phase stays`(
        row: (late: Int64, begun: Int64, why: Comment)
    ) {
        let epoch = Self.at(1_000)
        let start = CycleThread.start(
            epoch, period: .milliseconds(20), at: epoch + .milliseconds(row.late))
        #expect(start == epoch + .milliseconds(row.begun), row.why)
    }

    @Test func `a punctual cycle is not worth a word`() {
        var watch = TimingWatch(Self.limits(stop: 1), at: Self.at(0))
        for second in 1...100 { #expect(watch.look(.init(), at: Self.at(Int64(second))) == nil) }
    }

    // swift-format-ignore
    static let stops: [(missed: UInt64, stop: Int?, isStopped: Bool, why: Comment)] = [
        (5,   5,    false, "as many as are allowed"),
        (6,   5,    true,  "one more"),
        (600, nil,  false, "nothing is configured"),
    ]

    @Test(arguments: stops)
    func `too many missed periods end the service once`(
        missed: UInt64, stop: Int?, isStopped: Bool, why: Comment
    ) {
        var watch = TimingWatch(Self.limits(stop: stop), at: Self.at(0))
        var stops = 0
        for second in 1...9 {
            let counts = TimingWatch.Counts(overruns: missed)
            if case .stop = watch.look(counts, at: Self.at(Int64(second))) { stops += 1 }
        }
        #expect(stops == (isStopped ? 1 : 0), why)
    }

    @Test func `missed periods count for a minute and not for ever`() {
        var watch = TimingWatch(Self.limits(stop: 5), at: Self.at(0))
        // One every 20 s never makes six in a minute.
        var stops = 0
        for second in 1...300 {
            let counts = TimingWatch.Counts(overruns: UInt64(second / 20))
            if case .stop = watch.look(counts, at: Self.at(Int64(second))) { stops += 1 }
        }
        #expect(stops == 0)
        // Six within a minute do, also where they fall into several windows.
        for second in 301...340 {
            let counts = TimingWatch.Counts(overruns: 15 + UInt64((second - 300) / 6))
            if case .stop = watch.look(counts, at: Self.at(Int64(second))) { stops += 1 }
        }
        #expect(stops == 1)
    }
}
