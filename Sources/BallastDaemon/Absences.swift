import Control
import LinuxIO
import Plant
import Quantities
import Recorder

/// The units that an operator has taken out for a time, so that a restart does not give them back.
struct Absences {
    private let units: [String]
    private(set) var current: [LatchRecord.Absence]
    /// Those whose time ended while no daemon ran: their units are held, as they would have been.
    private let overdue: [LatchRecord.Absence]

    init(_ record: LatchRecord, units: [String], wallSeconds: Int64) {
        self.units = units
        current = record.absences.filter { units.contains($0.unit) && wallSeconds < $0.end }
        overdue = record.absences.filter { units.contains($0.unit) && wallSeconds >= $0.end }
    }

    /// Learns from what the cycle made of an operator's wish.
    mutating func saw(_ event: Event, wallSeconds: Int64) {
        if event.kind == .maintenanceBegun { begin(.maintenance, event, wallSeconds) }
        if event.kind == .maintenanceEnded { end(.maintenance, event) }
        if event.kind == .overrideBegun(.standby) { begin(.standby, event, wallSeconds) }
        if event.kind == .overrideEnded(.standby) { end(.standby, event) }
    }

    private mutating func begin(_ kind: LatchRecord.Absence.Kind, _ event: Event, _ wallSeconds: Int64) {
        guard let unit = event.unit, let time = event.value else { return }
        end(kind, event)
        current.append(
            LatchRecord.Absence(unit: units[unit], kind: kind, end: wallSeconds + Int64(time.rounded(.up))))
    }

    private mutating func end(_ kind: LatchRecord.Absence.Kind, _ event: Event) {
        guard let unit = event.unit else { return }
        current.removeAll { $0.unit == units[unit] && $0.kind == kind }
    }

    /// Takes the units out again, for what is left of their time. Before the first step. Whether a unit in
    /// standby came from power is not known any more: in the end it is held.
    func restore(_ controller: inout Controller, wallSeconds: Int64, at now: MonotonicTime) {
        // What it tells was told when the operator asked.
        var told = Decision()
        for absence in overdue {
            guard let unit = units.firstIndex(of: absence.unit) else { continue }
            controller.restore(.none, firstOut: nil, hold: .afterOverride, unit: unit)
        }
        for absence in current {
            guard let unit = units.firstIndex(of: absence.unit) else { continue }
            // A clock that is wrong at the start makes it no longer than anybody may ask for.
            let left = min(Duration.seconds(absence.end - wallSeconds), Self.longest)
            switch absence.kind {
            case .maintenance: controller.handle(.maintain(unit: unit, for: left), at: now, into: &told)
            case .standby:
                controller.handle(.override(unit: unit, .standby, for: left), at: now, into: &told)
            }
        }
    }

    private static let longest = Duration.seconds(43_200)
}
