import LinuxIO
import ModbusBus
import Quantities
import Testing

@testable import SafeOutput

@Suite struct WirePlanTests {
    static let line = ModbusAddress.serial(device: "/dev/ttyUSB0", baud: 9_600, parity: .even, stopBits: 1)
    static let network = ModbusAddress.tcp(host: "192.0.2.7", port: 502)

    static func power(_ device: UInt8, of owner: String = "BESS_01", timeout: Duration = .milliseconds(250))
        -> WirePlan.Write
    {
        WirePlan.Write(
            owner: owner, device: device, address: 40_381, values: .registers([0, 0]), timeout: timeout)
    }

    static func coils(_ device: UInt8, of owner: String = "BESS_01") -> WirePlan.Write {
        WirePlan.Write(
            owner: owner, device: device, address: 0, values: .coilsOff(4), timeout: .milliseconds(100))
    }

    static var single: WirePlan.Write {
        WirePlan.Write(
            owner: "BESS_03", device: 3, address: 65_535, values: .register(0), timeout: .milliseconds(250))
    }

    static var plan: WirePlan {
        WirePlan(links: [
            WirePlan.Link(network, writes: [coils(9), power(1)]),
            WirePlan.Link(line, writes: [power(2, of: "BESS_02"), single]),
        ])
    }

    @Test func `a plan comes back from its file as it was written`() throws {
        let plan = Self.plan
        #expect(WirePlan(bytes: plan.bytes) == plan)
        #expect(WirePlan(bytes: WirePlan().bytes) == WirePlan())
        let text = String(decoding: plan.bytes, as: UTF8.self)
        #expect(text.contains("registers BESS_01 unit 1 timeout_ms 250 at 40381 = 0 0\n"))
    }

    @Test func `no cut and no changed byte of a plan is taken for a plan`() {
        let bytes = Self.plan.bytes
        for count in 0..<bytes.count { #expect(WirePlan(bytes: Array(bytes[..<count])) == nil, "\(count)") }
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 1
            #expect(WirePlan(bytes: changed) == nil, "byte \(index)")
        }
    }

    @Test func `power goes before contactors, whatever came first into the plan`() {
        #expect(Self.plan.links[0].writes.map(\.device) == [1, 9])
    }

    @Test func `what was learnt anew replaces what was known, and what is missing is filled`() {
        var plan = WirePlan(links: [WirePlan.Link(Self.network, writes: [Self.power(1)])])
        var moved = Self.power(1)
        moved.address = 100
        plan.put(moved, on: Self.network)
        #expect(plan.links[0].writes == [moved])
        plan.fill(from: Self.plan)
        #expect(plan.links[0].writes == [moved, Self.coils(9)], "its own place of the registers holds")
        #expect(plan.links[1] == Self.plan.links[1])
    }

    // swift-format-ignore
    static let bounds: [(link: WirePlan.Link, first: Int, worst: Int, why: Comment)] = [
        (WirePlan.Link(network, writes: [power(1)]),           50,  920, "2 × 250 ms, and 6 connections of 50 + 20 ms"),
        (WirePlan.Link(line, writes: [power(1)]),              20,  539, "17 characters of 11 bits at 9600: 19.5 ms, twice with 250 ms"),
        (WirePlan.Link(line, writes: [power(1), power(2)]),    20, 1_078, "each device adds its own"),
        (WirePlan.Link(line, writes: [power(1), coils(2)]),    20,  971, "coils wait up to 200 ms for the power of other links"),
    ]

    @Test(arguments: bounds)
    func `the worst case of a link is known beforehand`(
        link: WirePlan.Link, first: Int, worst: Int, why: Comment
    ) {
        #expect(Int(link.firstWrite.milliseconds.rounded(.up)) == first, why)
        #expect(Int(link.worstCase.milliseconds.rounded()) == worst, why)
    }
}
