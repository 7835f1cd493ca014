import ExactAmounts
import Testing

@testable import BooksStore

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
        desk.now = Desk.at(100)
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
        desk.now = Desk.at(100)
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
        desk.now = Desk.at(100)
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
