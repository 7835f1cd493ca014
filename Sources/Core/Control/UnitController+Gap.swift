import Interlocks
import Plant
import Quantities

/// A moment in which a device was not heard, or the program itself stood still.
extension UnitController {
    /// A short gap of a device that is otherwise well costs no time to enter service.
    mutating func bridge(_ event: UnitMode.Event, _ signals: UnitSignals, _ input: Input) {
        let shown = signals.image.inverter.shown(at: input.now, within: settings.budget.inverter)
        if case .unseen = event {
        } else {
            gap.look(isSeen: true, inverter: shown, isSameBattery: isSameBattery, at: input.now)
        }
        switch event {
        case .trip, .maintain: return gap.spoil()
        case .unseen where mode.isRunning:
            if let stood = input.standstill, isLong(stood) { break }
            gap.begin(lastShown, missed: input.standstill?.lasted ?? .zero, at: input.now)
        case .unseen: gap.look(isSeen: false, inverter: shown, isSameBattery: true, at: input.now)
        case .ready where gap.ended != nil: mode.waive(at: input.now)
        case .stop, .stopped, .ready, .connected: break
        }
        let isQuiet = !input.isStopWanted && !isKeptOut && isMerelySilent
        if !isQuiet || !input.isGridGood { gap.spoil() }
    }

    /// Nobody has seen for so long what the grid did, or the contacts may have gone open by themselves.
    func isLong(_ stood: Standstill) -> Bool {
        stood.lasted > gap.limit || (contactors.isDriven && stood.lasted >= settings.contactorHold)
    }

    private var isSameBattery: Bool {
        guard let seen = sight.seen, let lastBattery else { return false }
        return seen.isSame(as: lastBattery)
    }

    private var isMerelySilent: Bool {
        Self.isMerelySilent(sight.missingBattery) && Self.isMerelySilent(sight.missingInverter)
    }

    /// What repeats itself, or says what cannot be, has not been well for longer than it is missing. One that
    /// has no value for a moment says so, and an inverter that has started anew is looked at anew.
    private static func isMerelySilent(_ missing: MissingReading?) -> Bool {
        switch missing?.fault {
        case nil, .stale, .unread, .notImplemented, .busy: true
        case .neverSeen, .implausible, .deviceFault, .frozen, .disagrees, .fromTheFuture, .busOff: false
        }
    }

    /// Tells of a gap that is over.
    mutating func endGap(_ signals: UnitSignals, _ input: Input, _ events: inout EventList) {
        guard mode.isRunning else { return }
        lastBattery = sight.seen ?? lastBattery
        lastShown = signals.image.inverter.shown(at: input.now, within: settings.budget.inverter)
        guard let lasted = gap.close(at: input.now)?.seconds else { return }
        let (cycle, now) = (input.cycle, input.now)
        events.append(Event(unit: input.index, kind: .shortGap, value: lasted, cycle: cycle, at: now))
    }
}

extension UnitController.Input {
    /// Nobody has looked just now: what is missing, or shows an old state, is nobody's fault.
    var isExcused: Bool { standstill != nil }
}
