import Interlocks
import Plant
import Quantities

/// A moment in which a device was not heard, or the program itself stood still.
extension UnitController {
    /// A short gap of a device that is otherwise well costs no time to enter service.
    mutating func bridge(_ event: UnitMode.Event, _ signals: UnitSignals, _ input: Input) {
        let shown = signals.image.inverter.shown(at: input.now, within: settings.budget.inverter)
        if case .unseen = event {} else { gap.look(isSeen: true, inverter: shown, at: input.now) }
        switch event {
        case .trip, .maintain: return gap.spoil()
        case .unseen where mode.isRunning:
            if let stood = input.standstill, isLong(stood) { break }
            gap.begin(lastShown, missed: input.standstill?.lasted ?? .zero, at: input.now)
        case .unseen: gap.look(isSeen: false, inverter: shown, at: input.now)
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

    /// What repeats itself, or says what cannot be, has not been well for longer than it has been missing.
    private var isMerelySilent: Bool {
        let battery = sight.missingBattery?.fault ?? .stale
        // An inverter that has started anew is looked at anew; one that has no value for a poll says so.
        switch sight.missingInverter?.fault ?? .stale {
        case .stale, .unread, .notImplemented, .busy: return battery == .stale
        case .neverSeen, .implausible, .deviceFault, .frozen, .disagrees, .fromTheFuture, .busOff:
            return false
        }
    }

    /// Tells of a gap that is over.
    mutating func endGap(_ signals: UnitSignals, _ input: Input, _ events: inout EventList) {
        guard mode.isRunning else { return }
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
