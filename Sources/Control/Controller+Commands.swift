import Interlocks
import Plant
import PowerDispatch
import Quantities

extension Controller {
    /// What people ask of the controller. It arrives between two cycles.
    public enum Command: Sendable, BitwiseCopyable, Equatable {
        /// Clears a unit's latched trips whose cause is gone and which the role may reset. It never starts
        /// power by itself: the unit is held until it is resumed.
        case reset(unit: Int, role: Role = .operator)
        /// Asks for a power, for a time to live of at most `BasePoint.longestLease`.
        case setBasePoint(BasePointSource, Watts, for: Duration)
        case revokeBasePoint(BasePointSource)
        /// Takes a unit to zero power with open contactors, for at most `BasePoint.longestLease`. It is
        /// never past an interlock: a trip stays a trip, and ends it. When the time is over the unit is held.
        case maintain(unit: Int, for: Duration)
        /// Gives a unit back before the time is over: it enters service anew.
        case endMaintenance(unit: Int)
        /// Sets what an operator wants of one unit, for at most `BasePoint.longestLease`; `nil` ends it. The
        /// unit's next trip ends it too.
        case override(unit: Int, UnitOverride, for: Duration?)
        /// The power without any other request, from now on.
        case setStandingPower(Watts)
        /// Limits of the site at its meter; only what is narrower than before counts.
        case narrow(SiteLimits)
        /// Takes every unit out of service.
        case stop
        /// Lets units run again: ends the stop, and every unit's hold but of those with a latched trip.
        case resume
        /// Ends one unit's hold, unless a trip is latched. A stop of the site stays.
        case resumeUnit(Int)
    }

    /// Obeys a command and says what came of it.
    public mutating func handle(_ command: Command, at now: MonotonicTime, into decision: inout Decision) {
        switch command {
        case .reset(let index, let role):
            guard isUnit(index) else { return }
            let kind = Self.kind(of: units[index].reset(by: role))
            tell(kind, unit: index, at: now, in: &decision)
        case .setBasePoint(let source, let power, let time):
            let isGranted = basePoint.grant(source, power, for: time, at: now)
            tell(
                isGranted ? .basePointSet(source) : .basePointRefused(source), power.value, at: now,
                in: &decision)
        case .revokeBasePoint(let source):
            guard basePoint.revoke(source, at: now) else { return }
            tell(.basePointRevoked(source), at: now, in: &decision)
        case .maintain(let index, let time):
            guard isUnit(index) else { return }
            let isGranted = time > .zero && time <= BasePoint.longestLease
            if isGranted { units[index].maintain(until: now + time) }
            tell(
                isGranted ? .maintenanceBegun : .maintenanceRefused, time.seconds, unit: index, at: now,
                in: &decision)
        case .endMaintenance(let index):
            guard isUnit(index), units[index].isMaintained else { return }
            units[index].maintain(until: nil)
            tell(.maintenanceEnded, unit: index, at: now, in: &decision)
        case .override(let index, let wish, let time):
            guard isUnit(index) else { return }
            override(index, wish, time, at: now, in: &decision)
        case .setStandingPower(let power): basePoint.setStanding(power)
        case .narrow(let limits): settings.limits.narrow(to: limits)
        case .stop:
            isStopWanted = true
            tell(.stopRequested, at: now, in: &decision)
        case .resume:
            isStopWanted = false
            tell(.resumed, at: now, in: &decision)
            for index in 0..<unitCount where !units[index].hold.isEmpty {
                release(index, at: now, in: &decision)
            }
        case .resumeUnit(let index):
            guard isUnit(index) else { return }
            release(index, at: now, in: &decision)
        }
    }

    private mutating func override(
        _ index: Int, _ wish: UnitOverride, _ time: Duration?, at now: MonotonicTime,
        in decision: inout Decision
    ) {
        let isRunning = units[index].mode.isRunning
        guard let kind = overrides[index].handle(wish, for: time, isRunning: isRunning, at: now) else {
            return
        }
        tell(kind, time.map { wish.power?.value ?? $0.seconds }, unit: index, at: now, in: &decision)
    }

    private mutating func release(_ index: Int, at now: MonotonicTime, in decision: inout Decision) {
        let isReleased = units[index].release()
        tell(isReleased ? .holdEnded : .resumeRefused, unit: index, at: now, in: &decision)
    }

    private func isUnit(_ index: Int) -> Bool { index >= 0 && index < unitCount }

    private func tell(
        _ kind: Event.Kind, _ value: Double? = nil, unit: Int? = nil, at now: MonotonicTime,
        in decision: inout Decision
    ) {
        decision.events.append(Event(unit: unit, kind: kind, value: value, cycle: cycle, at: now))
    }

    private static func kind(of outcome: InterlockBank.ResetOutcome) -> Event.Kind {
        switch outcome {
        case .done: .resetDone
        case .causePresent: .resetRefused
        case .roleNeeded: .resetNeedsService
        }
    }
}
