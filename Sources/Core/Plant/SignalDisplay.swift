/// A signal as an operator reads it. Limits are in the signal's own unit, which suits a configuration; what
/// people are told has a unit that they can measure.
extension Signal {
    /// What is measured: `charge power`.
    public var quantity: StaticString {
        switch self {
        case .cellVoltageMax: "highest cell voltage"
        case .cellVoltageMin: "lowest cell voltage"
        case .cellTemperatureMax: "highest cell temperature"
        case .cellTemperatureMin: "lowest cell temperature"
        case .chargeCurrentRatio: "charge current"
        case .dischargeCurrentRatio: "discharge current"
        case .batteryAlarm: "BMS alarms"
        case .batteryWarning: "BMS warnings"
        case .batterySilence: "battery silent for"
        case .inverterSilence: "inverter silent for"
        case .inputsSilence: "digital inputs silent for"
        case .inverterFault: "inverter fault"
        case .inverterEvent: "inverter event bits"
        case .packVoltage, .chargeVoltageRatio, .dischargeVoltageRatio: "pack voltage"
        case .stateOfCharge: "state of charge"
        case .currentLimits: "current limit"
        case .permissions: "permissions"
        case .cellVoltageSpread: "spread of the cell voltages"
        case .chargeLoad: "charge power"
        case .dischargeLoad: "discharge power"
        case .actuationError: "power beside the setpoint"
        case .insulation: "insulation"
        case .dcVoltage: "DC voltage"
        case .acVoltage: "AC voltage"
        case .temperatureRise, .temperatureRiseFast: "rise of the highest cell temperature"
        case .thermalRunaway: "thermal runaway"
        case .emergencyStopInput: "emergency stop"
        case .smokeInput: "smoke"
        case .gasInput: "gas"
        case .doorInput: "door"
        case .breakerInput: "circuit breaker"
        case .contactorFeedback: "contactors"
        case .dcVoltageError: "DC voltage beside the pack's"
        }
    }

    /// The unit of its numbers; empty where there are none: a state, or a word of bits with names.
    public var shownSymbol: StaticString {
        switch self {
        case .cellVoltageMax, .cellVoltageMin, .packVoltage, .cellVoltageSpread, .dcVoltage, .acVoltage,
            .chargeVoltageRatio, .dischargeVoltageRatio, .dcVoltageError:
            "V"
        case .cellTemperatureMax, .cellTemperatureMin: "°C"
        case .chargeCurrentRatio, .dischargeCurrentRatio, .currentLimits: "A"
        case .batterySilence, .inverterSilence, .inputsSilence: "s"
        case .chargeLoad, .dischargeLoad, .actuationError: "kW"
        case .stateOfCharge: "%"
        case .insulation: "Ω/V"
        case .temperatureRise, .temperatureRiseFast: "K/s"
        case .batteryAlarm, .batteryWarning, .inverterFault, .inverterEvent, .permissions, .thermalRunaway,
            .emergencyStopInput, .smokeInput, .gasInput, .doorInput, .breakerInput,
            .contactorFeedback:
            ""
        }
    }
}
