/// One of the two places of a slot file: a numbered record under a line of its own with a checksum over both.
public struct Slot: Sendable, Equatable {
    /// The same in a file and its copies; another once the file is made anew.
    public var file: UInt64
    /// One more with each write; the larger is the newer.
    public var generation: UInt64
    /// When it was written: wall time, seconds since 1970-01-01 00:00 UTC.
    public var at: Int64
    public var payload: [UInt8]

    public init(file: UInt64, generation: UInt64, at: Int64, payload: [UInt8]) {
        self.file = file
        self.generation = generation
        self.at = at
        self.payload = payload
    }

    private static let heading = "ballast slot 1"
    private static let longestHead = 160

    public var bytes: [UInt8] {
        let head =
            "\(Self.heading) file \(String(file, radix: 16)) generation \(generation) at \(at)"
            + " length \(payload.count)"
        let sum = Self.checksum(Array(head.utf8) + payload)
        return Array("\(head) checksum \(String(sum, radix: 16))\n".utf8) + payload
    }

    /// `nil` for anything that `bytes` does not write; what follows the payload is not looked at.
    public init?(bytes: ArraySlice<UInt8>) {
        guard let end = bytes.prefix(Self.longestHead).firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let line = String(decoding: bytes[..<end], as: UTF8.self)
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 13, words[..<3].joined(separator: " ") == Self.heading, words[3] == "file",
            words[5] == "generation", words[7] == "at", words[9] == "length", words[11] == "checksum",
            let file = UInt64(words[4], radix: 16), let generation = UInt64(words[6]),
            let at = Int64(words[8]), let length = Int(words[10]), let sum = UInt64(words[12], radix: 16)
        else { return nil }
        let payload = bytes[(end + 1)...].prefix(max(0, length))
        let head = words[..<11].joined(separator: " ")
        guard payload.count == length, sum == Self.checksum(Array(head.utf8) + payload) else { return nil }
        self.init(file: file, generation: generation, at: at, payload: Array(payload))
    }

    /// FNV-1a: enough to find a torn or edited slot.
    private static func checksum(_ bytes: [UInt8]) -> UInt64 {
        bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}

/// A file of two slots that are written by turns, in place: whatever becomes of one write, the record before
/// it stands in the other. Its room is taken when it is made, so that a full disk takes nothing from it.
public struct SlotPair: Sendable, Equatable {
    /// The newest record that is whole; `nil` where none is.
    public let newest: Slot?
    /// One of the two is damaged: a write that was cut short, or a record that was whole. Something newer
    /// than `newest` may be lost.
    public let isTorn: Bool
    /// Where the next write goes: never over the newest.
    public let next: Int

    /// - Parameter bytes: of a whole file.
    public init(bytes: [UInt8]) {
        let half = bytes.count / 2
        let places = [bytes[..<half], bytes[half...]]
        let slots = places.map { Slot(bytes: $0) }
        isTorn = zip(places, slots).contains { place, slot in slot == nil && place.contains { $0 != 0 } }
        switch (slots[0], slots[1]) {
        case (let first?, let second?):
            newest = first.generation > second.generation ? first : second
            next = first.generation > second.generation ? 1 : 0
        case (let first?, nil): (newest, next) = (first, 1)
        case (nil, let second?): (newest, next) = (second, 0)
        case (nil, nil): (newest, next) = (nil, 0)
        }
    }

    /// A new file with its first record.
    public static func bytes(first: Slot, slotSize: Int) -> [UInt8] {
        let bytes = first.bytes
        precondition(bytes.count <= slotSize)
        return bytes + [UInt8](repeating: 0, count: 2 * slotSize - bytes.count)
    }
}
