import BooksSupport
import ExactAmounts
import Testing

@testable import BooksStore

@Suite struct `What is seen of the books` {
    let desk: Desk

    init() throws { desk = try Desk() }

    private func one(_ call: String) -> [String: String] { Self.hour.merging(["name": call]) { $1 } }

    private static let registered =
        "\"data\":\"0x39a167fd" + word("80") + word("c0") + word("13880") + word("100") + word("7")
        + "636f6f702d707600" + String(repeating: "0", count: 48) + word("2") + "7076"
        + String(repeating: "0", count: 60) + word("4") + "636f6f70" + String(repeating: "0", count: 56)
        + "\""

    private static func word(_ digits: String) -> String {
        String(repeating: "0", count: 64 - digits.count) + digits
    }

    @Test func `call data is what Solidity's ABI says`() {
        #expect(
            BooksHistory.hexadecimal(Keccak.digest([]))
                == "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470")
        let a = UInt8(ascii: "a")
        #expect(
            BooksHistory.hexadecimal(Keccak.digest([UInt8](repeating: a, count: 136)))
                == "a6c4d403279fe3e0af03729caada8374b5ca54d8065329a3ebcaeb4b60aa386e")
        #expect(
            BooksHistory.hexadecimal(Keccak.digest([UInt8](repeating: a, count: 135)))
                == "34367dc248bbd832f4e3e69dfaac2f92638bd0bbd18f2912ba4ef454919cf446")
        let transfer = Keccak.digest(Array("transfer(address,uint256)".utf8)).prefix(4)
        #expect(BooksHistory.hexadecimal(transfer) == "a9059cbb")
        let stored = CallData.hexadecimal(
            "manageStorage", [.text(String(repeating: "b", count: 33)), .number(-5), .number(.min)])
        #expect(
            stored == "0x2dc1f4fc" + Self.word("60") + String(repeating: "f", count: 63) + "b"
                + String(repeating: "f", count: 48) + "8000000000000000" + Self.word("21")
                + String(repeating: "62", count: 33) + String(repeating: "0", count: 62))
    }

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
            "registerSource", "updateSourceStatus", "recordProduction", "getSourceEfficiency",
            "registerConsumer", "recordUsage", "predictDemand", "getUsageHistory", "updateGridState",
            "handlePeakDemand", "getGridMetrics", "calculateBill",
        ] { #expect(calls.contains("\"call\":\"\(name)\""), "\(name)") }
        let metrics = try await desk.done(.interfaceCalls, query: one("getGridMetrics"))
        #expect(
            metrics.contains(
                "\"zone\":\"north\",\"blocks\":2,\"export_wh\":1700,\"import_wh\":2000,\"grid_wh\":300,"),
            "\(metrics)")
        #expect(!metrics.contains("registerSource"))
        let efficiency = try await desk.done(.interfaceCalls, query: one("getSourceEfficiency"))
        #expect(
            efficiency.contains("\"source\":\"coop-pv\",\"exported_wh\":1700,\"possible_wh\":80000"),
            "\(efficiency)")
        let sources = try await desk.done(.interfaceCalls, query: one("registerSource"))
        // As PyPI's eth-abi and pycryptodome make it of ("coop-pv", "pv", 80000, "coop").
        #expect(sources.contains(Self.registered), "\(sources)")
        #expect(try await desk.ask(.interfaceCalls, query: one("selfDestruct")).status == 400)
        #expect(
            calls.contains("\"source\":\"coop-pv\",\"start_s\":\(Desk.at(0).seconds),\"export_wh\":800"),
            "\(calls)")
        #expect(try desk.findings() == [])
    }
}
