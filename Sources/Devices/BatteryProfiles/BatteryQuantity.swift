/// A number that a profile maps to a reading of `BatteryImage`; the order is that of the fields in a
/// `ProfiledBattery`.
public enum BatteryQuantity: Int, Sendable, CaseIterable {
    case cellVoltageMax, cellVoltageMin, cellTemperatureMax, cellTemperatureMin, packVoltage, packCurrent,
        stateOfCharge, stateOfHealth, chargeCurrentLimit, dischargeCurrentLimit, chargeVoltageLimit,
        dischargeVoltageLimit, insulation
    /// Zero = open, more = closed; for people, no reading of the image.
    case contactors
    /// A pack's own sensor, which need not be its hottest cell; for people, no reading of the image.
    case packTemperature

    /// The key in a profile's file.
    public var name: String {
        switch self {
        case .cellVoltageMax: "cell_voltage_max"
        case .cellVoltageMin: "cell_voltage_min"
        case .cellTemperatureMax: "cell_temperature_max"
        case .cellTemperatureMin: "cell_temperature_min"
        case .packVoltage: "pack_voltage"
        case .packCurrent: "pack_current"
        case .stateOfCharge: "state_of_charge"
        case .stateOfHealth: "state_of_health"
        case .chargeCurrentLimit: "charge_current_limit"
        case .dischargeCurrentLimit: "discharge_current_limit"
        case .chargeVoltageLimit: "charge_voltage_limit"
        case .dischargeVoltageLimit: "discharge_voltage_limit"
        case .insulation: "insulation"
        case .contactors: "contactors"
        case .packTemperature: "pack_temperature"
        }
    }

    /// The unit that a signal must have after its scale.
    public var unit: String {
        switch self {
        case .cellVoltageMax, .cellVoltageMin, .packVoltage, .chargeVoltageLimit, .dischargeVoltageLimit: "V"
        case .cellTemperatureMax, .cellTemperatureMin, .packTemperature: "°C"
        case .packCurrent, .chargeCurrentLimit, .dischargeCurrentLimit: "A"
        case .stateOfCharge, .stateOfHealth: "%"
        case .insulation: "Ω"
        case .contactors: ""
        }
    }

    /// What no battery passes, where the profile does not say less. Past 100 % a battery is full.
    var plausible: ClosedRange<Double> {
        switch self {
        case .cellVoltageMax, .cellVoltageMin: 0.0005...6
        case .cellTemperatureMax, .cellTemperatureMin, .packTemperature: -60...200
        case .packVoltage: 0...2_000
        case .packCurrent: -10_000...10_000
        case .stateOfCharge, .stateOfHealth: 0...105
        case .chargeCurrentLimit, .dischargeCurrentLimit: 0...10_000
        case .chargeVoltageLimit, .dischargeVoltageLimit: 0.05...10_000
        case .insulation: 0...1e9
        case .contactors: 0...255
        }
    }

    var isPercent: Bool { self == .stateOfCharge || self == .stateOfHealth }
}

/// A kind of alarm by its name in a profile's file.
enum AlarmName {
    static let all: [(String, UInt32)] = [
        ("general", 1 << 0), ("voltage_high", 1 << 1), ("voltage_low", 1 << 2), ("temperature_high", 1 << 3),
        ("temperature_low", 1 << 4), ("charge_current_high", 1 << 5), ("discharge_current_high", 1 << 6),
        ("contactor", 1 << 7), ("short_circuit", 1 << 8), ("internal_fault", 1 << 9), ("imbalance", 1 << 10),
    ]
}
