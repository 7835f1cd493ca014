import BooksSupport
import ExactAmounts
import Testing

@testable import BooksStore

/// 4 kWh from 01:00 to 02:00 (blocks 4 to 7) at 6 INR, 1 INR for what is not delivered, prepaid: 24 INR.
/// Of it 0.4 kWh are delivered: 2.40 INR, 3.60 INR penalty, 21.60 INR back.
@Suite struct `Contracts that come into force by themselves` {
    let desk: Desk
    let coop = Desk.caller(.vendor, "coop")
    let ravi = Desk.caller(.consumer, "ravi")

    init() throws { desk = try Desk() }

    private func agree(_ id: String, at time: UTCInstant, energy: String = "4") async throws {
        let terms = """
            {"id": "\(id)", "kind": "supply", "buyer": "ravi", "resource": "coop-pv", "from": "\(Desk.at(4).text)",
            "until": "\(Desk.at(8).text)", "energy_kwh": \(energy), "price_inr_per_kwh": 6,
            "penalty_inr_per_kwh": 1, "payment": "prepaid", "automatic": true}
            """
        desk.now = time
        try await desk.done(.addContract, terms, as: coop)
        try await desk.done(.contractEvent, "{event: offer}", id: id, as: coop)
        try await desk.done(.contractEvent, "{event: accept}", id: id, as: ravi)
    }

    private func meter() async throws {
        for block in Int64(0)..<8 {
            try await desk.tell("coop-pv", block, out: block < 4 ? 0 : 100)
            try await desk.tell("ravi-home", block, in: block < 4 ? 0 : 500)
            try await desk.tell("asha-home", block)
        }
    }

    private func pay(_ amount: Int) async throws -> Int {
        try await desk.ask(
            .transfer,
            "{transfers: [{from: ravi, to: asha, amount: \(amount), text: away}]}",
            as: ravi
        ).status
    }

    /// What the contract came to, on both bills, in paise.
    private func lines() throws -> [String] {
        try desk.queue.read {
            try String.fetchAll(
                $0,
                sql: """
                    SELECT party || ' ' || kind || ' ' || sum(amount) FROM books_line WHERE reference = 'c'
                    AND kind IN ('delivery', 'penalty') GROUP BY party, kind ORDER BY 1
                    """)
        }
    }

    @Test(arguments: [[0..<8], [0..<4, 4..<8], [0..<6, 6..<8], [0..<2, 2..<4, 4..<8]] as [[Range<Int64>]])
    func `it is in force from its window on, whatever is settled when`(
        parts: [Range<Int64>]
    ) async throws {
        desk.now = Desk.start + -3_600
        try await desk.village()
        try await desk.deposit("ravi", "100")
        try await agree("c", at: Desk.start + -3_600)
        try await meter()
        // Each part is settled long after the window.
        desk.now = Desk.at(100)
        for part in parts { _ = try desk.settle(part) }
        #expect(
            try lines() == [
                "coop delivery 240", "coop penalty -360", "ravi delivery -240", "ravi penalty 360",
            ])
        #expect(
            try desk.balance("Assets:Escrow:C") == 0
                && desk.balance("Assets:Party:Ravi:Wallet") == 10_000 - 240)
        #expect(try await desk.done(.contracts).contains("\"state\":\"settled\""))
        #expect(try desk.findings() == [])
    }

    @Test func `what has begun is not called off, and its escrow is no money to spend`() async throws {
        desk.now = Desk.start + -3_600
        try await desk.village()
        try await desk.deposit("ravi", "100")
        try await agree("c", at: Desk.start + -3_600)
        desk.now = Desk.at(8) + -120
        let off = try await desk.ask(.contractEvent, "{event: cancel}", id: "c", as: coop)
        #expect(off.status == 409 && off.body.contains("active"), "\(off)")
        #expect(try await pay(77) == 422, "76 are his")
        #expect(try await pay(76) == 201)
        desk.now = Desk.at(8) + 600
        #expect(try await desk.ask(.contractEvent, "{event: cancel}", id: "c", as: coop).status == 409)
        #expect(try desk.balance("Assets:Escrow:C") == 2_400)
        try await meter()
        _ = try desk.settle(0..<8)
        #expect(
            try lines() == [
                "coop delivery 240", "coop penalty -360", "ravi delivery -240", "ravi penalty 360",
            ])
        #expect(try desk.balance("Assets:Party:Ravi:Wallet") == 2_160)
        #expect(try desk.findings() == [])
    }

    @Test func `the upkeep brings it into force, and a wallet that is filled later is too late`()
        async throws
    {
        desk.now = Desk.start + -3_600
        try await desk.village()
        try await desk.deposit("ravi", "30")
        try await agree("c", at: Desk.start + -3_600)
        try await agree("a", at: Desk.start + -1_800)
        try await desk.store.closeDays(before: Desk.at(4) + -1)
        #expect(try await desk.done(.contracts).ranges(of: "\"state\":\"agreed\"").count == 2)
        try await desk.store.closeDays(before: Desk.at(4))
        // 30 INR are enough for one: for the one that was agreed first.
        #expect(try desk.balance("Assets:Escrow:C") == 2_400)
        desk.now = Desk.at(6)
        try await desk.deposit("ravi", "50")
        let told = try await desk.done(.contracts)
        for (id, state) in [("a", "cancelled"), ("c", "active")] {
            #expect(told.contains("\"id\":\"\(id)\",\"kind\":\"supply\",\"state\":\"\(state)\""), "\(told)")
        }
        #expect(try desk.balance("Assets:Party:Ravi:Wallet") == 5_600)
        #expect(try desk.findings() == [])
    }

    @Test func `agreed within its window it is in force from then`() async throws {
        desk.now = Desk.start + -3_600
        try await desk.village()
        try await desk.deposit("ravi", "100")
        try await agree("c", at: Desk.at(6))
        try await meter()
        desk.now = Desk.at(100)
        _ = try desk.settle(0..<8)
        // Two of the four blocks: 0.2 of 2 kWh.
        #expect(
            try lines() == [
                "coop delivery 120", "coop penalty -180", "ravi delivery -120", "ravi penalty 180",
            ])
        #expect(try desk.findings() == [])
    }
}

/// A contract that both agreed to begin by itself does, whoever asks for what afterwards.
@Suite struct `An automatic contract whose window began` {
    let desk: Desk

    init() throws { desk = try Desk() }

    /// 8 kWh × 4 in four blocks from the fifth one on, penalty 1; ravi has 40 INR.
    private func agree(_ payment: String) async throws {
        try await desk.village()
        desk.now = Desk.start + -3_600
        try await desk.done(
            .addContract,
            """
            {"id": "c", "kind": "supply", "buyer": "ravi", "resource": "coop-pv", "from": "\(Desk.at(4).text)",
            "until": "\(Desk.at(8).text)", "energy_kwh": 8, "price_inr_per_kwh": 4, "penalty_inr_per_kwh": 1,
            "payment": "\(payment)", "automatic": true}
            """, as: coop)
        try await desk.done(.contractEvent, "{event: offer}", id: "c", as: coop)
        try await desk.done(.contractEvent, "{event: accept}", id: "c", as: ravi)
        try await desk.deposit("ravi", "40")
    }

    /// Told when all of it was measured.
    private func meter() async throws {
        desk.now = Desk.at(100)
        for block in Int64(0)..<8 {
            try await desk.tell("coop-pv", block, out: block < 6 ? 2_000 : 0)
            try await desk.tell("ravi-home", block, in: 2_000)
            try await desk.tell("asha-home", block)
        }
    }

    private var coop: BooksCaller { Desk.caller(.vendor, "coop") }
    private var ravi: BooksCaller { Desk.caller(.consumer, "ravi") }

    /// Two blocks of 2 kWh were delivered × 4 = 16.00, two were not: 4 kWh × 1 = 4.00.
    private func checkDelivered(_ run: String) async throws {
        let bill = try await desk.done(.bill, id: "\(run)-coop")
        #expect(
            bill.contains("\"kind\":\"delivery\"") && bill.contains("\"amount_inr\":\"16.00\""), "\(bill)")
        #expect(bill.contains("\"kind\":\"penalty\"") && bill.contains("\"amount_inr\":\"-4.00\""), "\(bill)")
        #expect(try desk.findings() == [])
    }

    @Test func `is in force though an earlier period is settled after it`() async throws {
        try await agree("postpaid")
        try await meter()
        _ = try desk.settle(0..<4)
        _ = try desk.settle(4..<8)
        try await checkDelivered("r2")
    }

    @Test(arguments: [Int64(7), 100]) func `is not cancelled by who does not deliver`(block: Int64)
        async throws
    {
        try await agree("postpaid")
        desk.now = Desk.at(4) + -1
        #expect(try await desk.done(.contracts).contains("\"state\":\"agreed\""))
        desk.now = Desk.at(block)
        let answer = try await desk.ask(.contractEvent, "{event: cancel}", id: "c", as: coop)
        #expect(answer.status == 409, "\(answer)")
        try await meter()
        _ = try desk.settle(0..<8)
        try await checkDelivered("r1")
    }

    @Test func `is in escrow before its buyer empties the wallet`() async throws {
        try await agree("prepaid")
        desk.now = Desk.at(4)
        let emptied = try await desk.ask(.transfer, LedgerMove.body("ravi", "asha", "40"), as: ravi)
        #expect(emptied.status == 422 && emptied.body.contains("floor"), "\(emptied)")
        #expect(try desk.balance("Assets:Escrow:C") == 3_200)
        try await desk.done(.transfer, LedgerMove.body("ravi", "asha", "8"), as: ravi)
        try await meter()
        _ = try desk.settle(0..<8)
        #expect(try desk.balance("Assets:Party:Ravi:Wallet") == 1_600, "32 in escrow, 16 delivered")
        try await checkDelivered("r1")
    }

    @Test func `is cancelled as ever before`() async throws {
        try await agree("prepaid")
        desk.now = Desk.at(4) + -1
        try await desk.done(.contractEvent, "{event: cancel}", id: "c", as: coop)
        desk.now = Desk.at(5)
        try await desk.done(.transfer, LedgerMove.body("ravi", "asha", "40"), as: ravi)
        #expect(try desk.findings() == [])
    }
}
