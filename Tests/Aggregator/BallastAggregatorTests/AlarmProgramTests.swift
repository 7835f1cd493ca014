import Foundation
import Glibc
import ProgramSupport
import Testing

@testable import BallastAggregator

/// The real program, judged by what arrives at a mail server (aiosmtpd, STARTTLS) and at a webhook.
@Suite struct AlarmProgramTests {
    private static let python = ProcessInfo.processInfo.environment["BALLAST_PYTHON"] ?? "python3"

    /// What a peer says to the end, and how it ends.
    private static func run(_ command: String) throws -> (status: CInt, text: String) {
        let result = try #require(popen(command + " 2>&1 < /dev/null", "r"))
        var text = ""
        var line = [CChar](repeating: 0, count: 4_096)
        while fgets(&line, 4_096, result) != nil {
            text += String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        return (pclose(result), text)
    }

    @Test func `alarms are mailed and posted once, over flicker and kill, and acts are those of who may`()
        throws
    {
        let scratch = try ScratchFolder()
        let judge =
            #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 } + "/Peers/alarm_judge.py"
        let program = try RunningProgram.path(of: "ballast-aggregator")
        let result = try Self.run("\(Self.python) \(judge) \(program) \(scratch.path)")
        #expect(result.status == 0 && result.text == "OK\n", "\(result.text)")
    }

    // swift-format-ignore
    static let refused: [(text: String, says: String, why: Comment)] = [
        ("rules: [{id: danger, when: danger, severity: warning}]", "cannot be left out or be made less", "danger made less"),
        ("rules: [{id: danger, when: danger, severity: life_safety, for_s: 86400}]", "within 10 s", "danger a day late"),
        ("rules: [{id: danger, when: danger, severity: life_safety, sites: [demo]}]", "at all sites", "danger at one site alone"),
        ("rules: [{id: a, when: below, severity: warning}]", "and limit are missing", "below what?"),
        ("rules: [{id: a, when: trip, severity: grave}]", "life_safety", "no such severity"),
        ("rules: [{id: a, when: trip, severity: warning, sites: [nope]}]", "there is no site", "no such site"),
        ("mail: {host: mail.example.org, from: a@b.c, to: [a@b.c], starttls: false}", "on this machine only", "in the clear"),
        ("mail: {from: a@b.c, to: [\"a@b.c>\\r\\nDATA\"]}", "is no address", "a line in an address"),
        ("webhook: {url: \"ftp://x\", key_file: k}", "http:// or https://", "no webhook"),
        ("daily_summary: {at: \"07:00\"}", "reaches nobody", "nobody is told"),
        ("mail: {from: a@b.c, to: [a@b.c], escalate_to: [nobody]}", "is no address", "who is told later"),
        ("quiet_hours: {from: \"25:00\", until: \"06:00\"}", "22:00", "no hour"),
    ]

    @Test(arguments: refused) func `what the file says of alarms is checked`(
        row: (text: String, says: String, why: Comment)
    ) {
        let site = `The aggregator's configuration`.site
        do {
            _ = try `The aggregator's configuration`.read(
                "database: x\nsites: \(site)\nalarms:\n  \(row.text)")
            Issue.record("accepted: \(row.why)")
        } catch {
            #expect("\(error)".contains(row.says), "\(row.why): \(error)")
        }
    }
}
