/// What a synchrophasor frame carries. Source: IEEE C37.118.2-2011, 6.2, and the 2005 edition.
public enum PhasorFrameKind: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    case data, header, configuration1, configuration2, command, configuration3
}

/// Why bytes are no synchrophasor frame, or one that cannot be used.
public enum PhasorFault: UInt8, Error, Sendable, BitwiseCopyable, CaseIterable {
    /// The first two bytes are no SYNC word.
    case sync
    /// FRAMESIZE does not fit the bytes, or the bytes end inside a field.
    case length
    case checksum
    /// FRACSEC is not below TIME_BASE.
    case time
    /// A value of the configuration that no configuration may have: TIME_BASE or DATA_RATE zero, no PMU.
    case configuration
    /// A data frame that does not have the size which the configuration gives it.
    case size
    /// The IDCODE is that of another stream.
    case stranger
    /// The nominal frequency is not the site's.
    case nominal
    /// Another command than those of the standard.
    case command
}

/// The 14 bytes that every frame begins with.
public struct PhasorHeader: Sendable, BitwiseCopyable, Equatable {
    public static let length = 14
    /// A frame without payload: header and CHK.
    public static let shortestFrame = 16

    public var kind: PhasorFrameKind
    /// 1 = the edition of 2005, 2 = that of 2011.
    public var version: UInt8
    /// FRAMESIZE: all bytes with CHK.
    public var size: Int
    /// Of the stream (data, configuration) or of the addressed PMU (command).
    public var idCode: UInt16
    /// SOC: UNIX seconds, UTC.
    public var second: UInt32
    /// FRACSEC without its flags: 24 bits, counted in TIME_BASE.
    public var fraction: UInt32
    /// The flags of FRACSEC: bits 0 … 3 are 0 while locked and 15 after a failure of the clock.
    public var timeQuality: UInt8

    public init(
        kind: PhasorFrameKind, version: UInt8 = 1, size: Int, idCode: UInt16, second: UInt32,
        fraction: UInt32, timeQuality: UInt8 = 0
    ) {
        self.kind = kind
        self.version = version
        self.size = size
        self.idCode = idCode
        self.second = second
        self.fraction = fraction
        self.timeQuality = timeQuality
    }

    /// The header that `bytes` begin with; nothing behind it is looked at.
    public init(_ bytes: borrowing Span<UInt8>) throws(PhasorFault) {
        var reader = PhasorByteReader()
        let sync = try reader.word(bytes)
        guard sync >> 8 == 0xAA, sync & 0x80 == 0, let kind = PhasorFrameKind(rawValue: UInt8(sync >> 4 & 7))
        else { throw .sync }
        self.kind = kind
        version = UInt8(sync & 0x0F)
        size = Int(try reader.word(bytes))
        guard size >= Self.shortestFrame else { throw .length }
        idCode = try reader.word(bytes)
        second = try reader.long(bytes)
        let time = try reader.long(bytes)
        fraction = time & 0xFF_FFFF
        timeQuality = UInt8(time >> 24)
    }

    /// The header of a whole frame, whose length and CHK are checked.
    public static func checked(_ frame: borrowing Span<UInt8>) throws(PhasorFault) -> PhasorHeader {
        let header = try PhasorHeader(frame)
        guard frame.count == header.size else { throw .length }
        let stored = UInt16(frame[frame.count - 2]) << 8 | UInt16(frame[frame.count - 1])
        guard PhasorChecksum.of(frame, count: frame.count - 2) == stored else { throw .checksum }
        return header
    }
}

/// CRC-CCITT: polynomial 0x1021, start 0xFFFF, not reflected, nothing added at the end.
public enum PhasorChecksum {
    /// Over the first `count` bytes.
    public static func of(_ bytes: borrowing Span<UInt8>, count: Int) -> UInt16 {
        var sum: UInt16 = 0xFFFF
        for index in 0..<min(count, bytes.count) {
            sum ^= UInt16(bytes[index]) << 8
            for _ in 0..<8 { sum = sum & 0x8000 != 0 ? sum << 1 ^ 0x1021 : sum << 1 }
        }
        return sum
    }
}

/// Takes big-endian numbers one after the other; the end of the bytes is an error, never a trap.
struct PhasorByteReader: Sendable, BitwiseCopyable {
    private(set) var offset = 0

    init(at offset: Int = 0) { self.offset = offset }

    mutating func byte(_ bytes: borrowing Span<UInt8>) throws(PhasorFault) -> UInt8 {
        guard offset >= 0, bytes.count - offset >= 1 else { throw .length }
        defer { offset += 1 }
        return bytes[offset]
    }

    mutating func word(_ bytes: borrowing Span<UInt8>) throws(PhasorFault) -> UInt16 {
        guard offset >= 0, bytes.count - offset >= 2 else { throw .length }
        defer { offset += 2 }
        return UInt16(bytes[offset]) << 8 | UInt16(bytes[offset + 1])
    }

    mutating func long(_ bytes: borrowing Span<UInt8>) throws(PhasorFault) -> UInt32 {
        let high = try word(bytes)
        return UInt32(high) << 16 | UInt32(try word(bytes))
    }

    mutating func float(_ bytes: borrowing Span<UInt8>) throws(PhasorFault) -> Double {
        Double(Float(bitPattern: try long(bytes)))
    }

    mutating func skip(_ count: Int, _ bytes: borrowing Span<UInt8>) throws(PhasorFault) {
        guard count >= 0, bytes.count - offset >= count else { throw .length }
        offset += count
    }
}

/// What a client may ask of a PMU.
public enum PhasorCommand: UInt16, Sendable, BitwiseCopyable, CaseIterable {
    case dataOff = 1
    case dataOn = 2
    case sendHeader = 3
    case sendConfiguration1 = 4
    case sendConfiguration2 = 5
    case sendConfiguration3 = 6
    case extended = 8

    /// The command of a command frame that was checked.
    public init(_ frame: borrowing Span<UInt8>) throws(PhasorFault) {
        var reader = PhasorByteReader(at: PhasorHeader.length)
        guard let command = PhasorCommand(rawValue: try reader.word(frame)) else { throw .command }
        self = command
    }
}
