import Quantities
import SiteConfig
import Testing
import YAMLText

@testable import Scenario

@Suite struct ScenarioTests {
    static func read(_ text: String) throws -> Scenario {
        try Scenario(try YAMLText.parse(Array(text.utf8), file: "s.yaml"), file: "s.yaml")
    }

    @Test func `a scenario says its profile, its part of it and its faults in the order of time`() throws {
        let scenario = try Self.read(
            """
            seed: 7
            profile: a/b.csv
            start_at_s: 40
            end_at_s: 100
            initial_soc_percent: 55
            faults:
              - {at_s: 62.5, unit: U2, fault: cell_overheat, cell: 17, rate_k_per_s: 5}
              - {at_s: 3, fault: meter_silence}
            """)
        #expect(scenario.seed == 7)
        #expect(scenario.profile == "a/b.csv")
        #expect(scenario.startAt == .seconds(40))
        #expect(scenario.endAt == .seconds(100))
        #expect((scenario.initialStateOfCharge - Fraction(0.55)).magnitude < Fraction(1e-12))
        #expect(
            scenario.faults == [
                .init(at: .seconds(3), unit: nil, fault: .meterSilence),
                .init(
                    at: .milliseconds(62_500), unit: "U2",
                    fault: .cellOverheat(cell: 16, rate: KelvinPerSecond(5))),
            ])
    }

    // swift-format-ignore
    static let refused: [(text: String, line: Int, part: String, why: Comment)] = [
        ("profil: a", 1, "profil", "a key that does not exist"),
        ("seed: yes", 1, "seed", "not a number"),
        ("seed: \"1\"", 1, "seed", "a text where a number is meant"),
        ("start_at_s: 5\nend_at_s: 4", 2, "5.0 …", "the end before the start"),
        ("ambient_c: 61", 1, "-40.0 … 60.0", "one step above the range"),
        ("cells_in_series: 79", 1, "80.0 … 400.0", "one step below the range"),
        ("faults: 3", 1, "list", "not a list"),
        ("faults:\n  - {unit: A, fault: bms_silence}", 2, "faults[0].at_s", "without a time"),
        ("faults:\n  - {at_s: 1, fault: bms_silence}", 2, "faults[0].unit", "without a unit"),
        ("faults:\n  - {at_s: 1, unit: A, fault: meter_silence}", 2, "concerns no unit", "a unit too many"),
        ("faults:\n  - {at_s: 1, unit: A, fault: fire}", 2, "cell_overheat", "names what is allowed"),
        ("faults:\n  - {at_s: 1, unit: A, fault: bms_alarm, cell: 1}", 2, "cell", "a parameter it has not"),
        ("faults:\n  - {at_s: 1, unit: A, fault: cell_overheat, cell: 81}", 2, "1 … 80", "no such cell"),
        ("- 1", 1, "mapping", "not a mapping"),
    ]

    @Test(arguments: refused)
    func `a mistake in a scenario is refused with its line and what is allowed`(
        text: String, line: Int, part: String, why: Comment
    ) {
        let error = #expect(throws: ConfigError.self, why) { try Self.read(text) }
        #expect(error?.position.line == line, why)
        #expect(error?.description.contains(part) == true, "\(error?.description ?? "no error")")
    }
}

@Suite struct SimulatedSiteTests {
    static func site(_ scenario: Scenario, profile: FrequencyProfile = FrequencyProfile(constant: Hertz(50)))
        throws -> SimulatedSite
    {
        var random = SplitMix64(seed: scenario.seed)
        let units = ["A", "B"].map { id in
            SimulatedUnit(
                id: id,
                battery: BatteryModel(
                    BatterySpecification(capacity: .kilowattHours(250), maxPower: .kilowatts(100)),
                    random: &random),
                inverter: InverterModel(ratedPower: .kilowatts(100)))
        }
        return try SimulatedSite(units: units, scenario: scenario, profile: profile)
    }

    static func advance(_ site: inout SimulatedSite, by time: Duration) {
        for _ in 0..<Int(time.nanoseconds / 5_000_000) { site.advance(by: .milliseconds(5)) }
    }

    @Test
    func `the frequency stands at the start of the profile until the scenario starts and stops at its end`()
        throws
    {
        let profile = try FrequencyProfile(csv: "t_s,f_hz\n0,50\n10,49\n")
        var site = try Self.site(Scenario(startAt: .seconds(2), endAt: .seconds(6)), profile: profile)
        Self.advance(&site, by: .seconds(5))
        #expect((site.frequency - Hertz(49.8)).magnitude < Hertz(1e-9), "not started")
        site.start()
        Self.advance(&site, by: .seconds(1))
        site.start()
        Self.advance(&site, by: .seconds(1))
        #expect((site.frequency - Hertz(49.6)).magnitude < Hertz(1e-9), "a second start changes nothing")
        Self.advance(&site, by: .seconds(20))
        #expect((site.frequency - Hertz(49.4)).magnitude < Hertz(1e-9), "held at end_at_s")
        site.frequencyOverride = Hertz(49.5)
        #expect(site.frequency == Hertz(49.5))
    }

    @Test func `a fault comes at its time on its unit and never before the start`() throws {
        let fault = Fault.cellOverheat(cell: 3, rate: KelvinPerSecond(5))
        var site = try Self.site(
            Scenario(faults: [.init(at: .seconds(2), unit: "B", fault: fault)]))
        Self.advance(&site, by: .seconds(3))
        #expect(site.units[1].faults.isEmpty)
        site.start()
        Self.advance(&site, by: .milliseconds(1_995))
        #expect(site.units[1].faults.isEmpty, "one step before")
        Self.advance(&site, by: .milliseconds(5))
        #expect(site.units[1].faults == [fault])
        #expect(site.units[0].faults.isEmpty)
    }

    @Test func `a fault on a unit that does not exist is refused`() throws {
        let scenario = Scenario(faults: [.init(at: .zero, unit: "C", fault: .bmsSilence)])
        #expect(throws: SimulatedSite.UnknownUnit(id: "C")) { try Self.site(scenario) }
    }

    @Test func `the battery's own electronics open its contactors when a cell goes beyond its limits`() throws
    {
        let limits: [(fault: Fault, protection: BatteryProtection)] = [
            (.cellOvervoltage(cell: 0, voltage: Volts(3.81)), .cellVoltageHigh),
            (.cellUndervoltage(cell: 0, voltage: Volts(2.29)), .cellVoltageLow),
            (.bmsAlarm, .systemError),
        ]
        for (fault, protection) in limits {
            var site = try Self.site(Scenario())
            site.units[0].inverter.setpoint.write(.kilowatts(50))
            site.units[0].inverter.setpoint.enable()
            Self.advance(&site, by: .seconds(1))
            #expect((site.meterPower - .kilowatts(50)).magnitude < Watts(1))
            site.add(fault, unit: 0)
            Self.advance(&site, by: .milliseconds(10))
            #expect(site.units[0].management.protections == [protection])
            #expect(!site.units[0].battery.isContactorClosed)
            #expect(site.meterPower == .zero)
            site.clear(fault.kind, unit: 0)
            Self.advance(&site, by: .milliseconds(10))
            #expect(site.units[0].battery.isContactorClosed, "reset by hand")
        }
    }

    @Test func `a cell just inside the battery's limits changes nothing`() throws {
        var site = try Self.site(Scenario())
        site.add(.cellOvervoltage(cell: 0, voltage: Volts(3.79)), unit: 0)
        site.add(.cellUndervoltage(cell: 1, voltage: Volts(2.31)), unit: 1)
        Self.advance(&site, by: .seconds(1))
        #expect(site.units.allSatisfy { $0.management.protections.isEmpty })
    }

    @Test func `the same scenario plays to the same numbers`() throws {
        let play = {
            var site = try Self.site(Scenario(seed: 42))
            site.units[0].inverter.setpoint.write(.kilowatts(73))
            site.units[0].inverter.setpoint.enable()
            Self.advance(&site, by: .seconds(30))
            return site.units.map { [$0.battery.stateOfCharge.value, $0.battery.packVoltage.value] }
        }
        #expect(try play() == play())
    }
}
