import Foundation
import Glibc
import ProgramSupport
import SiteConfig
import SiteFile
import Testing
import YAMLText

@testable import BallastDaemon

/// What SIGHUP may change, and what takes a restart.
@Suite struct ReloadRuleTests {
    private static let base = """
        mode: simulation
        site: {id: a, import_limit_kw: 200, export_limit_kw: 200, site_load_max_kw: 5}
        control: {base_point_kw: 0, period_ms: 20, enter_service_s: 2}
        grid_integration: {nominal_frequency_hz: 50}
        power_sharing: {soc_balancing: 10}
        grid_meter: {modbus: {host: 127.0.0.1, port: 15020}}
        interlocks: {rows: [{id: cell_overvoltage, trip_v: 3.64}]}
        paths: {state_directory: ./x, control_socket: ./y}
        bess_units:
          - id: A
            campus_id: C
            capacity_kwh: 250
            max_power_kw: 100
            modbus: {host: 127.0.0.1, port: 15021}

        """

    private static func site(_ text: String) throws -> SiteConfig {
        try SiteConfig.read(YAMLText.parse(Array(text.utf8), file: "site.yaml"), file: "site.yaml")
    }

    // swift-format-ignore
    static let rows: [(from: String, to: String, change: String?, refusal: String?, why: Comment)] = [
        ("id: a", "id: a", nil, nil, "nothing has changed"),
        ("base_point_kw: 0", "base_point_kw: 15", "control.base_point_kw 0.0 → 15.0", nil, "wanted power is no limit"),
        ("import_limit_kw: 200", "import_limit_kw: 199", "import 199.0 kW, export 200.0 kW", nil, "narrower"),
        ("import_limit_kw: 200", "import_limit_kw: 201", nil, "site.import_limit_kw: wider", "wider"),
        ("export_limit_kw: 200", "export_limit_kw: 201", nil, "site.export_limit_kw: wider", "wider"),
        ("site_load_max_kw: 5", "site_load_max_kw: 6", "site limits", nil, "more is held back"),
        ("site_load_max_kw: 5", "site_load_max_kw: 4", nil, "site.site_load_max_kw: smaller", "less is held back"),
        ("site: {id: a, import_limit_kw: 200, export_limit_kw: 200, site_load_max_kw: 5}", "site: {id: a}", nil,
         "taken away", "no limit at all is wider than any"),
        ("id: a", "id: b", nil, "site.id: a change takes a restart", "a name"),
        ("mode: simulation", "mode: hil\n", nil, nil, "refused by the reader itself: this mode asks for more"),
        ("period_ms: 20", "period_ms: 30", nil, "control: a change takes a restart", "the cycle is under way"),
        ("enter_service_s: 2", "enter_service_s: 3", nil, "control: a change takes a restart", "the cycle's own"),
        ("frequency_hz: 50", "frequency_hz: 60", nil, "grid_integration: a change takes a restart", "the curve"),
        ("balancing: 10", "balancing: 11", nil, "power_sharing: a change takes a restart", "the core's own"),
        ("port: 15020", "port: 15022", nil, "grid_meter: a change takes a restart", "a wire"),
        ("trip_v: 3.64", "trip_v: 3.63", nil, "interlocks: a change takes a restart", "even where it is stricter"),
        ("state_directory: ./x", "state_directory: ./z", nil, "paths: a change takes a restart", "the lock is there"),
        ("max_power_kw: 100", "max_power_kw: 90", nil, "bess_units, unit A: a change takes a restart", "the slope"),
        ("id: A", "id: B", nil, "bess_units: a change takes a restart", "another unit"),
    ]

    @Test(arguments: rows)
    func `what may change at run time is taken over, the rest refuses the whole`(
        from: String, to: String, change: String?, refusal: String?, why: Comment
    ) throws {
        let old = try Self.site(Self.base)
        guard let new = try? Self.site(Self.base.replacing(from, with: to)) else {
            #expect(change == nil && refusal == nil, why)
            return
        }
        let reload = Reload(from: old, to: new)
        #expect(reload.changes.contains { $0.contains(change ?? "") } == (change != nil), "\(reload.changes)")
        #expect(reload.refusals.contains { $0.contains(refusal ?? "") } == (refusal != nil), why)
        if refusal != nil { #expect(reload.changes.isEmpty && reload.commands.isEmpty, "all or nothing") }
        let both = try? Self.site(
            Self.base.replacing(from, with: to).replacing("base_point_kw: 0", with: "base_point_kw: 7"))
        if refusal != nil, let both {
            #expect(Reload(from: old, to: both).commands.isEmpty, "all or nothing")
        }
    }
}

extension BallastDaemonTests {
    @Suite struct ReloadTests {
        private func rewrite(_ site: RunningSite, _ change: (inout SiteFile) -> Void) throws {
            change(&site.file)
            _ = try site.scratch.write("site.yaml", site.file.yaml(in: site.scratch))
            try site.daemon.send(SIGHUP)
        }

        @Test func `SIGHUP takes over what may change, and refuses the rest with its reason`() throws {
            let site = try RunningSite.small()
            site.file.control = ["base_point_kw: 5"]
            try site.startInService()
            try site.waitForSetpoints([5])

            try rewrite(site) { $0.control = ["base_point_kw: 15"] }
            try site.daemon.waitForLog("was read anew: control.base_point_kw 5.0 → 15.0")
            try site.waitForSetpoints([15])

            try rewrite(site) { $0.control = ["base_point_kw: 25", "period_ms: 30"] }
            try site.daemon.waitForLog("what holds goes on: control: a change takes a restart")
            try rewrite(site) { $0.control = ["base_point_kw: many"] }
            try site.daemon.waitForLog("what holds goes on: \(site.configuration):3:")
            try site.waitForSetpoints([15])

            let rows = "schedule: week.csv"
            try ScheduleTests.write(
                ScheduleTests.row(ScheduleTests.now - 600, ScheduleTests.now + 7_200, -20), for: site)
            try rewrite(site) {
                $0.control = ["base_point_kw: 15"]
                $0.sections = [rows]
            }
            try site.daemon.waitForLog("was read anew: schedule")
            try site.waitForSetpoints([-20])
            try rewrite(site) { $0.sections = [] }
            try site.waitForSetpoints([15])
            #expect(try site.unit(0).mode == "running")
            #expect(try !site.daemon.log.contains("running →"))
        }

        @Test func `SIGTERM goes to zero over the ramp, and no longer than its limit`() throws {
            let site = try RunningSite.small()
            site.file.control = ["base_point_kw: 40", "stop_limit_s: 15"]
            site.file.rampKilowattsPerSecond = 20
            try site.startInService()
            try site.waitForSetpoints([40])
            try site.simulate("latency reset")
            try site.daemon.send(SIGTERM)
            var seen: Set<Int> = []
            try site.waitForTruth("zero") { truth in
                seen.insert(Int(truth.units[0].setpoint_w / 4_000))
                return truth.units[0].setpoint_w == 0
            }
            #expect(seen.count >= 4, "not one step: \(seen.sorted())")
            #expect(try site.daemon.exitStatus() == 0)
            try site.daemon.waitForLog("stopping: units go to zero power", "running → stopping", "stopped")
        }

        @Test func `a second SIGTERM ends at once, with zero written all the same`() throws {
            let site = try RunningSite.small()
            site.file.control = ["base_point_kw: 40", "stop_limit_s: 15"]
            site.file.rampKilowattsPerSecond = 1
            try site.startInService()
            try site.waitForStatus("power") { $0.setpoint_kw > 4 }
            try site.daemon.send(SIGTERM)
            try site.daemon.waitForLog("stopping: units go to zero power")
            #expect(try site.daemon.end(by: SIGTERM) == 0)
            #expect(try site.truth().units[0].setpoint_w == 0)
            #expect(try site.truth().units[0].reversions == 0)
            #expect(try !site.daemon.log.contains("running → stopping"), "it did not wait for the ramp")
        }
    }
}
