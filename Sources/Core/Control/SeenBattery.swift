import Plant
import Quantities

/// What a battery must say for its unit to run, all of it fresh.
struct SeenBattery: Sendable, BitwiseCopyable {
    let packVoltage: Volts
    let stateOfCharge: Fraction
    let chargeCurrentLimit: Amperes
    let dischargeCurrentLimit: Amperes
    /// Of its own contactors; `nil` where it does not tell.
    private let contactors: Fraction?
    /// Of the oldest of it.
    let age: Duration

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
        contactors = battery.contactors.fresh(at: now, within: limit)
        age = Self.age(battery, hasAlarms: hasAlarms, at: now)
    }

    private static func age(_ battery: BatteryImage, hasAlarms: Bool, at now: MonotonicTime) -> Duration {
        var age = Duration.zero
        func look<Value>(_ reading: Reading<Value>) { age = max(age, reading.age(at: now) ?? .zero) }
        look(battery.packVoltage)
        look(battery.packCurrent)
        look(battery.stateOfCharge)
        look(battery.chargeCurrentLimit)
        look(battery.dischargeCurrentLimit)
        look(battery.cellVoltageMax)
        look(battery.cellVoltageMin)
        look(battery.cellTemperatureMax)
        look(battery.cellTemperatureMin)
        if hasAlarms { look(battery.alarms) }
        return age
    }

    /// More than load and its end move in the few seconds of a gap, and less than another battery differs by.
    private static let (voltageShare, chargeStep) = (0.1, Fraction(0.05))

    /// Behind a gap it is the battery that was there before, in the state that it had: charge and voltage are
    /// about what they were, and its own contactors stand as they did.
    func isSame(as former: SeenBattery) -> Bool {
        if let contactors, let before = former.contactors, (contactors > .zero) != (before > .zero) {
            return false
        }
        return (stateOfCharge - former.stateOfCharge).magnitude <= Self.chargeStep
            && (packVoltage - former.packVoltage).magnitude <= former.packVoltage * Self.voltageShare
    }
}
