import Plant
import Quantities

/// A signal as an interlock sees it: a number it may use, or the fact that there is none.
public enum SignalReading: Sendable, BitwiseCopyable, Equatable {
    case value(Double)
    case missing(ReadingFault)
    /// Everything is there, but not yet for long enough to judge: no verdict, and nothing closes for it.
    case undecided
    /// The unit does not have it: there is nothing to judge.
    case notWired
}

/// How old a unit's readings may be: 3 × their nominal period + one control period.
public struct FreshnessBudget: Sendable, BitwiseCopyable {
    public var battery: Duration
    public var inverter: Duration
    /// Of the digital inputs.
    public var inputs: Duration
    /// An inverter that was not heard for so long is lost; twice its budget where nothing else is said. Power
    /// is closed at the budget all the same: only the latching waits for what the device does by itself.
    public var inverterLoss: Duration

    public init(
        battery: Duration, inverter: Duration, inputs: Duration = .zero, inverterLoss: Duration? = nil
    ) {
        self.inverterLoss = inverterLoss ?? inverter * 2
        self.battery = battery
        self.inverter = inverter
        self.inputs = inputs
    }

    /// When an inverter that is not heard is lost: it has had the time to go to zero by itself where that is
    /// proven, else a second; five seconds at most, and never before twice its budget.
    public static func inverterLoss(budget: Duration, reversion: Duration?) -> Duration {
        let own = reversion ?? .seconds(1)
        let bounded = own < .seconds(5) ? own : .seconds(5)
        return budget * 2 < bounded ? bounded : budget * 2
    }

    /// From the budget to the loss.
    public var inverterGrace: Duration { inverterLoss - inverter }

    /// From the budget of the digital inputs to their loss: twice the budget, and a second at least. Power is
    /// closed at the budget all the same; an answer that is lost latches nothing.
    public var inputsGrace: Duration { max(inputs, .seconds(1) - inputs) }

    /// The age at which the silence of the digital inputs has this ratio: their budget at 1, their loss at 2.
    func inputsSeconds(at ratio: Double) -> Double {
        ratio < 1 ? ratio * inputs.seconds : inputs.seconds + (ratio - 1) * inputsGrace.seconds
    }

    /// The age at which the silence of an inverter has this ratio: its budget at 1, its loss at 2.
    func inverterSeconds(at ratio: Double) -> Double {
        ratio < 1
            ? ratio * inverter.seconds : inverter.seconds + (ratio - 1) * inverterGrace.seconds
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
    /// Age of the device's oldest required reading ÷ its budget (of an inverter beyond 1: how far it is on
    /// its way from the budget to its loss at 2); `nil` before it was seen good for the first time.
    public var batterySilence: Double?
    public var inverterSilence: Double?
    public var inputsSilence: Double?
    /// The digital inputs that the unit has.
    public var wired: DigitalInputSet
    /// Currents below this count as no current, and current limits below it as this (A).
    public var currentFloor: Amperes
    /// Largest magnitude of the unit's power.
    public var rating: Watts
    public var history: HistorySignals
    /// `false`: the battery never sends alarms, and the site has accepted that.
    public var hasBatteryAlarms = true
    /// What the inverter draws from the battery without any power asked of it: no discharge that anybody
    /// could limit.
    public var idle = Watts.zero

    public init(
        image: UnitImage, now: MonotonicTime, budget: FreshnessBudget, batterySilence: Double?,
        inverterSilence: Double?, inputsSilence: Double? = nil, wired: DigitalInputSet = .none,
        currentFloor: Amperes, rating: Watts, history: HistorySignals = .init()
    ) {
        self.image = image
        self.now = now
        self.budget = budget
        self.batterySilence = batterySilence
        self.inverterSilence = inverterSilence
        self.inputsSilence = inputsSilence
        self.wired = wired
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
        case .batteryAlarm: hasBatteryAlarms ? alarm : .notWired
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
        case .emergencyStopInput: input(.emergencyStop)
        case .smokeInput: input(.smoke)
        case .gasInput: input(.gas)
        case .doorInput: input(.door)
        case .breakerInput: input(.breaker)
        case .contactorFeedback: history.contactorFeedback
        case .dcVoltageError: history.dcVoltageError
        case .inputsSilence: wired.isEmpty ? .notWired : silence(inputsSilence)
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
        case .discharging: return current > currentFloor + ownDraw
        }
    }

    /// What the inverter draws for itself.
    private var ownDraw: Amperes {
        guard let pack = image.battery.packVoltage.fresh(at: now, within: budget.battery), pack > .zero
        else { return .zero }
        return idle / pack
    }

    /// The reading as a number, or why there is none.
    func read<Value>(
        _ reading: Reading<Value>, within limit: Duration, as number: (Value) -> Double
    ) -> SignalReading {
        switch reading.look(at: now, within: limit) {
        case .value(let value, _): .value(number(value))
        case .fault(let fault): .missing(fault)
        }
    }

    func battery<Unit: Quantity>(_ reading: Reading<Unit>) -> SignalReading {
        read(reading, within: budget.battery) { $0.value }
    }

    func inverter<Unit: Quantity>(_ reading: Reading<Unit>) -> SignalReading {
        read(reading, within: budget.inverter) { $0.value }
    }

    private func currentRatio(sign: Double, limit: Reading<Amperes>) -> SignalReading {
        combine(battery(image.battery.packCurrent), battery(limit)) { current, allowed in
            let floor = allowance(over: allowed, isDischarge: sign > 0)
            return floor > 0 ? .value(sign * current / floor) : .missing(.implausible)
        }
    }

    /// The current that a limit is judged by: not below the sensor's own noise, and of a discharge with what
    /// the inverter draws for itself.
    func allowance(over limit: Double, isDischarge: Bool) -> Double {
        let floor = limit < currentFloor.value ? currentFloor.value : limit
        return isDischarge ? floor + ownDraw.value : floor
    }

    private var currentLimits: SignalReading {
        let charge = battery(image.battery.chargeCurrentLimit)
        let discharge = battery(image.battery.dischargeCurrentLimit)
        if case .missing = charge { return charge }
        return discharge
    }

    private var permissions: SignalReading {
        read(image.battery.permissions, within: budget.battery) { Double($0.rawValue) }
    }

    private var alarm: SignalReading {
        read(image.battery.alarms, within: budget.battery) { $0.isEmpty ? 0 : 1 }
    }

    private func input(_ wire: DigitalInput) -> SignalReading {
        guard wired.contains(wire) else { return .notWired }
        return read(image.inputs[wire], within: budget.inputs) { $0 ? 1 : 0 }
    }

    private func silence(_ ratio: Double?) -> SignalReading {
        if let ratio { return .value(ratio) }
        return .missing(.neverSeen)
    }

    private var inverterFault: SignalReading {
        read(image.inverter.state, within: budget.inverter) { $0 == .fault ? 1 : 0 }
    }
}
