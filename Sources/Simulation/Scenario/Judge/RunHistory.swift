import Quantities

/// One unit at one instant of a run.
///
/// The first part is the plant's own: what is there, whatever anybody says. The second is what the controller
/// says; it is `nil` or empty where nobody says anything.
public struct UnitSample: Sendable, Equatable {
    // MARK: The plant

    /// At the inverter's terminals; positive = discharge.
    public var delivered: Watts = .zero
    /// The setpoint that the inverter follows; zero where it follows none.
    public var setpoint: Watts = .zero
    /// What was last written to the inverter since the sample before; `nil` where nothing was.
    public var written: Watts?
    /// Since the inverter's setpoint was last written; `nil` = never.
    public var writtenAge: Duration?
    /// Since the inverter's reversion timer began anew: by that write, or by a heartbeat that a device counts
    /// as one; `nil` where it does not run, or the tier cannot tell.
    public var timerAge: Duration?
    /// The inverter's reversion timer runs: silence ends its power.
    public var isExpiring = true
    /// A fault of the inverter keeps its reversion timer from working, or another master feeds it.
    public var isReversionBroken = false
    /// What the battery's own last words allow; `nil` where the tier cannot tell.
    public var allowed: ClosedRange<Double>?
    /// Since the evidence came last that power needs: the oldest of battery, inverter and wired inputs;
    /// `nil` where the tier cannot tell.
    public var evidenceAge: Duration?
    /// The main contact; the battery's own where the unit has none.
    public var isContactorClosed = true
    /// The coil of the main contactor as somebody wrote it last; `nil` where the unit has none.
    public var mainCoil: Bool?
    /// Positive = discharge.
    public var current: Amperes = .zero
    /// The largest current that contacts which we command have parted so far: a magnitude.
    public var parted: Amperes = .zero
    public var stateOfCharge = Fraction(0)
    public var inverter = ""
    /// Faults that stand now.
    public var faults: [Fault.Kind] = []
    /// `nil` where the tier cannot look into the plant.
    public var truth: UnitTruth?

    // MARK: The controller

    public var mode: String?
    public var trips: [String] = []
    public var firstOut: String?
    public var warnings: [String] = []
    public var holds: [String] = []
    public var limitedBy: String?

    public init() {}
}

/// What may be taken from the grid and given to it, at the meter.
public struct SiteAgreement: Sendable, Equatable {
    /// Magnitudes; `nil` = no limit.
    public var imports: Watts?
    public var exports: Watts?

    public init(imports: Watts?, exports: Watts?) {
        self.imports = imports
        self.exports = exports
    }

    var isAny: Bool { imports != nil || exports != nil }

    /// The site's file says something else while the program runs: what is narrower, or as it was, holds from
    /// now on; where anything is wider, all stays as it is until the next start.
    public mutating func hear(_ file: SiteAgreement) {
        func isWider(_ new: Watts?, than old: Watts?) -> Bool {
            guard let old else { return false }
            return new.map { $0 > old } ?? true
        }
        if isWider(file.imports, than: imports) || isWider(file.exports, than: exports) { return }
        self = file
    }
}

/// A site at one instant of a run.
public struct RunSample: Sendable, Equatable {
    /// On the scenario's clock; before its start negative.
    public var time: Duration
    /// The grid's, as it is.
    public var frequency: Hertz
    /// At the point of connection, share of nominal, as it is.
    public var voltage = Fraction(1)
    /// What everything else behind the meter draws.
    public var load: Watts = .zero
    public var units: [UnitSample]
    public var isDaemonRunning = true
    /// The controller's machine is suspended.
    public var isAsleep = false
    /// What is agreed for the point of connection now; `nil` = as at the run's beginning.
    public var agreed: SiteAgreement?
    /// Whose and which frequency the controller uses; `nil` = none.
    public var frequencySource: String?
    public var seenFrequency: Hertz?
    /// The grid's state as the controller judges it; `nil` where nobody says.
    public var grid: String?
    public var isStopped: Bool?
    /// Cycles that came late by a whole period since the daemon's start; `nil` where nobody counts.
    public var overruns: Int?
    /// Faults of the site as a whole that stand now: of meter, PMUs, grid.
    public var hasSiteFault = false
    /// The same by name, where the tier can tell.
    public var siteFaults: [Fault.Kind] = []

    public init(time: Duration, frequency: Hertz, units: [UnitSample]) {
        self.time = time
        self.frequency = frequency
        self.units = units
    }

    /// The program runs, and does not stand still.
    public var isAttended: Bool { isDaemonRunning && units.contains { $0.mode != nil } }

    public var delivered: Watts { units.reduce(.zero) { $0 + $1.delivered } }
    /// At the point of connection as it is, whatever a meter says; positive = injected.
    public var pointPower: Watts { delivered - load }
    public var setpoint: Watts { units.reduce(.zero) { $0 + $1.setpoint } }
}

/// Something that the controller told.
public struct RunEvent: Sendable, Equatable {
    /// On the scenario's clock.
    public var time: Duration
    /// As in `BALLAST_EVENT`.
    public var name: String
    public var unit: String?
    /// As in `BALLAST_CAUSE`, else `BALLAST_INTERLOCK`.
    public var cause: String?
    /// For people.
    public var text: String

    public init(time: Duration, name: String, unit: String? = nil, cause: String? = nil, text: String = "") {
        self.time = time
        self.name = name
        self.unit = unit
        self.cause = cause
        self.text = text
    }
}

/// What a person or somebody above asked for, as it was said.
public struct RunWish: Sendable, Equatable {
    /// On the scenario's clock.
    public var time: Duration
    public var wish: OperatorCommand.Wish
    public var person: String

    public init(time: Duration, wish: OperatorCommand.Wish, person: String = "") {
        self.time = time
        self.wish = wish
        self.person = person
    }
}

/// A region of frequency or voltage that the site must leave, as its grid code says.
public struct GridLimit: Sendable, Equatable {
    public enum Region: Sendable, Equatable {
        case below(Hertz), above(Hertz), voltageBelow(Fraction), voltageAbove(Fraction)
    }

    public var region: Region
    /// From entering the region to zero power.
    public var clearing: Duration

    public init(_ region: Region, clearing: Duration) {
        self.region = region
        self.clearing = clearing
    }

    /// Whether the grid as it is lies inside the region.
    public func holds(_ frequency: Hertz, _ voltage: Fraction) -> Bool {
        switch region {
        case .below(let limit): frequency < limit
        case .above(let limit): frequency > limit
        case .voltageBelow(let limit): voltage < limit
        case .voltageAbove(let limit): voltage > limit
        }
    }
}

/// A numbered record that the receiver has acknowledged, or a gap that the sender declared.
public struct AckedRecord: Sendable, Equatable {
    public var number: UInt64
    /// Records of these numbers are declared lost, up to this one.
    public var isGap: Bool

    public init(number: UInt64, isGap: Bool = false) {
        self.number = number
        self.isGap = isGap
    }
}

/// Everything that a run left behind and that is judged.
public struct RunHistory: Sendable, Equatable {
    /// What the invariants need to know of one unit.
    public struct Unit: Sendable, Equatable {
        public var id: String
        public var rating: Watts
        /// How old the evidence of power may be when a setpoint is written.
        public var evidenceBudget: Duration
        /// From a setpoint to its power.
        public var response: Duration
        /// The inverter's own time to zero when nobody writes.
        public var reversion: Duration
        /// How often the inverter is read, and how long all who stand on its line take for that.
        public var look = Duration.milliseconds(100)
        /// How long contactors that we drive stay closed under load after a trip; `nil` where the battery
        /// drives its own.
        public var openUnderLoad: Duration?
        /// Currents up to this are none.
        public var currentFloor: Amperes
        /// The inverter's own rating.
        public var nameplate: Watts
        /// What the inverter draws from the battery at zero power.
        public var idle: Watts = .zero
        /// Wires whose evidence is a danger: emergency_stop, smoke, gas.
        public var dangerInputs: [Fault.Kind] = []
        /// A contact that parts more than this is worn; its maker's figure.
        public var breakingCurrent: Amperes
        /// By row: from its trip until half of its process safety time is over at the earliest; after that
        /// opening under load is the declared emergency.
        public var hurry: [String: Duration] = [:]

        public init(
            id: String, rating: Watts, evidenceBudget: Duration, response: Duration, reversion: Duration,
            openUnderLoad: Duration? = nil, currentFloor: Amperes = Amperes(2)
        ) {
            nameplate = rating
            breakingCurrent = currentFloor
            self.id = id
            self.rating = rating
            self.evidenceBudget = evidenceBudget
            self.response = response
            self.reversion = reversion
            self.openUnderLoad = openUnderLoad
            self.currentFloor = currentFloor
        }
    }

    public var units: [Unit]
    /// What may be taken from the grid and given to it, magnitudes; `nil` = nothing is agreed.
    public var importLimit: Watts?
    public var exportLimit: Watts?
    /// What the grid code demands; empty where the site supervises nothing.
    public var gridLimits: [GridLimit] = []
    /// The grid's frequency follows what flows.
    public var hasAnsweringGrid = false
    /// Another machine acts on what the site acts on.
    public var hasRival = false
    /// When load or grid were changed last; beside a rival, when anything was done last.
    public var lastLoadStep: Duration?
    /// How fast asked power may change.
    public var ramp: WattsPerSecond?
    /// The grid inside which no frequency response is asked for.
    public var quietBand: ClosedRange<Hertz>?
    /// Between two readings of the slowest that sees the grid: its `poll_ms`.
    public var gridPoll = Duration.zero
    /// The longest way to zero at a stop.
    public var stopLimit = Duration.seconds(10)
    /// What people and those above asked for.
    public var commands: [RunWish] = []
    /// In the order of time.
    public var samples: [RunSample] = []
    public var events: [RunEvent] = []
    /// In the order in which they were acknowledged; `nil` where the tier delivers none.
    public var acked: [AckedRecord]?
    /// Seen by tracing: calls of the real-time threads that may block; `nil` where nobody looked.
    public var blockingCalls: [String]?
    /// From a battery's word to the write that follows it: two cycles and the way to the inverter.
    public var reaction: Duration
    /// How long a unit that is well may need to be in service.
    public var recovery: Duration
    /// Time passes without a clock: nothing can be late.
    public var isVirtualTime: Bool

    public init(units: [Unit], reaction: Duration, recovery: Duration, isVirtualTime: Bool) {
        self.units = units
        self.reaction = reaction
        self.recovery = recovery
        self.isVirtualTime = isVirtualTime
    }

    public func index(of unit: String) -> Int? { units.firstIndex { $0.id == unit } }
}
