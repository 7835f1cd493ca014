import DeviceCodecs
import Quantities
import Testing

@Suite struct `SunSpec 704 setpoint` {
    static func control(scale: Int, reversion: Duration = .seconds(6)) throws -> SunSpecSetpointControl {
        let exponent = try #require(SunSpecScale(register: UInt16(bitPattern: Int16(scale))))
        return try SunSpecSetpointControl(scale: exponent, reversion: reversion)
    }

    // swift-format-ignore
    static let rows: [(scale: Int, watts: Double, expected: Int32?, why: Comment)] = [
        (0,   -250_000,       -250_000, "charging is negative"),
        (1,    12_345,           1_234, "rounded toward zero"),
        (1,   -12_345,          -1_234, "toward zero on the other side too"),
        (2,        99,               0, "less than one step is nothing"),
        (-1,      0.3,               3, "tenths of a watt"),
        (0,  2_147_483_647, 2_147_483_647, "the largest"),
        (0,  2_147_483_648,        nil, "one beyond does not fit"),
        (0, -2_147_483_647, -2_147_483_647, "the smallest"),
        (0, -2_147_483_648,        nil, "that is the not implemented mark"),
        (-3,    3_000_000,         nil, "the scale makes it too large"),
    ]

    @Test(arguments: rows)
    func `a power becomes a register value or is refused`(
        scale: Int, watts: Double, expected: Int32?, why: Comment
    ) throws {
        let control = try Self.control(scale: scale)
        if let expected {
            #expect(try control.encode(Watts(watts)) == expected, why)
        } else {
            #expect(throws: SunSpecEncodingError.doesNotFit, why) { try control.encode(Watts(watts)) }
        }
    }

    @Test func `activation writes watts, the value, and reversion to zero with the control enabled`() throws {
        let control = try Self.control(scale: 0, reversion: .seconds(70_000))
        var registers = [UInt16](repeating: 0xAAAA, count: 10)
        registers.withUnsafeMutableBufferPointer { control.activation(-2, into: $0) }
        #expect(registers == [1, 0xFFFF, 0xFFFE, 0, 0, 0, 0, 1, 1, 4_464])
    }

    @Test func `a reversion below one second is refused`() {
        #expect(throws: SunSpecEncodingError.reversionOutOfRange) {
            try Self.control(scale: 0, reversion: .milliseconds(999))
        }
        #expect(throws: Never.self) { try Self.control(scale: 0, reversion: .milliseconds(1_000)) }
    }

    // swift-format-ignore
    static let readBacks: [(offset: Int, value: UInt16, followed: Bool, why: Comment)] = [
        (2,  0, true,  "something that is not ours"),
        (22, 0, false, "disabled"),
        (22, 0xFFFF, false, "enable not implemented"),
        (23, 0, false, "percent mode"),
        (25, 41, false, "another value"),
        (27, 1, false, "reversion to another value"),
        (30, 0, false, "reversion would disable the control, which is not zero power"),
        (32, 0, false, "no timer"),
    ]

    @Test(arguments: readBacks)
    func `a read-back shows whether the device still follows`(
        offset: Int, value: UInt16, followed: Bool, why: Comment
    ) throws {
        let control = try Self.control(scale: 0)
        var registers = [UInt16](repeating: 0, count: 56)
        registers[22] = 1
        var block = [UInt16](repeating: 0, count: 10)
        block.withUnsafeMutableBufferPointer { control.activation(42, into: $0) }
        registers.replaceSubrange(23..<33, with: block)
        registers.withUnsafeBufferPointer {
            #expect(control.isFollowed(SunSpecBlock($0, length: 65), setpoint: 42))
        }
        registers[offset] = value
        registers.withUnsafeBufferPointer {
            #expect(control.isFollowed(SunSpecBlock($0, length: 65), setpoint: 42) == followed, why)
        }
    }
}

@Suite struct `Power by the rates of SunSpec 124` {
    /// WChaMax 50 kW in tens of watts, rates in hundredths of a percent.
    static func registers(reversion: UInt16 = 0, rateScale: UInt16 = 0xFFFE) -> [UInt16] {
        var registers = [UInt16](repeating: 0, count: 26)
        (registers[0], registers[1], registers[2]) = (124, 24, 5_000)
        (registers[18], registers[25], registers[15]) = (1, rateScale, reversion)
        return registers
    }

    static func control(_ registers: [UInt16]) throws -> SunSpecPowerControl {
        try registers.withUnsafeBufferPointer {
            try SunSpecPowerControl(.storage, SunSpecBlock($0, length: 24), reversion: .seconds(10))
        }
    }

    // swift-format-ignore
    static let powers: [(Watts, UInt16, UInt16, String)] = [
        (Watts(0),        0,      0,      "nothing either way"),
        (Watts(25_000),   5_000,  0xEC78, "half: discharge at most 50 %, charge at least -50 %"),
        (Watts(-25_000),  0xEC78, 5_000,  "the same the other way round"),
        (Watts(4),        0,      0,      "less than a step: toward zero"),
        (Watts(-24_999),  0xEC79, 4_999,  "toward zero while charging too"),
    ]
    @Test(arguments: powers) func `leave nothing but the power asked for`(
        power: Watts, out: UInt16, into: UInt16, why: String
    ) throws {
        let control = try Self.control(Self.registers())
        let number = try control.encode(power)
        let words = control.words(number)
        #expect(words.0 == out && words.1 == into, "\(why)")
        #expect(control.decode(number).magnitude <= power.magnitude)
        let enable = try #require(control.enable)
        #expect(enable.offset == 5 && enable.value == 3 && control.setpointOffset == 12)
    }

    // swift-format-ignore
    static let references: [(nameplate: Double, power: Double, out: Int16, into: Int16, why: Comment)] = [
        (100_000,  25_000,  2_500, -5_000, "discharge by the nameplate's 100 kW, forced by WChaMax"),
        (100_000, -25_000, -2_500,  5_000, "charge by WChaMax, forced by the nameplate's"),
        ( 25_000,  25_000,  5_000, -5_000, "a smaller nameplate: WChaMax, since the device may mean it"),
        (150_000,  10_000,    666, -1_998, "what is forced is never more than the limit: 9.99 of 9.99 kW"),
        (150_000, -10_000,   -666,  2_000, "the same while charging: 9.99 of 10 kW"),
    ]
    @Test(arguments: references) func `count each direction by its own reference`(
        nameplate: Double, power: Double, out: Int16, into: Int16, why: Comment
    ) throws {
        let registers = Self.registers()
        let control = try registers.withUnsafeBufferPointer {
            try SunSpecPowerControl(
                .storage, SunSpecBlock($0, length: 24), reversion: .seconds(10),
                largestDischarge: Watts(nameplate))
        }
        let number = try control.encode(Watts(power))
        let words = control.words(number)
        #expect(Int16(bitPattern: words.0) == out && Int16(bitPattern: words.1) == into, why)
        let decoded = control.decode(number)
        #expect((decoded - Watts(power)).magnitude < Watts(16) && decoded.magnitude <= Watts(abs(power)), why)
        var shown = registers
        (shown[12], shown[13]) = words
        shown.withUnsafeBufferPointer {
            #expect(control.found(in: SunSpecBlock($0, length: 24)) == number, why)
        }
    }

    @Test func `are followed only while both limits, both rates and the timer stand`() throws {
        let control = try Self.control(Self.registers())
        let number = try control.encode(Watts(-10_000))
        let room = UnsafeMutableBufferPointer<UInt16>.allocate(capacity: 10)
        defer { room.deallocate() }
        let (offset, count) = control.activation(number, into: room)
        var registers = Self.registers()
        for index in 0..<count { registers[offset + index] = room[index] }
        func isFollowed(_ registers: [UInt16]) -> Bool {
            registers.withUnsafeBufferPointer {
                control.isFollowed(SunSpecBlock($0, length: 24), setpoint: number)
            }
        }
        #expect(!isFollowed(registers), "not enabled yet")
        registers[5] = 3
        #expect(isFollowed(registers) && registers[15] == 10 && registers[14] == 0 && registers[16] == 0)
        for (place, value) in [(5, UInt16(1)), (5, 2), (12, 0), (13, 0), (15, 3_600)] {
            var changed = registers
            changed[place] = value
            #expect(!isFollowed(changed), "register \(place)")
        }
        for (place, value) in [(2, UInt16(4_000)), (18, 0), (25, 0)] {
            var changed = registers
            changed[place] = value
            changed.withUnsafeBufferPointer {
                #expect(!control.isScaled(SunSpecBlock($0, length: 24)), "register \(place)")
            }
        }
    }

    @Test func `have no safe reversion, and none at all without a timer`() throws {
        #expect(try Self.control(Self.registers()).reversion == .disables)
        #expect(try Self.control(Self.registers(reversion: 0xFFFF)).reversion == .absent)
        for (place, value) in [(2, UInt16(0)), (2, 0xFFFF), (12, 0x8000), (5, 0xFFFF), (25, 0x8000), (25, 1)]
        {
            var registers = Self.registers()
            registers[place] = value
            #expect(throws: SunSpecEncodingError.doesNotFit, "register \(place)") {
                _ = try Self.control(registers)
            }
        }
    }
}
