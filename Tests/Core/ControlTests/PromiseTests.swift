import Interlocks
import Plant
import Quantities
import Testing

@testable import Control

/// The last look at a decision: what must never be is not commanded, whatever came before it.
@Suite struct PromiseTests {
    // swift-format-ignore
    static let broken: [(why: Comment, change: @Sendable (inout UnitDecision) -> Void)] = [
        ("more than the window lets through", { $0.setpoint = $0.window.discharge + Watts(1) }),
        ("the other way",                     { $0.setpoint = $0.window.charge - Watts(1) }),
        ("more than the rating",              { $0.window = .rating(.kilowatts(900)); $0.setpoint = .kilowatts(800) }),
        ("power of a tripped unit",           { $0.latched = InterlockSet(.smoke) }),
        ("power of a unit out of service",    { $0.mode = .offline }),
        ("power of a unit that stops",        { $0.mode = .standby(since: MonotonicTime(nanoseconds: 0)) }),
    ]

    @Test(arguments: broken)
    func `a broken promise asks for nothing, and latches what only service resets`(
        row: (why: Comment, change: @Sendable (inout UnitDecision) -> Void)
    ) {
        var site = Site(units: 2, basePoint: .kilowatts(200))
        site.enterService()
        site.run(for: .seconds(1))
        #expect(site.kilowatts(0) > 0 && site.kilowatts(1) > 0)
        let other = site.decision.units[1].setpoint
        row.change(&site.decision.units[0])
        let isKept = site.controller.keepPromises(&site.decision, .milliseconds(20))
        #expect(!isKept, row.why)
        #expect(site.decision.units[0].setpoint == .zero, row.why)
        #expect(site.decision.units[0].latched.contains(.internalFault), row.why)
        #expect(site.decision.units[1].setpoint == other && site.decision.setpoint == other, row.why)
        site.cycle()
        #expect(site.mode(0) == .tripped && site.kilowatts(0) == 0, row.why)
        #expect(site.order(.reset(unit: 0)) == .resetNeedsService)
        #expect(site.order(.reset(unit: 0, role: .service)) == .resetDone)
    }

    @Test func `what is kept is left as it is`() {
        var site = Site(units: 2, basePoint: .kilowatts(200))
        site.enterService()
        site.run(for: .seconds(1))
        let before = (0..<2).map { site.decision.units[$0].setpoint }
        #expect(site.controller.keepPromises(&site.decision, .milliseconds(20)))
        #expect((0..<2).map { site.decision.units[$0].setpoint } == before)
        #expect(site.decision.units[0].latched.isEmpty)
    }
}
