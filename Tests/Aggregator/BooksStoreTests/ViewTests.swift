import BooksSupport
import ExactAmounts
import Testing

@testable import BooksStore

@Suite struct `What is seen of the books` {
    let desk: Desk

    init() throws { desk = try Desk() }

    private static let hour = ["from": Desk.at(0).text, "until": Desk.at(4).text]

    @Test func `a source's efficiency, availability and expectation, and the demand of the days before`()
        async throws
    {
        try await desk.village()
        // 80 kW could give 80 kWh in the hour; of its four blocks three are known.
        for block in Int64(0)..<3 { try await desk.tell("coop-pv", block, out: 10_000) }
        let forecast = Desk.interval("coop-pv", 0, 0, 40_000).replacing(
            "{\"res", with: "{\"kind\": \"forecast\", \"res")
        try await desk.done(.addIntervals, forecast)
        let text = try await desk.done(
            .performance, id: "coop-pv", query: Self.hour, as: Desk.caller(.vendor, "coop"))
        for part in [
            "\"exported_wh\":30000", "\"possible_wh\":80000", "\"efficiency\":0.3750",
            "\"availability\":0.7500",
            "\"expected_wh\":40000", "\"produced_of_expected\":0.7500", "\"round_trip\":null",
        ] { #expect(text.contains(part), "\(part) in \(text)") }
        // Two days at 00:00: 100 and 201 Wh, whose mean is even.
        try await desk.tell("ravi-home", 0, in: 100)
        try await desk.tell("ravi-home", 96, in: 201)
        let demand = try await desk.done(
            .performance, id: "ravi-home", query: ["from": Desk.at(0).text, "until": Desk.at(192).text])
        #expect(demand.contains("\"predicted_demand_wh\":{\"00:00\":150}"), "\(demand)")
        try await desk.done(
            .setResource, "{state: maintenance, next_maintenance_on: 2027-01-31}", id: "coop-pv",
            as: Desk.caller(.vendor, "coop"))
        #expect(try await desk.done(.resources).contains("\"next_maintenance_on\":\"2027-01-31\""))
    }

    @Test
    func `a bill says where its energy came from and what it costs the air; what is not known is not 0`()
        async throws
    {
        try await desk.village()
        try await desk.tell("ravi-home", 0, in: 4_000)
        try await desk.tell("asha-home", 0, out: 1_000)
        try await desk.tell("coop-pv", 0, out: 2_000)
        _ = try desk.settle(0..<1)
        let bill = try await desk.done(.bill, id: "r1-ravi")
        // 1 kWh of the grid at 716 g; of the community's 3 a third came through a meter that nobody sees behind.
        for part in [
            #"{"origin":"grid","energy_wh":1000,"carbon_g":716.000}"#,
            #"{"origin":"pv","energy_wh":2000,"carbon_g":82.000}"#,
            #"{"origin":"mixed","energy_wh":1000,"carbon_g":null}"#, #""carbon_mark":"illustrative""#,
        ] { #expect(bill.contains(part), "\(part) in \(bill)") }
    }

    @Test func `three views of the same books, and the calls of contract interfaces as data`() async throws {
        try await desk.village()
        for block in Int64(0)..<2 {
            try await desk.tell("asha-home", block, in: 500)
            try await desk.tell("ravi-home", block, in: 500)
            try await desk.tell("coop-pv", block, out: 900)
        }
        _ = try desk.settle(0..<2)
        try await desk.tell("coop-pv", 0, out: 800, revision: 1)
        _ = try desk.settle(0..<2)
        let grid = try await desk.done(.view, id: "grid")
        #expect(
            grid.contains("\"export_wh\":800,\"import_wh\":1000,\"grid_wh\":200"),
            "the corrected block: \(grid)")
        #expect(try await desk.ask(.view, id: "grid", as: Desk.caller(.prosumer, "asha")).status == 403)
        let own = try await desk.done(.view, id: "prosumer", as: Desk.caller(.vendor, "coop"))
        #expect(own.contains("\"party\":\"coop\"") && !own.contains("\"party\":\"asha\""))
        #expect(try await desk.ask(.view, id: "other").status == 404)
        let calls = try await desk.done(.interfaceCalls, query: Self.hour)
        for name in [
            "registerSource", "recordProduction", "registerConsumer", "recordUsage", "updateGridState",
            "handlePeakDemand", "calculateBill",
        ] { #expect(calls.contains("\"call\":\"\(name)\""), "\(name)") }
        #expect(
            calls.contains("\"source\":\"coop-pv\",\"start_s\":\(Desk.at(0).seconds),\"export_wh\":800"),
            "\(calls)")
        #expect(try desk.findings() == [])
    }
}
