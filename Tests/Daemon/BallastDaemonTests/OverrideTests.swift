import ControlSocket
import Glibc
import ProgramSupport
import Recorder
import Testing

extension BallastDaemonTests {
    @Suite struct OverrideTests {
        @Test func `an operator moves one unit alone, and takes it to standby, with a reason and a time`()
            throws
        {
            let site = try RunningSite()
            site.file.control = ["base_point_kw: 40"]
            try site.startInService()
            try site.waitForSetpoints([20, 20])
            let change = ["--reason", "test of unit 1", "--socket", site.controlSocket]

            let done = try site.runTool(
                ["setpoint", "-30", "--unit", "BESS_01", "--for", "2h"] + change, status: 0)
            #expect(done.output.contains("unit BESS_01 is asked for -30.0 kW for 7200.0 s"), "\(done.output)")
            try site.waitForSetpoints([-30, 70])
            try site.daemon.waitForLog("asks: setpoint BESS_01 -30.0 kW for 7200.0 s: test of unit 1")
            try site.daemon.waitForLog("unit BESS_01: an operator's power for this unit is set (-30.0 kW)")
            let why = try site.runTool(["why", "BESS_01", "--socket", site.controlSocket], status: 0).output
            #expect(why.contains("−30.0 kW; operator ("), "\(why)")
            #expect(why.contains(": test of unit 1), of this unit alone, asked −30.0"), "\(why)")

            _ = try site.runTool(["setpoint", "revoke", "--unit", "BESS_01"] + change, status: 0)
            try site.waitForSetpoints([20, 20])

            _ = try site.runTool(["mode", "BESS_02", "standby", "--for", "2h"] + change, status: 0)
            try site.waitForMode("standby", of: 1)
            try site.waitForSetpoints([40, 0])
            _ = try site.runTool(["mode", "BESS_02", "auto"] + change, status: 0)
            try site.waitForMode("running", of: 1)
            try site.waitForSetpoints([20, 20])
        }

        @Test(arguments: ["maintenance", "standby"])
        func `a unit that was taken out stays out when the daemon is killed and starts again`(
            mode: String
        ) throws {
            let site = try RunningSite.small()
            try site.startInService()
            let change = ["--reason", "fan replaced", "--socket", site.controlSocket]
            _ = try site.runTool(["mode", "BESS_01", mode, "--for", "2h"] + change, status: 0)
            try site.waitForMode(mode)
            let path = LatchRecord.path(in: site.scratch.path + "/state")
            try eventually("it is on disk") {
                guard case .read(let record) = LatchRecord.read(path) else { return false }
                return record.absences.map(\.kind.rawValue) == [mode]
            }
            try site.daemon.end(by: SIGKILL)

            try site.startDaemon()
            try site.daemon.waitForLog("unit BESS_01 stays in \(mode) by ")
            try site.waitForMode(mode)
            // Long enough to enter service, had it been forgotten.
            let seen = try site.status().cycle
            try site.waitForStatus("it stays there") { $0.cycle > seen + 100 }
            #expect(try site.unit(0).mode == mode)
            _ = try site.runTool(["mode", "BESS_01", "auto"] + change, status: 0)
            try site.bringBack()
        }

        // swift-format-ignore
        static let refused: [(arguments: [String], status: Int, words: String, why: Comment)] = [
            (["setpoint", "5", "--unit", "BESS_01", "--for", "1h"],               64, "--reason", "no reason"),
            (["setpoint", "5", "--unit", "BESS_01", "--reason", "x"],             64, "--for", "no end"),
            (["setpoint", "5", "--unit", "BESS_9", "--for", "1h", "--reason", "x"], 1,
             "no such unit; the units are BESS_01", "an unknown unit"),
            (["setpoint", "revoke", "--unit", "BESS_9", "--reason", "x"],          1, "no such unit", "here too"),
            (["mode", "BESS_01", "standby", "--reason", "x"],                      64, "--for", "no end"),
            (["mode", "BESS_01", "standby", "--for", "13h", "--reason", "x"],      1, "for_s is 46800.0 s; allowed",
             "longer than a shift"),
        ]

        @Test func `a change without a reason, an end or a known unit is refused`() throws {
            let site = try RunningSite.small()
            try site.startDaemon()
            try site.waitForMode("offline")
            for row in Self.refused {
                let tool = try site.runTool(
                    row.arguments + ["--socket", site.controlSocket], status: row.status)
                #expect(tool.log.contains(row.words), row.why)
            }
        }
    }
}
