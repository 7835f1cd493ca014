import Interlocks
import Plant
import PowerDispatch
import Quantities

/// What people are told of a unit's interlocks: what trips, what counts an excursion anew, and warnings that
/// come and go.
struct InterlockReport: Sendable, BitwiseCopyable {
    /// The warnings that people were told of and not told to be gone.
    private(set) var standing: InterlockSet = .none
    private var warned = ToldWarnings()

    /// - Parameter sight: what is missing of the devices, and what the inverter was asked for last.
    mutating func tell(
        _ verdict: InterlockBank.Verdict, of bank: InterlockBank, _ rows: Span<InterlockRow>,
        _ signals: UnitSignals, _ sight: UnitSight, _ input: UnitController.Input, _ events: inout EventList
    ) {
        var now = standing
        for index in 0..<rows.count {
            let row = rows[index]
            let one = InterlockSet(row.id)
            let isWarned = warned.isTold(row.id, bank.warnings.contains(row.id), at: input.now)
            let isExposed = verdict.exposed.contains(row.id)
            let isTold = verdict.tripped.contains(row.id) || verdict.counted.contains(row.id) || isExposed
            guard isTold || isWarned != standing.contains(row.id) else { continue }
            func add(_ kind: Event.Kind, limit: Double?) {
                let shown = signals.shown(row.signal, limit: limit)
                var event = Event(
                    unit: input.index, kind: kind, value: shown.value, limit: shown.limit,
                    cycle: input.cycle, at: input.now)
                sight.tellMissing(row.signal, in: &event)
                events.append(event)
            }
            if row.count > 0 && verdict.counted.contains(row.id) {
                add(.countedAnew(row.id), limit: row.trip)
            }
            if isExposed && row.exposure > .zero {
                events.append(
                    Event(
                        unit: input.index, kind: .exposed(row.id), value: Double(bank.quarters(ofRow: index)),
                        limit: row.exposure.seconds, cycle: input.cycle, at: input.now))
            }
            if verdict.tripped.contains(row.id) {
                // By its count, and not by what is measured now, where that alone is no trip.
                let isByCount = row.countsEarly && verdict.counted.contains(row.id)
                add(.tripped(row.id), limit: isByCount ? nil : row.trip)
                if row.id == .notFollowing {
                    events.tell(sight.actuation.last, sight.delivered(signals.image, at: signals.now))
                }
            }
            if isWarned != standing.contains(row.id) {
                add(isWarned ? .warned(row.id) : .warningGone(row.id), limit: row.warn)
                now = isWarned ? now.union(one) : now.subtracting(one)
            }
        }
        standing = now
    }
}
