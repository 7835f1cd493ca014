import Interlocks
import Plant
import Quantities

/// One unit's part of the cycle: qualify, interlocks, mode, permit window. Sharing and the last clamp are the
/// site's.
struct UnitController: Sendable, BitwiseCopyable {
    let settings: UnitSettings
    private(set) var bank = InterlockBank()
    private(set) var mode: UnitMode
    /// When the device's required readings were last all fresh; `nil` before the first time.
    private var batteryLastFresh: MonotonicTime?
    private var inverterLastFresh: MonotonicTime?
    private var reported: InterlockSet = .none
    /// People work on the unit until then; `nil` while nobody does.
    private var maintainedUntil: MonotonicTime?
    private var actuation: ActuationWatch
    private var thermal: ThermalWatch
    private var frozen: FrozenWatch

    init(settings: UnitSettings, enterService: Duration) {
        self.settings = settings
        actuation = ActuationWatch(response: settings.inverterResponse)
        thermal = ThermalWatch(resolution: settings.temperatureResolution)
        frozen = FrozenWatch(limit: settings.frozenSamples)
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
    }

    mutating func restore(_ trips: InterlockSet, firstOut: InterlockID?) {
        bank.restore(trips, firstOut: firstOut)
    }

    mutating func reset(by role: Role) -> InterlockBank.ResetOutcome { bank.reset(by: role) }

    /// Takes the unit for maintenance until `end`, or gives it back.
    mutating func maintain(until end: MonotonicTime?) { maintainedUntil = end }

    var isMaintained: Bool { maintainedUntil != nil }

    /// Tells what was asked of the inverter in the end.
    mutating func record(_ setpoint: Watts, at now: MonotonicTime) { actuation.record(setpoint, at: now) }

    /// Everything up to the permit window; fills `decision` but for the setpoint.
    ///
    /// - Returns: whether the whole site must stop because of this unit.
    mutating func step(
        _ image: UnitImage, _ rows: Span<InterlockRow>, _ input: Input, into decision: inout UnitDecision,
        _ events: inout EventList
    ) -> Bool {
        let signals = qualify(image, at: input.now)
        let verdict = bank.evaluate(rows, of: signals, after: input.elapsed)
        report(verdict, rows, signals, input, &events)
        endMaintenance(input, &events)
        let before = mode.state
        mode.handle(event(of: signals, input), at: input.now)
        reportMode(from: before, input, &events)
        reportStop(from: before, signals, input, &events)
        decision.mode = mode.state
        decision.window = window(signals, verdict)
        decision.isContactorPermitted = mode.permitsContactors
        decision.latched = bank.latched
        decision.firstOut = bank.firstOut
        decision.warnings = bank.warnings
        return verdict.isEmergency
    }

    /// The same cycle's second look: another unit must stop the whole site.
    mutating func stopWithSite(
        _ input: Input, into decision: inout UnitDecision, _ events: inout EventList
    ) {
        if bank.stopWithSite() {
            let kind = Event.Kind.tripped(.emergencyStop)
            events.append(Event(unit: input.index, kind: kind, cycle: input.cycle, at: input.now))
        }
        let before = mode.state
        mode.handle(.trip, at: input.now)
        reportMode(from: before, input, &events)
        decision.mode = mode.state
        decision.window = .closed(.interlock(bank.firstOut ?? .emergencyStop))
        decision.isContactorPermitted = mode.permitsContactors
        decision.latched = bank.latched
        decision.firstOut = bank.firstOut
    }

    /// Gives every signal its age: how long ago the device's required readings were all fresh.
    private mutating func qualify(_ raw: UnitImage, at now: MonotonicTime) -> UnitSignals {
        let budget = settings.budget
        var image = raw
        image.battery = Plausible.battery(raw.battery, at: now, within: budget.battery)
        if frozen.isFrozen(image.battery, at: now, within: budget.battery) {
            image.battery.packCurrent = .bad(.frozen, since: now)
            image.battery.packVoltage = .bad(.frozen, since: now)
            image.battery.cellVoltageMax = .bad(.frozen, since: now)
            image.battery.cellVoltageMin = .bad(.frozen, since: now)
        }
        let battery = image.battery
        let isBatteryFresh =
            battery.cellVoltageMax.fault(at: now, within: budget.battery) == nil
            && battery.cellVoltageMin.fault(at: now, within: budget.battery) == nil
            && battery.cellTemperatureMax.fault(at: now, within: budget.battery) == nil
            && battery.cellTemperatureMin.fault(at: now, within: budget.battery) == nil
            && battery.packVoltage.fault(at: now, within: budget.battery) == nil
            && battery.packCurrent.fault(at: now, within: budget.battery) == nil
            && battery.stateOfCharge.fault(at: now, within: budget.battery) == nil
            && battery.chargeCurrentLimit.fault(at: now, within: budget.battery) == nil
            && battery.dischargeCurrentLimit.fault(at: now, within: budget.battery) == nil
            && battery.alarms.fault(at: now, within: budget.battery) == nil
        let isInverterFresh =
            image.inverter.activePower.fault(at: now, within: budget.inverter) == nil
            && image.inverter.state.fault(at: now, within: budget.inverter) == nil
        if isBatteryFresh { batteryLastFresh = now }
        if isInverterFresh { inverterLastFresh = now }
        return UnitSignals(
            image: image, now: now, budget: budget,
            batterySilence: silence(since: batteryLastFresh, isBatteryFresh, budget.battery, now),
            inverterSilence: silence(since: inverterLastFresh, isInverterFresh, budget.inverter, now),
            currentFloor: settings.currentFloor, rating: settings.rating, history: history(image, at: now))
    }

    /// The signals that need a memory.
    private mutating func history(_ image: UnitImage, at now: MonotonicTime) -> HistorySignals {
        var signals = HistorySignals()
        let power = image.inverter.activePower
        if let delivered = power.fresh(at: now, within: settings.budget.inverter), settings.rating > .zero {
            let error = actuation.error(of: delivered, at: now)
            if let error { signals.actuationError = .value(error / settings.rating) }
        } else {
            signals.actuationError = .missing(
                power.fault(at: now, within: settings.budget.inverter) ?? .stale)
        }
        let limit = settings.budget.battery
        let temperature = image.battery.cellTemperatureMax
        guard let hottest = temperature.fresh(at: now, within: limit), let age = temperature.age(at: now)
        else {
            let fault = temperature.fault(at: now, within: limit) ?? .stale
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
    private func silence(
        since last: MonotonicTime?, _ isFresh: Bool, _ budget: Duration, _ now: MonotonicTime
    ) -> Double? {
        guard let last else { return nil }
        return isFresh ? 0 : 1 + (now - last).seconds / budget.seconds
    }

    private func event(of signals: UnitSignals, _ input: Input) -> UnitMode.Event {
        if !bank.latched.isEmpty { return .trip }
        let isSeen = signals.batterySilence == 0 && signals.inverterSilence == 0
        if isMaintained {
            // A unit at power that falls silent goes offline first: its contactors do not wait for a reading.
            if !isSeen && (mode.isRunning || mode.state.kind == .stopping) { return .unseen }
            return hasStopped(signals, input) ? .maintain : .stop
        }
        guard isSeen else { return .unseen }
        guard input.isStopWanted else { return .ready }
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
        events.append(Event(unit: input.index, kind: .maintenanceEnded, cycle: input.cycle, at: input.now))
    }

    /// Less than 2 % of the rating, measured.
    private func isAtZero(_ signals: UnitSignals) -> Bool {
        guard let power = delivered(signals) else { return false }
        return power.magnitude <= settings.rating * 0.02
    }

    private func delivered(_ signals: UnitSignals) -> Watts? {
        signals.image.inverter.activePower.fresh(at: signals.now, within: settings.budget.inverter)
    }

    /// A stop that ended by its bound and not by zero power is told.
    private func reportStop(
        from before: UnitMode.State, _ signals: UnitSignals, _ input: Input, _ events: inout EventList
    ) {
        let hasStopped =
            mode.state.kind == .maintenance || (mode.state.kind == .standby && input.isStopWanted)
        guard before.kind == .stopping, hasStopped, !isAtZero(signals) else { return }
        events.append(
            Event(
                unit: input.index, kind: .stoppedWithPower, value: delivered(signals)?.value,
                limit: (settings.rating * 0.02).value, cycle: input.cycle, at: input.now))
    }

    /// What may be asked of the unit now. Starts at the rating; every line only narrows.
    private func window(_ signals: UnitSignals, _ verdict: InterlockBank.Verdict) -> PermitWindow {
        guard mode.isRunning else {
            if let first = bank.firstOut { return .closed(.interlock(first)) }
            return .closed(.mode)
        }
        var window = PermitWindow.rating(settings.rating)
        window.limitCharge(to: settings.rating * verdict.charge.share, verdict.charge.cause)
        window.limitDischarge(to: settings.rating * verdict.discharge.share, verdict.discharge.cause)
        limitCurrent(signals, &window)
        limitStateOfCharge(signals, &window)
        limitPermissions(signals, &window)
        return window
    }

    private func limitCurrent(_ signals: UnitSignals, _ window: inout PermitWindow) {
        let battery = signals.image.battery
        let limit = settings.budget.battery
        guard let potential = battery.packVoltage.fresh(at: signals.now, within: limit),
            let charge = battery.chargeCurrentLimit.fresh(at: signals.now, within: limit),
            let discharge = battery.dischargeCurrentLimit.fresh(at: signals.now, within: limit)
        else {
            window.close(.reading(.currentLimits))
            return
        }
        window.limitCharge(to: potential * charge, .batteryCurrentLimit)
        window.limitDischarge(to: potential * discharge, .batteryCurrentLimit)
    }

    /// Linear over the last 2 % of charge at each end, so that power does not chatter at the wall.
    private func limitStateOfCharge(_ signals: UnitSignals, _ window: inout PermitWindow) {
        let battery = signals.image.battery
        guard let charge = battery.stateOfCharge.fresh(at: signals.now, within: settings.budget.battery)
        else {
            window.close(.reading(.stateOfCharge))
            return
        }
        let taper = 0.02
        let toFull = ((settings.maxStateOfCharge - charge).value / taper).clamped(to: 0...1)
        let toEmpty = ((charge - settings.minStateOfCharge).value / taper).clamped(to: 0...1)
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
            var value: Double?
            if case .value(let number) = signals.read(row.signal) { value = number }
            func add(_ kind: Event.Kind, limit: Double?) {
                events.append(
                    Event(
                        unit: input.index, kind: kind, value: value, limit: limit, cycle: input.cycle,
                        at: input.now))
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
        events.append(
            Event(
                unit: input.index, kind: .modeChanged(from: before, to: mode.state), cycle: input.cycle,
                at: input.now))
    }
}

extension Double {
    func clamped(to range: ClosedRange<Double>) -> Double {
        self < range.lowerBound ? range.lowerBound : (self > range.upperBound ? range.upperBound : self)
    }
}
