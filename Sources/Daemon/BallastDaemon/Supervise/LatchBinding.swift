import Interlocks
import LinuxIO
import Plant
import Recorder
import SiteConfig
import SiteEvents

extension UnitConfig {
    /// Where its inverter and its battery are reached: what stays with a unit whose name is changed.
    var wiring: String { "\(inverter.endpoint.name) \(inverter.unitID), \(battery.transport)" }
}

extension Latches {
    /// Counts every unit as tripped besides what the record says of it.
    mutating func distrust(_ reason: String, _ units: [String]) {
        for unit in units { add(InterlockSet(.latchRecord), to: unit) }
        notes.append(
            LogRecord(
                .latchRecord, "every unit counts as tripped: \(reason)", [.cause: reason], as: .critical))
    }

    /// Holds the record's latches to the wires that they were latched at.
    ///
    /// A name that is found at other wires may have been exchanged with another one, or the wires may have:
    /// nobody knows. So the unit has the trips and locks of both, and waits for a person.
    mutating func bind(to wirings: [LatchRecord.Wiring]) {
        let former = record
        for wiring in wirings {
            let same = former.wirings.first { $0.text == wiring.text && $0.unit != wiring.unit }
            let own = former.wirings.first { $0.unit == wiring.unit }
            guard same != nil || own.map({ $0.text != wiring.text }) ?? false else { continue }
            if let same { takeOver(former, of: same.unit, for: wiring.unit) }
            add(.none, hold: .afterRestart, to: wiring.unit)
            let before = same.map { "where \($0.unit) was" } ?? "elsewhere"
            let whose = same.map { "; the trips and locks of \($0.unit) are its own too" } ?? ""
            let text =
                "unit \(wiring.unit) is found at \(wiring.text), \(before): names or wires were exchanged"
                + "\(whose); it is held until 'ballastctl resume \(wiring.unit)'"
            notes.append(LogRecord(.latchRecord, text, [.unit: wiring.unit], as: .critical))
        }
        let kept = former.wirings.filter { old in
            !wirings.contains { $0.unit == old.unit } && former.entries.contains { $0.unit == old.unit }
        }
        record.wirings = wirings + kept
    }

    private mutating func takeOver(_ former: LatchRecord, of other: String, for unit: String) {
        if let entry = former.entries.first(where: { $0.unit == other }) {
            add(entry.set, first: entry.first, hold: entry.held, to: unit)
        }
        for absence in former.absences where absence.unit == other {
            var own = absence
            own.unit = unit
            if !record.absences.contains(own) { record.absences.append(own) }
        }
    }

    private mutating func add(
        _ trips: InterlockSet, first: InterlockID? = nil, hold: UnitHold = .none, to unit: String
    ) {
        let index: Int
        if let found = record.entries.firstIndex(where: { $0.unit == unit }) {
            index = found
        } else {
            index = record.entries.count
            record.entries.append(LatchRecord.Entry(unit: unit, trips: 0, firstOut: nil))
        }
        let entry = record.entries[index]
        let all = entry.set.union(trips)
        record.entries[index] = LatchRecord.Entry(
            unit: unit, set: all, first: entry.first ?? first ?? (trips.isEmpty ? nil : .latchRecord),
            hold: entry.held.union(hold), resetBy: all.isEmpty ? entry.resetter : nil)
    }
}
