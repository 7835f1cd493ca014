import Control
import Interlocks
import Plant
import PowerDispatch
import Quantities
import Testing

/// What an operator asks of one unit alone.
@Suite struct OverrideTests {
    static func running(basePoint: Double = 200, ramp: Double = 1e9) -> Site {
        var site = Site(basePoint: .kilowatts(basePoint), ramp: WattsPerSecond(ramp))
        site.enterService()
        site.run(for: .seconds(1))
        return site
    }

    static func powers(_ site: Site) -> [Double] {
        (0..<2).map { site.decision.units[$0].setpoint.kilowatts.rounded() }
    }

    // swift-format-ignore
    static let powers: [(asked: Double, units: [Double], why: Comment)] = [
        (150,   [150, 50],    "the other unit gives the rest of the site's 200 kW"),
        (-100,  [-100, 300],  "it makes up for a charge too"),
        (0,     [0, 200],     "rest"),
        (-400,  [-400, 500],  "as far as its rating goes"),
        (900,   [500, -300],  "the unit's rating is a wall, and what it gives too much the other one takes"),
    ]

    @Test(arguments: powers)
    func `one unit has its own power, and the others make up for it`(
        row: (asked: Double, units: [Double], why: Comment)
    ) {
        var site = Self.running()
        #expect(Self.powers(site) == [100, 100])
        let kind = site.order(.override(unit: 0, .kilowatts(row.asked), for: .seconds(60)))
        #expect(kind == .overrideBegun)
        site.run(for: .seconds(1))
        #expect(Self.powers(site) == row.units, row.why)
        #expect(site.decision.units[0].override == .kilowatts(row.asked))
        let why = Explanation(of: 0, in: site.decision)
        #expect(why.source == .operator && why.requested == .kilowatts(row.asked))
        #expect(Explanation(of: 1, in: site.decision).source == .siteDefault)

        site.run(for: .seconds(60))
        #expect(Self.powers(site) == [100, 100], "it ends by its time")
        #expect(site.happened.filter { $0.kind == .overrideEnded }.count == 1)
    }

    @Test func `it goes over the ramp, and an end by hand comes at once`() {
        var site = Self.running(ramp: 100_000)
        site.run(for: .seconds(2))
        _ = site.order(.override(unit: 0, .kilowatts(300), for: .seconds(600)))
        site.run(for: .seconds(1))
        #expect((190...210).contains(site.decision.units[0].setpoint.kilowatts))
        #expect((190...210).contains(site.decision.setpoint.kilowatts), "the site stays where it is asked")
        let end = site.order(.override(unit: 0, .zero, for: nil))
        #expect(end == .overrideEnded)
        site.cycle()
        #expect(Self.powers(site) == [100, 100])
        #expect(site.order(.override(unit: 0, .zero, for: nil)) == nil, "nothing is left to end")
    }

    @Test func `it is never past an interlock, a limit or a trip`() {
        var site = Self.running(basePoint: 0)
        _ = site.order(.override(unit: 0, .kilowatts(-400), for: .seconds(600)))
        site.run(for: .seconds(1))
        site.feeds[0].cellTemperatureMax = 45
        site.cycle()
        let derated = site.decision.units[0]
        #expect(derated.setpoint == derated.window.charge && derated.window.charge > .kilowatts(-400))
        #expect(derated.limitedBy == .interlock(.cellOvertemperatureCharge))
        site.feeds[0].alarms = .general
        site.run(for: .seconds(2))
        #expect(site.decision.units[0].mode == .tripped && site.decision.units[0].setpoint == .zero)
        #expect(site.decision.setpoint == .zero, "nobody makes up for what is not given")
    }

    @Test func `it is never past the limits at the meter`() {
        var site = Site(limits: SiteLimits(imports: .kilowatts(50), exports: .kilowatts(50)))
        site.meter = 0
        site.enterService()
        for unit in 0...1 {
            _ = site.order(.override(unit: unit, .kilowatts(300), for: .seconds(600)))
        }
        for _ in 0..<50 {
            site.meter = site.decision.setpoint.kilowatts
            site.cycle()
        }
        #expect(site.decision.setpoint <= .kilowatts(50.000_001))
    }

    @Test func `standby takes one unit to zero and leaves its part to the others`() {
        var site = Self.running()
        #expect(site.order(.lock(unit: 0, .standby, for: .seconds(60))) == .lockBegun(.standby))
        site.run(for: .seconds(1))
        #expect(Self.powers(site) == [0, 200])
        #expect(site.decision.units[0].mode.kind == .standby)
        #expect(site.decision.units[0].isContactorPermitted, "ready to run, unlike maintenance")
        site.run(for: .seconds(59))
        #expect(site.happened.contains { $0.kind == .lockEnded(.standby) })
        site.run(for: .seconds(4))
        #expect(Self.powers(site) == [0, 200], "the end of a time starts nothing")
        _ = site.order(.resumeUnit(0))
        site.run(for: .seconds(4))
        #expect(Self.powers(site) == [100, 100])
    }

    // swift-format-ignore
    static let refused: [(unit: Int, time: Duration?, kind: Event.Kind?, why: Comment)] = [
        (0,  .zero,              .overrideRefused, "no time"),
        (0,  .seconds(-1),       .overrideRefused, "a time in the past"),
        (0,  .seconds(604_801),  .overrideRefused, "longer than a week"),
        (0,  nil,                nil,              "nothing to end"),
        (2,  .seconds(60),       nil,              "no such unit"),
        (-1, .seconds(60),       nil,              "no such unit"),
    ]

    @Test(arguments: refused)
    func `one without a reasonable time or unit changes nothing`(
        row: (unit: Int, time: Duration?, kind: Event.Kind?, why: Comment)
    ) {
        var site = Self.running()
        let kind = site.order(.override(unit: row.unit, .kilowatts(300), for: row.time))
        #expect(kind == row.kind, row.why)
        site.run(for: .seconds(1))
        #expect(Self.powers(site) == [100, 100], row.why)
    }
}
