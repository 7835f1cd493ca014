/// What a spool's files look like, byte by byte; all integers little endian.
///
/// A segment is a header of 40 bytes (`BALSPOOL`, version, epoch, first number, CRC-32C of these) and then
/// records: a header of 20 bytes (marker, payload length, CRC-32C of length, number and payload, number), and
/// the payload. The highest bit of the length says that the record is of the lane that is kept. A segment of
/// version 2 is one that had to make room: it holds what is kept alone.
enum SpoolFormat {
    static let segmentMagic: [UInt8] = Array("BALSPOOL".utf8)
    static let version: UInt32 = 1
    static let thinnedVersion: UInt32 = 2
    static let keptBit: UInt32 = 1 << 31
    static let segmentHeaderSize = 40
    static let recordHeaderSize = 20
    /// 0xF5 and 0xC1 never stand in UTF-8, so no JSON text looks like the start of a record.
    static let recordMarker: [UInt8] = [0xF5, 0x52, 0xC1, 0x0A]
    static let payloadLimit = 256 * 1_024

    static func segmentHeader(epoch: SpoolEpoch, first: UInt64, version: UInt32 = version) -> [UInt8] {
        var bytes = segmentMagic
        bytes.append(littleEndian: version)
        bytes += epoch.bytes
        bytes.append(littleEndian: first)
        bytes.append(littleEndian: CRC32C.checksum(of: bytes))
        return bytes
    }

    /// The epoch that a segment's header names; `nil` where the header is damaged.
    static func epoch(ofSegmentHeader bytes: [UInt8]) -> SpoolEpoch? {
        guard bytes.count >= segmentHeaderSize, Array(bytes[0..<8]) == segmentMagic,
            [version, thinnedVersion].contains(bytes.littleEndian32(at: 8)),
            CRC32C.checksum(of: Array(bytes[0..<36])) == bytes.littleEndian32(at: 36)
        else { return nil }
        return SpoolEpoch(bytes: Array(bytes[12..<28]))
    }

    /// The first number that a segment's header names; `nil` where the header is damaged.
    static func first(ofSegmentHeader bytes: [UInt8]) -> UInt64? {
        epoch(ofSegmentHeader: bytes) == nil ? nil : bytes.littleEndian64(at: 28)
    }

    /// Whether a sound header is one of a segment that holds what is kept alone.
    static func isThinned(segmentHeader bytes: [UInt8]) -> Bool {
        epoch(ofSegmentHeader: bytes) != nil && bytes.littleEndian32(at: 8) == thinnedVersion
    }

    static func record(number: UInt64, payload: [UInt8], isKept: Bool = false) -> [UInt8] {
        var bytes = recordMarker
        bytes.reserveCapacity(recordHeaderSize + payload.count)
        bytes.append(littleEndian: UInt32(truncatingIfNeeded: payload.count) | (isKept ? keptBit : 0))
        bytes.append(littleEndian: UInt32(0))
        bytes.append(littleEndian: number)
        bytes += payload
        let checksum = bytes.withUnsafeBytes { recordChecksum(of: $0) }
        for index in 0..<4 { bytes[8 + index] = UInt8(truncatingIfNeeded: checksum >> UInt32(8 * index)) }
        return bytes
    }

    /// The checksum that belongs to a whole record, whatever its own checksum field holds.
    static func recordChecksum(of record: UnsafeRawBufferPointer) -> UInt32 {
        let length = CRC32C.checksum(of: UnsafeRawBufferPointer(rebasing: record[4..<8]))
        return length ^ CRC32C.checksum(of: UnsafeRawBufferPointer(rebasing: record[12...]))
    }
}

/// The random identity of a store: numbers are unique only together with it. 128 bits, made when the store is
/// made.
public struct SpoolEpoch: Sendable, Equatable, CustomStringConvertible {
    let bytes: [UInt8]

    init(bytes: [UInt8]) { self.bytes = bytes }

    static func random() -> SpoolEpoch {
        var generator = SystemRandomNumberGenerator()
        return SpoolEpoch(bytes: (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }

    /// From 32 hexadecimal digits.
    init?(hex: some StringProtocol) {
        let digits = hex.utf8.map { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == 32 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: 32, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            bytes.append(UInt8(high * 16 + low))
        }
        self.bytes = bytes
    }

    /// 32 lower-case hexadecimal digits.
    public var description: String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

extension [UInt8] {
    mutating func append(littleEndian value: UInt32) {
        for shift in stride(from: UInt32(0), to: 32, by: 8) {
            append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    mutating func append(littleEndian value: UInt64) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) {
            append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    /// The caller has checked that four bytes stand at `offset`.
    func littleEndian32(at offset: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(self[offset + $1]) << UInt32(8 * $1) }
    }

    /// The caller has checked that eight bytes stand at `offset`.
    func littleEndian64(at offset: Int) -> UInt64 {
        (0..<8).reduce(0) { $0 | UInt64(self[offset + $1]) << UInt64(8 * $1) }
    }
}
