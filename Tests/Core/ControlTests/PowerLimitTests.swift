import Control
import Interlocks
import Plant
import Quantities
import Testing

/// What limits the power of a running unit, and the frequency that asks for it.
@Suite struct PowerLimitTests {
    // swift-format-ignore
    static let charges: [(percent: Double, charge: Double, discharge: Double, why: Comment)] = [
        (50.0,  -500, 500,  "in the middle"),
        (12.1,  -500, 500,  "just above the lower taper"),
        (11.9,  -500, 475,  "just inside it"),
        (11.0,  -500, 250,  "half way"),
        (10.1,  -500,  25,  "just above the wall"),
        ( 9.9,  -500,   0,  "just below the wall"),
        ( 0.0,  -500,   0,  "empty"),
        (87.9,  -500, 500,  "just below the upper taper"),
        (88.1,  -475, 500,  "just inside it"),
        (89.9,   -25, 500,  "just below the wall"),
        (90.1,     0, 500,  "just above the wall"),
        (100.0,    0, 500,  "full"),
    ]

    @Test(arguments: charges)
    func `state of charge tapers the power over the last two percent and walls it off`(
        row: (percent: Double, charge: Double, discharge: Double, why: Comment)
    ) {
        var site = Site(units: 1)
        site.feeds[0].stateOfCharge = row.percent / 100
        site.enterService()
        let window = site.decision.units[0].window
        #expect(abs(window.charge.kilowatts - row.charge) < 1e-6, row.why)
        #expect(abs(window.discharge.kilowatts - row.discharge) < 1e-6, row.why)
    }

    // swift-format-ignore
    static let permissions: [(allowed: BatteryPermissions?, charge: Double, discharge: Double, why: Comment)] = [
        (nil,                     -500, 500, "a BMS that sends none forbids nothing"),
        ([.charge, .discharge],   -500, 500, "both"),
        (.charge,                 -500,   0, "charging only"),
        (.discharge,                 0, 500, "discharging only"),
        (BatteryPermissions.none,    0,   0, "nothing"),
    ]

    @Test(arguments: permissions)
    func `the BMS's permissions close the direction they forbid`(
        row: (allowed: BatteryPermissions?, charge: Double, discharge: Double, why: Comment)
    ) {
        var site = Site(units: 1)
        site.feeds[0].permissions = row.allowed
        site.enterService()
        let window = site.decision.units[0].window
        #expect(window.charge.kilowatts == row.charge && window.discharge.kilowatts == row.discharge, row.why)
    }

    @Test func `permissions that fell silent forbid everything`() {
        var site = Site(units: 1, basePoint: .kilowatts(100))
        site.feeds[0].permissions = [.charge, .discharge]
        site.enterService()
        #expect(site.kilowatts(0) > 0)
        site.feeds[0].permissions = nil
        site.run(for: Site.budget)
        #expect(site.kilowatts(0) > 0, "in their budget")
        site.cycle()
        #expect(site.kilowatts(0) == 0)
        #expect(site.decision.units[0].window.dischargeCause == .reading(.permissions))
    }

    @Test func `the BMS's current limits times the pack voltage are watts that nobody exceeds`() {
        var site = Site(units: 1, basePoint: .kilowatts(450))
        site.feeds[0].dischargeCurrentLimit = 100
        site.feeds[0].chargeCurrentLimit = 50
        site.enterService()
        #expect(abs(site.kilowatts(0) - 80) < 1e-9, "100 A at 800 V")
        #expect(site.decision.units[0].window.dischargeCause == .batteryCurrentLimit)
        #expect(abs(site.decision.units[0].window.charge.kilowatts + 40) < 1e-9, "50 A at 800 V")
        site.feeds[0].dischargeCurrentLimit = 0
        site.cycle()
        #expect(site.kilowatts(0) == 0, "a limit of zero forbids, in the same cycle")
        site.feeds[0].dischargeCurrentLimit = -100
        site.cycle()
        #expect(site.kilowatts(0) == 0, "a negative limit is none at all")
    }

    @Test func `derating narrows the window and names the interlock`() {
        var site = Site(units: 1, basePoint: .kilowatts(450))
        site.feeds[0].cellVoltageMin = 2.7
        site.feeds[0].cellVoltageMax = 2.72
        site.enterService()
        #expect(abs(site.kilowatts(0) - 250) < 1e-6)
        #expect(site.decision.units[0].window.dischargeCause == .interlock(.cellUndervoltage))
        #expect(site.happened.contains { $0.kind == .warned(.cellUndervoltage) })
    }

    // swift-format-ignore
    static let frequencies: [(hertz: Double, kilowatts: Double, why: Comment)] = [
        (50.00,    0, "nominal"),
        (49.97,    0, "the edge"),
        (49.80,   68, "low: discharge"),
        (50.20,  -68, "high: charge"),
        (47.00, 1000, "bounded by the ratings"),
    ]

    @Test(arguments: frequencies)
    func `frequency asks on the rating of the whole site and its units share the answer`(
        row: (hertz: Double, kilowatts: Double, why: Comment)
    ) {
        var site = Site()
        site.frequency = row.hertz
        site.enterService()
        site.cycle()
        #expect(abs(site.decision.setpoint.kilowatts - row.kilowatts) < 1e-3, row.why)
        #expect(abs(site.kilowatts(0) - row.kilowatts / 2) < 1e-3, row.why)
    }

    @Test
    func `a lost frequency is held for its time, then the response ramps away and the base point stays`() {
        var site = Site(basePoint: .kilowatts(100), ramp: WattsPerSecond(1_000_000))
        site.frequency = 49.8
        site.enterService()
        site.run(for: .seconds(1))
        #expect(abs(site.decision.setpoint.kilowatts - 168) < 1e-3)
        site.frequency = nil
        site.run(for: Site.budget)
        #expect(site.decision.frequency == Hertz(49.8))
        site.run(for: .seconds(1))
        #expect(site.decision.frequency == nil && abs(site.decision.setpoint.kilowatts - 168) < 1e-3, "held")
        #expect(site.happened.contains { $0.kind == .frequencyLost && $0.unit == nil })
        site.run(for: .seconds(1))
        #expect(abs(site.decision.setpoint.kilowatts - 100) < 1e-9 && site.decision.response == .zero)
        site.frequency = 49.8
        site.run(for: .seconds(1))
        #expect(abs(site.decision.setpoint.kilowatts - 168) < 1e-3)
        #expect(site.happened.last?.kind == .frequencyBack)
    }

    @Test func `before the first frequency none is lost`() {
        var site = Site()
        site.frequency = nil
        site.run(for: .seconds(1))
        site.frequency = 50
        site.run(for: .seconds(1))
        #expect(!site.happened.contains { $0.kind == .frequencyLost || $0.kind == .frequencyBack })
        site.frequency = nil
        site.run(for: .seconds(1))
        #expect(site.happened.contains { $0.kind == .frequencyLost })
    }

    @Test(arguments: [0.0, 39.9, 70.1, 500.0])
    func `an implausible frequency is reported as lost and never as used`(hertz: Double) {
        var site = Site()
        site.enterService()
        site.frequency = hertz
        site.cycle()
        #expect(site.decision.frequency == nil)
        #expect(site.happened.last?.kind == .frequencyLost)
    }

    @Test func `a clock that stands still or goes back neither traps nor starts anything`() {
        var site = Site(units: 1, basePoint: .kilowatts(100))
        site.enterService()
        site.step()
        #expect(site.mode(0) == .running)
        site.now = site.now - .seconds(5)
        site.step()
        #expect(site.mode(0) == .offline && site.kilowatts(0) == 0, "readings from the future are not good")
    }

    @Test func `a warning whose signal is lost has not ended, and its end is told when it is seen good`() {
        var site = Site(units: 1)
        site.feeds[0].cellTemperatureMax = 42
        site.enterService()
        #expect(site.happened.filter { $0.kind == .warned(.cellOvertemperatureCharge) }.count == 1)
        site.images[0].battery.cellTemperatureMax = .bad(.implausible, since: site.now)
        site.step()
        #expect(site.decision.units[0].warnings.contains(.cellOvertemperatureCharge))
        site.cycle()
        func told() -> [Event.Kind] {
            site.happened.map(\.kind).filter {
                $0 == .warned(.cellOvertemperatureCharge) || $0 == .warningGone(.cellOvertemperatureCharge)
            }
        }
        #expect(told() == [.warned(.cellOvertemperatureCharge)], "unknown is never healthy")
        site.feeds[0].cellTemperatureMax = 36
        site.cycle()
        #expect(told() == [.warned(.cellOvertemperatureCharge), .warningGone(.cellOvertemperatureCharge)])
    }
}
