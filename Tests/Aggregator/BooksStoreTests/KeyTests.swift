import ExactAmounts
import GRDB
import Ledger
import Testing

@testable import BooksStore

/// What the books post themselves, and what people call theirs.
@Suite struct `Names that people choose` {
    let desk: Desk

    init() throws { desk = try Desk() }

    private func activate(
        _ id: String, _ energy: String, _ price: String, buyer: String, _ resource: String
    ) async throws {
        try await desk.done(
            .addContract,
            """
            {"id": "\(id)", "kind": "supply", "buyer": "\(buyer)", "resource": "\(resource)",
            "from": "\(Desk.at(0).text)", "until": "\(Desk.at(4).text)", "energy_kwh": \(energy),
            "price_inr_per_kwh": \(price), "payment": "prepaid"}
            """)
        for event in ["offer", "accept", "activate"] {
            try await desk.done(.contractEvent, "{event: \(event)}", id: id)
        }
    }

    @Test(arguments: ["back-c1", "paid-c1", "c1-back", "late-c1"])
    func `stop no refund of another's contract`(other: String) async throws {
        try await desk.village()
        desk.now = Desk.start + -3_600
        try await desk.deposit("ravi", "40")
        try await desk.deposit("coop", "1")
        try await activate("c1", "8", "4", buyer: "ravi", "coop-pv")
        try await activate(other, "0.004", "2.5", buyer: "coop", "asha-home")
        #expect(try desk.balance("Assets:Escrow:C1") == 3_200, "8 kWh × 4")
        desk.now = Desk.at(2)
        try await desk.done(.contractEvent, "{event: endEarly}", id: "c1")
        for block in Int64(0)..<4 {
            try await desk.tell("coop-pv", block, out: 2_000)
            try await desk.tell("ravi-home", block, in: 2_000)
            try await desk.tell("asha-home", block, out: 1)
        }
        desk.now = Desk.at(100)
        #expect(try desk.settle(0..<4).first?.contains("4 blocks settled") == true)
        // Two blocks of 2 kWh × 4 = 16 INR of 40 were delivered.
        #expect(try desk.balance("Assets:Escrow:C1") == 0)
        #expect(try desk.balance("Assets:Party:Ravi:Wallet") == 2_400)
        #expect(try desk.findings() == [])
    }

    @Test func `take no key of another's transfer`() async throws {
        try await desk.village()
        try await desk.done(.addParty, #"{"id": "asha-x", "name": "another"}"#)
        for party in ["asha", "asha-x"] { try await desk.deposit(party, "10") }
        for (who, key) in [("asha", "x-1"), ("asha-x", "1"), ("asha", "x/1"), ("asha", "x%2F1")] {
            let answer = try await desk.ask(
                .transfer, LedgerMove.body(who, "ravi", "1"), as: Desk.caller(.prosumer, who), key: key)
            #expect(answer.status == 201, "\(who) \(key): \(answer)")
        }
        // A token's name may be any word.
        for (name, key) in [("asha/x", "1"), ("asha", "x/1/0")] {
            let caller = BooksCaller(name: name, role: .prosumer, party: "asha")
            #expect(
                try await desk.ask(
                    .transfer, LedgerMove.body("asha", "ravi", "0.5"), as: caller, key: key
                ).status == 201)
        }
        #expect(try desk.balance("Assets:Party:Ravi:Wallet") == 500)
        #expect(try desk.balance("Assets:Party:Asha:Wallet") == 600)
        #expect(try desk.balance("Assets:Party:Asha-x:Wallet") == 900)
        #expect(try desk.findings() == [])
    }

    @Test func `of before are found as they were posted then`() async throws {
        try await desk.village()
        for id in ["asha-home", "coop-pv"] { try await desk.tell(id, 0) }
        try await desk.tell("ravi-home", 0, in: 1_000)
        _ = try desk.settle(0..<1)
        try await desk.deposit("ravi", "8")
        try await desk.done(.pay, "{amount_inr: 3}", id: "r1-ravi")
        // As a database of before has it: its rows never change, but for who takes the triggers away.
        try await desk.queue.write {
            try $0.execute(
                sql: """
                    DROP TRIGGER books_transfer_stays;
                    UPDATE books_transfer SET key = 'pay-r1-ravi-0-300' WHERE key = 'pay/r1-ravi/0/300'
                    """)
            #expect($0.changesCount == 1)
        }
        try await desk.done(.pay, "{amount_inr: 5}", id: "r1-ravi")
        #expect(try desk.findings().filter { $0.contains("paid otherwise") } == [])
        let query = ["name": "processPayment", "from": Desk.at(0).text, "until": Desk.at(9_000).text]
        let calls = try await desk.done(.interfaceCalls, query: query)
        #expect(calls.contains("pay-r1-ravi-0-300") && calls.contains("pay/r1-ravi/300/500"), "\(calls)")
    }

    @Test(arguments: ["rent\\nAssets:Party:Ravi:Wallet\\nINR\\n100", "a\\rb", "a\\tb", "a\\u0085b"])
    func `and words that they write are one line of a record`(text: String) async throws {
        try await desk.village()
        try await desk.deposit("asha", "1")
        let move = LedgerMove.body("asha", "ravi", "1").replacing("\"t\"", with: "\"\(text)\"")
        let interval = Desk.interval("asha-home", 0, 1, 1).replacing("{", with: "{\"record\": \"\(text)\", ")
        let register =
            "{\"registers\": [{\"resource\": \"asha-home\", \"meter\": \"\(text)\", \"at\": \"\(Desk.at(0).text)\", "
            + "\"import_wh\": 1, \"export_wh\": 1}]}"
        for (operation, body) in [
            (BooksOperation.transfer, move), (.addIntervals, interval), (.addRegisters, register),
            (.addParty, "{\"id\": \"x\", \"name\": \"\(text)\"}"),
        ] {
            let answer = try await desk.ask(operation, body)
            #expect(answer.status == 400 && answer.body.contains("on one line"), "\(operation): \(answer)")
        }
        #expect(try desk.balance("Assets:Party:Ravi:Wallet") == nil)
    }

    @Test func `are apart in every key`() {
        let lists = [["a", "b"], ["a/b"], ["a%2Fb"], ["a", "b", ""], ["a-b"], ["a", "", "b"]]
        let keys = lists.map { list in
            switch list.count {
            case 1: TransferKey.transfer.of(list[0])
            case 2: TransferKey.transfer.of(list[0], list[1])
            default: TransferKey.transfer.of(list[0], list[1], list[2])
            }
        }
        #expect(Set(keys).count == lists.count, "\(keys)")
    }
}
