import BallastSimulator
import Glibc
import ProgramSupport
import Quantities
import Scenario
import SiteConfig
import SiteFile
import Testing
import YAMLText

@testable import VirtualSite

/// The folder of the project.
let project = #filePath.split(separator: "/").dropLast(4).reduce("") { $0 + "/" + $1 }

@Suite struct ScenarioFileTests {
    static let files: [String] = {
        let folder = project + "/hil/scenarios"
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasSuffix(".yaml") { names.append(folder + "/" + name) }
        }
        return names.sorted()
    }()

    /// Those that name the tier virtual.
    static let judged: [String] = files.filter { file in
        guard let scenario = try? Scenario(try YAMLText.load(path: file), file: file) else { return true }
        return scenario.tiers.contains(.virtual)
    }

    @Test func `there are scenarios, and every file is one`() throws {
        #expect(!Self.judged.isEmpty)
        for file in Self.files { _ = try Scenario(try YAMLText.load(path: file), file: file) }
    }

    /// A few in this build; `hil/test` runs all of them with optimisation, which a minute of site time wants.
    @Test(arguments: judged.filter { file in ["010", "022", "044"].contains { file.contains("/\($0)-") } })
    func `what a scenario expects comes true in virtual time, and every invariant holds`(file: String) {
        let outcome = ScenarioRunner.run(path: file)
        #expect(outcome.isPassed, "\(RunTable.failures(outcome))")
    }
}

@Suite struct VirtualSiteTests {
    static let head = """
        why: a test
        tiers: [virtual]
        site: site.yaml

        """

    static func run(
        _ text: String, site: String = "config/examples/demo-site.yaml", defect: SeededDefect? = nil
    ) throws -> RunOutcome {
        let scenario = try Scenario(
            try YAMLText.parse(Array((head + text).utf8), file: "s.yaml"), file: "s.yaml")
        let files = try SimulationFiles.load(site: project + "/" + site, scenario, at: "")
        return ScenarioRunner.run(files, path: "s.yaml", defect: defect)
    }

    @Test func `the same scenario gives the same run, to the last bit`() throws {
        let text = """
            duration_s: 8
            steps:
              - {at_s: 1, operator: setpoint 60 --for 60s}
              - {at_s: 2, frequency_hz: 49.8}
              - {at_s: 3, fault: bms_jitter, unit: BESS_01}
            """
        let (one, other) = (try Self.run(text), try Self.run(text))
        #expect(one.history == other.history)
        #expect(one.history.samples.count == 400)
    }

    @Test func `an expectation that is not met fails the run and says what was there`() throws {
        let outcome = try Self.run("expect: [{within_s: 2, unit: BESS_01, mode: tripped}]")
        #expect(!outcome.isPassed)
        #expect(RunTable.text(outcome).contains("running"))
    }

    /// At 40 kW out of 20 kWh the charge falls by 0.06 % a second, and each site is met 140 ms later than the one
    /// before it: what the first has is not what the tenth has.
    @Test func `of many sites that live through a scenario the one that fails is named`() throws {
        let scratch = try ScratchFolder()
        _ = try scratch.write(
            "site.yaml",
            """
            mode: simulation
            site: {id: small}
            control: {enter_service_s: 1, ramp_kw_per_s: 100, base_point_kw: 40}
            grid_integration: {frequency_sources: [{source: meter}]}
            grid_meter: {modbus: {host: 127.0.0.1, port: 15170}, poll_ms: 20}
            bess_units:
              - id: A
                campus_id: C
                capacity_kwh: 20
                max_power_kw: 100
                bms: {transport: "cannelloni:127.0.0.1:20117", period_ms: 200}
                modbus: {host: 127.0.0.1, port: 15171}
            paths: {state_directory: ./run/state, control_socket: ./run/control.sock}
            """)
        func run(_ text: String) throws -> RunOutcome {
            ScenarioRunner.run(
                path: try scratch.write("scenario.yaml", Self.head + "duration_s: 0.2\n" + text))
        }
        let first = try run("")
        #expect(first.isPassed, "\(RunTable.failures(first))")
        let charge = try #require(first.history.samples.first?.units.first?.stateOfCharge.percent)
        let bound = "expect: [{until_s: end, soc_percent: [\(charge - 0.04), \(charge + 0.04)]}]"
        let (few, many) = (try run("sites: 3\n" + bound), try run("sites: 12\n" + bound))
        #expect(few.isPassed && few.site == nil, "\(RunTable.failures(few))")
        #expect(!many.isPassed && many.site?.hasSuffix(" of 12") == true, "\(RunTable.failures(many))")
        #expect(RunTable.failures(many).contains("site \(many.site ?? "-")"))
    }

    @Test func `a killed daemon that is started again holds every unit, and a trip outlives it`() throws {
        let outcome = try Self.run(
            """
            duration_s: 14
            steps:
              - {at_s: 1, fault: bms_alarm, unit: BESS_01}
              - {at_s: 3, clear: bms_alarm, unit: BESS_01}
              - {at_s: 4, name: kill, daemon: kill}
              - {at_s: 5, name: start, daemon: restart}
            expect:
              - {from_s: 2, within_s: 0.5, unit: BESS_01, trip: bms_alarm}
              - {after: kill, within_s: 0.1, for_s: 0.8, daemon: dead}
              - {after: start, within_s: 0.5, until_s: end, unit: BESS_01, trip: bms_alarm}
              - {after: start, within_s: 1, until_s: end, unit: BESS_02, hold: after_restart}
              - {after: start, within_s: 0.5, event: unplanned_restart}
            """)
        #expect(outcome.isPassed, "\(RunTable.failures(outcome))")
    }

    @Test func `a daemon that ended in order starts again without a hold`() throws {
        let outcome = try Self.run(
            """
            duration_s: 20
            steps:
              - {at_s: 1, operator: setpoint 60 --for 300s}
              - {at_s: 3, name: end, daemon: terminate}
              - {at_s: 8, name: start, daemon: restart}
            expect:
              - {after: end, within_s: 2, for_s: 2, power_kw: 0}
              - {after: end, within_s: 3, daemon: dead}
              - {after: start, within_s: 8, mode: running}
            """)
        #expect(outcome.isPassed, "\(RunTable.failures(outcome))")
    }

    @Test func `while the daemon stands still the inverters' own timers end their power`() throws {
        let outcome = try Self.run(
            """
            duration_s: 20
            steps:
              - {at_s: 1, operator: setpoint 60 --for 300s}
              - {at_s: 4, name: stop, daemon: stop}
            expect:
              - {from_s: 3, within_s: 0.5, power_kw: [55, 65]}
              - {after: stop, within_s: 11, for_s: 3, power_kw: 0}
            """)
        #expect(outcome.isPassed, "\(RunTable.failures(outcome))")
    }

    static let defects: [(defect: SeededDefect, invariant: Invariant, steps: String)] = [
        (
            .writesTooMuch, .setpointWithinLimits,
            "duration_s: 4\nsteps: [{at_s: 0.5, operator: setpoint 180 --for 60s}]"
        ),
        (
            .neverStale, .noPowerOnStaleEvidence,
            """
            duration_s: 6
            steps:
              - {at_s: 0.5, operator: setpoint 60 --for 60s}
              - {at_s: 2, fault: bms_silence, unit: BESS_01}
            """
        ),
        (
            .forgetsLatches, .tripStaysUntilReset,
            """
            duration_s: 7
            steps:
              - {at_s: 1, fault: bms_alarm, unit: BESS_01}
              - {at_s: 3, clear: bms_alarm, unit: BESS_01}
              - {at_s: 4, daemon: kill}
              - {at_s: 5, daemon: restart}
            """
        ),
        (
            .keepsNoCopy, .latchesOutliveRuns,
            """
            duration_s: 9
            steps:
              - {at_s: 0.5, disk: slow}
              - {at_s: 1, fault: inverter_fault, unit: BESS_01}
              - {at_s: 2, clear: inverter_fault, unit: BESS_01}
              - {at_s: 3, daemon: kill}
              - {at_s: 4, daemon: restart}
            """
        ),
        (
            .ignoresReload, .siteLimits,
            """
            duration_s: 6
            steps:
              - {at_s: 0.5, operator: setpoint 150 --for 60s}
              - {at_s: 3, configuration: export_limit_kw 50}
            """
        ),
        (
            .sleepsOn, .noPowerOnStaleEvidence,
            """
            duration_s: 8
            steps:
              - {at_s: 0.5, operator: setpoint 60 --for 60s}
              - {at_s: 3, suspend_s: 3}
            """
        ),
    ]

    @Test(arguments: defects)
    func `a defect of ours is found by the invariant that stands against it, and by no other run`(
        defect: SeededDefect, invariant: Invariant, steps: String
    ) throws {
        func isFound(_ outcome: RunOutcome) -> Bool {
            outcome.verdict.invariants.contains { $0.invariant == invariant && $0.judgement.isFailed }
        }
        #expect(isFound(try Self.run(steps, defect: defect)))
        #expect(!isFound(try Self.run(steps)))
    }

    @Test func `a result stands in a table, in JSON and in a drawing`() throws {
        let outcome = try Self.run(
            """
            catalogue: [B11]
            steps: [{at_s: 1, name: alarm, fault: bms_alarm, unit: BESS_01}]
            expect: [{after: alarm, within_s: 1, unit: BESS_01, mode: tripped, time_to_safe: true}]
            """)
        #expect(RunTable.text(outcome).contains("measured 0."))
        let json = RunJSON.text([outcome])
        #expect(json.contains("\"catalogue\": [\"B11\"]"))
        #expect(json.contains("\"does\": \"bms_alarm BESS_01\""))
        #expect(!json.contains("\"time_to_safe_s\": null"))
        let svg = RunPlot(outcome).svg
        #expect(svg.hasPrefix("<svg") && svg.contains("bms_alarm BESS_01") && svg.contains("tripped"))
    }
}

@Suite struct RandomScenarioTests {
    static let site = project + "/hil/scenarios/sites/mixed.yaml"

    @Test func `a seed gives the same file every time, and another seed another one`() throws {
        let config = try SiteConfig.load(path: Self.site)
        func script(_ seed: UInt64) -> RandomScenario.Script {
            RandomRunner.script(seed: seed, site: config, sitePath: Self.site)
        }
        #expect(script(7) == script(7))
        #expect(script(7) != script(8))
    }

    @Test func `every seed's file is a scenario`() throws {
        let config = try SiteConfig.load(path: Self.site)
        for seed in UInt64(1)...300 {
            let text = RandomRunner.script(seed: seed, site: config, sitePath: Self.site).yaml
            _ = try Scenario(try YAMLText.parse(Array(text.utf8), file: "\(seed)"), file: "\(seed)")
        }
    }

    /// Two in this build; `hil/test` runs four thousand with optimisation.
    @Test(arguments: UInt64(1)...2)
    func `whatever goes wrong together, the safety invariants hold`(seed: UInt64) {
        let failure = RandomRunner.run(seed: seed, sitePath: Self.site)
        let again = "again: ballast-sim random --seed \(seed)"
        #expect(failure == nil, "\(failure.map { RunTable.failures($0.outcome) } ?? "") \(again)")
    }
}
