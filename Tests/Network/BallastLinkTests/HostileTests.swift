import Foundation
import ProgramSupport
import Recorder
import Testing

/// The real link and twenty-two malicious aggregators, which Python plays.
@Suite struct `A malicious aggregator` {
    private struct Outcome: Decodable {
        var name: String
        var asked: Int
        var memory_mb: Int
        var mark: UInt64
        var is_dirty: Bool
        var lines: Int
        var status: Int
        var brought: Int
        var last_brought: Int
        var log: String
    }

    @Test func `gets no record forgotten, no memory, no hot loop, and nothing into a log`() throws {
        let scratch = try ScratchFolder()
        let writer = try SpoolWriter(directory: scratch.path + "/spool")
        for number in 1...50 { _ = try writer.append(Array("{\"kind\":\"event\",\"was\":\(number)}".utf8)) }
        try writer.sync()
        let python = try #require(ProcessInfo.processInfo.environment["BALLAST_PYTHON"])
        let process = Process()
        process.executableURL = URL(fileURLWithPath: python)
        process.arguments = [
            "Tests/Peers/hostile_aggregator.py", try RunningProgram.path(of: "ballast-link"), scratch.path,
            "5",
        ]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let outcomes = try output.split(separator: UInt8(ascii: "\n")).map {
            try JSONDecoder().decode(Outcome.self, from: $0)
        }
        #expect(outcomes.count == 22 && process.terminationStatus == 0)
        for one in outcomes {
            // Reports, commands and captures; each with pauses that grow.
            #expect((1...120).contains(one.asked), "\(one.name): \(one.asked)")
            #expect(one.memory_mb < 120, "\(one.name): \(one.memory_mb) MB")
            // Of one that takes it nobody knows better; all of it was brought.
            let isGiven = one.name == "has what was never sent"
            #expect(one.mark == (isGiven ? 50 : 0), "\(one.name): it believes \(one.mark)")
            if isGiven { #expect(one.brought == 50, "\(one.brought)") }
            #expect(one.last_brought <= 8, "\(one.name): the tail was sent \(one.last_brought) times")
            #expect(!one.is_dirty && one.lines < 40, "\(one.name): \(one.lines) lines")
            #expect(one.status == 0, "\(one.name)")
            // Each answer ends soon, not by its deadline of 30 s, so that reports are tried again.
            if one.name == "100 Continue without end" {
                #expect(one.asked > 3 && one.log.contains("heads of status 1xx"), "\(one.asked): \(one.log)")
            }
            // Leases are asked for though no report gets through.
            if one.name == "a black hole for what is large" { #expect(one.asked > 5, "\(one.asked)") }
        }
    }
}
