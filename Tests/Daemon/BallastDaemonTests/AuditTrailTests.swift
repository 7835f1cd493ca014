import Foundation
import LinuxIO
import ProgramSupport
import Quantities
import Recorder
import SiteAudit
import SiteEvents
import Testing

@testable import BallastDaemon

/// The audit as the recorder writes it, looked at by the real `ballastctl` and by Python's hashlib.
@Suite struct `The audit on disk` {
    let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    /// A recorder's whole life, in which the events are written.
    private func live(_ events: [EventName], mode: String = "production") throws {
        let outbox = EventOutbox(mode: mode)
        let journal = Journal(outlet: { outbox.put($0) })
        let recorder = RecorderThread(
            directory: scratch.path, spoolMegabytes: 16, journal: Journal(outlet: { _ in }),
            beat: Beat("recorder"), outbox: outbox)
        for event in events { journal.write(LogRecord(event, "words", [.reason: "because"])) }
        recorder.end()
        recorder.run()
    }

    private func records(_ name: String) throws -> [SpoolRecord] {
        try SpoolReader(directory: scratch.path + "/" + name)
            .next(after: 0, limitBytes: 1 << 24, limitCount: 10_000).records
    }

    /// - Returns: what `ballastctl audit verify` says, and its status.
    private func verify(_ more: [String] = []) throws -> (text: String, status: Int32) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try RunningProgram.path(of: "ballastctl"))
        process.arguments = ["audit", "verify", "--state", scratch.path] + more
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (String(decoding: output, as: UTF8.self), process.terminationStatus)
    }

    @Test func `goes on over restarts, holds what people and safety did, and its head goes up`() throws {
        try live([.started, .operator, .linkUp, .reset, .stopped])
        try live([.started, .operatorRefused, .trip, .deviceSilent])
        let audit = try records("audit")
        let events = audit.compactMap { AuditRecord(number: $0.number, payload: $0.payload)?.event }
        let names = events.map { String(decoding: $0, as: UTF8.self) }.compactMap {
            $0.split(separator: "\"event\":\"").dropFirst().first?.prefix { $0 != "\"" }
        }
        #expect(names == ["started", "operator", "reset", "stopped", "started", "operator_refused", "trip"])
        let last = try #require(audit.last)
        let head = try #require(AuditRecord(number: last.number, payload: last.payload)?.head)
        let told = try records("spool").map { String(decoding: $0.payload, as: UTF8.self) }.filter {
            $0.contains("\"kind\":\"audit\"")
        }
        #expect(told.count == 2 && told[1].contains("\"head\":\"\(head.text)\"") == true)
        let found = try verify(["--head", head.text])
        #expect(found.status == 0 && found.text.contains("whole: 7 records, from 1 on; head \(head.text)"))
    }

    @Test func `a changed byte on the disk, and an end that was cut, are found`() throws {
        try live([.started, .operator, .reset, .trip])
        let segment = try #require(
            try FileManager.default.contentsOfDirectory(atPath: scratch.path + "/audit").first {
                $0.hasSuffix(".spool")
            })
        let path = scratch.path + "/audit/" + segment
        let good = try #require(FileManager.default.contents(atPath: path))
        for place in stride(from: 41, to: good.count, by: 41) {
            var bad = good
            bad[place] ^= 1
            try bad.write(to: URL(fileURLWithPath: path))
            let found = try verify()
            #expect(found.status == 1, "byte \(place): \(found.text)")
        }
        try good.write(to: URL(fileURLWithPath: path))
        #expect(try verify().status == 0)
        // Cut, with all care: the spool has the head.
        try FileManager.default.removeItem(atPath: scratch.path + "/audit")
        try live([.started])
        let cut = try verify()
        #expect(cut.status == 1 && cut.text.contains("CUT: head 4:"))
    }

    @Test func `every kind that it keeps goes up as well`() {
        for kind in AuditTrail.kinds { #expect(EventTable.row(kind).way == .up, "\(kind)") }
        for kind in [EventName.trip, .reset, .operator, .operatorRefused, .remoteLease, .started, .reloaded] {
            #expect(AuditTrail.kinds.contains(kind))
        }
    }
}
