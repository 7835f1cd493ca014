import BooksSupport
import ExactAmounts
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
        (.leaderboard, "aaaaaa-"), (.events, "a-a----"), (.roots, "aaaaaa-"), (.proof, "aaaooo-"),
        (.performance, "aaaooo-"), (.view, "aaaooo-"), (.interfaceCalls, "a-a----"),
        (.exportParty, "a--ooo-"), (.eraseParty, "a------"),
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

    @Test func `one person never sees another's meter, bill, line, contract or wallet`() async throws {
        try await desk.village()
        try await desk.tell("asha-home", 0, out: 4_321)
        try await desk.tell("ravi-home", 0, in: 1_234)
        try await desk.tell("coop-pv", 0, out: 2_222)
        _ = try desk.settle(0..<1)
        var dice = Dice(seed: 22)
        let ids = [
            "asha", "coop", "grid", "op", "asha-home", "coop-pv", "r1-asha", "r1-coop", "r1-asha-1", "north",
            "grid", "prosumer", "trader",
            "1",
        ]
        let ravi = [BooksRole.prosumer, .consumer, .vendor, .device].map {
            BooksCaller(name: "ravi", role: $0, party: "ravi")
        }
        let secrets = ["4321", "2222", "asha-home", "coop-pv", "Name of asha", "\"asha\"", "Asha", "coop\""]
        for _ in 0..<operations(2_000) {
            let operation = dice.pick(
                BooksOperation.allCases.filter { $0.method == .get && $0 != .leaderboard && $0 != .zones })
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
        #expect(try await desk.ask(.eraseParty, "{}", id: "asha").status == 409, "3 INR are hers")
        try await desk.done(.pay, "{amount_inr: 3}", id: "r1-asha")
        try await desk.done(
            .transfer,
            #"{"transfers": [{"from": "asha", "to": "outside", "amount": 3, "text": "paid out"}]}"#,
            as: asha.admin)
        try await desk.done(.eraseParty, "{}", id: "asha")
        let dump = try await desk.queue.read { database in
            try String.fetchAll(database, sql: "SELECT name FROM books_party")
                + String.fetchAll(database, sql: "SELECT data FROM books_event")
                + String.fetchAll(database, sql: "SELECT answer FROM books_answer")
        }
        #expect(!dump.contains { $0.contains("Name of asha") })
        #expect(try desk.findings() == [])
    }
}

extension BooksCaller {
    /// The same, as somebody who may.
    fileprivate var admin: BooksCaller { BooksCaller(name: "admin", role: .admin, party: nil) }
}
