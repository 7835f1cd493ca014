import Foundation
import FrequencyRecord
import Quantities
import Recorder
import Testing

/// The programs as a person runs them.
@Suite struct ProgramTests {
    struct Answer {
        var status: Int32
        var output: String
        var errors: String
    }

    private static func run(_ program: String, _ arguments: [String]) throws -> Answer {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let process = Process()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }  // A left-over in /tmp harms nobody.
        // Files, not pipes: a full pipe would stop the program.
        let files = ["out", "err"].map { folder.appendingPathComponent($0) }
        for file in files { try Data().write(to: file) }
        process.executableURL = URL(fileURLWithPath: own).deletingLastPathComponent().appendingPathComponent(
            program)
        process.arguments = arguments
        process.currentDirectoryURL = Bench.root
        process.standardOutput = try FileHandle(forWritingTo: files[0])
        process.standardError = try FileHandle(forWritingTo: files[1])
        try process.run()
        process.waitUntilExit()
        let texts = try files.map { try String(contentsOf: $0, encoding: .utf8) }
        return Answer(status: process.terminationStatus, output: texts[0], errors: texts[1])
    }

    /// A folder that goes away with the test.
    private final class Scratch {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path

        init() throws {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        deinit { try? FileManager.default.removeItem(atPath: path) }  // A left-over in /tmp harms nobody.
    }

    private static let origin: Int64 = 1_767_225_600_000

    /// Ten minutes at 1 Hz: from 60 s to 160 s at 49.8 Hz, where 90 % is delivered; nothing from 300 s to 400 s.
    private static func record(in folder: String) throws {
        let spool = try SpoolWriter(directory: folder)
        var batch = SampleBatch()
        for second in 0..<600 where !(300..<400).contains(second) {
            let isEvent = (60..<160).contains(second)
            let sample = FrequencySample(
                milliseconds: origin + Int64(second) * 1_000, frequency: Hertz(isEvent ? 49.8 : 50),
                expected: .kilowatts(isEvent ? 68 : 0), delivered: .kilowatts(isEvent ? 61.2 : 0),
                rated: .kilowatts(1_000))
            if !batch.accepts(sample) {
                if let bytes = batch.json { _ = try spool.append(bytes) }
                batch = SampleBatch()
            }
            batch.append(sample)
        }
        if let bytes = batch.json { _ = try spool.append(bytes) }
        _ = try spool.append(Array("{\"kind\":\"event\"}".utf8))
        try spool.sync()
    }

    @Test func `ballastctl reports a record with its known answer as JSON, text and page`() throws {
        let scratch = try Scratch()
        let spool = scratch.path + "/performance"
        try Self.record(in: spool)
        let page = scratch.path + "/page.html"
        let json = try Self.run(
            "ballastctl", ["frequency", "report", "--spool", spool, "--json", "--html", page])
        #expect(json.status == 0 && json.errors.isEmpty, "\(json)")
        let report = try #require(
            try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        let event = try #require((report["events"] as? [[String: Any]])?.first)
        #expect(report["samples"] as? Int == 500)
        #expect((report["remarks"] as? [String])?.count == 1, "the record of another kind is named")
        #expect((report["gaps"] as? [[String: Any]])?.compactMap { $0["duration_s"] as? Double } == [101])
        #expect(event["duration_s"] as? Double == 100 && event["nadir_hz"] as? Double == 49.8)
        #expect(event["expected_peak_kw"] as? Double == 68 && event["delivered_peak_kw"] as? Double == 61.2)
        #expect(event["beta_share"] as? Double == 0.9 && event["response_s"] as? Double == 0)
        let score = try #require(report["score"] as? [String: Any])
        // 40 · 0.9 + 25 + 20 + 15 · (498 ÷ 599): one gap of 101 s.
        let total = 36 + 25 + 20 + 15 * 498.0 / 599
        #expect(
            ((score["total"] as? Double ?? 0) - total).magnitude < 0.001
                && score["regulatory"] as? Bool == false)
        #expect(try String(contentsOfFile: page, encoding: .utf8).contains("</html>"))
        let text = try Self.run("ballastctl", ["frequency", "report", "--spool", spool])
        #expect(text.output.contains("gap of 1 min 41.0 s from 2026-01-01T00:04:59.000Z"))
        #expect(text.output.contains("older than this report"), "the age of the newest sample")
    }

    // swift-format-ignore
    static let times: [(from: String, to: String, verdict: String, why: Comment)] = [
        ("2026-01-01T00:02:50Z", "2026-01-01T00:04:00Z", "no_events", "after the event"),
        ("2026-01-01T00:05:10Z", "2026-01-01T00:06:00Z", "no_data", "inside the gap"),
        ("2026-01-01T00:01:30Z", "2026-01-01T00:04:00Z", "not_judged", "from the middle of the event on"),
        ("2026-01-01T00:00:00Z", "2026-01-01T00:10:00Z", "scored", "all"),
    ]

    @Test(arguments: times)
    func `a report keeps to the time asked for`(from: String, to: String, verdict: String, why: Comment)
        throws
    {
        let scratch = try Scratch()
        try Self.record(in: scratch.path + "/p")
        let answer = try Self.run(
            "ballastctl",
            ["frequency", "report", "--spool", scratch.path + "/p", "--json", "--from", from, "--to", to])
        #expect(answer.output.contains("\"verdict\":\"\(verdict)\""), why)
    }

    // swift-format-ignore
    static let refused: [(arguments: [String], message: String)] = [
        (["--spool", "/nonexistent/performance"], "no performance record"),
        (["--from", "yesterday"], "is not a time like 2026-11-22T00:15:00Z"),
        (["--from", "2026-01-02T00:00:00Z", "--to", "2026-01-01T00:00:00Z"], "--from is not before --to"),
        (["--operating-band", "50.05:49.9"], "is not LOW:HIGH in Hz"),
        (["--operating-band", "nan:inf"], "is not LOW:HIGH in Hz"),
        (["--full-response-s", "0"], "--full-response-s is 0.1 … 3600"),
        (["--config", "hil/profiles/README.md"], "hil/profiles/README.md"),
    ]

    @Test(arguments: refused)
    func `what cannot be reported is refused in words`(arguments: [String], message: String) throws {
        let answer = try Self.run("ballastctl", ["frequency", "report"] + arguments)
        #expect(answer.status != 0 && answer.errors.contains(message), "\(answer)")
    }

    @Test func `replay-frequency runs the shipped files and writes rows and a drawing`() throws {
        let scratch = try Scratch()
        let (csv, svg) = (scratch.path + "/e.csv", scratch.path + "/e.svg")
        let answer = try Self.run(
            "ballast-sim",
            [
                "replay-frequency", "hil/profiles/uk_2023-12-22_1s.csv", "--config",
                "config/examples/demo-site.yaml", "--csv", csv, "--plot", svg,
            ])
        #expect(answer.status == 0 && answer.errors.isEmpty, "\(answer)")
        #expect(answer.output.contains("worst deviation") && answer.output.contains("55.6000"))
        let rows = try String(contentsOfFile: csv, encoding: .utf8).split(separator: "\n")
        #expect(rows.count == 1_392, "139 s in steps of 0.1 s and a heading")
        #expect(try String(contentsOfFile: svg, encoding: .utf8).hasSuffix("</svg>\n"))
        let help = try Self.run("ballast-sim", ["replay-frequency", "--help"])
        for file in ["hil/profiles/uk_2019-08-09_1s.csv", "config/examples/demo-site.yaml"] {
            #expect(help.output.contains(file))
            #expect(FileManager.default.fileExists(atPath: Bench.root.appendingPathComponent(file).path))
        }
    }

    // swift-format-ignore
    static let profiles: [(text: String, message: String)] = [
        ("t_s,f_hz\n0,50\n1,fifty\n", "bad.csv: line 3: \"1,fifty\" "),
        ("t_s,f_hz\n0,50\n1,nan\n", "bad.csv: line 3"),
        ("t_s,f_hz\n0,50\n0,50\n", "bad.csv: line 3: time 0 s must be"),
        ("t_s,f_hz\n0,39.999\n", "bad.csv: line 2: frequency 39.999 Hz is outside 40 … 70"),
        ("t_s,f_hz\n0,70.001\n", "bad.csv: line 2: frequency 70.001 Hz is outside 40 … 70"),
        ("f_hz\n50\n", "bad.csv: line 1: the header must be"),
        ("", "bad.csv: line 1"),
    ]

    @Test(arguments: profiles)
    func `a bad profile is refused with its file and line`(text: String, message: String) throws {
        let scratch = try Scratch()
        let path = scratch.path + "/bad.csv"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        let answer = try Self.run(
            "ballast-sim", ["replay-frequency", path, "--config", "config/examples/demo-site.yaml"])
        #expect(answer.status == 1 && answer.errors.contains(message), "\(answer)")
    }
}
