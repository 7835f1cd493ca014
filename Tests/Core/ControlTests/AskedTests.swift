import Control
import Interlocks
import Plant
import PowerDispatch
import Quantities
import Testing

/// Who asks for power, what the site may have, and the answer to "why".
@Suite struct AskedTests {
    @Test func `an operator outranks the aggregator, and a lapsed lease falls back on the ramp`() {
        var site = Site(units: 1, basePoint: .kilowatts(10), ramp: WattsPerSecond(100_000))
        site.enterService()
        #expect(
            site.order(.setBasePoint(.aggregator, .kilowatts(200), for: .seconds(10)))
                == .basePointSet(.aggregator))
        #expect(
            site.order(.setBasePoint(.operator, .kilowatts(50), for: .seconds(5))) == .basePointSet(.operator)
        )
        site.run(for: .seconds(2))
        #expect(site.decision.basePointSource == .operator && abs(site.kilowatts(0) - 50) < 1e-9)
        site.run(for: .seconds(3))
        #expect(site.happened.last?.kind == .basePointLapsed(.operator))
        #expect(
            site.decision.basePointSource == .aggregator && abs(site.kilowatts(0) - 52) < 1e-6, "on the ramp")
        site.run(for: .seconds(3))
        #expect(abs(site.kilowatts(0) - 200) < 1e-9)
        #expect(site.order(.revokeBasePoint(.aggregator)) == .basePointRevoked(.aggregator))
        #expect(site.order(.revokeBasePoint(.aggregator)) == nil)
        site.run(for: .seconds(3))
        #expect(site.decision.basePointSource == .siteDefault && abs(site.kilowatts(0) - 10) < 1e-9)
        #expect(site.order(.setBasePoint(.agc, .kilowatts(50), for: .zero)) == .basePointRefused(.agc))
    }

    // swift-format-ignore
    static let limits: [(base: Double, site: Double, isLimited: Bool, why: Comment)] = [
        ( 300,  300, false, "inside the limits less the load"),
        ( 900,  360, true,  "no meter: 400 less 40"),
        (-900, -260, true,  "no meter: 300 less 40"),
    ]

    @Test(arguments: limits)
    func `without a meter the units stay inside the limits less the largest load`(
        row: (base: Double, site: Double, isLimited: Bool, why: Comment)
    ) {
        var site = Site(
            basePoint: .kilowatts(row.base),
            limits: SiteLimits(imports: .kilowatts(300), exports: .kilowatts(400), loadMax: .kilowatts(40)))
        site.enterService()
        site.cycle()
        #expect(abs(site.decision.setpoint.kilowatts - row.site) < 1e-6, row.why)
        #expect(abs(site.kilowatts(0) - row.site / 2) < 1e-6, "in proportion")
        #expect(site.decision.isSiteLimited == row.isLimited)
        #expect(site.decision.units[0].limitedBy == (row.isLimited ? .siteLimit : .none), row.why)
    }

    @Test func `a fresh meter lets the units use what the rest of the site leaves, until it grows old`() {
        var site = Site(
            basePoint: .kilowatts(900),
            limits: SiteLimits(imports: .kilowatts(300), exports: .kilowatts(400), loadMax: .kilowatts(40)))
        // A load of 30 kW: the meter reads the units' power less 30. Entering service is its proof.
        for cycle in 0..<300 {
            site.meter = site.decision.setpoint.kilowatts - 30
            site.cycle()
            if cycle < 200 { #expect(site.decision.setpoint.kilowatts < 360 + 1e-6, "not proven yet") }
        }
        #expect(abs(site.decision.setpoint.kilowatts - 430) < 1e-6)
        site.meter = nil
        site.run(for: Site.budget)
        #expect(site.decision.setpoint.kilowatts > 400, "in its budget")
        site.cycle()
        #expect(abs(site.decision.setpoint.kilowatts - 360) < 1e-6, "too old")
    }

    @Test func `maintenance takes a unit to zero, opens its contactors and ends with its time`() {
        var site = Site(basePoint: .kilowatts(300))
        site.enterService()
        #expect(site.order(.lock(unit: 0, .maintenance, for: .seconds(60))) == .lockBegun(.maintenance))
        site.cycle()
        #expect(
            site.mode(0) == .stopping && site.kilowatts(0) == 0 && site.decision.units[0].isContactorPermitted
        )
        #expect(abs(site.kilowatts(1) - 300) < 1e-9, "the other unit has its part in the same cycle")
        site.run(for: .milliseconds(40))
        #expect(site.mode(0) == .maintenance && !site.decision.units[0].isContactorPermitted)
        site.run(for: .seconds(59))
        #expect(site.mode(0) == .maintenance && site.kilowatts(0) == 0)
        site.run(for: .seconds(1))
        #expect(site.mode(0) == .standby && site.happened.contains { $0.kind == .lockEnded(.maintenance) })
        site.run(for: .seconds(4))
        #expect(site.mode(0) == .standby, "somebody resumes it who knows that nobody works on it")
        _ = site.order(.resumeUnit(0))
        site.run(for: .seconds(4))
        #expect(site.mode(0) == .running)
    }

    @Test func `maintenance is never past an interlock, and a trip is no end of it`() {
        var site = Site(units: 1, basePoint: .kilowatts(300))
        site.enterService()
        _ = site.order(.lock(unit: 0, .maintenance, for: .seconds(60)))
        site.run(for: .seconds(1))
        site.feeds[0].alarms = .general
        site.cycle()
        #expect(site.mode(0) == .tripped)
        site.feeds[0].alarms = .none
        site.run(for: .seconds(10))
        #expect(site.mode(0) == .tripped)
        #expect(!site.happened.contains { $0.kind == .lockEnded(.maintenance) })
        #expect(site.order(.reset(unit: 0)) == .resetDone)
        #expect(site.order(.resumeUnit(0)) == .holdEnded)
        site.run(for: .seconds(10))
        #expect(site.mode(0) == .maintenance, "who works there is still there")
        #expect(site.order(.unlock(unit: 0)) == .lockEnded(.maintenance))
        site.enterService()
        #expect(site.mode(0) == .running)
        #expect(site.order(.lock(unit: 0, .maintenance, for: .zero)) == .lockRefused(.maintenance))
    }

    @Test func `a running unit that falls silent when it is taken for maintenance goes offline first`() {
        var site = Site(units: 1, basePoint: .kilowatts(300))
        site.enterService()
        site.feeds[0].activePower = 100_000
        _ = site.order(.lock(unit: 0, .maintenance, for: .seconds(60)))
        site.cycle()
        #expect(site.mode(0) == .stopping)
        site.images[0].battery.alarms = .bad(.implausible, since: site.now)
        site.step()
        #expect(site.mode(0) == .offline && !site.decision.units[0].isContactorPermitted)
        site.step()
        #expect(site.mode(0) == .maintenance)
    }

    @Test func `an inverter that does not stop for maintenance trips, with what was asked and what it gives`()
    {
        var site = Site(units: 1, basePoint: .kilowatts(300))
        site.enterService()
        site.feeds[0].activePower = 30_000
        _ = site.order(.lock(unit: 0, .maintenance, for: .seconds(60)))
        site.run(for: .seconds(9))
        #expect(site.mode(0) == .tripped)
        let trip = site.happened.first { $0.kind == .tripped(.notFollowing) }
        #expect(trip?.asked == .zero && trip?.delivered == .kilowatts(30))
        #expect(site.order(.reset(unit: 0)) != .resetDone, "while power flows nobody resets it")
    }

    typealias Spoil = @Sendable (inout Feed) -> Void

    // swift-format-ignore
    static let reasons: [(base: Double, spoil: Spoil, cause: Cause, limit: Double, why: Comment)] = [
        ( 200, { _ in },                               .none,                        100, "nothing limits"),
        (1_400, { _ in },                              .rating,                      500, "more than the site has"),
        ( 900, { $0.dischargeCurrentLimit = 100 },     .batteryCurrentLimit,          80, "100 A at 800 V"),
        (-900, { $0.chargeCurrentLimit = 100 },        .batteryCurrentLimit,         -80, "100 A at 800 V"),
        (-900, { $0.dischargeCurrentLimit = 100 },     .none,                       -450, "not in this direction"),
        ( 900, { $0.alarms = .general },               .interlock(.batteryAlarm),      0, "tripped"),
        ( 900, { $0.isInverterSilent = true },         .mode,                          0, "offline"),
        (-900, { $0.cellTemperatureMax = 46 },         .interlock(.cellOvertemperatureCharge), -200, "derated"),
    ]

    @Test(arguments: reasons)
    func `every unit can say who asked, who limited and what came of it`(
        row: (base: Double, spoil: Spoil, cause: Cause, limit: Double, why: Comment)
    ) {
        var site = Site()
        site.enterService()
        _ = site.order(.setBasePoint(.schedule, .kilowatts(row.base), for: .seconds(60)))
        row.spoil(&site.feeds[0])
        site.run(for: .milliseconds(400))
        let why = Explanation(of: 0, in: site.decision)
        #expect(why.source == .schedule && why.basePoint == .kilowatts(row.base), row.why)
        #expect(why.response == .zero && !why.isRamping, row.why)
        #expect(abs(why.requested.kilowatts - row.base / 2) < 1e-6, row.why)
        #expect(why.cause == row.cause, row.why)
        #expect(abs(why.limit.kilowatts - row.limit) < 1e-6, row.why)
        #expect(why.setpoint == site.decision.units[0].setpoint, row.why)
    }

    @Test func `the explanation tells that the ramp still holds the site back`() {
        var site = Site(units: 1, basePoint: .kilowatts(400), ramp: WattsPerSecond(100_000))
        site.enterService()
        let why = Explanation(of: 0, in: site.decision)
        #expect(why.isRamping && why.target.kilowatts < 3 && why.cause == .none)
    }
}
