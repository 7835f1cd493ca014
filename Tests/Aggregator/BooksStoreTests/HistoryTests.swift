import BooksSupport
import ExactAmounts
import Foundation
import GRDB
import Testing

@testable import BooksStore

@Suite struct `The history of the books` {
    let desk: Desk

    init() throws { desk = try Desk() }

    static let peers = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Peers")

    @Test func `every event of a day is proven by a program that shares no code, and a changed one is not`()
        async throws
    {
        desk.now = Desk.start
        try await desk.village()
        for number in 1...7 { try await desk.deposit("asha", "\(number)") }
        let count = try #require(
            try await desk.queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM books_event") })
        #expect(try await desk.ask(.proof, id: "1").status == 409, "the day is not over")
        desk.now = Desk.start + 86_400
        try await desk.deposit("asha", "1")
        try await desk.store.closeDays(before: desk.now)
        let roots = try await desk.done(.roots)
        #expect(roots.contains("\"day\":\"2026-11-01\",\"first\":1,\"last\":\(count)"), "\(roots)")
        let folder = try ScratchText()
        var names: [String] = []
        for number in 1...count {
            names.append("\(folder.path)/\(number).json")
            try folder.write("\(number).json", try await desk.done(.proof, id: "\(number)"))
        }
        try folder.write("roots.json", roots)
        let python = ProcessInfo.processInfo.environment["BALLAST_PYTHON"] ?? "/usr/bin/python3"
        let checker = Self.peers.appendingPathComponent("books_proof.py").path
        let verdict = try Judge.run(python, [checker, "\(folder.path)/roots.json"] + names)
        #expect(
            verdict.status == 0 && verdict.text.contains("\(count) of \(count) events hold, "),
            "\(verdict.text)")
        let forged = try await desk.done(.proof, id: "9").replacing("admin", with: "thief")
        try folder.write("forged.json", forged)
        let caught = try Judge.run(
            python, [checker, "\(folder.path)/roots.json", "\(folder.path)/forged.json"])
        #expect(caught.status == 1, "\(caught.text)")
        #expect(try await desk.ask(.proof, id: "9", as: Desk.caller(.prosumer, "asha")).status == 403)
        #expect(try desk.findings() == [])
    }

    @Test func `a person proves an interval and a bill of theirs, and sees nobody else's`() async throws {
        desk.now = Desk.start + 7_200
        try await desk.village()
        let rows = (0..<7).map { Desk.interval($0 % 2 == 0 ? "asha-home" : "ravi-home", $0 / 2, 500, 0) }
        let told = try await desk.done(.addIntervals, "{\"intervals\": [\(rows.joined(separator: ", "))]}")
        #expect(told.contains("\"taken\":7"))
        try await desk.tell("coop-pv", 0, out: 900)
        _ = try desk.settle(0..<1)
        let asha = Desk.caller(.prosumer, "asha")
        let export = try await desk.done(.exportParty, id: "asha", as: asha)
        let (told7, settled) = try await desk.queue.read {
            (
                try String.fetchOne($0, sql: "SELECT seq FROM books_event WHERE kind = 'addIntervals'") ?? "",
                try String.fetchOne($0, sql: "SELECT seq FROM books_event WHERE kind = 'settle'") ?? ""
            )
        }
        #expect(export.contains("\"event\":\(told7)"), "whoever exports their data finds the event")
        desk.now = Desk.start + 86_400
        try await desk.deposit("asha", "1")
        try await desk.store.closeDays(before: desk.now)
        let folder = try ScratchText()
        try folder.write("roots.json", try await desk.done(.roots))
        let interval = try await desk.done(.proof, id: told7, query: ["resource": "asha-home"], as: asha)
        let bill = try await desk.done(.proof, id: settled, query: ["party": "asha"], as: asha)
        #expect(!interval.contains("ravi-home") && !bill.contains("r1-ravi"))
        #expect(
            try await desk.ask(.proof, id: told7, query: ["resource": "ravi-home"], as: asha).status == 403)
        try folder.write("interval.json", interval)
        try folder.write("bill.json", bill)
        try folder.write("forged.json", interval.replacing("\\n500\\n", with: "\\n400\\n"))
        let python = ProcessInfo.processInfo.environment["BALLAST_PYTHON"] ?? "/usr/bin/python3"
        func verdict(_ names: String...) throws -> (status: Int32, text: String) {
            let checker = Self.peers.appendingPathComponent("books_proof.py").path
            return try Judge.run(python, [checker] + (["roots.json"] + names).map { "\(folder.path)/\($0)" })
        }
        let good = try verdict("interval.json", "bill.json")
        #expect(good.status == 0 && good.text.contains("2 of 2 events hold, with 5 records"), "\(good.text)")
        #expect(try verdict("forged.json").status == 1)
        #expect(try desk.findings() == [])
    }

    /// What B1 … B8 must see where a hand goes past the triggers.
    static let damages: [(sql: String, sees: String)] = [
        ("UPDATE books_event SET data = replace(data, 'asha', 'ravi') WHERE seq = 3", "event 3 "),
        ("DELETE FROM books_event WHERE seq = 4", "event 4 is missing"),
        ("UPDATE books_account SET balance = balance + 1 WHERE name LIKE '%Asha:Wallet'", "not the sum"),
        ("UPDATE books_block SET grid_wh = grid_wh + 1", "north"),
        ("UPDATE books_line SET exact = '1' WHERE id = 'r1-asha-1'", "does not sum"),
        ("UPDATE books_certificate SET energy_wh = energy_wh + 1", "coop-pv"),
        ("INSERT INTO books_reserved VALUES ('coop-pv', 0, 'x', 20001)", "coop-pv 0"),
        ("DELETE FROM books_answer WHERE key = 'k1'", "answers"),
        ("UPDATE books_interval SET import_wh = import_wh * 10 WHERE export_wh = 0", "the intervals are not"),
        ("DELETE FROM books_interval WHERE export_wh = 900", "the intervals are not"),
        ("UPDATE books_bill SET total = total - 5000 WHERE party = 'ravi'", "r1-ravi is not the sum"),
        (
            """
            UPDATE books_line SET amount = amount - 5000 WHERE id = 'r1-ravi-1';
            UPDATE books_bill SET total = total - 5000 WHERE party = 'ravi'
            """, "r1-ravi-1 is not its energy times its price"
        ),
        ("UPDATE books_bill SET total = total - 5000 WHERE party = 'ravi'", "r1-ravi is not what was posted"),
        ("UPDATE books_line SET reference = 'other' WHERE id = 'r1-ravi-1'", "the bills are not"),
        (
            "UPDATE books_document SET text = replace(text, 'import_inr_per_kwh: 8', 'import_inr_per_kwh: 9')",
            "version 1 of the tariffs"
        ),
        (
            """
            DROP TRIGGER books_posting_stays; UPDATE books_posting SET amount = 2 * amount WHERE transfer = 1;
            UPDATE books_account SET balance = 2 * balance WHERE asset = 'INR' AND name LIKE '%Asha:Wallet'
            """, "the transfers are not"
        ),
    ]

    /// A transfer of 1 INR from asha to ravi that nobody asked for, with the balances (a trigger's work).
    @Test(arguments: ["made-up-1", "t-asha-x-0", "r1/bill-asha-2", "escrow-c"])
    func `a transfer that no command made is named`(key: String) async throws {
        try await desk.village()
        try await desk.deposit("asha", "10")
        try await desk.deposit("ravi", "10")
        for id in ["asha-home", "ravi-home", "coop-pv"] { try await desk.tell(id, 0, in: 500) }
        _ = try desk.settle(0..<1)
        #expect(try desk.findings() == [])
        try await desk.queue.write { database in
            func account(_ party: String) throws -> Int64? {
                try Int64.fetchOne(
                    database, sql: "SELECT id FROM books_account WHERE asset = 'INR' AND name = ?",
                    arguments: ["Assets:Party:\(party):Wallet"])
            }
            for (leg, (party, amount)) in [("Asha", -100), ("Ravi", 100)].enumerated() {
                let id = try #require(try account(party))
                try database.execute(
                    sql: """
                        INSERT INTO books_posting (transfer, leg, account, amount)
                        VALUES ((SELECT max(id) + 1 FROM books_transfer), ?, ?, ?)
                        """, arguments: [leg, id, amount])
            }
            try database.execute(
                sql: """
                    INSERT INTO books_transfer (id, key, at_s, text)
                    SELECT max(id) + 1, ?, 0, 'by hand' FROM books_transfer
                    """, arguments: [key])
        }
        #expect(try desk.findings() == ["transfer \(key) was noted by no event"])
        // What comes after it does not hide it, nor that the database is taken for an older one.
        try await desk.deposit("asha", "10")
        try await desk.queue.write {
            try $0.execute(sql: "DELETE FROM grdb_migrations WHERE identifier = 'booksTransfers'")
        }
        try BooksTables.migrator.migrate(desk.queue)
        #expect(try desk.findings() == ["transfer \(key) was noted by no event"])
    }

    @Test func `a posting of a run that was changed by hand is named`() async throws {
        try await desk.village()
        for id in ["asha-home", "ravi-home", "coop-pv"] { try await desk.tell(id, 0, in: 500) }
        _ = try desk.settle(0..<1)
        #expect(try desk.findings() == [])
        try await desk.queue.write {
            try $0.execute(
                sql: """
                    DROP TRIGGER IF EXISTS books_transfer_stays;
                    UPDATE books_transfer SET text = 'other' WHERE key = 'r1/bill-asha'
                    """)
        }
        #expect(try desk.findings().contains { $0.hasSuffix("the transfers are not as it noted them") })
    }

    /// Rows that no root of intervals, bills or transfers covers.
    private static let changes: [(sql: String, sees: String)] = [
        (
            "INSERT INTO books_interval SELECT resource, kind, start_s, 9, 50000, 0, 1, 1, '', NULL FROM books_interval LIMIT 1",
            "intervals unnoted was never noted"
        ),
        (
            "INSERT INTO books_interval SELECT resource, kind, start_s, 9, 50000, 0, 1, 1, '', 1 FROM books_interval LIMIT 1",
            "intervals of event 1, which named none"
        ),
        ("UPDATE books_bill SET paid = -total WHERE total < 0", "is paid otherwise than was posted"),
        (
            "UPDATE books_bill SET escrow = -total WHERE total < 0",
            "paid from escrow otherwise than was posted"
        ),
        (
            "UPDATE books_account SET floor = -100000000 WHERE name LIKE '%Ravi:Wallet'",
            "has another floor than 0"
        ),
        ("UPDATE books_account SET party = 'asha' WHERE name LIKE '%Ravi:Wallet'", "is said to be of asha"),
        ("UPDATE books_certificate SET state = 'retired'", "is not as it was moved last"),
        ("UPDATE books_certificate SET owner = 'ravi'", "is not as it was moved last"),
        ("UPDATE books_document SET n = 7", "has another number"),
        ("UPDATE books_document SET who = 'ravi'", "or is another's"),
        ("UPDATE books_contract SET price = 100 * price", "contract c is not as it was noted last"),
        ("UPDATE books_terms SET energy_wh = 7", "contract c is not as it was noted last"),
        ("DELETE FROM books_contract_event WHERE n = 2", "contract c is not as it was noted last"),
        (
            "UPDATE books_register SET export_wh = export_wh + 100000",
            "the registers are not as it noted them"
        ),
        ("DELETE FROM books_register", "the registers are not as it noted them"),
        ("DELETE FROM books_certificate", "the certificates of coop are not what was posted"),
        ("UPDATE books_batch SET owners = 'ravi=1'", "batch b is not as it was noted last"),
        (
            "UPDATE books_party SET owners = 'ravi=1' WHERE id = 'coop'",
            "party coop is not as it was noted last"
        ),
        (
            "UPDATE books_party SET address = 'bc1qthethiefsaddress0000000000000' WHERE id = 'asha'",
            "party asha is not as it was noted last"
        ),
        (
            "UPDATE books_resource SET party = 'ravi' WHERE id = 'coop-pv'",
            "resource coop-pv is not as it was noted"
        ),
        ("UPDATE books_zone SET operator = 'ravi'", "zone north is not as it was noted last"),
        ("UPDATE books_run SET due_s = 0", "run r1 is not as it was noted last"),
        ("UPDATE books_run SET tariffs = 7", "run r1 is not as it was noted last"),
        ("UPDATE books_block SET entries = x''", "run r1 is not as it was noted last"),
        ("DELETE FROM books_run", "run r1 was noted, and is gone"),
        ("DELETE FROM books_note WHERE kind = 'zone'", "the rows are not as it noted them"),
        ("UPDATE books_note SET text = text || 'x' WHERE kind = 'zone'", "the rows are not as it noted them"),
    ]

    @Test(arguments: changes.indices) func `what people are and promise cannot be changed by hand unseen`(
        index: Int
    ) async throws {
        try await desk.village()
        desk.now = Desk.start
        try await desk.done(
            .addContract,
            """
            {"id": "c", "kind": "supply", "buyer": "ravi", "resource": "coop-pv", "from": "\(Desk.at(0).text)",
            "until": "\(Desk.at(1).text)", "energy_kwh": 1, "price_inr_per_kwh": 4}
            """)
        for event in ["offer", "accept", "activate"] {
            try await desk.done(.contractEvent, "{event: \(event)}", id: "c")
        }
        #expect(try desk.findings() == [])
        let damage = try await desk.queue.writeWithoutTransaction { database in
            var seen: [String] = []
            try database.inTransaction {
                try database.execute(sql: "UPDATE books_reserved SET energy_wh = 1")
                seen = try RowChecks.reserved(database)
                return .rollback
            }
            return seen
        }
        #expect(damage == ["contract c has not reserved what it promises"])
        desk.now = Desk.start + 40 * 86_400
        try await desk.tell("asha-home", 0, in: 500)
        try await desk.tell("ravi-home", 0, in: 500)
        try await desk.tell("coop-pv", 0, out: 900)
        let at =
            "\"resource\": \"coop-pv\", \"from\": \"\(Desk.at(0).text)\", \"until\": \"\(Desk.at(1).text)\""
        try await desk.done(
            .addBatch, "{\"id\": \"b\", \(at), \"owners\": [{\"party\": \"asha\", \"share\": 1}]}")
        try await desk.done(
            .addRegisters,
            "{\"registers\": [{\"resource\": \"coop-pv\", \"meter\": \"m\", \"at\": \"\(Desk.at(0).text)\", "
                + "\"import_wh\": 0, \"export_wh\": 5}]}")
        _ = try desk.settle(0..<1)
        try await desk.deposit("ravi", "9")
        let bill = try await desk.done(.bills, as: Desk.caller(.consumer, "ravi"))
        let paid = bill.contains("-3.6") ? "3.60" : "1"
        try await desk.done(.pay, "{amount_inr: \(paid)}", id: "r1-ravi", as: Desk.caller(.consumer, "ravi"))
        #expect(try desk.findings() == [])
        let (sql, sees) = Self.changes[index]
        try await desk.queue.write { try $0.execute(sql: "PRAGMA foreign_keys = OFF") }
        try await desk.queue.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA foreign_keys = OFF")
            try database.execute(sql: sql)
        }
        let found = try desk.findings()
        #expect(found.contains { $0.contains(sees) }, "\(sql): \(found)")
    }

    @Test func `the end of the history cannot be cut off unseen`() async throws {
        try await desk.village()
        for id in ["asha-home", "ravi-home", "coop-pv"] { try await desk.tell(id, 0, in: 500) }
        _ = try desk.settle(0..<1)
        try await desk.queue.write {
            try $0.execute(sql: "DELETE FROM books_event WHERE kind IN ('settle', 'post')")
        }
        #expect(try desk.findings().contains { $0.contains("a note has no event") })
    }

    @Test func `each version of a contract is proven by a program that shares no code`() async throws {
        desk.now = Desk.start
        try await desk.village()
        let body =
            "{\"id\": \"c\", \"kind\": \"supply\", \"buyer\": \"ravi\", \"resource\": \"coop-pv\", "
            + "\"from\": \"\(Desk.at(0).text)\", \"until\": \"\(Desk.at(1).text)\", "
        try await desk.done(.addContract, body + "\"energy_kwh\": 1, \"price_inr_per_kwh\": 4}")
        try await desk.done(.contractEvent, "{event: offer}", id: "c")
        desk.now = Desk.start + 86_400
        try await desk.deposit("asha", "1")
        try await desk.store.closeDays(before: desk.now)
        let folder = try ScratchText()
        try folder.write("roots.json", try await desk.done(.roots))
        let events = try await desk.queue.read {
            try Int64.fetchAll($0, sql: "SELECT event FROM books_note WHERE kind = 'contract' ORDER BY 1")
        }
        #expect(events.count == 2)
        let ravi = Desk.caller(.consumer, "ravi")
        var names: [String] = []
        for event in events {
            names.append("\(folder.path)/\(event).json")
            let proof = try await desk.done(.proof, id: "\(event)", query: ["party": "ravi"], as: ravi)
            #expect(proof.contains("energy_wh=1000 price=4000000"), "\(proof)")
            try folder.write("\(event).json", proof)
        }
        let python = ProcessInfo.processInfo.environment["BALLAST_PYTHON"] ?? "/usr/bin/python3"
        let checker = Self.peers.appendingPathComponent("books_proof.py").path
        let verdict = try Judge.run(python, [checker, "\(folder.path)/roots.json"] + names)
        #expect(verdict.status == 0 && verdict.text.contains("2 of 2 events hold, "), "\(verdict.text)")
        let out = try await desk.done(.exportParty, id: "ravi", as: ravi)
        #expect(out.contains("\"kind\":\"contract\""), "what is kept of a person is told")
    }

    @Test func `what is changed by hand shows in the check`() async throws {
        for (sql, sees) in Self.damages {
            let desk = try Desk()
            try await desk.village()
            try await desk.deposit("asha", "10")
            try await desk.tell("asha-home", 0, in: 500)
            try await desk.tell("ravi-home", 0, in: 500)
            try await desk.tell("coop-pv", 0, out: 900)
            _ = try desk.settle(0..<1)
            #expect(try desk.findings() == [])
            try await desk.queue.write { try $0.execute(sql: sql) }
            let found = try desk.findings()
            #expect(found.contains { $0.contains(sees) }, "\(sql): \(found)")
        }
    }

    @Test func `a certificate is issued once, moves, and rests when it is retired`() async throws {
        try await desk.village()
        try await desk.tell("asha-home", 0, in: 500)
        try await desk.tell("ravi-home", 0, in: 500)
        try await desk.tell("coop-pv", 0, out: 900)
        _ = try desk.settle(0..<1)
        let (coop, ravi) = (Desk.caller(.vendor, "coop"), Desk.caller(.consumer, "ravi"))
        func body(_ rest: String) -> String {
            "{\"resource\": \"coop-pv\", \"start\": \"\(Desk.at(0).text)\", \(rest)}"
        }
        #expect(try desk.balance("Assets:Party:Coop:Certificates", "CWH") == 900)
        #expect(try await desk.ask(.moveCertificate, body("action: retire"), as: ravi).status == 403)
        try await desk.done(.moveCertificate, body("action: transfer, to: ravi"), as: coop)
        #expect(try desk.balance("Assets:Party:Ravi:Certificates", "CWH") == 900)
        try await desk.done(.moveCertificate, body("action: retire"), as: ravi)
        #expect(
            try await desk.ask(.moveCertificate, body("action: transfer, to: coop"), as: ravi).status == 409)
        #expect(try desk.balance("Equity:Retired", "CWH") == 900)
        #expect(throws: DatabaseError.self) {
            try self.desk.queue.write { try $0.execute(sql: "UPDATE books_certificate SET owner = 'coop'") }
        }
        #expect(throws: DatabaseError.self) {
            try self.desk.queue.write {
                try $0.execute(sql: "INSERT INTO books_certificate SELECT * FROM books_certificate")
            }
        }
        // Later data takes energy back that was used up: the run says so instead of settling in silence.
        #expect(try await desk.done(.leaderboard).contains("\"party\":\"coop\""))
        #expect(try desk.findings() == [])
    }
}
