import Foundation
import Glibc
import LinuxIO
import ProgramSupport
import Quantities
import SafeOutput
import Testing

@testable import BallastDaemon

extension BallastDaemonTests {
    /// Each thread of the daemon held in its turn, as a debugger, a lost processor or a disk would.
    @Suite struct HeldThreadTests {
        private func hold(_ name: String, of site: RunningSite, _ number: Int = 0) throws -> (Program, Double)
        {
            let holder = try startPeer(
                "hold_thread.py", ["\(try site.daemon.number)", name], name: "holder\(number)",
                in: site.scratch)
            _ = try holder.ready()
            let answer = try holder.ask("hold")
            return (holder, try #require(Double(answer.split(separator: " ").last ?? ""), "\(answer)"))
        }

        @Test(arguments: ["cycle", "modbus", "can"])
        func `held, a thread that leads the plant takes the process with it, and zero comes within 2.5 s`(
            thread: String
        ) throws {
            let site = try RunningSite.small()
            let manager = try NotifySocket(in: site.scratch)
            site.file.units[0].reversionSeconds = 8
            try site.startPlant()
            try site.startDaemon(environment: ["NOTIFY_SOCKET=\(manager.path)", "WATCHDOG_USEC=1500000"])
            try site.waitForMode("running")
            try site.simulate("frequency 49.5")
            try site.waitForSetpoints([18.8])
            let (holder, held) = try hold(thread, of: site)
            // The kernel reports the end only when the holder lets its thread go.
            let number = try site.daemon.number
            try eventually("the process has ended") {
                let stat = try String(contentsOfFile: "/proc/\(number)/stat", encoding: .utf8)
                return stat.split(separator: ")").last?.hasPrefix(" Z") == true
            }
            // As the service manager does at once.
            _ = try DeadManTests.safeOutput(site)
            try site.waitForTruth("zero was written") { $0.units[0].zero_since_ms != nil }
            let truth = try site.truth().units[0]
            let delay = try #require(truth.zero_since_ms) - held
            #expect(delay <= DeadTime.longest.milliseconds + DeadManTests.patience, "\(delay) ms")
            #expect(truth.reversions == 0, "no timer of the device did it")
            holder.end(by: SIGKILL)
            #expect(try site.daemon.exitStatus() == 128 + Int(SIGABRT))
        }

        @Test func `held, the threads that look on stop neither control nor the feed, and are told`() throws {
            let site = try RunningSite.small()
            site.file.paths = ["recording_max_mb: 8"]
            let manager = try NotifySocket(in: site.scratch)
            try site.startPlant()
            try site.startDaemon(environment: ["NOTIFY_SOCKET=\(manager.path)", "WATCHDOG_USEC=1500000"])
            try site.waitForMode("running")
            let names = ["recorder", "files", "latches", "blackbox"]
            let holders = try names.enumerated().map { try hold($1, of: site, $0).0 }
            for name in names { try site.daemon.waitForLog("thread \(name) stands still") }
            try site.waitForStatus("it is told in the status") { $0.threads_still == names }
            while manager.next(within: .zero) != nil {}
            for _ in 0..<8 { _ = try manager.wait(for: "WATCHDOG=1") }
            #expect(try site.unit(0).mode == "running")
            // And those who tell.
            let control = try hold("control", of: site, 7).0
            try site.daemon.waitForLog("thread control stands still")
            let main = try hold("ballastd", of: site, 8).0
            try site.daemon.waitForLog("thread main stands still")
            while manager.next(within: .zero) != nil {}
            for _ in 0..<8 { _ = try manager.wait(for: "WATCHDOG=1") }
            for holder in holders + [control, main] { try holder.ask("free") }
            for name in names + ["main"] { try site.daemon.waitForLog("thread \(name) goes on") }
            try site.waitForMode("running")
        }

        @Test func `a stop and a lock that a held disk has not taken are carried out, and told as not saved`()
            throws
        {
            let site = try RunningSite.small()
            try site.startInService()
            let holder = try hold("latches", of: site).0
            func tool(_ words: String) throws -> String {
                let words = words.split(separator: " ").map(String.init)
                return try site.runTool(
                    words + ["--reason", "test", "--socket", site.controlSocket], status: 0
                ).output
            }
            #expect(try tool("mode BESS_01 hold").contains("NOT SAVED"))
            #expect(try tool("stop").contains("NOT SAVED"))
            try site.waitForMode("standby")
            try holder.ask("free")
            #expect(try !tool("stop").contains("NOT SAVED"), "the disk has both again")
            #expect(try !tool("mode BESS_01 hold").contains("NOT SAVED"))
        }

        @Test func `killed behind the answer to a stop, the site stands stopped`() throws {
            let site = try RunningSite.small()
            site.file.control.append("resume_after_restart: true")
            try site.startInService()
            for round in 0..<2 {
                _ = try site.runTool(
                    ["stop", "--reason", "smell", "--socket", site.controlSocket], status: 0)
                _ = try site.daemon.end(by: SIGKILL)
                try site.startDaemon()
                try site.waitForStatus("it is known to be stopped, round \(round)") { $0.stopped }
                try site.waitForMode("standby")
                if round == 0 {
                    _ = try site.runTool(
                        ["resume", "--reason", "aired", "--socket", site.controlSocket], status: 0)
                    try site.waitForMode("running")
                }
            }
        }
    }
}

@Suite struct DeadTimeTests {
    @Test func `what the unit's file sets and what the program adds come to zero within 2.5 s`() throws {
        let url = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../systemd/ballastd.service").standardizedFileURL
        let lines = try String(contentsOf: url, encoding: .utf8).split(separator: "\n")
        func milliseconds(_ key: String) throws -> Duration {
            let line = try #require(lines.first { $0.hasPrefix(key + "=") })
            let text = line.dropFirst(key.count + 1)
            let number = try #require(Int64(text.prefix { $0.isNumber }))
            return text.hasSuffix("ms") ? .milliseconds(number) : .seconds(number)
        }
        #expect(try milliseconds("WatchdogSec") == DeadTime.watchdog)
        #expect(try milliseconds("TimeoutAbortSec") == DeadTime.abort)
        #expect(DeadTime.process <= DeadTime.longest)
        #expect(DeadTime.thread(DeadTime.busLimit) <= DeadTime.longest)
        #expect(DeadTime.thread(DeadTime.cycleLimit) <= DeadTime.longest)
        #expect(DeadTime.keptThread <= DeadTime.longest)
        #expect(try milliseconds("TimeoutStopSec") >= SafeOutput.patience + .seconds(2))
    }
}

@Suite struct WatchdogTests {
    private static func time(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime.now() + .milliseconds(milliseconds)
    }

    @Test func `what stands still is waited for, then ends; what we did not see ourselves does not count`() {
        var dog = Watchdog()
        dog.watch("cycle", within: .milliseconds(200), limit: .milliseconds(1_500)) { 7 }
        let start = MonotonicTime.now() + .milliseconds(10)
        func look(_ milliseconds: Int64) -> Watchdog.Verdict {
            dog.look(at: start + .milliseconds(milliseconds))
        }
        #expect(look(0) == .feed)
        for time in stride(from: 50, through: 200, by: 50) { #expect(look(Int64(time)) == .feed) }
        for time in stride(from: 250, through: 1_500, by: 50) { #expect(look(Int64(time)) == .wait) }
        #expect(look(1_550) == .end("cycle"))
        var late = Watchdog()
        late.watch("cycle", within: .milliseconds(200), limit: .milliseconds(1_500)) { 7 }
        #expect(late.look(at: start) == .feed)
        #expect(late.look(at: start + .seconds(60)) == .feed, "we were stopped ourselves")
    }
}

@Suite struct LogQueueTests {
    private static func record(_ event: String, kept: Bool = false) -> LogRecord {
        var record = LogRecord(.info, event, fields: [("BALLAST_EVENT", event)])
        record.mustBeKept = kept
        return record
    }

    @Test func `what finds no room is counted by its name, and a trip always finds room, in its order`() {
        let queue = LogQueue()
        let journal = Journal(queue: queue)
        for index in 0..<LogQueue.capacity + 10 {
            journal.write(Self.record(index % 2 == 0 ? "mode" : "link_down"))
            if index == 5 { journal.write(Self.record("trip", kept: true)) }
        }
        journal.write(Self.record("trip", kept: true))
        #expect(!queue.isIdle)
        let (lines, lost) = queue.take()
        #expect(lines.count == LogQueue.capacity + 2)
        #expect(lines[6].record.text == "trip" && lines.last?.record.text == "trip")
        #expect(lost.text == "10 lines: 5 link_down, 5 mode")
        #expect(!queue.isIdle, "they are being delivered")
        #expect(queue.take().lines.isEmpty && queue.isIdle)
    }
}
