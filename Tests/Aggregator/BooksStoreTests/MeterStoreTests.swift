import BooksSupport
import ExactAmounts
import GRDB
import Testing

@testable import BooksStore

@Suite struct `Meters in the database` {
    let desk: Desk

    init() throws { desk = try Desk() }

    // swift-format-ignore
    static let refused: [(body: String, status: Int, says: String, why: Comment)] = [
        (Desk.interval("asha-home", 0, -1, 0), 422, "negative energy", "negative"),
        (Desk.interval("asha-home", 0, .max, 0), 422, "more energy than", "the end of Int64"),
        (Desk.interval("asha-home", 0, 0, .min), 422, "negative energy", "the other end"),
        (Desk.interval("asha-home", 0, 9, 9).replacing("00:00:00Z", with: "00:07:00Z"), 422, "does not start", ":07"),
        (Desk.interval("asha-home", 0, 9, 9).replacing("00:00Z", with: "00:00"), 400, "offset", "an hour that is there twice has no instant"),
        (Desk.interval("asha-home", 0, 9, 9).replacing("2026-11-01", with: "2027-02-29"), 400, "start", "no leap day"),
        (Desk.interval("asha-home", 0, 9, 9, -1), 422, "negative revision", "revision -1"),
        (Desk.interval("asha-home", 0, 9, 9, mode: "simulated"), 422, "simulat", "what was not measured"),
        (Desk.interval("nobody-home", 0, 9, 9), 404, "no resource", "an unknown meter"),
        (Desk.interval("asha-home", 1, 6, 5), 422, "told before", "one revision, two numbers"),
        (Desk.interval("asha-home", 1, 5, 5).replacing("{\"res", with: "{\"length_s\": 300, \"res"), 422, "stretches of 900", "another length"),
        ("{\"intervals\": [\(Desk.interval("asha-home", 5, 1, 1)), \(Desk.interval("asha-home", 5, 2, 1))]}", 422, "intervals[1]", "both in one"),
        ("{\"resource\": \"asha-home\"}", 400, "start: is missing", "half an interval"),
        ("[]", 400, "mapping", "a list"),
        ("\u{0}", 400, "control characters", "no text"),
    ]

    @Test func `bad input is refused with its place, and nothing of it is taken`() async throws {
        try await desk.village()
        try await desk.tell("asha-home", 1, in: 5, out: 5)
        for row in Self.refused {
            let answer = try await desk.ask(.addIntervals, row.body)
            #expect(answer.status == row.status && answer.body.contains(row.says), "\(answer) \(row.why)")
        }
        let count = try await desk.queue.read {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM books_interval")
        }
        #expect(count == 1)
        // A leap day that there is, and the two hours of a clock that goes back, are different instants.
        try await desk.done(
            .addIntervals, Desk.interval("asha-home", 0, 1, 1).replacing("2026-11-01", with: "2024-02-29"))
        let hour = Desk.interval("ravi-home", 0, 1, 1)
        try await desk.done(
            .addIntervals, hour.replacing("2026-11-01T00:00:00Z", with: "2026-10-25T02:00:00+02:00"))
        try await desk.done(
            .addIntervals, hour.replacing("2026-11-01T00:00:00Z", with: "2026-10-25T02:00:00+01:00"))
        let body = Desk.interval("asha-home", 1, 5, 5)
        #expect(try await desk.done(.addIntervals, body).contains("\"unchanged\":1"))
        try await desk.tell("asha-home", 1, in: 7, revision: 2)
        #expect(
            try await desk.done(.addIntervals, Desk.interval("asha-home", 1, 6, 5, 1)).contains("\"older\":1")
        )
        let query = [
            "resource": "asha-home", "from": Desk.at(0).text, "until": Desk.at(4).text, "format": "csv",
        ]
        let rows = try await desk.done(.intervals, query: query).split(separator: "\n")
        #expect(
            rows.count == 2 && rows[1].hasPrefix("asha-home,actual,2026-11-01T00:15:00Z,900,7,0,2,"),
            "\(rows)")
        #expect(try desk.findings() == [])
    }

    @Test func `a device tells its own meter, and registers fill what is missing`() async throws {
        try await desk.village()
        let meter = Desk.caller(.device, "asha")
        try await desk.done(.addIntervals, Desk.interval("asha-home", 0, 100, 0), as: meter)
        try await desk.done(.addIntervals, Desk.interval("asha-home", 3, 100, 0), as: meter)
        #expect(
            try await desk.ask(.addIntervals, Desk.interval("ravi-home", 0, 1, 0), as: meter).status == 403)
        func register(_ block: Int64, _ imported: Int64, _ name: String = "m1") -> String {
            "{\"registers\": [{\"resource\": \"asha-home\", \"meter\": \"\(name)\", \"at\": \"\(Desk.at(block).text)\", "
                + "\"import_wh\": \(imported), \"export_wh\": 0}]}"
        }
        let others = register(0, 1).replacing("asha-home", with: "ravi-home")
        #expect(try await desk.ask(.addRegisters, others, as: meter).status == 403)
        try await desk.done(.addRegisters, register(0, 5_000), as: meter)
        try await desk.done(.addRegisters, register(4, 5_601), as: meter)
        #expect(try await desk.ask(.addRegisters, register(4, 5_602), as: meter).status == 422)
        // A meter that was replaced is another meter: no difference is taken over it.
        try await desk.done(.addRegisters, register(6, 3, "m2"), as: meter)
        for block in Int64(0)..<4 {
            try await desk.tell("ravi-home", block)
            try await desk.tell("coop-pv", block)
        }
        #expect(try desk.settle(0..<4).first?.contains("4 blocks settled") == true)
        // 601 Wh in all at 8 INR/kWh.
        #expect(try await desk.done(.bill, id: "r1-asha").contains("\"quantity_wh\":601,\"price\":\"8.00\""))
        let whole = try await desk.done(
            .completeness, query: ["from": Desk.at(0).text, "until": Desk.at(4).text])
        #expect(
            whole.contains(
                "\"resource\":\"asha-home\",\"party\":\"asha\",\"told\":2,\"missing\":0,\"substituted\":2,"
                    + "\"import_wh\":601"),
            "\(whole)")
        #expect(try desk.findings() == [])
    }

    @Test func `the sites' energy records become intervals; what was simulated is kept and not settled`()
        async throws
    {
        try await desk.queue.write {
            try $0.execute(
                sql: "CREATE TABLE record (site TEXT, epoch TEXT, n INTEGER, kind TEXT, data TEXT)")
        }
        try await desk.village()
        func record(_ number: Int, _ block: Int64, _ mode: String, _ quality: String, _ out: Int64)
            async throws
        {
            let data = """
                {"v":1,"kind":"energy","mono_ms":1,"t_ms":2,"mode":"\(mode)","start_s":\(Desk.at(block).seconds),
                "length_s":900,"clock":"good","points":{"coop-pv":{"import_wh":0,"export_wh":\(out),
                "import_counter_wh":0,"export_counter_wh":\(1_000 * (block + 1)),"measured_s":900,
                "quality":"\(quality)"},"other":{"import_wh":1}}}
                """
            try await desk.queue.write {
                try $0.execute(
                    sql: "INSERT INTO record VALUES ('demo', 'e', ?, 'energy', ?)", arguments: [number, data])
            }
        }
        try await record(7, 0, "production", "measured", 1_000)
        try await record(8, 1, "production", "partial", 400)
        try await record(9, 2, "production", "measured", 1_000)
        try await record(10, 3, "simulation", "measured", 1_000)
        while try await desk.store.feedSome(at: desk.now) {}
        #expect(try await desk.store.feedSome(at: desk.now) == false)
        for block in Int64(0)..<4 {
            try await desk.tell("asha-home", block)
            try await desk.tell("ravi-home", block)
        }
        // The partial block is 1,000 Wh by the counters around it; the simulated one stays open.
        let told = try desk.settle(0..<4)
        #expect(told.first?.contains("3 blocks settled, 0 corrected, 1 open") == true, "\(told)")
        #expect(try await desk.done(.bill, id: "r1-coop").contains("\"total_inr\":\"9.00\""))
        #expect(try await desk.done(.explain, id: "r1-coop-1").contains("record demo:7"))
        let simulated = try await desk.done(
            .intervals, query: ["resource": "coop-pv", "from": Desk.at(3).text, "until": Desk.at(4).text])
        #expect(simulated.contains("\"mode\":\"simulated\""))
        #expect(try desk.findings() == [])
    }

    @Test func `a site's record yields to what was told before, and tells nothing of what has not been`()
        async throws
    {
        try await desk.queue.write {
            try $0.execute(
                sql: "CREATE TABLE record (site TEXT, epoch TEXT, n INTEGER, kind TEXT, data TEXT)")
        }
        try await desk.village()
        desk.now = Desk.at(2)
        try await desk.tell("coop-pv", 0, out: 700)
        // The first was told otherwise, the second is new, the third ends in 15 minutes.
        for number in Int64(0)..<3 {
            let data = """
                {"v":1,"kind":"energy","mono_ms":1,"t_ms":2,"mode":"production","start_s":\(Desk.at(number).seconds),
                "length_s":900,"clock":"good","points":{"coop-pv":{"import_wh":0,"export_wh":1000,
                "import_counter_wh":0,"export_counter_wh":\(1_000 * (number + 1)),"measured_s":900,
                "quality":"measured"}}}
                """
            try await desk.queue.write {
                try $0.execute(
                    sql: "INSERT INTO record VALUES ('demo', 'e', ?, 'energy', ?)", arguments: [number, data])
            }
        }
        while try await desk.store.feedSome(at: desk.now) {}
        let told = try await desk.queue.read {
            try Int64.fetchAll(
                $0,
                sql: "SELECT export_wh FROM books_interval JOIN books_resource r ON r.number = resource "
                    + "WHERE r.id = 'coop-pv' ORDER BY start_s")
        }
        #expect(told == [700, 1_000], "once each, and nothing of what has not been")
        #expect(try desk.findings() == [])
    }
}
