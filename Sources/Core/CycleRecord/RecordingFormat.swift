/// What a recording looks like, byte by byte; all integers little endian.
///
/// 16 bytes: `BALCYCLE`, the version (4), the number of units (4). Then records: kind (1), length of the body
/// (4), body, check (8). The check is FNV-1a of 64 bits over everything in the file before it but other
/// checks: a changed byte, and a record that is missing or stands elsewhere, are found at the record where
/// they are.
///
/// Kinds and their bodies:
/// 1. about: UTF-8: what program
/// 2. file: length of the path (2), path, contents; the site's file first, then what it names
/// 3. start: wall clock in s (8), clock in ns (8), time to enter service in ns, or -1 = the file's (8), then
///    latches and run record, each as length (4; all ones = there is none) and bytes
/// 4. command: clock in ns (8), six words of 8 (`CommandWords`)
/// 5. cycle: `WordDelta` against the cycle before; against zeros after a start
/// 6. end asked: clock in ns (8)
/// 7. end: how many cycles (8), digest of all decisions (8)
/// 8. checkpoint: wall clock in s (8), clock in ns (8), length of the program's identity (2) and it in UTF-8,
///    number of words (4), `WordDelta` of the controller's state against zeros; the next cycle is against
///    zeros. A daemon writes one at a recording's begin, and each twenty seconds
/// 9. capture: why this was kept: wall clock in µs (8), cycle (8), trigger in UTF-8 (`CaptureNote`)
/// 10. instant: clock in ns (8), and what the wall clock showed then, in ns (8). A daemon writes one before
///    each cycle in which something happened, behind states, and where the clocks go apart. Since version 2
/// 11. fields: what a cycle's words are called, before the first of them (`FieldMap`). From version 2 on
///
/// A capture is put together out of several recordings of one site (`RecordingSplice`): after its about,
/// capture and file records come those of each, which begin with a start or a checkpoint, as they stand.
///
/// Behind damage reading goes on: each record's check is what the next one's begins with, so a record whose
/// own check follows from the eight bytes before it is whole (`RecordingReader.skipDamage`). Cycles count
/// again from the next start or checkpoint on.
///
/// A cycle is the words of its inputs (`CycleInputs`) and then of its decision (`DecisionWords`). The
/// digest is FNV-1a over the decisions' words.
enum RecordingFormat {
    static let magic: [UInt8] = Array("BALCYCLE".utf8)
    static let version: UInt32 = 2
    /// What this program reads. Version 1 has neither instants nor fields: its words are those of this one.
    static let versions: ClosedRange<UInt32> = 1...2
    static let headerSize = 16
    static let longestBody = 16 << 20

    enum Kind: UInt8 {
        case about = 1, file, start, command, cycle, endAsked, end, checkpoint, capture, instant, fields
    }
}

/// The bytes of a recording as they grow: each record with the check over everything before it.
struct RecordWriter: Sendable {
    var bytes: [UInt8]
    private var check = Checksum()

    init(unitCount: Int) {
        bytes = RecordingFormat.magic
        bytes.append(littleEndian: RecordingFormat.version)
        bytes.append(littleEndian: UInt32(unitCount))
        check.add(bytes)
    }

    mutating func append(_ kind: RecordingFormat.Kind, _ body: [UInt8]) {
        var record = [kind.rawValue]
        record.append(littleEndian: UInt32(body.count))
        record += body
        check.add(record)
        bytes += record
        bytes.append(littleEndian: check.value)
    }
}

/// FNV-1a of 64 bits: each step turns the sum about, so one changed byte always shows.
public struct Checksum: Sendable, Equatable {
    public private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    public init() {}

    /// Goes on from a sum.
    init(_ value: UInt64) { self.value = value }

    public mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    }

    public mutating func add(_ word: UInt64) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) {
            value = (value ^ (word >> shift & 0xFF)) &* 0x0000_0100_0000_01B3
        }
    }

    /// Sixteen digits.
    public var text: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}

extension [UInt8] {
    mutating func append(littleEndian value: some FixedWidthInteger) {
        for shift in 0..<(value.bitWidth / 8) { append(UInt8(truncatingIfNeeded: value >> (8 * shift))) }
    }
}

extension ArraySlice<UInt8> {
    /// Takes a number from the front; `nil` where too few bytes are left.
    mutating func take<Number: FixedWidthInteger>(_: Number.Type) -> Number? {
        let size = Number.bitWidth / 8
        guard count >= size else { return nil }
        var value: Number = 0
        for (index, byte) in prefix(size).enumerated() {
            value |= Number(truncatingIfNeeded: byte) << Number(8 * index)
        }
        self = dropFirst(size)
        return value
    }

    mutating func take(bytes size: Int) -> [UInt8]? {
        guard size >= 0, count >= size else { return nil }
        defer { self = dropFirst(size) }
        return Array(prefix(size))
    }
}
