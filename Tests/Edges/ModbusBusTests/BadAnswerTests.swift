import DeviceCodecs
import LinuxIO
import ModbusBus
import Plant
import Quantities
import SafeOutput
import Testing

private let short = Duration.milliseconds(500)

/// Whatever comes instead of an answer: the reading goes bad, a counter and one report say why, and it
/// goes on.
@Suite(.serialized) struct `An answer that does not fit` {
    // swift-format-ignore
    static let rows: [(transport: String, mode: String, mismatch: ModbusMismatch?, why: Comment)] = [
        ("tcp", "unit",        .unit,        "another unit"),
        ("tcp", "function",    .function,    "another function"),
        ("tcp", "length",      .length,      "a byte count that lies"),
        ("tcp", "transaction", .transaction, "a number that was not asked"),
        ("tcp", "garbage",     nil,          "no Modbus at all"),
        ("tcp", "close",       nil,          "the end in the middle of a frame"),
        ("tcp", "reset",       nil,          "a reset in the middle of a frame"),
        ("rtu", "unit",        .unit,        "another unit, check sum and all"),
        ("rtu", "function",    .function,    "another function, check sum and all"),
        ("rtu", "checksum",    .checksum,    "a bit turned over"),
    ]

    @Test(arguments: rows)
    func `makes the reading stale, is counted, told once, and forgotten when it ends`(
        transport: String, mode: String, mismatch: ModbusMismatch?, why: Comment
    ) throws {
        let peer = try Peer("sunspec_device.py", [transport])
        let link = try transport == "tcp" ? Link.tcp(peer) : Link.rtu(peer.name)
        let inverter = link.addInverter()
        link.start()
        defer { link.finish() }
        let isRead = { inverter.image.frequency.fresh(at: .now(), within: short) == Hertz(49.985) }
        try eventually("read") { isRead() }
        try peer.ask("mode \(mode) 1000000")
        try eventually("the reading goes stale") {
            inverter.image.frequency.fault(at: .now(), within: short) == .stale
        }
        try eventually("the device is told silent, once") {
            link.count { if case .deviceSilent = $0 { true } else { false } } == 1
        }
        if let mismatch {
            // On a slow machine the first answers may have been late as well.
            try eventually("told, and counted") {
                link.count { $0.isRejection(mismatch) } >= 1 && Self.count(mismatch, link.talk.status) >= 3
            }
            #expect(link.count { $0.isRejection(mismatch) } == 1, why)
        }
        #expect(link.talk.status.errors >= 3, why)
        try peer.ask("mode normal")
        try eventually("and it is read again") { isRead() }
        #expect(link.count { if case .mapChanged = $0 { true } else { false } } == 0, why)
    }

    private static func count(_ mismatch: ModbusMismatch, _ status: ModbusLinkStatus) -> UInt64 {
        switch mismatch {
        case .checksum: status.checksumErrors
        case .unit: status.otherUnits
        case .transaction: status.otherTransactions
        case .echo: status.unexpectedEchoes
        case .function, .length, .protocolID, .acknowledgement: status.malformedAnswers
        }
    }

    @Test func `is skipped where the right one follows in time`() throws {
        let peer = try Peer("sunspec_device.py", ["rtu", "--units", "1,2"])
        var client = try ModbusClient(
            .serial(device: peer.name, line: SerialLine(baud: 115_200)), timeout: .seconds(5))
        try client.connect()
        let buffer = UnsafeMutableBufferPointer<UInt16>.allocate(capacity: 4)
        defer { buffer.deallocate() }
        buffer.initialize(repeating: 0)
        // The answer of unit 2 comes 400 ms late, in the middle of the wait for unit 1's, which comes
        // after it.
        try peer.ask("mode late 400 2")
        client.setTimeout(.milliseconds(200))
        #expect(throws: ModbusError.timeout) { try client.read(unit: 2, address: 40_002, into: buffer) }
        client.setTimeout(.seconds(5))
        try client.read(unit: 1, address: 40_000, into: buffer)
        #expect(Array(buffer[0..<2]) == [0x5375, 0x6E53])
        #expect(client.mismatches[.unit] == 1)
    }

    @Test(arguments: [true, false])
    func `is our own request where the adapter echoes`(isKnown: Bool) throws {
        let peer = try Peer("sunspec_device.py", ["rtu", "--echo"])
        var line = SerialLine(baud: 115_200)
        line.echoes = isKnown
        let link = try Link.rtu(peer.name, line: line)
        let inverter = link.addInverter()
        link.start()
        defer { link.finish() }
        inverter.ask(Watts(5_000), for: .seconds(600))
        if isKnown {
            try eventually("read and driven") {
                let frequency = inverter.image.frequency.fresh(at: .now(), within: short)
                return try frequency == Hertz(49.985) && peer.setpoint() == 500
            }
            #expect(link.talk.status.unexpectedEchoes == 0)
        } else {
            try eventually("the echo is told of") { link.count { $0.isRejection(.echo) } == 1 }
            #expect(inverter.image.frequency.fresh(at: .now(), within: short) == nil)
        }
    }

    @Test(arguments: [WirePlan.Write.Values.register(0), .registers([0])])
    func `on a line that echoes is no answer to the safe output`(values: WirePlan.Write.Values) throws {
        let peer = try Peer("sunspec_device.py", ["rtu", "--echo", "--units", "1,2"])
        try peer.ask("set 1 0 40100 77")
        try peer.ask("mode silent 2")
        let writes = [UInt8(1), 2].map {
            WirePlan.Write(
                owner: "BESS_0\($0)", device: $0, address: 40_100, values: values,
                timeout: .milliseconds(300))
        }
        var line = SerialLine(baud: 115_200)
        line.echoes = true
        let plan = WirePlan(links: [WirePlan.Link(.serial(device: peer.name, line: line), writes: writes)])
        // As it lies on the disk between the controller and the safe output.
        let read = try #require(WirePlan(bytes: plan.bytes))
        let outcome = try #require(SafeOutput.run(read, since: .now()).first)
        #expect(outcome.written == ["BESS_01"])
        #expect(outcome.failed.map(\.owner) == ["BESS_02"], "nobody has answered there")
        #expect(try peer.ask("get 1 0 40100") == "0")
    }

    @Test func `on a line that was said to echo and does not is told of`() throws {
        let peer = try Peer("sunspec_device.py", ["rtu"])
        var line = SerialLine(baud: 115_200)
        line.echoes = true
        let link = try Link.rtu(peer.name, line: line)
        _ = link.addInverter()
        link.start()
        defer { link.finish() }
        try eventually("the missing echo is told of") { link.count { $0.isRejection(.echo) } == 1 }
    }
}

extension ModbusReport.Event {
    func isRejection(_ wanted: ModbusMismatch) -> Bool {
        if case .answerRejected(let mismatch) = self { mismatch == wanted } else { false }
    }
}

@Suite(.serialized) struct `A serial port` {
    @Test func `that is unplugged and comes back under another name is found by its link`() throws {
        let path = "/tmp/ballast-tty-\(MonotonicTime.now().nanoseconds)"
        let peer = try Peer("sunspec_device.py", ["rtu", "--link", path])
        let link = try Link.rtu(peer.name)
        let inverter = link.addInverter(reversion: .seconds(600))
        link.start()
        defer { link.finish() }
        inverter.ask(Watts(5_000), for: .seconds(600))
        let isRead = { inverter.image.frequency.fresh(at: .now(), within: short) == Hertz(49.985) }
        try eventually("read and driven") { try isRead() && peer.setpoint() == 500 }
        try peer.ask("down")
        try eventually("the loss is told") {
            link.count { if case .linkDown(.disconnected) = $0 { true } else { false } } == 1
        }
        try eventually("the reading goes stale") { !isRead() }
        #expect(!link.talk.status.isUp)
        try peer.ask("up")
        try eventually("and it is read again") { isRead() }
        inverter.ask(Watts(6_000), for: .seconds(600))
        try eventually("and driven") { try peer.setpoint() == 600 }
        #expect(link.count { if case .scanned = $0 { true } else { false } } == 1, "its map was kept")
    }

    @Test func `that hears nobody is opened anew`() throws {
        let peer = try Peer("sunspec_device.py", ["rtu"])
        try peer.ask("mode silent 0")
        let link = try Link.rtu(peer.name)
        let inverter = link.addInverter()
        link.start()
        defer { link.finish() }
        try eventually("after ten seconds") { link.talk.status.reopenings >= 1 }
        #expect(!link.talk.status.isUp)
        try peer.ask("mode normal")
        try eventually("and is read when somebody answers") {
            inverter.image.frequency.fresh(at: .now(), within: short) == Hertz(49.985)
        }
    }

    @Test func `that cannot switch an RS-485 driver says so, once, and is used all the same`() throws {
        let peer = try Peer("sunspec_device.py", ["rtu"])
        var line = SerialLine(baud: 115_200)
        line.isRS485 = true
        let link = try Link.rtu(peer.name, line: line)
        let inverter = link.addInverter()
        link.start()
        defer { link.finish() }
        try eventually("read") { inverter.image.frequency.fresh(at: .now(), within: short) == Hertz(49.985) }
        #expect(link.count { if case .directionRefused = $0 { true } else { false } } == 1)
        #expect(!link.talk.status.isLowLatency, "a pty has no such flag")
    }

    // swift-format-ignore
    static let lines = [
        SerialLine(baud: 9_600),                             SerialLine(baud: 9_600, parity: .even),
        SerialLine(baud: 19_200, parity: .odd),              SerialLine(baud: 38_400, stopBits: 2),
        SerialLine(baud: 57_600, parity: .even, stopBits: 2), SerialLine(baud: 115_200),
    ]

    @Test(arguments: lines)
    func `is read with each speed, parity and number of stop bits`(
        line: SerialLine
    ) throws {
        let peer = try Peer("sunspec_device.py", ["rtu"])
        var client = try ModbusClient(
            .serial(device: peer.name, line: line), timeout: .seconds(5))
        try client.connect()
        let buffer = UnsafeMutableBufferPointer<UInt16>.allocate(capacity: 2)
        defer { buffer.deallocate() }
        buffer.initialize(repeating: 0)
        try client.read(unit: 1, address: 40_000, into: buffer)
        #expect(Array(buffer) == [0x5375, 0x6E53])
    }
}
