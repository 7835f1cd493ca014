import Control
import CycleRecord
import Glibc
import Interlocks
import LinuxIO
import Quantities
import SiteConfig
import SiteEvents

/// Keeps what the cycle has left as recordings on disk, on a thread that nothing waits for. Each file begins
/// with the controller's state, so that each can be replayed by itself; the oldest make room.
final class BlackBoxThread: Sendable {
    private let tap: CycleTap
    private let places: BlackBoxPlaces
    private let about: String
    private let files: [(path: String, bytes: [UInt8])]
    private let log: EventLog
    private let units: [String]
    private let period: Duration
    private let nominal: Hertz
    private let captures: CapturePlaces
    private let journal: Journal
    private let beat: Beat
    private let stop = StopFlag()
    /// To be run on a thread of its own; ends with this one. `nil` = nothing is to be synced.
    let sync: RecordingSync?

    init(_ tap: CycleTap, _ places: BlackBoxPlaces, checked: CheckedSite, journal: Journal, beat: Beat) {
        self.beat = beat
        sync = places.isSynced ? RecordingSync(places.directory, journal: journal) : nil
        let config = checked.config
        captures = CapturePlaces(config.paths)
        tap.keepsCaptures.store(captures.bytesMax > 0, ordering: .relaxed)
        period = config.control.period
        nominal = config.gridIntegration.nominalFrequency
        self.tap = tap
        self.places = places
        self.journal = journal
        about = "ballastd (\(ProgramIdentity.own)), site \(config.siteID)"
        // With what it says of them: the interlock table in force, times to safe, what was accepted by whom.
        files = checked.files.map { ($0.path, $0.bytes) } + [(Self.checkName, Array(checked.text.utf8))]
        log = EventLog(
            site: config.siteID, units: config.units.map(\.id),
            table: InterlockTable(config.interlocks.rules))
        units = config.units.map(\.id)
    }

    /// A carried file that no site names.
    static let checkName = "ballastd --check.txt"

    /// A full disk is not asked again and again: each try makes a file.
    private static let pauseAfterFailure = Duration.seconds(10)

    /// Ends `run()` after what the cycle has left is written.
    func end() { stop.raise() }

    func run() {
        var box = BlackBox(
            units: units, about: about, files: files, log: log, program: ProgramIdentity.own, period: period,
            nominal: nominal)
        var file = RecordingFile(places, sync: sync)
        let staging = CycleStaging(tap.layout)
        var keeper = CaptureKeeper(captures, of: places, units: units, about: about)
        tell(keeper.keepUnended())
        var hasFailed = false
        var failedAt: MonotonicTime?
        var roomDue: MonotonicTime?
        while true {
            let isLast = stop.isRaised
            beat.turn()
            box.take(from: tap, staging)
            do throws(SystemError) {
                try write(&box, to: &file, isLast: isLast)
                hasFailed = false
            } catch {
                if !hasFailed {
                    journal.write(
                        LogRecord(.stateNotSaved, "\(places.directory): no recording is kept: \(error)"))
                }
                hasFailed = true
                // What is missing in the file cannot be bridged: it begins anew, when there may be room.
                file.drop()
                failedAt = .now()
                box.wantsFile = true
            }
            if file.isFull || file.isWorn(at: .now()) { box.wantsFile = true }
            if let failed = failedAt, MonotonicTime.now() - failed >= Self.pauseAfterFailure {
                failedAt = nil
            }
            if box.wantsFile, failedAt == nil { tap.wantsController.store(true, ordering: .releasing) }
            keep(&keeper, &box, &roomDue, isLast: isLast)
            if isLast {
                sync?.end()
                return
            }
            (MonotonicTime.now() + tap.pause).sleep()
        }
    }
}

extension BlackBoxThread {
    private func write(
        _ box: inout BlackBox, to file: inout RecordingFile, isLast: Bool
    ) throws(SystemError) {
        let now = MonotonicTime.now()
        if box.isRenewed || isLast {
            if let bytes = box.takeEnded() { try file.append(bytes, at: now) }
        }
        if box.isRenewed {
            let wasSpared = file.isSpared
            try file.renew(at: now)
            if file.isSpared && !wasSpared {
                let place = places.spare.map { "recordings stand in \($0)" } ?? "no recording is kept"
                journal.write(
                    LogRecord(
                        .stateNotSaved,
                        "\(places.directory): what may be written to it in a day is used up: \(place) until the day is over"
                    ))
            }
        }
        (box.isRenewed, box.wantsFile) = (false, false)
        try file.append(isLast ? box.end() : box.drain(), at: now)
    }

    private func keep(
        _ keeper: inout CaptureKeeper, _ box: inout BlackBox, _ roomDue: inout MonotonicTime?, isLast: Bool
    ) {
        if let wish = tap.wantedCapture.withLock({ $0.take() }) {
            box.triggers.append(
                CaptureTrigger(wish.kind, wish.text, cycle: box.last.cycle, at: box.last.at))
            box.triggerWall.append(box.last.wallNanoseconds)
        }
        // The clock of the wall at the instant of the trigger, not at that of its discovery.
        for (trigger, wall) in zip(box.triggers, box.triggerWall) {
            tell(keeper.saw(trigger, wallMicroseconds: wall / 1_000))
        }
        (box.triggers, box.triggerWall) = ([], [])
        tell(
            keeper.keep(
                at: box.last.at, isLast: isLast, isTripped: box.isTripped,
                performance: { tap.performance.withLock { $0.lines } }))
        let now = MonotonicTime.now()
        guard roomDue.map({ now >= $0 }) ?? true else { return }
        roomDue = now + .seconds(1)
        tap.hasCaptureRoom.store(keeper.hasRoom(isTripped: box.isTripped), ordering: .relaxed)
    }

    private func tell(_ outcome: CaptureKeeper.Outcome?) {
        switch outcome {
        case .kept(let text): journal.write(LogRecord(.captureKept, text))
        case .notKept(let text): journal.write(LogRecord(.captureNotKept, text))
        case nil: break
        }
    }
}

/// Where the black box puts a cycle together again: memory of its own that stays.
struct CycleStaging: ~Copyable {
    let snapshot: UnsafeMutablePointer<CycleSnapshot>
    let bytes: UnsafeMutableRawPointer

    init(_ layout: CycleLayout) {
        snapshot = .allocate(capacity: 1)
        snapshot.initialize(to: CycleSnapshot())
        bytes = .allocate(byteCount: layout.bytesMax, alignment: 16)
    }

    deinit {
        snapshot.deallocate()
        bytes.deallocate()
    }
}

/// What was tapped, as the bytes of recordings.
struct BlackBox {
    private let units: [String]
    private let period: Duration
    /// Of the grid, Hz.
    private let nominal: Double
    /// The frequency is outside of its normal band.
    private var isOutside = false
    private let about: String
    private let files: [(path: String, bytes: [UInt8])]
    private let log: EventLog
    private let program: String
    private var recorder: CycleRecorder?
    /// When the newest state of the controller was recorded.
    private var stateAt = MonotonicTime(nanoseconds: 0)
    /// The end of the recording before.
    private var ended: [UInt8]?
    private var next: UInt64 = 0
    private var lostCommands: UInt64 = 0
    /// The words of a state that waits for its cycle.
    private var pending: (words: [UInt64], cycle: UInt64)?
    /// What the wall clock was ahead of the other one when that was recorded last; `nil` = not since a state.
    private var wallAhead: Int64?
    /// The wall clock is put right bit by bit: further away it is recorded again.
    private static let wallDrift: Int64 = 500_000
    /// Another recording has begun since this was set back.
    var isRenewed = false
    /// The next state of the controller begins another recording; otherwise it stands in this one.
    var wantsFile = false
    /// What captures are kept for, since they were taken away.
    var triggers: [CaptureTrigger] = []
    /// What the wall clock showed at each of them, ns.
    var triggerWall: [Int64] = []
    /// The newest cycle.
    private(set) var last = (cycle: UInt64(0), at: MonotonicTime(nanoseconds: 0), wallNanoseconds: Int64(0))
    /// A trip is latched in it.
    private(set) var isTripped = false

    init(
        units: [String], about: String, files: [(path: String, bytes: [UInt8])], log: EventLog,
        program: String, period: Duration, nominal: Hertz = Hertz(50)
    ) {
        self.nominal = nominal.value
        self.units = units
        self.period = period
        self.about = about
        self.files = files
        self.log = log
        self.program = program
    }

    /// Takes everything that is there, up to the first cycle of another recording.
    mutating func take(from tap: CycleTap, _ staging: borrowing CycleStaging) {
        while !isRenewed, tap.take(&staging.snapshot.pointee, staging: staging.bytes) {
            take(&staging.snapshot.pointee, from: tap)
            while triggerWall.count < triggers.count {
                triggerWall.append(staging.snapshot.pointee.wallNanoseconds)
            }
        }
    }

    private mutating func take(_ snapshot: inout CycleSnapshot, from tap: CycleTap) {
        let cycle = snapshot.decision.cycle
        if pending == nil {
            // Where it lies: it is large, and this thread's stack is part of what recording takes.
            _ = tap.controllers.pop(reading: {
                pending = (ControllerWords.of(&$0.controller), $0.cycle)
            })
        }
        let lost = tap.commands.lost
        let hasHole = cycle != next || lost != lostCommands
        if let found = pending, found.cycle <= cycle {
            pending = nil
            if found.cycle == cycle { note(found.words, snapshot, goesOn: !hasHole) }
        } else if hasHole {
            finish()
            tap.wantsController.store(true, ordering: .releasing)
        } else if snapshot.decision.at - stateAt >= Self.stateInterval {
            tap.wantsController.store(true, ordering: .releasing)
        }
        lostCommands = lost
        next = cycle + 1
        while let told = tap.commands.pop(if: { $0.cycle <= cycle }) {
            if told.cycle == cycle { recorder?.command(told.command, at: told.at) }
        }
        var events: [Event] = []
        snapshot.decision.events.forEach { events.append($0) }
        look(&snapshot, events)
        guard recorder != nil else { return }
        let ahead = snapshot.wallNanoseconds - snapshot.decision.at.nanoseconds
        if !events.isEmpty || wallAhead.map({ (ahead - $0).magnitude > Self.wallDrift }) ?? true {
            recorder?.instant(snapshot.decision.at, wallNanoseconds: snapshot.wallNanoseconds)
            wallAhead = ahead
        }
        recorder?.cycle(
            grid: snapshot.grid, units: snapshot.units.span.extracting(first: units.count),
            wallSeconds: snapshot.wallNanoseconds / 1_000_000_000, at: snapshot.decision.at,
            &snapshot.decision, eventDigest: CoreRun.digest(CoreRun.told(events, log)))
    }

    /// A cycle that comes so late has a reason that somebody will ask for.
    private static let lateCycles: Int64 = 10
    private static let lateLeast = Duration.milliseconds(200)
    /// So long without a cycle keeps a window.
    static func lateness(of period: Duration) -> Duration {
        max(lateLeast, .nanoseconds(lateCycles * period.nanoseconds))
    }

    /// Where the frequency leaves this band about its nominal value, Hz, that is a grid event: 1 %, what
    /// EN 50160 calls normal in a synchronous area.
    private static let normalBand = 0.01
    /// It is another event when it has been this far inside: what swings about the edge is one.
    private static let backBand = 0.009

    /// Whether the site supervises the grid or not: people ask why afterwards.
    private mutating func lookAtGrid(_ snapshot: inout CycleSnapshot) {
        guard let frequency = snapshot.decision.frequency?.value else { return }
        let now = snapshot.decision.at
        let deviation = (frequency - nominal).magnitude
        if isOutside, deviation <= nominal * Self.backBand { isOutside = false }
        guard !isOutside, deviation > nominal * Self.normalBand else { return }
        isOutside = true
        let shown = (frequency * 1_000).rounded() / 1_000
        triggers.append(
            CaptureTrigger(.grid, "the grid: \(shown) Hz", cycle: snapshot.decision.cycle, at: now))
    }

    private mutating func look(_ snapshot: inout CycleSnapshot, _ events: [Event]) {
        lookAtGrid(&snapshot)
        let (cycle, now) = (snapshot.decision.cycle, snapshot.decision.at)
        let gap = now - last.at
        if last.cycle > 0, gap >= Self.lateness(of: period) {
            let shown = Int(gap.milliseconds.rounded())
            triggers.append(CaptureTrigger(.late, "no cycle for \(shown) ms", cycle: cycle, at: now))
        }
        last = (cycle, now, snapshot.wallNanoseconds)
        triggers += events.compactMap { CaptureTrigger($0, units: units) }
        isTripped = false
        for unit in 0..<units.count where !snapshot.decision.units[unit].latched.isEmpty { isTripped = true }
    }

    /// So often the controller's state is recorded: captures begin with one, so they reach back no further
    /// than this beyond what they must. A state takes some 60 kB.
    static let stateInterval = Duration.seconds(20)

    private mutating func note(
        _ words: [UInt64], _ snapshot: borrowing CycleSnapshot, goesOn: Bool
    ) {
        if recorder == nil || wantsFile || !goesOn {
            finish()
            recorder = CycleRecorder(unitCount: units.count, about: about, files: files)
            isRenewed = true
        }
        stateAt = snapshot.decision.at
        wallAhead = nil
        recorder?.checkpoint(
            RecordedCheckpoint(
                wallSeconds: snapshot.wallNanoseconds / 1_000_000_000, now: snapshot.decision.at,
                program: program, words: words))
    }

    /// A recording that is whole ends; what follows belongs to none until the controller's state is there.
    private mutating func finish() {
        recorder?.end()
        if let bytes = recorder?.drain() { ended = (ended ?? []) + bytes }
        recorder = nil
    }

    /// What is still missing of the recording before.
    mutating func takeEnded() -> [UInt8]? {
        defer { ended = nil }
        return ended
    }

    mutating func drain() -> [UInt8] { recorder?.drain() ?? [] }

    /// The rest, with the word that the program has ended in order.
    mutating func end() -> [UInt8] {
        finish()
        return takeEnded() ?? []
    }
}
