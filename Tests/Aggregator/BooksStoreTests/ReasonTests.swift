import BooksSupport
import ExactAmounts
import Testing

@testable import BooksStore

/// Why for every rupee: a line leads back to its contract, its readings, its owners' parts.
@Suite struct `Why a line is what it is` {
    let desk: Desk

    init() throws { desk = try Desk() }

    /// The name of a bill's line of one kind.
    private func line(_ bill: String, _ kind: String) async throws -> String {
        let text = try await desk.done(.bill, id: bill)
        let part = text.split(separator: "{").first { $0.contains("\"kind\":\"\(kind)\"") }
        return try #require(part?.split(separator: "\"").dropFirst(2).first.map(String.init), "\(text)")
    }

    private func why(_ bill: String, _ kind: String) async throws -> String {
        try await desk.done(.explain, id: try await line(bill, kind))
    }

    @Test func `a contract's promise, an owner's part and a rebuilt block are told`() async throws {
        try await desk.village()
        try await desk.done(
            .addParty,
            #"{"id": "mill", "name": "n", "owners": [{"party": "asha", "share": 2}, {"party": "ravi", "share": 1}]}"#
        )
        try await desk.done(
            .addResource,
            #"{"id": "mill-pv", "party": "mill", "zone": "north", "kind": "pv", "export_max_kw": 8}"#)
        desk.now = Desk.start
        try await desk.done(
            .addContract, BadInput.contract(of: "ravi").replacing("coop-pv", with: "mill-pv"))
        for event in ["offer", "accept", "activate"] {
            try await desk.done(.contractEvent, "{event: \(event)}", id: "c")
        }
        desk.now = Desk.start + 40 * 86_400
        for (block, exported) in [(Int64(0), Int64(200)), (1, 300)] {
            try await desk.tell("mill-pv", block, out: exported)
            try await desk.tell("ravi-home", block, in: 1_000)
            try await desk.tell("asha-home", block)
        }
        for (block, exported) in [(Int64(0), 0), (2, 400)] {
            try await desk.done(
                .addRegisters,
                "{\"registers\": [{\"resource\": \"coop-pv\", \"meter\": \"m\", \"at\": "
                    + "\"\(Desk.at(block).text)\", \"import_wh\": 0, \"export_wh\": \(exported)}]}")
        }
        #expect(try desk.settle(0..<2).first?.contains("2 blocks settled") == true)
        // 250 Wh are promised in each block: 200 and 250 are delivered, the other 50 go to the community.
        let delivery = try await why("r1-ravi", "delivery")
        for part in [
            "0.450 kWh × 5.00",
            "00:00:00Z north: 200 Wh\n    contract c promised 250 Wh\n    mill-pv: in 0 Wh, out 200",
            "00:15:00Z north: 250 Wh\n    contract c promised 250 Wh\n    mill-pv: in 0 Wh, out 300 Wh",
        ] { #expect(delivery.contains(part), "\(part) in \(delivery)") }
        #expect(!delivery.contains("ravi-home"), "whose export is the delivery")
        // 2.25 and 0.25 INR, of which two thirds are 1.67.
        let share = try await why("r1-asha", "share")
        for part in [
            "mill: 1.67 INR", "2 of 3 shares of 2.50 INR", ": delivery, c, 2.25 INR",
            ": community, t/all, 0.25 INR",
        ] { #expect(share.contains(part), "\(part) in \(share)") }
        let passedOn = try await why("r1-mill", "share")
        #expect(passedOn.contains("all of it goes to its owners: 2.50 INR"), "\(passedOn)")
        let rebuilt = try await why("r1-coop", "community")
        #expect(rebuilt.contains("coop-pv: no interval, rebuilt from its registers"), "\(rebuilt)")
        #expect(try desk.findings() == [])
    }
}
