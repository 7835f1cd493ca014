import DeviceCodecs
import LinuxIO
import ModbusBus
import Quantities
import Testing

@testable import SafeOutput

@Suite struct WirePlanTests {
    static let line = ModbusEndpoint.serial(
        device: "/dev/ttyUSB0", line: SerialLine(baud: 9_600, parity: .even))
    static let network = ModbusEndpoint.tcp(host: "192.0.2.7", port: 502)

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

    static let looks = [
        WirePlan.Look(
            owner: "BESS_01", device: 1, side: .ac,
            place: ModbusValuePlace(.holding, 40_084, .int16, scaleAddress: 40_190),
            timeout: .milliseconds(250), nearZero: Watts(2_000.5)),
        WirePlan.Look(
            owner: "BESS_01", device: 1, side: .dc,
            place: ModbusValuePlace(.input, 13_021, .float32, isLowWordFirst: true, factor: -0.1),
            timeout: .milliseconds(250), nearZero: Watts(3_000)),
    ]

    static var plan: WirePlan {
        WirePlan(links: [
            WirePlan.Link(network, writes: [coils(9), power(1)], looks: looks),
            WirePlan.Link(line, writes: [power(2, of: "BESS_02"), single]),
        ])
    }

    @Test func `a plan comes back from its file as it was written`() throws {
        let plan = Self.plan
        #expect(WirePlan(bytes: plan.bytes) == plan)
        #expect(WirePlan(bytes: WirePlan().bytes) == WirePlan())
        let text = String(decoding: plan.bytes, as: UTF8.self)
        #expect(text.contains("registers BESS_01 unit 1 timeout_ms 250 at 40381 = 0 0\n"))
        #expect(plan.links[0].looks == Self.looks)
        #expect(
            text.contains(
                "look BESS_01 unit 1 timeout_ms 250 at 40084 = ac holding int16 high scale_at 40190"))
    }

    @Test func `what a line needs besides its speed is in the plan`() {
        var line = SerialLine(baud: 19_200)
        (line.isRS485, line.echoes, line.isLowLatency, line.gap) = (true, true, false, .milliseconds(8))
        let plan = WirePlan(links: [
            WirePlan.Link(.serial(device: "/dev/ttyS1", line: line), writes: [Self.power(2)])
        ])
        #expect(WirePlan(bytes: plan.bytes) == plan)
        #expect(
            String(decoding: plan.bytes, as: UTF8.self).contains(
                "rtu /dev/ttyS1 19200 none 1 rs485 echo usual_latency gap_us 8000\n"))
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
        #expect(plan.links[0].looks.isEmpty, "where it shows its power was not learnt with its own write")
        var empty = WirePlan()
        empty.fill(from: Self.plan)
        #expect(empty == Self.plan)
        #expect(Self.plan.filtered { _, write in write.isCoils }.links[0].looks.isEmpty)
        #expect(Self.plan.filtered { _, write in !write.isCoils }.links[0].looks == Self.looks)
    }

    // swift-format-ignore
    static let bounds: [(link: WirePlan.Link, first: Int, worst: Int, why: Comment)] = [
        (WirePlan.Link(network, writes: [power(1)]),           50,  920, "2 × 250 ms, and 6 connections of 50 + 20 ms"),
        (WirePlan.Link(line, writes: [power(1)]),              19,  538, "16.5 characters of 11 bits at 9600: 18.9 ms, twice with 250 ms"),
        (WirePlan.Link(line, writes: [power(1), power(2)]),    19, 1_076, "each device adds its own"),
        (WirePlan.Link(line, writes: [power(1), coils(2)]),    19,  884, "coils are looked at, and written twice"),
    ]

    @Test(arguments: bounds)
    func `the worst case of a link is known beforehand`(
        link: WirePlan.Link, first: Int, worst: Int, why: Comment
    ) {
        #expect(Int(link.firstWrite.milliseconds.rounded(.up)) == first, why)
        #expect(Int(WirePlan(links: [link]).worstCase(of: link).milliseconds.rounded()) == worst, why)
    }

    // swift-format-ignore
    static let waits: [(wait: Int, worst: Int, why: Comment)] = [
        (1,   2_640, "the other link's 920 ms, 1 s, and the coils' own 720 ms"),
        (10, 11_640, "the inverter's reversion where nothing is seen"),
        (60, 15_720, "never beyond what the service manager bears: then the module's watchdog opens them"),
    ]

    @Test(arguments: waits)
    func `coils wait for the power of another link, and not for ever`(wait: Int, worst: Int, why: Comment) {
        var coils = Self.coils(9)
        coils.wait = .seconds(wait)
        let module = WirePlan.Link(.tcp(host: "192.0.2.8", port: 502), writes: [coils])
        let plan = WirePlan(links: [WirePlan.Link(Self.network, writes: [Self.power(1)]), module])
        #expect(Int(plan.worstCase(of: module).milliseconds.rounded()) == worst, why)
    }
}
