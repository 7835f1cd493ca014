import Plant
import Quantities

extension UnitSignals {
    /// A signal and its limit as an operator reads them, in `Signal.shownSymbol`.
    public struct Shown: Sendable, BitwiseCopyable, Equatable {
        /// Of a word of bits the bits themselves; `nil` of a state, and of what cannot be read.
        public var value: Double?
        public var limit: Double?

        public init(value: Double? = nil, limit: Double? = nil) {
            self.value = value
            self.limit = limit
        }
    }

    /// - Parameter limit: in the signal's own unit.
    public func shown(_ signal: Signal, limit: Double?) -> Shown {
        switch signal {
        case .batteryAlarm: return Shown(value: word(image.battery.alarms, budget.battery) { $0.rawValue })
        case .batteryWarning:
            return Shown(value: word(image.battery.warnings, budget.battery) { $0.rawValue })
        case .inverterEvent: return Shown(value: word(image.inverter.events, budget.inverter) { $0 })
        case .inverterFault, .permissions, .thermalRunaway, .emergencyStopInput, .smokeInput, .gasInput,
            .doorInput, .breakerInput, .contactorFeedback:
            return Shown()
        case .cellVoltageMax, .cellVoltageMin, .cellTemperatureMax, .cellTemperatureMin, .packVoltage,
            .currentLimits, .cellVoltageSpread, .insulation, .dcVoltage, .acVoltage, .temperatureRise,
            .temperatureRiseFast:
            return number(signal, limit, 1)
        case .stateOfCharge: return number(signal, limit, 100)
        case .chargeCurrentRatio:
            return number(signal, limit, allowed(image.battery.chargeCurrentLimit, isDischarge: false))
        case .dischargeCurrentRatio:
            return number(signal, limit, allowed(image.battery.dischargeCurrentLimit, isDischarge: true))
        case .batterySilence: return number(signal, limit, budget.battery.seconds)
        case .inverterSilence:
            guard case .value(let value) = read(signal) else { return Shown() }
            return Shown(
                value: budget.inverterSeconds(at: value), limit: limit.map { budget.inverterSeconds(at: $0) })
        case .inputsSilence:
            guard case .value(let value) = read(signal) else { return Shown() }
            return Shown(
                value: budget.inputsSeconds(at: value), limit: limit.map { budget.inputsSeconds(at: $0) })
        case .chargeLoad, .dischargeLoad, .actuationError: return number(signal, limit, rating.kilowatts)
        case .chargeVoltageRatio: return number(signal, limit, volts(image.battery.chargeVoltageLimit))
        case .dischargeVoltageRatio: return number(signal, limit, volts(image.battery.dischargeVoltageLimit))
        case .dcVoltageError: return number(signal, limit, volts(image.battery.packVoltage))
        }
    }

    /// - Parameter scale: what one of the signal's own unit is; `nil` where that cannot be read.
    private func number(_ signal: Signal, _ limit: Double?, _ scale: Double?) -> Shown {
        guard let scale, case .value(let value) = read(signal) else { return Shown() }
        return Shown(value: value * scale, limit: limit.map { $0 * scale })
    }

    private func word<Value>(
        _ reading: Reading<Value>, _ limit: Duration, _ bits: (Value) -> UInt32
    ) -> Double? {
        reading.fresh(at: now, within: limit).map { Double(bits($0)) }
    }

    private func allowed(_ limit: Reading<Amperes>, isDischarge: Bool) -> Double? {
        limit.fresh(at: now, within: budget.battery)
            .map { allowance(over: $0.value, isDischarge: isDischarge) }
    }

    private func volts(_ reading: Reading<Volts>) -> Double? {
        reading.fresh(at: now, within: budget.battery)?.value
    }
}
