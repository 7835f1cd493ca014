import Quantities
import SiteConfig
import Testing

/// Keys for sharing, losses, reactive power, lapsed leases, the schedule and the watches of a BMS.
@Suite struct SharingSiteTests {
    static let losses = "losses: {idle_kw: 0.3, linear_percent: 1, square_percent: 2}"
    static let unit = """
        mode: simulation
        bess_units:
          - id: A
            campus_id: C
            capacity_kwh: 250
            max_power_kw: 100
            modbus: {host: inverter}

        """

    static func with(_ more: String) -> Outcome { Outcome(unit + more) }

    @Test func `what holds without these keys`() throws {
        let site = try #require(Self.with("").site)
        #expect(site.powerSharing.mode == .proportional && site.powerSharing.balancing == 10)
        #expect(site.schedule == nil && site.control.leaseReversion == .nextSource)
        #expect(site.ratedPower == .kilowatts(100))
        let unit = try #require(site.units.first)
        #expect(unit.losses == nil && unit.reactivePower == .device)
        #expect(unit.battery.frozenSamples == nil && unit.battery.temperatureResolution == Celsius(1))
    }

    @Test func `every key reaches the site`() throws {
        let text = """
                \(Self.losses)
                reactive_power: {mode: power_factor, power_factor: 0.95, excitation: under_excited}
                bms: {transport: "socketcan:can0", frozen_samples: 50, temperature_resolution_k: 0.1}
            power_sharing: {mode: minimum_loss, soc_balancing: 2.5}
            control: {lapsed_lease: hold, lapsed_lease_hold_s: 90}
            schedule: plans/week.csv
            """
        let outcome = Self.with(text)
        let site = try #require(outcome.site, "\(outcome.errors)")
        #expect(site.powerSharing.mode == .minimumLoss && site.powerSharing.balancing == 2.5)
        #expect(site.control.leaseReversion == .hold(.seconds(90)) && site.schedule == "plans/week.csv")
        let unit = try #require(site.units.first)
        let losses = try #require(unit.losses)
        #expect(losses.idle == .kilowatts(0.3) && losses.linear == .percent(1))
        #expect(abs(losses.squareShare(at: unit.maxPower).percent - 2) < 1e-9)
        #expect(unit.reactivePower == .powerFactor(Fraction(0.95), .under))
        #expect(unit.battery.frozenSamples == 50 && unit.battery.temperatureResolution == Celsius(0.1))
        #expect(Self.with("control: {lapsed_lease: zero}\n").site?.control.leaseReversion == .zero)
        #expect(Self.with("    reactive_power: {mode: zero}\n").site?.units[0].reactivePower == .zero)
    }

    // swift-format-ignore
    static let wrong: [(text: String, error: String, why: Comment)] = [
        ("power_sharing: {mode: fair}", "8:23: power_sharing.mode: \"fair\" is not one of proportional, minimum_loss",
         "an unknown word"),
        ("power_sharing: {soc_balancing: 100.1}", "8:32: power_sharing.soc_balancing: 100.1 is outside 0 … 100",
         "a step above"),
        ("power_sharing: {soc_balancing: -0.1}", "8:32: power_sharing.soc_balancing: -0.1 is outside 0 … 100",
         "a gain that drives units apart"),
        ("power_sharing: {balancing: 1}",
         "8:17: power_sharing.balancing: unknown key; known here: mode, soc_balancing", "a slip"),
        ("power_sharing: {mode: minimum_loss}",
         "3:5: bess_units[0]: unit A has no losses (required with power_sharing minimum_loss)",
         "nothing to compare"),
        ("    losses: {idle_kw: 0.3, linear_percent: 1}",
         "8:13: bess_units[0].losses.square_percent: is missing in bess_units[0].losses, line 8 (required: 0 … 20 %)",
         "all three belong together"),
        ("    losses: {idle_kw: 100, linear_percent: 1, square_percent: 1}",
         "3:5: bess_units[0]: unit A: idle_kw is not below max_power_kw", "kW for W"),
        ("    losses: {idle_kw: 1, linear_percent: 20.1, square_percent: 1}",
         "8:42: bess_units[0].losses.linear_percent: 20.1 is outside 0 … 20 %", "a step above"),
        ("control: {lapsed_lease: hold}",
         "8:10: control.lapsed_lease_hold_s: is missing (required with lapsed_lease: hold)", "how long?"),
        ("control: {lapsed_lease: zero, lapsed_lease_hold_s: 5}",
         "8:52: control.lapsed_lease_hold_s: stands only with lapsed_lease: hold", "a time without a hold"),
        ("control: {lapsed_lease_hold_s: 5}",
         "8:32: control.lapsed_lease_hold_s: stands only with lapsed_lease: hold", "the same with the default"),
        ("control: {lapsed_lease: hold, lapsed_lease_hold_s: 3601}",
         "8:52: control.lapsed_lease_hold_s: 3601 is outside 1 … 3600 s", "a step above"),
        ("    reactive_power: {mode: power_factor, power_factor: 0.95}",
         "8:21: bess_units[0].reactive_power.excitation: is missing (required with mode power_factor)",
         "which side?"),
        ("    reactive_power: {mode: power_factor, power_factor: 0.79, excitation: over_excited}",
         "8:56: bess_units[0].reactive_power.power_factor: 0.79 is outside 0.8 … 1", "a step below"),
        ("    reactive_power: {mode: power_factor, power_factor: 1.01, excitation: over_excited}",
         "8:56: bess_units[0].reactive_power.power_factor: 1.01 is outside 0.8 … 1", "a step above"),
        ("    reactive_power: {mode: zero, power_factor: 0.9}",
         "8:48: bess_units[0].reactive_power.power_factor: stands only with mode power_factor", "both"),
        ("    reactive_power: {mode: device, excitation: over_excited}",
         "8:48: bess_units[0].reactive_power.excitation: stands only with mode power_factor", "both"),
        ("    bms: {transport: \"socketcan:can0\", frozen_samples: -1}",
         "8:56: bess_units[0].bms.frozen_samples: -1 is outside 0 … 100000", "less than never"),
        ("    bms: {transport: \"socketcan:can0\", temperature_resolution_k: 0}",
         "8:66: bess_units[0].bms.temperature_resolution_k: 0 is outside 0.01 … 2 K", "no step at all"),
        ("schedule: my plan.csv",
         "8:11: schedule: \"my plan.csv\" is not allowed (allowed: a path of 1 … 255 printable ASCII "
            + "characters without spaces)", "a space"),
    ]

    @Test(arguments: wrong)
    func `is refused with the key, its place and what is allowed`(text: String, error: String, why: Comment) {
        #expect(Self.with(text + "\n").errors == ["site.yaml:" + error], why)
    }
}
