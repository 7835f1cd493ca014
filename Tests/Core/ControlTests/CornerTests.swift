import Control
import Plant
import PowerDispatch
import Quantities
import Testing

/// What seldom happens, and must still be right.
@Suite struct CornerTests {
    @Test func `a stop that stood before the restart stands after it`() {
        var site = Site(basePoint: .kilowatts(100))
        site.controller.restoreStop()
        site.run(for: .seconds(10))
        #expect(site.mode(0) == .standby && site.decision.setpoint == .zero)
        _ = site.order(.resume())
        site.enterService()
        #expect(site.mode(0) == .running)
    }

    @Test(arguments: [-1, 2, 64]) func `a command for a unit that the site has not is nothing`(unit: Int) {
        var site = Site()
        site.enterService()
        for command in [
            Controller.Command.reset(unit: unit), .lock(unit: unit, .maintenance, for: .seconds(10)),
            .unlock(unit: unit), .lock(unit: unit, .standby, for: .seconds(10)),
            .resumeUnit(unit),
        ] { #expect(site.order(command) == nil) }
        site.cycle()
        #expect(site.mode(0) == .running && site.mode(1) == .running)
    }

    @Test func `events that find no room are counted`() {
        var site = Site()
        site.enterService()
        var list = EventList()
        let event = Event(unit: nil, kind: .resumed, cycle: 1, at: site.now)
        var room = 0
        while list.lost == 0 {
            list.append(event)
            room += 1
        }
        list.append(event)
        var kept = 0
        list.forEach { _ in kept += 1 }
        #expect(kept == room - 1 && list.lost == 2)
    }

    // swift-format-ignore
    static let sides: [(asked: Double, limits: SiteLimits, left: Double, why: Comment)] = [
        (-400, SiteLimits(imports: .kilowatts(300)), -300, "two operators charge for more than the site may import"),
        ( 400, SiteLimits(exports: .kilowatts(200)),  200, "and discharge for more than it may export"),
    ]

    @Test(arguments: sides) func `what operators hold on single units stays inside the site's limits`(
        row: (asked: Double, limits: SiteLimits, left: Double, why: Comment)
    ) {
        var site = Site(limits: row.limits)
        site.enterService()
        for unit in 0...1 {
            _ = site.order(.override(unit: unit, .kilowatts(row.asked), for: .seconds(60)))
        }
        site.cycle()
        #expect(abs(site.decision.setpoint.kilowatts - row.left) < 1e-6, row.why)
        #expect(abs(site.kilowatts(0) - row.left / 2) < 1e-6, "both give way alike")
        #expect(site.decision.isSiteLimited)
    }

    @Test func `what was asked is told as it was asked, whatever the units can give of it`() {
        var site = Site(basePoint: .kilowatts(600), ramp: WattsPerSecond(1_000_000))
        site.enterService()
        site.run(for: .seconds(2))
        site.feeds[1].alarms = .temperatureHigh
        site.run(for: .seconds(1))
        #expect(abs(site.decision.wanted.kilowatts - 600) < 1e-6 && abs(site.kilowatts(0) - 500) < 1e-6)
        let explanation = Explanation(of: 0, in: site.decision)
        #expect(!explanation.isRamping && abs(explanation.requested.kilowatts - 300) < 1e-6)
    }

    @Test func `a person's lock has a name`() {
        let names = [UnitLock.Kind.maintenance, .standby, .hold].map { "\($0.name)" }
        #expect(names == ["maintenance", "standby", "hold"])
    }
}
