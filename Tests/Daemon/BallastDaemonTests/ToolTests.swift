import BallastSimulator
import Foundation
import Glibc
import ProgramSupport
import Testing

extension BallastDaemonTests {
    @Suite struct ToolTests {
        /// The last word of a key that carries a number.
        private static let units = ["kw", "hz", "ms", "us", "s", "v", "a", "c", "percent", "wh"]
        private static let counters = ["cycle", "overruns"]
        private static let flags = ["stopped", "latches_saved"]

        /// Keys of numbers without a unit, outside the links' counters.
        private func bareNumbers(_ value: Any, key: String = "") -> [String] {
            switch value {
            case let object as [String: Any]:
                return object.filter { $0.key != "counters" }.flatMap { bareNumbers($0.value, key: $0.key) }
            case let list as [Any]: return list.flatMap { bareNumbers($0, key: key) }
            case is NSNumber:
                let unit = key.split(separator: "_").last.map(String.init) ?? ""
                return Self.units.contains(unit) || Self.counters.contains(key)
                    || Self.flags.contains(key) ? [] : [key]
            // Text and null.
            default: return []
            }
        }

        @Test func `the status is a page for people, and JSON whose numbers carry their units`() throws {
            let site = try RunningSite()
            try site.startInService()
            let socket = ["--socket", site.controlSocket]

            let json = try site.runTool(["status", "--json"] + socket, status: 0).output
            let object = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
            let status = try #require(object)
            #expect(bareNumbers(status) == [])
            let charges = (status["units"] as? [[String: Any]])?.compactMap { $0["soc_percent"] as? Double }
            #expect(charges?.count == 2 && charges?.allSatisfy { (59...61).contains($0) } == true)

            let page = try site.runTool(["status"] + socket, status: 0).output
            for part in [
                "site test (simulation)", "frequency 50.0 Hz", "BESS_01", "BESS_02", "running",
                "can \(site.file.units[0].transport): ", "modbus \(site.scratch.path)/rtu",
            ] {
                #expect(page.contains(part), "\(page)")
            }
            let timing = try site.runTool(["timing"] + socket, status: 0).output
            #expect(timing.contains("period 20.0 ms") && timing.contains("lateness"), "\(timing)")
        }

        @Test func `the log is what journalctl has for the operator, explained if asked`() throws {
            let scratch = try ScratchFolder()
            let fake = try scratch.write("journalctl", "#!/bin/sh\necho \"$@\"\n")
            chmod(fake, 0o755)
            func asked(_ arguments: [String]) throws -> String {
                let tool = try Program(
                    Program.built("ballastctl"), ["log"] + arguments, environment: ["PATH=\(scratch.path)"],
                    name: "ballastctl\(arguments.count)", in: scratch)
                #expect(try tool.exitStatus() == 0, "\(tool.log)")
                return tool.output
            }
            #expect(try asked([]) == "--unit=ballastd.service --priority=notice\n")
            #expect(
                try asked(["--explain", "--all", "--since", "-1h", "BALLAST_UNIT=BESS_01"])
                    == "--unit=ballastd.service --catalog --since=-1h BALLAST_UNIT=BESS_01\n")
        }

        @Test func `without a daemon the tool says what to look at`() throws {
            let scratch = try ScratchFolder()
            let socket = scratch.path + "/control"
            let tool = try Program(
                Program.built("ballastctl"), ["status", "--socket", socket], name: "ballastctl", in: scratch)
            #expect(try tool.exitStatus() == 1)
            #expect(
                tool.log.contains("\(socket): connect: No such file or directory; does ballastd run"),
                "\(tool.log)")
        }

        @Test func `an unknown unit is refused with the names of the known`() throws {
            let site = try RunningSite.small()
            try site.startDaemon()
            try site.waitForMode("offline")
            let tool = try site.runTool(
                ["reset", "BESS_9", "--reason", "test", "--socket", site.controlSocket], status: 1)
            #expect(tool.log.contains("no such unit; the units are BESS_01"), "\(tool.log)")
        }

        @Test func `bringing up CAN says plainly what is missing`() throws {
            let scratch = try ScratchFolder()
            let tool = try Program(
                Program.built("ballastctl"), ["can", "up", "nocan7", "--bitrate", "500000"],
                name: "ballastctl",
                in: scratch)
            #expect(try tool.exitStatus() == 1)
            let socket = Glibc.socket(AF_CAN, CInt(SOCK_RAW.rawValue), 1)
            if socket >= 0 { close(socket) }
            let missing =
                socket >= 0
                ? "there is no network interface 'nocan7'" : "this kernel has no AF_CAN (CONFIG_CAN)"
            #expect(tool.log.contains(missing), "\(tool.log)")
        }

        @Test func `nonsense on the control socket is answered with what is allowed`() throws {
            let site = try RunningSite.small()
            try site.startDaemon()
            try site.waitForMode("offline")
            for line in ["", "{}", "{\"command\": \"explode\"}", "\u{0}\u{1}"] {
                let answer = try LineClient.ask(line, at: site.controlSocket)
                #expect(answer.contains("not a request") && answer.contains("status"), "\(line): \(answer)")
            }
            #expect(try site.unit(0).mode == "offline")
        }
    }
}
