import Interlocks
import Plant
import PowerDispatch
import Quantities

extension Controller {
    /// What people ask of the controller. It arrives between two cycles.
    public enum Command: Sendable, BitwiseCopyable, Equatable {
        /// Clears a unit's latched trips whose cause is gone and which the role may reset. It never starts
        /// power by itself: the unit is held until it is resumed.
        case reset(unit: Int, role: Role = .operator, by: Person = .unknown)
        /// Asks for a power, for a time to live of at most `BasePoint.longestLease`.
        case setBasePoint(BasePointSource, Watts, for: Duration)
        case revokeBasePoint(BasePointSource)
        /// Keeps a unit out of service, for at most `BasePoint.longestLease`; a hold may be without an end.
        /// It is never past an interlock, and outlasts a trip. When the time is over the unit is held.
        case lock(unit: Int, UnitLock.Kind, for: Duration?, by: Person = .unknown)
        /// Ends every lock of one person on a unit, and nobody else's: without another it enters service
        /// anew.
        case unlock(unit: Int, of: Person = .unknown)
        /// Takes a unit through standby and the time to enter service: what was seen of it is too old.
        case reenter(unit: Int, for: Duration)
        /// Asks for a power of one unit alone, for at most `BasePoint.longestLease`; `nil` ends it. The
        /// unit's next trip ends it too, and of a tripped one it is refused.
        case override(unit: Int, Watts, for: Duration?)
        /// The power without any other request, from now on.
        case setStandingPower(Watts)
        /// Limits of the site at its meter; only what is narrower than before counts.
        case narrow(SiteLimits)
        /// Responds to this frequency in place of the measured one, for at most `FrequencyTest.longest`,
        /// where the settings allow it; `nil` ends it. A stop ends it too, and a grid that is not well.
        case testFrequency(Hertz?, for: Duration)
        /// Takes every unit out of service.
        case stop
        /// Ends the stop, and the hold of every unit that only a restart holds, or a trip that the same
        /// person has reset. What else a person or a trip holds ends by its unit's name alone.
        case resume(by: Person = .unknown)
        /// Ends one unit's hold, unless a trip is latched. A stop of the site stays.
        case resumeUnit(Int)
    }

    /// Obeys a command and says what came of it.
    public mutating func handle(_ command: Command, at now: MonotonicTime, into decision: inout Decision) {
        switch command {
        case .reset(let index, let role, let person):
            reset(index, by: role, person, at: now, in: &decision)
        case .setBasePoint(let source, let power, let time):
            let isGranted = basePoint.grant(source, power, for: time, at: now)
            tell(
                isGranted ? .basePointSet(source) : .basePointRefused(source), power.value, at: now,
                in: &decision)
        case .revokeBasePoint(let source):
            guard basePoint.revoke(source, at: now) else { return }
            tell(.basePointRevoked(source), at: now, in: &decision)
        case .lock(let index, let kind, let time, let person):
            guard isUnit(index) else { return }
            lock(index, kind, time, person, at: now, in: &decision)
        case .unlock(let index, let person): unlock(index, person, at: now, in: &decision)
        case .reenter(let index, let time): reenter(index, until: now + time)
        case .override(let index, let power, let time):
            override(index, power, for: time, at: now, in: &decision)
        case .setStandingPower(let power): basePoint.setStanding(power)
        case .narrow(let limits): settings.limits.narrow(to: limits)
        case .testFrequency(let frequency, let time): test(frequency, for: time, at: now)
        case .stop:
            isStopWanted = true
            test(nil, for: .zero, at: now)
            tell(.stopRequested, at: now, in: &decision)
        case .resume(let person):
            isStopWanted = false
            for index in 0..<unitCount { resumeWithSite(index, person, at: now, in: &decision) }
            // Last: who waits for the answer has those of the units before it.
            tell(.resumed, at: now, in: &decision)
        case .resumeUnit(let index):
            guard isUnit(index) else { return }
            release(index, at: now, in: &decision)
        }
    }

    // Each in a function of its own: without optimisation a reading of a unit takes a copy of all units on
    // the stack, and one function keeps room for all of its own at once.

    private mutating func reset(
        _ index: Int, by role: Role, _ person: Person, at now: MonotonicTime, in decision: inout Decision
    ) {
        // Where nothing is latched nothing is reset, and nobody is told that a unit is held.
        guard isUnit(index), !units[index].bank.latched.isEmpty else { return }
        let kind = Self.kind(of: units[index].reset(by: role, person))
        tell(kind, unit: index, at: now, in: &decision)
    }

    private mutating func test(_ frequency: Hertz?, for time: Duration, at now: MonotonicTime) {
        watch.test(frequency, for: time, at: now)
    }

    private mutating func unlock(
        _ index: Int, _ person: Person, at now: MonotonicTime, in decision: inout Decision
    ) {
        guard isUnit(index) else { return }
        while let lock = units[index].locks.remove(of: person) {
            tell(.lockEnded(lock.kind), unit: index, by: person, at: now, in: &decision)
        }
    }

    private mutating func reenter(_ index: Int, until end: MonotonicTime) {
        guard isUnit(index) else { return }
        units[index].reenter(until: end)
    }

    private mutating func override(
        _ index: Int, _ power: Watts, for time: Duration?, at now: MonotonicTime, in decision: inout Decision
    ) {
        guard isUnit(index) else { return }
        let isTripped = !units[index].bank.latched.isEmpty
        let isKeptOut = isStopWanted || units[index].isKeptOut
        guard
            let kind = overrides[index].handle(
                power, for: time, isTripped: isTripped, isKeptOut: isKeptOut, at: now)
        else { return }
        tell(kind, time == nil ? nil : power.value, unit: index, at: now, in: &decision)
    }

    private mutating func resumeWithSite(
        _ index: Int, _ person: Person, at now: MonotonicTime, in decision: inout Decision
    ) {
        let hold = hold(of: index)
        guard !hold.isEmpty else { return }
        if hold.isOfNobody || isLatched(index) || (hold.isOfTrips && wasReset(index, by: person)) {
            release(index, at: now, in: &decision)
        } else {
            tell(.held(hold), unit: index, at: now, in: &decision)
        }
    }

    private mutating func hold(of index: Int) -> UnitHold { units[index].hold }
    /// Somebody without a name is never the same person.
    private mutating func wasReset(_ index: Int, by person: Person) -> Bool {
        person != .unknown && units[index].resetBy == person
    }
    private mutating func isLatched(_ index: Int) -> Bool { !units[index].bank.latched.isEmpty }

    private mutating func lock(
        _ index: Int, _ kind: UnitLock.Kind, _ time: Duration?, _ person: Person, at now: MonotonicTime,
        in decision: inout Decision
    ) {
        let isInRange = time.map { $0 > .zero && $0 <= BasePoint.longestLease } ?? (kind == .hold)
        let lock = UnitLock(kind: kind, person: person, end: time.map { now + $0 })
        let isGranted = isInRange && units[index].locks.set(lock)
        if isGranted { revokeOverride(of: index, now, &decision) }
        tell(
            isGranted ? .lockBegun(kind) : .lockRefused(kind), time?.seconds, unit: index, by: person,
            at: now,
            in: &decision)
    }

    private mutating func release(_ index: Int, at now: MonotonicTime, in decision: inout Decision) {
        let isReleased = units[index].release()
        tell(isReleased ? .holdEnded : .resumeRefused, unit: index, at: now, in: &decision)
    }

    private mutating func isUnit(_ index: Int) -> Bool { index >= 0 && index < unitCount }

    private mutating func tell(
        _ kind: Event.Kind, _ value: Double? = nil, unit: Int? = nil, by person: Person? = nil,
        at now: MonotonicTime, in decision: inout Decision
    ) {
        decision.events.append(
            Event(unit: unit, kind: kind, value: value, cycle: cycle, at: now, by: person))
    }

    private static func kind(of outcome: InterlockBank.ResetOutcome) -> Event.Kind {
        switch outcome {
        case .done: .resetDone
        case .causePresent: .resetRefused
        case .roleNeeded: .resetNeedsService
        }
    }
}
