import DeviceCodecs
import Plant
import Quantities
import Testing

@Suite struct `SunSpec points` {
    static let plain = SunSpecPoint("X", 2, .int16)

    /// Registers from offset 2 on; a scale factor stands at offset 6 where there is one.
    struct Row: Sendable {
        let type: SunSpecType
        let registers: [UInt16]
        let scale: UInt16?
        let expected: SunSpecValue
        let why: Comment

        init(
            _ type: SunSpecType, _ registers: [UInt16], scale: UInt16? = nil, _ expected: SunSpecValue,
            _ why: Comment
        ) {
            (self.type, self.registers, self.scale) = (type, registers, scale)
            (self.expected, self.why) = (expected, why)
        }
    }

    // swift-format-ignore
    static let rows: [Row] = [
        Row(.int16, [0x8000], .notImplemented, "the mark of int16"),
        Row(.int16, [0x8001], .number(-32767), "one above the mark"),
        Row(.int16, [0x7FFF], .number(32767), "largest"),
        Row(.uint16, [0xFFFF], .notImplemented, "the mark of uint16"),
        Row(.uint16, [0xFFFE], .number(65534), "one below the mark"),
        Row(.uint16, [0x8000], .number(32768), "int16's mark is a number here"),
        Row(.enum16, [0xFFFF], .notImplemented, "the mark of enum16"),
        Row(.int32, [0x8000, 0], .notImplemented, "the mark of int32"),
        Row(.int32, [0xFFFF, 0xFFFF], .number(-1), "uint32's mark is a number here"),
        Row(.int32, [0x0001, 0x0000], .number(65536), "high word first"),
        Row(.uint32, [0xFFFF, 0xFFFF], .notImplemented, "the mark of uint32"),
        Row(.uint32, [0x8000, 0], .number(2147483648), "int32's mark is a number here"),
        Row(.bitfield32, [0xFFFF, 0xFFFF], .notImplemented, "the mark of bitfield32"),
        Row(.uint64, [0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF], .notImplemented, "the mark of uint64"),
        Row(.uint64, [0, 1, 0, 0], .number(4294967296), "four words, high first"),
        Row(.acc32, [0, 0], .notImplemented, "an accumulator's mark is zero"),
        Row(.acc32, [0xFFFF, 0xFFFF], .number(4294967295), "and all ones is a number"),
        Row(.float32, [0x7FC0, 0], .notImplemented, "NaN"),
        Row(.float32, [0x7F80, 0], .notImplemented, "infinity is not a measurement"),
        Row(.float32, [0xFF80, 1], .notImplemented, "another NaN"),
        Row(.float32, [0x4248, 0], .number(50), "50.0"),
        Row(.int16, [5001], scale: 0xFFFE, .number(50.01), "scale −2, divided, not multiplied by 0.01"),
        Row(.int16, [12], scale: 3, .number(12000), "scale 3"),
        Row(.int16, [1], scale: 10, .number(1e10), "the largest scale"),
        Row(.int16, [1], scale: 11, .unusableScale, "one beyond"),
        Row(.int16, [1], scale: UInt16(bitPattern: -10), .number(1e-10), "the smallest scale"),
        Row(.int16, [1], scale: UInt16(bitPattern: -11), .unusableScale, "one beyond"),
        Row(.int16, [1], scale: 0x8000, .unusableScale, "a scale that is not implemented is not 0"),
        Row(.int16, [0x8000], scale: 0x8000, .notImplemented, "neither is there"),
    ]

    @Test(arguments: rows) func `mark and scale of every type`(row: Row) {
        var registers: [UInt16] = [999, 50] + row.registers
        registers += [UInt16](repeating: 0, count: 6 - registers.count)
        if let scale = row.scale { registers.append(scale) }
        let point = SunSpecPoint("X", 2, row.type, scale: row.scale == nil ? nil : 6)
        registers.withUnsafeBufferPointer {
            #expect(SunSpecBlock($0, length: 50).value(point) == row.expected, row.why)
        }
    }

    @Test func `points beyond the device's own length are absent`() {
        let registers: [UInt16] = [103, 2, 7, 8, 9, 10]
        registers.withUnsafeBufferPointer {
            let block = SunSpecBlock($0, length: 2)
            #expect(block.value(SunSpecPoint("last", 3, .int16)) == .number(8))
            #expect(block.value(SunSpecPoint("beyond", 4, .int16)) == .notImplemented)
            #expect(block.value(SunSpecPoint("half", 3, .int32)) == .notImplemented)
            #expect(block.value(SunSpecPoint("scale beyond", 2, .int16, scale: 4)) == .unusableScale)
            #expect(block.value(SunSpecPoint("negative", -1, .int16)) == .notImplemented)
        }
    }

    @Test func `points outside what was read are absent`() {
        let registers: [UInt16] = [1, 2]
        registers.withUnsafeBufferPointer {
            let block = SunSpecBlock($0, firstOffset: 22, length: 65)
            #expect(block.value(SunSpecPoint("before", 21, .int16)) == .notImplemented)
            #expect(block.value(SunSpecPoint("first", 22, .int16)) == .number(1))
            #expect(block.value(SunSpecPoint("after", 24, .int16)) == .notImplemented)
        }
    }

    @Test func `text ends at its first zero and shows strange bytes as question marks`() {
        var registers: [UInt16] = [1, 66, 0x4162, 0x0700, 0x4141]
        registers += [UInt16](repeating: 0, count: 20)
        registers.withUnsafeBufferPointer {
            #expect(SunSpecBlock($0, length: 66).text(SunSpecCommon.manufacturer).string == "Ab?")
        }
        [UInt16](repeating: 0x4141, count: 70).withUnsafeBufferPointer {
            let text = SunSpecBlock($0, length: 66).text(SunSpecCommon.manufacturer)
            #expect(text.string == String(repeating: "A", count: 32))
        }
    }
}
