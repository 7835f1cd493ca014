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
