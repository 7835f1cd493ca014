import DeviceCodecs
import DeviceDrivers
import Foundation
import LinuxIO
import ModbusBus
import ModbusCommissioning
import Plant
import Quantities
import SiteConfig
import Testing
import YAMLText

private let short = Duration.milliseconds(500)

/// Devices without SunSpec: the shipped examples against pymodbus with the same registers.
@Suite(.serialized) struct `A device by its driver file` {
    static func shipped(_ name: String) throws -> RegisterMap {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("config/drivers")
        return try read(String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8), name)
    }

    static func read(_ text: String, _ name: String = "driver.yaml") throws -> RegisterMap {
        try RegisterMap.read(try YAMLText.parse(Array(text.utf8), file: name), file: name)
    }

    @Test func `a hybrid inverter is taken over, driven, watched and left at zero`() throws {
        let peer = try Peer("register_device.py", ["hybrid"])
        let link = try Link.tcp(peer)
        let inverter = link.addInverter(
            reversion: .seconds(3), driver: try Self.shipped("hybrid-inverter.yaml"))
        link.start()
        inverter.ask(Watts(-70_000), for: .seconds(600))
        try eventually("it charges: + in the device is - in ours") {
            inverter.image.activePower.fresh(at: .now(), within: short) == Watts(-70_000)
        }
        #expect(try peer.ask("get holding 13051 int32") == "70000", "low word first")
        #expect(try peer.ask("get holding 13049") == "3" && peer.ask("get holding 13053") == "3")
        let frequency = try #require(inverter.image.frequency.fresh(at: .now(), within: short))
        #expect((frequency - Hertz(49.98)).magnitude < Hertz(1e-9))
        #expect(inverter.image.dcVoltage.fresh(at: .now(), within: short) == Volts(751.2))
        try eventually("its state is read, at a turn of its own") {
            inverter.image.state.fresh(at: .now(), within: short) == .running
        }
        try eventually("its rating is read") {
            inverter.image.ratedPower.fresh(at: .now(), within: .seconds(60)) == Watts(50_000)
        }
        try eventually("its heart beats") { try Int(peer.ask("get holding 13054")).map { $0 >= 2 } ?? false }
        try peer.ask("set holding 13049 0")
        try eventually("another hand on its mode is seen and put right") {
            try link.talk.status.overrides >= 1 && peer.ask("get holding 13049") == "3"
        }
        try peer.ask("set holding 13051 -1234 int32")
        try eventually("and on its setpoint") { try peer.ask("get holding 13051 int32") == "70000" }
        inverter.ask(Watts(5_000), for: .milliseconds(300))
        try eventually("discharge") { try peer.ask("get holding 13051 int32") == "-5000" }
        try eventually("nothing when nobody renews it") { try peer.ask("get holding 13051 int32") == "0" }
        inverter.ask(Watts(5_000), for: .seconds(600))
        try eventually("again") { try peer.ask("get holding 13051 int32") == "-5000" }
        link.finish()
        #expect(try peer.ask("get holding 13051 int32") == "0")
        for address in [13_100, 13_060] {
            #expect(try peer.ask("touched holding \(address)") == "0", "\(address)")
        }
    }

    @Test func `a hybrid inverter that knows function 6 only is driven with 16-bit setpoints`() throws {
        let peer = try Peer("register_device.py", ["hybrid", "--no-fc16"])
        let map = try Self.read(
            """
            {name: six, kind: inverter, write_single: true, rated_power_kw: 50, registers: [
             {name: active_power, address: 13021, table: input, type: int32, word_order: low_first, poll: fast},
             {name: mode, address: 13049, access: read_write},
             {name: power, address: 13051, type: int16, access: read_write}],
             control: {setpoint: power, reversion: zero, hold_s: 3, takeover: [{register: mode, value: 3}]}}
            """)
        let link = try Link.tcp(peer)
        let inverter = link.addInverter(reversion: .seconds(30), driver: map)
        link.start()
        defer { link.finish() }
        inverter.ask(Watts(-5), for: .seconds(600))
        try eventually("one register by function 6") { try peer.ask("get holding 13051") == "65531" }
        let before = link.talk.status.writes
        try eventually("rewritten by the device's own time, not by the site's") {
            link.talk.status.writes >= before + 3
        }
    }

    @Test func `a meter tells power, frequency and voltage`() throws {
        let peer = try Peer("register_device.py", ["meter"])
        try peer.ask("set input 52 12500 float")
        let link = try Link.tcp(peer)
        let meter = link.addMeter(driver: try Self.shipped("energy-meter.yaml"))
        link.start()
        defer { link.finish() }
        try eventually("all three") {
            meter.image.activePower.fresh(at: .now(), within: short) == Watts(-12_500)
                && (meter.image.frequency.fresh(at: .now(), within: short)?.value ?? 0) > 49.969
                && meter.image.voltage.fresh(at: .now(), within: short) == Volts(230.5)
        }
        try peer.ask("set input 70 nan float")
        try eventually("no number is no frequency") {
            meter.image.frequency.fault(at: .now(), within: short) == .notImplemented
        }
        #expect(try peer.ask("touched holding 24") == "0", "a password is nobody's business")
    }

    @Test func `a person reads it by its driver, and what drives or protects it is refused`() throws {
        let peer = try Peer("register_device.py", ["hybrid"])
        let map = try Self.shipped("hybrid-inverter.yaml")
        let endpoint = try #require(ModbusEndpoint(typed: "tcp://127.0.0.1:\(peer.name)"))
        var client = try CommissioningClient(endpoint, timeout: .seconds(2))
        let lines = try client.read(unit: 1, map).map(\.text)
        for line in ["13035 frequency 49.98 Hz", "13000 state 0 standby", "13060 max_voltage 800.0 V"] {
            #expect(lines.contains(line), "\(line)")
        }
        #expect(!lines.contains { $0.contains("alive") }, "it can only be written")
        let link = try Link.tcp(peer)
        _ = link.addInverter(driver: map)
        link.start()
        defer { link.finish() }
        // swift-format-ignore
        let rows: [(UInt16, [UInt16], ModbusServiceOutcome, Comment)] = [
            (13_051, [1],    .driven,    "the setpoint"),
            (13_050, [1, 1], .driven,    "into the setpoint"),
            (13_060, [1],    .protected, "a protection"),
            (13_150, [1],    .protected, "forbidden"),
            (13_058, [150],  .written,   "for commissioning, kept in memory that wears out"),
        ]
        for (ticket, (address, values, expected, why)) in rows.enumerated() {
            let write = try #require(
                ModbusServiceWrite(
                    unit: 1, isCoils: false, address: address, values: values, ticket: UInt64(ticket)))
            #expect(link.talk.service.ask(write))
            var outcome: ModbusServiceOutcome?
            try eventually("an answer") {
                outcome = link.talk.service.outcome(of: UInt64(ticket))
                return outcome != nil
            }
            #expect(outcome == expected, why)
        }
        #expect(try peer.ask("get holding 13058") == "150")
    }

    /// A meter with these registers, and more keys.
    private static func meter(_ registers: String, _ more: String = "") -> String {
        "{name: a, kind: meter, \(more) registers: [\(registers)]}"
    }

    /// An inverter with a fast `active_power`, one more register and a control.
    private static func inverter(_ register: String, _ control: String, _ more: String = "") -> String {
        "{name: a, kind: inverter, rated_power_kw: 5, \(more) control: {\(control)},"
            + " registers: [{name: active_power, address: 5, poll: fast}, {\(register)}]}"
    }

    private static let power = "name: p, address: 6, access: read_write"
    private static let control = "setpoint: p, reversion: zero, hold_s: 5"

    // swift-format-ignore
    static let bad: [(String, String, String)] = [
        ("{name: a, kind: pump}", "\"pump\" is not one of inverter, meter, io_module", "no such kind"),
        ("{name: a, kind: io_module}", "io: is missing", "a module has inputs or coils"),
        ("[1]", "expected a mapping", "no driver at all"),
        (meter(""), "registers: a meter needs active_power", "nothing to read"),
        (meter("{name: active_power, address: 1, poll: fast, skale: 2}"),
         "driver.yaml:1:82: registers[0].skale: unknown key; did you mean scale?", "a slip"),
        (meter("{name: active_power, address: 65535, type: int32, poll: fast}"), "pass address 65535", "half outside"),
        (meter("{name: active_power, address: 5, poll: fast}", "forbidden: [0-5],"),
         "holds the register active_power", "forbidden and wanted"),
        (meter("{name: active_power, address: 5, poll: fast}", "forbidden: [9-5],"), "expected an address", "no range"),
        (meter("{name: active_power, address: 5, poll: fast, scale: 0}"), "makes every value the same", "scale 0"),
        (meter("{name: active_power, address: 5, poll: fast, unit: kW}"), "say unit: W, with scale: 1000", "a slip of a thousand"),
        (inverter(power + ", unit: kW, scale: 0.1", control), "p is wanted in W after its scale; say unit: W, with scale: 100", "a setpoint too"),
        (meter("{name: active_power, address: 5, poll: fast, unit: PS}"), "is wanted in W", "no unit of a power"),
        (meter("{name: active_power, address: 5, table: input, access: write}"),
         "an input register cannot be written", "input registers are read"),
        (meter("{name: active_power, address: 5, poll: fast}, {name: active_power, address: 6}"),
         "is already the name of registers[0]", "twice"),
        ("{name: a, kind: inverter, rated_power_kw: 5, registers: [{name: active_power, address: 5, poll: fast}]}",
         "control: is missing", "an inverter is driven"),
        (inverter(power + ", nonvolatile: true", control), "must not be written in a cycle", "flash wears out"),
        (inverter(power + ", protection: true", control), "is not ours to write", "protection"),
        (inverter("name: p, address: 6", control), "cannot be written", "read only"),
        (inverter(power, "setpoint: p, reversion: zero"), "hold_s: is missing", "how long is silence?"),
        (inverter(power, "setpoint: q, reversion: zero, hold_s: 5"), "no register is called q", "a slip"),
        (inverter(power + ", type: int32", control, "write_single: true,"),
         "which write_single cannot write at once", "half a setpoint"),
        (inverter(power, control + ", takeover: [{register: p, value: 70000}]"), "does not fit", "too large"),
        (inverter("name: state, address: 6, poll: fast, texts: {0: sleepy}", control),
         "sleepy is none of off", "no such state"),
    ]
    @Test(arguments: bad) func `a driver that cannot be right is refused with its place`(
        text: String, part: String, why: String
    ) throws {
        do {
            _ = try Self.read(text)
            Issue.record("accepted: \(why)")
        } catch {
            #expect("\(error)".contains(part), "\(why): \(error)")
        }
    }

    @Test func `reads are merged where it costs less, never over forbidden registers nor beyond the limit`() {
        var map = RegisterMap(name: "x", kind: .meter, registers: [])
        func add(_ address: UInt16) {
            var register = RegisterDefinition(name: "r\(address)", address: address, type: .uint16)
            register.poll = .fast
            map.registers.append(register)
        }
        for address: UInt16 in [0, 10, 30, 60, 61] { add(address) }
        func spans() -> [String] {
            RegisterReads(map, .fast, overhead: 20).blocks.map { "\($0.first)+\($0.count)" }
        }
        #expect(
            spans() == ["0+11", "30+1", "60+2"], "a hole of 9 costs 18 bytes, one of 19 more than a request")
        map.forbidden = [5...5]
        #expect(spans() == ["0+1", "10+1", "30+1", "60+2"])
        map.forbidden = []
        map.longestRead = 2
        #expect(spans() == ["0+1", "10+1", "30+1", "60+2"])
    }
}
