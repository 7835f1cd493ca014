import LinuxIO

/// The file of the latch record as a start finds it, with what it tells of the last run's disk.
public struct LatchFile: Sendable, Equatable {
    public var finding: LatchRecord.Finding
    /// What its writer goes on from; `nil` where no slot file stands there.
    public var pair: SlotPair?
    /// The same of the proof beside it.
    public var proofs: SlotPair?

    public init(finding: LatchRecord.Finding, pair: SlotPair? = nil, proofs: SlotPair? = nil) {
        self.finding = finding
        self.pair = pair
        self.proofs = proofs
    }

    /// Two slots, or the text alone that a version before has left.
    ///
    /// - Parameter path: for what people are told.
    public init(
        bytes: [UInt8], proofs: SlotPair?, path: String, slotSize: Int = LatchRecord.slotSize
    ) {
        let pair = bytes.count == 2 * slotSize ? SlotPair(bytes: bytes) : nil
        let text = pair == nil ? bytes : pair?.newest?.payload
        let record = text.flatMap { LatchRecord(bytes: $0) }
        let what = "\(path): not a latch record, or its checksum is wrong"
        self.init(finding: record.map { .read($0) } ?? .unreadable(what), pair: pair, proofs: proofs)
    }

    /// The file at `path`, and the proof beside it.
    public static func read(_ path: String) -> LatchFile {
        let proofs = LatchProof.read(LatchProof.path(beside: path))
        let bytes: [UInt8]?
        do throws(SystemError) {
            bytes = try DurableFile.read(path, limit: 2 * LatchRecord.slotSize)
        } catch {
            return LatchFile(finding: .unreadable("\(path): \(error)"), proofs: proofs)
        }
        guard let bytes else { return LatchFile(finding: .missing, proofs: proofs) }
        return LatchFile(bytes: bytes, proofs: proofs, path: path)
    }

    /// What is proven of these latches; `nil` where nothing is.
    var proof: LatchProof? {
        guard let proof = proofs?.newest.flatMap({ LatchProof($0) }), proof.file == pair?.newest?.file
        else { return nil }
        return proof
    }

    /// When the disk took anything last.
    fileprivate var provenAt: Int64? {
        guard let own = pair?.newest?.at else { return nil }
        return max(own, proof?.at ?? own)
    }

    /// A new file, as a person makes it who has looked at the site.
    ///
    /// - Parameter file: any number; another one than that of every file before.
    public static func bytes(first record: LatchRecord, file: UInt64, wallSeconds: Int64) -> [UInt8] {
        SlotPair.bytes(
            first: Slot(file: file, generation: 1, at: wallSeconds, payload: record.bytes),
            slotSize: LatchRecord.slotSize)
    }
}

/// The newest latches that stand anywhere, and why there may have been newer ones.
///
/// The state folder outlives a power cut; the copy in the runtime folder, which lies in memory, outlives a
/// process whose disk was sick.
public struct LatchSearch: Sendable, Equatable {
    public var finding: LatchRecord.Finding
    /// Of the state folder and of the runtime folder; `nil` where there is no slot file that belongs to it.
    public var pairs: (state: SlotPair?, runtime: SlotPair?) { (state, runtime) }
    /// The largest that was found.
    public var generation: UInt64
    /// Why the last run may have had latches that stand nowhere; `nil` where the disk took them until its
    /// end.
    public var doubt: String?
    /// Latches that the disk had taken are lost, or may be, and no copy tells what they said. `nil` where
    /// nothing that anybody was told of can be lost: a write that was cut short is no damage.
    public private(set) var damage: String?
    /// The state folder's file is gone, and what counts is the copy alone.
    public private(set) var isCopyAlone = false
    private let state: SlotPair?
    private let runtime: SlotPair?

    /// Of the state folder's proof and of the runtime folder's; `nil` where there is none.
    public let proofs: (state: SlotPair?, runtime: SlotPair?)

    /// A proof that is older by more than this at its run's end proves nothing: it is renewed each ten
    /// seconds.
    public static let longestProof: Int64 = 60

    /// - Parameters:
    ///   - copy: what stands in the runtime folder; one of another file does not count.
    ///   - wallSeconds: now.
    ///   - uptimeSeconds: since the machine's start.
    public init(state file: LatchFile, copy: LatchFile, wallSeconds: Int64, uptimeSeconds: Int64) {
        let own = file.pair?.newest
        let other = copy.pair?.newest
        // Beside no file at all the copy of a run of this uptime is the only one that knows.
        if file.finding == .missing, other != nil, case .read = copy.finding { isCopyAlone = true }
        let isCopy = isCopyAlone || own != nil && other != nil && own?.file == other?.file
        state = file.pair
        runtime = isCopy ? copy.pair : nil
        proofs = (file.proofs, isCopy ? copy.proofs : nil)
        generation = max(own?.generation ?? 0, isCopy ? other?.generation ?? 0 : 0)
        finding = file.finding
        if isCopy, let other, other.generation > own?.generation ?? 0, case .read = copy.finding {
            finding = copy.finding
        }
        // Both are written at each change: only a copy that says another thing than what is left, and a
        // newer one, has what was lost.
        let hasLost =
            isCopy && copy.pair?.isTorn == false && other?.generation ?? 0 > own?.generation ?? 0
            && other?.payload != own?.payload
        let loss = hasLost ? nil : file.loss
        damage = loss?.damage
        doubt =
            isCopyAlone
            ? "the latches are missing in the state folder: what counts is their copy in the runtime folder"
            : loss?.text
                ?? Self.doubt(
                    of: max(file.provenAt ?? .min, isCopy ? copy.provenAt ?? .min : .min), isCopied: isCopy,
                    wallSeconds: wallSeconds, uptimeSeconds: uptimeSeconds)
    }

    /// While the machine runs the copy in memory is what tells of a disk that took nothing in the last
    /// seconds. After its start only the proof's age does, and what ran since the start does not count:
    /// nothing ran before it.
    private static func doubt(
        of proof: Int64, isCopied: Bool, wallSeconds: Int64, uptimeSeconds: Int64
    ) -> String? {
        guard proof != .min else { return "nothing tells whether the disk took every latch" }
        let age = wallSeconds - proof
        let isOfThisUptime = age <= uptimeSeconds
        if isOfThisUptime && !isCopied { return "there is no copy of the latches in the runtime folder" }
        // A clock that was set back tells no age.
        guard age >= -5, (isOfThisUptime ? age : age - uptimeSeconds) <= longestProof else {
            return "the last proof that the disk takes latches is \(age) s old"
        }
        return nil
    }

    public static func == (one: Self, other: Self) -> Bool {
        one.finding == other.finding && one.generation == other.generation && one.doubt == other.doubt
            && one.state == other.state && one.runtime == other.runtime
            && one.isCopyAlone == other.isCopyAlone && one.damage == other.damage
            && one.proofs == other.proofs
    }
}

extension LatchFile {
    /// What a start cannot read of what was, or was to be, written here.
    fileprivate enum Loss {
        /// The disk had it, or may have had it.
        case taken(String)
        /// The disk was being given it: nobody was told that it is saved.
        case cutShort

        var text: String {
            switch self {
            case .taken(let why): why
            case .cutShort: "a write of the latches was cut short: what it was to say is not known"
            }
        }

        var damage: String? {
            switch self {
            case .taken(let why): why
            case .cutShort: nil
            }
        }
    }

    /// The proof is written after the slot that it names and before the next one: so beside a slot that is
    /// the newest by the proof, the other is an older one, or a write that had not ended.
    fileprivate var loss: Loss? {
        guard let newest = pair?.newest else { return nil }
        if let proof, proof.generation > newest.generation {
            return .taken("newer latches were on disk than stand there now, and no copy tells what they said")
        }
        guard pair?.isTorn == true else { return nil }
        if let proof, proof.generation == newest.generation { return .cutShort }
        return .taken("a slot of the latches is damaged, and no copy tells what stood there")
    }
}
