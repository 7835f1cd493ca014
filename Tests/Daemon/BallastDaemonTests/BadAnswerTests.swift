import ControlSocket
import Foundation
import ProgramSupport
import Testing

extension BallastDaemonTests {
    /// Whatever an inverter answers: the reading ends with a reason, a counter shows it, the journal says it
    /// once, and the cycle does not notice. The inverter is pymodbus behind a relay, ballastd the real one.
    @Suite struct BadAnswerTests {
        struct Row: Sendable {
            /// What the peer is told.
            var fault: [String]
            /// In the journal, once.
            var said: String
            /// What goes up, in the metrics.
            var counter: String
            var why: Comment

            init(_ fault: String..., said: String, counter: String, why: Comment) {
                (self.fault, self.said, self.counter, self.why) = (fault, said, counter, why)
            }
        }

        private static let count = 1_000_000
        // swift-format-ignore
        static let rows: [Row] = [
            Row("mode unit \(count)",        said: "BALLAST_EVENT=answer_rejected", counter: "other_units", why: "wrong unit"),
            Row("mode function \(count)",    said: "BALLAST_EVENT=answer_rejected", counter: "malformed_answers", why: "wrong function"),
            Row("mode length \(count)",      said: "device 1: silent", counter: "malformed_answers", why: "a length that lies"),
            Row("mode transaction \(count)", said: "BALLAST_EVENT=answer_rejected", counter: "other_transactions", why: "wrong transaction id"),
            Row("mode garbage \(count)",     said: "device 1: silent", counter: "errors", why: "no Modbus at all"),
            Row("mode short \(count)",       said: "device 1: silent", counter: "timeouts", why: "half an answer"),
            Row("mode trickle 1000",         said: "device 1: silent", counter: "timeouts", why: "one byte a second"),
            Row("mode close \(count)",       said: "down: ", counter: "reconnects", why: "the end in the middle of a frame"),
            Row("mode reset \(count)",       said: "down: ", counter: "reconnects", why: "a storm of resets"),
            Row("down",                      said: "down: ", counter: "errors", why: "nobody listens"),
            Row("set 1 103 2 9", "set 1 103 1 65000", said: "its model chain has changed", counter: "up", why: "a chain past 65535, at a reading"),
        ] + [2, 4, 6, 11].map { code in
            Row("exception 1 \(code)", said: "exception \(code) at register", counter: "transactions", why: "exception \(code)")
        }

        private func site() throws -> (site: RunningSite, inverter: Program) {
            let site = try RunningSite.small()
            let plant = site.file
            let inverter = try startPeer(
                "sunspec_device.py", ["tcp", "--models", "1,103,120,704"], name: "inverter", in: site.scratch)
            site.file.units[0].modbus = Unit.modbus(port: try inverter.ready())
            site.file.units[0].maxPowerKilowatts = 50
            // Nothing enters service on a power that nobody has asked for.
            try inverter.ask("set 1 103 W 0")
            try site.startPlant(plant)
            try site.startDaemon()
            try site.waitForMode("running")
            return (site, inverter)
        }

        private func counter(_ name: String, _ site: RunningSite) throws -> Double {
            let text = try site.runTool(["metrics", "--socket", site.controlSocket], status: 0).output
            let port = site.file.units[0].modbus.split(separator: " ").last?.filter(\.isNumber) ?? ""
            let line = text.split(separator: "\n").first {
                $0.hasPrefix("ballast_link_figure{link=\"modbus 127.0.0.1:\(port)\",name=\"\(name)\"}")
            }
            return try #require(Double(line?.split(separator: " ").last ?? ""), "\(name) in \(text)")
        }

        @Test(arguments: rows) func `ends in a bad reading, a counter and one line, and the cycle goes on`(
            row: Row
        ) throws {
            let (site, inverter) = try site()
            let before = try counter(row.counter, site)
            let lines = { site.occurrences(of: row.said) }
            let saidBefore = lines()
            for command in row.fault { try inverter.ask(command) }
            try site.waitForMode("tripped")
            try site.waitForStatus("its power is not known any more") { $0.units[0].power_kw == nil }
            #expect(try site.unit(0).trips == ["lost_inverter"], row.why)
            try eventually("said: \(row.said)") { lines() > saidBefore }
            if row.counter != "up" {
                try eventually("counted") { try counter(row.counter, site) > before }
            }
            // A cycle that waited for the bus would go round once per request.
            let (cycle, asked) = try (site.status().cycle, requests(site))
            try site.waitForStatus("a hundred cycles more") { $0.cycle > cycle + 100 }
            #expect(try requests(site) - asked < 100, row.why)
            #expect(lines() == saidBefore + 1, "\(row.why): once")
        }

        private func requests(_ site: RunningSite) throws -> Double {
            try counter("transactions", site) + counter("errors", site)
        }

        @Test func `numbers that are none are no reading, and the first good one is`() throws {
            let site = try RunningSite.small()
            let plant = site.file
            let inverter = try startPeer(
                "sunspec_device.py", ["tcp", "--models", "1,113,120,704"], name: "inverter", in: site.scratch)
            site.file.units[0].modbus = Unit.modbus(port: try inverter.ready())
            site.file.units[0].maxPowerKilowatts = 50
            try site.startPlant(plant)
            try site.startDaemon()
            try site.waitForMode("running")
            for bits in [0x7FC0_0000, 0xFFFF_FF7F, 0x7F80_0000, 0xFF80_0000, 0x7F80_0001, 0x7F00_0000] {
                try inverter.ask("set 1 113 W \(bits)")
                try site.waitForStatus("\(bits) is no power") { $0.units[0].power_kw == nil }
                try inverter.ask("set 1 113 W 0")
                try site.waitForStatus("zero is one") { $0.units[0].power_kw == 0 }
            }
            try inverter.ask("set 1 113 W \(0x7FC0_0000)")
            try site.waitForMode("tripped")
            #expect(try site.unit(0).trips.contains("lost_inverter"))
        }

        @Test func `a chain that never ends gives the models it has, and what is missing is said once`()
            throws
        {
            let site = try RunningSite.small()
            let plant = site.file
            let inverter = try startPeer(
                "sunspec_device.py", ["tcp", "--models", "1,103,120,704"], name: "inverter", in: site.scratch)
            site.file.units[0].modbus = Unit.modbus(port: try inverter.ready())
            try site.startPlant(plant)
            // 120 claims a length that takes its successor past 65535.
            try inverter.ask("set 1 120 1 65000")
            try site.startDaemon()
            try site.daemon.waitForLog(
                "SunSpec models 1, 103 at 40000", "has no usable SunSpec model 704 or 124")
            let cycle = try eventuallyStatus(site).cycle
            try site.waitForStatus("cycles go on") { $0.cycle > cycle + 100 }
            #expect(site.occurrences(of: "has no usable SunSpec model 704 or 124") == 1)
            #expect(try site.unit(0).mode != "running" && site.unit(0).power_kw == nil)
        }

        private func eventuallyStatus(_ site: RunningSite) throws -> SiteStatus {
            try site.waitForStatus("it answers") { _ in true }
            return try site.status()
        }

        @Test
        func `a line that is unplugged and comes back under another name is said twice, and read again`()
            throws
        {
            let site = try RunningSite.small()
            let plant = site.file
            let path = site.scratch.path + "/tty"
            let inverter = try startPeer(
                "sunspec_device.py", ["rtu", "--models", "1,103,120,704", "--link", path], name: "inverter",
                in: site.scratch)
            _ = try inverter.ready()
            try inverter.ask("set 1 103 W 0")
            site.file.units[0].modbus = "{device: \(path), baud: 115200, unit_id: 1}"
            site.file.units[0].maxPowerKilowatts = 50
            try site.startPlant(plant)
            try site.startDaemon()
            try site.waitForMode("running")
            try inverter.ask("down")
            try site.waitForMode("tripped")
            #expect(try site.unit(0).trips == ["lost_inverter"])
            let cycle = try site.status().cycle
            try site.waitForStatus("a hundred cycles more") { $0.cycle > cycle + 100 }
            #expect(site.occurrences(of: "115200 8N1: down: ") == 1)
            try inverter.ask("up")
            try site.bringBack()
            #expect(site.occurrences(of: "115200 8N1: connected") == 2)
        }
    }
}

extension RunningSite {
    /// How many lines of ballastd's log hold `text`.
    func occurrences(of text: String) -> Int {
        // Before the daemon was started there is none.
        (try? daemon.log.split(separator: "\n").count { $0.contains(text) }) ?? 0
    }
}
