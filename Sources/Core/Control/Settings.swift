import FrequencyResponse
import Interlocks
import Plant
import PowerDispatch
import Quantities

/// What the controller must know of a unit.
public struct UnitSettings: Sendable, BitwiseCopyable {
    /// Largest magnitude of charge and discharge power.
    public var rating: Watts
    /// Discharging stops here.
    public var minStateOfCharge: Fraction
    /// Charging stops here.
    public var maxStateOfCharge: Fraction
    public var budget: FreshnessBudget
    /// Currents below this count as none.
    public var currentFloor: Amperes
    /// From a new setpoint to the power it asks for, ramp and communication included.
    public var inverterResponse: Duration
    /// The step in which the BMS reports temperatures.
    public var temperatureResolution: Celsius
    /// Battery samples that repeat the one before, after which they count as none; zero = never.
    public var frozenSamples: Int
    public var losses: UnitLosses
    /// The digital inputs that the unit has; `budget.inputs` is theirs.
    public var inputs: DigitalInputSet
    public var contactors: ContactorSettings
    /// `false`: the battery never sends alarms, and the site has accepted that.
    public var hasBatteryAlarms = true
    /// Repeated samples count only while power flows: many a battery at rest says the same for hours.
    public var isFrozenUnderLoadOnly = false
    /// How long after the last write the inverter is at zero power by itself; `nil` = nothing is proven, and
    /// it may keep its power for ever.
    public private(set) var provenReversion: Duration?
    /// The same as the inverter was set, where nothing is proven: so long it is left alone when it does not
    /// end its power, and nobody concludes from it that nothing flows.
    public var assumedReversion = Duration.zero
    /// From a decision to its arrival at the inverter, at most.
    public var writeBound = Duration.zero
    /// How long contactors stay closed when the cycle does not say anything any more: as long as the inverter
    /// may keep its power.
    public var contactorHold = Duration.zero
    /// What lies between the battery's power and that of the AC terminals; never less than what is lost.
    public var directCurrentLosses = UnitLosses.none
    /// Up to this share of the rating an inverter counts as at zero power, besides what it draws for itself.
    public static let zeroShare = 0.02

    /// What is known of the inverter without us, or that nothing is: when it is lost follows from that.
    public mutating func prove(_ reversion: Duration?) {
        provenReversion = reversion
        budget.inverterLoss = FreshnessBudget.inverterLoss(budget: budget.inverter, reversion: reversion)
    }

    /// Up to this magnitude the battery's own current is no evidence against an inverter that shows zero: its
    /// sensor's zero lies between, and whatever else is fed from the DC side.
    public var zeroDrawn: Watts { rating * 0.1 + losses.idle }

    /// Up to this magnitude power counts as none.
    public var zeroPower: Watts { rating * Self.zeroShare + losses.idle }

    public init(
        rating: Watts, minStateOfCharge: Fraction, maxStateOfCharge: Fraction, budget: FreshnessBudget,
        currentFloor: Amperes, inverterResponse: Duration = .seconds(2),
        temperatureResolution: Celsius = Celsius(1), frozenSamples: Int = 0, losses: UnitLosses = .none,
        inputs: DigitalInputSet = .none, contactors: ContactorSettings = .ofBattery
    ) {
        self.rating = rating
        self.minStateOfCharge = minStateOfCharge
        self.maxStateOfCharge = maxStateOfCharge
        self.budget = budget
        self.currentFloor = currentFloor
        self.inverterResponse = inverterResponse
        self.temperatureResolution = temperatureResolution
        self.frozenSamples = frozenSamples
        self.losses = losses
        self.inputs = inputs
        self.contactors = contactors
    }
}

/// What the controller must know of the site.
public struct SiteSettings: Sendable, BitwiseCopyable {
    public var interlocks: InterlockTable
    public var droop: DroopCurve
    /// How the response moves, and the energy that is kept for it.
    public var service: ServiceSettings
    public var basePoint: Watts
    public var ramp: WattsPerSecond
    /// Longest use of the last response without a frequency.
    public var frequencyHold: Duration
    /// How old the grid meter's readings may be.
    public var meterBudget: Duration
    public var enterService: Duration
    /// The longest gap of a device after which its unit comes back on the ramp; zero = every gap costs the
    /// time to enter service.
    public var shortGap = Duration.zero
    /// A stopping unit counts as stopped after this time, whatever it measures.
    public var stopBound: Duration
    /// How long a setpoint holds without a newer one.
    public var outputGrace: Duration
    /// At the meter.
    public var limits: SiteLimits
    /// What follows when a remote base point lapses.
    public var reversion: BasePoint.Reversion
    public var sharing: SharingSettings
    /// Where frequency comes from, and what is demanded of the grid.
    public var grid: GridSettings

    public init(
        interlocks: InterlockTable, droop: DroopCurve, basePoint: Watts, ramp: WattsPerSecond,
        frequencyHold: Duration, meterBudget: Duration, enterService: Duration, stopBound: Duration,
        outputGrace: Duration, limits: SiteLimits = SiteLimits(),
        reversion: BasePoint.Reversion = .nextSource, service: ServiceSettings = ServiceSettings(),
        sharing: SharingSettings = SharingSettings(), grid: GridSettings? = nil
    ) {
        self.interlocks = interlocks
        self.droop = droop
        self.service = service
        self.basePoint = basePoint
        self.ramp = ramp
        self.frequencyHold = frequencyHold
        self.meterBudget = meterBudget
        self.enterService = enterService
        self.stopBound = stopBound
        self.outputGrace = outputGrace
        self.limits = limits
        self.reversion = reversion
        self.sharing = sharing
        self.grid =
            grid ?? GridSettings(nominalFrequency: droop.nominal, meterBudget: meterBudget)
    }
}
