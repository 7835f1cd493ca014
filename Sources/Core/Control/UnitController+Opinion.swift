import Interlocks
import Plant
import Quantities

/// What the battery measures, beside what others say.
extension UnitController {
    /// What the battery says beside what others make of it.
    mutating func compare(_ signals: UnitSignals, _ input: Input, _ events: inout EventList) {
        let sight = SecondOpinion.Sight(signals.image, at: input.now, within: settings.budget)
        opinion.look(sight, after: input.elapsed) { found in
            events.append(
                Event(
                    unit: input.index, kind: found.isNew ? .doubted(found.doubt) : .believed(found.doubt),
                    value: found.said, limit: found.other, cycle: input.cycle, at: input.now))
        }
    }

    /// More than the battery allows, and more than anybody has asked for.
    mutating func takeBack(
        _ signals: UnitSignals, _ input: Input, _ events: inout EventList
    ) {
        let isDischarge =
            signals.image.battery.packCurrent
            .fresh(at: input.now, within: settings.budget.battery).map { $0 > .zero } ?? false
        let seen = current(signals, isDischarge)
        switch unasked.look(seen, isRescaled: isRescaled, at: input.now) {
        case .none: break
        case .began:
            let sight = SecondOpinion.Sight(signals.image, at: input.now, within: settings.budget)
            guard let found = opinion.doubtCurrent(sight) else { break }
            events.append(
                Event(
                    unit: input.index, kind: .doubted(found.doubt), value: found.said, limit: found.other,
                    cycle: input.cycle, at: input.now))
        case .again:
            let id = isDischarge ? InterlockID.overcurrentDischarge : .overcurrentCharge
            guard bank.latch(id) else { break }
            var event = told(.tripped(id), signals, input)
            let shown = signals.shown(
                isDischarge ? .dischargeCurrentRatio : .chargeCurrentRatio, limit: UnaskedCurrent.overrun)
            (event.value, event.limit) = (shown.value, shown.limit)
            events.append(event)
        }
    }

    /// The battery's current beside what explains it; `nil` = the unit does not run, or it is not seen.
    private mutating func current(_ signals: UnitSignals, _ isDischarge: Bool) -> UnaskedCurrent.Sight? {
        guard mode.isRunning, let drawn = sight.drawn(signals.image, at: signals.now),
            let shown = isDisplayStill ? .zero : delivered(signals),
            let (lowest, highest) = sight.actuation.asked(at: signals.now),
            case .value(let ratio) = signals.read(isDischarge ? .dischargeCurrentRatio : .chargeCurrentRatio)
        else { return nil }
        return isDischarge
            ? UnaskedCurrent.Sight(
                drawn: drawn, asked: max(.zero, highest), shown: max(.zero, shown), ratio: ratio)
            : UnaskedCurrent.Sight(
                drawn: -drawn, asked: max(.zero, -lowest), shown: max(.zero, -shown), ratio: ratio)
    }
}
