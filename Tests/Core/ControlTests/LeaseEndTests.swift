import Control
import PowerDispatch
import Quantities
import Testing

/// A power from afar ends by itself, with nobody left to end it.
@Suite struct `The end of a lease` {
    @Test(arguments: [
        Duration.milliseconds(1), .milliseconds(19), .milliseconds(20), .milliseconds(999), .seconds(5),
    ])
    func `comes no later than the first cycle at or behind its time`(_ time: Duration) {
        var site = Site(units: 1)
        site.enterService()
        let end = site.now + time
        _ = site.order(.setBasePoint(.aggregator, .kilowatts(40), for: time))
        var last: MonotonicTime?
        for _ in 0..<(Int(time / Site.period) + 5) {
            site.cycle()
            if site.decision.basePointSource == .aggregator { last = site.now }
        }
        #expect(last.map { $0 < end } ?? true, "no cycle asks for it at its end or later")
        #expect(last.map { end - $0 <= Site.period } ?? (time <= Site.period), "and none gives it up early")
    }
}
