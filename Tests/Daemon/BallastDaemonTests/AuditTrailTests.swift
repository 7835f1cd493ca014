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

    /// As a recorder leaves it that ends beside a full disk; what is said last of all finds room again.
    @Test func `what is said last of all stands behind what it says is lost`() throws {
        try live([.started])
        for name in ["audit", "spool"] {
            try SpoolWriter(directory: scratch.path + "/" + name).reserve(3)
        }
        let outbox = EventOutbox(mode: "production")
        Journal(outlet: { outbox.put($0) }).write(LogRecord(.stopped, "stopped"))
        RecorderThread.keepLast(outbox, in: scratch.path)
        let texts = try records("audit").map { String(decoding: $0.payload, as: UTF8.self) }
        #expect(texts.count == 4 && texts[1].contains("of the spool are lost"), "\(texts)")
        #expect(texts[2].contains("records 2 to 4 of the audit are lost") && texts[3].contains("stopped"))
        let found = try verify()
        #expect(found.status == 0 && found.text.contains("MISSING 3,"), "\(found.text)")
        let told = try records("spool").map { String(decoding: $0.payload, as: UTF8.self) }
        #expect(told.contains { $0.contains("of the audit are lost") })
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

    /// The folder's own names say from which number on something is there.
    private func firstThere() throws -> UInt64 {
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.path + "/audit").filter {
            $0.hasSuffix(".spool")
        }
        return try #require(
            names.sorted().first?.dropLast(6).split(separator: "-").last.flatMap { UInt64($0) })
    }

    @Test func `what made room is said by the tool and goes up, in words, with its count`() throws {
        var trail = try AuditTrail(directory: scratch.path)
        let filling = String(repeating: "x", count: 40_000)
        let event = Array("{\"event\":\"operator\",\"x\":\"\(filling)\"}".utf8)
        repeat {
            trail.append([[UInt8]](repeating: event, count: 20))
            try trail.sync()
        } while try firstThere() == 1
        let made = trail.takeReports()
        #expect(made.count == 1, "\(made)")
        let before = try firstThere() - 1
        let found = try verify()
        #expect(found.status == 0)
        #expect(found.text.contains("the oldest \(before), 1 to \(before), have made room and are gone"))
        _ = consume trail
        // What a recorder appends makes room once more.
        let outbox = EventOutbox(mode: "production")
        let journal = Journal(outlet: { outbox.put($0) })
        for _ in 0..<900 { journal.write(LogRecord(.operator, String(repeating: "y", count: 2_000))) }
        // The second writes down what the first has said at its end.
        for _ in 0..<2 {
            let recorder = RecorderThread(
                directory: scratch.path, spoolMegabytes: 16, journal: journal, beat: Beat("recorder"),
                outbox: outbox)
            recorder.end()
            recorder.run()
        }
        let now = try firstThere() - 1
        try #require(now > before)
        let told = try records("spool").map { String(decoding: $0.payload, as: UTF8.self) }.filter {
            $0.contains("records_lost")
        }
        // A line for each part that went: together they name every number that is not there any more.
        var next = before + 1
        for line in told {
            let words = try #require(
                line.firstMatch(of: /the audit's oldest (\d+) records, (\d+) to (\d+), have made room/),
                "\(line)")
            let (count, from, to) = (UInt64(words.1) ?? 0, UInt64(words.2) ?? 0, UInt64(words.3) ?? 0)
            #expect(from == next && to + 1 - from == count, "\(line)")
            next = to + 1
        }
        #expect(next == now + 1, "\(told)")
    }

    @Test func `every kind that it keeps goes up as well`() {
        for kind in AuditTrail.kinds { #expect(EventTable.row(kind).way == .up, "\(kind)") }
        for kind in [EventName.trip, .reset, .operator, .operatorRefused, .remoteLease, .started, .reloaded] {
            #expect(AuditTrail.kinds.contains(kind))
        }
    }
}
