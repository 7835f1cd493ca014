import Plant
import Quantities
import Scenario

extension SimulatedUnit {
    /// Puts the coils as asked, without a wire between.
    mutating func drive(_ actuation: Actuation) {
        for coil in module?.settings.coils ?? [] {
            // No wire between, so nothing has had the time to expire.
            module?.write([actuation.energises(coil.purpose, at: actuation.expires)], at: coil.address)
        }
    }
}

extension DigitalInputImage {
    /// The container is well, and the auxiliary contacts follow the contactors. What is not wired is not
    /// asked for.
    init(_ unit: SimulatedUnit, at now: MonotonicTime) {
        self.init()
        let all = DigitalInput.all
        for index in all.indices { self[all[index]] = .good(false, at: now) }
        self[.mainContactor] = .good(unit.contactors?.isMainClosed ?? true, at: now)
        self[.prechargeContactor] = .good(unit.contactors?.isPrechargeClosed ?? false, at: now)
    }
}

extension BatteryImage {
    /// What the simulated BMS would say, without a wire between.
    init(_ unit: SimulatedUnit, at now: MonotonicTime) {
        self.init()
        let battery = unit.battery
        let management = unit.management
        let (voltages, temperatures) = (battery.cellVoltages, battery.cellTemperatures)
        cellVoltageMax = .good(voltages.max, at: now)
        cellVoltageMin = .good(voltages.min, at: now)
        cellTemperatureMax = .good(temperatures.max, at: now)
        cellTemperatureMin = .good(temperatures.min, at: now)
        packVoltage = .good(battery.packVoltage, at: now)
        packCurrent = .good(battery.current, at: now)
        stateOfCharge = .good(battery.shownStateOfCharge.clamped(.zero, Fraction(1)), at: now)
        stateOfHealth = .good(Fraction(1), at: now)
        let (charge, discharge) = (
            management.chargeCurrentLimit(battery), management.dischargeCurrentLimit(battery)
        )
        chargeCurrentLimit = .good(charge, at: now)
        dischargeCurrentLimit = .good(discharge, at: now)
        chargeVoltageLimit = .good(management.chargeVoltageLimit(battery), at: now)
        dischargeVoltageLimit = .good(management.dischargeVoltageLimit(battery), at: now)
        var allowed = BatteryPermissions.none
        if charge > .zero { allowed.insert(.charge) }
        if discharge > .zero { allowed.insert(.discharge) }
        permissions = .good(allowed, at: now)
        alarms = .good(management.protections.isEmpty ? .none : .general, at: now)
        warnings = .good(management.isTemperatureWarning ? .temperatureHigh : .none, at: now)
    }
}

extension InverterImage {
    /// What the simulated inverter would say, without a wire between.
    init(_ unit: SimulatedUnit, frequency: Hertz, at now: MonotonicTime) {
        self.init()
        activePower = .good(unit.inverter.activePower, at: now)
        reactivePower = .good(.zero, at: now)
        self.frequency = .good(frequency, at: now)
        dcVoltage = .good(unit.dcVoltage, at: now)
        state = .good(InverterState(unit.inverter.state), at: now)
        events = .good(0, at: now)
        ratedPower = .good(unit.inverter.ratedPower, at: now)
    }
}

extension InverterState {
    init(_ state: InverterModel.State) {
        self =
            switch state {
            case .off: .off
            case .sleeping: .sleeping
            case .starting: .starting
            case .running: .running
            case .throttled: .throttled
            case .shuttingDown: .shuttingDown
            case .fault: .fault
            case .standby: .standby
            }
    }
}
