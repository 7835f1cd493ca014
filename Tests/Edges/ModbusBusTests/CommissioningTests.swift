import DeviceCodecs
import LinuxIO
import ModbusBus
import ModbusCommissioning
import Quantities
import Testing

@Suite struct `A person's look at Modbus devices` {
    struct Row: Sendable {
        var text: String
        var device: String?
        var why: String
    }
    // swift-format-ignore
    static let links: [Row] = [
        Row(text: "tcp://10.0.0.5:1502", device: "10.0.0.5:1502", why: "address and port"),
        Row(text: "tcp://10.0.0.5",      device: "10.0.0.5:502",  why: "502 without a port"),
        Row(text: "tcp://[::1]:1502",    device: "::1:1502",      why: "brackets keep an address of colons together"),
        Row(text: "/dev/ttyUSB0",        device: "/dev/ttyUSB0",  why: "a path is a serial port"),
        Row(text: "10.0.0.5",            device: nil,             why: "it must be said that it is TCP"),
        Row(text: "tcp://10.0.0.5:0",    device: nil,             why: "no such port"),
        Row(text: "tcp://10.0.0.5:abc",  device: nil,             why: "no number"),
        Row(text: "tcp://",              device: nil,             why: "nothing"),
    ]
    @Test(arguments: links) func `a link is typed as its address`(row: Row) {
        #expect(ModbusEndpoint(typed: row.text)?.name == row.device, "\(row.why)")
    }

    // swift-format-ignore
    static let units: [(String, [UInt8]?)] = [
        ("1", [1]), ("1-3,126", [1, 2, 3, 126]), ("2,1-3", [2, 1, 3]), ("0-255", Array(0...255)),
        ("", nil), ("3-1", nil), ("256", nil), ("1-2-3", nil), ("1,,2", nil), ("a", nil),
    ]
    @Test(arguments: units) func `unit numbers are a list of ranges`(text: String, expected: [UInt8]?) {
        #expect(UnitList.parse(text) == expected)
    }

    @Test(arguments: [40_000, 0, 50_000])
    func `a scan of pymodbus's device finds its models and values, over TCP at every base address`(
        base: Int
    ) throws {
        let peer = try Peer("sunspec_device.py", ["tcp", "--base", "\(base)", "--units", "2,3"])
        try peer.ask("mode silent 2")
        var client = try client(peer)
        let lines = try scan(&client, units: [2, 3])
        #expect(lines.contains("unit 3: SunSpec at \(base), 7 models"))
        #expect(!lines.contains { $0.hasPrefix("unit 2:") }, "nobody is there")
        #expect(lines.contains { $0.hasPrefix("  64001 unknown: 3 registers behind") })
        #expect(lines.contains { $0.hasSuffix(" Mn Ballast Test") })
        #expect(lines.contains { $0.hasSuffix(" W -12340 W") }, "scaled")
        #expect(lines.contains { $0.hasSuffix(" Hz 49.985 Hz") }, "as many digits as the scale has")
        #expect(lines.contains { $0.hasSuffix(" InvSt 3 RUNNING") })
        #expect(lines.contains { $0.hasSuffix(" WSetEna* 0 DISABLED") }, "the star: it can be written")
        #expect(!lines.contains { $0.contains(" TmpAmb ") }, "not implemented")
    }

    @Test func `a scan finds devices on a serial line, and what does not answer costs a time-out alone`()
        throws
    {
        let peer = try Peer("sunspec_device.py", ["rtu", "--units", "1,2"])
        try peer.ask("mode silent 1")
        let link = try #require(ModbusEndpoint(typed: peer.name, line: SerialLine(baud: 115_200)))
        var client = try CommissioningClient(link, timeout: .milliseconds(300))
        let lines = try scan(&client, units: [1, 2])
        #expect(lines.first == "unit 2: SunSpec at 40000, 7 models")
        #expect(lines.contains { $0.hasSuffix(" SoC 50.0 Pct") })
    }

    @Test func `a point is written with its scale, and registers as they are`() throws {
        let peer = try Peer("sunspec_device.py", ["tcp"])
        var client = try client(peer)
        let write = try client.plan(unit: 1, model: 704, path: "WSet", -250_000)
        #expect(write.values == [0xFFFF, 0x9E58], "in tens of watts: the device's WSet_SF is 1")
        #expect(try client.current(write) == [0, 0])
        try client.perform(write)
        #expect(try peer.setpoint() == -25_000)
        let raw = PlannedWrite(unit: 1, isCoils: false, address: write.address, values: [0, 7])
        try client.perform(raw)
        #expect(try peer.setpoint() == 7)
        for (model, path, number) in [
            (UInt16(704), "WSet", 1e12), (704, "WSetRvrtRem", 1), (704, "Nothing", 1), (999, "W", 1),
        ] {
            #expect(throws: WriteFault.self) {
                try client.plan(unit: 1, model: model, path: path, number)
            }
        }
    }

    private func client(_ peer: Peer) throws -> CommissioningClient {
        let link = try #require(ModbusEndpoint(typed: "tcp://127.0.0.1:\(peer.name)"))
        return try CommissioningClient(link, timeout: .seconds(2))
    }

    private func scan(_ client: inout CommissioningClient, units: [UInt8]) throws -> [String] {
        var lines: [String] = []
        _ = try LinkScan(units: units).run(
            &client, progress: { _ in }, out: { lines.append($1.text(of: $0)) })
        return lines
    }
}
