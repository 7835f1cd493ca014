import LinuxIO
import Recorder

/// One place where latches are kept, with the proof beside them; its keeper's thread owns it.
struct LatchPlace: ~Copyable, Sendable {
    private var latches: SlotWriter
    private var proofs: SlotWriter
    /// What every generation of this run comes after.
    private let base: UInt64

    /// - Parameters:
    ///   - pairs: what stands there, latches and proof.
    ///   - file: the name of a file that is made anew.
    ///   - generation: the newest that stands anywhere.
    init(
        _ latches: SlotWriter.Medium, _ proofs: SlotWriter.Medium,
        slotSize: Int = LatchRecord.slotSize, after pairs: (latches: SlotPair?, proofs: SlotPair?),
        file: UInt64, generation: UInt64
    ) {
        self.latches = SlotWriter(
            latches, slotSize: slotSize, after: pairs.latches, file: file, generation: generation)
        // Of another file it is a proof of nothing, and must not name ours.
        let own = pairs.proofs?.newest?.file == self.latches.file ? pairs.proofs : nil
        self.proofs = SlotWriter(
            proofs, slotSize: LatchProof.slotSize, after: own, file: self.latches.file,
            generation: pairs.proofs?.newest?.generation ?? 0)
        base = generation
    }

    /// Puts the latches on disk.
    ///
    /// - Parameters:
    ///   - order: larger than with anything that was true before, here or in a copy of this run: so the
    ///     larger generation is the newer truth in whichever place it stands.
    ///   - wallSeconds: now, since 1970-01-01 00:00 UTC.
    /// - Returns: what the disk said; `nil` = it has them.
    mutating func write(_ record: LatchRecord, order: UInt64, wallSeconds: Int64 = wallNow) -> CInt? {
        do throws(SystemError) {
            try latches.write(record.bytes, wallSeconds: wallSeconds, generation: base + order)
            return nil
        } catch {
            return error.code
        }
    }

    /// Puts on disk that the newest latches are there, and when.
    mutating func prove(wallSeconds: Int64 = wallNow) -> CInt? {
        do throws(SystemError) {
            try proofs.write(LatchProof.payload(latches.generation), wallSeconds: wallSeconds)
            return nil
        } catch {
            return error.code
        }
    }

    static var wallNow: Int64 { WallClock.nowMilliseconds() / 1_000 }
}
