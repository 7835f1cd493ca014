import ConfigText
import Plant

/// The unit of a signal's limits; it is the last part of their keys.
public enum LimitUnit: Sendable, Equatable {
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

    /// `3.65 V`; the number alone for a ratio or a state.
    func shown(_ value: Double) -> String {
        symbol.isEmpty ? ConfigWording.shown(value) : "\(ConfigWording.shown(value)) \(symbol)"
    }
}

/// Who measures a signal.
public enum SignalSource: Sendable, Equatable {
    case battery, inverter
    /// Both are needed to judge it.
    case both
    /// A digital input, which not every unit has.
    case input
}

extension Signal {
    /// Every signal that a row may name, in the order of their numbers.
    public static let all: [Signal] = (UInt8(0)...UInt8.max).compactMap { Signal(rawValue: $0) }

    public init?(named word: String) {
        guard let found = Signal.all.first(where: { $0.word == word }) else { return nil }
        self = found
    }

    /// As a file names it.
    public var word: String { "\(name)" }

    /// The unit of its limits.
    public var limitUnit: LimitUnit {
        switch self {
        case .cellVoltageMax, .cellVoltageMin, .cellVoltageSpread, .packVoltage, .dcVoltage, .acVoltage:
            .volts
        case .cellTemperatureMax, .cellTemperatureMin: .celsius
        case .currentLimits: .amperes
        case .chargeCurrentRatio, .dischargeCurrentRatio, .chargeLoad, .dischargeLoad, .stateOfCharge,
            .batterySilence, .inverterSilence, .inputsSilence, .actuationError, .chargeVoltageRatio,
            .dischargeVoltageRatio, .dcVoltageError:
            .ratio
        case .batteryAlarm, .batteryWarning, .inverterFault, .inverterEvent, .permissions, .thermalRunaway,
            .contactorFeedback, .emergencyStopInput, .smokeInput, .gasInput, .doorInput, .breakerInput:
            .state
        case .temperatureRise, .temperatureRiseFast: .kelvinPerSecond
        case .insulation: .ohmsPerVolt
        }
    }

    /// Who measures it.
    public var source: SignalSource {
        switch self {
        case .cellVoltageMax, .cellVoltageMin, .cellVoltageSpread, .packVoltage, .cellTemperatureMax,
            .cellTemperatureMin, .currentLimits, .chargeCurrentRatio, .dischargeCurrentRatio, .chargeLoad,
            .dischargeLoad, .stateOfCharge, .batterySilence, .chargeVoltageRatio, .dischargeVoltageRatio,
            .batteryAlarm, .batteryWarning, .permissions, .thermalRunaway, .temperatureRise,
            .temperatureRiseFast, .insulation:
            .battery
        case .inverterSilence, .inverterFault, .inverterEvent, .actuationError, .dcVoltage, .acVoltage:
            .inverter
        case .dcVoltageError: .both
        case .contactorFeedback, .inputsSilence, .emergencyStopInput, .smokeInput, .gasInput, .doorInput,
            .breakerInput:
            .input
        }
    }

    /// Its value is the age of a device's readings ÷ their staleness budget.
    public var isSilence: Bool {
        self == .batterySilence || self == .inverterSilence || self == .inputsSilence
    }

    /// Fire, gas, a person's stop: contacts part what flows as soon as a zero has had its time to arrive.
    public var partsLoad: Bool {
        self == .emergencyStopInput || self == .smokeInput || self == .gasInput || self == .thermalRunaway
    }
}

extension InterlockID {
    /// Every name that a row may have; a latched trip is remembered by it. What stands in no table is
    /// missing.
    public static let ofRows: [InterlockID] = (UInt8(0)..<64).compactMap { InterlockID(rawValue: $0) }
        .filter { $0 != .latchRecord && $0 != .siteStop && $0 != .internalFault }

    /// - Parameter word: the name of any interlock, in a table or not.
    public init?(named word: String) {
        let found = (UInt8(0)..<64).lazy.compactMap { InterlockID(rawValue: $0) }.first { $0.word == word }
        guard let found else { return nil }
        self = found
    }

    /// As files and logs name it.
    public var word: String { "\(name)" }
}

extension UnitConfig {
    /// Whether the unit has what a row on `signal` needs; battery and inverter every unit has.
    public func isWired(_ signal: Signal) -> Bool {
        switch signal {
        case .contactorFeedback, .dcVoltageError: contactors != nil
        case .inputsSilence: ioModule?.inputs.isEmpty == false
        case .emergencyStopInput: ioModule?.has(.emergencyStop) == true
        case .smokeInput: ioModule?.has(.smoke) == true
        case .gasInput: ioModule?.has(.gas) == true
        case .doorInput: ioModule?.has(.door) == true
        case .breakerInput: ioModule?.has(.breaker) == true
        case .cellVoltageMax, .cellVoltageMin, .cellVoltageSpread, .packVoltage, .cellTemperatureMax,
            .cellTemperatureMin, .currentLimits, .chargeCurrentRatio, .dischargeCurrentRatio, .chargeLoad,
            .dischargeLoad, .stateOfCharge, .batterySilence, .chargeVoltageRatio, .dischargeVoltageRatio,
            .batteryAlarm, .batteryWarning, .permissions, .thermalRunaway, .temperatureRise,
            .temperatureRiseFast, .insulation, .inverterSilence, .inverterFault, .inverterEvent,
            .actuationError, .dcVoltage, .acVoltage:
            true
        }
    }
}
