import DeviceCodecs
import LinuxIO
import ModbusBus
import Plant
import Quantities
import Testing

private let short = Duration.milliseconds(500)
private let expected = Hertz(49.985)

/// What a device or a line does wrong, and what may not come of it.
@Suite(.serialized) struct `A link with faults` {
    static func isRead(_ inverter: Link.Inverter) -> Bool {
        inverter.image.frequency.fresh(at: .now(), within: short) == expected
    }

    // swift-format-ignore
    static let lateness: [(transport: String, milliseconds: Int, why: Comment)] = [
        ("rtu", 150, "late, but in time"),
        ("rtu", 220, "after the time-out, inside the quiet time"),
        ("rtu", 390, "at the end of the quiet time"),
        ("rtu", 450, "after the quiet time: the lengths differ"),
        ("tcp", 220, "another connection"),
    ]

    @Test(arguments: lateness)
    func `never takes a late answer for the next one's`(
        transport: String, milliseconds: Int, why: Comment
    ) throws {
        let peer = try Peer("sunspec_device.py", [transport])
        let timeout = Duration.milliseconds(200)
        let link =
            try transport == "tcp" ? Link.tcp(peer, timeout: timeout) : Link.rtu(peer.name, timeout: timeout)
        let inverter = link.addInverter(reversion: .seconds(600))
        link.start()
        defer { link.finish() }
        inverter.ask(Watts(5_000), for: .seconds(600))
        try eventually("driven and read") {
            let isRated = inverter.image.ratedPower.fault(at: .now(), within: .seconds(60)) == nil
            return try peer.setpoint() == 500 && Self.isRead(inverter) && isRated
        }
        for _ in 0..<3 {
            try peer.ask("mode late \(milliseconds) 1")
            let goal = link.talk.status.transactions + 20
            try eventually("twenty more answers, none of them wrong") {
                let image = inverter.image
                #expect(image.frequency.fresh(at: .now(), within: .seconds(60)) == expected, why)
                #expect(image.ratedPower.fault(at: .now(), within: .seconds(60)) == nil, why)
                return link.talk.status.transactions >= goal
            }
        }
        #expect(try peer.setpoint() == 500)
        #expect(link.count { if case .mapChanged = $0 { true } else { false } } == 0, why)
        #expect(link.talk.status.overrides == 0, why)
    }

    // swift-format-ignore
    static let spoiled: [(transport: String, mode: String, why: Comment)] = [
        ("tcp", "garbage 3", "bytes that are no Modbus"),
        ("rtu", "garbage 3", "wrong checksum"),
        ("tcp", "short 3", "an answer cut off"),
        ("rtu", "short 3", "an answer cut off"),
        ("tcp", "trickle", "a byte now and then, each inside the time-out"),
        ("rtu", "trickle", "a byte now and then, each inside the time-out"),
    ]

    @Test(arguments: spoiled)
    func `counts spoiled answers and goes on`(transport: String, mode: String, why: Comment) throws {
        let peer = try Peer("sunspec_device.py", [transport])
        let link = try transport == "tcp" ? Link.tcp(peer) : Link.rtu(peer.name)
        let inverter = link.addInverter()
        link.start()
        defer { link.finish() }
        try eventually("read") { Self.isRead(inverter) }
        try peer.ask("mode \(mode)")
        let errors = link.talk.status.errors
        try eventually("errors are counted") { link.talk.status.errors >= errors + 1 }
        try peer.ask("mode normal")
        let start = MonotonicTime.now()
        try eventually(why) {
            inverter.image.frequency.age(at: start).map { $0 < .zero } ?? false && Self.isRead(inverter)
        }
    }

    @Test(arguments: ["tcp", "rtu"])
    func `goes round while the peer accepts and never answers`(transport: String) throws {
        let peer = try Peer("sunspec_device.py", [transport])
        try peer.ask("mode silent 0")
        let link = try transport == "tcp" ? Link.tcp(peer) : Link.rtu(peer.name)
        let inverter = link.addInverter()
        link.start()
        defer { link.finish() }
        try eventually("the silence is reported") {
            link.count { if case .deviceSilent(.timeout) = $0 { true } else { false } } == 1
        }
        let beats = link.talk.status.heartbeat
        try eventually("the thread goes round") { link.talk.status.heartbeat > beats + 5 }
        #expect(inverter.image.frequency.fault(at: .now(), within: short) == .neverSeen)
        try peer.ask("mode normal")
        try eventually("and finds the device when it answers") { Self.isRead(inverter) }
    }

    /// What is said of a power that is refused by this code: 10 and 11 are a gateway's words of a device that is
    /// silent behind it.
    static let reasons: [Int: ReadingFault] = [
        4: .deviceFault, 5: .busy, 6: .busy, 7: .deviceFault, 8: .deviceFault, 10: .stale, 11: .stale,
    ]

    /// 9 stands for nothing in Modbus, and pymodbus cannot say it.
    @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8, 10, 11])
    func `a device that refuses goes stale, is told of, and comes back`(code: Int) throws {
        let peer = try Peer("sunspec_device.py", ["tcp"])
        let link = try Link.tcp(peer)
        let inverter = link.addInverter(reversion: .seconds(600))
        link.start()
        defer { link.finish() }
        inverter.ask(Watts(5_000), for: .seconds(600))
        try eventually("driven and read") { try peer.setpoint() == 500 && Self.isRead(inverter) }
        try peer.ask("exception 1 \(code)")
        try eventually("the reading goes stale") {
            inverter.image.frequency.fresh(at: .now(), within: short) == nil
        }
        try eventually("the code is reported") {
            link.count { if case .exception(let told, _) = $0 { Int(told) == code } else { false } } >= 1
        }
        if let reason = Self.reasons[code] {
            try eventually("the reading says why") {
                inverter.image.activePower.fault(at: .now(), within: short) == reason
            }
        }
        #expect(link.talk.status.reconnects == 0, "an exception does not end the session")
        try peer.ask("exception 1 0")
        inverter.ask(Watts(6_000), for: .seconds(600))
        try eventually("driven and read again") { try peer.setpoint() == 600 && Self.isRead(inverter) }
    }

    @Test func `a dead device on a serial line leaves the live one fresh`() throws {
        let peer = try Peer("sunspec_device.py", ["rtu", "--units", "1,2"])
        let link = try Link.rtu(peer.name, timeout: .milliseconds(200))
        let live = link.addInverter(unit: 1)
        let dead = link.addInverter(unit: 2)
        link.start()
        defer { link.finish() }
        live.ask(Watts(1_000), for: .seconds(600))
        try eventually("both are read") { Self.isRead(live) && Self.isRead(dead) }
        try peer.ask("mode silent 2")
        try eventually("the dead one is told of") {
            link.count { if case .deviceSilent = $0 { true } else { false } } == 1
        }
        let timeouts = link.talk.status.timeouts
        try eventually("it is probed twice more, and the live one stays fresh") {
            #expect(live.image.frequency.fresh(at: .now(), within: .seconds(2)) == expected)
            return link.talk.status.timeouts >= timeouts + 2
        }
        live.ask(Watts(2_000), for: .seconds(600))
        try eventually("the live one is driven") { try peer.setpoint(unit: 1) == 200 }
        #expect(dead.image.frequency.fresh(at: .now(), within: short) == nil)
        try peer.ask("mode normal")
        try eventually("the dead one comes back") { Self.isRead(dead) }
        #expect(link.count { if case .deviceBack = $0 { true } else { false } } == 1)
    }

    @Test func `tries on while nobody listens`() throws {
        let peer = try Peer("sunspec_device.py", ["tcp"])
        try peer.ask("down")
        let link = try Link.tcp(peer)
        let inverter = link.addInverter()
        link.start()
        defer { link.finish() }
        try eventually("the link is reported down, once") {
            link.count { if case .linkDown(.disconnected) = $0 { true } else { false } } == 1
        }
        let errors = link.talk.status.errors
        try eventually("it tries again") { link.talk.status.errors > errors }
        try peer.ask("up")
        try eventually("and finds the device") { Self.isRead(inverter) }
        #expect(link.count { if case .linkUp = $0 { true } else { false } } == 1)
    }

    @Test func `on a device file that is not there tries on`() throws {
        let link = try Link.rtu("/nonexistent/tty")
        _ = link.addInverter()
        link.start()
        defer { link.finish() }
        try eventually("the link is reported down") {
            link.count { if case .linkDown(.disconnected) = $0 { true } else { false } } == 1
        }
    }

    @Test func `refuses an address that can never work`() {
        #expect(throws: ModbusError.unusableAddress) {
            try Link(.tcp(host: "no such host.invalid", port: 502))
        }
        #expect(throws: ModbusError.unusableAddress) {
            try Link(.serial(device: "/dev/ttyS0", line: SerialLine(baud: 0)))
        }
    }
}
