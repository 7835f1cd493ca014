import Foundation
import GRDB
import Glibc
import ProgramSupport
import Testing

/// Who comes in, and what is told to those who do not.
@Suite struct `The door of the aggregator` {
    let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    // printf %s old-token | sha256sum
    private static let old = "9bdf10a691a1cfda89d9ff66629d1609ab176cec9b6a3146a8929f28937a9fce"
    private static let new = "348e9df2a42bd6e3c6356ca9c95c5f1fe9a6b3e5cd25f4ae58df0f09049c3209"

    /// The paths of the document with their methods.
    private func paths(_ aggregator: RunningAggregator) async throws -> [String: Set<String>] {
        let answer = try await aggregator.get("/v1/openapi.json")
        let document = try #require(
            try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any])
        #expect(document["openapi"] as? String == "3.1.0")
        let paths = try #require(document["paths"] as? [String: [String: Any]])
        return paths.mapValues { Set($0.keys.map { $0.uppercased() }) }
    }

    @Test func `every path of the document is closed without a token, and says what it takes`() async throws {
        let aggregator = try RunningAggregator(in: scratch)
        let paths = try await paths(aggregator)
        #expect(paths.count >= 12)
        for (pattern, methods) in paths {
            let path = pattern.replacing("{site}", with: "demo")
            for method in methods {
                for token in [nil, "wrong-\(pattern)"] {
                    let answer = try await aggregator.ask(path, nil, token: token, method: method)
                    // Ten wrong tokens from one address are slowed, which is no way in either.
                    #expect([401, 429].contains(answer.status), "\(method) \(path)")
                    #expect(answer.headers["content-type"] == "application/problem+json")
                }
            }
        }
        let local = "http://127.0.0.1:\(aggregator.localPort)"
        #expect(try await aggregator.get("/nothing", token: nil).status == 401)
        #expect(try await aggregator.get("/healthz", token: nil).status == 401, "on the local listener only")
        #expect(try await aggregator.get(local + "/healthz", token: nil).body == "{\"status\":\"ok\"}")
        #expect(try await aggregator.get(local + "/v1/sites", token: nil).status == 404)
        let metrics = try await aggregator.get(local + "/metrics", token: nil).body
        for line in metrics.split(separator: "\n") where !line.hasPrefix("#") {
            let name = line.prefix { $0 != " " && $0 != "{" }
            #expect(metrics.contains("# HELP \(name) "), "\(name)")
        }
    }

    @Test func `a method, a type, a name of the query that it does not take is told as such`() async throws {
        let aggregator = try RunningAggregator(in: scratch)
        for (pattern, methods) in try await paths(aggregator) {
            let path = pattern.replacing("{site}", with: "demo")
            let answer = try await aggregator.ask(path, nil, token: "read-token", method: "DELETE")
            #expect(answer.status == 405)
            let allowed = Set((answer.headers["allow"] ?? "").split(separator: ", ").map(String.init))
            #expect(allowed == methods, "\(path)")
        }
        let body = `The program ballast-aggregator`.report(1...1)
        let first = try await aggregator.get("/v1/summary?limit=1").body
        #expect(first.contains("\"site\":\"demo\"") && first.hasSuffix("\"next\":\"demo\"}"))
        let second = try await aggregator.get("/v1/summary?limit=1&cursor=demo").body
        #expect(second.contains("\"site\":\"other\"") && second.hasSuffix("\"next\":null}"))
        let head = try RawClient(port: aggregator.port)
        let line = "HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer read-token\r\n"
        _ = head.send(Array("HEAD / \(line)\r\nGET /v1/nothing \(line)Connection: close\r\n\r\n".utf8))
        let limit = Date.now + 60
        while !head.answer.contains("no such path"), Date.now < limit {
            _ = head.receive(within: .seconds(1))
        }
        let parts = head.answer.split(separator: "\r\n\r\n")
        #expect(parts.count == 3 && parts[1].hasPrefix("HTTP/1.1 404"), "HEAD has no body: \(head.answer)")
        let typed = try await aggregator.ask(
            "/v1/edge/report", .bytes(.init(string: body)), token: "demo-token", type: "text/plain")
        #expect(typed.status == 415)
        #expect(try await aggregator.get("/v1/nothing").status == 404)
        #expect(try await aggregator.get("/v1/sites?x=1").status == 400)
        #expect(try await aggregator.get("/v1/sites/demo/events?from=-1").status == 400)
        #expect(try await aggregator.get("/v1/sites/demo/events?cursor=a").status == 400)
        let none = try await aggregator.get("/v1/sites/demo/events?from=2&until=1")
        #expect(none.body == "{\"events\":[],\"next\":null}")
        #expect(try await aggregator.get("/v1/sites/demo/series").status == 400, "no channel")
        let problem = try await aggregator.get("/v1/sites/nope/state")
        #expect(problem.status == 404 && problem.body.contains("\"title\":\"Not Found\",\"status\":404"))
    }

    @Test func `a principal has its roles for its sites until its day`() async throws {
        let aggregator = try RunningAggregator(
            in: scratch,
            extra: """
                principals:
                  - {name: eyes, token_sha256: "\(Self.old)", sites: [demo], roles: [read]}
                  - {name: gone, token_sha256: "\(Self.new)", sites: all, expires: 2020-01-01}
                """)
        #expect(try await aggregator.get("/v1/sites/demo/state", token: "old-token").status == 200)
        #expect(try await aggregator.get("/v1/sites/other/state", token: "old-token").status == 403)
        let sites = try await aggregator.get("/v1/sites", token: "old-token").body
        #expect(sites.contains("\"demo\"") && !sites.contains("\"other\""))
        let summary = try await aggregator.get("/v1/summary", token: "old-token").body
        #expect(summary.contains("\"site\":\"demo\"") && !summary.contains("\"other\""))
        let lease = #"{"power_w":1,"for_s":60,"dispatch":"D","reason":"r"}"#
        let asked = try await aggregator.post(lease, to: "/v1/sites/demo/leases", token: "old-token")
        #expect(asked.status == 403)
        #expect(try await aggregator.get("/v1/sites", token: "new-token").status == 401, "expired")
        #expect(try await aggregator.get("/v1/sites", token: "demo-token").status == 403, "a site's token")
    }

    @Test func `tokens change without a restart, and a broken file changes nothing`() async throws {
        let aggregator = try RunningAggregator(in: scratch, extra: Self.principal(Self.old))
        #expect(try await aggregator.get("/v1/sites", token: "old-token").status == 200)
        aggregator.extra = Self.principal(Self.old + "\", next_token_sha256: \"" + Self.new)
        try aggregator.writeFile()
        aggregator.signal(SIGHUP)
        try aggregator.waitForLine(containing: "tokens taken over")
        for token in ["old-token", "new-token"] {
            #expect(try await aggregator.get("/v1/sites", token: token).status == 200, "both hold")
        }
        aggregator.extra = "principals: nonsense"
        try aggregator.writeFile()
        aggregator.signal(SIGHUP)
        try aggregator.waitForLine(containing: "the file is not taken over")
        #expect(try await aggregator.get("/v1/sites", token: "old-token").status == 200)
        aggregator.extra = Self.principal(Self.new) + "\n# the last"
        try aggregator.writeFile()
        aggregator.signal(SIGHUP)
        let limit = Date.now + 60
        while try await aggregator.get("/v1/sites", token: "old-token").status != 401, Date.now < limit {}
        #expect(try await aggregator.get("/v1/sites", token: "new-token").status == 200)
    }

    private static func principal(_ digest: String) -> String {
        "principals: [{name: p, token_sha256: \"\(digest)\", sites: all, roles: [read]}]"
    }

    @Test func `guesses are slowed and told, and recorded; who was right before is not locked out`()
        async throws
    {
        let aggregator = try RunningAggregator(in: scratch, extra: Self.principal(Self.old))
        #expect(try await aggregator.get("/v1/sites").status == 200)
        var statuses: [Int] = []
        // A minute may end among them, where the machine is busy: then it takes some more.
        while statuses.last != 429, statuses.count < 1_000 {
            let token = "guess-\(statuses.count)"
            statuses.append(try await aggregator.get("/v1/sites", token: token).status)
        }
        #expect(statuses.count >= 11 && statuses.dropLast().allSatisfy { $0 == 401 })
        try aggregator.waitForLine(containing: "10 wrong tokens from 127.0.0.1")
        #expect(try await aggregator.get("/v1/sites").status == 200, "was right before")
        #expect(
            try await aggregator.get("/v1/sites", token: "old-token").status == 200,
            "who never spoke before and is right is not kept out by a neighbour's guesses")
        let lease = #"{"power_w":1,"for_s":60,"dispatch":"D","reason":"r"}"#
        let asked = try await aggregator.post(lease, to: "/v1/sites/demo/leases", token: "read-token")
        #expect(asked.status == 403)
        #expect(aggregator.end(by: SIGTERM) == 0)
        let queue = try DatabaseQueue(path: aggregator.database)
        let rows = try await queue.read { database in
            try String.fetchAll(
                database,
                sql: """
                    SELECT who || ' ' || method || ' ' || path || ' ' || status || ' ' || sum(count)
                    FROM audit GROUP BY who, method, path, status
                    """)
        }
        for wanted in [
            "reader LOGIN  200 1", "p LOGIN  200 1", " GET  401 \(statuses.count - 1)", " GET  429 1",
            "reader POST /v1/sites/demo/leases 403 1", "reader GET /v1/sites 200 2",
        ] {
            #expect(rows.contains(wanted), "\(wanted) in \(rows)")
        }
    }

    @Test func `events come to a listener as they are stored, and again from where it was`() async throws {
        let aggregator = try RunningAggregator(in: scratch)
        func listen() throws -> RawClient {
            let client = try RawClient(port: aggregator.port)
            let head = "GET /v1/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer read-token\r\n\r\n"
            _ = client.send(Array(head.utf8))
            while !client.answer.contains(": row") { _ = client.receive(within: .seconds(1)) }
            return client
        }
        func wait(_ client: RawClient, for part: String) -> Bool {
            let limit = Date.now + 60
            while !client.answer.contains(part), Date.now < limit { _ = client.receive(within: .seconds(1)) }
            return client.answer.contains(part)
        }
        let client = try listen()
        _ = try await aggregator.post(`The program ballast-aggregator`.report(1...3))
        #expect(wait(client, for: "\"n\":3"))
        #expect(client.answer.contains("id: 1\ndata: {\"site\":\"demo\""))
        let late = try RawClient(port: aggregator.port)
        let head =
            "GET /v1/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer read-token\r\nLast-Event-ID: 1\r\n\r\n"
        _ = late.send(Array(head.utf8))
        #expect(wait(late, for: "\"n\":3"))
        #expect(late.answer.contains("\"n\":2") && !late.answer.contains("\"n\":1,"))
    }

    @Test func `the document says what an alarm's acknowledgement takes`() async throws {
        let aggregator = try RunningAggregator(in: scratch)
        let document = try await aggregator.get("/v1/openapi.json").body
        let place = try #require(document.range(of: "\"/v1/alarms\":"))
        let schema = document[place.upperBound...].prefix(3_000)
        #expect(schema.contains(/"required":\["do","rule","site","reason"\]/), "\(schema)")
    }

    /// What a site sends whose state folder was set back: its numbers and bytes under another epoch, and what
    /// it wrote since under numbers that the first stream has as well.
    @Test func `what a site tells again as a new epoch is shown once, and what it tells anew is shown`()
        async throws
    {
        let aggregator = try RunningAggregator(in: scratch)
        func post(_ epoch: String, _ events: [(number: Int, text: String)]) async throws {
            let records = events.map {
                "{\"n\":\($0.number),\"data\":{\"kind\":\"event\",\"event\":\"trip\","
                    + "\"t_ms\":\(1_000 * $0.number),\"text\":\"\($0.text)\"}}"
            }
            let body =
                "{\"site\":\"demo\",\"epoch\":\"\(epoch)\",\"records\":[\(records.joined(separator: ","))]}"
            #expect(try await aggregator.post(body).status == 200)
        }
        let (old, new) = (String(repeating: "a", count: 32), String(repeating: "b", count: 32))
        try await post(old, [(1, "one"), (2, "two"), (3, "two"), (4, "four")])
        try await post(new, [(1, "one"), (2, "two"), (3, "two"), (4, "other"), (5, "five")])
        let body = try await aggregator.get("/v1/sites/demo/events").body
        let texts = body.matches(of: /"text":"(\w+)"/).map { String($0.1) }
        #expect(texts == ["one", "two", "two", "four", "other", "five"], "\(body)")
        let page = try await aggregator.get("/v1/sites/demo/events?limit=3").body
        let cursor = try #require(page.firstMatch(of: /"next":"([^"]+)"/)?.1)
        let rest = try await aggregator.get("/v1/sites/demo/events?cursor=\(cursor)").body
        #expect(rest.matches(of: /"text":"(\w+)"/).map { String($0.1) } == ["four", "other", "five"])
        let listener = try RawClient(port: aggregator.port)
        let head =
            "GET /v1/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer read-token\r\nLast-Event-ID: 0\r\n\r\n"
        _ = listener.send(Array(head.utf8))
        let limit = Date.now + 60
        while !listener.answer.contains("five"), Date.now < limit {
            _ = listener.receive(within: .seconds(1))
        }
        #expect(listener.answer.matches(of: /"text":"one"/).count == 1)
    }
}
