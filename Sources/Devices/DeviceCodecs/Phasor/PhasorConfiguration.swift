/// What a stream of data frames looks like: configuration frame 1, 2 or 3 (CFG-1, CFG-2, CFG-3).
public struct PhasorConfiguration: Sendable, Equatable {
    /// FORMAT: how one PMU writes its numbers.
    public struct Format: Sendable, BitwiseCopyable, Equatable {
        public var rawValue: UInt16

        public init(rawValue: UInt16) { self.rawValue = rawValue }

        public init(polar: Bool, floatPhasors: Bool, floatAnalogs: Bool, floatFrequency: Bool) {
            rawValue = (polar ? 1 : 0) | (floatPhasors ? 2 : 0) | (floatAnalogs ? 4 : 0)
            rawValue |= floatFrequency ? 8 : 0
        }

        public var isPolar: Bool { rawValue & 1 != 0 }
        public var hasFloatPhasors: Bool { rawValue & 2 != 0 }
        public var hasFloatAnalogs: Bool { rawValue & 4 != 0 }
        /// FREQ is the frequency in Hz; else its deviation from nominal in mHz.
        public var hasFloatFrequency: Bool { rawValue & 8 != 0 }
    }

    /// PHUNIT: what one phasor is, and the size of one bit of an integer phasor.
    public struct PhasorUnit: Sendable, BitwiseCopyable, Equatable {
        public var isCurrent: Bool
        /// In 10⁻⁵ V or A per bit; 24 bits.
        public var scale: UInt32

        public init(isCurrent: Bool, scale: UInt32) {
            self.isCurrent = isCurrent
            self.scale = scale
        }
    }

    /// One PMU of the stream.
    public struct Block: Sendable, Equatable {
        /// STN without its trailing spaces; bytes that are no ASCII letters become `?`.
        public var name: String
        public var idCode: UInt16
        public var format: Format
        public var phasors: [PhasorUnit]
        public var analogCount: Int
        /// Words of 16 bits.
        public var digitalCount: Int
        /// FNOM: 60 Hz, else 50 Hz.
        public var isNominal60: Bool
        /// CFGCNT.
        public var changeCount: UInt16

        public init(
            name: String, idCode: UInt16, format: Format, phasors: [PhasorUnit] = [], analogCount: Int = 0,
            digitalCount: Int = 0, isNominal60: Bool = false, changeCount: UInt16 = 0
        ) {
            self.name = name
            self.idCode = idCode
            self.format = format
            self.phasors = phasors
            self.analogCount = analogCount
            self.digitalCount = digitalCount
            self.isNominal60 = isNominal60
            self.changeCount = changeCount
        }

        var nominal: Double { isNominal60 ? 60 : 50 }
        var phasorSize: Int { format.hasFloatPhasors ? 8 : 4 }
        var analogSize: Int { format.hasFloatAnalogs ? 4 : 2 }
        /// Bytes of this PMU's part of a data frame.
        public var size: Int {
            2 + phasors.count * phasorSize + (format.hasFloatFrequency ? 8 : 4) + analogCount * analogSize
                + digitalCount * 2
        }
    }

    /// Ticks of FRACSEC in a second, 1 … 2²⁴ − 1.
    public var timeBase: UInt32
    /// One or more.
    public var blocks: [Block]
    /// DATA_RATE: above zero frames in a second, below zero seconds between two; never zero.
    public var rate: Int16

    public init(timeBase: UInt32, blocks: [Block], rate: Int16) {
        self.timeBase = timeBase
        self.blocks = blocks
        self.rate = rate
    }

    /// Whether data frames look and mean the same, whatever their PMUs are called.
    func isLike(_ other: PhasorConfiguration) -> Bool {
        func bare(_ configuration: PhasorConfiguration) -> PhasorConfiguration {
            var bare = configuration
            for index in bare.blocks.indices {
                bare.blocks[index].name = ""
                for phasor in bare.blocks[index].phasors.indices {
                    bare.blocks[index].phasors[phasor].scale = 0
                }
            }
            return bare
        }
        return bare(self) == bare(other)
    }

    /// FRAMESIZE of a data frame of this stream.
    public var dataSize: Int { blocks.reduce(PhasorHeader.shortestFrame) { $0 + $1.size } }

    /// Reads the payload of a configuration frame 1 or 2 that was checked.
    public init(_ frame: borrowing Span<UInt8>) throws(PhasorFault) {
        var reader = PhasorByteReader(at: PhasorHeader.length)
        timeBase = try reader.long(frame) & 0xFF_FFFF
        let count = try reader.word(frame)
        blocks = []
        for _ in 0..<count { blocks.append(try Self.block(&reader, frame)) }
        rate = Int16(bitPattern: try reader.word(frame))
        guard timeBase > 0, rate != 0, !blocks.isEmpty else { throw .configuration }
        guard reader.offset == frame.count - 2 else { throw .length }
        guard dataSize <= Int(UInt16.max) else { throw .configuration }
    }

    private static func block(
        _ reader: inout PhasorByteReader, _ frame: borrowing Span<UInt8>
    ) throws(PhasorFault) -> Block {
        let name = try self.name(&reader, frame)
        var block = Block(name: name, idCode: try reader.word(frame), format: Format(rawValue: 0))
        block.format = Format(rawValue: try reader.word(frame))
        let phasorCount = Int(try reader.word(frame))
        block.analogCount = Int(try reader.word(frame))
        block.digitalCount = Int(try reader.word(frame))
        try reader.skip(16 * (phasorCount + block.analogCount + 16 * block.digitalCount), frame)
        for _ in 0..<phasorCount {
            let unit = try reader.long(frame)
            block.phasors.append(PhasorUnit(isCurrent: unit >> 24 == 1, scale: unit & 0xFF_FFFF))
        }
        try reader.skip(4 * (block.analogCount + block.digitalCount), frame)
        block.isNominal60 = try reader.word(frame) & 1 == 0
        block.changeCount = try reader.word(frame)
        return block
    }

    private static func name(
        _ reader: inout PhasorByteReader, _ frame: borrowing Span<UInt8>
    ) throws(PhasorFault) -> String {
        let start = reader.offset
        try reader.skip(16, frame)
        var letters: [UInt8] = []
        for index in start..<start + 16 {
            let byte = frame[index]
            letters.append((0x20...0x7E).contains(byte) ? byte : UInt8(ascii: "?"))
        }
        while letters.last == UInt8(ascii: " ") { letters.removeLast() }
        return String(decoding: letters, as: UTF8.self)
    }
}
