import Control
import ControlSocket
import LinuxIO
import Plant
import Quantities
import Recorder
import SiteEvents

/// What becomes of the cycle's events: who keeps books learns of them at once; people, the journal and the
/// spool, once a trip's latch is on disk, or is known not to be.
struct EventTeller {
    private struct Untold {
        var event: Event
        /// What the wall clock showed in its cycle.
        var wallMilliseconds: Int64
        /// Seen while the program ends: what it asks for then is nobody's wish.
        var isOfOurEnd: Bool
    }

    private let log: EventLog
    /// In the order in which they came: a trip that waits lets none of those behind it pass.
    private var untold: [Untold] = []
    private(set) var trips: TripLog
    private(set) var absences: Absences
    private(set) var counts: UnitCounts
    private let clock: RecordClock
    /// By an operator; our own end is no operator's stop.
    private(set) var isStopped: Bool
    private var stoppedBy: String?
    var isEnding = false

    init(_ log: EventLog, _ record: LatchRecord) {
        clock = RecordClock(record)
        self.log = log
        trips = TripLog(units: log.units, table: log.table, former: record.details)
        absences = Absences(record, units: log.units, seconds: clock.seconds())
        counts = UnitCounts(record, units: log.units, seconds: clock.seconds())
        isStopped = record.isStopped
        stoppedBy = record.stoppedBy
    }

    /// What of it must outlive the process; without the units' entries.
    var record: LatchRecord {
        var record = LatchRecord(
            entries: [], isStopped: isStopped, absences: absences.current, details: trips.records,
            passings: counts.passings, wear: counts.wear, clock: clock, stoppedBy: stoppedBy)
        record.exposures = counts.exposures
        return record
    }

    /// Notes an event of the cycle.
    ///
    /// - Parameter reason: in the words of the person whose lock it is; of a stop who, since when and why.
    mutating func saw(_ event: Event, reason: String = "", wallMilliseconds: Int64) {
        let at = WallClock.text(milliseconds: wallMilliseconds)
        let strays = log.strays.text(event.missing, of: event.unit.map { log.units[$0] })
        trips.saw(event, strays: strays, at: at)
        absences.saw(event, reason: reason, seconds: clock.seconds())
        counts.saw(event, seconds: clock.seconds())
        if event.kind == .stopRequested && !isEnding {
            if !isStopped || stoppedBy == nil { stoppedBy = reason.isEmpty ? nil : reason }
            isStopped = true
        }
        if event.kind == .resumed { (isStopped, stoppedBy) = (false, nil) }
        untold.append(
            Untold(event: event, wallMilliseconds: wallMilliseconds, isOfOurEnd: isEnding))
    }

    /// Who keeps a unit out, for people and with the wall time that they see; `nil` where nobody does.
    func locks(of unit: String) -> [LockStatus]? {
        let now = clock.seconds()
        return absences.status(of: unit, now: now, ahead: WallClock.nowMilliseconds() / 1_000 - now)
    }

    var isWaiting: Bool { !untold.isEmpty }

    /// Forgets what was reset.
    mutating func keep(_ image: LatchImage) {
        for unit in 0..<image.unitCount { trips.keep(image.units[unit].latched, of: unit) }
    }

    /// The trips that stand, unit by unit.
    mutating func latched(_ image: LatchImage) -> [TripStatus] {
        (0..<image.unitCount).flatMap { unit in
            trips.trips(of: unit, image.units[unit].latched, first: image.units[unit].firstOut)
        }
    }

    /// The next that may be told, as a line of the log.
    mutating func next(_ latches: borrowing LatchDesk, at now: MonotonicTime) -> LogRecord? {
        guard let first = untold.first else { return nil }
        var isLost = false
        if case .tripped = first.event.kind {
            isLost = !latches.isSaved(cycle: first.event.cycle)
            if isLost && latches.keeps && now - first.event.at < LatchWatch.limit { return nil }
        }
        untold.removeFirst()
        var record = log.record(first.event)
        if first.isOfOurEnd { log.nameOurEnd(first.event, &record) }
        if isLost { record.text += "; NOT SAVED, a restart would not know of it" }
        var line = log.line(first.event, record)
        if isLost { line.add(.saved, "no") }
        line.happened = LogRecord.Instant(
            monotonic: first.event.at, wallMilliseconds: first.wallMilliseconds)
        return line
    }
}
