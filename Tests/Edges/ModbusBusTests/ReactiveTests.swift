import DeviceCodecs
import ModbusBus
import Quantities
import Testing

/// The same independent device is told what to do with reactive power.
@Suite(.serialized) struct `Reactive power of a SunSpec inverter by pymodbus` {
    typealias Event = ModbusReport.Event

    static func isTaken(_ event: Event) -> Bool { if case .reactiveTaken = event { true } else { false } }
    static func isUnsupported(_ event: Event) -> Bool {
        if case .reactiveUnsupported = event { true } else { false }
    }

    /// 704 as somebody else left it: 500 var, and a power factor.
    static func left(_ peer: Peer) throws {
        for point in ["VarSetMod 4", "VarSet 500", "VarSetEna 1", "PFWInjEna 1", "PFWAbsEna 1"] {
            try peer.ask("set 1 704 \(point)")
        }
    }

    static func points(_ peer: Peer, _ names: [String]) throws -> [Int] {
        try names.map { try peer.point(704, $0) }
    }

    static let enables = ["VarSetEna", "PFWInjEna", "PFWAbsEna"]

    @Test func `becomes 0 var, and what was set before is off`() throws {
        let peer = try Peer("sunspec_device.py", ["tcp"])
        try Self.left(peer)
        let link = try Link.tcp(peer)
        let inverter = link.addInverter(reactive: .zero)
        link.start()
        defer { link.finish() }
        try eventually("it is reported") { link.count(Self.isTaken) == 1 }
        #expect(try Self.points(peer, Self.enables) == [1, 0, 0])
        #expect(
            try Self.points(peer, ["VarSetMod", "VarSet", "VarSetRvrtTms", "VarSetPct"]) == [4, 0, 0, 0])
        inverter.ask(Watts(5_000), for: .seconds(600))
        try eventually("setpoints go on") { try peer.setpoint() == 500 }
        #expect(link.talk.status.overrides == 0)
    }

    // swift-format-ignore
    static let factors: [(factor: Double, isOver: Bool, number: Int, side: Int, why: Comment)] = [
        (0.95, true,   95, 0, "reactive power is injected"),
        (0.95, false,  95, 1, "absorbed"),
        (0.9,  false,  90, 1, "another factor"),
        (1,    true,  100, 0, "none at all"),
    ]

    @Test(arguments: factors)
    func `becomes a fixed power factor for charge and discharge`(
        row: (factor: Double, isOver: Bool, number: Int, side: Int, why: Comment)
    ) throws {
        let peer = try Peer("sunspec_device.py", ["tcp"])
        try Self.left(peer)
        let link = try Link.tcp(peer)
        _ = link.addInverter(reactive: .powerFactor(Fraction(row.factor), isOverExcited: row.isOver))
        link.start()
        defer { link.finish() }
        try eventually("it is reported") { link.count(Self.isTaken) == 1 }
        #expect(try Self.points(peer, Self.enables) == [0, 1, 1], row.why)
        let groups = (59...66).map(String.init)
        let expected = [0, 1, 2, 3].flatMap { _ in [row.number, row.side] }
        #expect(try Self.points(peer, groups) == expected, row.why)
        #expect(try Self.points(peer, ["PFWInjRvrtTms", "PFWAbsRvrtTms"]) == [0, 0])
    }

    @Test func `stays the device's own where nothing is asked`() throws {
        let peer = try Peer("sunspec_device.py", ["tcp"])
        try Self.left(peer)
        let link = try Link.tcp(peer)
        let inverter = link.addInverter()
        link.start()
        defer { link.finish() }
        inverter.ask(Watts(5_000), for: .seconds(600))
        try eventually("the setpoint arrives") { try peer.setpoint() == 500 }
        #expect(try Self.points(peer, Self.enables + ["VarSet"]) == [1, 1, 1, 500])
    }

    // swift-format-ignore
    static let meddled: [(point: String, number: Int, setting: SunSpecReactiveControl.Setting, own: Int)] = [
        ("VarSet",    300, .zero,                                              0),
        ("VarSetEna", 0,   .zero,                                              1),
        ("PFWInjEna", 1,   .zero,                                              0),
        ("63",        80,  .powerFactor(Fraction(0.95), isOverExcited: true),  95),
        ("60",        1,   .powerFactor(Fraction(0.95), isOverExcited: true),  0),
        ("PFWAbsEna", 0,   .powerFactor(Fraction(0.95), isOverExcited: true),  1),
    ]

    @Test(arguments: meddled)
    func `is put right when somebody else changes it`(
        row: (point: String, number: Int, setting: SunSpecReactiveControl.Setting, own: Int)
    ) throws {
        let peer = try Peer("sunspec_device.py", ["tcp"])
        let link = try Link.tcp(peer)
        _ = link.addInverter(reactive: row.setting)
        link.start()
        defer { link.finish() }
        try eventually("it is set") { link.count(Self.isTaken) == 1 }
        try peer.ask("set 1 704 \(row.point) \(row.number)")
        try eventually("it is ours again") { try peer.point(704, row.point) == row.own }
        try eventually("it is reported") {
            link.count { if case .reactiveOverridden = $0 { true } else { false } } == 1
        }
    }

    // swift-format-ignore
    static let lacking: [(point: String, number: Int, setting: SunSpecReactiveControl.Setting, why: Comment)] = [
        ("VarSetEna", 0xFFFF, .zero, "no setpoint of reactive power"),
        ("PFWInjEna", 0xFFFF, .powerFactor(Fraction(0.95), isOverExcited: true), "no power factor"),
        ("PF_SF",     0x8000, .powerFactor(Fraction(0.95), isOverExcited: true), "its numbers mean nothing"),
        ("PF_SF",     0,      .powerFactor(Fraction(0.95), isOverExcited: true), "it knows only 1 and 0"),
    ]

    @Test(arguments: lacking)
    func `of a device that lacks the points is reported, and it is driven all the same`(
        row: (point: String, number: Int, setting: SunSpecReactiveControl.Setting, why: Comment)
    ) throws {
        let peer = try Peer("sunspec_device.py", ["tcp"])
        try peer.ask("set 1 704 \(row.point) \(row.number)")
        let link = try Link.tcp(peer)
        let inverter = link.addInverter(reactive: row.setting)
        link.start()
        defer { link.finish() }
        inverter.ask(Watts(5_000), for: .seconds(600))
        try eventually("the setpoint arrives") { try peer.setpoint() == 500 }
        try eventually("it is reported") { link.count(Self.isUnsupported) == 1 }
        #expect(try peer.point(704, "PFWAbsEna") == 0, row.why)
    }
}
