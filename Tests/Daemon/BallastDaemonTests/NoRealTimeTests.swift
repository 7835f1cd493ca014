import Foundation
import Glibc
import ProgramSupport
import Testing

extension BallastDaemonTests {
    /// A machine that grants no real time: neither the right nor the limits.
    @Suite struct NoRealTimeTests {
        private static let setpriv = "/usr/bin/setpriv"
        private static let rights = "-sys_nice,-ipc_lock"

        /// A container may not let root give up rights.
        static func canGiveUpRights() throws -> Bool {
            if geteuid() != 0 { return true }
            let scratch = try ScratchFolder()
            return try Program(
                setpriv, ["--bounding-set=\(rights)", "--inh-caps=\(rights)", "/bin/true"], name: "setpriv",
                in: scratch
            ).exitStatus() == 0
        }

        /// `setpriv` takes the rights from root; nobody else has them, and then the limits are enough.
        private static func daemon(mode: String, in scratch: ScratchFolder) throws -> Program {
            let unit = try Unit.onNetwork("BESS_01")
            let limits =
                mode == "production"
                ? "site: {import_limit_kw: 100, export_limit_kw: 100, site_load_max_kw: 10}\n" : ""
            // Production keeps nothing in a temporary folder.
            let state =
                mode == "production"
                ? FileManager.default.currentDirectoryPath + "/.build/no-real-time-state"
                : scratch.path + "/state"
            let path = try scratch.write(
                "site.yaml",
                """
                mode: \(mode)
                \(limits)grid_meter: {modbus: \(try Unit.freeModbus())}
                bess_units:
                  - {id: BESS_01, campus_id: C, capacity_kwh: 250, max_power_kw: 100,
                     bms: {transport: "\(unit.transport)"}, modbus: \(unit.modbus),
                     io_module: {modbus: \(try Unit.freeModbus()), inputs: [{number: 1, name: emergency_stop}]}}
                paths: {state_directory: \(state), control_socket: \(scratch.path)/control}
                """)
            let limited = [
                "--rtprio=0:0", "--memlock=65536:65536", try Program.built("ballastd"), "--config", path,
            ]
            guard geteuid() == 0 else {
                return try Program("/usr/bin/prlimit", limited, name: "ballastd", in: scratch)
            }
            return try Program(
                setpriv,
                ["--bounding-set=\(rights)", "--inh-caps=\(rights)", "/usr/bin/prlimit"] + limited,
                name: "ballastd", in: scratch)
        }

        @Test(.enabled("root may give up its rights") { try canGiveUpRights() })
        func `production does not start without real time, and says what to change`() throws {
            let scratch = try ScratchFolder()
            let daemon = try Self.daemon(mode: "production", in: scratch)
            #expect(try daemon.exitStatus() == 1)
            for part in [
                "not started: production needs real time and locked memory", "RLIMIT_RTPRIO is 0",
                "CPUSchedulingPolicy=fifo", "RLIMIT_MEMLOCK is 64 kB",
            ] {
                #expect(daemon.log.contains(part), "\(part) in\n\(daemon.log)")
            }
            #expect(!daemon.log.contains("link_"), "nothing was spoken to: \(daemon.log)")
        }

        @Test(.enabled("root may give up its rights") { try canGiveUpRights() })
        func `a simulation runs without real time, and says so`() throws {
            let scratch = try ScratchFolder()
            let daemon = try Self.daemon(mode: "simulation", in: scratch)
            try daemon.waitForLog("no full real time: normal scheduling, memory not locked", "started")
        }
    }
}
