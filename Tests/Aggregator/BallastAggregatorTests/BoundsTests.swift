import Foundation
import Glibc
import ProgramSupport
import Testing

/// What peers may take of the machine, seen from plain sockets and from the kernel.
@Suite(.serialized) struct `The bounds of the aggregator` {
    let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    @Test func `150 unfinished bodies do not take its memory, and another site is served meanwhile`()
        async throws
    {
        let aggregator = try RunningAggregator(in: scratch)
        _ = try await aggregator.post(`The program ballast-aggregator`.report(1...10))
        let before = try aggregator.residentBytes()
        let clients = try (0..<150).map { _ in try RawClient(port: aggregator.port) }
        for client in clients { client.sendHead(length: 8 << 20) }
        let piece = [UInt8](repeating: 0x20, count: 256 << 10)
        // 7 MiB of 8 from each, as far as the other side takes them.
        for _ in 0..<28 {
            for client in clients { _ = client.send(piece) }
            for client in clients { _ = client.receive(within: .zero) }
        }
        let answer = try await aggregator.post(
            `The program ballast-aggregator`.report(1...1, site: "other"), token: "other-token")
        #expect(answer.status == 200)
        let grown = try aggregator.residentBytes() - before
        // Two bodies of 8 MiB of one token may be there, in a few copies; 150 of them would be 1.2 GB.
        #expect(grown < 200 << 20, "\(grown >> 20) MiB")
        let limit = Date.now + 60
        func refused() -> Int { clients.count { $0.answer.hasPrefix("HTTP/1.1 429 ") } }
        while refused() < 148, Date.now < limit {
            for client in clients where client.answer.isEmpty { _ = client.receive(within: .milliseconds(1)) }
        }
        #expect(refused() == 148, "of one token two bodies of 8 MiB have room")
        let metrics = try await aggregator.get(
            "http://127.0.0.1:\(aggregator.localPort)/metrics", token: nil)
        #expect(metrics.body.contains("ballast_aggregator_bodies_bytes 16777216.0"), "\(metrics.body)")
    }

    @Test func `a body that drips ends with 408, its connection too, and gives its room back`() async throws {
        let aggregator = try RunningAggregator(in: scratch, extra: "limits: {body_s: 1}")
        let client = try RawClient(port: aggregator.port)
        client.sendHead(length: 8 << 20)
        let limit = Date.now + 60
        var isClosed = false
        while !isClosed, Date.now < limit {
            _ = client.send([0x20])
            isClosed = client.receive(within: .milliseconds(50))
        }
        #expect(client.answer.hasPrefix("HTTP/1.1 408 "), "\(client.answer)")
        #expect(isClosed, "whoever goes on dripping is cut off")
        #expect(try await aggregator.post(`The program ballast-aggregator`.report(1...1)).status == 200)
    }

    @Test func `a refused body that goes on dripping is cut off`() async throws {
        let aggregator = try RunningAggregator(in: scratch, extra: "limits: {body_s: 1}")
        let client = try RawClient(port: aggregator.port)
        client.sendHead(length: 8 << 20, token: "nobody's")
        let limit = Date.now + 60
        var isClosed = false
        while !isClosed, Date.now < limit {
            _ = client.send([0x20])
            isClosed = client.receive(within: .milliseconds(50))
        }
        #expect(client.answer.hasPrefix("HTTP/1.1 401 "), "\(client.answer)")
        #expect(isClosed)
    }

    @Test func `SIGTERM ends it while bodies and listeners are open`() async throws {
        let aggregator = try RunningAggregator(in: scratch, extra: "limits: {body_s: 600}")
        let (body, listener) = (try RawClient(port: aggregator.port), try RawClient(port: aggregator.port))
        body.sendHead(length: 1_000)
        let head = "GET /v1/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer read-token\r\n\r\n"
        _ = listener.send(Array(head.utf8))
        while !listener.answer.contains("text/event-stream") { _ = listener.receive(within: .seconds(1)) }
        let begin = Date.now
        #expect(aggregator.end(by: SIGTERM) == 0)
        // Its unit gives it 90 s.
        #expect(Date.now.timeIntervalSince(begin) < 45)
    }

    @Test func `an answer with everything is bounded, and its cursor leads through all`() async throws {
        let aggregator = try RunningAggregator(in: scratch)
        let text = String(repeating: "x", count: 4_000)
        for batch in 0..<3 {
            let records = (batch * 1_000 + 1...batch * 1_000 + 1_000).map {
                "{\"n\":\($0),\"data\":{\"kind\":\"event\",\"event\":\"trip\",\"t_ms\":\($0 / 3),\"text\":\"\(text)\"}}"
            }
            let body =
                "{\"site\":\"demo\",\"epoch\":\"\(`An edge report`.epoch)\",\"records\":[\(records.joined(separator: ","))]}"
            #expect(try await aggregator.post(body).status == 200)
        }
        var numbers: [Int] = []
        var cursor = ""
        repeat {
            let answer = try await aggregator.get("/v1/sites/demo/events?limit=100000\(cursor)")
            #expect(answer.status == 200 && answer.body.utf8.count < 2 << 20)
            let page = try JSONDecoder().decode(EventPage.self, from: Data(answer.body.utf8))
            numbers += page.events.map(\.n)
            cursor = page.next.map { "&cursor=\($0)" } ?? ""
        } while !cursor.isEmpty
        #expect(numbers == Array(1...3_000))
        let state = try await aggregator.get("/v1/sites/demo/state")
        #expect(state.body.utf8.count < 2 << 20)
        let some = try await aggregator.get("/v1/sites/demo/events?from=100&until=102&format=csv")
        let lines = some.body.split(separator: "\r\n")
        #expect(lines.first == "t_ms,epoch,n,received_at,event,data" && lines.count == 7, "300 … 305")
        #expect(some.headers["content-type"] == "text/csv; charset=utf-8")
    }

    @Test func `a token that asks too often is told 429 and when to come again`() async throws {
        let aggregator = try RunningAggregator(in: scratch, extra: "limits: {requests_per_s: 1}")
        var statuses: [Int] = []
        for _ in 0..<30 {
            let answer = try await aggregator.get("/v1/sites")
            statuses.append(answer.status)
            if answer.status == 429 { #expect(answer.headers["retry-after"] == "1") }
        }
        #expect(statuses.prefix(10) == Array(repeating: 200, count: 10)[...])
        #expect(statuses.contains(429))
        #expect(try await aggregator.post(`The program ballast-aggregator`.report(1...1)).status == 200)
    }

    /// By address, and all together.
    @Test(arguments: ["strangers_of_address: 8", "connections: 32"])
    func `strangers that crowd are closed, who has shown a token stays, and it is told`(limits: String)
        async throws
    {
        let aggregator = try RunningAggregator(in: scratch, extra: "limits: {\(limits)}")
        let question = Array(
            "GET /v1/sites HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer read-token\r\n\r\n".utf8)
        let known = try (0..<6).map { _ in try RawClient(port: aggregator.port) }
        for client in known {
            _ = client.send(question)
            while client.answer.isEmpty { _ = client.receive(within: .seconds(1)) }
        }
        // Half of them silent, half with a part of a head: more than there is room for.
        let strangers = try (0..<24).map { _ in try RawClient(port: aggregator.port) }
        for client in strangers.prefix(12) { _ = client.send(Array(question.prefix(20))) }
        // Half of all, of which those of people have six.
        let (begin, room) = (Date.now, limits.hasPrefix("connections") ? 10 : 8)
        var closed: Set<Int> = []
        // Their whole time would be 33 s.
        while closed.count < 24 - room, Date.now.timeIntervalSince(begin) < 25 {
            for (index, client) in strangers.enumerated() where !closed.contains(index) {
                if client.receive(within: .milliseconds(1)) { closed.insert(index) }
            }
        }
        #expect(closed.count == 24 - room, "\(closed.count)")
        #expect(Date.now.timeIntervalSince(begin) >= 4, "each has its time to say who it is")
        for client in known {
            let before = client.answer.utf8.count
            _ = client.send(question)
            while client.answer.utf8.count == before, !client.receive(within: .seconds(5)) {}
            #expect(client.answer.utf8.count > before, "one that is known was closed")
        }
        #expect(try await aggregator.post(`The program ballast-aggregator`.report(1...1)).status == 200)
        try aggregator.waitForLine(containing: "connections do not say who they are")
        let metrics = try await aggregator.get(
            "http://127.0.0.1:\(aggregator.localPort)/metrics", token: nil)
        #expect(metrics.body.contains("ballast_aggregator_strangers_closed_total \(24 - room)\n"))
    }

    /// By its own bound, and by half of all.
    @Test(arguments: ["connections_of_one: 8", "connections: 16"])
    func `one token does not take the room of all, and it is told`(limits: String) async throws {
        let aggregator = try RunningAggregator(in: scratch, extra: "limits: {\(limits)}")
        let question = Array(
            "GET /v1/sites HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer read-token\r\n\r\n".utf8)
        var clients: [RawClient] = []
        for _ in 0..<8 {
            let client = try RawClient(port: aggregator.port)
            _ = client.send(question)
            while client.answer.isEmpty { _ = client.receive(within: .seconds(1)) }
            clients.append(client)
        }
        #expect(clients.allSatisfy { $0.answer.hasPrefix("HTTP/1.1 200 ") })
        for _ in 0..<20 {
            let more = try RawClient(port: aggregator.port)
            _ = more.send(question)
            let begin = Date.now
            while !more.receive(within: .seconds(1)), Date.now.timeIntervalSince(begin) < 20 {}
            #expect(more.answer.hasPrefix("HTTP/1.1 429 ") && more.answer.contains("too many connections"))
            #expect(Date.now.timeIntervalSince(begin) < 10, "it is closed")
        }
        // Others have room, and who is in stays.
        #expect(try await aggregator.post(`The program ballast-aggregator`.report(1...1)).status == 200)
        for client in clients {
            let before = client.answer.utf8.count
            _ = client.send(question)
            while client.answer.utf8.count == before, !client.receive(within: .seconds(5)) {}
            #expect(client.answer.utf8.count > before)
        }
        try aggregator.waitForLine(containing: "reader has 8 connections: more are told 429, and closed")
        let metrics = try await aggregator.get(
            "http://127.0.0.1:\(aggregator.localPort)/metrics", token: nil)
        #expect(metrics.body.contains("ballast_aggregator_connections_refused_total 20\n"))
        // Who goes makes room.
        clients.removeAll()
        let limit = Date.now + 30
        var isIn = false
        while !isIn, Date.now < limit {
            let again = try RawClient(port: aggregator.port)
            _ = again.send(question)
            while again.answer.isEmpty, !again.receive(within: .seconds(1)) {}
            isIn = again.answer.hasPrefix("HTTP/1.1 200 ")
        }
        #expect(isIn)
    }

    /// printf %s p0 | sha256sum, and so on.
    static let people = [
        "169b5b823c62b64ca7e5f8456a13c8d5d06f4ece522a58bc2b8a784dcf3609b0",
        "f64551fcd6f07823cb87971cfb91446425da18286b3ab1ef935e0cbd7a69f68a",
        "3946ca64ff78d93ca61090a437cbb6b3d2ca0d488f5f9ccf3059608368b27693",
        "43bb00d0ce7790a53b91256b370c887b24791a5539a6fbfb70c5870e8c91ae5d",
    ]

    @Test func `people's tokens together leave half of the room to sites, and it is told`()
        async throws
    {
        let principals = Self.people.enumerated().map {
            "  - {name: p\($0.offset), token_sha256: \($0.element), sites: all, roles: [read]}"
        }
        let aggregator = try RunningAggregator(
            in: scratch,
            extra: "limits: {connections: 32}\nprincipals:\n" + principals.joined(separator: "\n"))
        var clients: [RawClient] = []
        func come(_ token: String, _ path: String) throws -> String {
            let client = try RawClient(port: aggregator.port)
            let head = "GET \(path) HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(token)\r\n\r\n"
            _ = client.send(Array(head.utf8))
            let limit = Date.now + 10
            while client.answer.isEmpty, Date.now < limit, !client.receive(within: .seconds(1)) {}
            clients.append(client)
            return String(client.answer.prefix(12).suffix(3))
        }
        var answers: [String] = []
        for number in 0..<32 { answers.append(try come("p\(number / 8)", "/v1/sites")) }
        #expect(answers == Array(repeating: "200", count: 16) + Array(repeating: "429", count: 16))
        #expect(try await aggregator.post(`The program ballast-aggregator`.report(1...1)).status == 200)
        let line = "people's tokens together have 16 connections: more are told 429, and closed"
        try aggregator.waitForLine(containing: line)
        // A site's: four, of which one is the report's.
        let site = try (0..<6).map { _ in try come("demo-token", "/v1/nowhere") }
        #expect(site.count { $0 == "404" } >= 3 && site.count { $0 == "429" } >= 2, "\(site)")
        let other = `The program ballast-aggregator`.report(1...1, site: "other")
        #expect(try await aggregator.post(other, token: "other-token").status == 200)
        let metrics = try await aggregator.get(
            "http://127.0.0.1:\(aggregator.localPort)/metrics", token: nil
        ).body
        #expect(metrics.contains("ballast_aggregator_people_connections 16.0\n"), "\(metrics)")
        let refused = metrics.firstMatch(of: /connections_refused_total (\d+)/)?.1
        #expect(Int(refused ?? "") ?? 0 >= 18)
    }

    private struct EventPage: Decodable {
        struct Event: Decodable { var n: Int }
        var events: [Event]
        var next: String?
    }
}
