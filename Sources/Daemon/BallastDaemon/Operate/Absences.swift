import Control
import ControlSocket
import LinuxIO
import Plant
import Quantities
import Recorder

/// The locks of every unit as people see them: with the person, the reason and the wall time, so that a
/// restart does not give a unit back.
struct Absences {
    private let units: [String]
    private(set) var current: [LatchRecord.Absence]
    /// Those whose time ended while no daemon ran: their units are held, as they would have been.
    private let overdue: [LatchRecord.Absence]

    init(_ record: LatchRecord, units: [String], seconds: Int64) {
        self.units = units
        func isOver(_ absence: LatchRecord.Absence) -> Bool { absence.end.map { seconds >= $0 } ?? false }
        let own = record.absences.filter { units.contains($0.unit) }
        current = own.filter { !isOver($0) }
        overdue = own.filter(isOver)
    }

    /// Learns from what the cycle made of a person's wish. What the program itself does needs no record.
    ///
    /// - Parameter reason: in the person's words.
    mutating func saw(_ event: Event, reason: String = "", seconds: Int64) {
        switch event.kind {
        case .lockBegun(let kind): begin(LatchRecord.Absence.Kind(kind), event, reason, seconds)
        case .lockEnded(let kind): end(LatchRecord.Absence.Kind(kind), event)
        case _: break
        }
    }

    private mutating func begin(
        _ kind: LatchRecord.Absence.Kind, _ event: Event, _ reason: String, _ seconds: Int64
    ) {
        guard let unit = event.unit, event.by != .program else { return }
        end(kind, event)
        current.append(
            LatchRecord.Absence(
                unit: units[unit], kind: kind,
                end: event.value.map { seconds + Int64($0.rounded(.up)) },
                userID: event.by?.userID, reason: reason))
    }

    private mutating func end(_ kind: LatchRecord.Absence.Kind, _ event: Event) {
        guard let unit = event.unit, event.by != .program else { return }
        current.removeAll {
            $0.unit == units[unit] && $0.kind == kind && $0.userID == event.by?.userID
        }
    }

    /// Takes the units out again, for what is left of their time. Before the first step.
    func restore(_ controller: inout Controller, seconds: Int64, at now: MonotonicTime) {
        // What it tells was told when the operator asked.
        var told = Decision()
        for absence in overdue {
            guard let unit = units.firstIndex(of: absence.unit) else { continue }
            controller.restore(.none, firstOut: nil, hold: .afterOverride, unit: unit)
        }
        for absence in current {
            guard let unit = units.firstIndex(of: absence.unit) else { continue }
            // A clock that is wrong at the start makes it no longer than anybody may ask for.
            let left = absence.end.map { min(Duration.seconds($0 - seconds), Self.longest) }
            let person = absence.userID.map { Person.user($0) } ?? .unknown
            controller.handle(
                .lock(unit: unit, UnitLock.Kind(absence.kind), for: left, by: person), at: now, into: &told)
        }
    }

    /// For people; `nil` where nobody has locked the unit.
    ///
    /// - Parameters:
    ///   - now: in the record's seconds.
    ///   - ahead: what the wall clock shows beyond the record's seconds.
    func status(of unit: String, now: Int64, ahead: Int64) -> [LockStatus]? {
        let own = current.filter { $0.unit == unit }
        guard !own.isEmpty else { return nil }
        return own.map { lock in
            var absence = lock
            absence.end = lock.end.map { $0 + ahead }
            return LockStatus(
                kind: absence.kind.rawValue, user_id: absence.userID,
                until: absence.end.map { WallClock.text(milliseconds: $0 * 1_000) }, reason: absence.reason,
                text: absence.text, left_s: lock.end.map { Double(max(0, $0 - now)) })
        }
    }

    private static let longest = Duration.seconds(43_200)
}

extension Person {
    /// `nil` where no account stands for it.
    var userID: UInt32? {
        switch self {
        case .user(let id): id
        case .unknown, .program: nil
        }
    }

    var text: String {
        switch self {
        case .user(let id): Accounts.person(id)
        case .unknown: "somebody unknown"
        case .program: "the program"
        }
    }
}

extension LatchRecord.Absence.Kind {
    init(_ kind: UnitLock.Kind) {
        switch kind {
        case .maintenance: self = .maintenance
        case .standby: self = .standby
        case .hold: self = .hold
        }
    }
}

extension UnitLock.Kind {
    init(_ kind: LatchRecord.Absence.Kind) {
        switch kind {
        case .maintenance: self = .maintenance
        case .standby: self = .standby
        case .hold: self = .hold
        }
    }
}
