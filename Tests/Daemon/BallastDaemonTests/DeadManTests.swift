import Foundation
import Glibc
import LinuxIO
import ProgramSupport
import Quantities
import Testing

extension BallastDaemonTests {
    /// What becomes of the power when the controller, or a part of it, is gone.
    @Suite struct DeadManTests {
        /// Not a claim: what a loaded machine may take to let a thread run.
        static let patience = 1_500.0

        static func atPower(_ site: RunningSite, _ kilowatts: [Double]) throws {
            try site.startInService()
            try site.simulate("frequency 49.5")
            try site.waitForSetpoints(kilowatts)
        }

        static func safeOutput(_ site: RunningSite, environment: [String] = []) throws -> Program {
            try site.runDaemon(["--safe-output", "--config", site.configuration], environment: environment)
        }

        @Test func `when the cycle's thread alone is held, the bus thread writes zero by itself`() throws {
            let site = try RunningSite.small()
            // Far away, so that what comes is ours.
            site.file.units[0].reversionSeconds = 8
            try Self.atPower(site, [18.8])
            let holder = try startPeer(
                "hold_thread.py", ["\(try site.daemon.number)", "cycle"], name: "holder", in: site.scratch)
            _ = try holder.ready()

            let answer = try holder.ask("hold")
            let held = try #require(Double(answer.split(separator: " ").last ?? ""), "\(answer)")
            try site.waitForTruth("zero was written") { $0.units[0].zero_since_ms != nil }
            let truth = try site.truth().units[0]
            let delay = try #require(truth.zero_since_ms) - held
            let claim = 100.0 + 20 + 250
            #expect(delay <= claim + Self.patience, "output_grace_ms, a period and a write")
            #expect(truth.reversions == 0, "no timer of the device did it")
            try site.daemon.waitForLog(
                "the cycle stands still for more than 100 ms: the bus threads write zero")

            try holder.ask("free")
            try site.daemon.waitForLog("the cycle turns again after")
            try site.waitForSetpoints([18.8])
        }

        @Test func `when the whole process stops, the device's own timer takes the power away`() throws {
            let site = try RunningSite.small()
            try Self.atPower(site, [18.8])
            try site.daemon.send(SIGSTOP)
            try site.waitForTruth("the inverter has reverted") {
                $0.units[0].reversions == 1 && $0.units[0].power_w == 0
            }
        }

        @Test func `after SIGKILL the safe output writes zero on every link, and opens what we drive`() throws
        {
            let scratch = try ScratchFolder()
            let units = [try Unit.withContactors("BESS_01"), Unit.onLines("BESS_02", in: scratch)]
            let site = RunningSite(SiteFile(units: units, meter: try Unit.freeModbus()), in: scratch)
            for unit in site.file.units.indices { site.file.units[unit].reversionSeconds = 8 }
            site.file.units[0].more = site.file.units[0].more.map {
                $0.replacingOccurrences(of: "watchdog_ms: 3500", with: "watchdog_ms: 12000")
            }
            for _ in 0..<2 {
                try Self.atPower(site, [18.8, 18.8])
                try eventually("the plan is on disk") {
                    let plan = try String(contentsOfFile: scratch.path + "/state/wires", encoding: .utf8)
                    return plan.contains("registers BESS_01") && plan.contains("registers BESS_02")
                }
                let killed = Double(MonotonicTime.now().nanoseconds) / 1e6
                #expect(try site.daemon.end(by: SIGKILL) == 128 + Int(SIGKILL))
                let program = try Self.safeOutput(site)
                #expect(try program.exitStatus() == 0, "\(program.log)")
                let truth = try site.truth().units
                #expect(truth.map(\.setpoint_w) == [0, 0])
                let zeros = try truth.map { try #require($0.zero_since_ms) }
                #expect(zeros.allSatisfy { $0 - killed < 8_000 }, "before any timer of a device: \(zeros)")
                // Nobody but the inverter's own timer tells the safe output that no load is left.
                let opened = try #require(truth[0].coils_off_since_ms)
                #expect(truth[0].coils == [] && opened > zeros[0], "no contact parts a load")
                #expect(program.log.matches(of: /safe output, .*: zero acknowledged by/).count == 3)
                #expect(
                    program.log.contains("/rtu 115200 8N1: zero acknowledged by BESS_02; first write after"))
                // As after a commissioning: what the restart makes of its past is another test's.
                try site.killPlant()
                try FileManager.default.removeItem(atPath: scratch.path + "/state")
            }
        }

        /// What its inverter does when it is told zero.
        enum Inverter: CaseIterable {
            case obeys, disobeys
            /// And shows zeros all the while.
            case lies
            /// It shows zeros, and ends its power by its own timer alone.
            case liesUntilItsTimer
        }

        @Test(arguments: Inverter.allCases)
        func
            `the safe output opens contacts when power must have ended, whatever the inverter says`(
                inverter: Inverter
            ) throws
        {
            let site = RunningSite(
                SiteFile(units: [try Unit.withContactors("BESS_01")], meter: try Unit.freeModbus()),
                in: try ScratchFolder())
            site.file.units[0].reversionSeconds = 5
            site.file.units[0].more = site.file.units[0].more.map {
                $0.replacingOccurrences(of: "watchdog_ms: 3500", with: "watchdog_ms: 12000")
            }
            try Self.atPower(site, [18.8])
            try eventually("the plan is on disk") {
                let plan = try String(contentsOfFile: site.scratch.path + "/state/wires", encoding: .utf8)
                return plan.contains("look BESS_01") && plan.contains(" = ac ") && plan.contains(" = dc ")
            }
            #expect(try site.daemon.end(by: SIGKILL) == 128 + Int(SIGKILL))
            if inverter != .obeys {
                // Nor by its own timer, which would end the power that the program looks at.
                if inverter != .liesUntilItsTimer { try site.simulate("fault inverter_keeps_power BESS_01") }
                try site.simulate("fault inverter_disobeys BESS_01")
                if inverter != .disobeys { try site.simulate("fault inverter_zeros BESS_01") }
            }
            let program = try Self.safeOutput(site)
            #expect(try program.exitStatus() == 0, "\(program.log)")
            let truth = try site.truth().units[0]
            let (zero, off) = (try #require(truth.zero_since_ms), try #require(truth.coils_off_since_ms))
            #expect(truth.coils == [])
            #expect(off - zero >= 6_000, "reversion_s and response_ms from its last write: \(off - zero)")
            switch inverter {
            case .obeys: #expect(program.log.contains("BESS_01 has had its reversion and shows no power"))
            case .disobeys: #expect(program.log.contains("BESS_01 has had its reversion, coils off after"))
            case .lies: break
            case .liesUntilItsTimer: break
            }
            let endsByItself = inverter == .obeys || inverter == .liesUntilItsTimer
            // 24 A flow where it keeps its power: nobody can end them but the contact.
            let parted = try #require(truth.parted_a)
            #expect(endsByItself == (parted < 5), "\(parted) A: \(program.log)")
        }

        @Test
        func
            `though a thread of a killed daemon waits in the kernel and keeps its lock, every link goes to zero`()
            throws
        {
            let site = try RunningSite()
            for unit in site.file.units.indices { site.file.units[unit].reversionSeconds = 8 }
            try Self.atPower(site, [18.8, 18.8])
            let number = try site.daemon.number
            let holder = try startPeer(
                "hold_thread.py", ["\(number)", "can"], name: "holder", in: site.scratch)
            _ = try holder.ready()
            try holder.ask("keep")
            try site.daemon.send(SIGKILL)
            try eventually("all of it but one thread has ended") {
                let stat = try String(contentsOfFile: "/proc/\(number)/stat", encoding: .utf8)
                return stat.split(separator: ")").last?.hasPrefix(" Z") == true
            }
            let isKept = try ProcessLock.take(site.scratch.path + "/state/lock") == nil
            #expect(isKept, "the lock is kept")
            let program = try Self.safeOutput(site)
            #expect(try program.exitStatus() == 0, "\(program.log)")
            #expect(program.log.contains("a ballastd that was killed keeps"))
            let truth = try site.truth().units
            #expect(truth.map(\.setpoint_w) == [0, 0] && truth.map(\.reversions) == [0, 0])
            holder.end(by: SIGKILL)
        }

        @Test func `beside a living daemon the safe output does nothing and says so`() throws {
            let site = try RunningSite.small()
            try Self.atPower(site, [18.8])
            let program = try Self.safeOutput(site)
            #expect(try program.exitStatus() == 75)
            #expect(program.log.contains("a living ballastd holds"), "\(program.log)")
            #expect(program.log.contains("nothing was written"))
            #expect(try site.truth().units[0].zero_since_ms == nil)
            #expect(try site.unit(0).mode == "running")
        }

        @Test(arguments: ["mode: production\nnonsense: 1\n", nil])
        func `with a broken or missing configuration the safe output follows the plan left behind`(
            text: String?
        ) throws {
            let site = try RunningSite.small()
            site.file.units[0].reversionSeconds = 8
            try Self.atPower(site, [18.8])
            #expect(try site.daemon.end(by: SIGKILL) == 128 + Int(SIGKILL))
            if let text {
                _ = try site.scratch.write("site.yaml", text)
            } else {
                unlink(site.configuration)
            }
            let program = try Self.safeOutput(
                site, environment: ["STATE_DIRECTORY=\(site.scratch.path)/state"])
            #expect(try program.exitStatus() == 0, "\(program.log)")
            #expect(program.log.contains("cannot be used; the plan that the daemon left holds"))
            #expect(try site.truth().units[0].setpoint_w == 0)
            #expect(try site.truth().units[0].reversions == 0)
        }

        @Test func `a device that cannot be reached is named, costs a bounded time, and fails the run`()
            throws
        {
            let site = try RunningSite()
            try Self.atPower(site, [18.8, 18.8])
            #expect(try site.daemon.end(by: SIGKILL) == 128 + Int(SIGKILL))
            try site.simulate("fault inverter_silence BESS_02")
            let program = try Self.safeOutput(site)
            #expect(try program.exitStatus() == 1)
            let line = try program.logLine("/rtu 115200 8N1")
            #expect(
                line.contains("CRITICAL") && line.contains("BESS_02 (device 1) no answer in time"), "\(line)")
            let elapsed = try #require(line.firstMatch(of: /done after ([0-9.]+) ms/)).1
            #expect(try #require(Double(elapsed)) >= 500, "both tries were made")
            #expect(try #require(Double(elapsed)) <= 511 + Self.patience, "the worst case of --check")
            #expect(try program.logLine("safe output, 127.0.0.1").contains("acknowledged by BESS_01"))
            try site.killPlant()
            let again = try Self.safeOutput(site)
            #expect(try again.exitStatus() == 1)
            #expect(try again.logLine("safe output, 127.0.0.1").contains("no write went out"), "\(again.log)")
        }

        @Test func `without a plan there is nothing to do, and that is said`() throws {
            let site = try RunningSite.small()
            _ = try site.scratch.write("site.yaml", site.file.yaml(in: site.scratch))
            let program = try Self.safeOutput(site)
            #expect(try program.exitStatus() == 78)
            #expect(program.log.contains("no plan can be read: nothing is known"), "\(program.log)")
        }

        /// The plan is damaged by one digit, and the state folder cannot be locked: the copy in the runtime
        /// folder has it all. Without the copy the exit says that nobody was told.
        @Test(arguments: [true, false])
        func `what a sick disk has of the plan is made up for by the copy, or is told`(hasCopy: Bool) throws {
            let site = try RunningSite.small()
            site.file.units[0].reversionSeconds = 8
            let runtime = site.scratch.path + "/runtime"
            mkdir(runtime, 0o755)
            let environment = ["RUNTIME_DIRECTORY=\(runtime)"]
            try site.startPlant()
            try site.startDaemon(environment: environment)
            try site.waitForMode("running")
            try site.simulate("frequency 49.5")
            try site.waitForSetpoints([18.8])
            try eventually("the copy is there") { access(runtime + "/wires", F_OK) == 0 }
            #expect(try site.daemon.end(by: SIGKILL) == 128 + Int(SIGKILL))
            _ = try site.scratch.write("state/wires", "nothing that was ever a plan\n")
            unlink(site.scratch.path + "/state/lock")
            mkdir(site.scratch.path + "/state/lock", 0o755)
            let program = try Self.safeOutput(site, environment: hasCopy ? environment : [])
            #expect(try program.exitStatus() == (hasCopy ? 0 : 1), "\(program.log)")
            if hasCopy {
                #expect(program.log.contains("zero is written unlocked"), "\(program.log)")
                #expect(try site.truth().units[0].setpoint_w == 0)
                #expect(try site.truth().units[0].reversions == 0)
            }
            rmdir(site.scratch.path + "/state/lock")
            let again = try Self.safeOutput(site)
            #expect(try again.exitStatus() == 1, "\(again.log)")
            #expect(again.log.contains("the plan is damaged: it was NOT told zero"), "\(again.log)")
        }

        @Test func `a disk that never answers keeps nobody from writing zero`() throws {
            let site = try RunningSite.small()
            site.file.units[0].reversionSeconds = 8
            let runtime = site.scratch.path + "/runtime"
            mkdir(runtime, 0o755)
            let environment = ["RUNTIME_DIRECTORY=\(runtime)"]
            let disk = try ShimmedDisk(in: site.scratch)
            try site.startPlant()
            try site.startDaemon(environment: environment)
            try site.waitForMode("running")
            try site.simulate("frequency 49.5")
            try site.waitForSetpoints([18.8])
            try eventually("the copy is there") { access(runtime + "/wires", F_OK) == 0 }
            #expect(try site.daemon.end(by: SIGKILL) == 128 + Int(SIGKILL))
            let program = try Program(
                Program.built("ballastd"), ["--safe-output", "--config", site.configuration],
                environment: environment + disk.hanging, name: "safe-output", in: site.scratch)
            try eventually("zero is written") { try site.truth().units[0].setpoint_w == 0 }
            #expect(try site.truth().units[0].reversions == 0, "\(program.log)")
            #expect(try program.exitStatus() == 1)
            #expect(program.log.contains("the disk does not answer; zero is written by the copy"))
        }

        @Test func `--check says how long the safe output may take on each link`() throws {
            let scratch = try ScratchFolder()
            let units = [try Unit.withContactors("BESS_01"), Unit.onLines("BESS_02", in: scratch)]
            let site = RunningSite(SiteFile(units: units, meter: try Unit.freeModbus()), in: scratch)
            _ = try scratch.write("site.yaml", site.file.yaml(in: scratch))
            let program = try site.runDaemon(["--check", "--config", site.configuration])
            #expect(try program.exitStatus() == 0, "\(program.log)")
            let lines = program.output.split(separator: "\n").filter { $0.contains("  safe output  ") }
            #expect(lines.count == 3)
            #expect(
                lines.contains {
                    $0.hasSuffix("/rtu 115200 8N1: first write within 3 ms of its start, all within 506 ms")
                }, "\(lines)")
            #expect(program.output.contains("outputs expire after 100"))
        }
    }
}
