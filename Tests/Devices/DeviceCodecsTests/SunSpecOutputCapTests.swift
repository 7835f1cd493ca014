import DeviceCodecs
import Quantities
import Testing

@Suite struct `A limit of the output by SunSpec 123` {
    /// Tenths of a percent; switched off, with somebody's reversion of an hour.
    static func registers(scale: UInt16 = 0xFFFF) -> [UInt16] {
        var registers = [UInt16](repeating: 0, count: 26)
        (registers[0], registers[1], registers[5], registers[7]) = (123, 24, 1_000, 3_600)
        registers[23] = scale
        return registers
    }

    static func cap(_ registers: [UInt16], _ limit: Double, of reference: Double) throws -> SunSpecOutputCap {
        try registers.withUnsafeBufferPointer {
            try SunSpecOutputCap(Watts(limit), of: Watts(reference), in: SunSpecBlock($0, length: 24))
        }
    }

    // swift-format-ignore
    static let limits: [(limit: Double, of: Double, number: UInt16, why: Comment)] = [
        (30_000,  40_000,   750, "a share of WMax"),
        (33_333, 100_000,   333, "rounded down: a limit is never passed"),
        (50_000,  40_000, 1_000, "more than the device has: all of it"),
    ]
    @Test(arguments: limits) func `is written with everything that could take it away again`(
        limit: Double, reference: Double, number: UInt16, why: Comment
    ) throws {
        let cap = try Self.cap(Self.registers(), limit, of: reference)
        var block = [UInt16](repeating: 0xAAAA, count: SunSpecOutputCap.longestWrite)
        block.withUnsafeMutableBufferPointer { cap.activation(into: $0) }
        #expect(block == [number, 0, 0, 0, 1], why)
        #expect(abs(cap.percent - Double(number) / 10) < 1e-9)
    }

    // swift-format-ignore
    static let found: [(place: Int, value: UInt16, followed: Bool, why: Comment)] = [
        (5,    750, true,  "ours"),
        (5,    400, true,  "somebody's narrower limit stays"),
        (5,    751, false, "widened"),
        (9,      0, false, "switched off"),
        (9, 0xFFFF, false, "no enable any more"),
        (7,     60, false, "it would go away by itself"),
        (7, 0xFFFF, true,  "a device without that timer"),
        (23,     0, false, "the number means something else now"),
    ]
    @Test(arguments: found) func `holds only while it is on, as narrow as ours, and for ever`(
        place: Int, value: UInt16, followed: Bool, why: Comment
    ) throws {
        let cap = try Self.cap(Self.registers(), 30_000, of: 40_000)
        var registers = Self.registers()
        registers.replaceSubrange(5..<10, with: [750, 0, 0, 0, 1])
        registers[place] = value
        registers.withUnsafeBufferPointer {
            #expect(cap.isFollowed(SunSpecBlock($0, length: 24)) == followed, why)
        }
    }

    @Test(arguments: [(5, UInt16(0xFFFF)), (9, 0xFFFF), (23, 0x8000), (23, 1), (23, 11)])
    func `of a device that lacks the points cannot be made`(place: Int, value: UInt16) {
        var registers = Self.registers()
        registers[place] = value
        #expect(throws: SunSpecEncodingError.doesNotFit) {
            _ = try Self.cap(registers, 30_000, of: 40_000)
        }
        #expect(throws: SunSpecEncodingError.doesNotFit) {
            _ = try Self.cap(Self.registers(), 30_000, of: 0)
        }
    }
}
