import Plant
import Quantities

/// A signal as an interlock sees it: a number it may use, or the fact that there is none.
public enum SignalReading: Sendable, BitwiseCopyable, Equatable {
    case value(Double)
    case missing(ReadingFault)
    /// Everything is there, but not yet for long enough to judge: no verdict, and nothing closes for it.
    case undecided
}

/// How old a unit's readings may be: 3 × their nominal period + one control period.
public struct FreshnessBudget: Sendable, BitwiseCopyable {
    public var battery: Duration
    public var inverter: Duration

    public init(battery: Duration, inverter: Duration) {
        self.battery = battery
        self.inverter = inverter
    }

    /// The one rule for staleness.
    public static func budget(nominalPeriod: Duration, controlPeriod: Duration) -> Duration {
        .nanoseconds(3 * nominalPeriod.nanoseconds + controlPeriod.nanoseconds)
    }
}

/// One unit's signals at one instant, qualified: whatever is too old, implausible or never seen is missing.
public struct UnitSignals: Sendable, BitwiseCopyable {
    public var image: UnitImage
    public var now: MonotonicTime
    public var budget: FreshnessBudget
    /// Age of the device's oldest required reading ÷ its budget; `nil` before it was seen good for the first
    /// time.
    public var batterySilence: Double?
    public var inverterSilence: Double?
    /// Currents below this count as no current, and current limits below it as this (A).
    public var currentFloor: Amperes
    /// Largest magnitude of the unit's power.
    public var rating: Watts
    public var history: HistorySignals

    public init(
        image: UnitImage, now: MonotonicTime, budget: FreshnessBudget, batterySilence: Double?,
        inverterSilence: Double?, currentFloor: Amperes, rating: Watts, history: HistorySignals = .init()
    ) {
        self.image = image
        self.now = now
        self.budget = budget
        self.batterySilence = batterySilence
        self.inverterSilence = inverterSilence
        self.currentFloor = currentFloor
        self.rating = rating
        self.history = history
    }

    public func read(_ signal: Signal) -> SignalReading {
        switch signal {
        case .cellVoltageMax: battery(image.battery.cellVoltageMax)
        case .cellVoltageMin: battery(image.battery.cellVoltageMin)
        case .cellTemperatureMax: battery(image.battery.cellTemperatureMax)
        case .cellTemperatureMin: battery(image.battery.cellTemperatureMin)
        case .packVoltage: battery(image.battery.packVoltage)
        case .stateOfCharge: battery(image.battery.stateOfCharge)
        case .chargeCurrentRatio: currentRatio(sign: -1, limit: image.battery.chargeCurrentLimit)
        case .dischargeCurrentRatio: currentRatio(sign: 1, limit: image.battery.dischargeCurrentLimit)
        case .currentLimits: currentLimits
        case .permissions: permissions
        case .batteryAlarm: alarm
        case .batterySilence: silence(batterySilence)
        case .inverterSilence: silence(inverterSilence)
        case .inverterFault: inverterFault
        case .cellVoltageSpread: spread
        case .chargeLoad: load(sign: -1)
        case .dischargeLoad: load(sign: 1)
        case .chargeVoltageRatio: packRatio(to: image.battery.chargeVoltageLimit)
        case .dischargeVoltageRatio: packRatio(to: image.battery.dischargeVoltageLimit)
        case .insulation: insulation
        case .batteryWarning: warning
        case .inverterEvent: inverterEvent
        case .dcVoltage: inverter(image.inverter.dcVoltage)
        case .acVoltage: inverter(image.inverter.acVoltage)
        case .actuationError: history.actuationError
        case .temperatureRise: history.temperatureRise
        case .temperatureRiseFast: history.temperatureRiseFast
        case .thermalRunaway: history.thermalRunaway
        }
    }

    /// Whether current surely flows that way. An unknown current counts as flowing: unknown is never healthy.
    func flows(_ condition: InterlockRow.Condition) -> Bool {
        guard let current = image.battery.packCurrent.fresh(at: now, within: budget.battery) else {
            return true
        }
        switch condition {
        case .always: return true
        case .charging: return current < -currentFloor
        case .discharging: return current > currentFloor
        }
    }

    func battery<Unit: Quantity>(_ reading: Reading<Unit>) -> SignalReading {
        if let quantity = reading.fresh(at: now, within: budget.battery) { return .value(quantity.value) }
        return .missing(reading.fault(at: now, within: budget.battery) ?? .stale)
    }

    private func currentRatio(sign: Double, limit: Reading<Amperes>) -> SignalReading {
        guard let current = image.battery.packCurrent.fresh(at: now, within: budget.battery) else {
            return .missing(image.battery.packCurrent.fault(at: now, within: budget.battery) ?? .stale)
        }
        guard let allowed = limit.fresh(at: now, within: budget.battery) else {
            return .missing(limit.fault(at: now, within: budget.battery) ?? .stale)
        }
        let floor = allowed < currentFloor ? currentFloor : allowed
        guard floor > .zero else { return .missing(.implausible) }
        return .value(sign * current.value / floor.value)
    }

    private var currentLimits: SignalReading {
        let charge = battery(image.battery.chargeCurrentLimit)
        let discharge = battery(image.battery.dischargeCurrentLimit)
        if case .missing = charge { return charge }
        return discharge
    }

    private var permissions: SignalReading {
        if let allowed = image.battery.permissions.fresh(at: now, within: budget.battery) {
            return .value(Double(allowed.rawValue))
        }
        return .missing(image.battery.permissions.fault(at: now, within: budget.battery) ?? .stale)
    }

    private var alarm: SignalReading {
        if let alarms = image.battery.alarms.fresh(at: now, within: budget.battery) {
            return .value(alarms.isEmpty ? 0 : 1)
        }
        return .missing(image.battery.alarms.fault(at: now, within: budget.battery) ?? .stale)
    }

    private func silence(_ ratio: Double?) -> SignalReading {
        if let ratio { return .value(ratio) }
        return .missing(.neverSeen)
    }

    private var inverterFault: SignalReading {
        guard let state = image.inverter.state.fresh(at: now, within: budget.inverter) else {
            return .missing(image.inverter.state.fault(at: now, within: budget.inverter) ?? .stale)
        }
        return .value(state == .fault ? 1 : 0)
    }
}
