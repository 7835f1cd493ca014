import LinuxIO

/// Writes a slot file; one thread owns it. A write that returns is on the disk.
public struct SlotWriter: ~Copyable, Sendable {
    /// What a disk does, so that tests can be one that is full, sick or slow.
    public struct Medium: Sendable {
        /// Writes in place into the file at the path, which must have `size` bytes; returns when the disk has
        /// it. Throws ENOENT where there is no such file.
        public var write: @Sendable (_ bytes: [UInt8], _ offset: Int, _ size: Int) throws(SystemError) -> Void
        /// Makes the file with these bytes, whole or not at all.
        public var create: @Sendable (_ bytes: [UInt8]) throws(SystemError) -> Void

        public init(
            write: @escaping @Sendable ([UInt8], Int, Int) throws(SystemError) -> Void,
            create: @escaping @Sendable ([UInt8]) throws(SystemError) -> Void
        ) {
            self.write = write
            self.create = create
        }

        /// The file at `path`.
        public static func file(_ path: String) -> Medium {
            let place = PlacedFile(path: path)
            return Medium(
                write: { (bytes, offset, size) throws(SystemError) in
                    try place.write(bytes, at: offset, size: size)
                },
                create: { (bytes) throws(SystemError) in try DurableFile.replace(path, with: bytes) })
        }
    }

    private let medium: Medium
    private let slotSize: Int
    public let file: UInt64
    /// Of the newest that it has put there, or found.
    public private(set) var generation: UInt64
    private var next: Int

    /// - Parameters:
    ///   - pair: what stands there; `nil` = no slot file yet, or one that is to be made anew.
    ///   - file: the name of a file that is made anew.
    ///   - generation: the newest that stands anywhere, this file and its copies.
    public init(_ medium: Medium, slotSize: Int, after pair: SlotPair?, file: UInt64, generation: UInt64 = 0)
    {
        self.medium = medium
        self.slotSize = slotSize
        self.file = pair?.newest?.file ?? file
        self.generation = max(pair?.newest?.generation ?? 0, generation)
        next = pair?.next ?? 0
    }

    /// Puts a record on disk, in place of the older of the two that stand there; after a write that failed,
    /// in place of what that one has left. A file that is gone is made anew.
    ///
    /// - Parameters:
    ///   - wallSeconds: now.
    ///   - least: the least generation that it gets, where copies are to be told apart by it.
    public mutating func write(
        _ payload: [UInt8], wallSeconds: Int64, generation least: UInt64 = 0
    ) throws(SystemError) {
        let slot = Slot(
            file: file, generation: max(generation + 1, least), at: wallSeconds, payload: payload)
        let bytes = slot.bytes
        guard bytes.count <= slotSize else { throw SystemError("write", code: SystemError.tooLarge) }
        do throws(SystemError) {
            try medium.write(bytes, next * slotSize, 2 * slotSize)
            next = 1 - next
        } catch {
            guard error.isAbsent else { throw error }
            try medium.create(SlotPair.bytes(first: slot, slotSize: slotSize))
            next = 1
        }
        generation = slot.generation
    }
}
