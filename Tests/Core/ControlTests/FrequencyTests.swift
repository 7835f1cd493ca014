import Control
import FrequencyResponse
import Interlocks
import Plant
import PowerDispatch
import Quantities
import Testing

/// The frequency response in the control step: what it comes on top of, and what is kept for it.
@Suite struct FrequencyTests {
    static func site(
        units: Int = 1, base: Double, ramp: Double = 1e9, _ service: ServiceSettings = ServiceSettings()
    ) -> Site {
        Site(units: units, basePoint: .kilowatts(base), ramp: WattsPerSecond(ramp), service: service)
    }

    @Test func `a limit bounds what was there before the event, and the response comes on top`() {
        var site = Self.site(base: 400)
        site.feeds[0].dischargeCurrentLimit = 250
        site.enterService()
        #expect(abs(site.kilowatts(0) - 200) < 1e-6, "250 A at 800 V")
        site.frequency = 50.28
        site.cycle()
        #expect(abs(site.kilowatts(0) - 150) < 1e-6, "50 kW less than was delivered, not than was asked")
    }

    @Test func `P_pre stays latched when a limit goes in an event, and the schedule's changes are added`() {
        var site = Self.site(base: 400)
        site.feeds[0].dischargeCurrentLimit = 250
        site.enterService()
        site.frequency = 50.28
        site.run(for: .seconds(1))
        site.feeds[0].dischargeCurrentLimit = 1_000
        site.run(for: .seconds(1))
        #expect(abs(site.kilowatts(0) - 150) < 1e-6, "200 kW were there when the event began")
        #expect(abs(site.decision.correction.kilowatts + 200) < 1e-6)
        #expect(site.decision.eventShift == site.decision.correction, "the latch alone")
        _ = site.order(.setBasePoint(.schedule, .kilowatts(350), for: .seconds(60)))
        site.run(for: .seconds(1))
        #expect(abs(site.kilowatts(0) - 100) < 1e-6, "50 kW less of schedule")
        site.frequency = 50
        site.run(for: .seconds(1))
        #expect(abs(site.kilowatts(0) - 350) < 1e-6, "after the event the schedule holds again")
        #expect(site.decision.correction == .zero)
    }

    @Test func `a change of schedule in an event comes on the comfort ramp, the response does not`() {
        var site = Self.site(base: 0, ramp: 10_000)
        site.enterService()
        site.frequency = 49.72
        site.cycle()
        #expect(abs(site.kilowatts(0) - 50) < 1e-6, "50 kW at once")
        _ = site.order(.setBasePoint(.schedule, .kilowatts(100), for: .seconds(60)))
        site.run(for: .seconds(5))
        #expect(abs(site.kilowatts(0) - 100) < 0.3, "10 kW/s for 5 s")
        #expect(Explanation(of: 0, in: site.decision).isRamping)
        site.run(for: .seconds(10))
        #expect(abs(site.kilowatts(0) - 150) < 1e-6)
        #expect(!Explanation(of: 0, in: site.decision).isRamping)
    }

    // swift-format-ignore
    static let ends: [(charge: Double, base: Double, hertz: Double, kilowatts: Double, why: Comment)] = [
        (0.10, -250, 49.00,  -56, "empty while charging: less charging"),
        (0.10, -250, 48.00,    0, "but never discharging"),
        (0.90,  250, 51.00,   56, "full while discharging: less discharging"),
        (0.90,  250, 52.00,    0, "but never charging"),
        (0.11,    0, 45.00,  250, "half of the taper above the lower wall"),
    ]

    @Test(arguments: ends)
    func `an empty battery may charge less and never discharges, and the mirror`(
        row: (charge: Double, base: Double, hertz: Double, kilowatts: Double, why: Comment)
    ) {
        var site = Self.site(base: row.base)
        site.feeds[0].stateOfCharge = row.charge
        site.enterService()
        site.frequency = row.hertz
        site.run(for: .seconds(1))
        #expect(abs(site.kilowatts(0) - row.kilowatts) < 1e-3, row.why)
    }

    @Test func `the lag never delays an interlock`() {
        var service = ServiceSettings()
        service.dynamics.openLoopTime = .seconds(10)
        service.dynamics.fullActivation = .seconds(60)
        var site = Self.site(units: 2, base: 300, ramp: 1_000_000, service)
        site.enterService()
        site.run(for: .seconds(1))
        site.frequency = 49
        site.run(for: .seconds(30))
        #expect(site.decision.setpoint > .kilowatts(600))
        site.feeds[0].alarms = .general
        site.cycle()
        #expect(site.kilowatts(0) == 0, "in the cycle that sees it")
    }

    @Test func `a base point leaves its reserve to the response, which may use it`() {
        var site = Self.site(base: 400, ServiceSettings(reserve: .percent(20), headroom: .percent(20)))
        site.feeds[0].stateOfCharge = 0.29
        site.enterService()
        #expect(site.kilowatts(0) == 0, "29 % is inside the reserve above 10 %")
        #expect(site.decision.basePoint == .kilowatts(400) && site.decision.correction == .kilowatts(-400))
        #expect(site.decision.eventShift == .zero, "no event: the reserve alone")
        site.frequency = 49
        site.cycle()
        #expect(abs(site.kilowatts(0) - 194) < 1e-6, "the response may use it")
        site.frequency = 50
        site.feeds[0].stateOfCharge = 0.5
        site.run(for: .seconds(1))
        #expect(abs(site.kilowatts(0) - 400) < 1e-6)
    }

    @Test func `the state of charge is brought back by schedule and default, not under an operator`() {
        let energy = EnergyManagement.Settings(
            target: .percent(50), band: .percent(5), power: .percent(10))
        var site = Self.site(base: 0, ServiceSettings(energy: energy))
        site.feeds[0].stateOfCharge = 0.4
        site.enterService()
        site.run(for: .seconds(61))
        #expect(abs(site.kilowatts(0) + 50) < 1e-6, "a tenth of the rating, charging")
        site.frequency = 49.9
        site.cycle()
        #expect(
            abs(site.kilowatts(0) + 50 - 14) < 1e-6, "an event: the response on top, the correction rests")
        site.frequency = 50
        _ = site.order(.setBasePoint(.operator, .kilowatts(0), for: .seconds(600)))
        site.run(for: .seconds(61))
        #expect(site.kilowatts(0) == 0, "an operator means what he asks")
    }

    @Test func `a unit that comes back in an event takes its part up on the service's ramp`() {
        var service = ServiceSettings()
        service.dynamics.fullActivation = .seconds(10)
        var site = Self.site(base: 0, service)
        site.frequency = 49
        site.enterService()
        #expect(abs(site.kilowatts(0)) < 1.001, "50 kW/s for one cycle")
        site.run(for: .seconds(2))
        #expect(abs(site.kilowatts(0) - 101) < 1.1)
        site.run(for: .seconds(3))
        #expect(abs(site.kilowatts(0) - 194) < 1e-6)
    }
}
