import DeviceCodecs
import LinuxIO
import ModbusBus
import Plant
import Quantities
import Testing

/// SunSpec 123 beside what sets the power, on a device by pymodbus: WMax 40 kW, and a reversion of an hour that
/// somebody left.
@Suite(.serialized) struct `An inverter's own limit` {
    private static func taken(_ link: Link) -> Int {
        link.count { if case .capTaken = $0 { true } else { false } }
    }

    @Test func `is written beside the setpoint, without a reversion, and looked after`() throws {
        let peer = try Peer("sunspec_device.py", ["tcp", "--models", "1,120,121,123,701,702,704"])
        let link = try Link.tcp(peer)
        let inverter = link.addInverter(reversion: .seconds(600), outputCap: Watts(30_000))
        link.start()
        defer { link.finish() }
        inverter.ask(Watts(5_000), for: .seconds(600))
        try eventually("both stand, and it is told") {
            try peer.setpoint() == 500 && peer.point(123, "WMaxLim_Ena") == 1 && Self.taken(link) == 1
        }
        #expect(try peer.point(123, "WMaxLimPct") == 750 && peer.point(123, "WMaxLimPct_RvrtTms") == 0)
        #expect(try peer.point(704, "WSetEna") == 1)
        try peer.ask("set 1 123 WMaxLimPct 400")
        try peer.ask("set 1 704 WSetEna 0")
        try eventually("a foreign hand on the setpoint is put right") { try peer.point(704, "WSetEna") == 1 }
        #expect(try peer.point(123, "WMaxLimPct") == 400, "a narrower limit is nobody's to widen")
        try eventually("a wider one is put back, and told once") {
            let told = link.count { if case .capOverridden = $0 { true } else { false } }
            // A session that ended meanwhile, on a busy machine, takes the limit anew and has nobody to name.
            let isSet = try peer.point(123, "WMaxLimPct") == 900
            if told == 0 && !isSet { try peer.ask("set 1 123 WMaxLimPct 900") }
            return try told == 1 && peer.point(123, "WMaxLimPct") == 750
        }
        link.finish()
        #expect(try peer.setpoint() == 0 && peer.point(123, "WMaxLim_Ena") == 1, "it outlasts us")
    }

    @Test func `is no setpoint and no proof: 124 stays undriven until it is measured`() throws {
        let peer = try Peer("sunspec_device.py", ["tcp", "--models", "1,103,120,121,123,124"])
        let link = try Link.tcp(peer)
        let inverter = link.addInverter(outputCap: Watts(30_000))
        link.start()
        defer { link.finish() }
        inverter.ask(Watts(5_000), for: .seconds(600))
        try eventually("it is said why") {
            link.count { if case .reversionUnproven(.disables) = $0 { true } else { false } } == 1
        }
        #expect(try peer.point(124, "StorCtl_Mod") == 0 && peer.point(123, "WMaxLim_Ena") == 0)
        #expect(link.talk.status.writes == 0)
    }

    @Test func `goes with the rates of 124 as well`() throws {
        let peer = try Peer("sunspec_device.py", ["tcp", "--models", "1,103,120,123,124"])
        let link = try Link.tcp(peer)
        let inverter = link.addInverter(acceptsUnprovenReversion: true, outputCap: Watts(25_000))
        link.start()
        defer { link.finish() }
        inverter.ask(Watts(5_000), for: .seconds(600))
        try eventually("half of the nameplate's 50 kW, since no model tells WMax") {
            try peer.point(123, "WMaxLimPct") == 500 && peer.point(123, "WMaxLim_Ena") == 1
                && peer.point(124, "StorCtl_Mod") == 3
        }
    }

    @Test func `that a device cannot be told is reported, and it is driven all the same`() throws {
        let peer = try Peer("sunspec_device.py", ["tcp", "--models", "1,120,701,702,704"])
        let link = try Link.tcp(peer)
        let inverter = link.addInverter(reversion: .seconds(600), outputCap: Watts(30_000))
        link.start()
        defer { link.finish() }
        inverter.ask(Watts(5_000), for: .seconds(600))
        try eventually("driven, and told") {
            try peer.setpoint() == 500
                && link.count { if case .capUnsupported = $0 { true } else { false } } == 1
        }
    }
}

/// Our sign of life, for devices that want one.
@Suite(.serialized) struct `A heartbeat` {
    // swift-format-ignore
    static let models: [(models: String, model: Int, point: String, why: Comment)] = [
        ("1,120,701,702,704,715,802", 715, "ControllerHb", "32 bits; 715 goes before 802"),
        ("1,120,701,702,704,802",     802, "CtrlHb",       "16 bits"),
    ]

    @Test(arguments: models) func `goes up by one each second while we drive the device`(
        models: String, model: Int, point: String, why: Comment
    ) throws {
        let peer = try Peer("sunspec_device.py", ["tcp", "--models", models])
        let link = try Link.tcp(peer)
        let inverter = link.addInverter(reversion: .seconds(600))
        link.start()
        defer { link.finish() }
        inverter.ask(Watts(5_000), for: .seconds(600))
        try eventually("driven") { try peer.setpoint() == 500 }
        var seen: [Int] = []
        try eventually(why) {
            let count = try peer.point(model, point)
            if seen.last != count { seen.append(count) }
            return seen.count >= 4
        }
        let steps = zip(seen, seen.dropFirst()).map { $1 - $0 }
        #expect(steps.allSatisfy { $0 >= 1 } && (seen.last ?? 0) <= 60, "\(seen)")
        if model == 715 { #expect(try peer.point(802, "CtrlHb") == 0, "one is enough") }
    }

    @Test func `that a device refuses is not written again, and its setpoints go on`() throws {
        let peer = try Peer("sunspec_device.py", ["tcp", "--models", "1,120,701,702,704,715"])
        try peer.ask("refuse 1 715 ControllerHb 2")
        let link = try Link.tcp(peer)
        let inverter = link.addInverter(reversion: .seconds(600))
        link.start()
        defer { link.finish() }
        inverter.ask(Watts(5_000), for: .seconds(600))
        try eventually("the refusal is told") {
            link.count { if case .exception(2, _) = $0 { true } else { false } } == 1
        }
        inverter.ask(Watts(6_000), for: .seconds(600))
        try eventually("driven") { try peer.setpoint() == 600 }
        #expect(try peer.point(715, "ControllerHb") == 0)
    }
}
