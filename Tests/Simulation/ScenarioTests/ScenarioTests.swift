import ConfigText
import Quantities
import SiteConfig
import Testing
import YAMLText

import struct Scenario.Expectation

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

@Suite struct ScenarioFormatTests {
    /// What every judged scenario has.
    static let head = """
        why: it must be safe
        catalogue: [C01, B03]
        tiers: [virtual, host]
        site: ../site.yaml
        duration_s: 30

        """

    static func read(_ text: String) throws -> Scenario { try ScenarioTests.read(head + text) }

    @Test func `a scenario says why it exists, what it proves, where it runs and for how long`() throws {
        let scenario = try Self.read("start: cold\nrefused: no such key")
        #expect(scenario.why == "it must be safe")
        #expect(scenario.catalogue == ["C01", "B03"])
        #expect(scenario.tiers == [.virtual, .host])
        #expect(scenario.site == "../site.yaml")
        #expect(scenario.duration == .seconds(30))
        #expect(scenario.start == .cold)
        #expect(scenario.refusal == "no such key")
    }

    @Test func `steps put faults in and out, set the grid, ask as an operator and end the daemon`() throws {
        let scenario = try Self.read(
            """
            steps:
              - {at_s: 2, name: silence, fault: bms_silence, unit: A}
              - {at_s: 9, clear: bms_silence, unit: A}
              - {at_s: 1, frequency_hz: 49.5}
              - {at_s: 5, frequency_hz: profile}
              - {at_s: 11, operator: 'reset A --reason "I looked"'}
              - {at_s: 12, daemon: kill}
              - {at_s: 13, daemon: restart}
              - {at_s: 20, operator: setpoint -40 --for 2m, times: 3, every_s: 1.5}
            """)
        let half = OperatorCommand.Wish.setpoint(.kilowatts(-40), unit: nil, for: .seconds(120))
        let asked = scenario.steps.compactMap { step in
            if case .command(let command) = step.action { (step.at, command.wish) } else { nil }
        }
        #expect(
            scenario.steps.filter(\.isOfPlant) == [
                .init(at: .seconds(1), .frequency(Hertz(49.5))),
                .init(at: .seconds(2), name: "silence", .fault(.bmsSilence, unit: "A")),
                .init(at: .seconds(5), .frequency(nil)),
                .init(at: .seconds(9), .clear(.bmsSilence, unit: "A")),
            ])
        #expect(asked.map(\.1) == [.reset(unit: "A"), half, half, half])
        #expect(asked.map(\.0) == [.seconds(11), .seconds(20), .milliseconds(21_500), .seconds(23)])
        #expect(scenario.steps.contains(.init(at: .seconds(12), .daemon(.kill, .ballastd))))
        #expect(scenario.steps.contains(.init(at: .seconds(13), .daemon(.restart, .ballastd))))
    }

    @Test func `the words of an operator go to ballastctl as they stand, with a reason`() throws {
        #expect(
            try OperatorCommand("mode A maintenance --for 90s").arguments
                == ["mode", "A", "maintenance", "--for", "90s", "--reason", "scenario"])
        #expect(
            try OperatorCommand("reset A --reason \"I looked\"").arguments
                == ["reset", "A", "--reason", "I looked"])
    }

    @Test func `an expectation has a subject, a time it counts from and a bound`() throws {
        let scenario = try Self.read(
            """
            steps: [{at_s: 2, name: silence, fault: bms_silence, unit: A}]
            expect:
              - {after: silence, within_s: 0.7, for_s: 5, unit: A, power_kw: 0, time_to_safe: true}
              - {from_s: 1, until_s: 9, unit: B, mode: [running, standby], why: the other one goes on}
              - {after: silence, within_s: 1, event: trip, cause: lost_bms}
              - {until_s: end, no_event: trip}
              - {within_s: 3, power_kw: [-5, 20]}
            """)
        #expect(
            scenario.expectations == [
                Expectation(
                    .power(-1...1), unit: "A", from: .seconds(2), after: "silence",
                    within: .milliseconds(700), hold: .for_(.seconds(5)), isTimeToSafe: true),
                Expectation(
                    .mode(["running", "standby"]), unit: "B", from: .seconds(1), hold: .until(.seconds(9)),
                    why: "the other one goes on"),
                Expectation(
                    .event("trip", cause: "lost_bms"), from: .seconds(2), after: "silence",
                    within: .seconds(1)),
                Expectation(.noEvent("trip", cause: nil), hold: .toTheEnd),
                Expectation(.power(-5...20), within: .seconds(3)),
            ])
    }

    // swift-format-ignore
    static let refused: [(text: String, part: String, why: Comment)] = [
        ("steps: [{at_s: 1}]", "a step has one of fault, clear, frequency_hz, site_load_kw", "a step that does nothing"),
        ("steps: [{at_s: 1, daemon: kill, run: ls}]", "two steps", "a step that does two things"),
        ("steps: [{at_s: 1, daemon: murder}]", "kill, trap, stop, continue", "no such way to end"),
        ("steps: [{at_s: 1, clear: fire, unit: A}]", "cell_overheat", "no such fault to clear"),
        ("steps: [{at_s: 1, clear: bms_silence}]", "unit", "which unit's"),
        ("steps: [{at_s: 1, frequency_hz: 80}]", "40.0 … 70.0", "no grid has that"),
        ("steps: [{at_s: 1, operator: jump}]", "reset UNIT, stop", "no such command"),
        ("steps: [{at_s: 1, operator: setpoint 5}]", "--for", "a power without end"),
        ("steps: [{at_s: 1, operator: setpoint 5 --for 9}]", "90s, 15m", "a time without unit"),
        ("steps: [{at_s: 1, operator: stop now}]", "a word too many", "a word too many"),
        ("steps: [{at_s: 1, operator: lease agc 5 --for 9s}]", "virtual tier alone", "ballastctl has no such word"),
        ("steps: [{at_s: 1, run: ls}]", "rig alone", "the host's shell is nobody's business"),
        ("steps: [{at_s: 1, daemon: kill, program: ballast-link}]", "the virtual tier has no", "not in one process"),
        ("steps: [{at_s: 1, times: 3, daemon: kill}]", "every_s", "how often, but not when"),
        ("steps: [{at_s: 1, name: a, daemon: kill}, {at_s: 2, name: a, daemon: kill}]", "there twice", "which one"),
        ("sites: 3", "virtual tier alone", "the host has one site"),
        ("steps: [{at_s: 31, daemon: kill}]", "ends before", "a step after the end"),
        ("expect: [{within_s: 1}]", "says nothing to look at", "no subject"),
        ("expect: [{within_s: 1, mode: running, trip: any}]", "two expectations", "two subjects"),
        ("expect: [{mode: running}]", "within_s", "no bound"),
        ("expect: [{within_s: 1, no_event: trip}]", "for_s", "an absence needs a time"),
        ("expect: [{within_s: 1, mode: flying}]", "offline, standby", "no such mode"),
        ("expect: [{within_s: 1, power_kw: [2, 1]}]", "above the most", "an empty range"),
        ("expect: [{within_s: 1, power_kw: [1, 2, 3]}]", "[least, most]", "no range"),
        ("expect: [{after: x, within_s: 1, mode: running}]", "no step has the name 'x'", "no such step"),
        ("expect: [{from_s: 5, until_s: 5, mode: running}]", "not after", "an empty time"),
        ("expect: [{from_s: 29, within_s: 2, mode: running}]", "beyond the end", "nobody looks any more"),
        ("expect: [{until_s: 9, for_s: 2, mode: running}]", "exclude", "two ends"),
        ("expect: [{within_s: 1, unit: A, daemon: dead}]", "concerns no unit", "a unit too many"),
        ("expect: [{within_s: 1, mode: running, size: 3}]", "no key here", "an unknown key"),
    ]

    @Test(arguments: refused)
    func `a mistake in a step or an expectation is refused with what is allowed`(
        text: String, part: String, why: Comment
    ) {
        let error = #expect(throws: ConfigError.self, why) { try Self.read(text) }
        #expect(error?.description.contains(part) == true, "\(error?.description ?? "no error")")
        #expect((error?.position.line ?? 0) >= 1)
    }

    // swift-format-ignore
    static let heads: [(text: String, part: String, why: Comment)] = [
        ("tiers: [virtual]\nsite: a", "why", "nobody knows why"),
        ("tiers: [virtual]\nwhy: a", "site", "of what site"),
        ("why: a", "tiers", "runs nowhere"),
        ("tiers: [moon]", "virtual, host, rig", "no such tier"),
        ("catalogue: [C1]", "such as C01", "no row"),
    ]

    @Test(arguments: heads)
    func `a scenario that is judged says why, of which site and where`(
        text: String, part: String, why: Comment
    ) {
        let error = #expect(throws: ConfigError.self, why) { try ScenarioTests.read(text) }
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

    // swift-format-ignore
    static let meters: [(fault: Fault, frequency: Double, power: Double, voltage: Double, why: Comment)] = [
        (.meterOffset(Hertz(0.3)), 50.3, 50, 1, "its clock is off"),
        (.meterReversed,           50,  -50, 1, "its current transformers are the wrong way round"),
        (.gridLoss,                 0,    0, 0, "nothing is there, and the inverters end their power"),
        (.meterOutlier(Hertz(0)),   0,   50, 1, "in the first 30 ms of each second"),
    ]

    @Test(arguments: meters)
    func `a faulty meter shows what its fault makes of the grid`(
        fault: Fault, frequency: Double, power: Double, voltage: Double, why: Comment
    ) throws {
        var site = try Self.site(Scenario())
        site.units[0].inverter.setpoint.write(.kilowatts(50))
        site.units[0].inverter.setpoint.enable()
        Self.advance(&site, by: .seconds(1))
        site.add(fault, unit: nil)
        Self.advance(&site, by: .seconds(1))
        #expect((site.meter.frequency - Hertz(frequency)).magnitude < Hertz(1e-9), why)
        #expect((site.meter.power - .kilowatts(power)).magnitude < Watts(1), why)
        #expect(site.meter.voltage == Fraction(voltage), why)
        site.clear(fault.kind, unit: nil)
        Self.advance(&site, by: .seconds(1))
        #expect((site.meter.power - .kilowatts(50)).magnitude < Watts(1), why)
        #expect(!site.hasFault)
    }

    @Test func `a frozen meter shows what it measured when it froze`() throws {
        var site = try Self.site(Scenario())
        site.frequencyOverride = Hertz(49.9)
        site.add(.meterFrozen, unit: nil)
        site.frequencyOverride = Hertz(50.1)
        #expect(site.meter.frequency == Hertz(49.9))
        site.clear(.meterFrozen, unit: nil)
        #expect(site.meter.frequency == Hertz(50.1))
    }

    @Test func `another master's setpoint comes back each second, whatever was written meanwhile`() throws {
        var site = try Self.site(Scenario())
        site.add(.inverterForeignWrites(.kilowatts(20)), unit: 0)
        Self.advance(&site, by: .milliseconds(500))
        site.units[0].inverter.setpoint.write(.zero)
        Self.advance(&site, by: .milliseconds(400))
        #expect(site.units[0].inverter.setpoint.value == .zero)
        Self.advance(&site, by: .milliseconds(200))
        #expect(site.units[0].inverter.setpoint.value == .kilowatts(20))
    }
}
