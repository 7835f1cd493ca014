import LinuxIO

/// Which latches are the newest that a disk has taken, and when it took anything last: a file of its own
/// beside them, renewed each few seconds, so that the latches are written only when they change.
///
/// With it a start tells a write that was cut short from a record that is lost.
public struct LatchProof: Sendable, Equatable {
    /// The latches' file that it speaks of.
    public var file: UInt64
    /// Of the newest slot there.
    public var generation: UInt64
    /// Seconds since 1970-01-01 00:00 UTC.
    public var at: Int64

    public init(file: UInt64, generation: UInt64, at: Int64) {
        self.file = file
        self.generation = generation
        self.at = at
    }

    /// Of each of its two slots: pages of their own, so that what tears one leaves the other.
    public static let slotSize = 4_096
    private static let word = "newest "

    /// Where it lies beside the latches at `path`.
    public static func path(beside path: String) -> String { path + "-proof" }

    /// What a slot of it holds.
    public static func payload(_ generation: UInt64) -> [UInt8] { Array("\(word)\(generation)\n".utf8) }

    /// `nil` for what is no proof.
    init?(_ slot: Slot) {
        let text = String(decoding: slot.payload, as: UTF8.self)
        guard text.hasPrefix(Self.word), text.hasSuffix("\n"),
            let generation = UInt64(text.dropFirst(Self.word.count).dropLast())
        else { return nil }
        self.init(file: slot.file, generation: generation, at: slot.at)
    }

    /// What stands at `path`; `nil` where there is none, or one that cannot be read: it proves nothing then.
    static func read(_ path: String) -> SlotPair? {
        let size = 2 * slotSize
        // An error is no proof.
        guard let bytes = try? DurableFile.read(path, limit: size), bytes.count == size else { return nil }
        return SlotPair(bytes: bytes)
    }
}
