import DeviceCodecs
import LinuxIO
import ModbusBus
import Plant
import Quantities
import Testing

/// A device of before 2018 by pymodbus: 103 and 124, no 704.
@Suite(.serialized) struct `A SunSpec inverter with 124 alone` {
    static let models = "1,103,120,124"

    @Test func `is driven by its rates, rewritten in time, and left at zero`() throws {
        let peer = try Peer("sunspec_device.py", ["tcp", "--models", Self.models])
        let link = try Link.tcp(peer)
        let inverter = link.addInverter(reversion: .seconds(3), acceptsUnprovenReversion: true)
        link.start()
        inverter.ask(Watts(-12_340), for: .seconds(600))
        try eventually("it charges with the power asked for") {
            inverter.image.activePower.fresh(at: .now(), within: .milliseconds(500)) == Watts(-12_340)
        }
        #expect(try peer.point(124, "StorCtl_Mod") == 3)
        #expect(try peer.point(124, "InWRte") == 2_468 && peer.point(124, "OutWRte") == 0x10000 - 2_468)
        #expect(try peer.point(124, "InOutWRte_RvrtTms") == 3)
        #expect(link.count { if case .controlTaken = $0 { true } else { false } } == 1)
        let before = link.talk.status.writes
        try eventually("the value is rewritten before the device's timer ends") {
            link.talk.status.writes >= before + 4
        }
        #expect(try peer.point(124, "StorCtl_Mod") == 3)
        try eventually("a foreign hand is seen and put right") {
            // What is rewritten in time anyway may put it right before anybody has looked.
            if link.talk.status.overrides == 0 { try peer.ask("set 1 124 StorCtl_Mod 0") }
            return try link.talk.status.overrides >= 1 && peer.point(124, "StorCtl_Mod") == 3
        }
        inverter.ask(Watts(8_000), for: .milliseconds(300))
        try eventually("discharge") { try peer.point(124, "OutWRte") == 1_600 }
        try eventually("and nothing when nobody renews it") { try peer.point(124, "OutWRte") == 0 }
        inverter.ask(Watts(8_000), for: .seconds(600))
        try eventually("discharge again") { try peer.point(124, "OutWRte") == 1_600 }
        link.finish()
        #expect(try peer.point(124, "OutWRte") == 0 && peer.point(124, "InWRte") == 0)
    }

    @Test func `gets no setpoints before somebody has measured what it does after silence`() throws {
        let peer = try Peer("sunspec_device.py", ["tcp", "--models", Self.models])
        let link = try Link.tcp(peer)
        let inverter = link.addInverter()
        link.start()
        defer { link.finish() }
        inverter.ask(Watts(-12_340), for: .seconds(600))
        try eventually("it is said why") {
            link.count { if case .reversionUnproven(.disables) = $0 { true } else { false } } == 1
        }
        #expect(inverter.image.activePower.fault(at: .now(), within: .seconds(60)) == .notImplemented)
        #expect(try peer.point(124, "StorCtl_Mod") == 0 && link.talk.status.writes == 0)
    }

    @Test func `gets no setpoints where another device has proven what it does after silence`() throws {
        let peer = try Peer("sunspec_device.py", ["tcp", "--models", Self.models])
        let first = try Link.tcp(peer)
        let known = first.addInverter(acceptsUnprovenReversion: true)
        first.start()
        try eventually("it says who it is") { known.image.identity != 0 }
        first.finish()
        for (identity, isDriven) in [(known.image.identity, true), (known.image.identity ^ 1, false)] {
            let link = try Link.tcp(peer)
            let inverter = link.addInverter(acceptsUnprovenReversion: true, provenIdentity: identity)
            link.start()
            defer { link.finish() }
            inverter.ask(Watts(-12_340), for: .seconds(600))
            let charges = UInt16(2_468)
            if isDriven {
                try eventually("the one that was proven is driven") {
                    try peer.point(124, "InWRte") == charges
                }
            } else {
                try eventually("it is said why not") {
                    link.count { if case .otherDeviceProven = $0 { true } else { false } } == 1
                }
                let rates = try [peer.point(124, "InWRte"), peer.point(124, "OutWRte")]
                #expect(rates == [0, 0], "\(link.talk.status.writes) writes; \(link.reports())")
                #expect(inverter.image.activePower.fault(at: .now(), within: .seconds(60)) == .notImplemented)
            }
        }
    }

    @Test func `with 704 as well is driven by 704`() throws {
        let peer = try Peer("sunspec_device.py", ["tcp", "--models", "1,103,120,124,701,704"])
        let link = try Link.tcp(peer)
        let inverter = link.addInverter()
        link.start()
        defer { link.finish() }
        inverter.ask(Watts(-12_340), for: .seconds(600))
        try eventually("WSet") { try peer.setpoint() == -1_234 }
        #expect(try peer.point(124, "StorCtl_Mod") == 0)
    }

    @Test func `a person's writes never reach what is driven, and go out where they do no harm`() throws {
        let peer = try Peer("sunspec_device.py", ["tcp", "--models", "1,701,702,704,64001"])
        let link = try Link.tcp(peer)
        let inverter = link.addInverter()
        _ = inverter
        link.start()
        defer { link.finish() }
        func outcome(_ address: UInt16, unit: UInt8 = 1, ticket: UInt64) throws -> ModbusServiceOutcome {
            let write = try #require(
                ModbusServiceWrite(
                    unit: unit, isCoils: false, address: address, values: [42], ticket: ticket))
            #expect(link.talk.service.ask(write))
            var result: ModbusServiceOutcome?
            try eventually("an answer") {
                result = link.talk.service.outcome(of: ticket)
                return result != nil
            }
            return try #require(result)
        }
        try eventually("its models are known") {
            link.count { if case .scanned = $0 { true } else { false } } == 1
        }
        let controls = UInt16(40_000 + 2 + 68 + 155 + 52)
        #expect(try outcome(controls + 24, ticket: 1) == .standardModel(704))
        #expect(try outcome(40_070 + 26, ticket: 2) == .standardModel(701))
        #expect(try outcome(controls + 67 + 3, ticket: 3) == .written)
        #expect(try peer.point(64_001, "3") == 42)
        #expect(try outcome(controls, unit: 9, ticket: 4) == .noSuchDevice)
        #expect(try outcome(60_000, ticket: 5) == .failed(.exception(2)))
    }
}
