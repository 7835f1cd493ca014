import BooksSupport
import Crypto
import ExactAmounts
import Foundation
import GRDB
import Ledger
import Testing

@testable import BooksStore

@Suite struct `The leaves of the history` {
    let desk: Desk

    init() throws { desk = try Desk() }

    /// As it would be a payment of 1,000,000.00 INR from asha to coop, were each field on a line as it is.
    private static let text =
        "rent\nAssets:Party:Coop:Wallet\nINR\n100000000\nAssets:Party:Asha:Wallet\nINR\n-100000000\u{2028}x\r"

    /// The proof of asha's payment of 0.01 INR to coop, and what the checker says of it.
    private func proof(old: Bool) async throws -> (proof: [String: Any], status: Int32, told: String) {
        desk.now = Desk.start
        try await desk.village()
        try await desk.deposit("asha", "10")
        try await pay()
        let event = try await desk.queue.read {
            try Int64.fetchOne($0, sql: "SELECT max(seq) FROM books_event")
        }
        let id = "\(try #require(event))"
        if old { try await makeOld(id) }
        desk.now = Desk.start + 86_400
        try await desk.deposit("asha", "1")
        try await desk.store.closeDays(before: desk.now)
        let folder = try ScratchText()
        try folder.write("roots.json", try await desk.done(.roots))
        let told = try await desk.done(
            .proof, id: id, query: ["party": "coop"], as: Desk.caller(.vendor, "coop"))
        let verdict = try checked(told, folder)
        let object = try JSONSerialization.jsonObject(with: Data(told.utf8)) as? [String: Any]
        return (try #require(object), verdict.status, verdict.text)
    }

    private func checked(
        _ proof: String, _ folder: ScratchText
    ) throws -> (status: Int32, text: String) {
        try folder.write("proof.json", proof)
        let python = ProcessInfo.processInfo.environment["BALLAST_PYTHON"] ?? "/usr/bin/python3"
        let checker = `The history of the books`.peers.appendingPathComponent("books_proof.py").path
        return try Judge.run(python, [checker, "\(folder.path)/roots.json", "\(folder.path)/proof.json"])
    }

    /// No such text is taken any more, but books hold some from before.
    private func pay() async throws {
        let time = desk.now
        try await desk.queue.write { database in
            let before = try RecordTree.newestTransfer(database)
            var wallets = try WalletDesk(database)
            let transfer = Transfer(
                at: time, text: Self.text,
                postings: [
                    Posting(try wallets.account("coop", .inr), MinorUnits(1)),
                    Posting(try wallets.account("asha", .inr), MinorUnits(-1)),
                ])
            try wallets.group.post(transfer, key: "t-asha-1-0")
            let roots = try RecordTree.note(intervalsOf: nil, transfersAfter: before, database)
            try BooksHistory.note("transfer", who: "asha", at: time, "{\"told\":{}\(roots)}", database)
            try database.execute(
                sql: "INSERT INTO books_answer VALUES ('asha', '1', '', 201, '', ?)",
                arguments: [time.seconds])
        }
    }

    /// Gives the event the root that the books made before: the SHA-256 of a byte 0 and the bare fields.
    private func makeOld(_ id: String) async throws {
        try await desk.queue.write { database in
            let row = try Row.fetchOne(
                database,
                sql: """
                    SELECT t.key, t.at_s, e.data, e.who, e.at_s AS noted, e.kind,
                        (SELECT hash FROM books_event WHERE seq = e.seq - 1) AS previous
                    FROM books_event e, books_transfer t WHERE e.seq = ? AND t.id = (SELECT max(id) FROM books_transfer)
                    """, arguments: [id])
            let transfer = try #require(row)
            let (key, data, previous): (String, String, String) = (
                transfer["key"], transfer["data"], transfer["previous"]
            )
            let legs = "Assets:Party:Coop:Wallet\nINR\n1\nAssets:Party:Asha:Wallet\nINR\n-1\n"
            let text = "transfer\n\(key)\n\(transfer["at_s"] as Int64)\n\(Self.text)\n\(legs)"
            func hex(_ bytes: [UInt8]) -> String {
                SHA256.hash(data: bytes).map { String(format: "%02x", $0) }.joined()
            }
            let root = "\"transfers_root\":\""
            let place = try #require(data.range(of: root))
            let changed = data[..<place.upperBound] + hex([0] + Array(text.utf8)) + "\"}"
            let fields = [
                previous, id, "\(transfer["noted"] as Int64)", transfer["who"], transfer["kind"],
                String(changed),
            ]
            let hash = hex(Array(fields.map { "\($0)\n" }.joined().utf8))
            try database.execute(
                sql: "UPDATE books_event SET data = ?, hash = ? WHERE seq = ?",
                arguments: [String(changed), hash, id])
        }
    }

    @Test func `line breaks in a text are no fields of its record`() async throws {
        let (proof, status, told) = try await proof(old: false)
        #expect(status == 0 && told.contains("1 of 1 events hold, with 1 records"), "\(told)")
        let records = try #require(proof["records"] as? [[String: Any]])
        let text = try #require(records.first?["text"] as? String)
        let fields = try text.split(separator: "\n").map {
            try JSONSerialization.jsonObject(with: Data($0.utf8), options: .fragmentsAllowed)
        }
        let words = fields.map { $0 as? String }
        let numbers = fields.map { $0 as? Int }
        #expect(fields.count == 10 && words[0] == "transfer" && words[3] == Self.text, "\(text)")
        #expect(words[4] == "Assets:Party:Coop:Wallet" && words[5] == "INR" && numbers[6] == 1)
        #expect(words[7] == "Assets:Party:Asha:Wallet" && words[8] == "INR" && numbers[9] == -1)
        #expect(told.contains(#""rent\nAssets:Party:Coop:Wallet\nINR\n100000000\n"#), "\(told)")
        #expect(told.split(separator: "\n").count == 2 && !told.contains("\u{2028}"), "\(told)")
        #expect(try desk.findings() == [])
    }

    @Test func `roots of the form before are proven, and their fields not told apart`() async throws {
        let (_, status, told) = try await proof(old: true)
        #expect(status == 0 && told.contains("1 of 1 events hold, with 1 records"), "\(told)")
        #expect(
            told.contains("old form, fields cannot be told apart") && !told.contains("\u{2028}"), "\(told)")
        #expect(try desk.findings() == [])
    }

    @Test func `an id that is the hash of a record is no root of one`() async throws {
        desk.now = Desk.start
        try await desk.village()
        try await desk.deposit("ravi", "1")
        // A payment of 1,000,000.00 INR that never was; who names a hold chooses its id.
        let text = """
            "transfer"\n"transfer/asha/k/0"\n1793491200\n"the house, paid"\n"Assets:Party:Ravi:Wallet"\n"INR"
            100000000\n"Assets:Party:Asha:Wallet"\n"INR"\n-100000000\n
            """
        let id = SHA256.hash(data: [0] + Array(text.utf8)).map { String(format: "%02x", $0) }.joined()
        let ravi = Desk.caller(.consumer, "ravi")
        try await desk.done(
            .addHold, "{\"id\": \"\(id)\", \"party\": \"ravi\", \"amount\": 0.01, \"text\": \"x\"}", as: ravi)
        try await desk.done(.endHold, "{action: release}", id: id, as: ravi)
        let event = try await desk.queue.read {
            try Int64.fetchOne($0, sql: "SELECT max(seq) FROM books_event")
        }
        desk.now = Desk.start + 86_400
        try await desk.deposit("asha", "1")
        try await desk.store.closeDays(before: desk.now)
        let folder = try ScratchText()
        try folder.write("roots.json", try await desk.done(.roots))
        let proof = try await desk.done(.proof, id: "\(try #require(event))", as: ravi)
        let good = try checked(proof, folder)
        #expect(good.status == 0 && good.text.contains("1 of 1 events hold, with 0 records"), "\(good.text)")
        for root in ["id", "body_sha256", "told", "transfers_root", "rows_root"] {
            let record = JSONOut.object([
                ("root", JSONOut.text(root)), ("text", JSONOut.text(text)), ("path", "[]"),
            ])
            let forged = proof.replacing("\"records\":[]", with: "\"records\":[\(record)]")
            let caught = try checked(forged, folder)
            #expect(
                forged != proof && caught.status == 1 && caught.text.contains("0 of 1 events hold"),
                "\(root): \(caught.text)")
        }
    }
}
