import Foundation
import ProgramSupport
import Testing

extension BallastDaemonTests {
    /// A person's write to a device that the running daemon looks after.
    @Suite struct ModbusWriteTests {
        private struct Setup {
            var site: RunningSite
            var inverter: Program
            var port: String

            func write(_ rest: [String], status: Int) throws -> String {
                let result = try site.runTool(arguments + ["--yes"] + rest, status: status)
                return result.output + result.log
            }

            var arguments: [String] {
                [
                    "modbus", "write", "tcp://127.0.0.1:\(port)", "--unit", "1", "--reason", "a test",
                    "--socket", site.controlSocket,
                ]
            }

            func enterMaintenance() throws {
                _ = try site.runTool(
                    [
                        "mode", "BESS_01", "maintenance", "--for", "10m", "--reason", "test", "--socket",
                        site.controlSocket,
                    ], status: 0)
                try site.waitForMode("maintenance")
            }
        }

        private func setup(_ script: String, _ arguments: [String], driver: String? = nil) throws -> Setup {
            let site = try RunningSite.small()
            let plant = site.file
            let inverter = try startPeer(script, arguments, name: "inverter", in: site.scratch)
            let port = try inverter.ready()
            site.file.units[0].modbus = Unit.modbus(port: port)
            site.file.units[0].maxPowerKilowatts = 50
            if let driver {
                let path = URL(filePath: #filePath).deletingLastPathComponent()
                    .appending(path: "../../../config/drivers/\(driver)").standardizedFileURL.path
                site.file.units[0].more = ["driver: \(path)"]
            }
            try site.startPlant(plant)
            try site.startDaemon()
            try site.waitForMode("running")
            return Setup(site: site, inverter: inverter, port: port)
        }

        // swift-format-ignore
        static let registers: [(address: Int, said: String, status: Int, why: Comment)] = [
            (13_051, "the driver drives it",               1, "the setpoint"),
            (13_053, "the driver drives it",               1, "the reversion's time"),
            (13_049, "the driver drives it",               1, "the mode that is written at takeover"),
            (13_060, "the device's driver file protects it", 1, "device protection"),
            (13_058, "written: register 13058",            0, "nobody's"),
        ]

        @Test func `what a driver file drives or protects is refused always, the rest in maintenance only`()
            throws
        {
            let setup = try setup("register_device.py", ["hybrid"], driver: "hybrid-inverter.yaml")
            for row in Self.registers {
                #expect(
                    try setup.write(["--address", "\(row.address)", "1"], status: 1).contains(
                        "not in maintenance"),
                    row.why)
            }
            try setup.enterMaintenance()
            for row in Self.registers {
                let before = setup.site.occurrences(of: "modbus write (")
                #expect(
                    try setup.write(["--address", "\(row.address)", "1"], status: row.status).contains(
                        row.said),
                    row.why)
                try eventually("an event of its own: \(row.address)") {
                    setup.site.occurrences(of: "modbus write (") == before + 1
                }
            }
            #expect(try setup.inverter.ask("get holding 13058") == "1")
            #expect(try setup.inverter.ask("get holding 13060") == "8000", "never touched")
            #expect(try setup.inverter.ask("get holding 13051 int32") == "0")
        }

        @Test func `it asks first, and without a clear yes nothing is written nor asked of the daemon`()
            throws
        {
            let setup = try setup("sunspec_device.py", ["tcp", "--models", "1,120,701,702,704,64001"])
            try setup.enterMaintenance()
            let vendor = 40_000 + 2 + 68 + 28 + 155 + 52 + 67 + 3
            let before = try setup.inverter.ask("get 1 64001 3")
            for (number, answer) in ["n", "", "yes please", "y"].enumerated() {
                let tool = try Program(
                    Program.built("ballastctl"), setup.arguments + ["--address", "\(vendor)", "5"],
                    name: "write\(number)", in: setup.site.scratch)
                try tool.type(answer)
                let isYes = answer == "y"
                #expect(try tool.exitStatus() == (isYes ? 0 : 1), "'\(answer)'")
                #expect(tool.output.contains("becomes [5]? [y/N]"), "\(tool.output)")
                #expect(tool.log.contains("nothing was written") == !isYes)
                #expect(try setup.inverter.ask("get 1 64001 3") == (isYes ? "5" : before))
                #expect(setup.site.occurrences(of: "modbus write (") == (isYes ? 1 : 0))
            }
        }

        @Test func `coils of ours, and devices that the site does not have, are refused`() throws {
            let scratch = try ScratchFolder()
            let unit = try Unit.withContactors("BESS_01")
            let site = RunningSite(SiteFile(units: [unit], meter: try Unit.freeModbus()), in: scratch)
            try site.startInService()
            let module = try #require(unit.more.first { $0.contains("modbus:") })
            let port = module.filter(\.isNumber).dropFirst(6)
            func write(_ place: String, _ rest: [String]) throws -> String {
                let result = try site.runTool(
                    [
                        "modbus", "write", place, "--unit", "1", "--reason", "test", "--socket",
                        site.controlSocket, "--yes",
                    ] + rest, status: 1)
                return result.output + result.log
            }
            _ = try site.runTool(
                [
                    "mode", "BESS_01", "maintenance", "--for", "10m", "--reason", "test", "--socket",
                    site.controlSocket,
                ], status: 0)
            try site.waitForMode("maintenance")
            #expect(
                try write("tcp://127.0.0.1:\(port)", ["--address", "0", "--coils", "1"])
                    .contains("the driver drives it"))
            #expect(try site.truth().units[0].coils == [])
        }
    }
}
