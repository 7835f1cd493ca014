import Plant
import Quantities

@testable import Control
@testable import Interlocks

/// What the two units look like in one cycle.
struct CycleEvent {
    var first: Weather
    var second: Weather

    func weather(_ unit: Int) -> Weather { unit == 0 ? first : second }
}

/// One cycle with everything its theorems look at.
struct CycleCheck {
    var before: Node
    var event: CycleEvent
    var after: Node
    var shown: Shown
    /// The same cycle with good readings.
    var good: Shown
    var now: MonotonicTime

    private typealias Specification = SiteSpecification

    func violations(_ found: (Theorem) -> Void) {
        for index in 0..<2 {
            power(index, found)
            trips(index, found)
            readings(index, found)
            modes(index, found)
        }
        contactors(found)
        site(found)
    }

    private func power(_ index: Int, _ found: (Theorem) -> Void) {
        let decided = shown.unit(index)
        let window = decided.window
        if window.clamp(decided.setpoint) != decided.setpoint { found(.setpointInWindow) }
        let derated = event.weather(index).derated
        let tolerance = Watts(0.001)
        if window.charge < -(Specification.rating * derated.charge + tolerance)
            || window.discharge > Specification.rating * derated.discharge + tolerance
        {
            found(.deratingHolds)
        }
        guard event.weather(index) == .warned, event.weather(1 - index) == .good else { return }
        if window.isWider(than: good.unit(index).window) || good.unit(index).window.isWider(than: window) {
            found(.warningOnlyWarns)
        }
    }

    private func trips(_ index: Int, _ found: (Theorem) -> Void) {
        let old = before.unit(index).bank
        let decided = shown.unit(index)
        let weather = event.weather(index)
        if !old.latched.isEmpty && decided.isOpen { found(.noPowerWhileTripped) }
        if old.latched.isEmpty && !decided.latched.isEmpty && decided.isOpen { found(.tripIsZeroAtOnce) }
        if !decided.latched.contains(old.latched) || after.unit(index).bank.latched != decided.latched {
            found(.latchEndsOnlyByReset)
        }
        var causes = InterlockSet(.emergencyStop)
        causes.insert(InterlockSet(.siteStop))
        if let passed = weather.passed(in: index) { causes.insert(InterlockSet(passed)) }
        if weather.isBatteryMissing { causes.insert(InterlockSet(.lostBattery)) }
        if weather.isInverterMissing { causes.insert(InterlockSet(.lostInverter)) }
        if weather.areInputsMissing(in: index) { causes.insert(InterlockSet(.lostInputs)) }
        // In the cycle of the reset the fault is still judged: it may show again.
        let contactors = (before.unit(index).contactors.sequence, after.unit(index).contactors.sequence)
        if contactors.0.isFaulted || contactors.1.isFaulted {
            causes.insert(InterlockSet(.contactorFeedback))
        }
        let new = decided.latched.subtracting(old.latched)
        if !causes.contains(new) { found(.noTripWithoutCause) }
        if decided.latched.contains(.cellOvertemperatureDischarge) { found(.stopRowHeals) }
        firstOut(old.firstOut, decided, found)
        limits(index, decided, found)
    }

    private func firstOut(_ old: InterlockID?, _ decided: UnitDecision, _ found: (Theorem) -> Void) {
        if let first = decided.firstOut {
            if !decided.latched.contains(first) { found(.firstOutStands) }
        } else if !decided.latched.isEmpty {
            found(.firstOutStands)
        }
        if let old, decided.firstOut != old { found(.firstOutStands) }
    }

    /// The specification's rows, on what the unit looks like and for how long it has.
    private func limits(_ index: Int, _ decided: UnitDecision, _ found: (Theorem) -> Void) {
        guard let passed = event.weather(index).passed(in: index),
            let place = Specification.rows.firstIndex(where: { $0.id == passed })
        else { return }
        let row = Specification.rows[place]
        let elapsed = before.isNew ? Duration.zero : Specification.period
        guard before.unit(index).bank.harm[place] + elapsed >= row.debounce else { return }
        switch row.action {
        case .stop:
            if decided.window.discharge != .zero { found(.limitTripsInTime) }
        case .hold:
            if !decided.window.isClosed || decided.hold.isEmpty { found(.limitTripsInTime) }
        case .trip:
            if !decided.latched.contains(passed) { found(.limitTripsInTime) }
        case .emergencyStop:
            if !decided.latched.contains(passed) { found(.limitTripsInTime) }
            let other = shown.unit(1 - index)
            if other.latched.isEmpty { found(.emergencyTripsSite) }
            if other.isOpen || decided.isOpen { found(.emergencyClosesSite) }
        }
    }

    private func readings(_ index: Int, _ found: (Theorem) -> Void) {
        let weather = event.weather(index)
        let decided = shown.unit(index)
        let isMissing = weather.isRequiredMissing(in: index) || weather == .good
        if isMissing, decided.window.isWider(than: good.unit(index).window) { found(.missingNeverWidens) }
        if weather.isRequiredMissing(in: index), decided.isOpen { found(.missingClosesAtOnce) }
        if before.memory.unit(index).isInsulationKnown, !weather.isInsulationSeen, !decided.window.isClosed {
            found(.seenSignalIsRequired)
        }
        let old = before.unit(index)
        if weather.isBatteryMissing, isSilent(old.sight.batterySilence),
            !decided.latched.contains(.lostBattery)
        {
            found(.lostDeviceTrips)
        }
        if weather.isInverterMissing, isSilent(old.sight.inverterSilence),
            !decided.latched.contains(.lostInverter)
        {
            found(.lostDeviceTrips)
        }
    }

    private func isSilent(_ silence: DeviceSilence) -> Bool {
        guard let time = silence.lasting, !before.isNew else { return false }
        return time + Specification.period >= Weather.budget + silence.credit
    }

    /// Of unit 0, whose contactors we drive.
    private func contactors(_ found: (Theorem) -> Void) {
        let old = before.first.contactors
        let new = after.first.contactors
        let decided = shown.first
        if old.sequence.isFaulted {
            let isFaultGone = !new.sequence.isFaulted
            if isFaultGone && !before.memory.first.isContactorReset { found(.contactorFaultNeedsReset) }
            if isFaultGone && (decided.closesMainContactor || decided.closesPrechargeContactor) {
                found(.contactorFaultNeedsReset)
            }
        }
        if decided.closesMainContactor || decided.isContactorPermitted,
            after.memory.first.trippedCycles >= SiteModel.trippedCyclesMax
        {
            found(.tripOpensContactors)
        }
        // What a former run has left closed is kept closed until its current has ended.
        let isAdopted = old.leavesContactors && event.first == .feedbackWrong && decided.window.isClosed
        if decided.closesMainContactor && !old.output.closesMain && !isAdopted {
            if !old.output.closesPrecharge || !event.first.isChargeSeen { found(.closesOnlyPrecharged) }
        }
        switch (old.sequence.state, new.sequence.state) {
        case (.unchecked, .open), (.proving, .open), (.checking, .open):
            if !event.first.isDischargeSeen { found(.weldedStaysOpen) }
        case (.unchecked, .precharging), (.proving, .precharging), (.checking, .precharging),
            (.welded, .precharging),
            (.welded, .open):
            found(.weldedStaysOpen)
        default: break
        }
        if !decided.window.isClosed && !decided.closesMainContactor { found(.powerNeedsContactors) }
    }

    private func modes(_ index: Int, _ found: (Theorem) -> Void) {
        let old = before.unit(index)
        let decided = shown.unit(index)
        let memory = after.memory.unit(index)
        if decided.mode == .running && old.mode.state == .tripped { found(.resetStartsNothing) }
        if decided.mode == .running && memory.goodCycles < SiteModel.goodCyclesMax { found(.startTakesTime) }
        if after.memory.isStopAsked && (decided.mode == .running || decided.setpoint != .zero) {
            found(before.isNew ? .restartKeepsStop : .stopMeansStop)
        }
        if before.isNew && after.memory.isStopAsked != after.isStopWanted { found(.restartKeepsStop) }
        if case .stopping(let since) = decided.mode, now - since >= Specification.stopBound {
            found(.stopEnds)
        }
        if decided.mode.kind == .maintenance {
            if decided.isOpen { found(.maintenanceIsOpen) }
            if memory.maintenance == 0 { found(.maintenanceEnds) }
        }
        let isOnItsWay = decided.mode == .running || decided.mode.kind == .precharge
        if memory.maintenance > 0, isOnItsWay || !after.unit(index).locks.isMaintained {
            found(.maintenanceOutlasts)
        }
        if !decided.latched.isEmpty && decided.mode != .tripped { found(.maintenancePassesNoInterlock) }
        resumes(before.memory.unit(index).awaitsResume, decided, found)
    }

    /// A unit that is still on its way to zero keeps its permit: contactors do not open under load for a hold.
    private func resumes(
        _ awaited: Memory.Awaited, _ decided: UnitDecision, _ found: (Theorem) -> Void
    ) {
        switch decided.mode.kind {
        case .stopping:
            guard decided.setpoint != .zero || !decided.window.isClosed else { return }
        case .offline, .standby, .tripped, .maintenance:
            guard decided.isOpen else { return }
        case .precharge, .running: break
        }
        if awaited.contains(.trip) { found(.tripNeedsResume) }
        if awaited.contains(.crash) { found(.crashNeedsResume) }
        if awaited.contains(.maintenance) { found(.maintenanceNeedsResume) }
    }

    private func site(_ found: (Theorem) -> Void) {
        var available = PermitWindow.rating(Specification.rating * 4)
        available.limitCharge(to: -(shown.first.window.charge + shown.second.window.charge), .none)
        available.limitDischarge(to: shown.first.window.discharge + shown.second.window.discharge, .none)
        let due = available.clamp(shown.target)
        if (shown.setpoint - due).magnitude > Watts(0.001) { found(.shareMoves) }
        if shown.source == .aggregator && after.memory.lease == 0 { found(.leaseEnds) }
    }
}

/// One order with everything its theorems look at.
struct OrderCheck {
    var before: Node
    var order: Order
    var after: Node

    func violations(_ found: (Theorem) -> Void) {
        for index in 0..<2 {
            let old = before.unit(index).bank.latched
            let latched = after.unit(index).bank.latched
            switch order {
            case .reset(index, let role):
                if role == .operator && !latched.contains(old.intersection(SiteSpecification.serviceTrips)) {
                    found(.serviceTripNeedsService)
                }
                if !latched.contains(before.memory.unit(index).blocked) { found(.resetNeedsCauseGone) }
            case .restart, .crash:
                if !latched.contains(old) { found(.restartKeepsLatches) }
                if !after.unit(index).hold.contains(before.unit(index).hold) { found(.restartKeepsHold) }
                if before.unit(index).contactors.sequence.isFaulted,
                    !after.unit(index).contactors.sequence.isFaulted
                {
                    found(.restartKeepsContactorFault)
                }
            case .restartWithoutRecord:
                if !latched.contains(.latchRecord) { found(.missingRecordIsTrip) }
            case .maintain, .endMaintenance:
                if latched != old { found(.maintenancePassesNoInterlock) }
            case .reset, .stop, .resume, .resumeUnit, .lease, .revokeLease:
                if latched != old { found(.latchEndsOnlyByReset) }
                let held = before.unit(index).hold
                if order == .resume, !before.memory.unit(index).awaitsResume.isOfRestartAlone,
                    after.unit(index).hold != held
                {
                    found(.siteResumeKeepsHolds)
                }
            }
        }
    }
}

extension UnitDecision {
    /// Whether the decision lets anything happen.
    /// Contacts that still open are not open to anything: their current has to end first.
    var isOpen: Bool {
        if case .opening = contactors { return setpoint != .zero || !window.isClosed }
        return setpoint != .zero || !window.isClosed || isContactorPermitted
    }
}

extension PermitWindow {
    var isClosed: Bool { charge == .zero && discharge == .zero }

    func isWider(than other: PermitWindow) -> Bool {
        charge < other.charge || discharge > other.discharge
    }
}
