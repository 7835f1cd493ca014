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
        period = config.control.period
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

    /// Ends `run()` after what the cycle has left is written.
    func end() { stop.raise() }

    func run() {
        var box = BlackBox(
            units: units, about: about, files: files, log: log, program: ProgramIdentity.own, period: period)
        var file = RecordingFile(places, sync: sync)
        var keeper = CaptureKeeper(captures, of: places, unitCount: units.count, about: about)
        tell(keeper.keepUnended())
        var hasFailed = false
        while true {
            let isLast = stop.isRaised
            beat.turn()
            box.take(from: tap)
            do throws(SystemError) {
                try write(&box, to: &file, isLast: isLast)
                hasFailed = false
            } catch {
                if !hasFailed {
                    journal.write(
                        LogRecord(.stateNotSaved, "\(places.directory): no recording is kept: \(error)"))
                }
                hasFailed = true
                // What is missing in the file cannot be bridged: it begins anew.
                file.close()
                box.wantsFile = true
            }
            if file.isFull || file.isWorn(at: .now()) { box.wantsFile = true }
            if box.wantsFile { tap.wantsController.store(true, ordering: .releasing) }
            keep(&keeper, &box, isLast: isLast)
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

    private func keep(_ keeper: inout CaptureKeeper, _ box: inout BlackBox, isLast: Bool) {
        if let wish = tap.wantedCapture.withLock({ $0.take() }) {
            box.triggers.append(
                CaptureTrigger(wish.kind, wish.text, cycle: box.last.cycle, at: box.last.at))
        }
        for trigger in box.triggers {
            // The clock of the wall at the instant of the trigger, not at that of its discovery.
            let age = MonotonicTime.now() - trigger.at
            keeper.saw(
                trigger, wallMicroseconds: (WallClock.nowNanoseconds() - age.nanoseconds) / 1_000)
        }
        box.triggers = []
        tell(keeper.keep(at: box.last.at, isLast: isLast, isTripped: box.isTripped))
    }

    private func tell(_ outcome: CaptureKeeper.Outcome?) {
        switch outcome {
        case .kept(let text): journal.write(LogRecord(.captureKept, text))
        case .notKept(let text): journal.write(LogRecord(.captureNotKept, text))
        case nil: break
        }
    }
}

/// What was tapped, as the bytes of recordings.
struct BlackBox {
    private let units: [String]
    private let period: Duration
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
    private var pending: TappedController?
    /// Another recording has begun since this was set back.
    var isRenewed = false
    /// The next state of the controller begins another recording; otherwise it stands in this one.
    var wantsFile = false
    /// What captures are kept for, since they were taken away.
    var triggers: [CaptureTrigger] = []
    /// The newest cycle.
    private(set) var last = (cycle: UInt64(0), at: MonotonicTime(nanoseconds: 0))
    /// A trip is latched in it.
    private(set) var isTripped = false

    init(
        units: [String], about: String, files: [(path: String, bytes: [UInt8])], log: EventLog,
        program: String, period: Duration
    ) {
        self.units = units
        self.period = period
        self.about = about
        self.files = files
        self.log = log
        self.program = program
    }

    /// Takes everything that is there, up to the first cycle of another recording.
    mutating func take(from tap: CycleTap) {
        while !isRenewed, tap.cycles.pop(reading: { take(&$0, from: tap) }) {}
    }

    private mutating func take(_ snapshot: inout CycleSnapshot, from tap: CycleTap) {
        let cycle = snapshot.decision.cycle
        if pending == nil { pending = tap.controllers.pop() }
        let lost = tap.commands.lost
        let hasHole = cycle != next || lost != lostCommands
        if let found = pending, found.cycle <= cycle {
            pending = nil
            if found.cycle == cycle { note(found, at: snapshot.decision.at, goesOn: !hasHole) }
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
        let age = MonotonicTime.now() - snapshot.decision.at
        recorder?.cycle(
            grid: snapshot.grid, units: snapshot.units.span.extracting(first: units.count),
            wallSeconds: (WallClock.nowNanoseconds() - age.nanoseconds) / 1_000_000_000,
            at: snapshot.decision.at, &snapshot.decision,
            eventDigest: CoreRun.digest(CoreRun.told(events, log)))
    }

    /// A cycle that comes so late has a reason that somebody will ask for.
    private static let lateCycles: Int64 = 10
    private static let lateLeast = Duration.milliseconds(200)

    private mutating func look(_ snapshot: inout CycleSnapshot, _ events: [Event]) {
        let (cycle, now) = (snapshot.decision.cycle, snapshot.decision.at)
        let gap = now - last.at
        if last.cycle > 0, gap >= max(Self.lateLeast, .nanoseconds(Self.lateCycles * period.nanoseconds)) {
            triggers.append(
                CaptureTrigger(.late, "no cycle for \(gap.milliseconds) ms", cycle: cycle, at: now))
        }
        last = (cycle, now)
        triggers += events.compactMap { CaptureTrigger($0, units: units) }
        isTripped = false
        for unit in 0..<units.count where !snapshot.decision.units[unit].latched.isEmpty { isTripped = true }
    }

    /// So often the controller's state is recorded: captures begin with one, so they reach back no further
    /// than this beyond what they must. A state takes some 60 kB.
    static let stateInterval = Duration.seconds(20)

    private mutating func note(_ found: TappedController, at now: MonotonicTime, goesOn: Bool) {
        if recorder == nil || wantsFile || !goesOn {
            finish()
            recorder = CycleRecorder(unitCount: units.count, about: about, files: files)
            isRenewed = true
        }
        stateAt = now
        recorder?.checkpoint(
            RecordedCheckpoint(
                wallSeconds: WallClock.nowMilliseconds() / 1_000, now: now, program: program,
                words: ControllerWords.of(found.controller)))
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
