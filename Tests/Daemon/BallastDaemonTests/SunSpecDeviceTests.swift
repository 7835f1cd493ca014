import Foundation
import ProgramSupport
import Testing

extension BallastDaemonTests {
    /// What a SunSpec device offers besides model 704, by the real programs.
    @Suite struct SunSpecDeviceTests {
        /// A point as a scan of the simulated inverter shows it.
        private func point(_ name: String, _ site: RunningSite) throws -> Double {
            let port = site.file.units[0].modbus.split(separator: " ").last?.filter(\.isNumber) ?? ""
            let text = try site.runTool(
                ["modbus", "scan", "tcp://127.0.0.1:\(port)", "--units", "1"], status: 0
            ).output
            let words = text.split(whereSeparator: \.isWhitespace)
            // A point that can be written has a star.
            let index = try #require(
                words.lastIndex { $0 == name || $0 == name + "*" }, "\(name) in \(text)")
            return try #require(Double(words[index + 1]), "\(name) in \(text)")
        }

        @Test func `the heartbeat of 715 goes up while the daemon lives, and stands when it has gone`() throws
        {
            let site = try RunningSite.small()
            try site.startInService()
            let first = try point("ControllerHb", site)
            try eventually("it goes up") { try point("ControllerHb", site) >= first + 2 }
            #expect(try site.daemon.end(by: SIGKILL) == 128 + Int(SIGKILL))
            let last = try point("ControllerHb", site)
            let device = try point("DERHb", site)
            try eventually("the device's own goes on") { try point("DERHb", site) >= device + 2 }
            #expect(try point("ControllerHb", site) == last)
        }

        @Test
        func `an inverter with 124 alone is driven by its rates, and proves what it does after silence`()
            throws
        {
            let site = try RunningSite.small()
            try site.startPlant(options: ["--without-704"])
            try site.startDaemon()
            try site.waitForMode("running")
            try site.simulate("frequency 49.5")
            try site.waitForTruth("discharge by the rates") { abs($0.units[0].power_w - 18_800) < 200 }
            try site.simulate("frequency 50.5")
            try site.waitForTruth("charge by the rates") { $0.units[0].power_w < -10_000 }
            try site.simulate("frequency 50")
            #expect(try site.unit(0).reversion == "not proven")
            let result = try site.runTool(
                [
                    "commission", "reversion", "BESS_01", "--reason", "on site", "--socket",
                    site.controlSocket,
                ], status: 0)
            #expect(result.output.contains("unit BESS_01: proven: zero after "), "\(result.output)")
            #expect(try point("StorCtl_Mod", site) == 3, "and it is driven again")
        }

        @Test func `killed, an inverter with 124 alone is taken to zero by the safe output's plan`() throws {
            let site = try RunningSite.small()
            site.file.units[0].reversionSeconds = 8
            try site.startPlant(options: ["--without-704"])
            try site.startDaemon()
            try site.waitForMode("running")
            try site.simulate("frequency 49.5")
            try site.waitForTruth("power flows") { $0.units[0].power_w > 10_000 }
            let plan = site.scratch.path + "/state/wires"
            try eventually("the plan knows its rates") {
                try String(contentsOfFile: plan, encoding: .utf8).contains("registers BESS_01")
            }
            try site.daemon.end(by: SIGKILL)
            let safe = try site.runDaemon(["--safe-output", "--config", site.configuration])
            #expect(safe.log.contains("BESS_01"), "\(safe.log)\(safe.output)")
            try site.waitForTruth("zero") { abs($0.units[0].power_w) < 1 }
            #expect(try site.truth().units[0].reversions == 0, "before its own timer")
        }

        @Test func `sunspec_123_cap limits the device itself beside the setpoint, and outlasts the daemon`()
            throws
        {
            let site = try RunningSite.small()
            let plant = site.file
            site.file.units[0].maxPowerKilowatts = 60
            site.file.units[0].more = ["sunspec_123_cap: true"]
            try site.startPlant(plant)
            try site.startDaemon()
            try site.waitForMode("running")
            try site.daemon.waitForLog("limits its own output to 60")
            #expect(try point("WMaxLimPct", site) == 60)
            try site.simulate("frequency 49.5")
            try site.waitForTruth("it is 704 that sets the power") { $0.units[0].power_w > 5_000 }
            try site.daemon.end(by: SIGKILL)
            try site.waitForTruth("and 704 that takes it to zero") {
                $0.units[0].power_w == 0 && $0.units[0].reversions == 1
            }
        }
    }
}
