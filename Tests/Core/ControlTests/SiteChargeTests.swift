import FrequencyResponse
import InterlockSupport
import Interlocks
import Plant
import PowerDispatch
import Quantities
import Testing

@testable import Control

/// What a site keeps of its energy for the response, and how it comes back to its target.
@Suite struct SiteChargeTests {
    static func site(_ service: ServiceSettings, base: Double, charges: Double...) -> Site {
        var site = Site(units: charges.count, basePoint: .kilowatts(base))
        var settings = SiteSettings(
            interlocks: .lithiumIronPhosphate,
            droop: DroopCurve(
                nominal: Hertz(50), deadbandLowMillihertz: 49_970, deadbandHighMillihertz: 50_030,
                droop: .percent(5)),
            basePoint: .kilowatts(base), ramp: WattsPerSecond(1e9), frequencyHold: .seconds(1),
            meterBudget: Site.budget, enterService: .seconds(3), stopBound: .seconds(10),
            outputGrace: .milliseconds(100))
        settings.service = service
        let units = charges.map { _ in unit(Site.rating) }
        site.controller = Controller(settings: settings, units: units.span)
        for (index, charge) in charges.enumerated() { site.feeds[index].stateOfCharge = charge }
        return site
    }

    static func unit(_ rating: Watts) -> UnitSettings {
        UnitSettings(
            rating: rating, minStateOfCharge: .percent(10), maxStateOfCharge: .percent(90),
            budget: FreshnessBudget(battery: Site.budget, inverter: Site.budget), currentFloor: Amperes(2))
    }

    @Test func `the mean is weighted by rating, and of no unit there is none`() {
        var charge = SiteCharge()
        #expect(charge.mean == nil && charge.bounds == PowerBounds(charge: .zero, discharge: .zero))
        charge.add(Fraction(0.2), of: Self.unit(.kilowatts(300)), ServiceSettings())
        charge.add(Fraction(0.6), of: Self.unit(.kilowatts(100)), ServiceSettings())
        #expect(abs((charge.mean?.value ?? 0) - 0.3) < 1e-12)
        #expect(charge.bounds == PowerBounds(charge: .kilowatts(-400), discharge: .kilowatts(400)))
    }

    // swift-format-ignore
    static let kept: [(charge: Double, lowest: Double, highest: Double, why: Comment)] = [
        (0.50, -100, 100, "between"),
        (0.19, -100,   0, "inside the reserve above 10 %"),
        (0.21, -100,  50, "half of the taper above it"),
        (0.81,    0, 100, "inside the headroom below 90 %"),
        (0.79,  -50, 100, "half of the taper below it"),
    ]

    @Test(arguments: kept) func `what is kept for the response bounds the base point`(
        row: (charge: Double, lowest: Double, highest: Double, why: Comment)
    ) {
        var charge = SiteCharge()
        let service = ServiceSettings(reserve: .percent(10), headroom: .percent(10))
        charge.add(Fraction(row.charge), of: Self.unit(.kilowatts(100)), service)
        #expect(abs(charge.bounds.charge.kilowatts - row.lowest) < 1e-9, row.why)
        #expect(abs(charge.bounds.discharge.kilowatts - row.highest) < 1e-9, row.why)
    }

    // swift-format-ignore
    static let services: [(reserve: Double, headroom: Double, energy: Bool, full: Double, empty: Double, why: Comment)] = [
        (0,   0,   false,  400, -400, "nothing is kept: the base point as it was asked for"),
        (0.1, 0,   false,  400, -400, "a reserve says nothing of a full battery or of charging"),
        (0,   0.1, false,  400,    0, "headroom keeps a full battery from charging"),
        (0.1, 0.1, false,  400,    0, "both"),
        (0,   0,   true,   450, -350, "the way back to the target, outward"),
        (0.1, 0,   true,   450, -350, "the same with a reserve"),
        (0,   0.1, true,   450,    0, "the way back, inside what may flow"),
        (0.1, 0.1, true,   450,    0, "all of it"),
    ]

    @Test(arguments: services) func `the base point leaves what is kept, and has the way back to the target`(
        row: (reserve: Double, headroom: Double, energy: Bool, full: Double, empty: Double, why: Comment)
    ) {
        let energy = EnergyManagement.Settings(
            target: .percent(50), band: .percent(5), power: .percent(10))
        let service = ServiceSettings(
            reserve: Fraction(row.reserve), headroom: Fraction(row.headroom),
            energy: row.energy ? energy : nil)
        for (base, expected) in [(400, row.full), (-400, row.empty)] as [(Double, Double)] {
            var site = Self.site(service, base: base, charges: 0.85)
            site.enterService()
            site.run(for: .seconds(61))
            #expect(abs(site.kilowatts(0) - expected) < 1e-6, row.why)
            #expect(abs(site.decision.correction.kilowatts - (expected - base)) < 1e-6, row.why)
            #expect(!Explanation(of: 0, in: site.decision).isRamping, "a correction is no ramp")
        }
    }

    // swift-format-ignore
    static let askers: [(source: BasePointSource?, correction: Double, why: Comment)] = [
        (nil,         50, "the site's own default leaves room"),
        (.schedule,   50, "so does a schedule"),
        (.aggregator,  0, "who asks for a power right now means that power"),
        (.agc,         0, "the same"),
        (.operator,    0, "the same"),
    ]

    @Test(arguments: askers) func `only a plan leaves room for the way back to the target`(
        row: (source: BasePointSource?, correction: Double, why: Comment)
    ) {
        let energy = EnergyManagement.Settings(
            target: .percent(50), band: .percent(5), power: .percent(10))
        var site = Self.site(ServiceSettings(energy: energy), base: 0, charges: 0.8)
        site.enterService()
        if let source = row.source { _ = site.order(.setBasePoint(source, .zero, for: .seconds(600))) }
        site.run(for: .seconds(61))
        #expect(abs(site.decision.correction.kilowatts - row.correction) < 1e-6, row.why)
    }

    @Test func `only units that run and tell their charge count`() {
        let service = ServiceSettings(reserve: .percent(10), headroom: .percent(10))
        var site = Self.site(service, base: 400, charges: 0.5, 0.15)
        site.enterService()
        #expect(abs(site.decision.setpoint.kilowatts - 400) < 1e-6, "500 kW of the first unit")
        site.feeds[0].alarms = .general
        site.cycle()
        site.cycle()
        #expect(site.decision.setpoint == .zero, "the second is inside its reserve")
        #expect(site.decision.correction == .kilowatts(-400))
        site.feeds[1].alarms = .general
        site.cycle()
        site.cycle()
        #expect(
            site.decision.correction == .zero, "nobody runs: nothing is known, the asked base point stands")
    }
}
