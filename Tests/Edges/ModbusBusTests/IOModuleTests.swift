import LinuxIO
import ModbusBus
import Plant
import Quantities
import Testing

private let short = Duration.milliseconds(500)

/// An independent I/O module (pymodbus): inputs 1 … 4 and 7, 8 are wired, coils 1 … 3.
@Suite(.serialized) struct `An I/O module by pymodbus` {
    static let map = ModbusIOMap(
        inputs: [
            ModbusIOMap.Input(.emergencyStop, address: 100, isNormallyClosed: true),
            ModbusIOMap.Input(.smoke, address: 101, isNormallyClosed: true),
            ModbusIOMap.Input(.gas, address: 102, isNormallyClosed: false),
            ModbusIOMap.Input(.mainContactor, address: 106, isNormallyClosed: false),
            ModbusIOMap.Input(.prechargeContactor, address: 107, isNormallyClosed: true),
        ],
        coils: [
            ModbusIOMap.Coil(.mainContactor, address: 100),
            ModbusIOMap.Coil(.prechargeContactor, address: 101), ModbusIOMap.Coil(.permit, address: 103),
        ])
    static let healthy = "11000001"

    static func peer(_ transport: String, units: String = "1") throws -> Peer {
        let peer = try Peer("io_module.py", [transport, "--first", "100", "--units", units])
        for unit in units.split(separator: ",") { try peer.ask("inputs \(unit) \(healthy)") }
        return peer
    }

    static func link(_ peer: Peer, _ transport: String) throws -> Link {
        transport == "tcp" ? try Link.tcp(peer) : try Link.rtu(peer.name)
    }

    /// Emergency stop, smoke, gas, main contactor, precharge contactor; `-` = not fresh.
    static func seen(_ module: Link.Module) -> String {
        let image = module.image
        let now = MonotonicTime.now()
        let wires: [DigitalInput] = [.emergencyStop, .smoke, .gas, .mainContactor, .prechargeContactor]
        return wires.map { image[$0].fresh(at: now, within: short).map { $0 ? "1" : "0" } ?? "-" }.joined()
    }

    // swift-format-ignore
    static let levels: [(inputs: String, seen: String, why: Comment)] = [
        ("11000001", "00000", "all is well: closed circuits closed, open ones open"),
        ("01000001", "10000", "the button is pressed, or its wire is cut"),
        ("10000001", "01000", "the smoke detector opens, or its wire is cut"),
        ("11100001", "00100", "the gas detector closes"),
        ("11000011", "00010", "the main contactor is closed"),
        ("11000000", "00001", "the precharge contactor's normally-closed contact is open"),
        ("00000000", "11001", "the module has no supply for its inputs"),
        ("11011101", "00000", "what is on other inputs is all the same"),
    ]

    @Test(arguments: ["tcp", "rtu"])
    func `is read, with an open wire as evidence`(transport: String) throws {
        let peer = try Self.peer(transport)
        let link = try Self.link(peer, transport)
        let module = link.addModule(map: Self.map)
        link.start()
        defer { link.finish() }
        for row in Self.levels {
            try peer.ask("inputs 1 \(row.inputs)")
            try eventually(row.why) { Self.seen(module) == row.seen }
        }
        #expect(module.image[.door].fault(at: .now(), within: short) == .neverSeen, "not wired")
    }

    @Test(arguments: ["tcp", "rtu"])
    func `gets its coils as they are asked for, and off when the actuation expires`(transport: String) throws
    {
        let peer = try Self.peer(transport)
        let link = try Self.link(peer, transport)
        let module = link.addModule(map: Self.map)
        link.start()
        defer { link.finish() }
        module.ask(main: false, precharge: true, permit: true, for: .seconds(600))
        try eventually("precharge and permit") { try peer.ask("coils 1") == "01010000" }
        module.ask(main: true, precharge: false, permit: true, for: .seconds(600))
        try eventually("main and permit") { try peer.ask("coils 1") == "10010000" }
        module.ask(main: true, precharge: true, permit: true, for: .milliseconds(300))
        try eventually("all") { try peer.ask("coils 1") == "11010000" }
        try eventually("and none when nobody renews it") { try peer.ask("coils 1") == "00000000" }
        #expect(link.talk.status.overrides == 0)
    }

    @Test
    func `is written again and again, so that its watchdog holds, and drops its coils when the link ends`()
        throws
    {
        let peer = try Self.peer("tcp")
        try peer.ask("watchdog 1 2000")
        let link = try Link.tcp(peer)
        let module = link.addModule(map: Self.map)
        link.start()
        defer { link.finish() }
        module.ask(main: true, precharge: false, permit: true, for: .seconds(600))
        try eventually("the coils are on") { try peer.ask("coils 1") == "10010000" }
        let before = try Self.writes(peer).atOnce
        try eventually("they are written without any change") { try Self.writes(peer).atOnce > before + 20 }
        #expect(try peer.ask("coils 1") == "10010000")
        try peer.ask("down")
        try eventually("the module's own watchdog drops them") { try peer.ask("coils 1") == "00000000" }
        try peer.ask("up")
        try eventually("a new connection gives the permit, but closes no contactor by itself") {
            try peer.ask("coils 1") == "00010000"
        }
        module.ask(main: false, precharge: true, permit: true, for: .seconds(600))
        try Self.neverCloses(peer, link)
        module.ask(main: false, precharge: false, permit: true, for: .seconds(600))
        let writes = link.talk.status.transactions
        try eventually("the command is off") { link.talk.status.transactions > writes + 6 }
        module.ask(main: false, precharge: true, permit: true, for: .seconds(600))
        try eventually("and begins anew") { try peer.ask("coils 1") == "01010000" }
    }

    /// What may still carry a current is the module's own watchdog's to open, which outlasts the inverter's timer.
    @Test(arguments: [true, false])
    func `has its coils opened when the owner stops, but those that may carry a current`(isLoaded: Bool)
        throws
    {
        let peer = try Self.peer("tcp")
        let link = try Link.tcp(peer)
        let module = link.addModule(map: Self.map)
        link.start()
        module.ask(main: true, precharge: false, permit: true, for: .seconds(600))
        try eventually("the coils are on") { try peer.ask("coils 1") == "10010000" }
        if !isLoaded { module.ask(main: false, precharge: false, permit: false, for: .seconds(600)) }
        link.finish()
        #expect(try peer.ask("coils 1") == (isLoaded ? "10010000" : "00000000"))
    }

    @Test func `without function 15 has its coils written one by one`() throws {
        let peer = try Self.peer("tcp")
        try peer.ask("refuse 1 15 1")
        let link = try Link.tcp(peer)
        let module = link.addModule(map: Self.map)
        link.start()
        defer { link.finish() }
        module.ask(main: true, precharge: true, permit: true, for: .seconds(600))
        try eventually("the coils are on") { try peer.ask("coils 1") == "11010000" }
        module.ask(main: false, precharge: false, permit: true, for: .seconds(600))
        try eventually("and off") { try peer.ask("coils 1") == "00010000" }
        #expect(try Self.writes(peer).atOnce == 0)
        #expect(link.count { if case .coilsOneByOne = $0 { true } else { false } } == 1)
    }

    @Test func `is corrected when somebody else switches a coil`() throws {
        let peer = try Self.peer("tcp")
        let link = try Link.tcp(peer)
        // Written seldom, so that the read-back comes before the next write.
        let module = link.addModule(map: Self.map, poll: .seconds(60))
        link.start()
        defer { link.finish() }
        module.ask(main: true, precharge: false, permit: true, for: .seconds(600))
        try eventually("the coils are on") { try peer.ask("coils 1") == "10010000" }
        try peer.ask("coil 1 2 1")
        try eventually("they are ours again") { try peer.ask("coils 1") == "10010000" }
        try eventually("it is reported") {
            link.count {
                if case .coilsOverridden(first: 100, expected: 0b1001, found: 0b1011) = $0 {
                    true
                } else {
                    false
                }
            } == 1
        }
    }

    @Test func `that has opened a contactor by itself does not close it again until the command was off`()
        throws
    {
        let peer = try Self.peer("tcp")
        let link = try Link.tcp(peer)
        let module = link.addModule(map: Self.map)
        link.start()
        defer { link.finish() }
        module.ask(main: true, precharge: false, permit: true, for: .seconds(600))
        try eventually("the coils are on") { try peer.ask("coils 1") == "10010000" }
        try peer.ask("coil 1 1 0")
        try Self.neverCloses(peer, link)
        module.ask(main: false, precharge: false, permit: true, for: .seconds(600))
        let seen = link.talk.status.transactions
        try eventually("the command is off") { link.talk.status.transactions > seen + 6 }
        module.ask(main: true, precharge: false, permit: true, for: .seconds(600))
        try eventually("and closes when it is asked anew") { try peer.ask("coils 1") == "10010000" }
    }

    static func neverCloses(_ peer: Peer, _ link: Link) throws {
        let seen = link.talk.status.transactions
        try eventually("twenty more transactions, and no contactor closes") {
            let coils = try peer.ask("coils 1")
            #expect(coils == "00010000")
            return link.talk.status.transactions > seen + 20
        }
    }

    static func writes(_ peer: Peer) throws -> (single: Int, atOnce: Int) {
        let numbers = try peer.ask("writes 1").split(separator: " ").compactMap { Int($0) }
        return (numbers.first ?? -1, numbers.last ?? -1)
    }
}

/// What a module does wrong: a bad reading with its reason, and nobody else is held up.
@Suite(.serialized) struct `An I/O module with faults` {
    typealias Module = `An I/O module by pymodbus`

    // swift-format-ignore
    static let refusals: [(code: Int, fault: ReadingFault, why: Comment)] = [
        (1, .notImplemented, "it has no discrete inputs"),
        (2, .notImplemented, "not at this address"),
        (4, .deviceFault,    "it cannot read them"),
        (6, .stale,          "busy: the last sample ages"),
        (11, .stale,         "the gateway does not reach it"),
    ]

    @Test(arguments: refusals)
    func `that refuses to be read has bad readings with the reason`(
        code: Int, fault: ReadingFault, why: Comment
    ) throws {
        let peer = try Module.peer("tcp")
        let link = try Link.tcp(peer)
        let module = link.addModule(map: Module.map)
        link.start()
        defer { link.finish() }
        try eventually("read") { Module.seen(module) == "00000" }
        try peer.ask("refuse 1 2 \(code)")
        try eventually(why) { module.image[.emergencyStop].fault(at: .now(), within: short) == fault }
        try peer.ask("refuse 1 2 0")
        try eventually("read again") { Module.seen(module) == "00000" }
    }

    // swift-format-ignore
    static let spoiled: [(transport: String, mode: String, why: Comment)] = [
        ("tcp", "silent 1",  "no answer"),
        ("rtu", "silent 1",  "no answer"),
        ("tcp", "short 5",   "answers cut off"),
        ("rtu", "short 5",   "answers cut off"),
        ("tcp", "empty 5",   "answers without any input in them"),
        ("rtu", "empty 5",   "answers without any input in them"),
        ("rtu", "garbage 5", "wrong checksums"),
    ]

    @Test(arguments: spoiled)
    func `that spoils its answers goes stale, never well`(
        transport: String, mode: String, why: Comment
    ) throws {
        let peer = try Module.peer(transport)
        let link = try Module.link(peer, transport)
        let module = link.addModule(map: Module.map)
        link.start()
        defer { link.finish() }
        try eventually("read") { Module.seen(module) == "00000" }
        try peer.ask("mode \(mode)")
        try peer.ask("inputs 1 01000001")
        try eventually("no reading says that all is well any more") {
            module.image[.emergencyStop].fresh(at: .now(), within: short) != false
        }
        try peer.ask("mode normal")
        try eventually("the button is seen when it answers again") { Module.seen(module) == "10000" }
    }

    @Test func `dead on a serial line leaves the live one fresh and switched`() throws {
        let peer = try Module.peer("rtu", units: "1,2")
        let link = try Link.rtu(peer.name, timeout: .milliseconds(200))
        let dead = link.addModule(unit: 1, map: Module.map)
        let live = link.addModule(unit: 2, map: Module.map)
        link.start()
        defer { link.finish() }
        try eventually("both are read") { Module.seen(dead) == "00000" && Module.seen(live) == "00000" }
        try peer.ask("mode silent 1")
        live.ask(main: true, precharge: false, permit: true, for: .seconds(600))
        try eventually("the live one is switched") { try peer.ask("coils 2") == "10010000" }
        try eventually("the dead one is told of") {
            link.count { if case .deviceSilent = $0 { true } else { false } } == 1
        }
        let timeouts = link.talk.status.timeouts
        try eventually("it is probed twice more, and the live one stays fresh") {
            #expect(live.image[.emergencyStop].fresh(at: .now(), within: .seconds(2)) == false)
            return link.talk.status.timeouts >= timeouts + 2
        }
        #expect(dead.image[.emergencyStop].fresh(at: .now(), within: short) == nil)
        try peer.ask("mode normal")
        try eventually("the dead one comes back") { Module.seen(dead) == "00000" }
    }
}

/// What a module does when nobody talks to it is seen by not talking to it.
@Suite(.serialized) struct `An I/O module's own watchdog` {
    typealias Modules = `An I/O module by pymodbus`

    // swift-format-ignore
    static let rows: [(transport: String, watchdog: Int, after: UInt64, why: Comment)] = [
        ("tcp", 500, 0b0000, "it drops its coils"),
        ("rtu", 500, 0b0000, "on a line too"),
        ("tcp",   0, 0b1001, "none is set: they stand, and that is seen"),
    ]

    @Test(arguments: rows) func `is seen by a silence, in which nothing at all is said to it`(
        transport: String, watchdog: Int, after: UInt64, why: Comment
    ) throws {
        let peer = try Modules.peer(transport)
        let link = try Modules.link(peer, transport)
        let module = link.addModule(map: Modules.map)
        link.start()
        defer { link.finish() }
        module.ask(main: true, precharge: false, permit: true, for: .seconds(600))
        try eventually("the coils are on") { try peer.ask("coils 1") == "10010000" }
        try peer.ask("watchdog 1 \(watchdog)")
        let hush = try #require(module.hush)
        hush.begin(for: .milliseconds(1_500))
        try eventually("the silence has begun") { hush.isQuiet }
        // The trip that follows from the silence does not end it.
        module.ask(main: false, precharge: false, permit: false, for: .seconds(600))
        try eventually("it is over") { hush.outcome != nil }
        guard case .looked(let before, let found, let time)? = hush.outcome else {
            Issue.record("\(why): not looked at")
            return
        }
        #expect(before == 0b1001 && found == after, why)
        #expect(time >= .milliseconds(1_500), "the whole silence")
        hush.end()
        try eventually("then it is told what is asked") { try peer.ask("coils 1") == "00000000" }
        module.ask(main: false, precharge: true, permit: true, for: .seconds(600))
        try eventually("and driven as ever") { try peer.ask("coils 1") == "01010000" }
    }

    @Test func `is not waited for once the silence is ended: what is to be written is written`() throws {
        let peer = try Modules.peer("tcp")
        let link = try Link.tcp(peer)
        let module = link.addModule(map: Modules.map)
        link.start()
        defer { link.finish() }
        module.ask(main: true, precharge: false, permit: true, for: .seconds(600))
        try eventually("the coils are on") { try peer.ask("coils 1") == "10010000" }
        let hush = try #require(module.hush)
        hush.begin(for: .seconds(10))
        try eventually("quiet") { hush.isQuiet }
        module.ask(main: false, precharge: false, permit: false, for: .seconds(600))
        let start = MonotonicTime.now()
        hush.end()
        try eventually("off") { try peer.ask("coils 1") == "00000000" }
        #expect(MonotonicTime.now() - start < .seconds(9), "not when its time was over")
        #expect(hush.outcome == nil)
    }
}
