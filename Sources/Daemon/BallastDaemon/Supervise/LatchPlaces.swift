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
        guard latches.isCommissioned else { return LatchKeeping(keepers: [], places: []) }
        let name = UInt64(bitPattern: WallClock.nowNanoseconds())
        let file = search.pairs.state?.newest?.file ?? search.pairs.runtime?.newest?.file ?? name
        func place(_ path: String, _ pair: SlotPair?, _ proof: SlotPair?) -> Handover<LatchPlace> {
            Handover(
                LatchPlace(
                    .file(path), .file(LatchProof.path(beside: path)), after: (pair, proof), file: file,
                    generation: search.generation))
        }
        var places = [place(state, search.pairs.state, search.proofs.state)]
        if let runtime {
            // A copy of another file would look newer than ours.
            if search.pairs.runtime == nil {
                unlink(runtime)
                unlink(LatchProof.path(beside: runtime))
            }
            places.append(place(runtime, search.pairs.runtime, search.proofs.runtime))
        }
        let beats = [onlookers.latches, onlookers.latchCopies]
        let record = latches.inOrder(units)
        let keepers = places.indices.map { index in
            LatchKeeper(record, beat: beats[index])
        }
        return LatchKeeping(keepers: keepers, places: places)
    }
}

/// The keepers of the latches, and what they write with.
struct LatchKeeping {
    /// Of the state folder first.
    let keepers: [LatchKeeper]
    let places: [Handover<LatchPlace>]

    /// Starts a thread for each, so that a disk that hangs keeps nobody from the copy in memory.
    func start(_ link: CycleLink) throws(SystemError) -> [SystemThread] {
        var threads: [SystemThread] = []
        let images = [link.latches.state, link.latches.runtime]
        for ((keeper, place), images) in zip(zip(keepers, places), images) {
            threads.append(
                try SystemThread(name: keeper.beat.name) {
                    RealTime.leave()
                    guard let place = place.take() else { return }
                    keeper.run(images.reader(), place)
                })
        }
        return threads
    }
}
