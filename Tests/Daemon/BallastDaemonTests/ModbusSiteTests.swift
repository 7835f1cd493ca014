import ControlSocket
import Foundation
import ModbusBus
import ProgramSupport
import Testing
import YAMLText

@testable import BallastDaemon
@testable import SiteConfig

/// Devices by driver files, the site as a device, and a person's writes, with the real programs.
extension BallastDaemonTests {
    @Suite struct ModbusSiteTests {
        private static func driver(_ name: String) -> String {
            URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../../../config/drivers/\(name)").standardizedFileURL.path
        }

        @Test func `a site of devices without SunSpec runs by their driver files`() throws {
            let site = try RunningSite.small()
            let plant = site.file
            let inverter = try startPeer("register_device.py", ["hybrid"], name: "inverter", in: site.scratch)
            let meter = try startPeer("register_device.py", ["meter"], name: "meter", in: site.scratch)
            site.file.units[0].modbus = Unit.modbus(port: try inverter.ready())
            site.file.units[0].maxPowerKilowatts = 50
            site.file.units[0].more = ["driver: \(Self.driver("hybrid-inverter.yaml"))"]
            site.file.meter =
                Unit.modbus(port: try meter.ready()) + ", driver: \(Self.driver("energy-meter.yaml"))"
            site.file.control = ["base_point_kw: -12"]
            try meter.ask("set input 70 50.0 float")
            try site.startPlant(plant)
            try site.startDaemon()
            try site.waitForMode("running")
            try site.waitForStatus("it charges, and the meter's frequency is seen") { status in
                abs((status.units[0].power_kw ?? 0) + 12) < 0.5 && abs((status.frequency_hz ?? 0) - 50) < 0.01
            }
            #expect(try abs(Double(inverter.ask("get holding 13051 int32")).map { $0 - 12_000 } ?? 1e9) < 500)
            try meter.ask("set input 70 49.0 float")
            try site.waitForStatus("a low frequency discharges it") { ($0.units[0].power_kw ?? -1) > 1 }
            try site.daemon.end(by: SIGTERM)
            #expect(try inverter.ask("get holding 13051 int32") == "0", "left at zero")
        }

        @Test
        func `a driver of the wrong kind, or with an error, stops the start and names file, line and key`()
            throws
        {
            let site = try RunningSite.small()
            site.file.units[0].more = ["driver: \(Self.driver("energy-meter.yaml"))"]
            try site.startDaemon()
            #expect(try site.daemon.exitStatus() != 0)
            #expect(try site.daemon.log.contains("is for kind meter, not inverter"))
            let bad = try site.scratch.write("bad.yaml", "name: x\nkind: inverter\nregisters: []\nspeed: 3\n")
            site.file.units[0].more = ["driver: bad.yaml"]
            try site.startDaemon()
            #expect(try site.daemon.exitStatus() != 0)
            #expect(try site.daemon.log.contains("\(bad):4:1: speed: unknown key"))
        }

        @Test func `the example of a site with drivers is good, and --check says what its devices do alone`()
            throws
        {
            let scratch = try ScratchFolder()
            let example = URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../../../config/examples/driver-site.yaml").standardizedFileURL.path
            let check = try Program(
                Program.built("ballastd"), ["--config", example, "--check"], name: "check", in: scratch)
            #expect(try check.exitStatus() == 0, "\(check.log)")
            for text in [
                "Example hybrid inverter; by its driver it goes to zero after 10 s of silence",
                "modbus server   127.0.0.1:1502, device 1, at most 4 clients; may ask for a power: 127.0.0.1",
            ] { #expect(check.output.contains(text), "\(text)") }
        }

        @Test func `the site is a SunSpec device for pysunspec2, whose setpoint is a lease`() throws {
            let site = try RunningSite.small()
            let port = try FreePort.next()
            site.file.sections = ["modbus_server: {port: \(port), writers: [127.0.0.1], lease_s: 30}"]
            try site.startInService()
            let client = try startPeer("proxy_client.py", ["\(port)"], name: "client", in: site.scratch)
            _ = try client.ready()
            func read() throws -> [String: Any] {
                let line = try client.ask("read")
                return try #require(
                    try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
            }
            func number(_ any: Any?) -> Double { (any as? NSNumber)?.doubleValue ?? .nan }
            let first = try read()
            #expect(first["models"] as? [Int] == [1, 701, 702, 704, 713])
            #expect(first["maker"] as? String == "Ballast" && first["serial"] as? String == "test")
            #expect(number(first["rating"]) == 100_000)
            try eventually("it says that it runs") { try read()["state"] as? Int == 3 }
            #expect(first["other"] is NSNull, "what the site has not is not implemented")
            #expect(abs(number(first["hz"]) - 50) < 0.05)

            #expect(try client.ask("ask 20000 25") == "\"taken\"")
            try site.waitForStatus("the lease is the base point") {
                $0.base_point_by == "agc" && abs($0.base_point_kw - 20) < 0.01
            }
            try eventually("the client sees its power") {
                let now = try read()
                return abs(number(now["w"]) - 20_000) < 1_000 && now["enabled"] as? Int == 1
            }
            for line in [
                "poke 704 WSet 100001", "poke 704 WMaxLimPct 50", "poke 704 WSetMod 0", "poke 702 WMax 1",
                "poke 704 WSetRvrtTms 31", "poke 704 WSetRvrt 5",
            ] { #expect(try client.ask(line).contains("refused"), "\(line)") }
            #expect(try client.ask("release") == "\"taken\"")
            try site.waitForStatus("the default is back") { $0.base_point_by == "default" }
            #expect(try client.ask("ask -10000 1") == "\"taken\"")
            try site.waitForStatus("a short lease begins") { $0.base_point_by == "agc" }
            try site.waitForStatus("and lapses by itself") { $0.base_point_by == "default" }
            try eventually("the client is told") { try read()["enabled"] as? Int == 0 }
            let served = try Int(client.ask("crowd 12")) ?? 0
            #expect((3...4).contains(served), "four clients at once, and one may be here already")
        }

        @Test func `nobody but the writers writes, and mbpoll reads`() throws {
            let site = try RunningSite.small()
            let port = try FreePort.next()
            site.file.sections = ["modbus_server: {port: \(port)}"]
            try site.startInService()
            let client = try startPeer("proxy_client.py", ["\(port)"], name: "client", in: site.scratch)
            _ = try client.ready()
            #expect(try client.ask("poke 704 WSet 1000").contains("refused"))
            try site.daemon.waitForLog("modbus server: 127.0.0.1 was refused a write of register 40")
            let poll = try Program(
                "/usr/bin/mbpoll",
                [
                    "-m", "tcp", "-a", "1", "-r", "40001", "-c", "4", "-1", "-p", "\(port)", "-t", "4:hex",
                    "127.0.0.1",
                ],
                name: "mbpoll", in: site.scratch)
            #expect(try poll.exitStatus() == 0, "\(poll.output)\(poll.log)")
            for text in ["0x5375", "0x6E53", "0x0001", "0x0042"] { #expect(poll.output.contains(text)) }
        }

        @Test func `a person's write needs maintenance, and never reaches what is driven`() throws {
            let site = try RunningSite.small()
            let plant = site.file
            let inverter = try startPeer(
                "sunspec_device.py", ["tcp", "--models", "1,120,701,702,704,64001"], name: "inverter",
                in: site.scratch)
            let port = try inverter.ready()
            site.file.units[0].modbus = Unit.modbus(port: port)
            try site.startPlant(plant)
            try site.startDaemon()
            try site.waitForMode("running")
            let vendor = 40_000 + 2 + 68 + 28 + 155 + 52 + 67 + 3
            func write(_ rest: [String], status: Int) throws -> String {
                let result = try site.runTool(
                    [
                        "modbus", "write", "tcp://127.0.0.1:\(port)", "--unit", "1", "--reason", "test",
                        "--socket", site.controlSocket, "--yes",
                    ] + rest, status: status)
                return result.output + result.log
            }
            #expect(
                try write(["--address", "\(vendor)", "5"], status: 1).contains("not in maintenance"))
            _ = try site.runTool(
                [
                    "mode", "BESS_01", "maintenance", "--for", "10m", "--reason", "test", "--socket",
                    site.controlSocket,
                ], status: 0)
            try site.waitForMode("maintenance")
            #expect(try write(["--address", "\(vendor)", "5"], status: 0).contains("written: register"))
            #expect(try inverter.ask("get 1 64001 3") == "5")
            #expect(
                try write(["--model", "704", "--point", "WSet", "1000"], status: 1)
                    .contains("lies in SunSpec model 704"))
            #expect(try write(["--model", "702", "--point", "WMax", "9"], status: 1).contains("model 702"))
            try site.daemon.waitForLog("modbus write (", "(user id", "written: register \(vendor)")
            try site.daemon.end(by: SIGTERM)
            #expect(
                try write(["--address", "\(vendor)", "9"], status: 1).contains("nothing was written"),
                "a socket with nobody behind it may be the wrong one")
            #expect(try inverter.ask("get 1 64001 3") == "5")
            let straight = try write(["--address", "\(vendor)", "7", "--without-ballastd"], status: 0)
            #expect(straight.contains("no ballastd answers"))
            #expect(try inverter.ask("get 1 64001 3") == "7")
        }

        @Test func `a scan over TCP shows what the simulated site's inverter serves`() throws {
            let site = try RunningSite.small()
            try site.startPlant()
            let port = site.file.units[0].modbus.filter { $0.isNumber || $0 == " " }.split(separator: " ")
                .last
            let result = try site.runTool(
                ["modbus", "scan", "tcp://127.0.0.1:\(port ?? "")", "--units", "1"], status: 0)
            #expect(result.output.contains("unit 1: SunSpec at 40000"))
            for text in ["704 DER AC controls", "103 Inverter", "Mn Ballast", "SN BESS_01"] {
                #expect(result.output.contains(text), "\(text)")
            }
            let read = try site.runTool(
                [
                    "modbus", "read", "tcp://127.0.0.1:\(port ?? "")", "--unit", "1", "--address", "40000",
                    "--count", "2",
                ], status: 0)
            #expect(read.output == "40000 21365 0x5375\n40001 28243 0x6E53\n")
            let check = try site.runTool(
                ["modbus", "check", Self.driver("hybrid-inverter.yaml")], status: 0)
            #expect(check.output.contains("after silence: zero power"))
        }
    }
}
