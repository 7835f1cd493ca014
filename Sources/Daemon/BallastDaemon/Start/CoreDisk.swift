import Glibc
import LinuxIO
import Quantities
import Recorder
import Synchronization

/// The latches on the disks of a machine that is none. Slots, proofs, the copy in memory and the search of a
/// start are the daemon's own; only what a disk makes of a write is played. For those who run it in virtual
/// time.
public final class CoreDisk {
    /// What a disk makes of a write.
    public struct Condition: Sendable, Equatable {
        /// What it says; `nil` = it has it.
        fileprivate var error: CInt?
        /// Half of what it refuses stands there.
        fileprivate var isTearing = false
        /// From a write to its end.
        fileprivate var delay = Duration.zero

        public static let well = Condition()
        /// ENOSPC, and nothing has changed.
        public static let full = Condition(error: ENOSPC)
        /// EIO, and half of it stands there.
        public static let sick = Condition(error: EIO, isTearing: true)
        /// It has each write after three seconds.
        public static let slow = Condition(delay: .seconds(3))
    }

    /// Why a start does not take what it finds for all that there was.
    public struct Doubts: Sendable, Equatable {
        public var damage: String?
        public var doubt: String?

        public static let none = Doubts()
    }

    /// As large as the records of a few units.
    private static let slotSize = 64 << 10

    /// Of the state folder; the runtime folder lies in memory, and is well.
    public var condition = Condition.well {
        didSet { state.setCondition(condition) }
    }
    private let state = Place()
    private let runtime = Place()
    private var file: UInt64 = 1
    /// The run record, as it stands in the state folder.
    public var run: [UInt8]?

    public init() {}

    // MARK: A start

    /// - Parameters:
    ///   - wallSeconds: since 1970-01-01 00:00 UTC.
    ///   - uptimeSeconds: since the machine's start.
    ///   - hasCopy: whether the runtime folder is looked at.
    /// - Returns: what the daemon's own start would find.
    public func search(
        wallSeconds: Int64, uptimeSeconds: Int64, hasCopy: Bool = true
    ) -> (state: CoreState, doubts: Doubts) {
        let search = LatchSearch(
            state: state.found(Self.slotSize),
            copy: hasCopy ? runtime.found(Self.slotSize) : LatchFile(finding: .missing),
            wallSeconds: wallSeconds, uptimeSeconds: uptimeSeconds)
        file = search.pairs.state?.newest?.file ?? file
        state.begin(search.pairs.state, search.proofs.state, file: file, search.generation, Self.slotSize)
        runtime.begin(
            search.pairs.runtime, search.proofs.runtime, file: file, search.generation, Self.slotSize)
        var found = CoreState()
        found.run = run
        switch search.finding {
        case .missing: return (found, .none)
        case .read(let record): found.latches = record.bytes
        case .unreadable: found.latches = []
        }
        return (found, Doubts(damage: search.damage, doubt: search.doubt))
    }

    // MARK: A run

    /// What the keepers of both places do after a cycle.
    public func keep(_ core: CoreRun, wallSeconds: Int64, at now: MonotonicTime) {
        // Without a first cycle there is nothing to keep.
        guard core.cycles > 0 else { return }
        let record = core.latches.record
        for place in [state, runtime] {
            place.turn(record, order: core.cycles, wallSeconds: wallSeconds, at: now)
        }
    }

    /// Whether the state folder has what the run has latched.
    public func isSaved(_ core: CoreRun) -> Bool { state.written == core.latches.record }

    /// The process is gone, and what it was about to write with it.
    public func release() {
        state.end()
        runtime.end()
    }
}

/// One file in memory.
private final class PlayedFile: Sendable {
    private struct State: Sendable {
        var bytes: [UInt8]?
        var condition = CoreDisk.Condition.well
    }

    private let state = Mutex(State())

    var bytes: [UInt8]? { state.withLock { $0.bytes } }
    func setCondition(_ condition: CoreDisk.Condition) { state.withLock { $0.condition = condition } }
    var delay: Duration { state.withLock { $0.condition.delay } }

    var medium: SlotWriter.Medium {
        SlotWriter.Medium(
            write: { (bytes, offset, size) throws(SystemError) in
                let code = self.state.withLock { state -> CInt? in
                    guard state.bytes?.count == size else { return ENOENT }
                    let error = state.condition.error
                    let count =
                        error == nil ? bytes.count : state.condition.isTearing ? bytes.count / 2 : 0
                    state.bytes?.replaceSubrange(offset..<offset + count, with: bytes[..<count])
                    return error
                }
                if let code { throw SystemError("write", code: code) }
            },
            create: { (bytes) throws(SystemError) in
                let code = self.state.withLock { state -> CInt? in
                    if state.condition.error == nil { state.bytes = bytes }
                    return state.condition.error
                }
                if let code { throw SystemError("write", code: code) }
            })
    }
}

/// One folder with its keeper, which is `LatchKeeper` without its thread.
private final class Place {
    private enum Work {
        case latches(LatchRecord, order: UInt64)
        case proof
    }

    private let latches = PlayedFile()
    private let proofs = PlayedFile()
    private var place: LatchPlace?
    /// What stands there by this run.
    private(set) var written: LatchRecord?
    private var tried: LatchRecord?
    private var due = MonotonicTime(nanoseconds: 0)
    private var job: (work: Work, end: MonotonicTime)?

    func setCondition(_ condition: CoreDisk.Condition) {
        latches.setCondition(condition)
        proofs.setCondition(condition)
    }

    func found(_ slotSize: Int) -> LatchFile {
        let proofs = self.proofs.bytes.map { SlotPair(bytes: $0) }
        guard let bytes = latches.bytes else { return LatchFile(finding: .missing, proofs: proofs) }
        return LatchFile(bytes: bytes, proofs: proofs, path: "latches", slotSize: slotSize)
    }

    func begin(
        _ pair: SlotPair?, _ proof: SlotPair?, file: UInt64, _ generation: UInt64, _ slotSize: Int
    ) {
        end()
        place = LatchPlace(
            latches.medium, proofs.medium, slotSize: slotSize, after: (pair, proof), file: file,
            generation: generation)
        (written, tried, due) = (nil, nil, MonotonicTime(nanoseconds: 0))
    }

    func end() {
        place = nil
        job = nil
    }

    func turn(_ record: LatchRecord, order: UInt64, wallSeconds: Int64, at now: MonotonicTime) {
        if let job {
            guard now >= job.end else { return }
            self.job = nil
            perform(job.work, wallSeconds, now)
        } else if written != record, tried != record || now >= due {
            begin(.latches(record, order: order), wallSeconds, now)
        } else if now >= due {
            begin(.proof, wallSeconds, now)
        }
    }

    private func begin(_ work: Work, _ wallSeconds: Int64, _ now: MonotonicTime) {
        guard latches.delay == .zero else { return job = (work, now + latches.delay) }
        perform(work, wallSeconds, now)
    }

    private func perform(_ work: Work, _ wallSeconds: Int64, _ now: MonotonicTime) {
        let code: CInt?
        switch work {
        case .latches(let record, let order):
            code = place?.write(record, order: order, wallSeconds: wallSeconds)
            tried = record
            if code == nil {
                written = record
                return perform(.proof, wallSeconds, now)
            }
        case .proof: code = place?.prove(wallSeconds: wallSeconds)
        }
        due = now + (code == nil ? LatchKeeper.proof : LatchKeeper.retry)
    }
}
