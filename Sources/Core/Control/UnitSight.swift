import Interlocks
import Plant
import PowerDispatch
import Quantities

/// What is seen of one unit: which of its readings count, for how long a device has been missing, and what a
/// memory makes of them.
struct UnitSight: Sendable, BitwiseCopyable {
    private let settings: UnitSettings
    private(set) var batterySilence = DeviceSilence()
    private(set) var inverterSilence = DeviceSilence()
    /// For how long somebody has looked and not seen all required readings of the device fresh; `nil` before
    /// they were fresh for the first time.
    var inverterSilentFor: Duration? { inverterSilence.lasting }
    private(set) var inputsSilentFor: Duration?
    /// Why the device does not count as heard; `nil` while it does.
    private(set) var missingBattery: MissingReading?
    private(set) var missingInverter: MissingReading?
    /// What the battery says in this cycle.
    private(set) var seen: SeenBattery?
    /// What the inverter was asked for, as it follows.
    var actuation: ActuationWatch
    /// For how long no power has been seen, without a break; at most as long as a reset asks for.
    var atZeroFor = Duration.zero
    private var thermal: ThermalWatch
    private var frozen: FrozenWatch

    init(_ settings: UnitSettings, heat: ThermalWatch.Heat) {
        self.settings = settings
        actuation = ActuationWatch(response: settings.inverterResponse)
        thermal = ThermalWatch(resolution: settings.temperatureResolution, heat: heat)
        frozen = FrozenWatch(limit: settings.frozenSamples)
    }

    /// Whether the battery itself says so, or the inverter: 2 % of the rating.
    private func isPowerFlowing(_ image: UnitImage, at now: MonotonicTime) -> Bool {
        let current = image.battery.packCurrent.fresh(at: now, within: settings.budget.battery)
        if let current, current.magnitude > settings.currentFloor { return true }
        let power = image.inverter.activePower.fresh(at: now, within: settings.budget.inverter)
        return power.map { $0.magnitude > settings.rating * 0.02 } ?? false
    }

    /// The current at full power.
    private func full(_ image: UnitImage, _ now: MonotonicTime) -> Amperes? {
        let pack = image.battery.packVoltage.fresh(at: now, within: settings.budget.battery)
        return pack.flatMap { $0 > .zero ? Amperes(settings.rating.value / $0.value) : nil }
    }

    /// Gives every signal its age: how long ago the device's required readings were all fresh.
    mutating func look(
        _ raw: UnitImage, _ contactors: inout ContactorControl, at now: MonotonicTime, after elapsed: Duration
    ) -> UnitSignals {
        let budget = settings.budget
        var image = raw
        image.battery = Plausible.battery(raw.battery, at: now, within: budget.battery)
        image.inverter.dcVoltage = Plausible.dcSide(raw.inverter.dcVoltage)
        let isLoaded = !settings.isFrozenUnderLoadOnly || isPowerFlowing(image, at: now)
        if frozen.isFrozen(
            image.battery, at: now, within: budget.battery, isLoaded: isLoaded, full: full(image, now))
        {
            image.battery.packCurrent = .bad(.frozen, since: now)
            image.battery.packVoltage = .bad(.frozen, since: now)
            image.battery.cellVoltageMax = .bad(.frozen, since: now)
            image.battery.cellVoltageMin = .bad(.frozen, since: now)
            image.battery.cellTemperatureMax = .bad(.frozen, since: now)
            image.battery.cellTemperatureMin = .bad(.frozen, since: now)
        }
        seen = SeenBattery(
            image.battery, at: now, within: budget.battery, hasAlarms: settings.hasBatteryAlarms)
        let isInverterFresh =
            image.inverter.activePower.fault(at: now, within: budget.inverter) == nil
            && image.inverter.state.fault(at: now, within: budget.inverter) == nil
        batterySilence.look(seen?.age, after: elapsed)
        inverterSilence.look(isInverterFresh ? Self.age(image.inverter, at: now) : nil, after: elapsed)
        learnMissing(image, isBatteryFresh: seen != nil, isInverterFresh: isInverterFresh, at: now)
        let areInputsFresh = Plausible.areFresh(
            image.inputs, settings.inputs, at: now, within: budget.inputs)
        inputsSilentFor = areInputsFresh ? .zero : inputsSilentFor.map { $0 + elapsed }
        contactors.look(
            image, at: now, within: budget, areInputsFresh: areInputsFresh,
            asked: actuation.last, after: elapsed)
        var signals = UnitSignals(
            image: image, now: now, budget: budget,
            batterySilence: batterySilence.ratio(budget.battery),
            inverterSilence: inverterSilence.ratio(budget.inverterGrace),
            inputsSilence: silence(inputsSilentFor, areInputsFresh, budget.inputsGrace),
            wired: settings.inputs,
            currentFloor: settings.currentFloor, rating: settings.rating,
            history: history(image, contactors, at: now))
        signals.hasBatteryAlarms = settings.hasBatteryAlarms
        signals.idle = settings.directCurrentLosses.idle
        return signals
    }

    /// Silent, refused or never said: what people are told must be true.
    private mutating func learnMissing(
        _ image: UnitImage, isBatteryFresh: Bool, isInverterFresh: Bool, at now: MonotonicTime
    ) {
        missingBattery = nil
        missingInverter = nil
        if !isBatteryFresh {
            let search = MissingReading.Search(
                .battery, at: now, within: settings.budget.battery, lasting: batterySilence.lasting)
            missingBattery = SeenBattery.missing(
                image.battery, hasAlarms: settings.hasBatteryAlarms, search)
        }
        batterySilence.judge(missingBattery?.fault, within: settings.budget.battery)
        if !isInverterFresh {
            var search = MissingReading.Search(
                .inverter, at: now, within: settings.budget.inverter, lasting: inverterSilentFor)
            search.look(image.inverter.activePower, .activePower)
            search.look(image.inverter.state, .state)
            search.hear(at: image.inverter.answeredAt)
            missingInverter = search.result
        }
        inverterSilence.judge(missingInverter?.fault, within: settings.budget.inverter)
    }

    /// The silence that judges counts one budget more than what is refused has lasted, less what the last
    /// sample would still have counted.
    func tellMissing(_ signal: Signal, in event: inout Event) {
        let (missing, budget, credit): (MissingReading?, Duration, Duration)
        switch signal {
        case .batterySilence:
            (missing, budget, credit) = (missingBattery, settings.budget.battery, batterySilence.credit)
        case .inverterSilence:
            (missing, budget, credit) = (missingInverter, settings.budget.inverter, inverterSilence.credit)
        case _: return
        }
        guard let missing else { return }
        event.missing = missing
        event.value = missing.lasting?.seconds
        guard missing.fault != .stale, let limit = event.limit else { return }
        event.limit = limit - (budget - credit).seconds
    }

    /// Of the oldest of what an inverter must say.
    private static func age(_ inverter: InverterImage, at now: MonotonicTime) -> Duration {
        max(inverter.activePower.age(at: now) ?? .zero, inverter.state.age(at: now) ?? .zero)
    }

    /// What the inverter says that it gives; `nil` = nobody knows.
    func delivered(_ image: UnitImage, at now: MonotonicTime) -> Watts? {
        image.inverter.activePower.fresh(at: now, within: settings.budget.inverter)
    }

    /// What the battery says that flows, at its terminals; positive = discharge. `nil` = nobody knows, or
    /// it is more than the inverter could ever give.
    func drawn(_ image: UnitImage, at now: MonotonicTime) -> Watts? {
        guard let current = image.battery.packCurrent.fresh(at: now, within: settings.budget.battery),
            let voltage = image.battery.packVoltage.fresh(at: now, within: settings.budget.battery)
        else { return nil }
        let power = voltage * current
        return power.magnitude <= settings.rating * 2 ? power : nil
    }

    /// The signals that need a memory.
    private mutating func history(
        _ image: UnitImage, _ contactors: ContactorControl, at now: MonotonicTime
    ) -> HistorySignals {
        var signals = HistorySignals()
        signals.contactorFeedback = contactors.feedback
        signals.dcVoltageError = contactors.dcVoltageError
        switch image.inverter.activePower.look(at: now, within: settings.budget.inverter) {
        case .value(let delivered, _):
            if settings.rating > .zero, let error = actuation.error(of: delivered, at: now) {
                signals.actuationError = .value(error / settings.rating)
            }
        case .fault(let fault): signals.actuationError = .missing(fault)
        }
        let limit = settings.budget.battery
        let hottest: Celsius
        let age: Duration
        switch image.battery.cellTemperatureMax.look(at: now, within: limit) {
        case .value(let value, let since):
            hottest = value
            age = since
        case .fault(let fault):
            signals.temperatureRise = .missing(fault)
            signals.temperatureRiseFast = .missing(fault)
            signals.thermalRunaway = .missing(fault)
            return signals
        }
        let weakest = image.battery.cellVoltageMin.fresh(at: now, within: limit)
        thermal.add(hottest, weakest, at: now - age)
        if let slow = thermal.slow { signals.temperatureRise = .value(slow) }
        if let fast = thermal.fast { signals.temperatureRiseFast = .value(fast) }
        if let isRunaway = thermal.isRunaway(hottest, weakest) {
            signals.thermalRunaway = .value(isRunaway ? 1 : 0)
        }
        return signals
    }

    /// Below 1 while fresh; from 1 upward once the budget is spent, 2 when it is spent twice.
    private func silence(_ time: Duration?, _ isFresh: Bool, _ budget: Duration) -> Double? {
        guard let time else { return nil }
        return isFresh ? 0 : 1 + time.seconds / budget.seconds
    }
}
