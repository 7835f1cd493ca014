import Glibc
import LinuxIO

/// How far the link has delivered: two slots with checksums, written in turn, so that a torn write leaves the
/// older one. The link writes it; the writer reads it to know what may be removed. A third slot says that the
/// aggregator claims more than there ever was, which delivers nothing.
public final class DeliveryMark {
    /// Far beyond what a spool writes in its life: nothing above is believed.
    public static let largest: UInt64 = 1 << 62

    private static let slotOffsets = [0, 4_096]
    private static let claimOffset = 8_192
    private static let slotSize = 36

    private var file: SpoolFile
    private let epoch: SpoolEpoch
    private var sequence: UInt64
    /// The highest number that the aggregator has answered for; 0 where nothing is known to be delivered.
    public private(set) var deliveredThrough: UInt64

    /// Opens the mark of the spool in `directory`, or begins one at 0. A mark of another epoch counts as
    /// none.
    ///
    /// - Parameter folder: where the mark of a second reader stands, of which the writer knows nothing;
    ///   `nil` = beside the spool, where the writer sees it.
    public init(directory: String, epoch: SpoolEpoch, folder: String? = nil) throws(SpoolError) {
        do {
            let path = SpoolDirectory(path: folder ?? directory).deliveredPath
            file = try SpoolFile(path: path, flags: O_RDWR | O_CREAT)
        } catch { throw SpoolError.system(error) }
        self.epoch = epoch
        let slots = Self.slots(of: file)
        let newest = slots.max { $0.sequence < $1.sequence }
        sequence = newest?.sequence ?? 0
        deliveredThrough = slots.filter { $0.epoch == epoch }.max { $0.sequence < $1.sequence }?.number ?? 0
    }

    /// Makes `number` the mark, durably. It may be lower than before: the aggregator may have lost what it
    /// had.
    public func store(_ number: UInt64) throws(SpoolError) {
        try write(number, sequence &+ 1, at: Self.slotOffsets[Int((sequence &+ 1) % 2)])
        sequence &+= 1
        deliveredThrough = number
    }

    /// Notes that the aggregator says it has `number`, which was never written under this epoch: the spool's
    /// files are older than what was delivered from them, or it lies. The first claim stands.
    public func note(claim number: UInt64) throws(SpoolError) {
        let isKnown = Self.slot(of: file, at: Self.claimOffset)?.epoch == epoch
        guard number <= Self.largest, !isKnown else { return }
        try write(number, 1, at: Self.claimOffset)
    }

    private func write(_ number: UInt64, _ sequence: UInt64, at offset: Int) throws(SpoolError) {
        var slot: [UInt8] = []
        slot.append(littleEndian: sequence)
        slot += epoch.bytes
        slot.append(littleEndian: number)
        slot.append(littleEndian: CRC32C.checksum(of: slot))
        do {
            // A mark that somebody has removed is made anew by the spool's writer.
            if !file.isInPlace { file = try SpoolFile(path: file.path, flags: O_RDWR | O_CREAT) }
            try file.write(slot, at: offset)
            try file.sync()
        } catch { throw SpoolError.system(error) }
    }

    /// The mark as it stands on disk; 0 where there is none.
    static func read(in directory: SpoolDirectory, epoch: SpoolEpoch) -> UInt64 {
        // No mark and an unreadable one mean the same: nothing is known to be delivered.
        guard let file = try? SpoolFile(path: directory.deliveredPath, flags: O_RDONLY) else { return 0 }
        return slots(of: file).filter { $0.epoch == epoch }.max { $0.sequence < $1.sequence }?.number ?? 0
    }

    /// What the aggregator claims beyond all that there ever was; `nil` where it does not.
    static func claim(in directory: SpoolDirectory, epoch: SpoolEpoch) -> UInt64? {
        // No mark and an unreadable one mean the same: nobody claims anything.
        guard let file = try? SpoolFile(path: directory.deliveredPath, flags: O_RDONLY),
            let slot = slot(of: file, at: claimOffset), slot.epoch == epoch, slot.number <= largest
        else { return nil }
        return slot.number
    }

    private struct Slot {
        var sequence: UInt64
        var epoch: SpoolEpoch
        var number: UInt64
    }

    private static func slots(of file: SpoolFile) -> [Slot] {
        slotOffsets.compactMap { slot(of: file, at: $0) }
    }

    private static func slot(of file: SpoolFile, at offset: Int) -> Slot? {
        // A slot that cannot be read is a slot that holds nothing.
        guard let bytes = try? file.read(at: offset, count: slotSize), bytes.count == slotSize,
            CRC32C.checksum(of: Array(bytes[0..<32])) == bytes.littleEndian32(at: 32)
        else { return nil }
        return Slot(
            sequence: bytes.littleEndian64(at: 0), epoch: SpoolEpoch(bytes: Array(bytes[8..<24])),
            number: bytes.littleEndian64(at: 24))
    }
}

/// Up to which number the records are on the disk, said by the writer to the reader in a file of its own.
///
/// The reader hands out nothing above it. So a number that a power cut takes back was never seen by anybody.
/// Behind that number stands up to which one numbers are taken, some of them perhaps by records that no disk
/// has yet. Both are written in place: a full disk has nothing to refuse.
enum SyncedMark {
    private static let size = 12

    static func encode(_ number: UInt64, taken: UInt64, epoch: SpoolEpoch) -> [UInt8] {
        word(number, epoch) + word(taken, epoch)
    }

    private static func word(_ number: UInt64, _ epoch: SpoolEpoch) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: number)
        bytes.append(littleEndian: CRC32C.checksum(of: epoch.bytes + bytes))
        return bytes
    }

    /// `nil` where there is none, or where it is just being written.
    static func read(in directory: SpoolDirectory, epoch: SpoolEpoch) -> UInt64? {
        number(at: 0, in: directory, epoch)
    }

    /// `nil` where there is none, or where an older version has written it.
    static func taken(in directory: SpoolDirectory, epoch: SpoolEpoch) -> UInt64? {
        number(at: size, in: directory, epoch)
    }

    private static func number(at place: Int, in directory: SpoolDirectory, _ epoch: SpoolEpoch) -> UInt64? {
        guard let all = directory.contents(of: directory.syncedPath, limit: 2 * size) else { return nil }
        let bytes = Array(all.dropFirst(place).prefix(size))
        guard bytes.count == size,
            CRC32C.checksum(of: epoch.bytes + bytes[0..<8]) == bytes.littleEndian32(at: 8)
        else { return nil }
        return bytes.littleEndian64(at: 0)
    }
}

/// The file that names the epoch.
enum StreamFile {
    static func read(in directory: SpoolDirectory) -> SpoolEpoch? {
        guard let bytes = directory.contents(of: directory.streamPath, limit: 64) else { return nil }
        let words = String(decoding: bytes, as: UTF8.self).split { $0 == " " || $0 == "\n" }
        guard words.count == 3, words[0] == "ballast-spool", let epoch = SpoolEpoch(hex: words[1]),
            UInt32(words[2], radix: 16) == CRC32C.checksum(of: epoch.bytes)
        else { return nil }
        return epoch
    }

    /// Whole or not at all: written beside, made durable, renamed.
    static func write(_ epoch: SpoolEpoch, in directory: SpoolDirectory) throws(SystemError) {
        let checksum = String(CRC32C.checksum(of: epoch.bytes), radix: 16)
        let beside = directory.streamPath + ".new"
        let file = try SpoolFile(path: beside, flags: O_RDWR | O_CREAT | O_TRUNC)
        try file.write(Array("ballast-spool \(epoch) \(checksum)\n".utf8), at: 0)
        try file.sync()
        if rename(beside, directory.streamPath) < 0 { throw SystemError.last("rename") }
        try directory.sync()
    }
}
