import BooksSupport
import ExactAmounts
import Foundation
import GRDB
import Testing

@testable import BooksStore

@Suite struct `Who may what in the books` {
    let desk: Desk

    init() throws { desk = try Desk() }

    /// Written out a second time, so that a change of the table is a change of two places.
    /// a: all, o: own, -: nothing; admin, grid operator, auditor, prosumer, consumer, vendor, device.
    // swift-format-ignore
    static let matrix: [(BooksOperation, String)] = [
        (.addParty, "a------"), (.parties, "aaaoooo"), (.addZone, "a------"), (.zones, "aaaaaaa"),
        (.addResource, "a------"), (.setResource, "aa-ooo-"), (.resources, "aaaoooo"),
        (.addIntervals, "aa----o"), (.addIntervalsCSV, "aa----o"), (.intervals, "aaaoooo"),
        (.addRegisters, "aa----o"), (.netto, "aaaooo-"), (.completeness, "aaaooo-"), (.addTariffs, "a------"),
        (.tariffs, "aaaaaa-"), (.addContract, "a--ooo-"), (.contractEvent, "a--ooo-"), (.contracts, "aaaooo-"),
        (.transfer, "a--ooo-"), (.accounts, "a-aooo-"), (.trialBalance, "a-a----"), (.runs, "aaa----"),
        (.bills, "a-aooo-"), (.bill, "a-aooo-"), (.billCSV, "a-aooo-"), (.billPage, "a-aooo-"),
        (.explain, "a-aooo-"), (.pay, "a--ooo-"), (.certificates, "aaaooo-"), (.moveCertificate, "a--ooo-"),
        (.leaderboard, "aaaaaa-"), (.events, "a-a----"), (.roots, "aaaaaa-"), (.proof, "aoaooo-"),
        (.performance, "aaaooo-"), (.view, "aaaooo-"), (.interfaceCalls, "a-a----"),
        (.exportParty, "a--ooo-"), (.eraseParty, "a------"), (.addHold, "a--ooo-"), (.endHold, "a--ooo-"),
        (.holds, "a-aooo-"), (.addBatch, "a--o-o-"), (.distribute, "a--o-o-"), (.batches, "aaaooo-"),
        (.batch, "a-aooo-"), (.payouts, "a-a----"), (.payOut, "a------"),
    ]

    @Test func `every operation is open to exactly the roles of the matrix, and to nobody without a party`()
        async throws
    {
        try await desk.village()
        #expect(Set(Self.matrix.map(\.0)) == Set(BooksOperation.allCases))
        for (operation, row) in Self.matrix {
            for (role, letter) in zip(BooksRole.allCases, row) {
                let answer = try await desk.ask(operation, "{}", id: "x", as: Desk.caller(role, "asha"))
                let isShut = answer.status == 403 && answer.body.hasSuffix("may not do this")
                #expect(isShut == (letter == "-"), "\(operation) \(role): \(answer)")
                let lost = try await desk.ask(operation, "{}", id: "x", as: Desk.caller(role))
                #expect((lost.status == 403) == (letter != "a"), "\(operation) \(role) of no party: \(lost)")
            }
        }
    }

    /// r: read, m: meters, c: contracts, g: money, y: registry; written out a second time.
    private static let scopes: [Character: BooksScope] = [
        "r": .read, "m": .meters, "c": .contracts, "g": .money, "y": .registry,
    ]

    @Test func `a token that is narrowed has its scope alone, in every operation`() async throws {
        try await desk.village()
        let changing: [BooksOperation: Character] = [
            .addParty: "y", .addZone: "y", .addResource: "y", .setResource: "m", .addIntervals: "m",
            .addIntervalsCSV: "m", .addRegisters: "m", .addTariffs: "y", .addContract: "c",
            .contractEvent: "c", .transfer: "g", .pay: "g", .moveCertificate: "g", .eraseParty: "y",
            .addHold: "g", .endHold: "g", .addBatch: "g", .distribute: "g", .payOut: "g",
        ]
        for operation in BooksOperation.allCases {
            let letter = operation.method == .get ? "r" : changing[operation]
            let wanted = try #require(letter.flatMap { Self.scopes[$0] }, "\(operation)")
            for scope in BooksScope.allCases {
                let caller = BooksCaller(name: "t", role: .admin, party: nil, scopes: [scope])
                let answer = try await desk.ask(operation, "{}", id: "x", as: caller)
                let isShut =
                    answer.status == 403 && answer.body.contains("has not the scope \(wanted.rawValue)")
                #expect(isShut == (scope != wanted), "\(operation) \(scope): \(answer)")
            }
            let nothing = BooksCaller(name: "t", role: .admin, party: nil, scopes: [])
            #expect(try await desk.ask(operation, "{}", id: "x", as: nothing).status == 403)
        }
    }

    @Test func `ten thousand probes: one person never sees another's meter, bill, line, contract or wallet`()
        async throws
    {
        try await desk.village()
        try await desk.deposit("asha", "77.31")
        try await desk.done(
            .addHold, #"{"id": "h1", "party": "asha", "amount": 7.31, "text": "for asha"}"#)
        try await desk.done(
            .addBatch,
            "{\"id\": \"b1\", \"resource\": \"coop-pv\", \"from\": \"\(Desk.at(0).text)\", \"until\": \"\(Desk.at(4).text)\"}"
        )
        try await desk.tell("asha-home", 0, out: 4_321)
        try await desk.tell("ravi-home", 0, in: 1_234)
        try await desk.tell("coop-pv", 0, out: 2_222)
        _ = try desk.settle(0..<1)
        var dice = Dice(seed: 22)
        let ids = [
            "asha", "coop", "grid", "op", "asha-home", "coop-pv", "r1-asha", "r1-coop", "r1-asha-1", "north",
            "grid", "prosumer", "trader",
            "1", "h1", "b1",
        ]
        let ravi = [BooksRole.prosumer, .consumer, .vendor, .device].map {
            BooksCaller(name: "ravi", role: $0, party: "ravi")
        }
        let secrets = [
            "4321", "2222", "77.31", "7.31", "asha-home", "coop-pv", "Name of asha", "\"asha\"", "Asha",
            "coop\"",
        ]
        let reading = BooksOperation.allCases.filter {
            $0.method == .get && $0 != .leaderboard && $0 != .zones
        }
        for _ in 0..<operations(10_000) {
            let operation = dice.pick(reading)
            let id = dice.pick(ids)
            var query = ["from": Desk.at(0).text, "until": Desk.at(96).text]
            if dice.roll(0...2) > 0 { query[dice.pick(["resource", "party", "zone"])] = dice.pick(ids) }
            let answer = try await desk.ask(operation, id: id, query: query, as: dice.pick(ravi))
            if answer.isRefusal { continue }
            for secret in secrets {
                #expect(
                    !answer.body.contains(secret), "\(operation) \(id) \(query): \(answer.body.prefix(300))")
            }
        }
        let own = try await desk.done(
            .intervals, query: ["resource": "ravi-home", "from": Desk.at(0).text, "until": Desk.at(1).text],
            as: ravi[1])
        #expect(own.contains("\"import_wh\":1234"))
    }

    @Test func `the grid's operator sees energy and contracts, and nobody's money by another way`()
        async throws
    {
        desk.now = Desk.start + 7_200
        try await desk.village()
        try await desk.done(
            .addBatch,
            "{\"id\": \"b1\", \"resource\": \"coop-pv\", \"from\": \"\(Desk.at(0).text)\", \"until\": \"\(Desk.at(4).text)\"}"
        )
        for (id, drawn, given) in [("asha-home", 0, 4_321), ("ravi-home", 1_234, 0), ("coop-pv", 0, 2_222)] {
            try await desk.tell(id, 0, in: Int64(drawn), out: Int64(given))
        }
        _ = try desk.settle(0..<1)
        let settled = try await desk.queue.read {
            try String.fetchOne($0, sql: "SELECT seq FROM books_event WHERE kind = 'settle'") ?? ""
        }
        desk.now = Desk.start + 86_400
        try await desk.deposit("op", "1")
        try await desk.store.closeDays(before: desk.now)
        let operators = [
            BooksCaller(name: "desk", role: .gridOperator, party: "op"), Desk.caller(.gridOperator),
        ]
        for caller in operators {
            for party in ["ravi", "asha", "op", "grid"] {
                let proof = try await desk.ask(.proof, id: settled, query: ["party": party], as: caller)
                #expect(proof.status == 403, "\(party): \(proof)")
            }
            #expect(try await desk.ask(.view, id: "prosumer", as: caller).status == 403)
            #expect(try await desk.ask(.batch, id: "b1", as: caller).status == 403)
            #expect(try await desk.done(.view, id: "grid", as: caller).contains("\"import_wh\":1234"))
            #expect(try await desk.done(.view, id: "trader", as: caller) == "{\"trader\":[]}")
        }
        let bill = try await desk.done(.proof, id: settled, query: ["party": "ravi"])
        #expect(bill.contains("r1-ravi"), "an admin sees it")
    }

    @Test func `a person's data goes out whole, and the name goes out of the books, which stay balanced`()
        async throws
    {
        try await desk.village()
        try await desk.tell("asha-home", 0, out: 1_000)
        try await desk.tell("ravi-home", 0)
        try await desk.tell("coop-pv", 0)
        _ = try desk.settle(0..<1)
        let asha = Desk.caller(.prosumer, "asha")
        let export = try await desk.done(.exportParty, id: "asha", as: asha)
        for part in [
            "Name of asha", "asha-home", "\"export_wh\":1000", "r1-asha-1", "Assets:Party:Asha:Bills",
        ] {
            #expect(export.contains(part), "\(part)")
        }
        #expect(try await desk.ask(.exportParty, id: "ravi", as: asha).status == 403)
        func stays(_ why: String) async throws {
            let answer = try await desk.ask(.eraseParty, "{}", id: "asha")
            #expect(answer.status == 409 && answer.body.contains(why), "\(answer)")
        }
        try await stays("Assets:Party:Asha:Bills in INR is not settled")
        try await desk.done(.pay, "{amount_inr: 3}", id: "r1-asha")
        try await desk.done(
            .transfer,
            #"{"transfers": [{"from": "asha", "to": "outside", "amount": 3, "text": "paid out"}]}"#,
            as: asha.admin)
        try await desk.deposit("asha", "0.00000001", "BTC")
        try await stays("Assets:Party:Asha:Wallet in BTC is not settled")
        try await desk.done(
            .transfer, LedgerMove.body("asha", "outside", "0.00000001", "BTC"), as: asha.admin)
        let early = try await desk.ask(.eraseParty, "{}", id: "asha")
        #expect(early.status == 409 && early.body.contains("not settled and frozen"), "\(early)")
        _ = try SettleJob.freeze(desk.queue, before: Desk.at(1))
        try await desk.done(.eraseParty, "{}", id: "asha")
        #expect(
            try await desk.ask(.addIntervals, Desk.interval("asha-home", 1, 5, 0)).status == 422, "of nobody")
        for id in ["ravi-home", "coop-pv"] { try await desk.tell(id, 1) }
        #expect(try desk.settle(1..<2).first?.contains("1 blocks settled") == true, "nobody waits for her")
        #expect(try await desk.ask(.eraseParty, "{}", id: "asha").status == 404, "once")
        #expect(try await desk.ask(.bills, as: asha).status == 403, "her token speaks for nobody")
        #expect(try await desk.ask(.transfer, LedgerMove.body("outside", "asha", "1")).status == 404)
        let dump = try await desk.queue.read { database in
            try String.fetchAll(database, sql: "SELECT name FROM books_party")
                + String.fetchAll(database, sql: "SELECT data FROM books_event")
                + String.fetchAll(database, sql: "SELECT answer FROM books_answer")
        }
        #expect(!dump.contains { $0.contains("Name of asha") })
        #expect(try desk.findings() == [])
    }
}

@Suite struct `What was erased` {
    @Test func `is in no file of the database any more, the write-ahead log included`() async throws {
        let folder = try ScratchText()
        let pool = try DatabasePool(path: "\(folder.path)/books.sqlite")
        let store = try BooksStore(pool)
        func done(_ operation: BooksOperation, _ body: String, id: String = "") async throws {
            let answer = try await store.answer(
                BooksCall(
                    caller: Desk.caller(.admin), operation: operation, id: id, body: Array(body.utf8),
                    key: "\(operation) \(id)".replacing(" ", with: "-"), now: Desk.start))
            #expect(!answer.isRefusal, "\(answer)")
        }
        func files() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { name in
                let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(folder.path)/\(name)"))
                return bytes.range(of: Data("Quetzalcoatl".utf8)) != nil
            }
        }
        try await done(.addParty, #"{"id": "p7", "name": "Quetzalcoatl"}"#)
        #expect(try !files().isEmpty)
        try await done(.eraseParty, "{}", id: "p7")
        try await store.closeDays(before: Desk.start + 1)
        #expect(try files() == [])
    }
}

extension BooksCaller {
    /// The same, as somebody who may.
    fileprivate var admin: BooksCaller { BooksCaller(name: "admin", role: .admin, party: nil) }
}
