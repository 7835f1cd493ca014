import ControlSocket
import Glibc
import Interlocks
import ProgramSupport
import Recorder
import Testing

@testable import BallastDaemon

/// How the last run ended, and what follows from it.
@Suite struct RestartJudgeTests {
    static let now: Int64 = 1_800_000_000

    static func running(_ restarts: Int64...) -> RunRecord.Finding {
        .read(RunRecord(isRunning: true, restarts: restarts))
    }

    // swift-format-ignore
    static let rows: [(
        finding: RunRecord.Finding, hold: UnitHold, resumed: UnitHold, count: Int, why: Comment
    )] = [
        (.missing,                                         .none, .none, 0, "nothing has run here"),
        (.read(RunRecord(isRunning: false, restarts: [])), .none, .none, 0, "it ended in order"),
        (.read(RunRecord(isRunning: false, restarts: [now - 1, now])), .none, .none, 2,
         "it ended in order, though others did not"),
        (running(),                          .afterRestart,     .none,             1, "killed once"),
        (running(now - 1),                   .afterRestart,     .none,             2, "twice"),
        (running(now - 600, now - 1),        .repeatedRestarts, .repeatedRestarts, 3, "the third in ten min"),
        (running(now - 601, now - 1),        .afterRestart,     .none,             3, "the first is too old"),
        (running(now + 3_600, now - 1),      .repeatedRestarts, .repeatedRestarts, 3, "the clock went back"),
        (running(86_400, now - 1),           .repeatedRestarts, .repeatedRestarts, 3, "the clock was not set"),
        (running(now - 1, now - 1, now - 1), .repeatedRestarts, .repeatedRestarts, 3, "the newest three"),
        (.unreadable("torn"),                .afterRestart,     .afterRestart,     1, "unknown, not healthy"),
    ]

    @Test(arguments: rows)
    func `units are held after a run that did not end in order, and after the third whatever the site says`(
        row: (finding: RunRecord.Finding, hold: UnitHold, resumed: UnitHold, count: Int, why: Comment)
    ) {
        let held = Restart.judge(row.finding, resumes: false, wallSeconds: Self.now)
        let resumed = Restart.judge(row.finding, resumes: true, wallSeconds: Self.now)
        #expect(held.hold == row.hold && resumed.hold == row.resumed, row.why)
        #expect(held.record.isRunning && held.record == resumed.record, row.why)
        #expect(held.record.restarts.count == row.count, row.why)
        let isPlanned = row.hold.isEmpty
        #expect(held.notes.isEmpty == isPlanned, row.why)
        if !isPlanned { #expect(held.record.restarts.last == Self.now, row.why) }
    }

    @Test
    func `where latches may be lost no setting starts a unit, and latches without a run record are such`() {
        let doubted = Restart.judge(
            Self.running(), hasRun: true, doubt: "sick disk", resumes: true, wallSeconds: Self.now)
        #expect(doubted.hold == .afterRestart)
        #expect(doubted.notes.map(\.text).first?.contains("; sick disk") == true)
        let orphaned = Restart.judge(.missing, hasRun: true, resumes: true, wallSeconds: Self.now)
        #expect(orphaned.hold == .afterRestart && orphaned.record.restarts == [Self.now])
        let ended = RunRecord.Finding.read(RunRecord(isRunning: false, restarts: []))
        let planned = Restart.judge(
            ended, hasRun: true, doubt: "an old proof", resumes: false, wallSeconds: Self.now)
        #expect(planned.hold.isEmpty, "it ended in order, with all of it on disk, however long ago")
    }

    @Test func `while the clock is not set every restart counts`() {
        let finding = Self.running(1_790_000_000, 1_790_000_001)
        #expect(Restart.judge(finding, resumes: true, wallSeconds: 5).hold == .repeatedRestarts)
    }

    @Test func `a record is read as it was written, and one that was touched is not`() {
        let record = RunRecord(isRunning: true, restarts: [Self.now, -5])
        #expect(RunRecord(bytes: record.bytes) == record)
        for index in record.bytes.indices {
            var bytes = record.bytes
            bytes[index] ^= 1
            #expect(RunRecord(bytes: bytes) == nil, "byte \(index)")
            #expect(RunRecord(bytes: Array(record.bytes[..<index])) == nil, "cut at \(index)")
        }
        #expect(RunRecord(bytes: RunRecord(isRunning: false, restarts: []).bytes)?.isRunning == false)
    }
}

extension BallastDaemonTests {
    @Suite struct RestartTests {
        private func expectHeld(_ site: RunningSite, _ hold: String) throws {
            try site.waitForStatus("the unit is held") { $0.units[0].holds == [hold] }
            try site.waitForMode("standby")
            let seen = try site.status().cycle
            // Long enough to enter service, had it not been held.
            try site.waitForStatus("it stays there") { $0.cycle > seen + 100 }
            #expect(try site.unit(0).mode == "standby")
            let why = try site.runTool(["why", "BESS_01", "--socket", site.controlSocket], status: 0)
            #expect(why.output.contains("; 'ballastctl resume BESS_01' starts it"))
        }

        @Test func `after a crash a unit waits for a resume, and after an orderly end it does not`() throws {
            let site = try RunningSite.small()
            try site.startInService()
            #expect(try site.daemon.end(by: SIGTERM) == 0)
            try site.startDaemon()
            try site.waitForMode("running")

            try site.daemon.end(by: SIGKILL)
            try site.startDaemon()
            try site.daemon.waitForLog("unplanned restart: the last run did not end in order; time 1 in 10")
            try expectHeld(site, "after_restart")
            // An orderly restart is no resume either.
            try eventually("the hold is on disk") {
                let path = LatchRecord.path(in: site.scratch.path + "/state")
                guard case .read(let record) = LatchRecord.read(path) else { return false }
                return record.entries.map(\.hold) == [UnitHold.afterRestart.rawValue]
            }
            #expect(try site.daemon.end(by: SIGTERM) == 0)
            try site.startDaemon()
            try site.daemon.waitForLog("unit BESS_01 is held after an unplanned restart")
            try expectHeld(site, "after_restart")
            let change = ["--reason", "the cable was pulled", "--socket", site.controlSocket]
            let answer = try site.runTool(["resume", "BESS_01"] + change, status: 0)
            #expect(answer.output.contains("nothing holds it; it enters service anew"))
            try site.waitForMode("running")
            try site.daemon.waitForLog("asks: resume BESS_01: the cable was pulled", "nothing holds the unit")
        }

        @Test func `where the site allows it a unit runs again by itself, but not the third time`() throws {
            let site = try RunningSite.small()
            site.file.control.append("resume_after_restart: true")
            mkdir(site.scratch.path + "/runtime", 0o750)
            let environment = ["RUNTIME_DIRECTORY=\(site.scratch.path)/runtime"]
            try site.startPlant()
            try site.startDaemon(environment: environment)
            try site.waitForMode("running")
            for _ in 0..<2 {
                try site.daemon.end(by: SIGKILL)
                try site.startDaemon(environment: environment)
                try site.daemon.waitForLog("units enter service by themselves (resume_after_restart)")
                try site.waitForMode("running")
            }
            try site.daemon.end(by: SIGKILL)
            try site.startDaemon()
            try expectHeld(site, "repeated_restarts")
            try site.bringBack()
        }

        @Test func `a reset starts nothing, and a resume comes after it`() throws {
            let site = try RunningSite.small()
            try site.startInService()
            try site.simulate("fault inverter_fault BESS_01")
            try site.waitForMode("tripped")
            let change = ["--reason", "looked at it", "--socket", site.controlSocket]
            let early = try site.runTool(["resume", "BESS_01"] + change, status: 1)
            #expect(early.log.contains("a trip is latched, and 'ballastctl reset BESS_01' comes first"))
            let whole = try site.runTool(["resume"] + change, status: 0)
            #expect(whole.output.contains("; tripped, and not resumed: BESS_01"))
            try site.simulate("clear inverter_fault BESS_01")
            try site.waitForStatus("the cause is gone") { status in
                let request = ControlRequest(.reset, unit: "BESS_01", reason: "seen to")
                return try ControlClient.ask(request, at: site.controlSocket)?.error == nil
            }
            try expectHeld(site, "after_reset")
            let unknown = try site.runTool(["resume", "BESS_9"] + change, status: 1)
            #expect(unknown.log.contains("no such unit"))
            _ = try site.runTool(["resume", "BESS_01"] + change, status: 0)
            try site.waitForMode("running")
        }
    }
}
