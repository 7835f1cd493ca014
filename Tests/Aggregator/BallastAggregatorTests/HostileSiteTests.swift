import Foundation
import Glibc
import ProgramSupport
import Testing

/// The real aggregator and a malicious site, which Python plays.
@Suite struct `A malicious site` {
    private struct Outcome: Decodable {
        var name: String
        var status: Int
        var right: [Int]
    }

    let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    @Test func `is refused by name whatever it sends, and spoils nothing of itself or of others`()
        async throws
    {
        let aggregator = try RunningAggregator(in: scratch, extra: "limits: {body_s: 2}")
        let python = try #require(ProcessInfo.processInfo.environment["BALLAST_PYTHON"])
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: python)
        process.arguments = ["Tests/Peers/hostile_site.py", "\(aggregator.port)"]
        process.standardOutput = pipe
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let outcomes = try output.split(separator: UInt8(ascii: "\n")).map {
            try JSONDecoder().decode(Outcome.self, from: $0)
        }
        #expect(outcomes.count == 53 && process.terminationStatus == 0, "\(outcomes.count)")
        for one in outcomes { #expect(one.right.contains(one.status), "\(one.name): \(one.status)") }
        let resident = try aggregator.residentBytes()
        #expect(resident < 300 << 20, "\(resident >> 20) MiB")
        let state = try await aggregator.get("/v1/sites/other/state").body
        #expect(
            !state.contains("\"frequency_hz\":50"), "what was renamed is not taken for what it was: \(state)")
        #expect(aggregator.end(by: SIGTERM) == 0)
        let verify = try RunningProgram(
            "ballast-aggregator", ["verify", "--config", try aggregator.writeFile(), "--replay"])
        #expect(verify.end(by: 0) == 0, "\(verify.log)")
    }

    @Test func `holds no more connections than there may be, and those that wait come in as others go`()
        async throws
    {
        let aggregator = try RunningAggregator(in: scratch, extra: "limits: {connections: 16}")
        var held: [RawClient] = []
        // Each is known to be taken: it has an answer, and stays. Of one token there may be half of all.
        func question(_ token: String) -> [UInt8] {
            Array("GET /v1/sites HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(token)\r\n\r\n".utf8)
        }
        for number in 0..<16 {
            let client = try RawClient(port: aggregator.port)
            held.append(client)
            _ = client.send(question(number < 8 ? "demo-token" : "read-token"))
            while client.answer.isEmpty { _ = client.receive(within: .seconds(1)) }
        }
        let waiting = try (0..<8).map { _ in try RawClient(port: aggregator.port) }
        for client in waiting { _ = client.send(question("read-token")) }
        func answered() -> Int {
            for client in waiting where client.answer.isEmpty {
                _ = client.receive(within: .milliseconds(50))
            }
            return waiting.count { $0.answer.hasPrefix("HTTP/1.1 200 ") }
        }
        let early = answered()
        #expect(early == 0, "\(early) beyond the bound were answered")
        held.removeLast(8)
        let limit = Date.now + 30
        while answered() < 8, Date.now < limit {}
        #expect(answered() == 8)
    }
}
