import BatteryProfiles
import ConfigText
import DBC
import DeviceCodecs
import Plant
import Quantities
import SiteConfig
import Testing
import YAMLText

/// Checksums and counters of frames that come, and of frames that go.
@Suite struct ProtectionTests {
    // swift-format-ignore
    static let checks: [(name: String, expected: UInt16)] = [
        ("xor8", 0x31), ("sum8", 0xDD), ("sum16", 0x01DD), ("crc8", 0xF4), ("crc8_sae_j1850", 0x4B),
        ("crc8_autosar", 0xDF), ("crc8_maxim", 0xA1), ("crc16_ccitt", 0x29B1), ("crc16_modbus", 0x4B37),
    ]

    @Test(arguments: checks)
    func `each algorithm gives the check value of its catalogue`(name: String, expected: UInt16) throws {
        var checksum = try #require(FrameChecksum(named: name))
        checksum.place = 63
        #expect(checksum.value(over: Array("123456789".utf8).span) == expected)
    }

    @Test func `every name in the profile's key is an algorithm, and no other is`() {
        for name in FrameChecksum.names { #expect(FrameChecksum(named: name) != nil) }
        #expect(FrameChecksum(named: "md5") == nil)
    }

    @Test(arguments: [(UInt8(0), UInt16(0xCC)), (1, 0x91), (2, 0x76)])
    func `AUTOSAR E2E profile 1: data identifier 0x123 and a frame of zeros but for the counter`(
        counter: UInt8, expected: UInt16
    ) throws {
        var checksum = try #require(FrameChecksum(named: "e2e_p01"))
        checksum.dataID = 0x123
        let bytes: [UInt8] = [0, counter, 0, 0, 0, 0, 0, 0]
        #expect(checksum.value(over: bytes.span) == expected)
    }

    static let dbc = """
        BO_ 256 Guarded: 8 BMS
         SG_ Crc : 0|8@1+ (1,0) [0|0] "" X
         SG_ Counter : 8|4@1+ (1,0) [0|0] "" X
         SG_ Voltage : 16|16@1+ (0.1,0) [0|0] "V" X
         SG_ Wide : 39|16@0+ (1,0) [0|0] "" X
         SG_ Odd : 60|4@1+ (1,0) [0|0] "" X
        BO_ 512 Command: 8 BMS
         SG_ Crc : 0|8@1+ (1,0) [0|0] "" X
         SG_ Counter : 8|4@1+ (1,0) [0|0] "" X
         SG_ Year : 16|8@1+ (1,2000) [0|0] "" X
         SG_ Day : 24|8@1+ (1,0) [0|0] "" X
         SG_ Power : 32|16@1- (0.1,0) [0|0] "kW" X
         SG_ Permit : 48|1@1+ (1,0) [0|0] "" X
         SG_ Second : 56|8@1+ (1,0) [0|0] "" X
        """
    static let head = """
        name: test
        dbc: test.dbc
        period_ms: 100
        readings:
          pack_voltage: {signal: Guarded.Voltage}
        alarms:
          a: {severity: alarm, kind: absent}
          w: {severity: warning, kind: absent}

        """
    static let guarded = """
        protected:
          - checksum: {signal: Guarded.Crc, algorithm: e2e_p01, data_id: "0x0123"}
            counter: {signal: Guarded.Counter, modulo: 15, max_step: 2, stuck_after: 3}

        """

    static func read(_ text: String) throws(ConfigErrors) -> BatteryProfile {
        let tree: ConfigNode
        do throws(ConfigError) { tree = try YAMLText.parse(Array(text.utf8), file: "f") } catch {
            throw ConfigErrors(error)
        }
        return try BatteryProfile.read(tree, file: "f") { (_) throws(ConfigError) in Array(dbc.utf8) }
    }

    static func guardedFrame(_ counter: UInt8, _ voltage: UInt8, spoil: UInt8 = 0) throws -> CANFrame {
        var checksum = try #require(FrameChecksum(named: "e2e_p01"))
        checksum.dataID = 0x123
        var bytes: [UInt8] = [0, counter, voltage, 0, 0, 0, 0, 0]
        checksum.write(into: &bytes)
        bytes[0] ^= spoil
        return try #require(CANFrame(256, bytes: bytes))
    }

    // swift-format-ignore
    static let frames: [(counter: UInt8, spoil: UInt8, outcome: BatteryFrameOutcome, why: Comment)] = [
        (3,  0, .used,                "the first one begins anywhere"),
        (4,  1, .rejected(.checksum), "one bit of the checksum"),
        (4,  0, .used,                "the next, right"),
        (6,  0, .used,                "one lost"),
        (9,  0, .rejected(.counter),  "two lost"),
        (10, 0, .used,                "goes on from there"),
        (10, 0, .rejected(.counter),  "the same once more"),
        (14, 0, .rejected(.counter),  "a leap"),
        (0,  0, .used,                "after 14 comes 0"),
        (15, 0, .rejected(.counter),  "beyond the end"),
        (1,  0, .used,                "and on"),
        (0,  0, .rejected(.counter),  "back"),
    ]

    @Test func `a protected frame counts only with its checksum and the next counter`() throws {
        var battery = ProfiledBattery(try Self.read(Self.head + Self.guarded))
        for (index, row) in Self.frames.enumerated() {
            let frame = try Self.guardedFrame(row.counter, UInt8(index), spoil: row.spoil)
            let before = battery.image(at: at(Int64(index))).packVoltage.age(at: at(Int64(index)))
            #expect(battery.accept(frame, at: at(Int64(index))) == row.outcome, row.why)
            let after = battery.image(at: at(Int64(index))).packVoltage.age(at: at(Int64(index)))
            #expect((after == .zero) == (row.outcome == .used), row.why)
            if row.outcome != .used { #expect(after == before, row.why) }
        }
        #expect(battery.accept(try frame(256, "00 01"), at: at(20)) == .rejected(.checksum))
        #expect(battery.accept(try frame(256, ""), at: at(20)) == .rejected(.tooShort))
    }

    @Test func `a protected counter that stands still takes every reading away`() throws {
        var battery = ProfiledBattery(try Self.read(Self.head + Self.guarded))
        for step in 0..<4 { _ = battery.accept(try Self.guardedFrame(5, 1), at: at(Int64(step))) }
        #expect(battery.isFrozen)
        #expect(battery.image(at: at(4)).packVoltage.fault(at: at(4), within: .seconds(1)) == .frozen)
        _ = battery.accept(try Self.guardedFrame(6, 1), at: at(5))
        #expect(battery.image(at: at(5)).packVoltage.number(at: at(5)) == 0.1)
    }

    @Test func `a frame to send carries counter, time, setpoint, permit and checksum`() throws {
        let send = """
            send:
              - message: Command
                period_ms: 100
                signals:
                  - {signal: Counter, from: counter, modulo: 15}
                  - {signal: Year, from: year}
                  - {signal: Day, from: day}
                  - {signal: Second, from: second}
                  - {signal: Power, from: setpoint_kw, scale: -1}
                  - {signal: Permit, from: contactor_permit}
                checksum: {signal: Command.Crc, algorithm: crc8_sae_j1850}
            """
        let frame = try #require(try Self.read(Self.head + send).sends.first)
        let actuation = Actuation(
            setpoint: .kilowatts(12.34), expires: at(1_000), isContactorPermitted: true, cycle: 1)
        // 2024-02-29 12:34:56 UTC.
        let sent = frame.frame(actuation, at: at(500), wallSeconds: 1_709_210_096, count: 16)
        #expect((1..<8).map { sent.data[$0] } == [1, 24, 29, 0x85, 0xFF, 1, 56])
        let checksum = try #require(FrameChecksum(named: "crc8_sae_j1850"))
        #expect(UInt16(sent.data[0]) == checksum.value(over: sent.data.span.extracting(first: 8)))
        let later = frame.frame(actuation, at: at(1_001), wallSeconds: -5, count: 14)
        #expect((1..<8).map { later.data[$0] } == [14, 0, 1, 0, 0, 0, 0], "expired, and no clock")
        var far = actuation
        far.setpoint = .kilowatts(-90_000)
        let most = frame.frame(far, at: at(0), wallSeconds: 0, count: 0)
        #expect(most.data[4] == 0xFF && most.data[5] == 0x7F, "as near as the signal can carry")
    }

    struct Bad: Sendable {
        var text: String
        var error: String
        var why: Comment
    }

    // swift-format-ignore
    static let bad: [Bad] = [
        Bad(text: "protected: [{}]\n", error: "protected[0].checksum: or else counter must be there", why: "nothing"),
        Bad(text: "protected: [{checksum: {signal: Guarded.Odd, algorithm: crc8}}]\n", error: "checksum.signal: Odd is not of 8 bits in whole bytes", why: "half a byte"),
        Bad(text: "protected: [{checksum: {signal: Guarded.Wide, algorithm: crc8}}]\n", error: "Wide is not of 8 bits", why: "two bytes"),
        Bad(text: "protected: [{checksum: {signal: Guarded.Crc, algorithm: md5}}]\n", error: "\"md5\" is not one of xor8, sum8", why: "no such algorithm"),
        Bad(text: "protected: [{checksum: {signal: Guarded.Crc, algorithm: e2e_p01}}]\n", error: "data_id: is missing (the algorithm takes it)", why: "no data identifier"),
        Bad(text: "protected: [{checksum: {signal: Guarded.Crc, algorithm: crc8, initial: \"0x12345\"}}]\n", error: "initial: \"0x12345\" is not allowed", why: "five digits"),
        Bad(text: "protected: [{checksum: {signal: Guarded.Crc, algorithm: crc8, data_id: \"0x1\", data_id_mode: alternating}}]\n", error: "counter: is missing (its lowest bit", why: "nothing alternates"),
        Bad(text: "protected: [{counter: {signal: Guarded.Counter, modulo: 17}}]\n", error: "modulo: does not fit a counter of 4 bits", why: "four bits hold no 16"),
        Bad(text: "protected: [{counter: {signal: Guarded.Counter, max_step: 16}}]\n", error: "does not fit a counter", why: "every step would do"),
        Bad(text: "protected: [{counter: {signal: Guarded.Count}}]\n", error: "message Guarded has no signal Count", why: "no such signal"),
        Bad(text: "protected: [{counter: {signal: Guarded.Counter}}, {counter: {signal: Guarded.Counter}}]\n", error: "message Guarded is protected already", why: "twice"),
        Bad(text: "protected: [{checksum: {signal: Guarded.Crc, algorithm: crc8}, counter: {signal: Command.Counter}}]\n", error: "is not in the message of the checksum", why: "two messages"),
        Bad(text: "send: [{message: Command, period_ms: 100, signals: [{signal: Day}]}]\n", error: "value: or else from must be there", why: "no value"),
        Bad(text: "send: [{message: Command, period_ms: 100, signals: [{signal: Dai, from: day}]}]\n", error: "message Command has no signal Dai", why: "no such signal"),
        Bad(text: "send: [{message: Command, period_ms: 100, checksum: {signal: Guarded.Crc, algorithm: crc8}}]\n", error: "checksum.signal: is not in message Command", why: "of another message"),
        Bad(text: "periods: {Guardd: 100}\n", error: "periods.Guardd: the DBC file has no message of this name", why: "no such message"),
        Bad(text: "periods: {Guarded: 0}\n", error: "periods.Guarded: 0 is outside 1 … 600000", why: "never a pause"),
    ]

    @Test(arguments: bad)
    func `a protection or a frame to send that cannot be is refused with its key`(row: Bad) {
        do throws(ConfigErrors) {
            _ = try Self.read(Self.head + row.text)
            Issue.record("taken: \(row.why)")
        } catch {
            #expect(error.description.contains(row.error), "\(row.why): \(error)")
        }
    }
}
