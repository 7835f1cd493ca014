import Interlocks
import Plant
import PowerDispatch
import Quantities

/// Whether a unit gives what is asked of it, and nothing where nothing is.
extension UnitController {
    /// Power of a unit that is to have none, and power the wrong way, at any size.
    mutating func judgePower(
        _ signals: UnitSignals, _ input: Input, _ events: inout EventList
    ) {
        if let (delivered, age) = shown(signals, input),
            let (lowest, highest) = sight.actuation.asked(at: input.now)
        {
            let sight = WrongPower.Sight(
                lowest: lowest, highest: highest, asked: sight.actuation.last, delivered: delivered, age: age,
                zero: settings.zeroPower)
            if wrongPower.look(sight, after: input.elapsed), bank.latch(.notFollowing) {
                var event = told(.tripped(.notFollowing), signals, input)
                event.delivered = delivered
                events.append(event)
            }
        }
        // Nobody resets it while power flows, or while nobody sees that none does; power that another master
        // starts anew each second is away in between.
        sight.atZeroFor =
            isAtZero(signals) ? min(WrongPower.zeroLimit, sight.atZeroFor + input.elapsed) : .zero
        if bank.latched.contains(.notFollowing), sight.atZeroFor < WrongPower.zeroLimit {
            bank.holdBack(.notFollowing)
        }
    }

    /// The power that is judged, with its age: the inverter's, and the battery's where the inverter shows
    /// none or should have ended it by itself, and the battery does.
    private mutating func shown(_ signals: UnitSignals, _ input: Input) -> (Watts, Duration)? {
        let drawn = sight.drawn(signals.image, at: input.now).flatMap {
            $0.magnitude > settings.zeroDrawn ? $0 : nil
        }
        let power = signals.image.inverter.activePower.look(at: input.now, within: settings.budget.inverter)
        guard case .value(let delivered, let age) = power else {
            let silence = sight.inverterSilentFor ?? contactors.startedAt.map { input.now - $0 } ?? .zero
            let isOver = silence >= settings.provenReversion ?? settings.assumedReversion
            return isOver ? drawn.map { ($0, .zero) } : nil
        }
        if let drawn, delivered.magnitude <= settings.zeroPower { return (drawn, age) }
        return (delivered, age)
    }

    /// Less than 2 % of the rating, measured, and the battery does not say otherwise.
    mutating func isAtZero(_ signals: UnitSignals) -> Bool {
        let drawn = sight.drawn(signals.image, at: signals.now)
        if let drawn, drawn.magnitude > settings.zeroDrawn { return false }
        return delivered(signals).map { $0.magnitude <= settings.zeroPower } == true
    }

    /// Both ends of the unit at this moment.
    mutating func lost(_ signals: UnitSignals) -> SeenLosses.Sight? {
        guard let drawn = sight.drawn(signals.image, at: signals.now), let delivered = delivered(signals),
            let (lowest, highest) = sight.actuation.asked(at: signals.now)
        else { return nil }
        return SeenLosses.Sight(drawn: drawn, delivered: delivered, lowest: lowest, highest: highest)
    }

    mutating func delivered(_ signals: UnitSignals) -> Watts? {
        sight.delivered(signals.image, at: signals.now)
    }
}
