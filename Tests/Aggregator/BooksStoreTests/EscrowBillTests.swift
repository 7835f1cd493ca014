import BooksFiles
import BooksSupport
import ExactAmounts
import Foundation
import GRDB
import Testing

@testable import BooksStore

/// What escrow paid was the buyer's own: prepaid or postpaid, everybody ends with the same.
@Suite struct `Bills of who prepaid` {
    /// A contract of 2 kWh over the first two blocks, and the meter whose export counts for it.
    private static let contracts = [
        (id: "c", buyer: "asha", resource: "coop-pv"), (id: "d", buyer: "ravi", resource: "asha-home"),
        (id: "e", buyer: "club", resource: "coop-pv"),
    ]
    private static let people = ["grid", "op", "asha", "ravi", "coop", "club"]
    /// In and out of each resource in a block, in Wh.
    private typealias Block = [String: (drawn: Int64, given: Int64)]

    /// The village, the club that asha and ravi own, and three contracts in force; everybody has 1,000 INR and
    /// 0.01 BTC. At 8.5 INR for 100 Wh that is so many satoshi as Wh.
    private static func village(_ payments: [String], _ assets: [String]) async throws -> Desk {
        let desk = try Desk()
        try await desk.village()
        let owners = #"[{"party": "asha", "share": 1}, {"party": "ravi", "share": 2}]"#
        try await desk.done(.addParty, "{\"id\": \"club\", \"name\": \"Club\", \"owners\": \(owners)}")
        try await desk.done(
            .addResource,
            #"{"id": "club-pv", "party": "club", "zone": "north", "kind": "pv", "export_max_kw": 80}"#)
        for party in people {
            try await desk.deposit(party, "1000")
            try await desk.deposit(party, "0.01", "BTC")
        }
        desk.now = Desk.start + -3_600
        for (one, (payment, asset)) in zip(contracts, zip(payments, assets)) {
            try await desk.done(
                .addContract,
                """
                {"id": "\(one.id)", "kind": "supply", "buyer": "\(one.buyer)", "resource": "\(one.resource)",
                "from": "\(Desk.at(0).text)", "until": "\(Desk.at(2).text)", "energy_kwh": 2,
                "price_inr_per_kwh": 85, "penalty_inr_per_kwh": 1, "payment": "\(payment)", "asset": "\(asset)"}
                """)
            for event in ["offer", "accept", "activate"] {
                try await desk.done(.contractEvent, "{event: \(event)}", id: one.id)
            }
        }
        return desk
    }

    /// - Parameter late: what the first block's meters say in the end: once all is over, or else with the
    ///   contracts still in force.
    private static func play(
        _ desk: Desk, _ blocks: [Block], endsEarly: Bool, late: Block?, inForce: Bool = false
    ) async throws {
        func tell(_ block: Block, _ number: Int64, revision: Int = 0) async throws {
            for (name, energy) in block {
                try await desk.tell(name, number, in: energy.drawn, out: energy.given, revision: revision)
            }
        }
        desk.now = Desk.at(1)
        if endsEarly { try await desk.done(.contractEvent, "{event: endEarly}", id: "c") }
        if !inForce { desk.now = Desk.start + 40 * 86_400 }
        try await tell(blocks[0], 0)
        _ = try desk.settle(0..<1)
        if inForce, let late {
            try await tell(late, 0, revision: 1)
            _ = try desk.settle(0..<1)
        }
        desk.now = Desk.start + 40 * 86_400
        try await tell(blocks[1], 1)
        _ = try desk.settle(1..<2)
        if !inForce, let late {
            try await tell(late, 0, revision: 1)
            _ = try desk.settle(0..<2)
        }
    }

    private struct Told {
        var id, party, state: String
        var total, escrow, paid, rest: Int
    }

    private static func bill(_ one: [String: Any]) throws -> Told {
        func word(_ name: String) throws -> String { try #require(one[name] as? String) }
        func paise(_ name: String) throws -> Int {
            try #require(Int(try word(name).replacing(".", with: "")))
        }
        return Told(
            id: try word("id"), party: try word("party"), state: try word("state"),
            total: try paise("total_inr"), escrow: try paise("escrow_inr"), paid: try paise("paid_inr"),
            rest: try paise("rest_inr"))
    }

    private static func bills(_ desk: Desk) async throws -> [Told] {
        let text = try await desk.done(.bills)
        let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        let list = try #require(object?["bills"] as? [[String: Any]])
        return try list.map(bill).sorted { $0.id < $1.id }
    }

    private static func text(_ paise: Int) -> String { String(format: "%ld.%02ld", paise / 100, paise % 100) }

    /// Pays the bill in two parts, never more than its rest.
    private static func pay(_ desk: Desk, _ bill: Told, _ dice: inout Dice) async throws {
        let whole = abs(bill.rest)
        let more = try await desk.ask(.pay, "{amount_inr: \(text(whole + 1))}", id: bill.id)
        #expect(more.status == 422 && more.body.contains("only \(text(whole)) INR"), "\(bill) \(more)")
        if whole == 0 { return }
        let first = dice.roll(1...whole)
        for part in [first, whole - first] where part > 0 {
            try await desk.done(.pay, "{amount_inr: \(text(part))}", id: bill.id)
            #expect(try desk.findings() == [], "\(bill)")
        }
    }

    /// What comes out of escrow by the runs' bills, in paise, and by buyers, in satoshi: 1 kWh a block, to the
    /// contracts in the order of their trades. A first block that was told twice counts by what it changed.
    private static func released(
        _ rounds: [Block], _ payments: [String], _ assets: [String], endsEarly: Bool
    ) -> (escrow: [String: Int], satoshi: [String: Int64]) {
        var (escrow, satoshi, before) = ([String: Int](), [String: Int64](), [String: Int64]())
        for (number, block) in rounds.enumerated() {
            var left = block.mapValues(\.given)
            for (one, (payment, asset)) in zip(contracts, zip(payments, assets)) {
                // With the first block all is settled that was promised before its end.
                if endsEarly, one.id == "c", number == rounds.count - 1 { continue }
                let whole = min(left[one.resource] ?? 0, 1_000)
                left[one.resource, default: 0] -= whole
                if payment == "postpaid" || endsEarly && one.id == "c" && number > 0 { continue }
                let delivered = whole - (rounds.count == 3 && number == 1 ? before[one.id] ?? 0 : 0)
                before[one.id] = delivered
                escrow["r\(number + 1)-\(one.buyer)", default: 0] += Int(delivered * 17 / 2)
                if asset == "BTC" { satoshi[one.buyer, default: 0] += delivered }
            }
        }
        return (escrow, satoshi)
    }

    private static func wallets(_ desk: Desk, _ asset: String) throws -> [Int64] {
        try people.map {
            try desk.balance("Assets:Party:\($0.prefix(1).uppercased())\($0.dropFirst()):Wallet", asset) ?? 0
        }
    }

    @Test(arguments: 0..<36) func `everybody ends with the same, prepaid or postpaid, whatever way it went`(
        seed: Int
    ) async throws {
        var dice = Dice(seed: UInt64(seed) + 2_020)
        func energy() -> Int64 { Int64(dice.pick([0, 0, 20, 30, 50, 100, 200]) * dice.roll(0...20)) }
        func block() -> Block {
            [
                "asha-home": (energy(), energy()), "ravi-home": (energy(), 0), "coop-pv": (0, energy()),
                "club-pv": (0, energy()),
            ]
        }
        let (blocks, inForce) = ([block(), block()], seed % 3 == 2)
        var late = seed % 3 == 0 ? nil : block()
        // Another than before, whatever the dice say.
        let drawn = blocks[0]["ravi-home"]?.drawn ?? 0
        if late?["ravi-home"]?.drawn == drawn { late?["ravi-home"]?.drawn = drawn + 10 }
        let endsEarly = dice.roll(0...2) == 0
        let payments = Self.contracts.map { _ in dice.pick(["prepaid", "prepaid", "postpaid"]) }
        let assets = payments.map { $0 == "prepaid" ? dice.pick(["INR", "BTC"]) : "INR" }
        let desk = try await Self.village(payments, assets)
        let twin = try await Self.village(["postpaid", "postpaid", "postpaid"], ["INR", "INR", "INR"])
        try await Self.play(desk, blocks, endsEarly: endsEarly, late: late, inForce: inForce)
        try await Self.play(twin, blocks, endsEarly: endsEarly, late: late, inForce: inForce)
        #expect(try desk.findings() == [])

        let rounds = inForce ? [blocks[0], late ?? [:], blocks[1]] : blocks
        let (escrow, satoshi) = Self.released(rounds, payments, assets, endsEarly: endsEarly)
        let (told, others) = (try await Self.bills(desk), try await Self.bills(twin))
        var coins = Dice(seed: UInt64(seed))
        #expect(told.map(\.id) == others.map(\.id) && told.map(\.total) == others.map(\.total))
        for (bill, other) in zip(told, others) {
            let rest = bill.total + (escrow[bill.id] ?? 0)
            #expect(bill.escrow == escrow[bill.id] ?? 0 && bill.rest == rest && bill.paid == 0, "\(bill)")
            #expect(bill.state == (rest > 0 ? "credit" : rest == 0 ? "paid" : bill.state), "\(bill)")
            #expect(rest >= 0 || ["open", "overdue"].contains(bill.state), "\(bill)")
            try await Self.pay(desk, bill, &coins)
            try await Self.pay(twin, other, &coins)
        }
        for bill in try await Self.bills(desk) {
            #expect(bill.rest == 0 && ["paid", "paid_out"].contains(bill.state), "\(bill)")
        }
        for name in ["Grid", "Op", "Asha", "Ravi", "Coop", "Club"] {
            #expect(try desk.balance("Assets:Party:\(name):Bills") ?? 0 == 0, "\(name)")
        }
        // In satoshi so much less as in rupees more.
        let sent = Self.people.map { satoshi[$0] ?? 0 }
        #expect(try Self.wallets(desk, "BTC") == sent.map { 1_000_000 - $0 })
        #expect(
            try Self.wallets(desk, "INR") == zip(Self.wallets(twin, "INR"), sent).map { $0 + $1 * 17 / 2 })
    }

    /// asha bought 2 kWh for 170 INR, with fees of 0.28, and what she has to spare ravi takes at 5 INR/kWh.
    private struct Case {
        /// What asha's meter gives and draws in both blocks together, in Wh.
        var given: Int64 = 0
        var drawn: Int64 = 0
        var total, rest, after, words: String
    }

    private static let cases = [
        Case(given: 36_000, total: "19.72", rest: "189.72", after: "paid_out", words: ">to get"),
        Case(total: "-160.28", rest: "9.72", after: "paid_out", words: ">to get"),
        Case(drawn: 1_000, total: "-165.28", rest: "4.72", after: "paid_out", words: ">to get"),
        Case(drawn: 2_000, total: "-170.28", rest: "-0.28", after: "paid", words: "to pay"),
    ]

    @Test(arguments: cases.indices)
    func `what escrow paid is seen on the bill, and all that is left can be paid`(index: Int) async throws {
        let one = Self.cases[index]
        let desk = try await Self.village(["prepaid", "postpaid", "postpaid"], ["INR", "INR", "INR"])
        let block: Block = [
            "asha-home": (one.drawn / 2, one.given / 2), "ravi-home": (60_000, 0), "coop-pv": (0, 1_000),
            "club-pv": (0, 0),
        ]
        // Nothing under ravi's contract, whose 2 kWh are asha's to give.
        try await desk.done(.contractEvent, "{event: endEarly}", id: "d")
        try await desk.done(.contractEvent, "{event: endEarly}", id: "e")
        desk.now = Desk.start + 40 * 86_400
        for number in Int64(0)..<2 {
            for (name, energy) in block {
                try await desk.tell(name, number, in: energy.drawn, out: energy.given)
            }
        }
        _ = try desk.settle(0..<2)
        let bill = try await desk.done(.bill, id: "r1-asha")
        for part in [
            "\"total_inr\":\"\(one.total)\"", "\"escrow_inr\":\"170.00\"",
            "\"rest_inr\":\"\(one.rest)\"",
        ] { #expect(bill.contains(part), "\(part) in \(bill)") }
        let page = try await desk.done(.billPage, id: "r1-asha")
        for part in [">sum of the lines<", ">paid from escrow<", ">170.00<", one.words, ">\(one.rest)<"] {
            #expect(page.contains(part), "\(part) in \(page)")
        }
        let amount = one.rest.replacing("-", with: "")
        let answer = try await desk.done(.pay, "{amount_inr: \(amount)}", id: "r1-asha")
        #expect(answer.contains("\"paid_inr\":\"\(amount)\",\"rest_inr\":\"0.00\""), "\(answer)")
        let table = try await desk.done(.billCSV, id: "r1-asha")
        #expect(table.contains(",bill_escrow_inr,bill_rest_inr\n"), "\(table)")
        #expect(table.contains(",\(one.after),") && table.contains(",\(amount),170.00,0.00\n"), "\(table)")
        #expect(try desk.balance("Assets:Party:Asha:Bills") == 0)
        #expect(try desk.findings() == [])
    }

    @Test func `a bill is due by what is left of it`() {
        func state(_ total: Int64, escrow: Int64, paid: Int64 = 0, now: Int64 = 10) -> String {
            BillPayment(
                total: MinorUnits(total), escrow: MinorUnits(escrow), paid: MinorUnits(paid),
                due: UTCInstant(seconds: 10), now: UTCInstant(seconds: now)
            ).state.rawValue
        }
        #expect(state(-100, escrow: 0, now: 9) == "open" && state(-100, escrow: 0, paid: 99) == "overdue")
        #expect(state(-100, escrow: 0, paid: 100) == "paid" && state(-100, escrow: 100) == "paid")
        #expect(state(-100, escrow: 99) == "overdue" && state(-100, escrow: 99, paid: 1) == "paid")
        #expect(state(-100, escrow: 101) == "credit" && state(-100, escrow: 101, paid: 1) == "paid_out")
        #expect(state(100, escrow: 0, paid: 99) == "credit" && state(100, escrow: 0, paid: 100) == "paid_out")
        #expect(
            state(100, escrow: 20, paid: 100) == "credit" && state(100, escrow: 20, paid: 120) == "paid_out")
        #expect(state(0, escrow: 20) == "credit" && state(0, escrow: 0) == "paid")
    }

    /// As the books counted it before: a database that was written so opens, holds, and is paid out.
    @Test func `bills of before are counted anew by what was posted`() async throws {
        let desk = try await Self.village(["prepaid", "postpaid", "postpaid"], ["INR", "INR", "INR"])
        try await Self.play(
            desk,
            [
                ["asha-home": (0, 9_000), "ravi-home": (9_000, 0), "coop-pv": (0, 3_000), "club-pv": (0, 0)],
                ["asha-home": (0, 9_000), "ravi-home": (9_000, 0), "coop-pv": (0, 3_000), "club-pv": (0, 0)],
            ], endsEarly: false, late: nil)
        try await desk.done(.pay, "{amount_inr: 1}", id: "r1-asha")
        let told = try await Self.bills(desk)
        try await desk.queue.write {
            try $0.execute(
                sql: """
                    UPDATE books_bill SET paid = paid + escrow;
                    ALTER TABLE books_bill DROP COLUMN escrow;
                    DELETE FROM grdb_migrations WHERE identifier = 'booksEscrow';
                    """)
        }
        #expect(try desk.findings().contains("r1-asha is paid otherwise than was posted"))
        try BooksTables.migrator.migrate(desk.queue)
        #expect(try desk.findings() == [])
        let again = try await Self.bills(desk)
        #expect(again.map(\.rest) == told.map(\.rest) && again.map(\.paid) == told.map(\.paid))
        let asha = try #require(again.first { $0.id == "r1-asha" })
        try await desk.done(.pay, "{amount_inr: \(Self.text(asha.rest))}", id: "r1-asha")
        #expect(try desk.findings() == [])
    }
}
