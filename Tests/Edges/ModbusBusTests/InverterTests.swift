import DeviceCodecs
import LinuxIO
import ModbusBus
import Plant
import Quantities
import Testing

private let short = Duration.milliseconds(500)

/// An independent device (pymodbus, registers by pysunspec2) is scanned, read and driven.
@Suite(.serialized) struct `A SunSpec inverter by pymodbus` {
    static func link(_ peer: Peer, _ transport: String) throws -> Link {
        transport == "tcp" ? try Link.tcp(peer) : try Link.rtu(peer.name)
    }

    @Test(arguments: ["tcp", "rtu"])
    func `is scanned, read and driven, and sees zero when the actuation expires`(transport: String) throws {
        let peer = try Peer("sunspec_device.py", [transport])
        let link = try Self.link(peer, transport)
        let inverter = link.addInverter()
        link.start()
        defer { link.finish() }
        try eventually("the frequency is read") {
            inverter.image.frequency.fresh(at: .now(), within: short) == Hertz(49.985)
        }
        try eventually("the rating is read") {
            inverter.image.ratedPower.fresh(at: .now(), within: .seconds(60)) == Watts(50_000)
        }
        #expect(inverter.image.state.fresh(at: .now(), within: short) == .running)

        inverter.ask(Watts(-12_340), for: .seconds(600))
        try eventually("the device holds the setpoint, enabled in watts, with the dead-man reversion") {
            try peer.setpoint() == -1_234 && peer.point(704, "WSetEna") == 1
        }
        #expect(try peer.point(704, "WSetMod") == 1)
        #expect(try peer.point(704, "WSetRvrtTms") == 3)
        #expect(try peer.point(704, "WSetEnaRvrt") == 1)
        #expect(try peer.point(704, "WSetRvrt") == 0)
        try eventually("the measured power follows, negative = absorbed") {
            inverter.image.activePower.fresh(at: .now(), within: short) == Watts(-12_340)
        }

        inverter.ask(Watts(20_000), for: .milliseconds(300))
        try eventually("the next setpoint arrives") { try peer.setpoint() == 2_000 }
        try eventually("and zero when nobody renews it") { try peer.setpoint() == 0 }
        #expect(try peer.point(704, "WSetEna") == 1)
        try eventually("every write was acknowledged") { link.talk.status.writes >= 3 }
    }

    @Test func `is told who it is and what it has`() throws {
        let peer = try Peer("sunspec_device.py", ["tcp", "--base", "0", "--models", "1,64001,701,702,704"])
        let link = try Link.tcp(peer)
        let inverter = link.addInverter()
        link.start()
        defer { link.finish() }
        try eventually("the rating comes from 702") {
            inverter.image.ratedPower.fresh(at: .now(), within: .seconds(60)) == Watts(50_000)
        }
        try eventually("identity and models are reported") {
            var seen = Set<String>()
            for report in link.reports() {
                if case .identified(let maker, let model, let number) = report.event {
                    seen.insert("\(maker.string)/\(model.string)/\(number.string)")
                }
                if case .scanned(let list) = report.event { seen.insert("\(list.base) \(list.models)") }
            }
            return seen == ["Ballast Test/Pymodbus PCS/4711", "0 [1, 64001, 701, 702, 704]"]
        }
    }

    @Test func `keeps the setpoint as long as it is renewed, beyond its reversion time`() throws {
        let peer = try Peer("sunspec_device.py", ["tcp"])
        let link = try Link.tcp(peer)
        let inverter = link.addInverter(reversion: .seconds(1))
        link.start()
        defer { link.finish() }
        inverter.ask(Watts(5_000), for: .seconds(600))
        try eventually("the setpoint arrives") { try peer.setpoint() == 500 }
        let writes = link.talk.status.writes
        try eventually("ten refreshes") { link.talk.status.writes >= writes + 10 }
        #expect(try peer.setpoint() == 500)
        #expect(link.talk.status.overrides == 0, "the device's timer never fired")
    }

    @Test func `goes to zero by itself when the link dies`() throws {
        let peer = try Peer("sunspec_device.py", ["tcp"])
        let link = try Link.tcp(peer)
        let inverter = link.addInverter(reversion: .seconds(1))
        link.start()
        defer { link.finish() }
        inverter.ask(Watts(5_000), for: .seconds(600))
        // Enabled too: before that the device has no timer that could run out.
        try eventually("the setpoint counts") {
            try peer.setpoint() == 500 && peer.point(704, "WSetEna") == 1
        }
        try peer.ask("down")
        try eventually("the reversion timer fires") { try peer.setpoint() == 0 }
        try eventually("the reading is stale") {
            inverter.image.activePower.fresh(at: .now(), within: short) == nil
        }
        try peer.ask("up")
        try eventually("after the restart it is driven again") { try peer.setpoint() == 500 }
        try eventually("and read") {
            inverter.image.activePower.fresh(at: .now(), within: short) == Watts(5_000)
        }
        #expect(link.talk.status.reconnects >= 1)
    }

    @Test func `gets zero written when the owner stops`() throws {
        let peer = try Peer("sunspec_device.py", ["tcp"])
        let link = try Link.tcp(peer)
        let inverter = link.addInverter(reversion: .seconds(600))
        link.start()
        inverter.ask(Watts(5_000), for: .seconds(600))
        try eventually("the setpoint arrives") { try peer.setpoint() == 500 }
        link.finish()
        #expect(try peer.setpoint() == 0)
    }

    @Test(arguments: [("WSet", 77), ("WSetEna", 0), ("WSetMod", 0), ("WSetRvrtTms", 0)])
    func `is corrected when somebody else changes its control`(point: String, number: Int) throws {
        let peer = try Peer("sunspec_device.py", ["tcp"])
        let link = try Link.tcp(peer)
        let inverter = link.addInverter(reversion: .seconds(600))
        link.start()
        defer { link.finish() }
        inverter.ask(Watts(5_000), for: .seconds(600))
        try eventually("the setpoint arrives") { try peer.setpoint() == 500 }
        // The enable is written after the value.
        try eventually("and is enabled") { try peer.point(704, "WSetEna") == 1 }
        let expected = try peer.point(704, point)
        try peer.ask("set 1 704 \(point) \(number)")
        try eventually("it is ours again") { try peer.point(704, point) == expected }
        try eventually("it is reported") {
            link.count { if case .setpointOverridden = $0 { true } else { false } } == 1
        }
    }

    @Test func `whose scale factor changes is scanned anew and gets the same power`() throws {
        let peer = try Peer("sunspec_device.py", ["tcp"])
        let link = try Link.tcp(peer)
        let inverter = link.addInverter(reversion: .seconds(600))
        link.start()
        defer { link.finish() }
        inverter.ask(Watts(5_000), for: .seconds(600))
        try eventually("the setpoint arrives") { try peer.setpoint() == 500 }
        try peer.ask("set 1 704 WSet_SF 2")
        try eventually("the number is written for the new scale") { try peer.setpoint() == 50 }
    }

    @Test func `without model 704 is not controllable and none of its readings is good`() throws {
        let peer = try Peer("sunspec_device.py", ["tcp", "--models", "1,103,120"])
        let link = try Link.tcp(peer)
        let inverter = link.addInverter()
        link.start()
        defer { link.finish() }
        try eventually("it is reported") {
            link.count { if case .notControllable = $0 { true } else { false } } == 1
        }
        try eventually("and its readings are bad") {
            inverter.image.activePower.fault(at: .now(), within: short) == .notImplemented
        }
    }

    @Test func `with a 704 whose scale factor is not implemented is not controllable`() throws {
        let peer = try Peer("sunspec_device.py", ["tcp"])
        try peer.ask("set 1 704 WSet_SF 32768")
        let link = try Link.tcp(peer)
        _ = link.addInverter()
        link.start()
        defer { link.finish() }
        try eventually("it is reported") {
            link.count { if case .notControllable = $0 { true } else { false } } == 1
        }
        #expect(try peer.point(704, "WSetEna") == 0)
    }

    // swift-format-ignore
    static let dcModels: [(models: String, volts: Double?, why: Comment)] = [
        ("1,103,701,704",     765.0, "701 says nothing of it, 103 does"),
        ("1,103,701,714,704", 751.2, "714 is the newer one"),
        ("1,701,704",         nil,   "nobody tells"),
    ]

    @Test(arguments: dcModels)
    func `tells the voltage of its DC side to who drives contactors`(
        models: String, volts: Double?, why: Comment
    ) throws {
        let peer = try Peer("sunspec_device.py", ["tcp", "--models", models])
        let link = try Link.tcp(peer)
        let inverter = link.addInverter(readsDCVoltage: true)
        link.start()
        defer { link.finish() }
        let goal = link.talk.status.transactions + 40
        try eventually(why) {
            inverter.image.frequency.fresh(at: .now(), within: short) == Hertz(49.985)
                && inverter.image.dcVoltage.fresh(at: .now(), within: short) == volts.map { Volts($0) }
                && link.talk.status.transactions >= goal
        }
    }

    // swift-format-ignore
    static let meters: [(models: String, sign: SunSpecMeterSign, power: Double, why: Comment)] = [
        ("1,203", .load,        25_000, "the meter counts what the site draws"),
        ("1,203", .generation, -25_000, "the meter counts what the site injects"),
        ("1,103", .load,       -12_340, "an inverter in a meter's place says its sign itself"),
    ]

    @Test(arguments: meters)
    func `and a meter`(models: String, sign: SunSpecMeterSign, power: Double, why: Comment) throws {
        let peer = try Peer("sunspec_device.py", ["tcp", "--models", models])
        let link = try Link.tcp(peer)
        let meter = link.addMeter(sign: sign)
        link.start()
        defer { link.finish() }
        try eventually(why) { meter.image.activePower.fresh(at: .now(), within: short) == Watts(power) }
        #expect(meter.image.frequency.fresh(at: .now(), within: .seconds(5)) != nil)
    }
}
