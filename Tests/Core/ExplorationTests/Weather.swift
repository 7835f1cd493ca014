import Plant
import Quantities

/// What one unit looks like in one cycle: what its devices say, or do not say.
enum Weather: UInt8, Sendable {
    case good
    /// Within the derating range, and past the trip limit.
    case highCell, overvoltage
    case lowCell, undervoltage
    case hot
    case inverterFault
    case alarm
    case warned
    /// A signal that not every device has, seen good and seen bad; in every other weather it is missing.
    case insulated, leaking
    case voltageMissing, temperatureMissing, currentMissing, alarmMissing, inverterMissing
    /// The device is silent: its last readings stand and are too old.
    case batteryLost, inverterLost, allLost, inputsLost
    /// The inverter delivers, whatever it is asked for.
    case loaded
    /// Somebody has pressed the emergency stop.
    case emergencyPressed
    /// The DC side keeps its voltage, stays without any, or nobody measures it.
    case dcLive, dcDead, dcUnknown
    /// The auxiliary contact says the opposite of the command.
    case feedbackWrong

    static let budget = Duration.milliseconds(40)

    private static let batteryMissing: Set<Weather> = [
        .voltageMissing, .temperatureMissing, .currentMissing, .alarmMissing, .batteryLost, .allLost,
    ]
    private static let inverterGone: Set<Weather> = [.inverterMissing, .inverterLost, .allLost]

    var isBatteryMissing: Bool { Self.batteryMissing.contains(self) }
    var isInverterMissing: Bool { Self.inverterGone.contains(self) }
    /// Some reading that power needs is missing or stale.
    func isRequiredMissing(in unit: Int) -> Bool {
        isBatteryMissing || isInverterMissing || areInputsMissing(in: unit)
    }
    func areInputsMissing(in unit: Int) -> Bool {
        self == .inputsLost && SiteSpecification.isDriven(unit)
    }
    /// The current is zero, and somebody sees it.
    var isCurrentZero: Bool {
        self != .loaded && self != .currentMissing && self != .batteryLost && self != .allLost
    }
    /// The insulation monitor says something.
    var isInsulationSeen: Bool { self == .insulated || self == .leaking }
    /// The DC side is seen to be without voltage while the contactors are open.
    var isDischargeSeen: Bool { self != .dcLive && self != .dcUnknown && !isDCOld }
    /// The DC side is seen to be charged while precharging.
    var isChargeSeen: Bool { self != .dcDead && self != .dcUnknown && !isDCOld && !isPackVoltageOld }
    private var isDCOld: Bool { self == .inverterLost || self == .allLost }
    private var isPackVoltageOld: Bool { self == .batteryLost || self == .allLost }

    /// The row whose trip limit is passed.
    func passed(in unit: Int) -> InterlockID? {
        switch self {
        case .overvoltage: .cellOvervoltage
        case .undervoltage: .cellUndervoltage
        case .hot: .cellOvertemperatureDischarge
        case .inverterFault: .inverterFault
        case .alarm: .batteryAlarm
        case .leaking: .insulation
        case .emergencyPressed: SiteSpecification.isDriven(unit) ? .emergencyStop : nil
        case .good, .highCell, .lowCell, .warned, .insulated, .voltageMissing, .temperatureMissing,
            .currentMissing, .alarmMissing, .inverterMissing, .batteryLost, .inverterLost, .allLost,
            .inputsLost, .loaded, .dcLive, .dcDead, .dcUnknown, .feedbackWrong:
            nil
        }
    }

    /// Trips whose cause is present or cannot be seen to be gone: none of them may be reset now.
    func blocked(in unit: Int) -> InterlockSet {
        var set = InterlockSet.none
        if let passed = passed(in: unit) { set.insert(InterlockSet(passed)) }
        if !isInsulationSeen { set.insert(InterlockSet(.insulation)) }
        if self == .voltageMissing { set.insert(InterlockSet(.cellOvervoltage)) }
        if self == .alarmMissing { set.insert(InterlockSet(.batteryAlarm)) }
        if isInverterMissing { set.insert(InterlockSet(.inverterFault)) }
        if self == .batteryLost || self == .allLost {
            set.insert(InterlockSet(.cellOvervoltage).union(InterlockSet(.cellUndervoltage)))
            set.insert(InterlockSet(.batteryAlarm))
        }
        if areInputsMissing(in: unit) { set.insert(InterlockSet(.emergencyStop)) }
        return set
    }

    /// The share of the rating that the derating rows leave for each direction.
    var derated: (charge: Double, discharge: Double) {
        switch self {
        case .highCell: (0.5, 1)
        case .overvoltage: (0, 1)
        case .lowCell: (1, 0.5)
        case .undervoltage: (1, 0)
        case .good, .hot, .inverterFault, .alarm, .warned, .insulated, .leaking, .voltageMissing,
            .temperatureMissing, .currentMissing, .alarmMissing, .inverterMissing, .batteryLost,
            .inverterLost, .allLost, .inputsLost, .loaded, .emergencyPressed, .dcLive, .dcDead, .dcUnknown,
            .feedbackWrong:
            (1, 1)
        }
    }
}

/// Where the contactors stand: what the plant makes of the last commands.
enum ContactorPlace: Int, Sendable { case open, precharging, closed }

extension Weather {
    func image(_ place: ContactorPlace, at now: MonotonicTime) -> UnitImage {
        let old = now - Self.budget - .milliseconds(20)
        var image = UnitImage()
        fill(&image.battery, at: self == .batteryLost || self == .allLost ? old : now, now)
        fill(&image.inverter, place, at: self == .inverterLost || self == .allLost ? old : now, now)
        let seen = self == .inputsLost ? old : now
        image.inputs[.emergencyStop] = .good(self == .emergencyPressed, at: seen)
        image.inputs[.mainContactor] = .good((place == .closed) != (self == .feedbackWrong), at: seen)
        return image
    }

    private var cellVoltages: (min: Volts, max: Volts) {
        if self == .highCell { return (Volts(3.30), Volts(3.60)) }
        if self == .overvoltage { return (Volts(3.30), Volts(3.70)) }
        if self == .lowCell { return (Volts(2.70), Volts(3.32)) }
        return (Volts(self == .undervoltage ? 2.40 : 3.30), Volts(3.32))
    }

    private func fill(_ battery: inout BatteryImage, at time: MonotonicTime, _ now: MonotonicTime) {
        battery.cellVoltageMin = .good(cellVoltages.min, at: time)
        battery.cellVoltageMax = .good(cellVoltages.max, at: time)
        battery.cellTemperatureMin = .good(Celsius(24), at: time)
        battery.cellTemperatureMax = .good(Celsius(self == .hot ? 61 : 26), at: time)
        battery.packVoltage = .good(Volts(800), at: time)
        battery.packCurrent = .good(Amperes(self == .loaded ? 100 : 0), at: time)
        battery.stateOfCharge = .good(Fraction(0.5), at: time)
        battery.chargeCurrentLimit = .good(Amperes(1_000), at: time)
        battery.dischargeCurrentLimit = .good(Amperes(1_000), at: time)
        battery.alarms = .good(self == .alarm ? .voltageHigh : .none, at: time)
        battery.warnings = .good(self == .warned ? .voltageHigh : .none, at: time)
        if isInsulationSeen { battery.insulation = .good(Ohms(self == .leaking ? 8_000 : 8e6), at: time) }
        if self == .voltageMissing { battery.cellVoltageMax = .bad(.implausible, since: now) }
        if self == .temperatureMissing { battery.cellTemperatureMax = .bad(.frozen, since: now) }
        if self == .currentMissing { battery.packCurrent = .bad(.deviceFault, since: now) }
        if self == .alarmMissing { battery.alarms = .bad(.notImplemented, since: now) }
    }

    private func fill(
        _ inverter: inout InverterImage, _ place: ContactorPlace, at time: MonotonicTime, _ now: MonotonicTime
    ) {
        inverter.activePower = .good(.kilowatts(self == .loaded ? 80 : 0), at: time)
        inverter.state = .good(self == .inverterFault ? .fault : .running, at: time)
        if self == .inverterMissing { inverter.state = .bad(.implausible, since: now) }
        let isLive = self == .dcLive || (place != .open && self != .dcDead)
        inverter.dcVoltage = .good(Volts(isLive ? 790 : 20), at: time)
        if self == .dcUnknown { inverter.dcVoltage = .bad(.deviceFault, since: now) }
    }
}
