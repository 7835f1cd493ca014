import Interlocks
import Plant

extension InterlockTable {
    /// Lithium iron phosphate. Proposed tiers; the cell's datasheet overrides them.
    ///
    /// Sources: cell limits 3.65 V and 2.50 V from the Lishen 202 Ah datasheet; temperature windows as common
    /// for LFP (no charging below 0 °C); current as the BMS itself allows.
    public static var lithiumIronPhosphate: InterlockTable {
        var table = InterlockTable()
        table.add(
            InterlockRow(
                .cellOvervoltage, .cellVoltageMax, .high, .charge, warn: 3.55,
                derate: .init(from: 3.58, to: 3.62),
                trip: 3.65, for: .milliseconds(300)))
        table.add(
            InterlockRow(
                .cellUndervoltage, .cellVoltageMin, .low, .discharge, warn: 2.90,
                derate: .init(from: 2.80, to: 2.60),
                trip: 2.50, for: .milliseconds(300)))
        table.add(
            InterlockRow(
                .cellOvertemperatureCharge, .cellTemperatureMax, .high, .charge, warn: 40,
                derate: .init(from: 40, to: 50), trip: 55, while: .charging, for: .seconds(1)))
        table.add(
            InterlockRow(
                .cellOvertemperatureDischarge, .cellTemperatureMax, .high, .discharge, warn: 45,
                derate: .init(from: 45, to: 55), trip: 60, for: .seconds(1)))
        table.add(
            InterlockRow(
                .cellUndertemperatureCharge, .cellTemperatureMin, .low, .charge, warn: 5,
                derate: .init(from: 5, to: 0), trip: -5, while: .charging, for: .seconds(1)))
        table.add(
            InterlockRow(
                .cellUndertemperatureDischarge, .cellTemperatureMin, .low, .discharge, warn: -10,
                derate: .init(from: -10, to: -20), trip: -25, while: .discharging, for: .seconds(1)))
        table.add(
            InterlockRow(
                .cellSpread, .cellVoltageSpread, .high, .both, warn: 0.1, derate: .init(from: 0.2, to: 0.4),
                trip: 0.4, for: .seconds(10)))
        table.addDeviceRows()
        table.addPackRows()
        table.addThermalRows()
        table.addWireRows()
        return table
    }

    /// The rows that do not depend on chemistry.
    private mutating func addDeviceRows() {
        add(
            InterlockRow(
                .overcurrentCharge, .chargeCurrentRatio, .high, .charge, warn: 1.05, trip: 1.10,
                for: .seconds(10)))
        add(
            InterlockRow(
                .overcurrentDischarge, .dischargeCurrentRatio, .high, .discharge, warn: 1.05, trip: 1.10,
                for: .seconds(10)))
        add(InterlockRow(.batteryAlarm, .batteryAlarm, .high, .both, trip: 1, for: .zero))
        add(InterlockRow(.lostBattery, .batterySilence, .high, .both, trip: 2, for: .zero))
        add(InterlockRow(.lostInverter, .inverterSilence, .high, .both, trip: 2, for: .zero))
        add(InterlockRow(.inverterFault, .inverterFault, .high, .both, trip: 1, for: .milliseconds(200)))
        add(
            InterlockRow(
                .notFollowing, .actuationError, .high, .both, warn: 0.05, trip: 0.10, for: .seconds(2)))
        add(
            InterlockRow(
                .batteryWarning, .batteryWarning, .high, .both, warn: 1, trip: nil, for: .zero,
                presence: .ifSeen))
        add(
            InterlockRow(
                .inverterEvent, .inverterEvent, .high, .both, warn: 1, trip: nil, for: .zero,
                presence: .ifSeen))
    }

    /// Pack voltage against the BMS's own limits: a target that a full or empty battery reaches, hence
    /// derating from there on, and a trip only well past it.
    private mutating func addPackRows() {
        add(
            InterlockRow(
                .overcurrentFastCharge, .chargeLoad, .high, .charge, trip: 1.5, for: .milliseconds(500)))
        add(
            InterlockRow(
                .overcurrentFastDischarge, .dischargeLoad, .high, .discharge, trip: 1.5,
                for: .milliseconds(500)))
        add(
            InterlockRow(
                .packOvervoltage, .chargeVoltageRatio, .high, .charge, warn: 1.01,
                derate: .init(from: 1.00, to: 1.02), trip: 1.03, for: .seconds(10), presence: .ifSeen))
        add(
            InterlockRow(
                .packUndervoltage, .dischargeVoltageRatio, .low, .discharge, warn: 0.99,
                derate: .init(from: 1.00, to: 0.98), trip: 0.97, for: .seconds(10), presence: .ifSeen))
        // 500 and 100 Ω/V: LV and ISO 6469.
        add(
            InterlockRow(
                .insulation, .insulation, .low, .both, warn: 500, trip: 100, for: .seconds(5),
                reset: .service, presence: .ifSeen))
    }

    /// A rise alone only warns: a sensor may jump. Together with heat or a falling cell it is a runaway
    /// (GB 38031-2025).
    private mutating func addThermalRows() {
        add(
            InterlockRow(
                .temperatureRise, .temperatureRise, .high, .both, warn: ThermalWatch.rise.slow, trip: nil,
                for: .zero))
        add(
            InterlockRow(
                .temperatureRiseFast, .temperatureRiseFast, .high, .both, warn: ThermalWatch.rise.fast,
                trip: nil, for: .zero))
        add(
            InterlockRow(
                .thermalRunaway, .thermalRunaway, .high, .both, trip: 1, for: .seconds(3), reset: .service))
    }

    /// Digital inputs and contactors; a unit that has not wired an input is not judged by its row.
    private mutating func addWireRows() {
        add(
            InterlockRow(
                .emergencyStop, .emergencyStopInput, .high, .both, trip: 1, for: .zero, action: .emergencyStop
            ))
        add(
            InterlockRow(
                .smoke, .smokeInput, .high, .both, trip: 1, for: .milliseconds(1000), reset: .service))
        add(
            InterlockRow(
                .gas, .gasInput, .high, .both, trip: 1, for: .milliseconds(1000), reset: .service))
        add(
            InterlockRow(
                .door, .doorInput, .high, .both, trip: 1, for: .milliseconds(1000), action: .stop))
        add(
            InterlockRow(
                .breaker, .breakerInput, .high, .both, trip: 1, for: .milliseconds(200)))
        add(
            InterlockRow(
                .contactorFeedback, .contactorFeedback, .high, .both, trip: 1, for: .zero, reset: .service))
        add(
            InterlockRow(
                .lostInputs, .inputsSilence, .high, .both, trip: 2, for: .zero))
        add(
            InterlockRow(
                .contactorVoltage, .dcVoltageError, .high, .both, warn: 0.05, trip: 0.15, for: .seconds(10)))
    }
}
