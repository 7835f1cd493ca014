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
            verdict.status == 0 && verdict.text.contains("\(count) of \(count) events hold"),
            "\(verdict.text)")
        let forged = try await desk.done(.proof, id: "9").replacing("admin", with: "thief")
        try folder.write("forged.json", forged)
        let caught = try Judge.run(
            python, [checker, "\(folder.path)/roots.json", "\(folder.path)/forged.json"])
        #expect(caught.status == 1, "\(caught.text)")
        #expect(try await desk.ask(.proof, id: "9", as: Desk.caller(.prosumer, "asha")).status == 403)
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
    ]

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
        // Later data takes energy back that was used up: the run says so instead of settling on it in silence.
        #expect(try await desk.done(.leaderboard).contains("\"party\":\"coop\""))
        #expect(try desk.findings() == [])
    }
}
