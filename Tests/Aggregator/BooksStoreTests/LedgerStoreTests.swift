import BooksSupport
import ExactAmounts
import GRDB
import Testing

@testable import BooksStore

@Suite struct `The ledger in the database` {
    let desk: Desk

    init() throws { desk = try Desk() }

    static func move(_ from: String, _ to: String, _ amount: String, _ asset: String = "INR") -> String {
        "{\"transfers\": [{\"from\": \"\(from)\", \"to\": \"\(to)\", \"asset\": \"\(asset)\", "
            + "\"amount\": \(amount), \"text\": \"t\"}]}"
    }

    @Test func `a key has one answer: the same again changes nothing, another body is told, in flight waits`()
        async throws
    {
        try await desk.village()
        let body = Self.move("outside", "asha", "12.50")
        let first = try await desk.ask(.transfer, body, key: "one")
        #expect(first.status == 201)
        #expect(try await desk.ask(.transfer, body, key: "one") == first)
        #expect(try desk.balance("Assets:Party:Asha:Wallet") == 1_250)
        #expect(
            try await desk.ask(.transfer, Self.move("outside", "asha", "12.51"), key: "one").status == 422)
        #expect(try await desk.ask(.transfer, Self.move("asha", "ravi", "13"), key: "two").status == 422)
        try await desk.deposit("asha", "100")
        // What was refused under a key stays refused under it.
        #expect(try await desk.ask(.transfer, Self.move("asha", "ravi", "13"), key: "two").status == 422)
        #expect(try await desk.ask(.transfer, Self.move("asha", "ravi", "13"), key: "three").status == 201)
        #expect(try await desk.ask(.transfer, "{", key: "four").status == 400)
        #expect(
            try await desk.ask(.transfer, body, key: "four").status == 201, "what was no request took no key")
        #expect(try await desk.ask(.transfer, body, key: "").status == 400)
        #expect(try desk.findings() == [])

        // Held open in the database, a command is on its way: its key is taken, others wait for their turn.
        let (store, gate) = (desk.store, desk.queue)
        let answers = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try await store.answer(
                        BooksCall(
                            caller: Desk.caller(.admin), operation: .transfer, body: Array(body.utf8),
                            key: "same", now: Desk.start)
                    ).status
                }
            }
            return try await group.reduce(into: [Int]()) { $0.append($1) }
        }
        #expect(answers.allSatisfy { $0 == 201 || $0 == 409 } && answers.contains(201))
        #expect(
            try await gate.read {
                try Int.fetchOne($0, sql: "SELECT count(*) FROM books_transfer WHERE key LIKE '%same%'")
            } == 1)
    }

    // swift-format-ignore
    static let refused: [(body: String, says: String, why: Comment)] = [
        (move("asha", "ravi", "0"), "above 0", "nothing"),
        (move("asha", "ravi", "-1"), "above 0", "backwards"),
        (move("asha", "ravi", "0.001"), "2 decimals", "half a paisa"),
        (move("asha", "ravi", "1", "EUR"), "INR, BTC", "an unknown asset"),
        (move("asha", "nobody", "1"), "no party nobody", "an unknown party"),
        (move("outside", "asha", "92233720368547758.08"), "above 0", "beyond 64 bits"),
        (move("asha", "ravi", "1.01"), "floor", "one paisa more than there is"),
        ("{\"transfers\": []}", "0 elements", "none"),
        ("{\"transfers\": [{\"from\": \"asha\"}]}", "to: is missing", "a leg"),
        ("{\"transfer\": []}", "unknown key", "another key"),
    ]

    @Test func `refuses what cannot be, with its place`() async throws {
        try await desk.village()
        try await desk.deposit("asha", "1")
        for row in Self.refused {
            let answer = try await desk.ask(.transfer, row.body)
            #expect(
                [400, 404, 422].contains(answer.status) && answer.body.contains(row.says),
                "\(answer) \(row.why)")
        }
        let mixed = """
            {"transfers": [{"from": "asha", "to": "ravi", "amount": 1, "text": "t"},
            {"from": "asha", "to": "ravi", "amount": 0.01, "text": "t"}]}
            """
        let answer = try await desk.ask(.transfer, mixed)
        #expect(answer.status == 422 && answer.body.hasPrefix("transfers[1]"))
        #expect(try desk.balance("Assets:Party:Asha:Wallet") == 100, "all or none")
        #expect(try desk.findings() == [])
    }

    /// What a hand at the database cannot do.
    static let attacks = [
        "INSERT INTO books_posting VALUES (1, 9, 1, 5)",
        "UPDATE books_posting SET amount = amount + 1",
        "DELETE FROM books_posting",
        "DELETE FROM books_transfer",
        "UPDATE books_transfer SET text = ''",
        "INSERT INTO books_transfer VALUES (99, 'x', 0, 'no postings')",
        "INSERT INTO books_posting VALUES (99, 0, 1, 5); INSERT INTO books_transfer VALUES (99, 'x', 0, 'one')",
        "INSERT INTO books_posting VALUES (99, 0, 1, 5), (99, 1, 2, -4); INSERT INTO books_transfer VALUES (99, 'x', 0, 'crooked')",
        "INSERT INTO books_posting VALUES (99, 0, 1, 5), (99, 1, 2, -5)",
        "INSERT INTO books_posting VALUES (99, 0, 2, 9000), (99, 1, 1, -9000); INSERT INTO books_transfer VALUES (99, 'x', 0, 'floor')",
        "INSERT INTO books_posting VALUES (99, 0, 1, 9223372036854775807), (99, 1, 2, -9223372036854775807); INSERT INTO books_transfer VALUES (99, 'x', 0, 'overflow')",
        "UPDATE books_answer SET status = 200",
        "INSERT INTO books_answer SELECT * FROM books_answer LIMIT 1",
    ]

    @Test(arguments: attacks) func `the database itself refuses crooked books`(sql: String) async throws {
        try await desk.village()
        try await desk.deposit("asha", "50")
        #expect(throws: DatabaseError.self) {
            try self.desk.queue.write { try $0.execute(sql: sql) }
        }
        #expect(try desk.findings() == [])
    }

    @Test func `random transfers agree with a shadow that shares no code, and the judges find them balanced`()
        async throws
    {
        try await desk.village()
        var dice = Dice(seed: 20)
        var shadow: [String: Int64] = [:]
        let parties = ["asha", "ravi", "coop", "outside"]
        var bodies: [(String, String)] = []
        for number in 0..<operations(1_500) {
            if number % 10 == 9, let again = bodies.last {
                _ = try await desk.ask(.transfer, again.1, key: again.0)
                continue
            }
            let (from, to) = (dice.pick(parties), dice.pick(parties))
            let asset = dice.pick(["INR", "BTC"])
            let amount = Int64(dice.roll(1...9_000))
            let decimals = asset == "INR" ? 2 : 8
            let body = Self.move(from, to, FixedText.write(Int128(amount), decimals: decimals), asset)
            bodies.append(("r\(number)", body))
            let answer = try await desk.ask(.transfer, body, key: "r\(number)")
            let isRich = from == "outside" || shadow["\(from) \(asset)", default: 0] >= amount || from == to
            #expect((answer.status == 201) == isRich, "\(body) \(answer)")
            guard answer.status == 201 else { continue }
            shadow["\(from) \(asset)", default: 0] -= amount
            shadow["\(to) \(asset)", default: 0] += amount
        }
        for (key, balance) in shadow {
            let words = key.split(separator: " ").map(String.init)
            let name =
                words[0] == "outside"
                ? "Equity:Outside"
                : "Assets:Party:\(words[0].prefix(1).uppercased() + words[0].dropFirst()):Wallet"
            #expect(try desk.balance(name, words[1]) == balance)
        }
        #expect(try desk.findings() == [])
        let folder = try ScratchText()
        for format in ["hledger", "ledger", "beancount"] {
            try folder.write("ledger.\(format)", try BooksExport.text(desk.queue, format))
        }
        let verdict = try Judge.books(["export", folder.path])
        #expect(verdict.status == 0, "\(verdict.text)")
    }
}
