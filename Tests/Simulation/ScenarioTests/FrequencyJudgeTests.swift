import Foundation
import Scenario
import Testing

/// What `ballast-sim conformance` computes, against a program that was written from the definitions alone and
/// computes in exact fractions: Tests/Peers/frequency_judge.py draws the rows and says what each one gives.
@Suite struct FrequencyJudgeTests {
    static let rowCount = 800

    @Test func `the power at a frequency is the judge's, for every model, edge, limit and charge`() throws {
        let drawn = try Judge.draw("droop", rows: Self.rowCount)
        let report = try DroopConformance.run(drawn.table)
        Self.check(report, drawn)
    }

    @Test func `the power at an instant of a profile is the judge's, for every response time`() throws {
        let drawn = try Judge.draw("time", rows: Self.rowCount)
        let report = try TimeConformance.run(drawn.table) { (name) throws(CSVError) in
            guard let text = drawn.profiles[name] else { throw CSVError(line: 0, "\(name): not there") }
            do throws(FrequencyProfile.ParseError) { return try FrequencyProfile(csv: text) } catch {
                throw CSVError(line: 0, "\(error)")
            }
        }
        Self.check(report, drawn)
    }

    private static func check(_ report: ConformanceReport, _ drawn: Judge.Drawn) {
        let seed: Comment = "seed \(drawn.seed)"
        #expect(report.errors == [] && report.notes == [], seed)
        #expect(report.checkedCount == rowCount, seed)
        #expect(report.misses.prefix(5) == [], "\(seed): \(report.summary ?? "")")
        #expect(report.worst.map { $0.error <= 1e-6 } == true, seed)
    }
}

/// The peer, run to its end.
private enum Judge {
    struct Output: Decodable {
        var table: String
        var profiles: [String: String]
    }

    struct Drawn {
        var seed: UInt32
        var table: String
        var profiles: [String: String]
    }

    static func draw(_ kind: String, rows: Int) throws -> Drawn {
        let python = try #require(
            ProcessInfo.processInfo.environment["BALLAST_PYTHON"],
            "BALLAST_PYTHON is not set: run hil/test, which installs the peers")
        let seed = UInt32.random(in: 0...UInt32.max)
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: python)
        process.arguments = [
            tests.appendingPathComponent("Peers/frequency_judge.py").path, kind, "\(seed)", "\(rows)",
        ]
        process.standardOutput = output
        try process.run()
        let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "seed \(seed): ended with \(process.terminationStatus)")
        let drawn = try JSONDecoder().decode(Output.self, from: bytes)
        return Drawn(seed: seed, table: drawn.table, profiles: drawn.profiles)
    }
}
