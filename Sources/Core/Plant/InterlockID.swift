/// A quantity of a unit that interlocks watch.
public enum Signal: UInt8, Sendable, BitwiseCopyable {
    case cellVoltageMax, cellVoltageMin
    case cellTemperatureMax, cellTemperatureMin
    /// Charge current ÷ the BMS's charge current limit.
    case chargeCurrentRatio
    /// Discharge current ÷ the BMS's discharge current limit.
    case dischargeCurrentRatio
    /// 1 while the BMS reports any alarm, else 0.
    case batteryAlarm
    /// Age of the battery's oldest required reading ÷ its staleness budget.
    case batterySilence
    /// Age of the inverter's oldest required reading ÷ its staleness budget.
    case inverterSilence
    /// 1 while the inverter reports a fault, else 0.
    case inverterFault
    case packVoltage, stateOfCharge, currentLimits, permissions
    /// Highest less lowest cell voltage.
    case cellVoltageSpread
    /// Charge current ÷ the unit's rated current (rating ÷ pack voltage).
    case chargeLoad
    /// Discharge current ÷ the unit's rated current (rating ÷ pack voltage).
    case dischargeLoad
    /// How far the measured power lies outside what was asked of the inverter ÷ its rating.
    case actuationError
    /// Pack voltage ÷ the BMS's charge voltage limit.
    case chargeVoltageRatio
    /// Pack voltage ÷ the BMS's discharge voltage limit.
    case dischargeVoltageRatio
    /// 1 while the BMS reports any warning, else 0.
    case batteryWarning
    /// 1 while the inverter reports any event, else 0.
    case inverterEvent
    /// Insulation resistance ÷ pack voltage.
    case insulation
    case dcVoltage, acVoltage
    /// Rise of the hottest cell's temperature over a window that suits a limit of 0.1 K/s.
    case temperatureRise
    /// The same over a window that suits a limit of 1 K/s.
    case temperatureRiseFast
    /// 1 while a cell shows the signs of thermal runaway, else 0.
    case thermalRunaway
    /// 1 while the emergency stop is pressed or its circuit is open, else 0.
    case emergencyStopInput
    case smokeInput, gasInput
    /// 1 while the door is open, else 0.
    case doorInput
    /// 1 while the circuit breaker is open, else 0.
    case breakerInput
    /// 1 while the contactors are faulted and the evidence is there, else 0; not of contactors that the
    /// battery drives.
    case contactorFeedback
    /// Age of the oldest wired digital input ÷ its staleness budget.
    case inputsSilence
    /// How far the DC side lies from the pack's voltage ÷ that voltage, while contactors that we drive join
    /// the two.
    case dcVoltageError

    public var name: StaticString {
        switch self {
        case .cellVoltageMax: "cell_voltage_max"
        case .cellVoltageMin: "cell_voltage_min"
        case .cellTemperatureMax: "cell_temperature_max"
        case .cellTemperatureMin: "cell_temperature_min"
        case .chargeCurrentRatio: "charge_current_ratio"
        case .dischargeCurrentRatio: "discharge_current_ratio"
        case .batteryAlarm: "battery_alarm"
        case .batterySilence: "battery_silence"
        case .inverterSilence: "inverter_silence"
        case .inverterFault: "inverter_fault"
        case .packVoltage: "pack_voltage"
        case .stateOfCharge: "state_of_charge"
        case .currentLimits: "current_limits"
        case .permissions: "permissions"
        case .cellVoltageSpread: "cell_voltage_spread"
        case .chargeLoad: "charge_load"
        case .dischargeLoad: "discharge_load"
        case .actuationError: "actuation_error"
        case .chargeVoltageRatio: "charge_voltage_ratio"
        case .dischargeVoltageRatio: "discharge_voltage_ratio"
        case .batteryWarning: "battery_warning"
        case .inverterEvent: "inverter_event"
        case .insulation: "insulation"
        case .dcVoltage: "dc_voltage"
        case .acVoltage: "ac_voltage"
        case .temperatureRise: "temperature_rise"
        case .temperatureRiseFast: "temperature_rise_fast"
        case .thermalRunaway: "thermal_runaway"
        case .emergencyStopInput: "emergency_stop_input"
        case .smokeInput: "smoke_input"
        case .gasInput: "gas_input"
        case .doorInput: "door_input"
        case .breakerInput: "breaker_input"
        case .contactorFeedback: "contactor_feedback"
        case .inputsSilence: "inputs_silence"
        case .dcVoltageError: "dc_voltage_error"
        }
    }
}

/// The name of an interlock. The raw value is a bit number in the persisted latch file: never renumber, never
/// reuse.
public enum InterlockID: UInt8, Sendable, BitwiseCopyable {
    case cellOvervoltage = 0
    case cellUndervoltage = 1
    case cellOvertemperatureCharge = 2
    case cellOvertemperatureDischarge = 3
    case cellUndertemperatureCharge = 4
    case cellUndertemperatureDischarge = 5
    case overcurrentCharge = 6
    case overcurrentDischarge = 7
    case batteryAlarm = 8
    case lostBattery = 9
    case lostInverter = 10
    case inverterFault = 11
    /// The record of latched trips could not be read: nothing is known about the past, so the unit counts as
    /// tripped.
    case latchRecord = 12
    /// The inverter's power stays away from its setpoint: the plant does not do what it is told.
    case notFollowing = 13
    case cellSpread = 14
    case temperatureRise = 15
    case thermalRunaway = 16
    case insulation = 17
    case packOvervoltage = 18
    case packUndervoltage = 19
    case dcVoltage = 20
    case acOvervoltage = 21
    case acUndervoltage = 22
    case stateOfChargeHigh = 23
    case stateOfChargeLow = 24
    case contactorFeedback = 25
    case emergencyStop = 26
    case smoke = 27
    case gas = 28
    case door = 29
    case overcurrentFastCharge = 30
    case overcurrentFastDischarge = 31
    case batteryWarning = 32
    case inverterEvent = 33
    case temperatureRiseFast = 34
    case lostInputs = 35
    /// Another unit has stopped the whole site by a row that needs the role service; it stands in no table.
    case siteStop = 36
    /// The DC side is not at the pack's voltage though the contactors are closed.
    case contactorVoltage = 37
    case breaker = 38
    /// The controller itself has decided what it must never decide; it stands in no table.
    case internalFault = 39

    public var name: StaticString {
        switch self {
        case .cellOvervoltage: "cell_overvoltage"
        case .cellUndervoltage: "cell_undervoltage"
        case .cellOvertemperatureCharge: "cell_overtemperature_charge"
        case .cellOvertemperatureDischarge: "cell_overtemperature_discharge"
        case .cellUndertemperatureCharge: "cell_undertemperature_charge"
        case .cellUndertemperatureDischarge: "cell_undertemperature_discharge"
        case .overcurrentCharge: "overcurrent_charge"
        case .overcurrentDischarge: "overcurrent_discharge"
        case .batteryAlarm: "bms_alarm"
        case .lostBattery: "lost_bms"
        case .lostInverter: "lost_inverter"
        case .inverterFault: "inverter_fault"
        case .latchRecord: "latch_record"
        case .notFollowing: "not_following"
        case .cellSpread: "cell_spread"
        case .temperatureRise: "temperature_rise"
        case .thermalRunaway: "thermal_runaway"
        case .insulation: "insulation"
        case .packOvervoltage: "pack_overvoltage"
        case .packUndervoltage: "pack_undervoltage"
        case .dcVoltage: "dc_voltage"
        case .acOvervoltage: "ac_overvoltage"
        case .acUndervoltage: "ac_undervoltage"
        case .stateOfChargeHigh: "state_of_charge_high"
        case .stateOfChargeLow: "state_of_charge_low"
        case .contactorFeedback: "contactor_feedback"
        case .emergencyStop: "emergency_stop"
        case .smoke: "smoke"
        case .gas: "gas"
        case .door: "door"
        case .breaker: "breaker"
        case .overcurrentFastCharge: "overcurrent_fast_charge"
        case .overcurrentFastDischarge: "overcurrent_fast_discharge"
        case .batteryWarning: "bms_warning"
        case .inverterEvent: "inverter_event"
        case .temperatureRiseFast: "temperature_rise_fast"
        case .lostInputs: "lost_io"
        case .siteStop: "site_stop"
        case .internalFault: "internal_fault"
        case .contactorVoltage: "contactor_voltage"
        }
    }
}

/// A set of interlocks, one bit each.
public struct InterlockSet: BitSet {
    public var rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    public init(_ id: InterlockID) { rawValue = 1 << UInt64(id.rawValue) }

    public func contains(_ id: InterlockID) -> Bool { rawValue & (1 << UInt64(id.rawValue)) != 0 }
}

extension InterlockID {
    /// Whether people nearby are in danger: fire, or what comes before it. It is told before everything else.
    public var endangersPeople: Bool { self == .smoke || self == .gas || self == .thermalRunaway }
}
