import ControlSocket
import Foundation
import Glibc
import ProgramSupport
import Testing

/// What a service person does to put a real site into operation, and what is kept of it.
extension BallastDaemonTests {
    @Suite struct CommissionTests {
        /// As a real one: its records must outlive a restart of the machine.
        private func site() throws -> RunningSite {
            let file = SiteFile(units: [try Unit.onNetwork("BESS_01")], meter: try Unit.freeModbus())
            let site = RunningSite(file, in: try ScratchFolder(in: NSHomeDirectory()))
            site.file.mode = "hil"
            site.file.control = ["resume_after_restart: true"]
            return site
        }

        private func commission(_ site: RunningSite) throws {
            mkdir(site.scratch.path + "/state", 0o750)
            let path = try site.scratch.write("site.yaml", site.file.yaml(in: site.scratch))
            let said = try site.runTool(
                ["commission", "init", "--config", path, "--reason", "inspected by two"], status: 0)
            #expect(said.output.contains("no trip is latched on BESS_01"))
        }

        private func events(_ site: RunningSite) throws -> [String] {
            try site.runTool(
                ["spool", "export", "--spool", site.scratch.path + "/state/spool"], status: 0
            ).output.split(separator: "\n").map(String.init)
        }

        @Test
        func `a commissioning without a daemon is in the audit, goes up, and the daemon goes on behind it`()
            throws
        {
            let site = try site()
            try commission(site)
            let state = site.scratch.path + "/state"
            let first = try site.runTool(["audit", "verify", "--state", state], status: 0).output
            #expect(first.contains("whole: 1 records"), "\(first)")
            let told = try events(site)
            #expect(
                told.contains {
                    $0.contains("\"event\":\"commission\"") && $0.contains("\"reason\":\"inspected by two\"")
                        && $0.contains("\"via\":\"ballastctl\"")
                }, "\(told)")
            #expect(told.contains { $0.contains("\"kind\":\"audit\"") })
            try site.startPlant()
            try site.startDaemon()
            try site.waitForStatus("a first cycle") { $0.cycle > 0 }
            #expect(try site.unit(0).trips.isEmpty)
            #expect(try site.daemon.end(by: SIGTERM) == 0)
            let later = try site.runTool(["audit", "verify", "--state", state], status: 0).output
            #expect(later.contains("from 1 on") && !later.contains("whole: 1 records"), "\(later)")
        }

        @Test
        func `a simulated frequency is answered in mode hil alone, for its time, and marks every record`()
            throws
        {
            let site = try site()
            try commission(site)
            try site.startInService()
            func ask(_ words: [String], status: Int) throws -> String {
                let said = try site.runTool(
                    ["commission", "frequency"] + words
                        + ["--reason", "acceptance", "--socket", site.controlSocket], status: status)
                return said.output + said.log
            }
            #expect(try ask(["54", "--for", "60s"], status: 1).contains("more than 3.0 Hz from"))
            #expect(try ask(["49.7", "--for", "60s"], status: 0).contains("answers to 49.7 Hz for 60.0 s"))
            try site.waitForStatus("the response") {
                ($0.units[0].power_kw ?? 0) > 5 && $0.frequency_hz == 49.7
            }
            #expect(try site.status().grid?.frequency_source == "simulated")
            #expect(try ask(["--end"], status: 0).contains("measured frequency"))
            try site.waitForStatus("no response") {
                $0.grid?.frequency_source == "meter" && $0.response_kw == 0
            }
            #expect(try ask(["49.8", "--for", "2s"], status: 0).contains("for 2.0 s"))
            try site.daemon.waitForLog("answers to the measured frequency again")
            try site.waitForStatus("it ends by itself") { $0.grid?.frequency_source == "meter" }
            #expect(try site.daemon.end(by: SIGTERM) == 0)
            let told = try events(site)
            let marks = told.map { $0.contains("\"frequency\":\"simulated\"") }
            let begin = try #require(told.firstIndex { $0.contains("\"event\":\"frequency_test\"") })
            let end = try #require(told.firstIndex { $0.contains("\"event\":\"frequency_test_end\"") })
            #expect(marks[begin] && !marks[end] && !marks[..<begin].contains(true))
            // Rows that were gathered before it began, and what was written down before it was over.
            let within = told[begin..<end].filter { !$0.contains("\"kind\":\"delta\"") }
            #expect(within.allSatisfy { $0.contains("\"frequency\":\"simulated\"") }, "\(within)")
            #expect(
                told.contains {
                    $0.contains("\"kind\":\"delta\"") && $0.contains("\"frequency\":\"simulated\"")
                })
            let state = site.scratch.path + "/state"
            let report = try site.runTool(
                ["frequency", "report", "--spool", state + "/performance"], status: 0
            ).output
            #expect(report.contains("samples of tests with a simulated frequency are left out"), "\(report)")
            let tests = try site.runTool(
                ["frequency", "report", "--tests", "--spool", state + "/performance"], status: 0
            ).output
            #expect(tests.contains("SIMULATED frequency"), "\(tests)")
        }

        @Test func `another mode than hil takes no simulated frequency`() throws {
            let site = try RunningSite.small()
            try site.startInService()
            let said = try site.runTool(
                [
                    "commission", "frequency", "49.7", "--for", "60s", "--reason", "x", "--socket",
                    site.controlSocket,
                ], status: 1)
            #expect((said.output + said.log).contains("the simulator makes the frequency"))
            try site.daemon.waitForLog("refused: in mode simulation")
        }

        @Test func `a certificate that ends soon is told to the controller, and goes up with its events`()
            throws
        {
            let site = try RunningSite.small()
            site.file.id = "demo"
            try site.startPlant()
            try site.startDaemon()
            try site.waitForStatus("a first cycle") { $0.cycle > 0 }
            let folder = site.scratch.path + "/tls"
            func make(_ arguments: [String]) throws {
                let made = try Program(
                    Program.built("ballast-aggregator"), ["certificate"] + arguments, name: "tls",
                    in: site.scratch)
                #expect(try made.exitStatus() == 0, "\(made.log)")
            }
            try make(["authority", "--out", folder])
            try make(["device", "--site", "demo", "--days", "12", "--authority", folder, "--out", folder])
            let config = """
                spool: \(site.scratch.path)/state/spool
                site: demo
                aggregator:
                  {url: "https://127.0.0.1:1", token: t, ca_file: \(folder)/ca.pem, certificate: \(folder)/demo.pem,
                   key: \(folder)/demo.key}
                control_socket: \(site.controlSocket)
                """
            let link = try RunningProgram(
                "ballast-link", ["--config", try site.scratch.write("link.yaml", config)])
            try site.daemon.waitForLog("the certificate with which the site reports ends in 1")
            try eventually("it goes up") {
                try events(site).contains { $0.contains("\"event\":\"certificate_ends\"") }
            }
            #expect(link.end(by: SIGTERM) == 0)
        }
    }
}
