import BatteryProfiles
import CANBus
import Control
import CycleRecord
import Interlocks
import ModbusBus
import Plant
import Quantities
import Recorder
import SiteConfig
import SiteEvents

/// What a daemon leaves on disk, as its bytes; `nil` = no such file.
public struct CoreState: Sendable, Equatable {
    public var latches: [UInt8]?
    public var run: [UInt8]?

    public init() {}
}

/// An event of the cycle in the words of the journal.
public struct CoreEvent: Sendable, Equatable {
    /// `BALLAST_EVENT`.
    public var name: String
    public var unit: String?
    /// `BALLAST_INTERLOCK` or `BALLAST_CAUSE`; of a change of mode the new one.
    public var cause: String?
    public var text: String

    public init(name: String, unit: String? = nil, cause: String? = nil, text: String = "") {
        self.name = name
        self.unit = unit
        self.cause = cause
        self.text = text
    }
}

/// What people see of one unit.
public struct CoreUnitStatus: Sendable, Equatable {
    public var mode: String
    public var trips: [String]
    public var firstOut: String?
    public var warnings: [String]
    public var holds: [String]
    public var limitedBy: String
}

/// The daemon without its threads, wires and disk: the controller as a start makes it out of what stands on
/// disk, its words, and what it would write. For those who run it in virtual time.
public final class CoreRun {
    public private(set) var config: SiteConfig
    public private(set) var decision = Decision()
    /// As it stands on disk after the last turn.
    public private(set) var state: CoreState
    private(set) var controller: Controller
    private var actuations: [Actuation]
    private(set) var latches: Latches
    private var absences: Absences
    private let clock: RecordClock
    private var counts: UnitCounts
    private let log: EventLog
    private let run: RunRecord
    public private(set) var isStopped: Bool
    private var isEnding = false
    /// Keeps everything that goes in and comes out; `nil` = nobody wants it.
    public var recorder: CycleRecorder?
    /// How long the machine has been suspended since its start: so far its boot clock is ahead.
    public var asleep: Duration
    /// What people are told at the start.
    public let notes: [CoreEvent]

    /// A start.
    ///
    /// - Parameters:
    ///   - profiles: of the units' batteries, in their order.
    ///   - wallSeconds: since 1970-01-01 00:00 UTC.
    ///   - recorder: is told of this start, and of all that follows; it has no words for `doubts` and sleep.
    ///   - asleep: how long the machine has been suspended since its start.
    public init(
        _ config: SiteConfig, profiles: [BatteryProfile?], state: CoreState, wallSeconds: Int64,
        at now: MonotonicTime, recorder: CycleRecorder? = nil, doubts: CoreDisk.Doubts = .none,
        asleep: Duration = .zero
    ) {
        self.config = config
        self.asleep = asleep
        self.recorder = recorder
        self.recorder?.start(
            RecordedStart(
                wallSeconds: wallSeconds, now: now, enterService: config.control.enterService,
                latches: state.latches, run: state.run))
        let units = config.units.map(\.id)
        let sinceBoot = Self.sinceBoot(now, asleep)
        func clock(_ record: LatchRecord) -> RecordClock {
            // Virtual time starts no machine anew.
            RecordClock(record, boot: 1, sinceBoot: sinceBoot, wallSeconds: wallSeconds)
        }
        let latches = Latches.restore(
            Self.latches(state), path: "latches", config, hasRun: state.run != nil, damage: doubts.damage
        ) {
            clock($0).seconds(sinceBoot: sinceBoot)
        }
        let finding: RunRecord.Finding =
            state.run.map { RunRecord(bytes: $0).map { .read($0) } ?? .unreadable("no run record") }
            ?? .missing
        let restart = Restart.judge(
            finding, doubt: doubts.doubt, resumes: config.control.resumesAfterRestart,
            wallSeconds: wallSeconds)
        self.clock = clock(latches.record)
        let seconds = self.clock.seconds(sinceBoot: sinceBoot)
        absences = Absences(latches.record, units: units, seconds: seconds)
        counts = UnitCounts(latches.record, units: units, seconds: seconds)
        log = EventLog(
            site: config.siteID, units: units, table: InterlockTable(config.interlocks.rules))
        controller = Self.controller(config, profiles, latches, restart.hold)
        actuations = config.units.map { _ in Actuation.safe }
        if latches.record.isStopped { controller.restoreStop() }
        absences.restore(&controller, seconds: seconds, at: now)
        counts.restore(&controller, seconds: seconds)
        isStopped = latches.record.isStopped
        self.latches = latches
        run = restart.record
        self.state = state
        self.state.run = restart.record.bytes
        notes = (latches.notes + restart.notes).map { note in
            CoreEvent(
                name: note.event?.rawValue ?? "", unit: note[.unit], cause: note[.cause], text: note.text)
        }
    }

    private static func sinceBoot(_ now: MonotonicTime, _ asleep: Duration) -> Int64 {
        (now + asleep).nanoseconds / 1_000_000_000
    }

    private static func latches(_ state: CoreState) -> LatchRecord.Finding {
        guard let bytes = state.latches else { return .missing }
        return LatchRecord(bytes: bytes).map { .read($0) } ?? .unreadable("no latch record")
    }

    private static func controller(
        _ config: SiteConfig, _ profiles: [BatteryProfile?], _ latches: Latches, _ hold: UnitHold
    ) -> Controller {
        // In virtual time nothing stands on disk but what the run itself has left.
        let book = ReversionBook(config, ReversionRecord())
        let settings = config.units.enumerated().map { index, unit in
            var settings = SiteAssembly.settings(
                of: unit, profiles.indices.contains(index) ? profiles[index] : nil,
                period: config.control.period)
            settings.prove(book.provenReversion(of: unit))
            return settings
        }
        var controller = Controller(settings: SiteAssembly.siteSettings(config), units: settings.span)
        for (index, unit) in config.units.enumerated() {
            controller.restore(.none, firstOut: nil, hold: hold, unit: index)
            guard let entry = latches.record.entries.first(where: { $0.unit == unit.id }) else { continue }
            controller.restore(
                entry.set, firstOut: entry.first, hold: entry.held, resetBy: entry.resetter, unit: index)
        }
        return controller
    }

    // MARK: Cycles

    /// What a person asks arrives between two cycles.
    public func handle(_ command: Controller.Command, at now: MonotonicTime) {
        recorder?.command(command, at: now)
        controller.handle(command, at: now, into: &decision)
    }

    /// The machine has been suspended, and what was seen before is older than it looks: every unit enters
    /// service anew.
    public func wake(at now: MonotonicTime) {
        let commands = SleepWatch.reentry(
            units: config.units.count, enterService: config.control.enterService)
        for command in commands { handle(command, at: now) }
    }

    /// The site's file is read anew, and says this now.
    ///
    /// - Returns: what people are told.
    public func reload(_ new: SiteConfig, at now: MonotonicTime) -> [CoreEvent] {
        let reload = Reload(from: config, to: new)
        guard reload.refusals.isEmpty else {
            return reload.refusals.map { CoreEvent(name: EventName.reloadRefused.rawValue, text: $0) }
        }
        for command in reload.commands { handle(command, at: now) }
        config = new
        return [
            CoreEvent(
                name: EventName.reloaded.rawValue, text: reload.changes.joined(separator: "; "))
        ]
    }

    /// The end in order: units go to zero, and what an operator has stopped is remembered as it was.
    public func beginEnd(at now: MonotonicTime) {
        isEnding = true
        recorder?.endAsked(at: now)
        controller.handle(.stop, at: now, into: &decision)
    }

    /// Whether every unit is out of service, its contactors open.
    public var isOutOfService: Bool {
        for index in 0..<config.units.count {
            let unit = decision.units[index]
            if unit.closesMainContactor || unit.closesPrechargeContactor { return false }
            switch unit.mode {
            case .precharge, .running, .stopping: return false
            case .offline, .standby, .tripped, .maintenance: continue
            }
        }
        return true
    }

    /// The last thing of an orderly end.
    public func end() { state.run = RunRecord(isRunning: false, restarts: run.restarts).bytes }

    /// One cycle.
    ///
    /// - Returns: what people are told of it.
    public func turn(
        grid: GridImage, units images: Span<UnitImage>, at now: MonotonicTime
    ) -> [CoreEvent] {
        controller.step(grid: grid, units: images, at: now, into: &decision)
        actuations = Self.actuations(&controller, &decision, count: config.units.count)
        var events: [Event] = []
        decision.events.forEach { events.append($0) }
        let told = Self.told(events, log)
        let seconds = clock.seconds(sinceBoot: Self.sinceBoot(now, asleep))
        recorder?.cycle(
            grid: grid, units: images, wallSeconds: seconds, at: now, &decision,
            eventDigest: Self.digest(told))
        decision.events.removeAll()
        for event in events {
            absences.saw(event, seconds: seconds)
            counts.saw(event, seconds: seconds)
            if event.kind == .stopRequested && !isEnding { isStopped = true }
            if event.kind == .resumed { isStopped = false }
        }
        persist()
        return told
    }

    static func told(_ events: [Event], _ log: EventLog) -> [CoreEvent] {
        events.map { event in
            let record = log.record(event)
            return CoreEvent(
                name: record.event.rawValue, unit: record.unit, cause: record.cause ?? record.to,
                text: record.text)
        }
    }

    /// Of what people are told of a cycle, in the recording of it.
    static func digest(_ told: [CoreEvent]) -> UInt64 {
        var sum = Checksum()
        for event in told {
            for word in [event.name, event.unit ?? "", event.cause ?? "", event.text] { sum.add(word.utf8) }
        }
        return sum.value
    }

    private func persist() {
        let entries = config.units.enumerated().map { index, unit in
            let decision = decision.units[index]
            return LatchRecord.Entry(
                unit: unit.id, set: decision.latched, first: decision.firstOut, hold: decision.hold,
                resetBy: decision.resetBy)
        }
        var current = LatchRecord(
            entries: entries, isStopped: isStopped, absences: absences.current, passings: counts.passings,
            wear: counts.wear, clock: clock)
        current.exposures = counts.exposures
        let record = latches.updated(current)
        guard record != latches.record || state.latches == nil else { return }
        latches.record = record
        state.latches = record.bytes
    }

    /// As the last cycle has decided.
    public func actuation(of unit: Int) -> Actuation { actuations[unit] }

    /// Both are large, and copied where a class gives them away: once a cycle, not once a question.
    private static func actuations(
        _ controller: inout Controller, _ decision: inout Decision, count: Int
    ) -> [Actuation] {
        var actuations: [Actuation] = []
        for unit in 0..<count { actuations.append(controller.actuation(of: unit, in: &decision)) }
        return actuations
    }

    /// Cycles so far; without one there is no decision.
    public var cycles: UInt64 { decision.cycle }
    public var seenFrequency: Hertz? { decision.frequency }
    public var basePoint: Watts { decision.basePoint }

    // MARK: What people see

    public func status(of unit: Int) -> CoreUnitStatus {
        let decision = decision.units[unit]
        let trips = Names.list(decision.latched, first: decision.firstOut)
        return CoreUnitStatus(
            mode: "\(decision.mode.kind.name)", trips: trips,
            firstOut: decision.firstOut.map { "\($0.name)" },
            warnings: Names.list(decision.warnings, first: nil), holds: Names.list(decision.hold),
            limitedBy: Names.text(decision.limitedBy))
    }

    /// Whose frequency counts; `nil` = nobody's.
    public var frequencySource: String? {
        decision.grid.source.map { Names.text($0, units: config.units.map(\.id)) }
    }

    /// `nil` where nothing supervises it.
    public var gridState: String? { decision.grid.state.map(Names.text) }
}

extension ControlSettings {
    /// How old the evidence of a unit's power may be.
    public static func budget(of unit: UnitConfig, period: Duration) -> FreshnessBudget {
        SiteAssembly.settings(of: unit, period: period).budget
    }
}
