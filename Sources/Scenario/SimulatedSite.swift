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
        var cutWire: DigitalInputConfig.Name?
        for fault in faults {
            switch fault {
            case .cellOverheat(let cell, let rate): battery.heating = (cell, rate)
            case .cellOvervoltage(let cell, let voltage), .cellUndervoltage(let cell, let voltage):
                battery.forcedVoltage = (cell, voltage)
            case .bmsAlarm, .bmsSilence, .bmsGarbage, .bmsFrozen, .bmsStuck, .bmsJitter, .bmsShortFrames,
                .bmsBadChecksum, .bmsBusOff, .inverterFault, .inverterSilence, .inverterKeepsPower,
                .inverterSlow, .inverterRefuses, .inverterHalfAnswers, .inverterWrongUnit, .inverterScale,
                .inverterStuck, .inverterDisobeys, .inverterReboot, .meterSilence, .pmuSilence,
                .emergencyStop, .smoke, .gas, .door, .contactorWeld, .contactorRefuses, .ioSilence:
                break
            case .wireBreak(let input): cutWire = input
            }
        }
        management.isSystemErrorForced = has(.bmsAlarm)
        inverter.isFaultForced = has(.inverterFault)
        inverter.stubbornPower =
            has(.inverterDisobeys) ? inverter.stubbornPower ?? inverter.activePower : nil
        inverter.isDown = has(.inverterReboot)
        inverter.isReversionBroken = has(.inverterKeepsPower)
        module?.cutWire = cutWire
        let (isWelded, refuses) = (has(.contactorWeld), has(.contactorRefuses))
        contactors?.isWelded = isWelded
        contactors?.refusesToClose = refuses
        management.keepsContactorsOpen = refuses && contactors == nil
    }

    public mutating func advance(by step: Duration) {
        management.watch(&battery)
        module?.advance(by: step)
        let charging = advanceContactors(by: step)
        inverter.advance(
            by: step, isBatteryConnected: isBatteryConnected, waitsForBattery: contactors != nil)
        battery.advance(power: isBatteryConnected ? inverter.dcPower : charging, by: step)
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
    public var isMeterSilent = false
    public var isPhasorSilent = false
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
        for event in scenario.faults {
            if let unit = event.unit, !units.contains(where: { $0.id == unit }) {
                throw UnknownUnit(id: unit)
            }
        }
        self.units = units
        self.scenario = scenario
        self.profile = profile
    }

    /// Lets the scenario run; a second call changes nothing.
    public mutating func start() {
        if scenarioTime == nil { scenarioTime = .zero }
    }

    /// The grid's frequency now. Before the start the profile's value at `start_at_s` stands.
    public var frequency: Hertz {
        if let frequencyOverride { return frequencyOverride }
        let profileTime = scenario.startAt + (scenarioTime ?? .zero)
        guard let end = scenario.endAt, profileTime > end else { return profile.frequency(at: profileTime) }
        return profile.frequency(at: end)
    }

    /// At the point of connection; positive = the site injects. The site has no other load.
    public var meterPower: Watts { units.reduce(.zero) { $0 + $1.inverter.activePower } }

    public func index(of unit: String) -> Int? { units.firstIndex { $0.id == unit } }

    public mutating func advance(by step: Duration) {
        time += step
        if let before = scenarioTime {
            scenarioTime = before + step
            playEvents(until: before + step)
        }
        for index in units.indices { units[index].advance(by: step) }
    }

    private mutating func playEvents(until now: Duration) {
        while nextEvent < scenario.faults.count, scenario.faults[nextEvent].at <= now {
            let event = scenario.faults[nextEvent]
            nextEvent += 1
            add(event.fault, unit: event.unit.flatMap { index(of: $0) })
        }
    }

    /// - Parameter unit: index of the unit; a fault that concerns a unit does nothing without one.
    public mutating func add(_ fault: Fault, unit: Int?) {
        if fault == .meterSilence { isMeterSilent = true }
        if fault == .pmuSilence { isPhasorSilent = true }
        guard fault.kind.concernsUnit, let unit else { return }
        units[unit].add(fault)
    }

    public mutating func clear(_ kind: Fault.Kind, unit: Int?) {
        if kind == .meterSilence { isMeterSilent = false }
        if kind == .pmuSilence { isPhasorSilent = false }
        guard kind.concernsUnit, let unit else { return }
        units[unit].clear(kind)
    }
}
