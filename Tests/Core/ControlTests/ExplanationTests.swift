import Control
import Interlocks
import Plant
import PowerDispatch
import Quantities
import Testing

/// What "why" tells in the corners.
@Suite struct ExplanationTests {
    @Test func `a site that has arrived is not on its ramp, with a correction of its charge too`() {
        var decision = Decision()
        decision.unitCount = 1
        for (correction, target, isRamping) in [
            (0.0, 100.0, false), (20, 120, false), (20, 100, true), (20, 80, true),
        ] {
            decision.basePoint = .kilowatts(100)
            decision.correction = .kilowatts(correction)
            decision.wanted = .kilowatts(target)
            #expect(Explanation(of: 0, in: decision).isRamping == isRamping, "\(correction) \(target)")
        }
    }

    @Test func `a unit of which nothing is asked is limited by nobody, whatever its window says`() {
        var site = Site(units: 1, basePoint: .zero)
        site.enterService()
        site.feeds[0].cellVoltageMin = 2.59
        site.run(for: .milliseconds(100))
        #expect(site.decision.units[0].window.discharge == .zero, "closed")
        #expect(site.decision.units[0].limitedBy == .none)
    }

    @Test func `what came of a command names the unit it was for`() {
        var site = Site(units: 2, basePoint: .kilowatts(100))
        site.enterService()
        for unit in 0..<2 {
            site.happened = []
            #expect(
                site.order(.lock(unit: unit, .maintenance, for: .seconds(60))) == .lockBegun(.maintenance))
            #expect(site.order(.unlock(unit: unit)) == .lockEnded(.maintenance))
            #expect(
                !site.happened.isEmpty && site.happened.allSatisfy { $0.unit == unit }, "\(site.happened)")
        }
    }
}
