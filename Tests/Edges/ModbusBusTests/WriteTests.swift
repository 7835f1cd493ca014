import DeviceCodecs
import LinuxIO
import ModbusBus
import Plant
import Quantities
import Testing

@Suite(.serialized) struct `A fresh decision` {
    /// The look at the actuations once a period would come after ten minutes.
    private static func link(_ peer: Peer, _ wake: WakeUp) throws -> Link {
        try Link(
            .tcp(host: "127.0.0.1", port: UInt16(peer.name) ?? 0), timeout: .seconds(10),
            period: .seconds(600), wake: wake)
    }

    @Test func `wakes the bus, and is written without waiting for the next look`() throws {
        let peer = try Peer("sunspec_device.py", ["tcp"])
        let wake = try WakeUp()
        let link = try Self.link(peer, wake)
        let inverter = link.addInverter(reversion: .seconds(600))
        link.start()
        defer { link.finish() }
        inverter.ask(Watts(1_000), for: .seconds(600))
        try eventually("it is found and driven") {
            wake.signal(at: .now())
            return try peer.setpoint() == 100
        }
        for setpoint in [500, -700, 900, 0] {
            inverter.ask(Watts(Double(setpoint) * 10), for: .seconds(600))
            wake.signal(at: .now())
            try eventually("\(setpoint) arrives") { try peer.setpoint() == setpoint }
        }
    }

    /// Six inverters on a line so slow that their readings are always late, all setpoints moving all the time.
    @Test func `on a line that is behind takes turns with readings, but zero goes to all at once`() throws {
        let units = (1...6).map(UInt8.init)
        let peer = try Peer(
            "sunspec_device.py", ["rtu", "--units", units.map(String.init).joined(separator: ",")])
        let link = try Link.rtu(peer.name, timeout: .seconds(2))
        let inverters = units.map { link.addInverter(unit: $0, reversion: .seconds(600)) }
        link.start()
        defer { link.finish() }
        for inverter in inverters { inverter.ask(Watts(1_000), for: .seconds(600)) }
        try eventually("all are driven and read") {
            try units.allSatisfy { try peer.setpoint(unit: Int($0)) == 100 }
                && inverters.allSatisfy {
                    $0.image.frequency.fresh(at: .now(), within: .seconds(60)) == Hertz(49.985)
                }
        }
        try peer.ask("mode late 15 1000000")
        try peer.ask("requests")
        var (round, functions) = (0, [Substring]())
        func move() {
            round += 1
            for (index, inverter) in inverters.enumerated() {
                let power = 20_000 + (round + index) % 2 * 5_000 + round % 100 * 20
                inverter.ask(Watts(Double(power)), for: .seconds(600))
            }
        }
        let begun = MonotonicTime.now()
        try eventually("three hundred requests") {
            move()
            functions += try peer.ask("requests").split(separator: " ")
            return functions.count >= 300
        }
        let late = functions.suffix(250)
        let (writes, reads) = (late.count { $0 == "16" }, late.count { $0 == "3" })
        #expect(writes >= 50 && reads >= writes - 2, "\(writes) writes, \(reads) reads")
        for inverter in inverters {
            let age = inverter.image.frequency.age(at: begun) ?? .seconds(60)
            #expect(age < .zero, "every device was read meanwhile")
        }
        for inverter in inverters { inverter.ask(.zero, for: .seconds(600)) }
        functions = []
        try eventually("zero everywhere") {
            functions += try peer.ask("requests").split(separator: " ")
            return try units.allSatisfy { try peer.setpoint(unit: Int($0)) == 0 }
        }
        functions += try peer.ask("requests").split(separator: " ")
        let runs = functions.split(whereSeparator: { $0 != "16" }).map(\.count)
        #expect((runs.max() ?? 0) >= units.count - 1, "no reading between them: \(functions)")
    }

    @Test func `waits for the one transaction in flight and for nothing else`() throws {
        let peer = try Peer("sunspec_device.py", ["tcp"])
        let wake = try WakeUp()
        let link = try Link(
            .tcp(host: "127.0.0.1", port: UInt16(peer.name) ?? 0), timeout: .seconds(10), wake: wake)
        let inverter = link.addInverter(reversion: .seconds(600))
        link.start()
        defer { link.finish() }
        inverter.ask(Watts(1_000), for: .seconds(600))
        wake.signal(at: .now())
        try eventually("driven, and read all the time") {
            let isRead = inverter.image.frequency.fault(at: .now(), within: .seconds(1)) == nil
            return try peer.setpoint() == 100 && isRead
        }
        var (round, inTime) = (0, 0)
        // On a slow machine the one in flight may end before we have asked: such a round says nothing.
        while inTime < 5 && round < 40 {
            round += 1
            // Two: one may be under way already.
            try peer.ask("mode late 1000 2")
            try peer.ask("requests")
            try eventually("a request is in flight") { try !peer.ask("requests").isEmpty }
            inverter.ask(Watts(1_000 + Double(round) * 100), for: .seconds(600))
            wake.signal(at: .now())
            var functions: [Substring] = []
            try eventually("the setpoint arrives") {
                functions += try peer.ask("requests").split(separator: " ")
                return try peer.setpoint() == 100 + 10 * round
            }
            // The log is cleared before the setpoint is looked at.
            functions += try peer.ask("requests").split(separator: " ")
            if functions.first == "16" { inTime += 1 }
        }
        #expect(inTime == 5, "after the one in flight the write comes")
    }
}
