import ExactAmounts
import Testing

@testable import BooksStore

/// Who moves in, who moves out, and what registers say around it.
@Suite struct `Members of a zone` {
    let desk: Desk

    init() throws { desk = try Desk() }

    private func resource(_ id: String, _ party: String, from: String = "") -> String {
        "{\"id\": \"\(id)\", \"party\": \"\(party)\", \"zone\": \"north\", \"kind\": \"load\"\(from)}"
    }

    private func tellAll(_ block: Int64) async throws {
        for id in ["asha-home", "ravi-home", "coop-pv"] { try await desk.tell(id, block, in: 500) }
    }

    @Test func `a newcomer holds up no block from before, and is settled from its first one on`() async throws
    {
        try await desk.village()
        for block in Int64(0)..<4 { try await tellAll(block) }
        _ = try desk.settle(0..<1)
        let from = Desk.at(2)
        let made = try await desk.done(
            .addResource, resource("new", "asha", from: ", \"from\": \"\(from.text)\""))
        #expect(made.contains("\"from\":\"\(from.text)\""))
        #expect(
            try desk.settle(0..<2).first?.contains("1 blocks settled") == true, "who is new is not waited for"
        )
        let waits = try desk.settle(2..<3)
        #expect(waits == ["nothing to settle: 1 blocks open, 0 frozen", "open: new lacks 1 blocks"])
        let early = try await desk.ask(.addIntervals, Desk.interval("new", 1, 100, 0))
        #expect(early.status == 422 && early.body.contains("belongs to its zone from"), "\(early)")
        try await desk.tell("new", 2, in: 100)
        #expect(try desk.settle(2..<3).first?.contains("1 blocks settled") == true)
        // A correction of what was before is made, and the zone's netto told.
        try await desk.tell("asha-home", 0, in: 900, revision: 1)
        #expect(try desk.settle(0..<1).first?.contains("1 corrected") == true)
        let query = ["zone": "north", "from": Desk.at(0).text, "until": Desk.at(4).text]
        let netto = try await desk.done(.netto, query: query)
        #expect(netto.contains("-1900") && netto.contains("-1500") && netto.contains("-1600"), "\(netto)")
        #expect(netto.contains("null"), "the fourth block lacks the newcomer")
        #expect(try desk.findings() == [])
    }

    @Test func `without a word of it a newcomer belongs from now on; an operator says otherwise`()
        async throws
    {
        try await desk.village()
        try await tellAll(0)
        _ = try desk.settle(0..<1)
        desk.now = Desk.at(7) + 100
        let made = try await desk.done(.addResource, resource("new", "asha"))
        #expect(made.contains("\"from\":\"\(Desk.at(7).text)\""), "\(made)")
        let body = "{\"state\": \"working\", \"from\": \"\(Desk.at(1).text)\"}"
        let own = try await desk.ask(.setResource, body, id: "new", as: Desk.caller(.prosumer, "asha"))
        #expect(own.status == 403, "who is billed does not say from when")
        try await desk.done(.setResource, body, id: "new")
        try await desk.tell("new", 1, in: 100)
        let later = body.replacing(Desk.at(1).text, with: Desk.at(2).text)
        #expect(try await desk.ask(.setResource, later, id: "new").status == 409)
        #expect(
            try await desk.ask(.setResource, body.replacing("00:15:00", with: "00:07:00"), id: "new").status
                == 422)
        #expect(try desk.findings() == [])
    }

    @Test
    func
        `who is taken away in the middle of a day is waited for up to the last word, and owes what it promised`()
        async throws
    {
        try await desk.village()
        desk.now = Desk.start
        try await desk.done(
            .addContract,
            """
            {"id": "c", "kind": "supply", "buyer": "ravi", "resource": "coop-pv", "from": "\(Desk.at(0).text)",
            "until": "\(Desk.at(2).text)", "energy_kwh": 2, "price_inr_per_kwh": 4, "penalty_inr_per_kwh": 2}
            """)
        for event in ["offer", "accept", "activate"] {
            try await desk.done(.contractEvent, "{event: \(event)}", id: "c")
        }
        desk.now = Desk.start + 40 * 86_400
        try await tellAll(0)
        for id in ["asha-home", "ravi-home"] { try await desk.tell(id, 1, in: 500) }
        #expect(try desk.settle(1..<2).first?.contains("1 blocks open") == true)
        let own = Desk.caller(.vendor, "coop")
        #expect(
            try await desk.ask(.setResource, "{state: removed}", id: "coop-pv", as: own).status == 403,
            "who is billed by a meter does not take it away")
        try await desk.done(.setResource, "{state: removed}", id: "coop-pv")
        #expect(try desk.settle(0..<2).first?.contains("2 blocks settled") == true)
        let bill = try await desk.done(.bill, id: "r1-coop")
        #expect(bill.contains("penalty") && bill.contains("\"-4.00\""), "2 kWh not delivered × 2: \(bill)")
        #expect(try desk.findings() == [])
    }

    private func registers(_ rows: [(Int64, Int64)], _ resource: String = "coop-pv") -> String {
        let list = rows.map { block, exported in
            "{\"resource\": \"\(resource)\", \"meter\": \"m\", \"at\": \"\(Desk.at(block).text)\", "
                + "\"import_wh\": 0, \"export_wh\": \(exported)}"
        }
        return "{\"registers\": [\(list.joined(separator: ", "))]}"
    }

    @Test func `registers fill a block alike in every period, of a meter that tells nothing else too`()
        async throws
    {
        try await desk.village()
        for block in Int64(0)..<4 {
            for id in ["asha-home", "ravi-home"] { try await desk.tell(id, block, in: 500) }
        }
        try await desk.done(.addRegisters, registers([(0, 0), (4, 1_000)]))
        let whole = ["from": Desk.at(0).text, "until": Desk.at(4).text]
        let part = ["from": Desk.at(1).text, "until": Desk.at(2).text]
        #expect(
            try await desk.done(.completeness, query: whole).contains("coop-pv") == false,
            "it has told nothing")
        #expect(try desk.settle(1..<2).first?.contains("1 blocks settled") == true)
        #expect(try desk.settle(0..<4).first?.contains("3 blocks settled") == true)
        let why = try await desk.done(.bill, id: "r1-coop")
        #expect(why.contains("\"quantity_wh\":-250"), "a quarter of 1,000 Wh: \(why)")
        try await desk.tell("coop-pv", 3, out: 250)
        #expect(try await desk.done(.completeness, query: part).contains("\"missing\":0,\"substituted\":1"))
        #expect(try desk.findings() == [])
    }

    @Test func `no register is paid that gives more than its resource can`() async throws {
        try await desk.village()
        let device = Desk.caller(.device, "coop")
        try await desk.done(.addRegisters, registers([(0, 0), (1, 20_000)]), as: device)
        let told = try await desk.ask(.addRegisters, registers([(2, 90_000_000)]), as: device)
        #expect(told.status == 422 && told.body.contains("export_max_kw"), "\(told)")
        let between = try await desk.ask(.addRegisters, registers([(0, 0), (3, 60_000)]), as: device)
        #expect(!between.isRefusal)
        // An operator's is taken, and still nothing beyond 80 kW is made of it.
        try await desk.done(.addRegisters, registers([(4, 90_000_000)]))
        for id in ["asha-home", "ravi-home"] { try await desk.tell(id, 3, in: 500) }
        #expect(try desk.settle(3..<4).first?.contains("1 blocks open") == true)
    }

    /// 5 kW draw 1,250 Wh in a quarter, and not one more; a device that says otherwise is not believed.
    @Test func `no interval is billed that draws more than its resource can`() async throws {
        try await desk.village()
        let device = Desk.caller(.device, "ravi")
        for (id, demand) in [("hut", ", \"demand_kw\": 5"), ("mill", "")] {
            try await desk.done(
                .addResource,
                "{\"id\": \"\(id)\", \"party\": \"ravi\", \"zone\": \"north\", \"kind\": \"load\"\(demand)}")
        }
        try await desk.done(.addIntervals, Desk.interval("hut", 0, 1_250, 0), as: device)
        let told = try await desk.ask(.addIntervals, Desk.interval("hut", 1, 1_251, 0), as: device)
        #expect(told.status == 422 && told.body.contains("1250 Wh by its demand_kw"), "\(told)")
        try await desk.done(.addIntervals, Desk.interval("hut", 1, 1_251, 0))
        try await desk.done(.addIntervals, Desk.interval("mill", 0, 90_000, 0), as: device)
    }

    /// 5 kW draw 1,250 Wh in a quarter: 2,500 in two, and not one more; without `demand_kw` 10¹¹ Wh.
    @Test(arguments: [
        (true, Int64(2_500), true), (true, 2_501, false), (true, 1 << 60, false),
        (false, 200_000_000_000, true), (false, 200_000_000_001, false), (false, 1 << 60, false),
    ])
    func `a gap with more than its resource can draw stays open and is named, and the rest is settled`(
        isBounded: Bool, drawn: Int64, isFilled: Bool
    ) async throws {
        try await desk.village()
        try await desk.done(.addZone, #"{"id": "south", "grid": "grid", "operator": "op"}"#)
        let demand = isBounded ? ", \"demand_kw\": 5" : ""
        try await desk.done(
            .addResource,
            "{\"id\": \"hut\", \"party\": \"asha\", \"zone\": \"south\", \"kind\": \"load\"\(demand)}")
        func reading(_ block: Int64, _ imported: Int64) -> String {
            "{\"resource\": \"hut\", \"meter\": \"M 7\", \"at\": \"\(Desk.at(block).text)\", "
                + "\"import_wh\": \(imported), \"export_wh\": 0}"
        }
        try await desk.done(
            .addRegisters, "{\"registers\": [\(reading(1, 0)), \(reading(3, drawn))]}",
            as: Desk.caller(.device, "asha"))
        for block in Int64(0)..<4 { try await tellAll(block) }
        for block in [Int64(0), 3] { try await desk.tell("hut", block, in: 100) }
        let told = try desk.settle(0..<4)
        #expect(told.first?.contains(isFilled ? "8 blocks settled" : "6 blocks settled") == true, "\(told)")
        let named = told.filter {
            $0.contains("hut, meter M 7 counted \(drawn) Wh in") && $0.contains(Desk.at(1).text)
        }
        #expect(named.count == (isFilled ? 0 : 1), "\(told)")
        if !isFilled {
            for block in Int64(1)..<3 { try await desk.tell("hut", block, in: 100) }
            #expect(try desk.settle(0..<4).first?.contains("2 blocks settled") == true, "told, it is settled")
        }
        #expect(try desk.findings() == [])
    }

    @Test func `nothing is certified beyond what was frozen`() async throws {
        try await desk.village()
        for id in ["asha-home", "ravi-home"] { try await desk.tell(id, 0, in: 500) }
        try await desk.tell("coop-pv", 0, out: 1_000)
        _ = try desk.settle(0..<1)
        #expect(try SettleJob.freeze(desk.queue, before: Desk.at(1)) == Desk.at(1))
        #expect(
            try SettleJob.freeze(desk.queue, before: Desk.at(0)) == Desk.at(1),
            "an earlier wish opens nothing")
        try await desk.tell("coop-pv", 0, out: 7_000, revision: 1)
        #expect(try desk.balance("Assets:Party:Coop:Certificates", "CWH") == 1_000)
        try await desk.tell("coop-pv", 0, out: 300, revision: 2)
        #expect(try desk.balance("Assets:Party:Coop:Certificates", "CWH") == 300, "never above its export")
        #expect(try desk.settle(0..<1).first?.contains("1 frozen") == true)
        #expect(try desk.findings() == [])
    }
}
