import DeviceCodecs
import Quantities
import SiteConfig
import SiteFile
import Testing
import YAMLText

@testable import BallastDaemon
@testable import ModbusBus

/// What a write to the site as a SunSpec device means.
@Suite struct SunSpecProxyTests {
    static func site() throws -> SiteConfig {
        let text = """
            mode: simulation
            bess_units: [{id: A, campus_id: C, capacity_kwh: 100, max_power_kw: 60, modbus: {host: h}},
                         {id: B, campus_id: C, capacity_kwh: 100, max_power_kw: 40, modbus: {host: i}}]
            modbus_server: {writers: [10.0.0.9], lease_s: 30}
            """
        return try SiteConfig.read(try YAMLText.parse(Array(text.utf8), file: "s"), file: "s")
    }

    static func proxy() throws -> SunSpecProxy {
        let site = try site()
        return SunSpecProxy(try #require(site.modbusServer), site: site)
    }

    static let start = MonotonicTime(nanoseconds: 1_000_000_000)
    /// Of model 704.
    static let controls = 40_000 + 2 + 68 + 155 + 52

    static func write(_ offset: Int, _ values: [UInt16], from client: String = "10.0.0.9") -> ModbusWrite {
        var write = ModbusWrite(
            unit: 1, table: .registers, address: UInt16(controls + offset), values: values)
        write.client = client
        return write
    }

    typealias Verdict = SunSpecProxy.Verdict
    // swift-format-ignore
    static let alone: [(offset: Int, values: [UInt16], verdict: Verdict, why: Comment)] = [
        (24, [0, 5_000],             .taken(nil),                      "a value without its enable asks nothing yet"),
        (22, [1],                    .taken(.ask(.zero, for: .seconds(30))), "enabled: the lease is lease_s"),
        (22, [1, 1, 0, 5_000],       .taken(.ask(Watts(5_000), for: .seconds(30))), "one block"),
        (22, [1, 1, 0xFFFF, 0xEC78, 0, 0, 0, 0, 0, 0, 7], .taken(.ask(Watts(-5_000), for: .seconds(7))), "its own time"),
        (22, [1, 1, 0, 5_000, 0, 0, 0, 0, 0, 0, 31],      .refused(3), "longer than lease_s"),
        (22, [1, 1, 1, 0x86A1],      .refused(3),                      "100 001 W is more than the site has"),
        (22, [1, 1, 1, 0x86A0],      .taken(.ask(Watts(100_000), for: .seconds(30))), "100 000 W is not"),
        (22, [2],                    .refused(3),                      "no such flag"),
        (23, [0],                    .refused(3),                      "percent"),
        (26, [0, 1],                 .refused(3),                      "it reverts to what the site says, never to this"),
        (30, [1],                    .refused(3),                      "after the lease it is disabled"),
        (25, [1],                    .refused(3),                      "half a number"),
        (14, [1],                    .refused(2),                      "WMaxLimPctEna"),
        (33, [0, 0],                 .refused(2),                      "WSetRvrtRem"),
        (31, [0, 5, 0],              .refused(2),                      "beyond the end"),
        (-52, [1],                   .refused(2),                      "702"),
    ]
    @Test(arguments: alone) func `one write is judged by itself`(
        row: (offset: Int, values: [UInt16], verdict: Verdict, why: Comment)
    ) throws {
        var proxy = try Self.proxy()
        #expect(proxy.write(Self.write(row.offset, row.values), at: Self.start) == row.verdict, row.why)
    }

    @Test func `nobody but the writers is heard`() throws {
        var proxy = try Self.proxy()
        #expect(proxy.write(Self.write(22, [1], from: "10.0.0.8"), at: Self.start) == .refused(1))
        #expect(proxy.write(Self.write(22, [1], from: ""), at: Self.start) == .refused(1))
    }

    @Test func `a value renews the lease, its end disables it, and only its enable begins another`() throws {
        var proxy = try Self.proxy()
        let now = Self.start
        func shown(_ offset: Int, _ time: Duration) -> UInt16 {
            proxy.registers(nil, at: now + time)[Self.controls - 40_000 + offset]
        }
        _ = proxy.write(Self.write(31, [0, 10]), at: now)
        #expect(proxy.write(Self.write(22, [1]), at: now) == .taken(.ask(.zero, for: .seconds(10))))
        #expect(shown(22, .seconds(9)) == 1 && shown(34, .seconds(4)) == 6)
        #expect(
            proxy.write(Self.write(24, [0, 7]), at: now + .seconds(9))
                == .taken(.ask(Watts(7), for: .seconds(10))))
        #expect(shown(22, .seconds(18)) == 1)
        #expect(shown(22, .seconds(19)) == 0, "over")
        #expect(proxy.write(Self.write(24, [0, 9]), at: now + .seconds(20)) == .taken(nil))
        #expect(proxy.write(Self.write(22, [0]), at: now + .seconds(20)) == .taken(nil), "there is no lease")
        #expect(
            proxy.write(Self.write(22, [1]), at: now + .seconds(21))
                == .taken(.ask(Watts(9), for: .seconds(10))))
        #expect(proxy.write(Self.write(22, [0]), at: now + .seconds(22)) == .taken(.release))
    }

    @Test func `without a fresh status nothing is measured, and the chain is whole`() throws {
        var proxy = try Self.proxy()
        let registers = proxy.registers(nil, at: Self.start)
        var scan = SunSpecScan(bases: [40_000])
        while case .read(let address, let count) = scan.next {
            let first = Int(address) - 40_000
            registers[first..<(first + count)].withUnsafeBufferPointer { scan.answered($0) }
        }
        guard case .found(let map) = scan.next else { return #expect(Bool(false), "a chain") }
        #expect(map.models.map(\.id) == [1, 701, 702, 704, 713] && map.end == .marker)
        let place = try #require(map.first(701))
        registers[(Int(place.start) - 40_000)...].withUnsafeBufferPointer { buffer in
            let block = SunSpecBlock(buffer, length: place.length)
            #expect(block.value(SunSpecACMeasurement.activePower) == .notImplemented)
            #expect(block.value(SunSpecACMeasurement.frequency) == .notImplemented)
        }
    }

    // swift-format-ignore
    static let bad: [(String, String)] = [
        ("{writers: [somebody]}", "expected an IPv4 address"), ("{address: '::'}", "is not allowed"),
        ("{writers: 10.0.0.1}", "expected a list"), ("{connections: 0}", "outside 1 … 32"),
        ("{lease_s: 0}", "outside 1 … 3600"), ("{ports: 5}", "did you mean port?"), ("{writers: [10.0.0.01]}", "expected an IPv4"),
    ]
    @Test(arguments: bad) func `a server that cannot be right is refused with its key`(
        section: String, part: String
    ) throws {
        let text =
            "mode: simulation\nmodbus_server: \(section)\n"
            + "bess_units: [{id: A, campus_id: C, capacity_kwh: 100, max_power_kw: 60, modbus: {host: h}}]\n"
        do {
            _ = try SiteConfig.read(try YAMLText.parse(Array(text.utf8), file: "s"), file: "s")
            Issue.record("accepted")
        } catch {
            #expect("\(error)".contains("s:2:") && "\(error)".contains(part), "\(error)")
        }
    }
}
