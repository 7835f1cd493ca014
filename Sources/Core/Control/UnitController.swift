import FrequencyResponse
import Interlocks
import Plant
import PowerDispatch
import Quantities

/// One unit's part of the cycle: qualify, interlocks, mode, permit window. Sharing and the last clamp are the
/// site's.
struct UnitController: Sendable, BitwiseCopyable {
    let settings: UnitSettings
    var bank = InterlockBank()
    var mode: UnitMode
    var sight: UnitSight
    private(set) var report = InterlockReport()
    /// Who keeps the unit out of service.
    var locks = UnitLocks()
    private(set) var hold = UnitHold.none
    /// Who has reset the last of its trips; `nil` while one is latched, and once a resume has ended the hold.
    private(set) var resetBy: Person?
    private var hasSecondSender = false
    /// How much power the ramp has come to since the unit runs: the others give their part back as slowly.
    private(set) var entered: Watts = .zero
    private var limits = UnitLimits()
    var unasked: UnaskedCurrent
    /// Its inverter's display stands still beside another setpoint: what it shows explains nothing.
    var isDisplayStill = false
    var wrongPower = WrongPower()
    /// What the inverter says that it is built for; `nil` before it has said anything.
    private(set) var nameplate: Watts?
    /// The first that it said: one that is another multiple by now counts otherwise.
    private var firstNameplate: Watts?
    private(set) var contactors: ContactorControl
    var gap: ShortGap
    var opinion: SecondOpinion
    /// What the inverter said of itself while the unit ran.
    var lastShown: ShortGap.Inverter?
    /// The same of the battery.
    var lastBattery: SeenBattery?
    private(set) var reportedFault: ContactorSequence.Fault?

    init(settings: UnitSettings, enterService: Duration, shortGap: Duration, heat: ThermalWatch.Heat) {
        self.settings = settings
        sight = UnitSight(settings, heat: heat)
        contactors = ContactorControl(settings)
        gap = ShortGap(limit: shortGap)
        opinion = SecondOpinion(rating: settings.rating, losses: settings.directCurrentLosses)
        unasked = UnaskedCurrent(settings)
        mode = UnitMode(enterService: enterService)
    }

    /// What one cycle wants to know of a unit.
    struct Input: Sendable, BitwiseCopyable {
        var index: Int
        var cycle: UInt64
        var now: MonotonicTime
        var elapsed: Duration
        var isStopWanted: Bool
        var stopBound: Duration
        /// The site's.
        var ramp: WattsPerSecond
        /// Nothing that supervises the grid has seen anything but a good one.
        var isGridGood = true
        /// Of the program itself.
        var standstill: Standstill?
    }

    mutating func restore(
        _ trips: InterlockSet, firstOut: InterlockID?, hold former: UnitHold, resetBy person: Person?
    ) {
        bank.restore(trips, firstOut: firstOut)
        hold = hold.union(former)
        resetBy = resetBy ?? person
        holdWhileTripped()
        if trips.contains(.contactorFeedback) { contactors.restoreFault() }
    }

    /// The contactors get their edge when their own trip is reset, and not before.
    mutating func reset(by role: Role, _ person: Person) -> InterlockBank.ResetOutcome {
        let wasFaulted = bank.latched.contains(.contactorFeedback)
        let wasLatched = !bank.latched.isEmpty
        let outcome = bank.reset(by: role)
        if wasLatched && outcome == .done { resetBy = person }
        if wasFaulted && !bank.latched.contains(.contactorFeedback) { contactors.requestReset() }
        return outcome
    }

    /// Ends the hold; nothing happens while a trip is latched, or while what a row holds the unit for stands.
    /// Locks are their persons' and stay.
    ///
    /// - Returns: whether nothing but a lock keeps the unit out now.
    mutating func release() -> Bool {
        guard bank.latched.isEmpty, !bank.isHolding else { return false }
        hold = .none
        resetBy = nil
        return true
    }

    /// From its trip on a unit starts only when a person resumes it.
    private mutating func holdWhileTripped() {
        guard !bank.latched.isEmpty else { return }
        hold.insert(.afterReset)
        resetBy = nil
    }

    mutating func restore(counted id: InterlockID, age: Duration, _ rows: Span<InterlockRow>) {
        bank.restore(counted: id, age: age, rows)
    }

    mutating func restore(
        exposed id: InterlockID, quarters: Int, age: Duration, _ rows: Span<InterlockRow>
    ) {
        bank.restore(exposed: id, quarters: quarters, age: age, rows)
    }

    mutating func restoreGap() { gap.restore() }

    /// Nothing seen so far counts: standby until `end`, and the time to enter service after it. Whoever has
    /// locked the unit keeps it.
    mutating func reenter(until end: MonotonicTime) {
        _ = locks.set(UnitLock(kind: .standby, person: .program, end: end))
    }

    /// Tells what was asked of the inverter in the end.
    mutating func record(_ setpoint: Watts, at now: MonotonicTime) {
        sight.actuation.record(setpoint, at: now)
    }

    /// Everything up to the permit window; fills `decision` but for the setpoint.
    ///
    /// - Returns: who may reset the units that this one stops; `nil` where it does not stop the site.
    mutating func step(
        _ image: UnitImage, _ rows: Span<InterlockRow>, _ input: Input, into decision: inout UnitDecision,
        _ events: inout EventList
    ) -> Role? {
        if let stood = input.standstill, stood.endedAt == input.now, stood.lasted >= settings.contactorHold {
            contactors.startAnew()
        }
        let signals = sight.look(image, &contactors, at: input.now, after: input.elapsed)
        if image.battery.hasSecondSender != hasSecondSender {
            hasSecondSender = image.battery.hasSecondSender
            add(hasSecondSender ? .secondSenderHeard : .secondSenderGone, input, &events)
        }
        let verdict = bank.evaluate(rows, of: signals, after: input.elapsed, isExcused: input.isExcused)
        if wrongPower.isBeside { bank.warn(.notFollowing) }
        report.tell(verdict, of: bank, rows, signals, sight, input, &events)
        judgePower(signals, input, &events)
        compare(signals, input, &events)
        takeBack(signals, input, &events)
        readNameplate(signals, input, &events)
        endLocks(input, &events)
        if bank.isHolding && !hold.contains(.afterInterlock) {
            hold.insert(.afterInterlock)
            add(.held(.afterInterlock), input, &events)
        }
        let before = mode.state
        let event = event(of: signals, input)
        bridge(event, signals, input)
        mode.handle(event, at: input.now)
        connect(patience(rows), signals, input, &events)
        reportMode(from: before, input, &events)
        reportStop(from: before, signals, input, &events)
        endGap(signals, input, &events)
        entered = mode.isRunning ? min(settings.rating, entered + input.ramp * input.elapsed) : .zero
        decision.window = window(signals, verdict, after: input.elapsed)
        decision.restsUntil = unasked.end(at: input.now)
        if decision.restsUntil != nil {
            decision.window.close(.batteryCurrentLimit)
            enterAnew()
        }
        decision.warnings = bank.warnings
        conclude(&decision)
        return verdict.emergency
    }

    /// The same cycle's second look: something that no row of the unit sees stops it, another unit's stop of
    /// the whole site, or a decision that must never be.
    mutating func stop(
        for id: InterlockID, _ input: Input, into decision: inout UnitDecision, _ events: inout EventList
    ) {
        if bank.stopWithSite(id) { add(.tripped(id), input, &events) }
        let before = mode.state
        mode.handle(.trip, at: input.now)
        gap.spoil()
        contactors.step(isClosingWanted: false, patience: nil, at: input.now)
        reportMode(from: before, input, &events)
        decision.window = closedWindow
        conclude(&decision)
    }

    private mutating func conclude(_ decision: inout UnitDecision) {
        holdWhileTripped()
        decision.mode = mode.state
        // No permit is taken from contacts that still carry a current.
        decision.isContactorPermitted = permitsContactors || contactors.output.isOpening
        decision.leavesContactors = contactors.leavesContactors
        decision.restsInverter = contactors.restsInverter
        decision.hold = hold
        decision.resetBy = resetBy
        decision.missingBattery = sight.missingBattery
        decision.missingInverter = sight.missingInverter
        decision.closesMainContactor = contactors.output.closesMain
        decision.closesPrechargeContactor = contactors.output.closesPrecharge
        decision.contactors = contactors.isDriven ? contactors.sequence.state : nil
        decision.contactorFault = contactors.sequence.fault
        decision.latched = bank.latched
        decision.firstOut = bank.firstOut
    }

    /// Contactors may be closed. What a held unit has closed stays so only until its power has ended.
    private var permitsContactors: Bool {
        (mode.permitsContactors || gap.isOpen)
            && ((hold.isEmpty && !locks.isHeld) || mode.connects || gap.isOpen)
    }

    /// The unit alone shall not run.
    var isKeptOut: Bool { !hold.isEmpty || locks.isStandby || locks.isHeld || locks.isMaintained }

    /// The contactors follow the mode; a fault of theirs trips, and closed ones let the unit run, in the same
    /// cycle.
    private mutating func connect(
        _ patience: Duration?, _ signals: UnitSignals, _ input: Input, _ events: inout EventList
    ) {
        contactors.step(
            isClosingWanted: contactors.isDriven ? mode.connects || gap.isOpen : permitsContactors,
            patience: patience,
            at: input.now)
        if contactors.output.opensUnderLoad {
            events.append(
                Event(
                    unit: input.index, kind: .openedUnderLoad, value: contactors.partedCurrent?.value,
                    limit: settings.contactors.breakingCurrent?.value, cycle: input.cycle, at: input.now))
        }
        if let fault = contactors.sequence.fault, fault != reportedFault {
            add(.contactorFault(fault), input, &events)
            // Nobody resets it before the rows have judged it.
            bank.holdBack(.contactorFeedback)
        }
        reportedFault = contactors.sequence.fault
        if reportedFault != nil {
            if bank.latch(.contactorFeedback) { add(.tripped(.contactorFeedback), input, &events) }
            mode.handle(.trip, at: input.now)
            gap.spoil()
        } else if contactors.output.isPermitted, mode.state.kind == .precharge {
            mode.handle(.connected, at: input.now)
        }
    }

    /// How long the latched trips let the contactors wait for the current to end. Another unit's stop of the
    /// whole site counts as the row that stopped it.
    private mutating func patience(_ rows: Span<InterlockRow>) -> Duration? {
        var least: Duration?
        for index in 0..<rows.count {
            let row = rows[index]
            let isCause =
                bank.latched.contains(row.id)
                || (row.action == .emergencyStop && bank.latched.contains(.siteStop))
            guard isCause, let patience = row.patience else { continue }
            if let other = least, other < patience { continue }
            least = patience
        }
        return least
    }

    private mutating func add(_ kind: Event.Kind, _ input: Input, _ events: inout EventList) {
        events.append(Event(unit: input.index, kind: kind, cycle: input.cycle, at: input.now))
    }

    private mutating func event(of signals: UnitSignals, _ input: Input) -> UnitMode.Event {
        if !bank.latched.isEmpty { return .trip }
        let isSeen =
            signals.batterySilence == 0 && signals.inverterSilence == 0 && signals.inputsSilence == 0
        if locks.isMaintained {
            // A unit at power that falls silent goes offline first: its contactors do not wait for a reading.
            if !isSeen && (mode.isRunning || mode.state.kind == .stopping) { return .unseen }
            return hasStopped(signals, input) ? .maintain : .stop
        }
        guard isSeen else { return .unseen }
        if let stood = input.standstill, stood.endedAt == input.now, isLong(stood), mode.isRunning {
            return .unseen
        }
        // Nothing enters service on top of a power that nobody has asked for.
        if isWaiting && !isAtZero(signals) { return .stop }
        guard input.isStopWanted || isKeptOut else { return .ready }
        return hasStopped(signals, input) ? .stopped : .stop
    }

    /// On its way into service, with no power asked of it yet.
    private var isWaiting: Bool {
        switch mode.state.kind {
        case .offline, .standby, .tripped, .maintenance: true
        case .precharge, .running, .stopping: false
        }
    }

    /// Nothing is left to wait for: it is not stopping, or is at zero, or has had its time.
    private mutating func hasStopped(_ signals: UnitSignals, _ input: Input) -> Bool {
        guard case .stopping(let since) = mode.state, input.now - since < input.stopBound else { return true }
        return isAtZero(signals)
    }

    /// The inverter's nameplate is less than half or more than twice of what it was.
    var isRescaled: Bool {
        guard let first = firstNameplate, let nameplate else { return false }
        return nameplate < first * 0.5 || nameplate > first * 2
    }

    /// What the unit takes back on the ramp, as one that enters service.
    mutating func enterAnew() { entered = .zero }

    /// With what was asked of the inverter and what it gives.
    mutating func told(_ kind: Event.Kind, _ signals: UnitSignals, _ input: Input) -> Event {
        var event = Event(unit: input.index, kind: kind, cycle: input.cycle, at: input.now)
        event.asked = sight.actuation.last
        event.delivered = delivered(signals)
        return event
    }

    /// A device that is built for less than the site's file says is asked for no more than that.
    private mutating func readNameplate(
        _ signals: UnitSignals, _ input: Input, _ events: inout EventList
    ) {
        guard
            let rated = signals.image.inverter.ratedPower.fresh(at: input.now, within: .seconds(60)),
            rated > .zero, rated != nameplate
        else { return }
        nameplate = rated
        firstNameplate = firstNameplate ?? rated
        guard rated < settings.rating * 0.999 else { return }
        events.append(
            Event(
                unit: input.index, kind: .nameplateBelow, value: rated.value, limit: settings.rating.value,
                cycle: input.cycle, at: input.now))
    }

    /// An end by time starts nothing: a person may still stand at the unit.
    private mutating func endLocks(_ input: Input, _ events: inout EventList) {
        while let lock = locks.removeEnded(at: input.now) {
            events.append(
                Event(
                    unit: input.index, kind: .lockEnded(lock.kind), cycle: input.cycle, at: input.now,
                    by: lock.person))
            // The program's own kept it only until new readings are there.
            guard lock.person != .program else { continue }
            hold.insert(.afterOverride)
            add(.held(.afterOverride), input, &events)
        }
    }

    /// A stop that ended by its bound and not by zero power is told.
    private mutating func reportStop(
        from before: UnitMode.State, _ signals: UnitSignals, _ input: Input, _ events: inout EventList
    ) {
        let hasStopped =
            mode.state.kind == .maintenance
            || (mode.state.kind == .standby && (input.isStopWanted || isKeptOut))
        guard before.kind == .stopping, hasStopped, !isAtZero(signals) else { return }
        events.append(
            Event(
                unit: input.index, kind: .stoppedWithPower, value: delivered(signals)?.value,
                limit: (settings.rating * 0.02).value, cycle: input.cycle, at: input.now))
    }

    /// Nothing, and why.
    private var closedWindow: PermitWindow {
        if let first = bank.firstOut { return .closed(.interlock(first)) }
        return .closed(mode.state.kind == .precharge ? .contactors : .mode)
    }

    /// What may be asked of the unit now. Starts at the rating; every line only narrows.
    private mutating func window(
        _ signals: UnitSignals, _ verdict: InterlockBank.Verdict, after elapsed: Duration
    ) -> PermitWindow {
        guard mode.isRunning, contactors.output.isPermitted, let seen = sight.seen else {
            limits.forget()
            return closedWindow
        }
        let rating = nameplate.map { min($0, settings.rating) } ?? settings.rating
        limits.look(lost(signals), settings, after: elapsed)
        return limits.window(signals, verdict, seen, rating: rating, settings, after: elapsed)
    }

    private mutating func reportMode(from before: UnitMode.State, _ input: Input, _ events: inout EventList) {
        guard before.kind != mode.state.kind else { return }
        add(.modeChanged(from: before, to: mode.state), input, &events)
    }
}
