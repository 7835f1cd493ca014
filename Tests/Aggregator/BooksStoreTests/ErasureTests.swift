import BooksSupport
import ExactAmounts
import Foundation
import GRDB
import Testing

@testable import BooksStore

/// Who is gone, what goes with the name, and what waits for that.
@Suite struct `Who was erased` {
    let desk: Desk

    init() throws { desk = try Desk() }

    private func party(_ id: String, ownedBy owner: String) -> String {
        "{\"id\": \"\(id)\", \"name\": \"n\", \"owners\": [{\"party\": \"\(owner)\", \"share\": 1}]}"
    }

    private func settleOne() async throws {
        try await desk.tell("coop-pv", 0, out: 1_000)
        for id in ["asha-home", "ravi-home"] { try await desk.tell(id, 0) }
        _ = try desk.settle(0..<1)
    }

    @Test func `gets no part of a party, no zone, no resource, no contract and no certificate any more`()
        async throws
    {
        try await desk.village()
        try await settleOne()
        try await desk.done(.addParty, #"{"id": "gone", "name": "n"}"#)
        try await desk.done(.eraseParty, "{}", id: "gone")
        for (operation, body) in [
            (BooksOperation.addParty, party("x", ownedBy: "gone")),
            (.addZone, #"{"id": "z1", "grid": "gone", "operator": "op"}"#),
            (.addZone, #"{"id": "z1", "grid": "grid", "operator": "gone"}"#),
            (.addResource, #"{"id": "r1", "party": "gone", "zone": "north", "kind": "load"}"#),
            (.addContract, BadInput.contract(of: "gone")),
            (
                .moveCertificate,
                "{\"resource\": \"coop-pv\", \"start\": \"\(Desk.at(0).text)\", \"action\": \"transfer\", \"to\": \"gone\"}"
            ),
            (.addHold, #"{"id": "h", "party": "gone", "amount": 1, "text": "t"}"#),
        ] {
            let answer = try await desk.ask(operation, body)
            #expect(
                [404, 422].contains(answer.status) && answer.body.contains("no party gone"),
                "\(operation): \(answer)")
        }
        #expect(try desk.balance("Assets:Party:Coop:Certificates", "CWH") == 1_000)
        #expect(try desk.findings() == [])
    }

    /// Gives the newest event the root that the books made before, of bare fields.
    private func makeOld(_ name: String, _ make: (Int64, RecordTree.Form, Database) throws -> RecordTree)
        throws
    {
        try desk.queue.write { database in
            let newest = "SELECT e.*, (SELECT hash FROM books_event WHERE seq = e.seq - 1) AS previous "
            let found = try Row.fetchOne(
                database, sql: newest + "FROM books_event e ORDER BY seq DESC LIMIT 1")
            let row = try #require(found)
            let (seq, told): (Int64, String) = (row["seq"], row["data"])
            let data = told.replacing(
                try make(seq, .json, database).root, with: try make(seq, .plain, database).root)
            #expect(data != told && data.contains(name))
            let text = BooksHistory.canonical(
                after: row["previous"], seq, row["at_s"], row["who"], row["kind"], data)
            try database.execute(
                sql: "UPDATE books_event SET data = ?, hash = ? WHERE seq = ?",
                arguments: [data, BooksHistory.sha256(text), seq])
        }
    }

    @Test(arguments: [false, true])
    func `leaves no serial number and no word of an interval, and the roots of others hold`(
        inRootsFromBefore isOld: Bool
    ) async throws {
        let desk = desk
        try await desk.village()
        try await desk.done(.addParty, #"{"id": "gone", "name": "n"}"#)
        try await desk.done(
            .addResource, #"{"id": "gone-home", "party": "gone", "zone": "north", "kind": "load"}"#)
        let told = [
            ("gone-home", "Popocatepetl 7"), ("ravi-home", "north:5"), ("asha-home", ""), ("coop-pv", ""),
        ]
        .map {
            "{\"resource\": \"\($0)\", \"start\": \"\(Desk.at(0).text)\", \"import_wh\": 5, \"export_wh\": 0, "
                + "\"mode\": \"production\", \"record\": \"\($1)\"}"
        }
        try await desk.done(.addIntervals, "{\"intervals\": [\(told.joined(separator: ", "))]}")
        if isOld { try makeOld("intervals_root") { try RecordTree.intervals(of: $0, $2, $1) } }
        func reading(_ resource: String, _ meter: String, _ imported: Int64) -> String {
            "{\"resource\": \"\(resource)\", \"meter\": \"\(meter)\", \"at\": \"\(Desk.at(0).text)\", "
                + "\"import_wh\": \(imported), \"export_wh\": 0}"
        }
        let readings = [
            reading("gone-home", "Xochimilco", 1), reading("gone-home", "Axolotl", 2),
            reading("gone-home", "erased-000001", 3), reading("ravi-home", "R 5", 4),
        ]
        try await desk.done(.addRegisters, "{\"registers\": [\(readings.joined(separator: ", "))]}")
        if isOld { try makeOld("registers_root") { try RecordTree.registers(of: $0, $2, $1) } }
        #expect(try desk.findings() == [])
        _ = try desk.settle(0..<1)
        let total = try await desk.queue.read {
            try Int64.fetchOne($0, sql: "SELECT total FROM books_bill WHERE party = 'gone'")
        }
        #expect(total == -4, "5 Wh × 8 INR/kWh are 4 paise")
        try await desk.deposit("gone", "0.04")
        try await desk.done(.pay, "{amount_inr: 0.04}", id: "r1-gone")
        _ = try SettleJob.freeze(desk.queue, before: Desk.at(1))
        try await desk.done(.eraseParty, "{}", id: "gone")
        let export = try await desk.done(.exportParty, id: "gone")
        for word in ["Popocatepetl", "Xochimilco", "Axolotl"] { #expect(!export.contains(word), "\(word)") }
        let stored = try await desk.queue.read {
            try String.fetchAll(
                $0, sql: "SELECT meter || import_wh FROM books_register ORDER BY import_wh")
        }
        #expect(stored == ["erased-0000021", "erased-0000012", "erased-0000033", "R 54"])
        #expect(try desk.findings() == [], "the roots hold")
        for (operation, body, id) in [
            (BooksOperation.addRegisters, "{\"registers\": [\(reading("gone-home", "new", 9))]}", ""),
            (.setResource, "{state: working}", "gone-home"),
        ] {
            let answer = try await desk.ask(operation, body, id: id)
            #expect(answer.status == 422 && answer.body.contains("was erased"), "\(operation): \(answer)")
        }
        try await desk.queue.write {
            try $0.execute(sql: "UPDATE books_interval SET record = 'x' WHERE record <> ''")
        }
        #expect(try desk.findings().contains { $0.contains("intervals are not as") }, "ravi's is still seen")
    }

    @Test func `owns no part of what others earn, and has all of a batch that is shared and frozen`()
        async throws
    {
        try await desk.village()
        for id in ["part", "half"] { try await desk.done(.addParty, "{\"id\": \"\(id)\", \"name\": \"n\"}") }
        try await desk.done(.addParty, party("mill", ownedBy: "part"))
        let owner = try await desk.ask(.eraseParty, "{}", id: "part")
        #expect(owner.status == 409 && owner.body.contains("what mill earns"), "\(owner)")
        try await desk.done(.eraseParty, "{}", id: "mill")
        try await desk.done(.eraseParty, "{}", id: "part")

        try await desk.done(
            .addBatch,
            """
            {"id": "b", "resource": "coop-pv", "from": "\(Desk.at(0).text)", "until": "\(Desk.at(1).text)",
            "owners": [{"party": "half", "share": 1}, {"party": "ravi", "share": 1}]}
            """)
        func refused(_ why: Comment) async throws {
            let answer = try await desk.ask(.eraseParty, "{}", id: "half")
            #expect(answer.status == 409 && answer.body.contains("batch b"), why)
        }
        try await refused("nothing is shared")
        try await settleOne()
        try await desk.deposit("coop", "3")
        try await desk.done(.distribute, "{}", id: "b")
        try await desk.done(.transfer, LedgerMove.body("half", "outside", "1.50"))
        try await refused("a correction could still come")
        try await desk.tell("coop-pv", 0, out: 2_000, revision: 1)
        _ = try desk.settle(0..<1)
        _ = try SettleJob.freeze(desk.queue, before: Desk.at(1))
        try await refused("3 INR more are not shared")
        try await desk.deposit("coop", "3")
        try await desk.done(.distribute, "{}", id: "b")
        try await desk.done(.transfer, LedgerMove.body("half", "outside", "1.50"))
        try await desk.done(.eraseParty, "{}", id: "half")
        #expect(try await desk.done(.batch, id: "b").contains("\"shared_inr\":\"6.00\""))
        #expect(try desk.findings() == [])
    }

    @Test func `leaves no place, no source, no address and no word of a hold in any file`() async throws {
        let folder = try ScratchText()
        let store = try BooksStore(try DatabasePool(path: "\(folder.path)/books.sqlite"))
        func done(_ operation: BooksOperation, _ body: String, _ key: String, id: String = "") async throws {
            let answer = try await store.answer(
                BooksCall(
                    caller: Desk.caller(.admin), operation: operation, id: id, body: Array(body.utf8),
                    key: key, now: Desk.start))
            #expect(!answer.isRefusal, "\(answer)")
        }
        let address = "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"
        let words = ["Popocatepetl", "tlaloc/well", "Xochimilco", address]
        func found() throws -> [String] {
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).map {
                try Data(contentsOf: URL(fileURLWithPath: "\(folder.path)/\($0)"))
            }
            return words.filter { word in files.contains { $0.range(of: Data(word.utf8)) != nil } }
        }
        for id in ["grid", "op"] { try await done(.addParty, "{\"id\": \"\(id)\", \"name\": \"n\"}", id) }
        try await done(
            .addParty, "{\"id\": \"p7\", \"name\": \"n\", \"bitcoin_address\": \"\(address)\"}", "p7")
        try await done(.addZone, #"{"id": "z", "grid": "grid", "operator": "op"}"#, "z")
        try await done(
            .addResource,
            """
            {"id": "r", "party": "p7", "zone": "z", "kind": "load", "place": "Popocatepetl",
            "source": "tlaloc/well"}
            """, "r")
        func move(_ from: String, _ to: String) -> String {
            "{\"transfers\": [{\"from\": \"\(from)\", \"to\": \"\(to)\", \"amount\": 1, \"text\": \"t\"}]}"
        }
        try await done(.transfer, move("outside", "p7"), "in")
        try await done(
            .addHold, #"{"id": "h", "party": "p7", "amount": 1, "text": "Xochimilco"}"#, "h")
        try await done(.endHold, "{action: release}", "h-end", id: "h")
        try await done(.transfer, move("p7", "outside"), "out")
        #expect(try found() == words)
        // A day that was closed before: what is erased later goes out of the log all the same.
        try await store.closeDays(before: Desk.start + 1)
        try await done(.eraseParty, "{}", "erase", id: "p7")
        try await store.closeDays(before: Desk.start + 1)
        #expect(try found() == [])
    }
}

enum BadInput {
    static func contract(of buyer: String) -> String {
        """
        {"id": "c", "kind": "supply", "buyer": "\(buyer)", "resource": "coop-pv", "from": "\(Desk.at(0).text)",
        "until": "\(Desk.at(4).text)", "energy_kwh": 1, "price_inr_per_kwh": 5}
        """
    }
}
