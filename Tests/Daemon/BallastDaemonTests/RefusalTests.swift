import Foundation
import ProgramSupport
import Testing

extension BallastDaemonTests {
    @Suite struct RefusalTests {
        @Test func `a second daemon on the same state directory refuses to start`() throws {
            let site = try RunningSite.small()
            try site.startPlant()
            try site.startDaemon()
            try site.waitForMode("running")
            let second = try Program(
                Program.built("ballastd"), ["--config", site.configuration], name: "second", in: site.scratch)
            #expect(try second.exitStatus() == 1)
            #expect(
                second.log.contains("not started: another ballastd runs with \(site.scratch.path)/state"),
                "\(second.log)")
            #expect(try site.unit(0).mode == "running", "the first goes on")
        }

        @Test func `a second daemon on the same control socket refuses to start`() throws {
            let site = try RunningSite.small()
            try site.startPlant()
            try site.startDaemon()
            try site.waitForMode("running")
            let path = try site.scratch.write(
                "second.yaml", site.file.yaml(in: site.scratch).replacing("/state,", with: "/state2,"))
            let second = try Program(
                Program.built("ballastd"), ["--config", path], name: "second", in: site.scratch)
            #expect(try second.exitStatus() == 1)
            #expect(second.log.contains("not started: control socket \(site.controlSocket)"), "\(second.log)")
            #expect(try site.unit(0).mode == "running", "the first can still be asked")
        }

        @Test(arguments: [[], ["--check"]])
        func `a broken configuration ends the start with status 78, naming file and line`(
            options: [String]
        ) throws {
            let scratch = try ScratchFolder()
            let path = try scratch.write(
                "site.yaml",
                """
                mode: simulation
                control: {period_ms: 0}
                bess_units:
                  - id: A
                    campus_id: C
                    capacity_kw: 250
                    max_power_kw: 100
                    modbus: {host: 127.0.0.1}
                """)
            let daemon = try Program(
                Program.built("ballastd"), ["--config", path] + options, name: "ballastd", in: scratch)
            #expect(try daemon.exitStatus() == 78)
            #expect(daemon.log.contains("\(path):2:"), "\(daemon.log)")
            #expect(daemon.log.contains("\(path):6:"), "\(daemon.log)")
            #expect(daemon.log.contains("capacity_kw"), "\(daemon.log)")
        }

        @Test func `without its configuration it ends with status 78 and the file's name`() throws {
            let scratch = try ScratchFolder()
            let path = scratch.path + "/nothing.yaml"
            let daemon = try Program(
                Program.built("ballastd"), ["--config", path], name: "ballastd", in: scratch)
            #expect(try daemon.exitStatus() == 78)
            #expect(daemon.log.contains(path), "\(daemon.log)")
        }

        @Test(arguments: ["demo-site.yaml", "minimal-site.yaml", "io-site.yaml"])
        func `the examples are good configurations`(name: String) throws {
            let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().deletingLastPathComponent()
            let path = root.appending(path: "config/examples/\(name)").path
            let scratch = try ScratchFolder()
            let daemon = try Program(
                Program.built("ballastd"), ["--config", path, "--check"], name: "ballastd", in: scratch)
            #expect(try daemon.exitStatus() == 0, "\(daemon.log)")
            #expect(daemon.output.contains("configuration is good"))
            let hasWires = daemon.output.contains(
                "emergency stop at wire address 0 (normally closed), smoke at wire address 1")
            #expect(hasWires == (name == "io-site.yaml"), "\(daemon.output)")
        }
    }
}
