import BooksSupport
import ExactAmounts
import GRDB
import Testing

@testable import BooksStore

/// What the books refuse by a rule of their own, each with the nearest thing that they take.
@Suite struct `Rules of the books` {
    let desk: Desk

    init() throws { desk = try Desk() }

    private static func resource(_ rest: String) -> String {
        "{\"id\": \"new\", \"zone\": \"north\", \(rest)}"
    }

    private static func batch(_ resource: String) -> String {
        """
        {"id": "b", "resource": "\(resource)", "from": "\(Desk.at(0).text)", "until": "\(Desk.at(4).text)",
        "owners": [{"party": "asha", "share": 1}]}
        """
    }

    // swift-format-ignore
    private static let rows: [(operation: BooksOperation, body: String, status: Int, says: String, taken: String)] = [
        (.addZone, #"{"id": "s", "grid": "grid", "operator": "op", "block_min": 60}"#, 422, "blocks of 15 min", #"{"id": "s", "grid": "grid", "operator": "op"}"#),
        (.addZone, #"{"id": "s", "grid": "grid", "operator": "grid"}"#, 422, "another party than the grid", #"{"id": "s", "grid": "op", "operator": "grid"}"#),
        (.addResource, resource(#""party": "asha", "kind": "grid_connection""#), 422, "nobody else has one", resource(#""party": "grid", "kind": "grid_connection""#)),
        (.addResource, resource(#""party": "grid", "kind": "load""#), 422, "has grid connections", resource(#""party": "asha", "kind": "load""#)),
        (.addResource, resource(#""party": "asha", "kind": "load", "source": "demo/coop-pv""#), 409, "feeds coop-pv already", resource(#""party": "asha", "kind": "load", "source": "demo/x""#)),
        (.addBatch, batch("mill-pv"), 422, "each settlement shares out what mill earns", batch("coop-pv")),
        (.addContract, BadInput.contract(of: "coop"), 422, "owns coop-pv", BadInput.contract(of: "ravi")),
        (.addIntervals, Desk.interval("coop-pv", 0, 0, 1, 100_001), 422, "beyond which an operator corrects", Desk.interval("coop-pv", 0, 0, 1, 100_000)),
    ]

    @Test(arguments: rows.indices) func `refuse one step beyond what they take`(index: Int) async throws {
        let row = Self.rows[index]
        try await desk.village()
        try await desk.done(
            .addParty, #"{"id": "mill", "name": "n", "owners": [{"party": "asha", "share": 1}]}"#)
        try await desk.done(
            .addResource,
            #"{"id": "mill-pv", "party": "mill", "zone": "north", "kind": "pv", "export_max_kw": 8}"#)
        let caller = Desk.caller(row.operation == .addIntervals ? .device : .admin, "coop")
        let refused = try await desk.ask(row.operation, row.body, as: caller)
        #expect(refused.status == row.status && refused.body.contains(row.says), "\(refused)")
        try await desk.done(row.operation, row.taken, as: caller)
        #expect(try desk.findings() == [])
    }

    private struct Step {
        var operation: BooksOperation
        var body: String
        var id = ""
        var status: Int
        var says: String
    }

    private static let again = [
        Step(operation: .addBatch, body: batch("coop-pv"), status: 201, says: "b"),
        Step(operation: .addBatch, body: batch("coop-pv"), status: 409, says: "a batch b already"),
        Step(operation: .distribute, body: "{}", id: "b", status: 422, says: "it earned nothing"),
        Step(operation: .distribute, body: "{}", id: "bare", status: 422, says: "this batch has none"),
        Step(operation: .addContract, body: BadInput.contract(of: "ravi"), status: 201, says: "draft"),
        Step(
            operation: .addContract, body: BadInput.contract(of: "ravi"), status: 409,
            says: "contract c already"),
        Step(
            operation: .addContract,
            body: BadInput.contract(of: "ravi").replacing("\"c\"", with: "\"d\"").replacing(
                Desk.at(0).text, with: (Desk.at(0) + 420).text), status: 422,
            says: "begin and end with blocks"),
        Step(
            operation: .moveCertificate,
            body: "{\"resource\": \"coop-pv\", \"start\": \"\(Desk.at(0).text)\", \"action\": \"transfer\"}",
            status: 400, says: "a transfer has a party"),
        Step(
            operation: .addHold, body: #"{"id": "h", "party": "asha", "amount": 1, "text": "t"}"#,
            status: 201,
            says: "held"),
        Step(
            operation: .endHold, body: "{action: capture}", id: "h", status: 400,
            says: "a capture has a party"),
        Step(
            operation: .endHold, body: "{action: release}", id: "none", status: 404, says: "there is no hold"),
    ]

    @Test func `say what is there already, what is missing and what has none`() async throws {
        try await desk.village()
        try await desk.deposit("asha", "1")
        for id in ["asha-home", "ravi-home", "coop-pv"] {
            for block in Int64(0)..<4 { try await desk.tell(id, block) }
        }
        _ = try desk.settle(0..<4)
        let bare = Self.batch("asha-home").replacing("\"b\"", with: "\"bare\"").replacing(
            "{\"party\": \"asha\", \"share\": 1}", with: "")
        try await desk.done(.addBatch, bare)
        for step in Self.again {
            let answer = try await desk.ask(step.operation, step.body, id: step.id)
            #expect(answer.status == step.status && answer.body.contains(step.says), "\(step): \(answer)")
        }
        let days = ["zone": "north", "from": Desk.at(0).text]
        for (until, status) in [(Int64(400 * 96), 200), (400 * 96 + 1, 400)] {
            let answer = try await desk.ask(
                .netto, query: days.merging(["until": Desk.at(until).text]) { $1 })
            #expect(answer.status == status, "\(answer.body.prefix(200))")
        }
        let nowhere = ["zone": "south", "from": Desk.at(0).text, "until": Desk.at(4).text]
        #expect(try await desk.ask(.netto, query: nowhere).status == 404)
        #expect(try desk.findings() == [])
    }

    @Test func `settle no period that no block begins, nothing without a zone, and no contract for nothing`()
        async throws
    {
        let empty = try Desk()
        try await empty.done(.addTariffs, Desk.tariffs)
        #expect(throws: SettleFailure.self) { try empty.settle(0..<1) }
        try await desk.village()
        let askew = try #require(Period(from: Desk.at(0) + 420, until: Desk.at(1)))
        #expect(throws: SettleFailure.self) {
            try SettleJob.run(desk.queue, SettleWish(period: askew, now: desk.now, due: desk.now))
        }
        desk.now = Desk.start
        // 0.008 kWh at 5 INR are 0.04 INR: 0.47 satoshi.
        let terms = BadInput.contract(of: "ravi").replacing(
            "\"energy_kwh\": 1,", with: "\"energy_kwh\": 0.008, \"payment\": \"prepaid\", \"asset\": \"BTC\","
        )
        try await desk.done(.addContract, terms)
        for event in ["offer", "accept"] { try await desk.done(.contractEvent, "{event: \(event)}", id: "c") }
        let refused = try await desk.ask(.contractEvent, "{event: activate}", id: "c")
        #expect(refused.status == 422 && refused.body.contains("less than half a satoshi"), "\(refused)")
    }

    @Test func `let an amendment alone change energy and price`() async throws {
        try await desk.village()
        desk.now = Desk.start
        try await desk.done(.addContract, BadInput.contract(of: "ravi"))
        for change in ["energy_kwh: 2", "price_inr_per_kwh: 2"] {
            let refused = try await desk.ask(.contractEvent, "{event: offer, \(change)}", id: "c")
            #expect(refused.status == 422 && refused.body.contains("only amend"), "\(refused)")
        }
        #expect(try await desk.done(.contracts).contains("\"energy_wh\":1000,\"price\":\"5.00\""))
    }

    @Test func `let nobody touch what is another's, nor bring in or take out`() async throws {
        try await desk.village()
        for party in ["asha", "ravi"] { try await desk.deposit(party, "5") }
        let asha = Desk.caller(.prosumer, "asha")
        for (from, to, says) in [
            ("ravi", "asha", "the wallet of ravi is not yours"), ("outside", "asha", "only an admin"),
            ("asha", "outside", "only an admin"),
        ] {
            let refused = try await desk.ask(.transfer, LedgerMove.body(from, to, "1"), as: asha)
            #expect(refused.status == 403 && refused.body.contains(says), "\(from) \(to): \(refused)")
        }
        let both =
            "{\"transfers\": [{\"from\": \"asha\", \"to\": \"ravi\", \"amount\": 1, \"text\": \"t\"}, "
            + "{\"from\": \"ravi\", \"to\": \"asha\", \"amount\": 2, \"text\": \"t\"}]}"
        #expect(try await desk.ask(.transfer, both, as: asha).status == 403, "not behind one of her own")
        #expect(try desk.balance("Assets:Party:Asha:Wallet") == 500)
        let state = try await desk.ask(.setResource, "{state: fault}", id: "ravi-home", as: asha)
        #expect(state.status == 403 && state.body.contains("ravi-home is not yours"), "\(state)")
        try await desk.done(.setResource, "{state: fault}", id: "asha-home", as: asha)
        try await desk.done(.transfer, LedgerMove.body("asha", "ravi", "1"), as: asha)
        #expect(try desk.balance("Assets:Party:Ravi:Wallet") == 600)
        #expect(try desk.findings() == [])
    }

    @Test func `let nobody take back what an operator took away from them`() async throws {
        try await desk.village()
        let coop = Desk.caller(.vendor, "coop")
        try await desk.done(.setResource, "{state: fault}", id: "coop-pv", as: coop)
        try await desk.done(.setResource, "{state: removed}", id: "coop-pv")
        #expect(try await desk.ask(.setResource, "{state: working}", id: "coop-pv", as: coop).status == 403)
        try await desk.done(.setResource, "{state: working}", id: "coop-pv", as: Desk.caller(.gridOperator))
    }

    @Test func `certify nothing that registers filled in, and all of it once it was measured`() async throws {
        try await desk.village()
        for id in ["asha-home", "ravi-home"] { try await desk.tell(id, 0, in: 500) }
        for (block, exported) in [(0, 0), (1, 900)] {
            try await desk.done(
                .addRegisters,
                "{\"registers\": [{\"resource\": \"coop-pv\", \"meter\": \"m\", \"at\": "
                    + "\"\(Desk.at(Int64(block)).text)\", \"import_wh\": 0, \"export_wh\": \(exported)}]}")
        }
        #expect(try desk.settle(0..<1).first?.contains("1 blocks settled") == true)
        #expect(try await desk.done(.bill, id: "r1-coop").contains("\"total_inr\":\"4.50\""), "it is paid")
        #expect(try desk.balance("Assets:Party:Coop:Certificates", "CWH") ?? 0 == 0, "and not certified")
        try await desk.tell("coop-pv", 0, out: 800)
        _ = try desk.settle(0..<1)
        #expect(try desk.balance("Assets:Party:Coop:Certificates", "CWH") == 800)
        #expect(try desk.findings() == [])
    }

    @Test func `list who wants to be seen and sells what sun and wind made, and nobody else`() async throws {
        try await desk.village()
        for (id, listed, kind) in [("shy", false, "pv"), ("cell", true, "battery"), ("mast", true, "wind")] {
            try await desk.done(.addParty, "{\"id\": \"\(id)\", \"name\": \"n\", \"is_listed\": \(listed)}")
            try await desk.done(
                .addResource,
                "{\"id\": \"\(id)-r\", \"party\": \"\(id)\", \"zone\": \"north\", \"kind\": \"\(kind)\", "
                    + "\"export_max_kw\": 8}")
            try await desk.tell("\(id)-r", 0, out: 1_000)
        }
        try await desk.tell("ravi-home", 0, in: 5_000)
        for id in ["asha-home", "coop-pv"] { try await desk.tell(id, 0, out: 1_000) }
        _ = try desk.settle(0..<1)
        let board = try await desk.done(.leaderboard)
        for party in ["coop", "mast"] { #expect(board.contains("\"\(party)\""), "\(board)") }
        for party in ["shy", "cell", "asha", "ravi"] { #expect(!board.contains("\"\(party)\""), "\(board)") }
    }

    @Test func `give a person all that is kept of them`() async throws {
        try await desk.village()
        desk.now = Desk.start
        let (asha, coop) = (Desk.caller(.prosumer, "asha"), Desk.caller(.vendor, "coop"))
        try await desk.done(.addContract, BadInput.contract(of: "asha"), as: coop)
        try await desk.done(.contractEvent, "{event: offer}", id: "c", as: coop)
        try await desk.done(.contractEvent, "{event: accept}", id: "c", as: asha)
        try await desk.deposit("asha", "2")
        try await desk.done(
            .addHold, #"{"id": "h", "party": "asha", "amount": 1, "text": "for the well"}"#, as: asha)
        try await desk.done(
            .addBatch, Self.batch("asha-home").replacing("asha\", \"share", with: "ravi\", \"share"))
        try await desk.done(
            .addRegisters,
            "{\"registers\": [{\"resource\": \"asha-home\", \"meter\": \"A7\", \"at\": \"\(Desk.at(0).text)\", "
                + "\"import_wh\": 4711, \"export_wh\": 0}]}")
        let text = try await desk.done(.exportParty, id: "asha", as: asha)
        for part in [
            "\"contracts_bought\":[{\"id\":\"c\"", "\"event\":\"accept\"", "for the well",
            "\"import_wh\":4711", "\"batches\":[{\"id\":\"b\"", "\"contracts_sold\":[]",
        ] { #expect(text.contains(part), "\(part) in \(text)") }
        let other = try await desk.done(.exportParty, id: "ravi", as: Desk.caller(.consumer, "ravi"))
        for part in ["for the well", "4711", "\"id\":\"c\""] { #expect(!other.contains(part), "\(part)") }
    }
}
