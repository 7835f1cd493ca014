import AsyncHTTPClient
import GRDB
import Glibc
import NIOCore
import ProgramSupport
import Testing

@testable import BallastAggregator

@Suite struct `The program ballast-aggregator` {
    static let epoch = `An edge report`.epoch
    let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    static func report(_ numbers: ClosedRange<Int>, site: String = "demo") -> String {
        let records = numbers.map { "{\"n\":\($0),\"data\":{\"kind\":\"event\",\"was\":\($0)}}" }
        return "{\"site\":\"\(site)\",\"epoch\":\"\(epoch)\",\"records\":[\(records.joined(separator: ","))]}"
    }

    func storedNumbers(_ aggregator: RunningAggregator) throws -> [Int] {
        let queue = try DatabaseQueue(path: aggregator.database)
        return try queue.read { try Int.fetchAll($0, sql: "SELECT n FROM record ORDER BY n") }
    }

    // swift-format-ignore
    static let refused: [(token: String?, body: String, status: Int, says: String, why: Comment)] = [
        (nil,            report(1...1),                401, "no header",          "no token"),
        ("",             report(1...1),                401, "Bearer TOKEN",       "an empty token"),
        ("wrong",        report(1...1),                401, "not known",          "a bad token"),
        ("wrong",        "hello",                      401,
            "not known",          "the token is looked at first"),
        ("other-token",  report(1...1),                403, "not the one of site", "another site's token"),
        ("demo-token",   report(1...1, site: "nope"),  403, "no site",            "an unknown site"),
        ("demo-token",   report(1...1, site: "d\u{435}mo"), 403, "no site",      "a look-alike: its e is Cyrillic"),
        ("demo-token",   report(1...1, site: "demo\u{0}"), 400, "byte",           "a control character in a name"),
        ("demo-token",   report(1...1, site: "DEMO"),  403, "no site",            "case matters"),
        ("demo-token",   "hello",                      400, "byte 0",             "not JSON"),
        ("demo-token",   "{}",                         400, "site: is missing",   "the wrong shape"),
        ("demo-token",   report(5...6),                409, "1 comes next",       "begins too late"),
        ("demo-token",   String(repeating: " ", count: (8 << 20) + 1), 413, "larger than 8388608",
            "too large"),
    ]

    @Test func `refuses what it must not take, says why, and goes on`() async throws {
        let aggregator = try RunningAggregator(in: scratch)
        for row in Self.refused {
            let answer = try await aggregator.post(row.body, token: row.token)
            #expect(answer.status == row.status, row.why)
            #expect(answer.body.contains(row.says), row.why)
        }
        #expect(try await aggregator.post(Self.report(1...1)).status == 200)
        aggregator.end(by: SIGKILL)
        #expect(try storedNumbers(aggregator) == [1])
    }

    @Test func `refuses a report of unknown length as soon as it is too large`() async throws {
        let aggregator = try RunningAggregator(in: scratch)
        let chunk = ByteBuffer(repeating: 0x20, count: 1 << 20)
        let chunks = AsyncStream { continuation in
            for _ in 0..<9 { continuation.yield(chunk) }
            continuation.finish()
        }
        do {
            let answer = try await aggregator.ask(
                "/v1/edge/report", .stream(chunks, length: .unknown), token: "demo-token")
            // On a loaded machine its time may be over before it is too large.
            #expect(answer.status == 413 || answer.status == 408)
        } catch let error as HTTPClientError where error == .remoteConnectionClosed {
            // It hung up on a client that was still sending, and the answer went down with the connection.
        }
        #expect(try await aggregator.post(Self.report(1...1)).status == 200)
        aggregator.end(by: SIGKILL)
        #expect(try storedNumbers(aggregator) == [1])
    }

    @Test func `stores the same report once however often it comes`() async throws {
        let aggregator = try RunningAggregator(in: scratch)
        // The chain's head moves on with what else is recorded meanwhile.
        let expected = "{\"epoch\":\"\(Self.epoch)\",\"stored_through\":20,\"head\":\""
        for _ in 0..<3 {
            let answer = try await aggregator.post(Self.report(1...20))
            #expect(answer.status == 200 && answer.body.hasPrefix(expected), "\(answer.body)")
        }
        aggregator.end(by: SIGKILL)
        #expect(try storedNumbers(aggregator) == Array(1...20))
    }

    @Test func `has every answered number after SIGKILL`() async throws {
        let aggregator = try RunningAggregator(in: scratch)
        for round in 0..<5 {
            let through = round * 30 + 30
            let answer = try await aggregator.post(Self.report(round * 30 + 1...through))
            #expect(answer.body.contains("\"stored_through\":\(through),"))
            #expect(aggregator.end(by: SIGKILL) == 128 + Int(SIGKILL))
            try aggregator.start()
            #expect(try await aggregator.storedThrough() == UInt64(through))
        }
        aggregator.end(by: SIGKILL)
        #expect(try storedNumbers(aggregator) == Array(1...150))
    }

    @Test func `ends with 78 where its file cannot be used, so that nobody starts it again and again`() throws
    {
        let program = try RunningProgram("ballast-aggregator", ["--config", "/nowhere/aggregator.yaml"])
        try program.waitForLine(containing: "cannot be opened")
        #expect(program.end(by: 0) == 78)
    }

    @Test func `shows the sites, their state and the page, and ends on SIGTERM`() async throws {
        let aggregator = try RunningAggregator(in: scratch)
        _ = try await aggregator.post(Self.report(1...60))
        let sites = try await aggregator.get("/v1/sites")
        #expect(
            sites.body.hasPrefix(
                "{\"sites\":[{\"id\":\"demo\",\"epoch\":\"\(Self.epoch)\",\"stored_through\":60"))
        #expect(
            sites.body.contains(
                "{\"id\":\"other\",\"epoch\":null,\"stored_through\":null,\"last_seen\":null}"))
        let state = try await aggregator.get("/v1/sites/demo/state")
        #expect(state.body.contains("\"telemetry\":null,\"events\":[{\"n\":60,"))
        #expect(state.body.contains("{\"n\":11,") && !state.body.contains("{\"n\":10,"))
        #expect(try await aggregator.get("/v1/sites/nope/state").status == 404)
        let page = try await aggregator.get("/")
        #expect(page.status == 200)
        #expect(!page.body.contains("http://") && !page.body.contains("https://"))
        #expect(aggregator.end(by: SIGTERM) == 0)
    }
}
