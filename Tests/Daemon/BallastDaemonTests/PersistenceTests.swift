import Foundation
import Glibc
import LinuxIO
import ProgramSupport
import Quantities
import Recorder
import Testing

@testable import BallastDaemon

/// The disk under one daemon's state folder, as the test wants it.
final class ShimmedDisk {
    /// With an errno: only what makes a file grow fails, as on a full disk.
    static let isFull: Int64 = 1 << 33

    private let file: String
    private let shim: String

    init(in scratch: ScratchFolder) throws {
        file = try scratch.write("disk", String(repeating: "\0", count: 8))
        shim = scratch.path + "/disk_shim.so"
        let source = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .appending(path: "Peers/disk_shim.c").path
        let compilers: [String] = ["/usr/bin/cc", "/usr/bin/gcc", "/usr/bin/clang"]
        let compiler = try #require(compilers.first { name in access(name, X_OK) == 0 }, "no C compiler")
        let run = try Program(
            compiler, ["-shared", "-fPIC", "-O1", "-o", shim, source],
            environment: ["PATH=/usr/bin:/bin"], name: "disk-cc", in: scratch)
        let status = try run.exitStatus()
        try #require(status == 0, "\(run.log)")
    }

    var environment: [String] { ["LD_PRELOAD=\(shim)", "DISK_SHIM=\(file)"] }

    /// Whoever opens a file of the state folder never comes back from it.
    var hanging: [String] { ["LD_PRELOAD=\(shim)", "DISK_HANGS_AT=/state/"] }

    /// 0 = well; an errno; below 0 = it does not come back.
    func become(_ state: Int64) throws {
        let descriptor = open(file, O_WRONLY | O_CLOEXEC)
        if descriptor < 0 { throw SystemError.last("open") }
        defer { close(descriptor) }
        var value = state
        if pwrite(descriptor, &value, 8, 0) != 8 { throw SystemError.last("pwrite") }
    }
}

extension BallastDaemonTests {
    /// What a trip is worth when everything around it fails.
    @Suite struct PersistenceTests {
        private func record(_ site: RunningSite) throws -> LatchRecord {
            guard case .read(let record) = LatchRecord.read(site.scratch.path + "/state/latches") else {
                throw Failure(description: "no record")
            }
            return record
        }

        private func isLatched(_ site: RunningSite) throws -> Bool {
            try record(site).entries[0].trips & 0x100 != 0
        }

        private func site() throws -> (RunningSite, environment: [String]) {
            let site = try RunningSite.small()
            site.file.control.append("resume_after_restart: true")
            mkdir(site.scratch.path + "/runtime", 0o750)
            return (site, ["RUNTIME_DIRECTORY=\(site.scratch.path)/runtime"])
        }

        @Test func `killed as its line appears, a trip stands on disk each time`() throws {
            for _ in 0..<3 {
                let (site, environment) = try site()
                try site.startPlant()
                try site.startDaemon(environment: environment)
                try site.waitForMode("running")
                try site.simulate("fault bms_alarm BESS_01")
                let daemon = try site.daemon
                // Without a pause: the kill follows the line.
                let limit = MonotonicTimeLimit()
                while !daemon.log.contains("TRIP bms_alarm"), !limit.isOver {}
                daemon.send(SIGKILL)
                _ = try daemon.exitStatus()
                #expect(try isLatched(site), "\(daemon.log)")
                #expect(!daemon.log.contains("NOT SAVED"))
            }
        }

        @Test func `while nobody reads the log a trip is saved, the watchdog is fed and stop is heard`()
            throws
        {
            let (site, environment) = try site()
            let manager = try NotifySocket(in: site.scratch)
            // A pipe that is full, and that nobody empties.
            let pipe = site.scratch.path + "/log-pipe"
            #expect(mkfifo(pipe, 0o600) == 0)
            let end = FileDescriptor(owning: open(pipe, O_RDWR | O_NONBLOCK | O_CLOEXEC))
            let chunk = [UInt8](repeating: 10, count: 4_096)
            while try chunk.withUnsafeBytes({ try end.write($0) }) > 0 {}
            try site.startPlant()
            try site.startDaemon(
                environment: environment + ["NOTIFY_SOCKET=\(manager.path)", "WATCHDOG_USEC=1500000"],
                launcher: ["/bin/sh", "-c", "exec \"$0\" \"$@\" 2>'\(pipe)'"])
            try site.waitForMode("running")
            try site.simulate("fault bms_alarm BESS_01")
            try site.waitForMode("tripped")
            #expect(try isLatched(site) && site.status().latches_saved)
            // Long enough for the log's thread to be told of, and for several watchdogs.
            try site.waitForStatus("it is told that the log stands still") {
                $0.threads_still == ["journal"]
            }
            while manager.next(within: .zero) != nil {}
            for _ in 0..<4 { _ = try manager.wait(for: "WATCHDOG=1") }
            try site.daemon.end(by: SIGKILL)
            try site.startDaemon(environment: environment)
            try site.waitForMode("tripped")
            #expect(try site.unit(0).trips.first == "bms_alarm")
        }

        // swift-format-ignore
        static let diseases: [(state: Int64, why: Comment)] = [
            (Int64(ENOSPC), "full"),
            (Int64(EIO),    "sick"),
            (-1,            "does not come back"),
        ]

        @Test(arguments: diseases)
        func `a trip that the disk does not take is told as not saved, and no restart runs after it`(
            row: (state: Int64, why: Comment)
        ) throws {
            let (site, environment) = try site()
            let disk = try ShimmedDisk(in: site.scratch)
            let manager = try NotifySocket(in: site.scratch)
            try site.startPlant()
            try site.startDaemon(
                environment: environment + disk.environment
                    + ["NOTIFY_SOCKET=\(manager.path)", "WATCHDOG_USEC=1500000"])
            try site.waitForMode("running")
            try disk.become(row.state)
            try site.simulate("fault bms_alarm BESS_01")
            try site.daemon.waitForLog("latched until reset; NOT SAVED")
            try site.daemon.waitForLog("latched trips are NOT SAVED")
            try site.waitForStatus("it is in the status") {
                !$0.latches_saved && $0.units[0].mode == "tripped"
            }
            #expect(try !isLatched(site), row.why)
            while manager.next(within: .zero) != nil {}
            for _ in 0..<4 { _ = try manager.wait(for: "WATCHDOG=1") }

            // With the copy in memory the next run knows the trip itself.
            try site.daemon.end(by: SIGKILL)
            try disk.become(0)
            let copy = site.scratch.path + "/runtime/latches"
            let bytes = try #require(FileManager.default.contents(atPath: copy))
            try site.simulate("clear bms_alarm BESS_01")
            try site.startDaemon(environment: environment)
            try site.waitForMode("tripped")
            #expect(try site.unit(0).trips.first == "bms_alarm", row.why)
            try eventually("it is on disk now") { try isLatched(site) }
            #expect(!bytes.isEmpty)
        }

        /// Found by somebody who attacked it: the second copy did not help where the first was gone.
        @Test
        func
            `without the state folder's latches the copy keeps the trip, and without it all units count as tripped`()
            throws
        {
            let (site, environment) = try site()
            try site.startPlant()
            try site.startDaemon(environment: environment)
            try site.waitForMode("running")
            try site.simulate("fault bms_alarm BESS_01")
            try site.waitForMode("tripped")
            try site.waitForStatus("it is saved") { $0.latches_saved }
            try site.daemon.end(by: SIGKILL)
            let state = site.scratch.path + "/state"
            #expect(unlink(state + "/latches") == 0)
            try site.simulate("clear bms_alarm BESS_01")
            try site.startDaemon(environment: environment)
            try site.daemon.waitForLog("missing in the state folder")
            try site.waitForMode("tripped")
            #expect(try site.unit(0).trips.first == "bms_alarm")
            // The copy's record stands in the state folder again.
            try site.waitForStatus("it is saved") { $0.latches_saved }
            #expect(try isLatched(site))

            // A hand that takes everything away makes no first start of it: counters and spool are there.
            try site.daemon.end(by: SIGKILL)
            for path in [state + "/latches", state + "/run", site.scratch.path + "/runtime/latches"] {
                #expect(unlink(path) == 0, "\(path)")
            }
            try site.startDaemon(environment: environment)
            try site.daemon.waitForLog("the run record is missing where a daemon has run")
            // What was latched nobody knows any more: the unit counts as tripped.
            try site.waitForMode("tripped")
            #expect(try site.unit(0).trips == ["latch_record"])
        }

        @Test func `without the copy in memory a run whose latches were not saved starts nothing`() throws {
            let (site, _) = try site()
            let disk = try ShimmedDisk(in: site.scratch)
            try site.startPlant()
            try site.startDaemon(environment: disk.environment)
            try site.waitForMode("running")
            try disk.become(Int64(EIO))
            try site.simulate("fault bms_alarm BESS_01")
            try site.daemon.waitForLog("latched until reset; NOT SAVED")
            try site.daemon.end(by: SIGKILL)
            try disk.become(0)
            try site.simulate("clear bms_alarm BESS_01")
            try site.startDaemon()
            try site.waitForStatus("the unit is held") { $0.units[0].holds == ["after_restart"] }
            try site.daemon.waitForLog("there is no copy of the latches in the runtime folder")
        }

        /// Found by an attack: what a power cut tears, some 4 ms of each ten seconds, tripped every unit.
        @Test
        func `a write of the latches that was cut short holds the units, and a lost one trips them all`()
            throws
        {
            let (site, environment) = try site()
            let path = site.scratch.path + "/state/latches"
            let copy = site.scratch.path + "/runtime/latches"
            try site.startPlant()
            try site.startDaemon(environment: environment)
            try site.waitForMode("running")
            for (isNewest, modes, word) in [
                (false, "standby", "a write of the latches was cut short"),
                (true, "tripped", "newer latches were on disk than stand there now"),
            ] {
                try site.waitForStatus("it is saved") { $0.latches_saved }
                let generation = { try #require(LatchFile.read(path).pair?.newest?.generation) }
                try eventually("the proof names the newest") {
                    let proof = LatchFile.read(path).proofs?.newest?.payload
                    return proof == LatchProof.payload(try generation())
                }
                try site.daemon.end(by: SIGKILL)
                let pair = try #require(LatchFile.read(path).pair)
                var bytes = try #require(FileManager.default.contents(atPath: path))
                let slot = isNewest ? 1 - pair.next : pair.next
                bytes[slot * LatchRecord.slotSize + 20] ^= 1
                try bytes.write(to: URL(fileURLWithPath: path))
                // The current was off: there is no copy in memory.
                #expect(unlink(copy) == 0)
                try site.startDaemon(environment: environment)
                try site.daemon.waitForLog(word)
                try site.waitForMode(modes)
            }
            #expect(try site.unit(0).trips == ["latch_record"])
        }

        @Test func `an orderly end with a disk that takes nothing is no orderly end`() throws {
            let (site, environment) = try site()
            let disk = try ShimmedDisk(in: site.scratch)
            try site.startPlant()
            try site.startDaemon(environment: environment + disk.environment)
            try site.waitForMode("running")
            try disk.become(Int64(EIO))
            try site.simulate("fault bms_alarm BESS_01")
            try site.daemon.waitForLog("NOT SAVED")
            #expect(try site.daemon.end(by: SIGTERM) == 0)
            try site.daemon.waitForLog("so the next start counts as unplanned")
            guard case .read(let run) = RunRecord.read(site.scratch.path + "/state/run") else {
                throw Failure(description: "no run record")
            }
            #expect(run.isRunning)
        }

        @Test func `a schedule that is a pipe is refused, at SIGHUP and by --check`() throws {
            let (site, environment) = try site()
            site.file.sections = ["schedule: schedule.csv"]
            _ = try site.scratch.write("schedule.csv", "start_utc,end_utc,power_kw\n")
            try site.startPlant()
            try site.startDaemon(environment: environment)
            try site.waitForMode("running")
            unlink(site.scratch.path + "/schedule.csv")
            #expect(mkfifo(site.scratch.path + "/schedule.csv", 0o600) == 0)
            try site.daemon.send(SIGHUP)
            try site.daemon.waitForLog("was not read anew, what holds goes on")
            #expect(try site.unit(0).mode == "running")
            let check = try site.runDaemon(["--check", "--config", site.configuration])
            #expect(try check.exitStatus() == 78, "\(check.log)")
        }
    }
}

/// Ends a loop without a pause in a test that fails.
struct MonotonicTimeLimit {
    private let end = MonotonicTime.now() + .seconds(30)
    var isOver: Bool { MonotonicTime.now() >= end }
}
