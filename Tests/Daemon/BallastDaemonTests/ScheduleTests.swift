import ControlSocket
import LinuxIO
import ProgramSupport
import Testing

extension BallastDaemonTests {
    @Suite struct ScheduleTests {
        static func time(_ seconds: Int64) -> String {
            WallClock.text(milliseconds: seconds * 1_000).replacing(".000Z", with: "Z")
        }

        static func row(_ start: Int64, _ end: Int64, _ kilowatts: Double) -> String {
            "\(time(start)),\(time(end)),\(kilowatts)\n"
        }

        /// One unit whose site has a schedule in a folder beside it.
        static func site() throws -> RunningSite {
            let site = try RunningSite.small()
            site.file.sections = ["schedule: week.csv"]
            site.file.control = ["base_point_kw: 15"]
            return site
        }

        static func write(_ rows: String, for site: RunningSite) throws {
            _ = try site.scratch.write("week.csv", "start_utc,end_utc,power_kw\n" + rows)
        }

        static var now: Int64 { WallClock.nowMilliseconds() / 1_000 }

        @Test func `a schedule makes the unit's power, and an operator's setpoint wins over it`() throws {
            let site = try Self.site()
            try Self.write(
                Self.row(Self.now - 7_200, Self.now - 600, 70)
                    + Self.row(Self.now - 600, Self.now + 7_200, -40), for: site)
            try site.startInService()
            try site.waitForSetpoints([-40])
            #expect(try site.status().base_point_by == "schedule")
            let why = try site.runTool(["why", "BESS_01", "--socket", site.controlSocket], status: 0).output
            #expect(why.contains("−40.0 kW; schedule asked −40.0"), "\(why)")

            let change = ["--reason", "test", "--socket", site.controlSocket]
            _ = try site.runTool(["setpoint", "25", "--for", "2h"] + change, status: 0)
            try site.waitForSetpoints([25])
            #expect(try site.status().base_point_by == "operator")

            _ = try site.runTool(["setpoint", "revoke"] + change, status: 0)
            try site.waitForSetpoints([-40])
            #expect(try site.status().base_point_by == "schedule")
        }

        @Test func `a gap in the schedule means the default`() throws {
            let site = try Self.site()
            try Self.write(
                Self.row(Self.now - 7_200, Self.now - 600, 70)
                    + Self.row(Self.now + 7_200, Self.now + 9_000, -40), for: site)
            try site.startInService()
            try site.waitForSetpoints([15])
            #expect(try site.status().base_point_by == "default")
        }

        @Test func `at the end of a row the default holds`() throws {
            let site = try Self.site()
            try site.startPlant()
            // Long enough for a slow machine to start the daemon, short enough to wait for.
            try Self.write(Self.row(Self.now - 600, Self.now + 20, -40), for: site)
            try site.startDaemon()
            try site.daemon.waitForLog(
                "base point of schedule is set (-40.0 kW)", "base point of schedule has lapsed")
            try site.waitForSetpoints([15])
            #expect(try site.status().base_point_by == "default")
        }

        @Test(arguments: [[], ["--check"]])
        func `a schedule with a mistake ends the start with status 78, naming file and line`(
            options: [String]
        ) throws {
            let site = try Self.site()
            try Self.write(Self.row(0, 900, 70) + Self.row(900, 1_800, 100.5), for: site)
            let path = try site.scratch.write("site.yaml", site.file.yaml(in: site.scratch))
            let daemon = try Program(
                Program.built("ballastd"), ["--config", path] + options, name: "ballastd", in: site.scratch)
            #expect(try daemon.exitStatus() == 78)
            let message = "\(site.scratch.path)/week.csv:3: power_kw is 100.5; allowed: -100.0 … 100.0"
            #expect(daemon.log.contains(message), "\(daemon.log)")
        }

        @Test func `the check shows the schedule and the keys of power sharing`() throws {
            let site = try Self.site()
            site.file.sections += ["power_sharing: {soc_balancing: 4}"]
            site.file.control += ["lapsed_lease: hold", "lapsed_lease_hold_s: 60"]
            try Self.write(Self.row(0, 900, 70) + Self.row(900, 1_800, 100), for: site)
            let path = try site.scratch.write("site.yaml", site.file.yaml(in: site.scratch))
            let daemon = try Program(
                Program.built("ballastd"), ["--config", path, "--check"], name: "ballastd", in: site.scratch)
            #expect(try daemon.exitStatus() == 0, "\(daemon.log)")
            for part in [
                "week.csv: 2 rows, 1970-01-01T00:00:00.000Z … 1970-01-01T00:30:00.000Z",
                "proportional, balance of charge gain 4.0",
                "15.0 kW by default; a lapsed lease: held for 60.0 s, then the next source",
            ] {
                #expect(daemon.output.contains(part), "\(daemon.output)")
            }
        }

        @Test func `the inverter is told its reactive power, and the unit runs`() throws {
            let site = try RunningSite.small()
            site.file.units[0].more = [
                "reactive_power: {mode: power_factor, power_factor: 0.95, excitation: over_excited}"
            ]
            try site.startInService()
            try site.daemon.waitForLog("reactive power is set as configured (SunSpec 704)")
        }

        @Test func `with minimum loss one of two units gives a small power, and says why`() throws {
            let site = try RunningSite()
            for index in 0...1 {
                let losses = "losses: {idle_kw: 1, linear_percent: \(index + 1), square_percent: 1}"
                site.file.units[index].more = [losses]
            }
            site.file.sections = ["power_sharing: {mode: minimum_loss}"]
            site.file.control = ["base_point_kw: 30"]
            try site.startInService()
            try site.waitForSetpoints([30, 0])
            let said = "0.0 kW; default asked 15.0; other units take part of it"
            try eventually("the ramp of its entry is over: \(said)") {
                let asked = ["why", "BESS_02", "--socket", site.controlSocket]
                return try site.runTool(asked, status: 0).output.contains(said)
            }
        }
    }
}
