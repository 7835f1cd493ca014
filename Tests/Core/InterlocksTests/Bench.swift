import InterlockSupport
import Interlocks
import Plant
import Quantities

/// One interlock bank with the shipped LFP table, and a unit that is well until a test says otherwise.
struct Bench {
    static let period = Duration.milliseconds(20)
    static let budget = FreshnessBudget(
        battery: .milliseconds(320), inverter: .milliseconds(320), inputs: .milliseconds(170))
    static let currentLimit = Amperes(100)

    var bank = InterlockBank()
    var table = InterlockTable.lithiumIronPhosphate
    var now = MonotonicTime(nanoseconds: 10_000_000_000)
    var batterySilence: Double? = 0
    var inverterSilence: Double? = 0
    var inputsSilence: Double? = 0
    var wired: DigitalInputSet = [.emergencyStop, .smoke, .gas, .door, .breaker, .mainContactor]
    var history = HistorySignals()

    /// One period passes; `change` spoils the image of a healthy unit.
    mutating func step(
        after elapsed: Duration = Bench.period,
        _ change: (inout UnitImage, MonotonicTime) -> Void = { _, _ in }
    ) -> InterlockBank.Verdict {
        now = now + elapsed
        var image = Self.healthy(at: now)
        change(&image, now)
        let signals = UnitSignals(
            image: image, now: now, budget: Self.budget, batterySilence: batterySilence,
            inverterSilence: inverterSilence, inputsSilence: inputsSilence, wired: wired,
            currentFloor: Amperes(2), rating: .kilowatts(80), history: history)
        return bank.evaluate(table.rows.span.extracting(first: table.count), of: signals, after: elapsed)
    }

    /// One period with one signal at `value` and the given battery current.
    mutating func step(_ signal: Signal, _ value: Double, current: Amperes? = Amperes(0))
        -> InterlockBank.Verdict
    {
        if signal == .batterySilence { batterySilence = value }
        if signal == .inverterSilence { inverterSilence = value }
        if signal == .inputsSilence { inputsSilence = value }
        if signal == .contactorFeedback { history.contactorFeedback = .value(value) }
        if signal == .dcVoltageError { history.dcVoltageError = .value(value) }
        if signal == .actuationError { history.actuationError = .value(value) }
        if signal == .temperatureRise { history.temperatureRise = .value(value) }
        if signal == .temperatureRiseFast { history.temperatureRiseFast = .value(value) }
        if signal == .thermalRunaway { history.thermalRunaway = .value(value) }
        return step { image, now in
            image.battery.packCurrent = current.map { .good($0, at: now) } ?? .bad(.implausible, since: now)
            Self.set(signal, to: value, in: &image, at: now)
        }
    }

    /// The same for as many periods as `duration` has; whether anything tripped.
    mutating func hold(
        _ signal: Signal, _ value: Double, current: Amperes? = Amperes(0), for duration: Duration
    )
        -> Bool
    {
        var hasTripped = false
        for _ in 0..<(duration.nanoseconds / Self.period.nanoseconds) {
            let verdict = step(signal, value, current: current)
            hasTripped = hasTripped || !verdict.tripped.isEmpty
        }
        return hasTripped
    }

    static func healthy(at now: MonotonicTime) -> UnitImage {
        var image = UnitImage()
        image.battery.cellVoltageMax = .good(Volts(3.32), at: now)
        image.battery.cellVoltageMin = .good(Volts(3.30), at: now)
        image.battery.cellTemperatureMax = .good(Celsius(26), at: now)
        image.battery.cellTemperatureMin = .good(Celsius(24), at: now)
        image.battery.packVoltage = .good(Volts(800), at: now)
        image.battery.packCurrent = .good(Amperes(0), at: now)
        image.battery.stateOfCharge = .good(Fraction(0.5), at: now)
        image.battery.chargeCurrentLimit = .good(currentLimit, at: now)
        image.battery.dischargeCurrentLimit = .good(currentLimit, at: now)
        image.battery.alarms = .good(.none, at: now)
        image.inverter.activePower = .good(Watts(0), at: now)
        image.inverter.state = .good(.running, at: now)
        image.inputs[.emergencyStop] = .good(false, at: now)
        image.inputs[.smoke] = .good(false, at: now)
        image.inputs[.gas] = .good(false, at: now)
        image.inputs[.door] = .good(false, at: now)
        image.inputs[.breaker] = .good(false, at: now)
        image.inputs[.mainContactor] = .good(false, at: now)
        return image
    }

    private static func set(
        _ signal: Signal, to value: Double, in image: inout UnitImage, at now: MonotonicTime
    ) {
        switch signal {
        case .cellVoltageMax:
            image.battery.cellVoltageMax = .good(Volts(value), at: now)
            image.battery.cellVoltageMin = .good(Volts(value - 0.02), at: now)
        case .cellVoltageMin:
            image.battery.cellVoltageMin = .good(Volts(value), at: now)
            image.battery.cellVoltageMax = .good(Volts(value + 0.02), at: now)
        case .cellTemperatureMax: image.battery.cellTemperatureMax = .good(Celsius(value), at: now)
        case .cellTemperatureMin: image.battery.cellTemperatureMin = .good(Celsius(value), at: now)
        case .chargeCurrentRatio: image.battery.packCurrent = .good(currentLimit * -value, at: now)
        case .dischargeCurrentRatio: image.battery.packCurrent = .good(currentLimit * value, at: now)
        case .batteryAlarm: image.battery.alarms = .good(value > 0 ? .voltageHigh : .none, at: now)
        case .inverterFault: image.inverter.state = .good(value > 0 ? .fault : .running, at: now)
        case .cellVoltageSpread:
            image.battery.cellVoltageMax = .good(Volts(3.4), at: now)
            image.battery.cellVoltageMin = .good(Volts(3.4 - value), at: now)
        case .chargeLoad: image.battery.packCurrent = .good(Amperes(-100 * value), at: now)
        case .dischargeLoad: image.battery.packCurrent = .good(Amperes(100 * value), at: now)
        case .chargeVoltageRatio: image.battery.chargeVoltageLimit = .good(Volts(800 / value), at: now)
        case .dischargeVoltageRatio: image.battery.dischargeVoltageLimit = .good(Volts(800 / value), at: now)
        case .batteryWarning: image.battery.warnings = .good(value > 0 ? .imbalance : .none, at: now)
        case .inverterEvent: image.inverter.events = .good(UInt32(value), at: now)
        case .insulation: image.battery.insulation = .good(Ohms(800 * value), at: now)
        case .emergencyStopInput: image.inputs[.emergencyStop] = .good(value > 0, at: now)
        case .smokeInput: image.inputs[.smoke] = .good(value > 0, at: now)
        case .gasInput: image.inputs[.gas] = .good(value > 0, at: now)
        case .doorInput: image.inputs[.door] = .good(value > 0, at: now)
        case .breakerInput: image.inputs[.breaker] = .good(value > 0, at: now)
        case .inputsSilence, .contactorFeedback, .dcVoltageError, .batterySilence, .inverterSilence,
            .packVoltage,
            .stateOfCharge, .currentLimits, .permissions,
            .dcVoltage, .acVoltage, .actuationError, .temperatureRise, .temperatureRiseFast, .thermalRunaway:
            break
        }
    }
}
