import BooksSupport
import ExactAmounts
import GRDB
import Testing

@testable import BooksStore

/// What comes late, what comes meanwhile, and what is cut short.
@Suite struct `Late and cut short` {
    let desk: Desk

    init() throws { desk = try Desk() }

    private func certified(_ party: String = "Coop") throws -> Int64? {
        try desk.balance("Assets:Party:\(party):Certificates", "CWH")
    }

    private func day() async throws {
        try await desk.village()
        for block in Int64(0)..<2 {
            try await desk.tell("asha-home", block, in: 500)
            try await desk.tell("ravi-home", block, in: 500)
            try await desk.tell("coop-pv", block, out: 900)
        }
    }

    @Test func `what a settlement that failed or was killed left behind is not late`() async throws {
        try await desk.village()
        for id in ["asha-home", "ravi-home", "coop-pv"] { try await desk.tell(id, 0, in: 500) }
        _ = try desk.settle(0..<1)
        let crooked = try #require(Period(from: Desk.at(1) + 60, until: Desk.at(3) + 60))
        let wish = SettleWish(period: crooked, now: desk.now, due: desk.now)
        #expect(throws: SettleFailure.self) { try SettleJob.run(self.desk.queue, wish) }
        let left = try await desk.queue.read {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM books_settling")
        }
        #expect(left == 0)
        // One that was killed says so no more than this.
        try await desk.queue.write {
            try $0.execute(
                sql: "INSERT INTO books_settling VALUES (?, ?)",
                arguments: [Desk.at(4).seconds, Desk.at(8).seconds])
        }
        for id in ["asha-home", "ravi-home", "coop-pv"] { try await desk.tell(id, 5, in: 500) }
        #expect(try SettleJob.late(desk.queue) == nil)
        try await desk.tell("ravi-home", 0, in: 700, revision: 1)
        #expect(try SettleJob.late(desk.queue) == Period(from: Desk.at(0), until: Desk.at(1)))
        let told = try desk.settle(0..<1)
        #expect(told.first?.contains("0 blocks settled, 1 corrected") == true, "\(told)")
        #expect(try desk.settle(4..<8).first?.contains("1 blocks settled, 0 corrected") == true)
        #expect(try SettleJob.late(desk.queue) == nil)
        #expect(try desk.findings() == [])
    }

    @Test
    func `a certificate follows its export when the late interval comes, up and down, and is then at rest`()
        async throws
    {
        try await day()
        _ = try desk.settle(0..<2)
        #expect(try certified() == 1_800)
        let told = try await desk.done(.addIntervals, Desk.interval("coop-pv", 0, 0, 700, 1))
        #expect(told.contains("\"late\":1"), "\(told)")
        #expect(try certified() == 1_600, "before any run")
        #expect(try desk.findings() == [])
        try await desk.tell("coop-pv", 0, out: 0, revision: 2)
        #expect(try certified() == 900)
        try await desk.tell("coop-pv", 0, out: 800, revision: 3)
        #expect(try certified() == 1_700)
        // Sold before it was corrected: the owner's certificate follows.
        let body = "{\"resource\": \"coop-pv\", \"start\": \"\(Desk.at(1).text)\", "
        let coop = Desk.caller(.vendor, "coop")
        try await desk.done(.moveCertificate, body + "\"action\": \"transfer\", \"to\": \"ravi\"}", as: coop)
        try await desk.tell("coop-pv", 1, out: 300, revision: 1)
        #expect(try certified("Ravi") == 300 && certified() == 800)
        // Used up: it never moves, and the run says what is wrong.
        try await desk.done(
            .moveCertificate, body + "\"action\": \"retire\"}", as: Desk.caller(.consumer, "ravi"))
        try await desk.tell("coop-pv", 1, out: 100, revision: 2)
        let run = try desk.settle(0..<2)
        #expect(run.first?.contains("2 corrected") == true, "\(run)")
        #expect(run.contains { $0.contains("coop-pv") && $0.contains("used up") }, "\(run)")
        #expect(try certified() == 800, "the run corrects nothing twice")
        #expect(try desk.findings() == [])
    }

    @Test func `what came late is settled by a run of its own, which names the run that it corrects`()
        async throws
    {
        try await day()
        _ = try desk.settle(0..<2)
        #expect(try SettleJob.late(desk.queue) == nil)
        try await desk.tell("ravi-home", 1, in: 600, revision: 1)
        let late = try #require(try SettleJob.late(desk.queue))
        #expect(late.from == Desk.at(1) && late.until == Desk.at(2))
        _ = try SettleJob.run(
            desk.queue, SettleWish(period: late, now: desk.now, due: desk.now + 86_400))
        #expect(try await desk.done(.bill, id: "r2-ravi").contains("\"adjusts\":\"r1\""))
        #expect(try SettleJob.late(desk.queue) == nil)
        #expect(try desk.findings() == [])
    }

    @Test func `a late reading corrects all that registers filled around it, and so does a late interval`()
        async throws
    {
        try await desk.village()
        func read(_ block: Int64, _ exported: Int64) async throws {
            try await desk.done(
                .addRegisters,
                "{\"registers\": [{\"resource\": \"coop-pv\", \"meter\": \"m\", \"at\": "
                    + "\"\(Desk.at(block).text)\", \"import_wh\": 0, \"export_wh\": \(exported)}]}")
        }
        func late() throws -> [Int64]? {
            try SettleJob.late(desk.queue).map {
                [$0.from, $0.until].map { ($0.seconds - Desk.start.seconds) / 900 }
            }
        }
        for block in Int64(0)..<4 {
            try await desk.tell("asha-home", block, in: block == 3 ? 100 : 200)
            try await desk.tell("ravi-home", block)
        }
        try await read(0, 0)
        try await read(4, 1_000)
        #expect(try late() == nil, "nothing is settled")
        // 250 Wh each: what the community draws at 5, the rest at 3.
        #expect(try desk.settle(0..<4).first?.contains("4 blocks settled") == true)
        #expect(try await desk.done(.bill, id: "r1-coop").contains("\"total_inr\":\"4.40\""))
        #expect(try late() == nil)
        // 400, 400, 100 and 100.
        try await read(2, 800)
        #expect(try late() == [0, 4])
        #expect(try desk.settle(0..<4).first?.contains("4 corrected") == true)
        #expect(try await desk.done(.bill, id: "r2-coop").contains("\"total_inr\":\"-0.20\""))
        // 400, 400, none and 200.
        try await desk.tell("coop-pv", 3, out: 200)
        #expect(try late() == [2, 4])
        #expect(try desk.settle(2..<4).first?.contains("2 corrected") == true)
        #expect(try await desk.done(.bill, id: "r3-coop").contains("\"total_inr\":\"-0.20\""))
        #expect(try certified() == 200)
        // Now nothing lacks between the readings of 2 and 4: only what is told itself is looked at again.
        try await desk.tell("coop-pv", 2)
        #expect(try late() == [2, 3])
        #expect(try desk.settle(2..<3) == ["nothing to settle: 0 blocks open, 0 frozen"])
        // What is frozen waits for nothing.
        _ = try SettleJob.freeze(desk.queue, before: Desk.at(1))
        try await read(1, 500)
        #expect(try late() == [1, 2])
        #expect(try desk.settle(1..<2).first?.contains("1 corrected") == true)
        #expect(try late() == nil && desk.findings() == [])
    }

    @Test func `data that comes while a run is made is settled by the next, which names it`() async throws {
        try await day()
        let (queue, now) = (desk.queue, desk.now)
        var rests = 0
        let period = try #require(Period(from: Desk.at(0), until: Desk.at(2)))
        // Between two of the job's transactions: after the blocks are drafted, before the run is there.
        let told = try SettleJob.run(
            queue, SettleWish(period: period, now: now, due: now + 86_400),
            rest: {
                rests += 1
                if rests != 1 { return }
                let call = BooksCall(
                    caller: Desk.caller(.admin), operation: .addIntervals,
                    body: Array(Desk.interval("coop-pv", 0, 0, 400, 1).utf8), key: "late", now: now)
                // The store's own way would wait for this very thread.
                _ = try? queue.write { try BooksStore.once(call, "late", $0) }
            })
        #expect(rests > 2)
        #expect(
            told.contains { $0.contains("meanwhile") } && told.contains { $0.hasPrefix("r2: ") }, "\(told)")
        let bill = try await desk.done(.bill, id: "r2-coop")
        #expect(bill.contains("\"adjusts\":\"r1\"") && bill.contains("\"quantity_wh\":500"), "\(bill)")
        #expect(try certified() == 1_300, "900 of the one block, 400 of the other")
        #expect(try desk.findings() == [])
    }

    @Test func `tariffs do not change under a run that is made`() async throws {
        try await day()
        let (queue, now) = (desk.queue, desk.now)
        let period = try #require(Period(from: Desk.at(0), until: Desk.at(2)))
        var answers: [String] = []
        func tell(_ body: String) {
            let call = BooksCall(
                caller: Desk.caller(.admin), operation: .addTariffs, body: Array(body.utf8),
                key: "t\(answers.count)", now: now)
            do {
                let answer = try queue.write { try BooksStore.once(call, "t\(answers.count)", $0) }
                answers.append("\(answer.status) \(answer.body)")
            } catch { answers.append("\((error as? BooksRefusal)?.why ?? "\(error)")") }
        }
        _ = try SettleJob.run(
            queue, SettleWish(period: period, now: now, due: now + 86_400),
            rest: {
                // The job has read the tariffs, and its run is not there yet.
                if !answers.isEmpty { return }
                tell(Desk.tariffs.replacing("import_inr_per_kwh: 8", with: "import_inr_per_kwh: 80"))
                tell(Desk.tariffs.replacing("source: made up", with: "source: read again"))
            })
        #expect(
            answers.count == 2 && answers[0].contains("which is settled") && answers[1].hasPrefix("201"),
            "\(answers)")
        // 2 kWh were drawn and 1.8 made: 0.2 came from the grid at 8.
        #expect(try await desk.done(.bill, id: "r1-grid").contains("\"total_inr\":\"1.60\""))
        #expect(try desk.findings() == [])
    }

    @Test func `a run that is cut short at any of its transactions is whole after the next one`() async throws
    {
        struct Cut: Error {}
        try await day()
        let (queue, now) = (desk.queue, desk.now)
        let period = try #require(Period(from: Desk.at(0), until: Desk.at(2)))
        let wish = SettleWish(period: period, now: now, due: now + 86_400)
        var last = 0
        // A transaction fails by a trigger that a test puts in its way, one table after another.
        let tables = [
            "books_block", "books_certificate", "books_line", "books_bill", "books_pending", "books_run",
            "books_transfer",
        ]
        for (index, table) in tables.enumerated() {
            try await queue.write {
                try $0.execute(
                    sql: "CREATE TRIGGER cut BEFORE INSERT ON \(table) BEGIN SELECT RAISE(ABORT, 'cut'); END")
            }
            #expect(throws: (any Error).self) { try SettleJob.run(queue, wish) }
            try await queue.write { try $0.execute(sql: "DROP TRIGGER cut") }
            #expect(try desk.findings() == [], "\(table)")
            let bills = try await desk.done(.bills)
            #expect((bills == "{\"bills\":[]}") == (table != "books_transfer"), "\(table): \(bills)")
            last = index
        }
        #expect(last == tables.count - 1)
        // The last one had its run: what it has to post is posted by whoever comes next, and a bill is
        // paid before.
        #expect(try desk.balance("Assets:Party:Coop:Bills") == nil)
        try await desk.done(.pay, "{amount_inr: 1}", id: "r1-coop")
        try await desk.done(
            .moveCertificate,
            "{\"resource\": \"coop-pv\", \"start\": \"\(Desk.at(0).text)\", \"action\": \"transfer\", \"to\": \"ravi\"}"
        )
        while try await desk.store.postSome() {}
        #expect(try desk.balance("Assets:Party:Coop:Bills") == 800)
        #expect(try SettleJob.run(queue, wish) == ["nothing to settle: 0 blocks open, 0 frozen"])
        #expect(try certified() == 900 && certified("Ravi") == 900)
        #expect(try desk.findings() == [])
    }

    @Test func `blocks that were frozen once stay frozen`() async throws {
        try await day()
        _ = try desk.settle(0..<2)
        let period = try #require(Period(from: Desk.at(0), until: Desk.at(2)))
        _ = try SettleJob.run(
            desk.queue,
            SettleWish(period: period, now: desk.now, due: desk.now, frozenBefore: Desk.at(1)))
        for block in Int64(0)..<2 { try await desk.tell("ravi-home", block, in: 600, revision: 1) }
        let told = try desk.settle(0..<2)
        #expect(told.first?.contains("1 corrected, 0 open, 1 frozen") == true, "\(told)")
        #expect(try desk.findings() == [])
    }

    @Test func `a clock that goes ahead and comes back closes no day twice`() async throws {
        desk.now = Desk.start + 3_600
        try await desk.village()
        // Five days ahead for a moment, and back.
        try await desk.store.closeDays(before: Desk.start + 5 * 86_400)
        for _ in 0..<3 {
            try await desk.deposit("asha", "1")
            try await desk.store.closeDays(before: desk.now)
        }
        #expect(try desk.findings() == [])
        try await desk.store.closeDays(before: Desk.start + 6 * 86_400)
        try await desk.store.closeDays(before: Desk.start + 6 * 86_400)
        let roots = try await desk.done(.roots)
        #expect(
            roots.contains("\"day\":\"2026-11-01\"") && roots.contains("\"day\":\"2026-11-06\""), "\(roots)")
        let covered = try await desk.queue.read {
            try Int64.fetchOne($0, sql: "SELECT sum(last - first + 1) FROM books_day")
        }
        let noted = try await desk.queue.read {
            try Int64.fetchOne(
                $0, sql: "SELECT count(*) FROM books_event WHERE at_s < ?",
                arguments: [(Desk.start + 6 * 86_400).seconds])
        }
        #expect(covered == noted, "every event of a day that is over is in one root")
        #expect(try desk.findings() == [])
    }

    @Test func `commands that come at once share a transaction, and none takes another with it`() async throws
    {
        try await desk.village()
        try await desk.deposit("asha", "1000")
        let before = await desk.store.commits.count
        let (store, now) = (desk.store, desk.now)
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<200 {
                // Each tenth asks for more than there is, each eleventh cannot be read.
                let body =
                    number % 11 == 0
                    ? "{" : LedgerMove.body("asha", "ravi", number % 10 == 0 ? "5000" : "1")
                group.addTask {
                    try await store.answer(
                        BooksCall(
                            caller: Desk.caller(.admin), operation: .transfer, body: Array(body.utf8),
                            key: "g\(number)", now: now)
                    ).status
                }
            }
            return try await group.reduce(into: [Int: Int]()) { $0[$1, default: 0] += 1 }
        }
        #expect(statuses == [201: 163, 422: 18, 400: 19], "\(statuses)")
        #expect(try desk.balance("Assets:Party:Ravi:Wallet") == 16_300)
        #expect(await desk.store.commits.count - before < 150, "200 commands, fewer commits")
        #expect(try desk.findings() == [])
    }
}
