import Foundation
import GRDB
import Glibc
import ProgramSupport
import Testing

/// The books through the real door.
@Suite struct `The books of the aggregator` {
    let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    // printf %s admin-token | sha256sum, and of asha-token, meter-token
    private static let section = """
        books:
          people:
            - {name: admin, role: admin, token_sha256: \(digest("admin-token"))}
            - {name: asha, role: prosumer, party: asha, token_sha256: \(digest("asha-token"))}
            - {name: meter, role: device, party: asha, token_sha256: \(digest("meter-token"))}
        """

    private static func digest(_ token: String) -> String {
        let known = [
            "admin-token": "10a4c7c9fc5206d6f36dc6944a81bb6f4a3cb0e25014ae3b12e6c3e52712292a",
            "asha-token": "0696683821cce520b36325d8054de50646662a8945cd413c57584a08bda492b0",
            "meter-token": "f98e0e782dabf320774cb56d8024a2c5b37880c9eb9d03a2cb5ddbe01956643f",
        ]
        return known[token] ?? ""
    }

    private func post(
        _ aggregator: RunningAggregator, _ path: String, _ body: String, token: String = "admin-token",
        key: String?
    ) async throws -> RunningAggregator.Answer {
        try await aggregator.ask(path, .bytes(.init(string: body)), token: token, key: key)
    }

    @Test func `without their section there is no route, no table and nobody of theirs`() async throws {
        let aggregator = try RunningAggregator(in: scratch)
        for path in ["/v1/parties", "/v1/intervals", "/v1/bills", "/v1/books/roots"] {
            #expect(try await aggregator.get(path).status == 404)
        }
        let document = try await aggregator.get("/v1/openapi.json").body
        #expect(!document.contains("/v1/bills") && !document.contains("/v1/transfers"))
        let tables = try await DatabaseQueue(path: aggregator.database).read {
            try String.fetchAll($0, sql: "SELECT name FROM sqlite_master WHERE name LIKE 'books%'")
        }
        #expect(tables.isEmpty)
    }

    @Test func `people settle an hour by HTTP: parties, meters, a run beside the server, bills, the ledger`()
        async throws
    {
        let aggregator = try RunningAggregator(in: scratch, extra: Self.section)
        let document = try await aggregator.get("/v1/openapi.json").body
        #expect(document.contains("\"/v1/bills/{id}/payments\"") && document.contains("Idempotency-Key"))
        #expect(try await aggregator.get("/v1/parties").status == 403, "a reader of sites is nobody here")
        #expect(try await aggregator.get("/v1/sites", token: "asha-token").status == 403)
        let own = try await aggregator.get("/v1/openapi.json", token: "asha-token")
        #expect(own.status == 200, "whoever may ask the books may read what they can be asked for")
        let day = "from=2026-01-01T00:00:00Z&until=2026-01-02T00:00:00Z"
        #expect(try await aggregator.get("/v1/completeness?\(day)", token: "asha-token").status == 200)
        #expect(
            try await aggregator.get("/v1/completeness?\(day)", token: "meter-token").body.contains(
                "Forbidden"))
        #expect(try await post(aggregator, "/v1/parties", "{}", key: nil).status == 400)
        var number = 0
        func done(_ path: String, _ body: String, token: String = "admin-token") async throws {
            number += 1
            let answer = try await post(aggregator, path, body, token: token, key: "k\(number)")
            #expect(answer.status == 201, "\(path) \(answer.body)")
        }
        for party in ["grid", "op", "asha"] {
            try await done("/v1/parties", "{\"id\": \"\(party)\", \"name\": \"\(party)\"}")
        }
        try await done("/v1/zones", #"{"id": "z", "grid": "grid", "operator": "op"}"#)
        try await done(
            "/v1/resources",
            #"{"id": "home", "party": "asha", "zone": "z", "kind": "meter", "source": "demo/meter"}"#)
        try await done("/v1/tariffs", Self.tariffs)
        let body = """
            {"resource": "home", "start": "2026-01-01T00:00:00Z", "import_wh": 1000, "export_wh": 0,
            "mode": "production"}
            """
        try await done("/v1/intervals", body, token: "meter-token")
        #expect(
            try await post(aggregator, "/v1/intervals", body, token: "asha-token", key: "x").status == 403)
        let csv = try await aggregator.ask(
            "/v1/intervals.csv", .bytes(.init(string: "resource,kind")), token: "meter-token",
            type: "text/csv", key: "csv")
        #expect(csv.status == 400 && csv.body.contains("the column start is missing"), "\(csv.body)")
        let file = try aggregator.writeFile()
        let settle = [
            "settle", "--config", file, "--from", "2026-01-01T00:00:00Z", "--to", "2026-01-01T00:15:00Z",
        ]
        let run = try RunningProgram("ballast-aggregator", settle)
        #expect(run.end(by: 0) == 0, "\(run.log)")
        let bills = try await aggregator.get("/v1/bills", token: "asha-token").body
        #expect(bills.contains("\"id\":\"r1-asha\"") && bills.contains("\"total_inr\":\"-8.00\""), "\(bills)")
        #expect(bills.contains("\"state\":\"open\"") && !bills.contains("r1-grid"))
        let page = try await aggregator.get("/v1/bills/r1-asha/page", token: "asha-token")
        #expect(page.headers["content-type"] == "text/html; charset=utf-8" && page.body.contains("8.00"))
        #expect(try await aggregator.get("/v1/bills/r1-grid", token: "asha-token").status == 403)
        let check = try RunningProgram("ballast-aggregator", ["check", "--config", file])
        #expect(check.end(by: 0) == 0, "\(check.log)")
        #expect(aggregator.end(by: SIGTERM) == 0)
    }

    @Test func `homes with faulty meters are billed as a second program works their bills out`() async throws
    {
        let aggregator = try RunningAggregator(
            in: scratch, extra: Self.section + "\nlimits: {requests_per_s: 100000}")
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().path
        let run = try RunningProgram(
            "ballast-sim",
            [
                "homes", "--scenario", "\(root)/hil/books.d/homes.yaml", "--port", "\(aggregator.port)",
                "--token",
                "admin-token", "--config", try aggregator.writeFile(), "--aggregator",
                try RunningProgram.buildFolder() + "/ballast-aggregator",
            ])
        #expect(run.end(by: 0) == 0, "\(run.log)")
        let bills = try await aggregator.get("/v1/bills", token: "admin-token").body
        #expect(bills.split(separator: "\"id\":\"r1-").count == 15, "12 homes, the grid, the operator")
        #expect(try await aggregator.get("/v1/bills/r1-h3/page", token: "asha-token").status == 403)
    }

    private static let tariffs = """
        {"tariffs": [{"id": "t", "regulation": "none", "source": "made up", "mark": "illustrative",
        "effective_from": "2026-01-01T00:00:00Z", "effective_until": "2027-01-01T00:00:00Z", "clock_offset_min": 330,
        "bands": [{"name": "all", "from": "00:00", "until": "24:00", "import_inr_per_kwh": 8,
        "feed_in_inr_per_kwh": 3}]}]}
        """
}
