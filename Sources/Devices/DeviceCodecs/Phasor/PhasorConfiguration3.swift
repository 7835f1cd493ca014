/// Configuration frame 3 (CFG-3), of the edition of 2011: names of any length, scales as floats, and where
/// each PMU stands. What data frames look like follows from it as from CFG-2.
extension PhasorConfiguration {
    /// Reads the payload of a configuration frame 3 that was checked.
    ///
    /// - Throws: `configuration` where it is one of several parts (CONT_IDX), which nobody puts together.
    init(configuration3 frame: borrowing Span<UInt8>) throws(PhasorFault) {
        var reader = PhasorByteReader(at: PhasorHeader.length)
        guard try reader.word(frame) == 0 else { throw .configuration }
        let timeBase = try reader.long(frame) & 0xFF_FFFF
        let count = try reader.word(frame)
        var blocks: [Block] = []
        for _ in 0..<count { blocks.append(try Self.block3(&reader, frame)) }
        let rate = Int16(bitPattern: try reader.word(frame))
        guard timeBase > 0, rate != 0, !blocks.isEmpty else { throw .configuration }
        guard reader.offset == frame.count - 2 else { throw .length }
        self.init(timeBase: timeBase, blocks: blocks, rate: rate)
        guard dataSize <= Int(UInt16.max) else { throw .configuration }
    }

    private static func block3(
        _ reader: inout PhasorByteReader, _ frame: borrowing Span<UInt8>
    ) throws(PhasorFault) -> Block {
        let name = try shortName(&reader, frame)
        var block = Block(name: name, idCode: try reader.word(frame), format: Format(rawValue: 0))
        // G_PMU_ID.
        try reader.skip(16, frame)
        block.format = Format(rawValue: try reader.word(frame))
        let phasorCount = Int(try reader.word(frame))
        block.analogCount = Int(try reader.word(frame))
        block.digitalCount = Int(try reader.word(frame))
        for _ in 0..<(phasorCount + block.analogCount + 16 * block.digitalCount) {
            try reader.skip(Int(try reader.byte(frame)), frame)
        }
        for _ in 0..<phasorCount {
            let flags = try reader.long(frame)
            let scale = try reader.float(frame) * 1e5
            try reader.skip(4, frame)
            block.phasors.append(
                PhasorUnit(
                    isCurrent: flags >> 8 & 8 != 0,
                    scale: scale.isFinite ? UInt32(min(max(scale.rounded(), 0), 4e9)) : 0))
        }
        try reader.skip(8 * block.analogCount + 4 * block.digitalCount, frame)
        // PMU_LAT, PMU_LON, PMU_ELEV, SVC_CLASS, WINDOW, GRP_DLY.
        try reader.skip(4 + 4 + 4 + 1 + 4 + 4, frame)
        block.isNominal60 = try reader.word(frame) & 1 == 0
        block.changeCount = try reader.word(frame)
        return block
    }

    /// A length and so many bytes, UTF-8; bytes that are no ASCII letters become `?`.
    private static func shortName(
        _ reader: inout PhasorByteReader, _ frame: borrowing Span<UInt8>
    ) throws(PhasorFault) -> String {
        let length = Int(try reader.byte(frame))
        let start = reader.offset
        try reader.skip(length, frame)
        var letters: [UInt8] = []
        for index in start..<start + length {
            let byte = frame[index]
            letters.append((0x20...0x7E).contains(byte) ? byte : UInt8(ascii: "?"))
        }
        return String(decoding: letters, as: UTF8.self)
    }
}
