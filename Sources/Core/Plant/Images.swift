import Quantities

/// Most units one site may have.
public let maximumUnitCount = 64

/// What a battery management system (BMS) says it forbids or has tripped on. One bit per kind; several may
/// stand.
public struct BatteryAlarms: BitSet {
    public var rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static let general = BatteryAlarms(rawValue: 1 << 0)
    public static let voltageHigh = BatteryAlarms(rawValue: 1 << 1)
    public static let voltageLow = BatteryAlarms(rawValue: 1 << 2)
    public static let temperatureHigh = BatteryAlarms(rawValue: 1 << 3)
    public static let temperatureLow = BatteryAlarms(rawValue: 1 << 4)
    public static let chargeCurrentHigh = BatteryAlarms(rawValue: 1 << 5)
    public static let dischargeCurrentHigh = BatteryAlarms(rawValue: 1 << 6)
    public static let contactor = BatteryAlarms(rawValue: 1 << 7)
    public static let shortCircuit = BatteryAlarms(rawValue: 1 << 8)
    public static let internalFault = BatteryAlarms(rawValue: 1 << 9)
    public static let imbalance = BatteryAlarms(rawValue: 1 << 10)
}

/// Which directions the BMS allows at all.
public struct BatteryPermissions: BitSet {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let charge = BatteryPermissions(rawValue: 1 << 0)
    public static let discharge = BatteryPermissions(rawValue: 1 << 1)
}

/// One battery as its BMS describes it.
public struct BatteryImage: Sendable, BitwiseCopyable {
    public var cellVoltageMax: Reading<Volts> = .neverSeen
    public var cellVoltageMin: Reading<Volts> = .neverSeen
    public var cellTemperatureMax: Reading<Celsius> = .neverSeen
    public var cellTemperatureMin: Reading<Celsius> = .neverSeen
    public var packVoltage: Reading<Volts> = .neverSeen
    /// Positive = discharge.
    public var packCurrent: Reading<Amperes> = .neverSeen
    public var stateOfCharge: Reading<Fraction> = .neverSeen
    public var stateOfHealth: Reading<Fraction> = .neverSeen
    /// Magnitude, zero or more; zero forbids charging.
    public var chargeCurrentLimit: Reading<Amperes> = .neverSeen
    /// Magnitude, zero or more; zero forbids discharging.
    public var dischargeCurrentLimit: Reading<Amperes> = .neverSeen
    public var chargeVoltageLimit: Reading<Volts> = .neverSeen
    public var dischargeVoltageLimit: Reading<Volts> = .neverSeen
    /// `neverSeen` where the BMS does not send it: then it forbids nothing, and its limits speak alone.
    public var permissions: Reading<BatteryPermissions> = .neverSeen
    /// Severe: the BMS has opened, or is about to open, its contactors.
    public var alarms: Reading<BatteryAlarms> = .neverSeen
    public var warnings: Reading<BatteryAlarms> = .neverSeen
    /// Of the direct-current side against earth; `neverSeen` where nobody measures it.
    public var insulation: Reading<Ohms> = .neverSeen
    /// Of the battery's own contactors: zero = open; for people. `neverSeen` where it does not tell.
    public var contactors: Reading<Fraction> = .neverSeen
    /// Two senders speak in its name; of what they say the strictest stands above.
    public var hasSecondSender = false

    public init() {}

    /// The same without what was sampled before `time`.
    public func withheld(_ reason: ReadingFault, before time: MonotonicTime) -> BatteryImage {
        var image = self
        image.cellVoltageMax = cellVoltageMax.withheld(reason, before: time)
        image.cellVoltageMin = cellVoltageMin.withheld(reason, before: time)
        image.cellTemperatureMax = cellTemperatureMax.withheld(reason, before: time)
        image.cellTemperatureMin = cellTemperatureMin.withheld(reason, before: time)
        image.packVoltage = packVoltage.withheld(reason, before: time)
        image.packCurrent = packCurrent.withheld(reason, before: time)
        image.stateOfCharge = stateOfCharge.withheld(reason, before: time)
        image.stateOfHealth = stateOfHealth.withheld(reason, before: time)
        image.chargeCurrentLimit = chargeCurrentLimit.withheld(reason, before: time)
        image.dischargeCurrentLimit = dischargeCurrentLimit.withheld(reason, before: time)
        image.chargeVoltageLimit = chargeVoltageLimit.withheld(reason, before: time)
        image.dischargeVoltageLimit = dischargeVoltageLimit.withheld(reason, before: time)
        image.permissions = permissions.withheld(reason, before: time)
        image.alarms = alarms.withheld(reason, before: time)
        image.warnings = warnings.withheld(reason, before: time)
        image.insulation = insulation.withheld(reason, before: time)
        image.contactors = contactors.withheld(reason, before: time)
        return image
    }
}

/// The operating state of an inverter, as SunSpec 701 `InvSt` names it.
public enum InverterState: UInt8, Sendable, BitwiseCopyable {
    case off, sleeping, starting, running, throttled, shuttingDown, fault, standby
}

/// One inverter (PCS) as it describes itself.
public struct InverterImage: Sendable, BitwiseCopyable {
    /// At the AC terminals; positive = injected.
    public var activePower: Reading<Watts> = .neverSeen
    public var reactivePower: Reading<VoltAmperesReactive> = .neverSeen
    public var frequency: Reading<Hertz> = .neverSeen
    public var dcVoltage: Reading<Volts> = .neverSeen
    /// At the AC terminals, as the device has it (SunSpec: phase to neutral).
    public var acVoltage: Reading<Volts> = .neverSeen
    public var state: Reading<InverterState> = .neverSeen
    /// Event bits as the device numbers them; zero = none.
    public var events: Reading<UInt32> = .neverSeen
    /// Nameplate active power of the device; a magnitude.
    public var ratedPower: Reading<Watts> = .neverSeen
    /// Which device it is: a number made of its manufacturer, model and serial number; zero where it does not
    /// say, or has not yet been asked since it was last missing.
    public var identity: UInt64 = 0
    /// When it answered anything last, a refusal too; `nil` = never.
    public var answeredAt: MonotonicTime?
    /// When somebody else's setpoint was found in it last, in place of ours that had stood there; `nil` =
    /// never.
    public var overriddenAt: MonotonicTime?

    public init() {}
}

/// The point of connection, as a meter sees it.
public struct GridImage: Sendable, BitwiseCopyable {
    public var frequency: Reading<Hertz> = .neverSeen
    /// At the point of connection; positive = the site injects.
    public var activePower: Reading<Watts> = .neverSeen
    public var voltage: Reading<Volts> = .neverSeen
    /// What the site's PMUs see, in the order of its configuration.
    public var phasors: InlineArray<4, PhasorImage> = InlineArray(repeating: PhasorImage())
    /// The breaker at the point of connection is closed; `neverSeen` where nobody tells.
    public var breaker: Reading<Bool> = .neverSeen
    /// The grid's operator allows service; `neverSeen` where nobody tells.
    public var servicePermit: Reading<Bool> = .neverSeen

    public init() {}
}

/// A battery, the inverter that serves it, and the wires of their container.
public struct UnitImage: Sendable, BitwiseCopyable {
    public var battery = BatteryImage()
    public var inverter = InverterImage()
    public var inputs = DigitalInputImage()

    public init() {}
}
