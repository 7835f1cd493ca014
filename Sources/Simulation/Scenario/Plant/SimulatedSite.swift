import Plant
import Quantities
import SiteConfig

/// A battery, its BMS and its inverter.
public struct SimulatedUnit: Sendable {
    public let id: String
    public var battery: BatteryModel
    public var management = BatteryManagement()
    public var inverter: InverterModel
    /// `nil` where the unit has none.
    public var module: IOModuleModel?
    /// `nil` where the battery owns its contactors.
    public private(set) var contactors: ContactorModel?
    /// In the order in which they came; at most one of each kind.
    public private(set) var faults: [Fault] = []
    /// The largest current that contacts have parted so far which others command: a magnitude.
    public private(set) var partedCurrent: Amperes = .zero
    private var untilForeignWrite = Duration.zero
    /// Contacts that have parted since `takePartings()`.
    private var partings: [Parting] = []

    /// - Parameter module: where it drives a main contactor, the unit has contactors of its own.
    public init(
        id: String, battery: BatteryModel, inverter: InverterModel, module: IOModuleModel? = nil
    ) {
        self.id = id
        self.module = module
        contactors = module?.settings.drives(.mainContactor) == true ? ContactorModel() : nil
        self.battery = battery
        self.inverter = inverter
    }

    public func has(_ kind: Fault.Kind) -> Bool { faults.contains { $0.kind == kind } }

    public mutating func add(_ fault: Fault) {
        faults.removeAll { $0.kind == fault.kind }
        faults.append(fault)
        apply()
    }

    /// Takes the fault away and, as a person on site would, resets what the BMS has latched.
    public mutating func clear(_ kind: Fault.Kind) {
        faults.removeAll { $0.kind == kind }
        management.clear()
        apply()
    }

    private mutating func apply() {
        battery.heating = nil
        battery.forcedVoltage = nil
        battery.forcedTemperature = nil
        battery.forcedCharge = nil
        management.forcedLimits = nil
        management.forcedChargeVoltage = nil
        var cutWire: DigitalInput?
        for fault in faults {
            switch fault {
            case .cellOverheat(let cell, let rate): battery.heating = (cell, rate)
            case .cellOvervoltage(let cell, let voltage), .cellUndervoltage(let cell, let voltage):
                battery.forcedVoltage = (cell, voltage)
            case .cellTemperature(let cell, let temperature): battery.forcedTemperature = (cell, temperature)
            case .bmsCharge(let charge): battery.forcedCharge = charge
            case .bmsLimits(let charge, let discharge): management.forcedLimits = (charge, discharge)
            case .bmsChargeVoltage(let voltage): management.forcedChargeVoltage = voltage
            case .wireBreak(let input): cutWire = input
            case _: break
            }
        }
        management.isSystemErrorForced = has(.bmsAlarm)
        inverter.foundRating = nil
        for case .inverterNameplate(let power) in faults { inverter.foundRating = power }
        inverter.isFaultForced = has(.inverterFault)
        inverter.stubbornPower =
            has(.inverterDisobeys) ? inverter.stubbornPower ?? inverter.activePower : nil
        inverter.isReversed = has(.inverterReversed)
        inverter.isDown = has(.inverterReboot)
        inverter.isReversionBroken = has(.inverterKeepsPower)
        module?.cutWire = cutWire
        let (isWelded, refuses) = (has(.contactorWeld), has(.contactorRefuses))
        contactors?.isWelded = isWelded
        contactors?.refusesToClose = refuses
        management.keepsContactorsOpen = refuses && contactors == nil
    }

    public mutating func advance(by step: Duration) {
        let wasConnected = isBatteryConnected
        if let module, module.settings.drives(.permit) { management.isPermitted = module.isOn(.permit) }
        management.watch(&battery)
        writeAsForeigner(after: step)
        module?.advance(by: step)
        let charging = advanceContactors(by: step)
        if wasConnected && !isBatteryConnected { part() }
        inverter.advance(
            by: step, isBatteryConnected: isBatteryConnected,
            waitsForBattery: contactors != nil || management.isPermitted != nil)
        battery.advance(power: isBatteryConnected ? inverter.dcPower : charging, by: step)
    }

    /// A main contact has parted the current that flowed in the step before.
    private mutating func part() {
        let cause: Parting.Cause =
            if battery.isContactorClosed { .coil } else if !management.protections.isEmpty {
                .protection
            } else if management.keepsContactorsOpen { .fault } else { .permit }
        partings.append(Parting(current: battery.current, cause: cause))
        if cause == .coil || cause == .permit {
            partedCurrent = max(partedCurrent, battery.current.magnitude)
        }
    }

    /// What has parted since the last call.
    public mutating func takePartings() -> [Parting] {
        defer { partings = [] }
        return partings
    }

    /// Whether one of its wires says that waiting is worse than opening under load.
    public var hasEmergency: Bool { has(.emergencyStop) || has(.smoke) || has(.gas) }

    private mutating func writeAsForeigner(after step: Duration) {
        guard
            case .inverterForeignWrites(let power)? = faults.first(where: {
                $0.kind == .inverterForeignWrites
            })
        else { return untilForeignWrite = .zero }
        untilForeignWrite -= step
        guard untilForeignWrite <= .zero else { return }
        untilForeignWrite = .seconds(1)
        inverter.setpoint.write(power)
        inverter.setpoint.enable()
    }

    /// Whether current can flow between battery and inverter.
    public var isBatteryConnected: Bool {
        battery.isContactorClosed && contactors.map(\.isMainClosed) ?? true
    }

    /// At the inverter's DC terminals.
    public var dcVoltage: Volts { contactors.map(\.dcVoltage) ?? battery.packVoltage }

    private mutating func advanceContactors(by step: Duration) -> Watts {
        guard let module, contactors != nil else { return .zero }
        contactors?.drive(main: module.isOn(.mainContactor), precharge: module.isOn(.prechargeContactor))
        let pack = battery.isContactorClosed ? battery.packVoltage : .zero
        return contactors?.advance(by: step, pack: pack) ?? .zero
    }

    /// The levels on the module's inputs.
    public var inputLevels: (first: UInt16, levels: [Bool])? {
        module?.inputs { name in
            switch name {
            case .emergencyStop: has(.emergencyStop)
            case .smoke: has(.smoke)
            case .gas: has(.gas)
            case .door: has(.door)
            // It opens by a cut wire.
            case .breaker: false
            case .mainContactor: contactors?.isMainClosed ?? battery.isContactorClosed
            case .prechargeContactor: contactors?.isPrechargeClosed ?? false
            }
        }
    }
}

/// The whole plant of one site: units, grid and the scenario that plays on it. The same seed and the same
/// calls give the same numbers.
public struct SimulatedSite: Sendable {
    public var units: [SimulatedUnit]
    public let scenario: Scenario
    public let profile: FrequencyProfile
    /// Since the simulation began.
    public private(set) var time: Duration = .zero
    /// Since `start()`; `nil` before it. The scenario's `at_s` counts on it.
    public private(set) var scenarioTime: Duration?
    /// Stands in for the profile while it is set.
    public var frequencyOverride: Hertz?
    /// Faults that concern no unit; at most one of each kind.
    public private(set) var faults: [Fault] = []
    /// What everything else behind the meter draws.
    public var load: Watts { ownLoad - (rival?.place == .site ? rival?.power ?? .zero : .zero) }
    private var ownLoad: Watts = .zero
    /// Another machine that acts on what the site acts on.
    public private(set) var rival: RivalModel?
    /// `nil` = the grid's frequency is what the profile says, whatever the site does.
    public private(set) var grid: GridModel?
    /// What the meter showed when it froze.
    private var frozen: MeterView?
    private var nextEvent = 0

    /// A fault names a unit that the site does not have.
    public struct UnknownUnit: Error, Equatable, CustomStringConvertible {
        public var id: String
        public var description: String { "the site has no unit '\(id)'" }
    }

    /// Units as the site's configuration rates them, with cells drawn from the scenario's seed.
    public init(
        site: SiteConfig, scenario: Scenario, profile: FrequencyProfile
    ) throws(UnknownUnit) {
        var random = SplitMix64(seed: scenario.seed)
        let units = site.units.map { unit in
            let specification = BatterySpecification(
                capacity: unit.capacity, cellCount: scenario.cellCount, maxPower: unit.maxPower,
                stateOfCharge: scenario.initialStateOfCharge, ambient: scenario.ambient)
            return SimulatedUnit(
                id: unit.id, battery: BatteryModel(specification, random: &random),
                inverter: InverterModel(ratedPower: unit.maxPower),
                module: unit.ioModule.map { IOModuleModel($0) })
        }
        try self.init(units: units, scenario: scenario, profile: profile)
    }

    public init(
        units: [SimulatedUnit], scenario: Scenario, profile: FrequencyProfile
    ) throws(UnknownUnit) {
        for unit in scenario.unitNames where !units.contains(where: { $0.id == unit }) {
            throw UnknownUnit(id: unit)
        }
        self.units = units
        self.scenario = scenario
        self.profile = profile
        grid = scenario.grid
        rival = scenario.rival
    }

    /// Lets the scenario run; a second call changes nothing.
    public mutating func start() {
        if scenarioTime == nil { scenarioTime = .zero }
    }

    /// The grid's frequency now. Before the start the profile's value at `start_at_s` stands.
    public var frequency: Hertz { undisturbed + (grid?.deviation ?? .zero) }

    /// What it would be without what flows.
    private var undisturbed: Hertz {
        if let frequencyOverride { return frequencyOverride }
        let profileTime = scenario.startAt + (scenarioTime ?? .zero)
        guard let end = scenario.endAt, profileTime > end else { return profile.frequency(at: profileTime) }
        return profile.frequency(at: end)
    }

    /// At the point of connection as it is, share of nominal.
    public var gridVoltage: Fraction { has(.gridLoss) ? .zero : Fraction(1) }

    /// At the point of connection; positive = the site injects.
    public var meterPower: Watts { units.reduce(.zero) { $0 + $1.inverter.activePower } - load }

    /// Whether something is wrong that concerns no unit.
    public var hasFault: Bool { !faults.isEmpty }
    public var isMeterSilent: Bool { has(.meterSilence) }
    public var isMeterFrozen: Bool { has(.meterFrozen) }
    public var isPhasorSilent: Bool { has(.pmuSilence) }
    private func has(_ kind: Fault.Kind) -> Bool { faults.contains { $0.kind == kind } }

    public func index(of unit: String) -> Int? { units.firstIndex { $0.id == unit } }

    public mutating func advance(by step: Duration) {
        time += step
        if let before = scenarioTime {
            scenarioTime = before + step
            playEvents(until: before + step)
        }
        for index in units.indices { units[index].advance(by: step) }
        guard scenarioTime != nil else { return }
        let (meter, frequency, nominal) = (meterPower, frequency, undisturbed)
        rival?.advance(meter: meter, frequency: frequency, by: step)
        let flowing = meterPower + (rival?.place == .grid ? rival?.power ?? .zero : .zero)
        grid?.advance(site: flowing, nominal: nominal, by: step)
    }

    private mutating func playEvents(until now: Duration) {
        while nextEvent < scenario.steps.count, scenario.steps[nextEvent].at <= now {
            let step = scenario.steps[nextEvent]
            nextEvent += 1
            switch step.action {
            case .fault(let fault, let unit): add(fault, unit: unit.flatMap { index(of: $0) })
            case .clear(let kind, let unit): clear(kind, unit: unit.flatMap { index(of: $0) })
            case .frequency(let frequency): frequencyOverride = frequency
            // The runner's part.
            case .siteLoad(let power): ownLoad = power
            case .gridLoad(let power): grid?.surplusLoad = power
            case .machine, .command, .daemon, .run: break
            }
        }
    }

    /// - Parameter unit: index of the unit; a fault that concerns a unit does nothing without one.
    public mutating func add(_ fault: Fault, unit: Int?) {
        guard fault.kind.concernsUnit else {
            if fault == .meterFrozen, frozen == nil { frozen = meter }
            faults.removeAll { $0.kind == fault.kind }
            faults.append(fault)
            return applyGrid()
        }
        if let unit { units[unit].add(fault) }
    }

    public mutating func clear(_ kind: Fault.Kind, unit: Int?) {
        guard kind.concernsUnit else {
            faults.removeAll { $0.kind == kind }
            if kind == .meterFrozen { frozen = nil }
            return applyGrid()
        }
        if let unit { units[unit].clear(kind) }
    }

    private mutating func applyGrid() {
        for index in units.indices { units[index].inverter.isGridLost = has(.gridLoss) }
    }

    // MARK: What is measured

    /// What the grid meter shows.
    public struct MeterView: Sendable, Equatable {
        public var frequency: Hertz
        public var power: Watts
        /// Share of nominal.
        public var voltage: Fraction
        /// It shows "not a number".
        public var isBlind: Bool
    }

    public var meter: MeterView {
        if let frozen { return frozen }
        let isLost = has(.gridLoss)
        var view = MeterView(
            frequency: isLost ? .zero : frequency, power: meterPower, voltage: isLost ? .zero : Fraction(1),
            isBlind: has(.meterNotAvailable))
        for fault in faults {
            switch fault {
            case .meterOffset(let offset): view.frequency += offset
            case .meterReversed: view.power = -view.power
            case .meterCoarse(let step):
                view.frequency = Hertz((view.frequency.value / step.value).rounded() * step.value)
            case .meterOutlier(let value) where time.nanoseconds % 1_000_000_000 < 30_000_000:
                view.frequency = value
            case _: break
            }
        }
        return view
    }

    /// What an inverter measures at its terminals, which is the grid's.
    public var terminals: (frequency: Hertz, voltage: Fraction) {
        has(.gridLoss) ? (.zero, .zero) : (frequency, Fraction(1))
    }

    /// What a PMU shows.
    public var phasorFrequency: Hertz {
        if has(.gridLoss) { return .zero }
        for case .pmuOffset(let offset) in faults { return frequency + offset }
        return frequency
    }
}
