import BooksSupport
import Dispatch
import ExactAmounts
import GRDB
import Testing

@testable import BooksStore

/// Every kind of bad input that the issue names, a row each, through the one way in.
@Suite struct `Bad input` {
    let desk: Desk

    init() throws { desk = try Desk() }

    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var operation: BooksOperation
        var body: String
        var status: Int
        var says: String
        var testDescription: String { name }
    }

    private static func interval(_ imported: Int64, _ exported: Int64, _ revision: Int = 0) -> String {
        Desk.interval("asha-home", 0, imported, exported, revision)
    }

    private static func tariff(_ change: (String, String)) -> String {
        Desk.tariffs.replacing(change.0, with: change.1)
    }

    private static func contract(_ price: String) -> String {
        """
        {"id": "c", "kind": "supply", "buyer": "ravi", "resource": "coop-pv", "from": "\(Desk.at(0).text)",
        "until": "\(Desk.at(4).text)", "energy_kwh": 8, "price_inr_per_kwh": \(price)}
        """
    }

    private static func ending(_ time: UTCInstant, _ kind: String = "actual") -> String {
        Self.interval(1, 1).replacing(
            "\"start\": \"\(Desk.start.text)\"",
            with: "\"kind\": \"\(kind)\", \"start\": \"\((time + -900).text)\"")
    }

    private static func rates(_ second: String) -> String {
        Desk.tariffs.replacing(
            "bitcoin: {inr_per_btc: 8500000, source: made up}",
            with: """
                bitcoin_rates:
                  - {effective_from: 2026-11-01T00:00:00Z, effective_until: 2026-12-01T00:00:00Z, inr_per_btc: 8500000, source: a, mark: recalled}
                  - {effective_from: \(second), effective_until: 2027-01-01T00:00:00Z, inr_per_btc: 9000000, source: b, mark: recalled}
                """)
    }

    private static let second = """
        tariffs:
          - id: u
            regulation: none
            source: made up
            mark: illustrative
            effective_from: 2027-12-31T23:59:59Z
            effective_until: 2029-01-01T00:00:00Z
            clock_offset_min: 0
            community_price_inr_per_kwh: 5
            bands: [{name: all, from: "00:00", until: "24:00", import_inr_per_kwh: 8, feed_in_inr_per_kwh: 3}]
        """

    static let rows = [
        Row(
            name: "the upper end of Int64", operation: .addIntervals, body: interval(.max, 0), status: 422,
            says: "more energy"),
        Row(
            name: "the lower end of Int64", operation: .addIntervals, body: interval(0, .min), status: 422,
            says: "negative"),
        Row(
            name: "beyond Int64", operation: .addIntervals,
            body: interval(7, 0).replacing("7", with: "9223372036854775808"), status: 400, says: "import_wh"),
        Row(
            name: "negative energy", operation: .addIntervals, body: interval(-1, 0), status: 422,
            says: "negative"),
        Row(
            name: "a block that starts at :07", operation: .addIntervals,
            body: interval(1, 1).replacing("00:00:00Z", with: "00:07:00Z"), status: 422,
            says: "does not start"),
        Row(
            name: "two revisions with one number", operation: .addIntervals,
            body: "{\"intervals\": [\(interval(1, 1, 3)), \(interval(2, 1, 3))]}", status: 422,
            says: "told before"),
        Row(
            name: "a price of 0 is a price", operation: .addContract, body: contract("0"), status: 201,
            says: "draft"),
        Row(
            name: "a price of 2⁴⁰ is the highest", operation: .addContract, body: contract("1099511.627776"),
            status: 201, says: "draft"),
        Row(
            name: "a price above 2⁴⁰", operation: .addContract, body: contract("1099511.627777"), status: 400,
            says: "price_inr_per_kwh"),
        Row(
            name: "a negative price", operation: .addContract, body: contract("-0.000001"), status: 400,
            says: "price_inr_per_kwh"),
        Row(
            name: "an unknown asset", operation: .transfer, body: LedgerMove.body("asha", "ravi", "1", "EUR"),
            status: 400, says: "INR, BTC"),
        Row(
            name: "certificates out of nothing", operation: .transfer,
            body: LedgerMove.body("outside", "asha", "1", "CWH"), status: 400, says: "INR, BTC"),
        Row(
            name: "a floor broken", operation: .transfer, body: LedgerMove.body("asha", "ravi", "0.01"),
            status: 422, says: "floor"),
        Row(
            name: "29 February of a year that has none", operation: .addIntervals,
            body: interval(1, 1).replacing("2026-11-01", with: "2027-02-29"), status: 400, says: "start"),
        Row(
            name: "29 February of a year that has one", operation: .addIntervals,
            body: interval(1, 1).replacing("2026-11-01", with: "2024-02-29"), status: 201, says: "\"taken\":1"
        ),
        Row(
            name: "a block that ends 900 s from now", operation: .addIntervals,
            body: ending(Desk.start + 40 * 86_400 + 900), status: 422, says: "which is not yet"),
        Row(
            name: "a block that ends now", operation: .addIntervals,
            body: ending(Desk.start + 40 * 86_400), status: 201, says: "\"taken\":1"),
        Row(
            name: "a forecast of tomorrow", operation: .addIntervals,
            body: ending(Desk.start + 41 * 86_400, "forecast"), status: 201, says: "\"taken\":1"),
        Row(
            name: "a register that was read tomorrow", operation: .addRegisters,
            body:
                "{\"registers\": [{\"resource\": \"asha-home\", \"meter\": \"m\", \"at\": \"\((Desk.start + 41 * 86_400).text)\", \"import_wh\": 1, \"export_wh\": 1}]}",
            status: 422, says: "which is not yet"),
        Row(
            name: "a contract of 10,001 blocks", operation: .addContract,
            body: contract("5").replacing(Desk.at(4).text, with: Desk.at(10_001).text), status: 422,
            says: "at most 10000 blocks"),
        Row(
            name: "an hour in a zone of quarters", operation: .addIntervals,
            body: interval(1, 1).replacing("\"start\"", with: "\"length_s\": 3600, \"start\""), status: 422,
            says: "longer than a block"),
        Row(
            name: "feed-in above import", operation: .addTariffs,
            body: tariff(("feed_in_inr_per_kwh: 3", "feed_in_inr_per_kwh: 99")), status: 400,
            says: "feed-in is above import"),
        Row(
            name: "an owner twice", operation: .addParty,
            body:
                "{\"id\": \"x\", \"name\": \"x\", \"owners\": [{\"party\": \"asha\", \"share\": 1}, {\"party\": \"asha\", \"share\": 1}]}",
            status: 422, says: "twice"),
        Row(
            name: "two rates of a bitcoin that overlap by a second", operation: .addTariffs,
            body: rates("2026-11-30T23:59:59Z"), status: 400, says: "two rates apply"),
        Row(
            name: "two rates of a bitcoin, one behind the other", operation: .addTariffs,
            body: rates("2026-12-01T00:00:00Z"), status: 201, says: "version"),
        Row(
            name: "one rate for always beside dated ones", operation: .addTariffs,
            body: rates("2026-12-01T00:00:00Z") + "\nbitcoin: {inr_per_btc: 1, source: s}", status: 400,
            says: "cannot stand beside"),
        Row(
            name: "the hour that is there twice, without its offset", operation: .addIntervals,
            body: interval(1, 1).replacing("2026-11-01T00:00:00Z", with: "2026-10-25T02:00:00"), status: 400,
            says: "offset"),
        Row(
            name: "a tariff that overlaps itself", operation: .addTariffs,
            body: tariff(
                (
                    "until: \"24:00\", import",
                    "until: \"24:00\", import_inr_per_kwh: 9, feed_in_inr_per_kwh: 3}, {name: night, from: \"23:59\", until: \"24:00\", import"
                )), status: 400, says: "overlaps"),
        Row(
            name: "a tariff without an hour of the day", operation: .addTariffs,
            body: tariff(("until: \"24:00\"", "until: \"23:00\"")), status: 400, says: "no band from 23:00"),
        Row(
            name: "two tariffs that overlap by a second", operation: .addTariffs,
            body: Desk.tariffs.replacing("bitcoin: {inr_per_btc: 8500000, source: made up}", with: "")
                .replacing("tariffs:\n", with: second + "\n"), status: 400, says: "at the same time"),
        Row(
            name: "a community's price above the grid's", operation: .addTariffs,
            body: tariff(("community_price_inr_per_kwh: 5", "community_price_inr_per_kwh: 50")), status: 400,
            says: "not between feed-in and import"),
        Row(
            name: "a midpoint that is no price of six decimals", operation: .addTariffs,
            body: tariff(("community_price_inr_per_kwh: 5", "community_price_inr_per_kwh: midpoint"))
                .replacing("import_inr_per_kwh: 8", with: "import_inr_per_kwh: 8.000001"), status: 400,
            says: "midpoint gives no price"),
        Row(
            name: "simulated intervals", operation: .addIntervals,
            body: Desk.interval("asha-home", 0, 1, 1, mode: "simulated"), status: 422, says: "simulat"),
    ]

    @Test(arguments: rows) func `is told with its place, or taken for what it is`(row: Row) async throws {
        try await desk.village()
        let answer = try await desk.ask(row.operation, row.body)
        #expect(answer.status == row.status && answer.body.contains(row.says), "\(answer)")
        #expect(try desk.findings() == [])
    }

    @Test func `a table with a byte order mark is read as one without`() async throws {
        try await desk.village()
        let text =
            "\u{FEFF}resource,kind,start,length_s,import_wh,export_wh,revision,quality,mode,record\r\n"
            + "asha-home,actual,\(Desk.start.text),900,5,0,0,measured,production,\r\n"
        #expect(try await desk.done(.addIntervalsCSV, text).contains("\"taken\":1"))
    }

    @Test func `a contract whose window is over is neither offered, accepted nor activated`() async throws {
        try await desk.village()
        try await desk.done(.addContract, Self.contract("5"))
        #expect(try await desk.ask(.contractEvent, "{event: offer}", id: "c").body.contains("was over at"))
        desk.now = Desk.start
        for event in ["offer", "accept"] { try await desk.done(.contractEvent, "{event: \(event)}", id: "c") }
        desk.now = Desk.at(4)
        #expect(try await desk.ask(.contractEvent, "{event: activate}", id: "c").status == 409)
    }

    @Test func `a party's own device tells no baseline, and no more than its resource can give`() async throws
    {
        try await desk.village()
        try await desk.done(
            .addResource,
            #"{"id": "roof", "party": "asha", "zone": "north", "kind": "pv", "export_max_kw": 5}"#)
        let meter = Desk.caller(.device, "asha")
        func told(_ exported: Int64, _ rest: String = "") -> String {
            Desk.interval("roof", 0, 0, exported).replacing("{", with: "{\(rest)")
        }
        let baseline = try await desk.ask(.addIntervals, told(0, "\"kind\": \"baseline\", "), as: meter)
        #expect(baseline.status == 403 && baseline.body.contains("operator"), "\(baseline)")
        #expect(try await desk.ask(.addIntervals, told(1_251), as: meter).status == 422)
        #expect(try await desk.ask(.addIntervals, told(1_250), as: meter).status == 201)
        #expect(try await desk.ask(.addParty, #"{"id": "outside", "name": "x"}"#).status == 422)
    }

    @Test func `tariffs do not change what is settled, and a removed meter holds nobody up`() async throws {
        try await desk.village()
        for id in ["asha-home", "ravi-home", "coop-pv"] { try await desk.tell(id, 0, in: 500) }
        _ = try desk.settle(0..<1)
        let dearer = Self.tariff(("import_inr_per_kwh: 8", "import_inr_per_kwh: 16"))
        let refused = try await desk.ask(.addTariffs, dearer)
        #expect(refused.status == 422 && refused.body.contains("which is settled"), "\(refused)")
        try await desk.done(.addTariffs, Self.tariff(("source: made up", "source: read again")))
        for id in ["asha-home", "coop-pv"] { try await desk.tell(id, 1, in: 500) }
        #expect(try desk.settle(1..<2).first?.contains("nothing to settle: 1 blocks open") == true)
        try await desk.done(.setResource, "{state: removed}", id: "ravi-home")
        #expect(try desk.settle(1..<2).first?.contains("1 blocks settled") == true)
        #expect(try desk.findings() == [])
    }

    @Test func `what a source makes is in one batch`() async throws {
        try await desk.village()
        func batch(_ id: String, _ from: Int64, _ until: Int64, _ owners: String) -> String {
            """
            {"id": "\(id)", "resource": "coop-pv", "from": "\(Desk.at(from).text)",
            "until": "\(Desk.at(until).text)", "owners": [\(owners)]}
            """
        }
        let (asha, ravi) = ("{party: asha, share: 1}", "{party: ravi, share: 2}")
        try await desk.done(.addBatch, batch("b1", 0, 4, "\(asha), \(ravi)"))
        #expect(try await desk.ask(.addBatch, batch("b2", 3, 8, ravi)).status == 409, "by one block")
        #expect(try await desk.ask(.addBatch, batch("b3", 4, 8, "\(asha), \(asha)")).status == 422)
        try await desk.done(.addBatch, batch("b4", 4, 8, ravi))
    }

    @Test func `the grid's party and a zone's operator are not erased`() async throws {
        try await desk.village()
        for party in ["grid", "op"] {
            #expect(try await desk.ask(.eraseParty, id: party).status == 409)
        }
    }

    @Test func `the hour that is there twice is two hours`() async throws {
        try await desk.village()
        for offset in ["+02:00", "+01:00"] {
            let body = Self.interval(1, 1).replacing(
                "2026-11-01T00:00:00Z", with: "2026-10-25T02:00:00\(offset)")
            #expect(try await desk.done(.addIntervals, body).contains("\"taken\":1"))
        }
    }

    @Test func `the same key with another body is refused`() async throws {
        try await desk.village()
        let body = LedgerMove.body("outside", "asha", "1")
        #expect(try await desk.ask(.transfer, body, key: "k").status == 201)
        #expect(try await desk.ask(.transfer, body + " ", key: "k").status == 422)
        #expect(try await desk.ask(.addParty, body, key: "k").status == 422, "another path is another body")
    }

    @Test func `the same key in flight is refused, and the first is carried out once`() async throws {
        try await desk.village()
        let (store, queue, body) = (desk.store, desk.queue, LedgerMove.body("outside", "asha", "1"))
        let (begun, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        // Somebody holds the database, so that the first request with the key is on its way until we say so.
        DispatchQueue.global().async {
            try? queue.write { _ in
                begun.signal()
                gate.wait()
            }
        }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                begun.wait()
                continuation.resume()
            }
        }
        let call = BooksCall(
            caller: Desk.caller(.admin), operation: .transfer, body: Array(body.utf8), key: "same",
            now: Desk.start)
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<2 { group.addTask { try await store.answer(call).status } }
            var statuses: [Int] = []
            for try await status in group {
                statuses.append(status)
                gate.signal()
            }
            return statuses
        }
        #expect(statuses == [409, 201])
        #expect(try desk.balance("Assets:Party:Asha:Wallet") == 100)
    }

    @Test func `a meter that is replaced in the middle of the month gives no difference over both`()
        async throws
    {
        try await desk.village()
        func register(_ block: Int64, _ imported: Int64, _ meter: String) async throws {
            try await desk.done(
                .addRegisters,
                "{\"registers\": [{\"resource\": \"ravi-home\", \"meter\": \"\(meter)\", \"at\": "
                    + "\"\(Desk.at(block).text)\", \"import_wh\": \(imported), \"export_wh\": 0}]}")
        }
        // 1,000 Wh by the old meter in the first two blocks, 600 by the new one in the last two.
        try await register(0, 900_000, "old")
        try await register(2, 901_000, "old")
        try await register(2, 3, "new")
        try await register(4, 603, "new")
        for block in Int64(0)..<4 {
            try await desk.tell("asha-home", block)
            try await desk.tell("coop-pv", block)
        }
        // One interval makes the series known; the others are rebuilt.
        try await desk.tell("ravi-home", 1, in: 400)
        #expect(try desk.settle(0..<4).first?.contains("4 blocks settled") == true)
        #expect(try await desk.done(.bill, id: "r1-ravi").contains("\"quantity_wh\":1600,"))
        #expect(try desk.findings() == [])
    }
}

enum LedgerMove {
    static func body(_ from: String, _ to: String, _ amount: String, _ asset: String = "INR") -> String {
        "{\"transfers\": [{\"from\": \"\(from)\", \"to\": \"\(to)\", \"asset\": \"\(asset)\", "
            + "\"amount\": \(amount), \"text\": \"t\"}]}"
    }
}
