import Glibc
import LinuxIO
import Recorder
import SiteConfig

/// Where the latches stand: in the state folder, and, for as long as the machine runs, in the runtime folder.
struct LatchPlaces {
    let state: String
    /// `nil` where systemd gives none.
    let runtime: String?

    init(_ config: SiteConfig) {
        self.init(
            state: config.paths.stateDirectory,
            runtime: getenv("RUNTIME_DIRECTORY").map { String(cString: $0) })
    }

    init(state: String, runtime: String?) {
        self.state = LatchRecord.path(in: state)
        self.runtime = runtime?.split(separator: ":").first.map { LatchRecord.path(in: String($0)) }
    }

    /// What a start finds.
    func search() -> LatchSearch {
        LatchSearch(
            state: LatchFile.read(state),
            copy: runtime.map { LatchFile.read($0) } ?? LatchFile(finding: .missing),
            wallSeconds: WallClock.nowMilliseconds() / 1_000,
            uptimeSeconds: BootClock.now().components.seconds)
    }

    /// Those who keep them from now on; nobody where no person has made the first record.
    ///
    /// - Parameter units: of the site.
    func keeping(
        _ latches: Latches, of units: [String], _ onlookers: Onlookers, after search: LatchSearch
    ) -> LatchKeeping {
        guard latches.isCommissioned else { return LatchKeeping(keepers: [], writers: []) }
        let name = UInt64(bitPattern: WallClock.nowNanoseconds())
        let pairs = search.pairs
        let file = pairs.state?.newest?.file ?? pairs.runtime?.newest?.file ?? name
        var writers = [
            Handover(
                SlotWriter(
                    .file(state), slotSize: LatchRecord.slotSize, after: pairs.state, file: file,
                    generation: search.generation))
        ]
        if let runtime {
            // A copy of another file would look newer than ours.
            if pairs.runtime == nil { unlink(runtime) }
            writers.append(
                Handover(
                    SlotWriter(
                        .file(runtime), slotSize: LatchRecord.slotSize, after: pairs.runtime, file: file,
                        generation: search.generation)))
        }
        let beats = [onlookers.latches, onlookers.latchCopies]
        let record = latches.inOrder(units)
        let keepers = writers.indices.map { index in
            LatchKeeper(record, beat: beats[index])
        }
        return LatchKeeping(keepers: keepers, writers: writers)
    }
}

/// The keepers of the latches, and what they write with.
struct LatchKeeping {
    /// Of the state folder first.
    let keepers: [LatchKeeper]
    let writers: [Handover<SlotWriter>]

    /// Starts a thread for each, so that a disk that hangs keeps nobody from the copy in memory.
    func start(_ link: CycleLink) throws(SystemError) -> [SystemThread] {
        var threads: [SystemThread] = []
        let images = [link.latches.state, link.latches.runtime]
        for ((keeper, writer), images) in zip(zip(keepers, writers), images) {
            threads.append(
                try SystemThread(name: keeper.beat.name) {
                    RealTime.leave()
                    guard let writer = writer.take() else { return }
                    keeper.run(images.reader(), writer)
                })
        }
        return threads
    }
}
