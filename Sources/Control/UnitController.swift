import FrequencyResponse
import Interlocks
import Plant
import Quantities

/// One unit's part of the cycle: qualify, interlocks, mode, permit window. Sharing and the last clamp are the
/// site's.
struct UnitController: Sendable, BitwiseCopyable {
    let settings: UnitSettings
    private(set) var bank = InterlockBank()
    private(set) var mode: UnitMode
    /// For how long somebody has looked and not seen all required readings of the device fresh; `nil` before
    /// they were fresh for the first time.
    private(set) var batterySilentFor: Duration?
    private(set) var inverterSilentFor: Duration?
    private(set) var inputsSilentFor: Duration?
    /// What the battery says in this cycle.
    private var seen: SeenBattery?
    private(set) var reported: InterlockSet = .none
    /// People work on the unit until then; `nil` while nobody does.
    private(set) var maintainedUntil: MonotonicTime?
    private(set) var hold = UnitHold.none
    private var hasSecondSender = false
    /// How much power the ramp has come to since the unit runs: the others give their part back as slowly.
    private(set) var entered: Watts = .zero
    private var actuation: ActuationWatch
    private var thermal: ThermalWatch
    private var frozen: FrozenWatch
    private(set) var contactors: ContactorControl
    private(set) var reportedFault: ContactorSequence.Fault?

    init(settings: UnitSettings, enterService: Duration, heat: ThermalWatch.Heat) {
        self.settings = settings
        actuation = ActuationWatch(response: settings.inverterResponse)
        thermal = ThermalWatch(resolution: settings.temperatureResolution, heat: heat)
        frozen = FrozenWatch(limit: settings.frozenSamples)
        contactors = ContactorControl(settings.contactors)
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
    }

    mutating func restore(_ trips: InterlockSet, firstOut: InterlockID?, hold former: UnitHold) {
        bank.restore(trips, firstOut: firstOut)
        hold = hold.union(former)
        holdWhileTripped()
        if trips.contains(.contactorFeedback) { contactors.restoreFault() }
    }

    /// The contactors get their edge when their own trip is reset, and not before.
    mutating func reset(by role: Role) -> InterlockBank.ResetOutcome {
        let wasFaulted = bank.latched.contains(.contactorFeedback)
        let outcome = bank.reset(by: role)
        if wasFaulted && !bank.latched.contains(.contactorFeedback) { contactors.requestReset() }
        return outcome
    }

    /// Ends the hold; nothing happens while a trip is latched.
    ///
    /// - Returns: whether nothing holds the unit now.
    mutating func release() -> Bool {
        guard bank.latched.isEmpty else { return false }
        hold = .none
        return true
    }

    /// The time is over for which somebody had taken the unit.
    mutating func holdAfterOverride() { hold.insert(.afterOverride) }

    /// From its trip on a unit starts only when a person resumes it.
    private mutating func holdWhileTripped() {
        if !bank.latched.isEmpty { hold.insert(.afterReset) }
    }

    /// Takes the unit for maintenance until `end`, or gives it back.
    mutating func maintain(until end: MonotonicTime?) { maintainedUntil = end }

    var isMaintained: Bool { maintainedUntil != nil }

    /// Tells what was asked of the inverter in the end.
    mutating func record(_ setpoint: Watts, at now: MonotonicTime) { actuation.record(setpoint, at: now) }

    /// Everything up to the permit window; fills `decision` but for the setpoint.
    ///
    /// - Returns: who may reset the units that this one stops; `nil` where it does not stop the site.
    mutating func step(
        _ image: UnitImage, _ rows: Span<InterlockRow>, _ input: Input, into decision: inout UnitDecision,
        _ events: inout EventList
    ) -> Role? {
        let signals = qualify(image, at: input.now, after: input.elapsed)
        if image.battery.hasSecondSender != hasSecondSender {
            hasSecondSender = image.battery.hasSecondSender
            add(hasSecondSender ? .secondSenderHeard : .secondSenderGone, input, &events)
        }
        let verdict = bank.evaluate(rows, of: signals, after: input.elapsed)
        report(verdict, rows, signals, input, &events)
        endMaintenance(input, &events)
        let before = mode.state
        mode.handle(event(of: signals, input), at: input.now)
        connect(input, &events)
        reportMode(from: before, input, &events)
        endTripped(from: before, input, &events)
        reportStop(from: before, signals, input, &events)
        entered = mode.isRunning ? min(settings.rating, entered + input.ramp * input.elapsed) : .zero
        decision.window = window(signals, verdict)
        decision.warnings = bank.warnings
        conclude(&decision)
        return verdict.emergency
    }

    /// The same cycle's second look: another unit must stop the whole site.
    ///
    /// - Parameter role: who may reset.
    mutating func stopWithSite(
        _ role: Role, _ input: Input, into decision: inout UnitDecision, _ events: inout EventList
    ) {
        let id: InterlockID = role == .service ? .siteStop : .emergencyStop
        if bank.stopWithSite(id) { add(.tripped(id), input, &events) }
        let before = mode.state
        mode.handle(.trip, at: input.now)
        contactors.step(isClosingWanted: false, at: input.now)
        reportMode(from: before, input, &events)
        endTripped(from: before, input, &events)
        decision.window = closedWindow
        conclude(&decision)
    }

    private mutating func conclude(_ decision: inout UnitDecision) {
        holdWhileTripped()
        decision.mode = mode.state
        decision.isContactorPermitted = permitsContactors
        decision.hold = hold
        decision.closesMainContactor = contactors.output.closesMain
        decision.closesPrechargeContactor = contactors.output.closesPrecharge
        decision.contactors = contactors.isDriven ? contactors.sequence.state : nil
        decision.contactorFault = contactors.sequence.fault
        decision.latched = bank.latched
        decision.firstOut = bank.firstOut
    }

    /// Contactors may be closed. What a held unit has closed stays so only until its power has ended.
    private var permitsContactors: Bool { mode.permitsContactors && (hold.isEmpty || mode.connects) }

    /// The contactors follow the mode; a fault of theirs trips, and closed ones let the unit run, in the same
    /// cycle.
    private mutating func connect(_ input: Input, _ events: inout EventList) {
        contactors.step(
            isClosingWanted: contactors.isDriven ? mode.connects : permitsContactors, at: input.now)
        if contactors.output.opensUnderLoad { add(.openedUnderLoad, input, &events) }
        if let fault = contactors.sequence.fault, fault != reportedFault {
            add(.contactorFault(fault), input, &events)
            // Nobody resets it before the rows have judged it.
            bank.holdBack(.contactorFeedback)
        }
        reportedFault = contactors.sequence.fault
        if reportedFault != nil {
            if bank.latch(.contactorFeedback) { add(.tripped(.contactorFeedback), input, &events) }
            mode.handle(.trip, at: input.now)
        } else if contactors.output.isPermitted, mode.state.kind == .precharge {
            mode.handle(.connected, at: input.now)
        }
    }

    private func add(_ kind: Event.Kind, _ input: Input, _ events: inout EventList) {
        events.append(Event(unit: input.index, kind: kind, cycle: input.cycle, at: input.now))
    }

    /// Whether the battery itself says so, or the inverter: 2 % of the rating.
    private func isPowerFlowing(_ image: UnitImage, at now: MonotonicTime) -> Bool {
        let current = image.battery.packCurrent.fresh(at: now, within: settings.budget.battery)
        if let current, current.magnitude > settings.currentFloor { return true }
        let power = image.inverter.activePower.fresh(at: now, within: settings.budget.inverter)
        return power.map { $0.magnitude > settings.rating * 0.02 } ?? false
    }

    /// Two fifths of the current at full power.
    private func swing(_ image: UnitImage, _ now: MonotonicTime) -> Amperes? {
        let pack = image.battery.packVoltage.fresh(at: now, within: settings.budget.battery)
        return pack.flatMap { $0 > .zero ? Amperes(0.4 * settings.rating.value / $0.value) : nil }
    }

    /// Gives every signal its age: how long ago the device's required readings were all fresh.
    private mutating func qualify(
        _ raw: UnitImage, at now: MonotonicTime, after elapsed: Duration
    ) -> UnitSignals {
        let budget = settings.budget
        var image = raw
        image.battery = Plausible.battery(raw.battery, at: now, within: budget.battery)
        image.inverter.dcVoltage = Plausible.dcSide(raw.inverter.dcVoltage)
        let isLoaded = !settings.isFrozenUnderLoadOnly || isPowerFlowing(image, at: now)
        if frozen.isFrozen(
            image.battery, at: now, within: budget.battery, isLoaded: isLoaded, swing: swing(image, now))
        {
            image.battery.packCurrent = .bad(.frozen, since: now)
            image.battery.packVoltage = .bad(.frozen, since: now)
            image.battery.cellVoltageMax = .bad(.frozen, since: now)
            image.battery.cellVoltageMin = .bad(.frozen, since: now)
            image.battery.cellTemperatureMax = .bad(.frozen, since: now)
            image.battery.cellTemperatureMin = .bad(.frozen, since: now)
        }
        seen = SeenBattery(
            image.battery, at: now, within: budget.battery, hasAlarms: settings.hasBatteryAlarms)
        let isBatteryFresh = seen != nil
        let isInverterFresh =
            image.inverter.activePower.fault(at: now, within: budget.inverter) == nil
            && image.inverter.state.fault(at: now, within: budget.inverter) == nil
        batterySilentFor = isBatteryFresh ? .zero : batterySilentFor.map { $0 + elapsed }
        inverterSilentFor = isInverterFresh ? .zero : inverterSilentFor.map { $0 + elapsed }
        let areInputsFresh = Self.areFresh(image.inputs, settings.inputs, at: now, within: budget.inputs)
        inputsSilentFor = areInputsFresh ? .zero : inputsSilentFor.map { $0 + elapsed }
        contactors.look(image, at: now, within: budget, areInputsFresh: areInputsFresh)
        var signals = UnitSignals(
            image: image, now: now, budget: budget,
            batterySilence: silence(batterySilentFor, isBatteryFresh, budget.battery),
            inverterSilence: silence(inverterSilentFor, isInverterFresh, budget.inverter),
            inputsSilence: silence(inputsSilentFor, areInputsFresh, budget.inputs), wired: settings.inputs,
            currentFloor: settings.currentFloor, rating: settings.rating, history: history(image, at: now))
        signals.hasBatteryAlarms = settings.hasBatteryAlarms
        return signals
    }

    /// Whether every input that is wired can be read.
    private static func areFresh(
        _ inputs: DigitalInputImage, _ wired: DigitalInputSet, at now: MonotonicTime, within limit: Duration
    ) -> Bool {
        func isFresh(_ reading: Reading<Bool>, _ wire: DigitalInputSet) -> Bool {
            !wired.contains(wire) || reading.fault(at: now, within: limit) == nil
        }
        return isFresh(inputs.emergencyStop, .emergencyStop) && isFresh(inputs.smoke, .smoke)
            && isFresh(inputs.gas, .gas) && isFresh(inputs.door, .door)
            && isFresh(inputs.breaker, .breaker)
            && isFresh(inputs.isMainContactorClosed, .mainContactor)
            && isFresh(inputs.isPrechargeContactorClosed, .prechargeContactor)
    }

    /// The signals that need a memory.
    private mutating func history(_ image: UnitImage, at now: MonotonicTime) -> HistorySignals {
        var signals = HistorySignals()
        signals.contactorFeedback = contactors.feedback
        signals.dcVoltageError = contactors.dcVoltageError
        switch image.inverter.activePower.look(at: now, within: settings.budget.inverter) {
        case .value(let delivered, _):
            if settings.rating > .zero, let error = actuation.error(of: delivered, at: now) {
                signals.actuationError = .value(error / settings.rating)
            }
        case .fault(let fault): signals.actuationError = .missing(fault)
        }
        let limit = settings.budget.battery
        let hottest: Celsius
        let age: Duration
        switch image.battery.cellTemperatureMax.look(at: now, within: limit) {
        case .value(let value, let since):
            hottest = value
            age = since
        case .fault(let fault):
            signals.temperatureRise = .missing(fault)
            signals.temperatureRiseFast = .missing(fault)
            signals.thermalRunaway = .missing(fault)
            return signals
        }
        let weakest = image.battery.cellVoltageMin.fresh(at: now, within: limit)
        thermal.add(hottest, weakest, at: now - age)
        if let slow = thermal.slow { signals.temperatureRise = .value(slow) }
        if let fast = thermal.fast { signals.temperatureRiseFast = .value(fast) }
        if let isRunaway = thermal.isRunaway(hottest, weakest) {
            signals.thermalRunaway = .value(isRunaway ? 1 : 0)
        }
        return signals
    }

    /// Below 1 while fresh; from 1 upward once the budget is spent, 2 when it is spent twice.
    private func silence(_ time: Duration?, _ isFresh: Bool, _ budget: Duration) -> Double? {
        guard let time else { return nil }
        return isFresh ? 0 : 1 + time.seconds / budget.seconds
    }

    private func event(of signals: UnitSignals, _ input: Input) -> UnitMode.Event {
        if !bank.latched.isEmpty { return .trip }
        let isSeen =
            signals.batterySilence == 0 && signals.inverterSilence == 0 && signals.inputsSilence == 0
        if isMaintained {
            // A unit at power that falls silent goes offline first: its contactors do not wait for a reading.
            if !isSeen && (mode.isRunning || mode.state.kind == .stopping) { return .unseen }
            return hasStopped(signals, input) ? .maintain : .stop
        }
        guard isSeen else { return .unseen }
        guard input.isStopWanted || !hold.isEmpty else { return .ready }
        return hasStopped(signals, input) ? .stopped : .stop
    }

    /// Nothing is left to wait for: it is not stopping, or is at zero, or has had its time.
    private func hasStopped(_ signals: UnitSignals, _ input: Input) -> Bool {
        guard case .stopping(let since) = mode.state, input.now - since < input.stopBound else { return true }
        return isAtZero(signals)
    }

    private mutating func endMaintenance(_ input: Input, _ events: inout EventList) {
        guard let end = maintainedUntil, input.now >= end else { return }
        maintainedUntil = nil
        add(.maintenanceEnded, input, &events)
        holdAfterOverride()
        add(.held(.afterOverride), input, &events)
    }

    /// Nobody maintains a unit past its trip.
    private mutating func endTripped(
        from before: UnitMode.State, _ input: Input, _ events: inout EventList
    ) {
        guard mode.state == .tripped, before != .tripped, isMaintained else { return }
        maintainedUntil = nil
        add(.maintenanceEnded, input, &events)
    }

    /// Less than 2 % of the rating, measured.
    private func isAtZero(_ signals: UnitSignals) -> Bool {
        delivered(signals).map { $0.magnitude <= settings.rating * 0.02 } == true
    }

    private func delivered(_ signals: UnitSignals) -> Watts? {
        signals.image.inverter.activePower.fresh(at: signals.now, within: settings.budget.inverter)
    }

    /// A stop that ended by its bound and not by zero power is told.
    private func reportStop(
        from before: UnitMode.State, _ signals: UnitSignals, _ input: Input, _ events: inout EventList
    ) {
        let hasStopped =
            mode.state.kind == .maintenance
            || (mode.state.kind == .standby && (input.isStopWanted || !hold.isEmpty))
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
    private func window(_ signals: UnitSignals, _ verdict: InterlockBank.Verdict) -> PermitWindow {
        guard mode.isRunning, contactors.output.isPermitted, let seen else { return closedWindow }
        var window = PermitWindow.rating(settings.rating)
        window.limitCharge(to: settings.rating * verdict.charge.share, verdict.charge.cause)
        window.limitDischarge(to: settings.rating * verdict.discharge.share, verdict.discharge.cause)
        window.limitCharge(to: seen.packVoltage * seen.chargeCurrentLimit, .batteryCurrentLimit)
        window.limitDischarge(to: seen.packVoltage * seen.dischargeCurrentLimit, .batteryCurrentLimit)
        limitStateOfCharge(seen.stateOfCharge, &window)
        limitPermissions(signals, &window)
        return window
    }

    /// Linear over the last 2 % of charge at each end, so that power does not chatter at the wall.
    private func limitStateOfCharge(_ charge: Fraction, _ window: inout PermitWindow) {
        let walls = ChargeWalls(
            low: settings.minStateOfCharge, high: settings.maxStateOfCharge, taper: ChargeWalls.standardTaper)
        let (toFull, toEmpty) = (walls.chargeShare(at: charge), walls.dischargeShare(at: charge))
        if toFull < 1 { window.limitCharge(to: settings.rating * toFull, .stateOfCharge) }
        if toEmpty < 1 { window.limitDischarge(to: settings.rating * toEmpty, .stateOfCharge) }
    }

    /// A BMS that never sent permissions forbids nothing; one that fell silent about them forbids everything.
    private func limitPermissions(_ signals: UnitSignals, _ window: inout PermitWindow) {
        let permissions = signals.image.battery.permissions
        if let allowed = permissions.fresh(at: signals.now, within: settings.budget.battery) {
            if !allowed.contains(.charge) { window.limitCharge(to: .zero, .batteryPermission) }
            if !allowed.contains(.discharge) { window.limitDischarge(to: .zero, .batteryPermission) }
        } else if permissions.fault(at: signals.now, within: settings.budget.battery) != .neverSeen {
            window.close(.reading(.permissions))
        }
    }

    private mutating func report(
        _ verdict: InterlockBank.Verdict, _ rows: Span<InterlockRow>, _ signals: UnitSignals, _ input: Input,
        _ events: inout EventList
    ) {
        for index in 0..<rows.count {
            let row = rows[index]
            let isWarned = bank.warnings.contains(row.id)
            guard isWarned != reported.contains(row.id) || verdict.tripped.contains(row.id) else { continue }
            func add(_ kind: Event.Kind, limit: Double?) {
                let shown = signals.shown(row.signal, limit: limit)
                events.append(
                    Event(
                        unit: input.index, kind: kind, value: shown.value, limit: shown.limit,
                        cycle: input.cycle, at: input.now))
            }
            if verdict.tripped.contains(row.id) { add(.tripped(row.id), limit: row.trip) }
            if isWarned != reported.contains(row.id) {
                add(isWarned ? .warned(row.id) : .warningGone(row.id), limit: row.warn)
            }
        }
        reported = bank.warnings
    }

    private func reportMode(from before: UnitMode.State, _ input: Input, _ events: inout EventList) {
        guard before.kind != mode.state.kind else { return }
        add(.modeChanged(from: before, to: mode.state), input, &events)
    }
}
