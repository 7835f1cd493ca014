import Plant
import Quantities

/// What a battery must say for its unit to run, all of it fresh.
struct SeenBattery: Sendable, BitwiseCopyable {
    let packVoltage: Volts
    let stateOfCharge: Fraction
    let chargeCurrentLimit: Amperes
    let dischargeCurrentLimit: Amperes

    /// What of it is missing.
    static func missing(
        _ battery: BatteryImage, hasAlarms: Bool, _ found: MissingReading.Search
    ) -> MissingReading? {
        var search = found
        search.look(battery.packVoltage, .packVoltage)
        search.look(battery.packCurrent, .packCurrent)
        search.look(battery.stateOfCharge, .stateOfCharge)
        search.look(battery.chargeCurrentLimit, .chargeCurrentLimit)
        search.look(battery.dischargeCurrentLimit, .dischargeCurrentLimit)
        search.look(battery.cellVoltageMax, .cellVoltageMax)
        search.look(battery.cellVoltageMin, .cellVoltageMin)
        search.look(battery.cellTemperatureMax, .cellTemperatureMax)
        search.look(battery.cellTemperatureMin, .cellTemperatureMin)
        if hasAlarms { search.look(battery.alarms, .alarms) }
        search.hear(battery.permissions)
        search.hear(battery.warnings)
        search.hear(battery.stateOfHealth)
        return search.result
    }

    /// `nil` while anything is missing.
    init?(_ battery: BatteryImage, at now: MonotonicTime, within limit: Duration, hasAlarms: Bool) {
        guard let packVoltage = battery.packVoltage.fresh(at: now, within: limit),
            let stateOfCharge = battery.stateOfCharge.fresh(at: now, within: limit),
            let chargeCurrentLimit = battery.chargeCurrentLimit.fresh(at: now, within: limit),
            let dischargeCurrentLimit = battery.dischargeCurrentLimit.fresh(at: now, within: limit),
            battery.cellVoltageMax.fresh(at: now, within: limit) != nil,
            battery.cellVoltageMin.fresh(at: now, within: limit) != nil,
            battery.cellTemperatureMax.fresh(at: now, within: limit) != nil,
            battery.cellTemperatureMin.fresh(at: now, within: limit) != nil,
            battery.packCurrent.fresh(at: now, within: limit) != nil,
            battery.alarms.fresh(at: now, within: limit) != nil || !hasAlarms
        else { return nil }
        self.packVoltage = packVoltage
        self.stateOfCharge = stateOfCharge
        self.chargeCurrentLimit = chargeCurrentLimit
        self.dischargeCurrentLimit = dischargeCurrentLimit
    }
}
