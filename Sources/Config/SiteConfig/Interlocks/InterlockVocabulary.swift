/// A quantity of a unit that interlocks may watch: its name, its unit, and who measures it.
public struct InterlockSignal: Sendable, Equatable {
    /// The unit of a signal's limits; it is the last part of their keys.
    public enum Unit: Sendable, Equatable {
        case volts, celsius, amperes, ratio, state, kelvinPerSecond, ohmsPerVolt

        /// The ends of keys and how many of them make one of the signal's own unit.
        var suffixes: [(text: String, divisor: Double, range: ClosedRange<Double>)] {
            switch self {
            case .volts: [("v", 1, 0...2_000)]
            case .celsius: [("c", 1, -100...1_000)]
            case .amperes: [("a", 1, 0...100_000)]
            case .ratio: [("ratio", 1, 0...100), ("percent", 100, 0...10_000)]
            case .state: [("state", 1, 0...255)]
            case .kelvinPerSecond: [("k_per_s", 1, 0...100)]
            case .ohmsPerVolt: [("ohm_per_v", 1, 0...1_000_000)]
            }
        }

        /// What a row has that says nothing of its hysteresis.
        var hysteresis: Double { self == .celsius ? 3 : 0 }

        /// For people; empty for a ratio or a state.
        public var symbol: String {
            switch self {
            case .volts: "V"
            case .celsius: "°C"
            case .amperes: "A"
            case .ratio, .state: ""
            case .kelvinPerSecond: "K/s"
            case .ohmsPerVolt: "Ω/V"
            }
        }
    }

    /// Who measures it.
    public enum Device: Sendable, Equatable {
        case battery, inverter
        /// Both are needed to judge it.
        case both
        /// A digital input, which not every unit has.
        case input
    }

    public var name: String
    public var unit: Unit
    public var device: Device
    /// Its value is the age of a device's readings ÷ their staleness budget.
    public var isSilence = false
    /// Fire, gas, a person's stop: contacts part what flows as soon as a zero has had its time to arrive.
    public var partsLoad: Bool {
        ["emergency_stop_input", "smoke_input", "gas_input", "thermal_runaway"].contains(name)
    }

    /// Every signal that a row may name.
    public static let all: [InterlockSignal] = [
        InterlockSignal("cell_voltage_max", .volts, .battery),
        InterlockSignal("cell_voltage_min", .volts, .battery),
        InterlockSignal("cell_temperature_max", .celsius, .battery),
        InterlockSignal("cell_temperature_min", .celsius, .battery),
        InterlockSignal("charge_current_ratio", .ratio, .battery),
        InterlockSignal("discharge_current_ratio", .ratio, .battery),
        InterlockSignal("battery_alarm", .state, .battery),
        InterlockSignal("battery_silence", .ratio, .battery, isSilence: true),
        InterlockSignal("inverter_silence", .ratio, .inverter, isSilence: true),
        InterlockSignal("inverter_fault", .state, .inverter),
        InterlockSignal("pack_voltage", .volts, .battery),
        InterlockSignal("state_of_charge", .ratio, .battery),
        InterlockSignal("current_limits", .amperes, .battery),
        InterlockSignal("permissions", .state, .battery),
        InterlockSignal("cell_voltage_spread", .volts, .battery),
        InterlockSignal("charge_load", .ratio, .battery),
        InterlockSignal("discharge_load", .ratio, .battery),
        InterlockSignal("actuation_error", .ratio, .inverter),
        InterlockSignal("charge_voltage_ratio", .ratio, .battery),
        InterlockSignal("discharge_voltage_ratio", .ratio, .battery),
        InterlockSignal("battery_warning", .state, .battery),
        InterlockSignal("inverter_event", .state, .inverter),
        InterlockSignal("insulation", .ohmsPerVolt, .battery),
        InterlockSignal("dc_voltage", .volts, .inverter),
        InterlockSignal("ac_voltage", .volts, .inverter),
        InterlockSignal("temperature_rise", .kelvinPerSecond, .battery),
        InterlockSignal("temperature_rise_fast", .kelvinPerSecond, .battery),
        InterlockSignal("thermal_runaway", .state, .battery),
        InterlockSignal("contactor_feedback", .state, .input),
        InterlockSignal("inputs_silence", .ratio, .input, isSilence: true),
        InterlockSignal("dc_voltage_error", .ratio, .both),
        InterlockSignal("emergency_stop_input", .state, .input),
        InterlockSignal("smoke_input", .state, .input),
        InterlockSignal("gas_input", .state, .input),
        InterlockSignal("door_input", .state, .input),
        InterlockSignal("breaker_input", .state, .input),
    ]

    public static func named(_ name: String) -> InterlockSignal? { all.first { $0.name == name } }

    init(_ name: String, _ unit: Unit, _ device: Device, isSilence: Bool = false) {
        self.name = name
        self.unit = unit
        self.device = device
        self.isSilence = isSilence
    }
}

extension InterlockRule {
    /// Every identifier that a row may have; a latched trip is remembered by it.
    public static let identifiers = [
        "cell_overvoltage", "cell_undervoltage", "cell_overtemperature_charge",
        "cell_overtemperature_discharge", "cell_undertemperature_charge", "cell_undertemperature_discharge",
        "overcurrent_charge", "overcurrent_discharge", "bms_alarm", "lost_bms", "lost_inverter",
        "inverter_fault", "not_following", "cell_spread", "temperature_rise", "thermal_runaway",
        "insulation", "pack_overvoltage", "pack_undervoltage", "dc_voltage", "ac_overvoltage",
        "ac_undervoltage", "state_of_charge_high", "state_of_charge_low", "contactor_feedback",
        "emergency_stop", "smoke", "gas", "door", "overcurrent_fast_charge", "overcurrent_fast_discharge",
        "bms_warning", "inverter_event", "temperature_rise_fast", "lost_io", "contactor_voltage",
        "breaker",
    ]
}

extension UnitConfig {
    /// Whether the unit has what a row on `signal` needs; battery and inverter every unit has.
    public func isWired(_ signal: InterlockSignal) -> Bool {
        switch signal.name {
        case "contactor_feedback", "dc_voltage_error": return contactors != nil
        case "inputs_silence": return ioModule?.inputs.isEmpty == false
        case "emergency_stop_input": return ioModule?.has(.emergencyStop) == true
        case "smoke_input": return ioModule?.has(.smoke) == true
        case "gas_input": return ioModule?.has(.gas) == true
        case "door_input": return ioModule?.has(.door) == true
        case "breaker_input": return ioModule?.has(.breaker) == true
        case _: return true
        }
    }
}
