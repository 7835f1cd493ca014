import Control
import Interlocks
import LinuxIO
import Plant
import Recorder
import SiteConfig
import SiteEvents

/// What the daemon knows of trips that a former run latched.
struct Latches: Equatable {
    /// What stands on disk, or what counts as standing there.
    var record: LatchRecord
    /// Whether a record lies on disk. Only `ballastctl commission init` makes the first one, except in a
    /// simulation.
    var isCommissioned: Bool
    /// What people must be told at the start.
    var notes: [LogRecord]

    static func == (one: Latches, other: Latches) -> Bool {
        one.record == other.record && one.isCommissioned == other.isCommissioned
            && one.notes.map(\.text) == other.notes.map(\.text)
    }

    /// Unknown is never healthy: a unit about whose past nothing is known counts as tripped; only a
    /// simulation starts without a record, and only where no daemon has run. What stands of a unit that the
    /// configuration does not name is kept.
    ///
    /// - Parameters:
    ///   - hasRun: what a run leaves lies beside the record.
    ///   - damage: why something newer than the record may be lost.
    ///   - seconds: now, in the record's seconds.
    static func restore(
        _ finding: LatchRecord.Finding, path: String, _ config: SiteConfig, hasRun: Bool = false,
        damage: String? = nil, seconds: (LatchRecord) -> Int64 = { RecordClock($0).seconds() }
    ) -> Latches {
        let units = config.units.map(\.id)
        var latches = restore(
            finding, path: path, units: units, isSimulation: config.mode.rules.latchRecord == .begun,
            hasRun: hasRun, seconds: seconds)
        if let damage { latches.distrust("\(path): \(damage)", units) }
        latches.bind(to: config.units.map { LatchRecord.Wiring(unit: $0.id, text: $0.wiring) })
        return latches
    }

    static func restore(
        _ finding: LatchRecord.Finding, path: String, units: [String], isSimulation: Bool,
        hasRun: Bool = false, seconds: (LatchRecord) -> Int64 = { RecordClock($0).seconds() }
    ) -> Latches {
        switch finding {
        case .missing where isSimulation && hasRun:
            return allTripped(units, "\(path) is missing where a daemon has run", isCommissioned: true)
        case .missing where isSimulation:
            return Latches(record: LatchRecord(entries: []), isCommissioned: true, notes: [])
        case .missing:
            let reason = "\(path) is missing; if the site is new: ballastctl commission init"
            return allTripped(units, reason, isCommissioned: false)
        case .unreadable(let reason): return allTripped(units, reason, isCommissioned: true)
        case .read(let record):
            if let entry = record.entries.first(where: { !$0.isKnown }) {
                let reason = "\(path): unit \(entry.unit) has a trip or hold that this version does not know"
                return allTripped(units, reason, isCommissioned: true)
            }
            return restore(record, units: units, isSimulation: isSimulation, seconds: seconds(record))
        }
    }

    private static func restore(
        _ record: LatchRecord, units: [String], isSimulation: Bool, seconds: Int64
    ) -> Latches {
        var latches = Latches(record: record, isCommissioned: true, notes: [])
        for unit in units where !isSimulation && !record.entries.contains(where: { $0.unit == unit }) {
            latches.record.entries.append(.unknown(unit))
            latches.note("unit \(unit) is not in the latch record: it counts as tripped", unit: unit)
        }
        if record.isStopped {
            latches.notes.append(
                LogRecord(
                    .stop,
                    "the site is stopped \(record.stoppedBy ?? "by an operator"): it stays out of service until"
                        + " 'ballastctl resume'"))
        }
        for absence in record.absences where units.contains(absence.unit) {
            let isOver = absence.end.map { seconds >= $0 } ?? false
            let text =
                isOver
                ? "was in \(absence.text), which is over: it waits for a person's resume"
                : "stays in \(absence.text)"
            latches.note("unit \(absence.unit) \(text)", unit: absence.unit)
        }
        for entry in record.entries where entry.trips == 0 && entry.hold != 0 && units.contains(entry.unit) {
            latches.note(
                "unit \(entry.unit) is \(Names.text(entry.held)); 'ballastctl resume \(entry.unit)' starts it",
                unit: entry.unit)
        }
        for entry in record.entries where entry.trips != 0 && !units.contains(entry.unit) {
            let names = Names.list(entry.set, first: entry.first).joined(separator: ", ")
            latches.note(
                "unit \(entry.unit) has latched trips (\(names)) and is not in the configuration;"
                    + " its record is kept",
                unit: entry.unit)
        }
        return latches
    }

    private static func allTripped(_ units: [String], _ reason: String, isCommissioned: Bool) -> Latches {
        let note = LogRecord(
            .latchRecord, "every unit counts as tripped: \(reason)", [.cause: reason], as: .critical)
        return Latches(
            record: LatchRecord(entries: units.map { .unknown($0) }), isCommissioned: isCommissioned,
            notes: [note])
    }

    private mutating func note(_ text: String, unit: String) {
        notes.append(
            LogRecord(.latchRecord, text, [.unit: unit]))
    }

    /// The record with the site's units first, in their order.
    func inOrder(_ units: [String]) -> LatchRecord {
        let entries = units.map { unit in
            record.entries.first { $0.unit == unit } ?? LatchRecord.Entry(unit: unit, trips: 0, firstOut: nil)
        }
        var ordered = record
        ordered.entries = entries
        ordered.details = record.details.filter { units.contains($0.unit) }
        ordered.passings = record.passings.filter { units.contains($0.unit) }
        ordered.wear = record.wear.filter { units.contains($0.unit) }
        ordered.exposures = record.exposures.filter { units.contains($0.unit) }
        return updated(ordered)
    }

    /// The record with the units as they are now; units that are not in `current` keep what stands of them.
    func updated(_ current: LatchRecord) -> LatchRecord {
        func isElsewhere(_ unit: String) -> Bool { !current.entries.contains { $0.unit == unit } }
        var all = current
        all.entries += record.entries.filter { ($0.trips != 0 || $0.hold != 0) && isElsewhere($0.unit) }
        all.details += record.details.filter { isElsewhere($0.unit) }
        all.passings += record.passings.filter { isElsewhere($0.unit) }
        all.wear += record.wear.filter { isElsewhere($0.unit) }
        all.exposures += record.exposures.filter { isElsewhere($0.unit) }
        all.wirings = record.wirings
        return all
    }
}

extension LatchRecord.Absence {
    /// `maintenance by anna (user id 1000) until 2026-01-02T03:04:05Z (fuse changed)`.
    var text: String {
        let person = userID.map { Accounts.person($0) } ?? "somebody unknown"
        let until = end.map { " until \(WallClock.text(milliseconds: $0 * 1_000))" } ?? " until they end it"
        return "\(kind.rawValue) by \(person)\(until)\(reason.isEmpty ? "" : " (\(reason))")"
    }
}

extension LatchRecord.Entry {
    init(
        unit: String, set: InterlockSet, first: InterlockID?, hold: UnitHold = .none, resetBy: Person? = nil
    ) {
        self.init(
            unit: unit, trips: set.rawValue, firstOut: first?.rawValue, hold: hold.rawValue,
            resetBy: resetBy?.userID)
    }

    /// Nothing is known about the unit's past.
    static func unknown(_ unit: String) -> Self {
        Self(unit: unit, set: InterlockSet(.latchRecord), first: .latchRecord)
    }

    var set: InterlockSet { InterlockSet(rawValue: trips) }
    var held: UnitHold { UnitHold(rawValue: hold) }
    var first: InterlockID? { firstOut.flatMap(InterlockID.init(rawValue:)) }
    /// Nobody's name is no person.
    var resetter: Person? { resetBy.map { .user($0) } }

    /// Whether every trip and hold has a name here: a record of a newer version may have others.
    fileprivate var isKnown: Bool {
        guard (firstOut == nil) == (first == nil), UnitHold.all.contains(held) else { return false }
        return (UInt8(0)..<64).allSatisfy { bit in
            trips & (1 << UInt64(bit)) == 0 || InterlockID(rawValue: bit) != nil
        }
    }
}
