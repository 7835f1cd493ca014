import Interlocks
import Plant
import PowerDispatch
import Quantities

/// What one cycle decided for one unit, and why.
public struct UnitDecision: Sendable, BitwiseCopyable {
    public var mode: UnitMode.State = .offline
    /// The power that an operator asks of the unit alone, as far as the ramp has come; `nil` where none does.
    public var override: Watts?
    /// The unit's part of the target by its rating, before anything limits or moves it; its override where it
    /// has one.
    public var requested: Watts = .zero
    /// What dispatch asked, before the last clamp. Positive = discharge.
    public var asked: Watts = .zero
    /// What is written to the inverter.
    public var setpoint: Watts = .zero
    public var window = PermitWindow.closed(.mode)
    /// What kept the setpoint below `requested`; `none` where nothing did.
    public var limitedBy = Cause.none
    /// It runs for less time than the site's ramp takes to its rating: others give their part back slowly.
    public var isEntering = false
    /// Its power is taken back until then, for more flows than it shows or was asked for: `siteLimit` at the
    /// meter, `batteryCurrentLimit` at its battery.
    public var restsUntil: MonotonicTime?
    public var isContactorPermitted = false
    /// The coils, where we drive them; the main one outlasts the permit until the current has ended.
    public var closesMainContactor = false
    public var closesPrechargeContactor = false
    /// Coils and battery hear nothing yet: `Actuation.leavesContactors`.
    public var leavesContactors = true
    /// The inverter gets no more writes, so that its own reversion comes.
    public var restsInverter = false
    /// `nil` where the battery drives its contactors.
    public var contactors: ContactorSequence.State?
    /// What keeps the contactors open until somebody resets it.
    public var contactorFault: ContactorSequence.Fault?
    public var latched: InterlockSet = .none
    public var firstOut: InterlockID?
    /// What keeps the unit from starting by itself; it shows once no trip is latched.
    public var hold: UnitHold = .none
    /// Who has reset the trips for which it is held; `nil` = nobody yet.
    public var resetBy: Person?
    public var warnings: InterlockSet = .none
    /// Why a device does not count as heard; `nil` while it does.
    public var missingBattery: MissingReading?
    public var missingInverter: MissingReading?

    public init() {}
}

/// Something that happened in a cycle and that somebody must be told of.
public struct Event: Sendable, BitwiseCopyable {
    public enum Kind: Sendable, BitwiseCopyable, Equatable {
        case modeChanged(from: UnitMode.State, to: UnitMode.State)
        case tripped(InterlockID)
        /// The contactors have failed, and why; the trip `contactorFeedback` comes with it.
        case contactorFault(ContactorSequence.Fault)
        /// The contactors opened though current flowed or nobody knew: the bound had passed.
        case openedUnderLoad
        /// The inverter says that it is built for less than the site's file says.
        case nameplateBelow
        /// The row's limit was passed anew, and the row counts how often.
        case countedAnew(InterlockID)
        /// Another quarter of the time that the row lets its limit be passed in all is used up: `value` of
        /// four, `limit` the whole in seconds.
        case exposed(InterlockID)
        case warned(InterlockID)
        case warningGone(InterlockID)
        /// Every trip is gone.
        case resetDone
        /// The cause of a trip is still present, or cannot be seen to be gone.
        case resetRefused
        /// What stays latched needs the role service.
        case resetNeedsService
        /// The time to stop is over and the inverter still delivers, or nobody can see what it does.
        case stoppedWithPower
        /// A device was missing for so many seconds, and the unit is back on the ramp without the time to
        /// enter service.
        case shortGap
        /// Another measurement contradicts one of the battery, for a while; of a state of charge once.
        /// `value` is what it says, `limit` what the other one makes of it: A, V, percent.
        case doubted(Doubt)
        case believed(Doubt)
        /// Somebody else speaks in the battery's name: the strictest of what is said counts.
        case secondSenderHeard
        case secondSenderGone
        case frequencyLost
        case frequencyBack
        /// Another source measures now; its value is what it measures.
        case frequencyHandedOver(to: FrequencySource.Kind)
        /// Sources disagree, and none of them counts.
        case frequencyDisputed
        case frequencySettled
        /// No source for 5 s.
        case frequencyMissing
        /// The grid's state ends service for the whole site.
        case gridLost(GridCause)
        /// The conditions to enter service did not hold for long enough.
        case gridNotReady(GridCause)
        /// The conditions to enter service hold; their time begins.
        case gridGood
        /// The grid's state allows service again, over the ramp.
        case gridEntered
        /// Nobody on site sees the grid: power goes on the ramp.
        case gridUnseen
        /// Somebody sees it again, and no excursion: power comes back on the ramp.
        case gridSeen
        /// What the meter's power is worth, beside the units' own; value and limit are both powers.
        case meterJudged(MeterCheck.Verdict)
        /// A meter that nobody has seen right withholds power; value is what it shows, limit the power of the
        /// step that is made to prove it.
        case meterProving(ProvingStep.Finding)
        /// One of those that see the grid sees it no more, silent or frozen.
        case gridSourceBlind(FrequencySource.Kind, isFrozen: Bool)
        case gridSourceSees(FrequencySource.Kind)
        case basePointSet(BasePointSource)
        case basePointRefused(BasePointSource)
        case basePointRevoked(BasePointSource)
        case basePointLapsed(BasePointSource)
        case lockBegun(UnitLock.Kind)
        /// By its time, by its person or by somebody who has named that person.
        case lockEnded(UnitLock.Kind)
        /// Its time is out of range, or too many persons have locked the unit.
        case lockRefused(UnitLock.Kind)
        case overrideBegun
        /// By its time, by an operator or by a trip.
        case overrideEnded
        /// Its time is out of range.
        case overrideRefused
        /// The unit is tripped: what is asked for now must not act after a reset.
        case overrideOfTripped
        /// The same while somebody keeps the unit out of service.
        case overrideOfKeptOut
        case stopRequested
        case resumed
        /// The unit starts only when somebody resumes it.
        case held(UnitHold)
        /// Nothing holds the unit any more: it enters service anew.
        case holdEnded
        /// A trip is latched and is reset first, or what a row holds the unit for still stands.
        case resumeRefused
    }

    /// Index of the unit in the site's list; `nil` = the site.
    public var unit: Int?
    public var kind: Kind
    /// The signal's value and the limit it passed as an operator reads them (`UnitSignals.Shown`); the power
    /// asked for; of a lock the time in s. `nil` where there is none.
    public var value: Double?
    public var limit: Double?
    /// Of power that does not follow: what was asked of the inverter, and what it gave.
    public var asked: Watts?
    public var delivered: Watts?
    public var cycle: UInt64
    public var at: MonotonicTime
    /// Of a lost device: silent, or what of it is missing.
    public var missing: MissingReading?
    /// Whose lock it is.
    public var by: Person?

    public init(
        unit: Int?, kind: Kind, value: Double? = nil, limit: Double? = nil, cycle: UInt64, at: MonotonicTime,
        by: Person? = nil
    ) {
        self.by = by
        self.unit = unit
        self.kind = kind
        self.value = value
        self.limit = limit
        self.cycle = cycle
        self.at = at
    }
}

/// The events of one cycle, four for each of 64 units. What finds no room is counted.
public struct EventList: Sendable, BitwiseCopyable {
    public private(set) var count = 0
    public private(set) var lost = 0
    private var items: InlineArray<256, Event>

    public init() {
        items = InlineArray(
            repeating: Event(unit: nil, kind: .resumed, cycle: 0, at: MonotonicTime(nanoseconds: 0)))
    }

    public mutating func removeAll() {
        count = 0
        lost = 0
    }

    public mutating func append(_ event: Event) {
        guard count < items.count else {
            lost += 1
            return
        }
        items[count] = event
        count += 1
    }

    /// Adds to the last one what was asked of an inverter and what it gave.
    mutating func tell(_ asked: Watts, _ delivered: Watts?) {
        guard count > 0 else { return }
        items[count - 1].asked = asked
        items[count - 1].delivered = delivered
    }

    /// Becomes the same list; the room behind its events is not copied.
    mutating func take(_ other: inout EventList) {
        (count, lost) = (other.count, other.lost)
        for index in 0..<count { items[index] = other.items[index] }
    }

    /// The events in their order.
    public mutating func forEach(_ body: (Event) -> Void) {
        for index in 0..<count { body(items[index]) }
    }
}

/// What one cycle decided for the site.
public struct Decision: Sendable, BitwiseCopyable {
    public var cycle: UInt64 = 0
    public var at = MonotonicTime(nanoseconds: 0)
    /// The frequency that was used; `nil` where there was none.
    public var frequency: Hertz?
    public var grid = GridDecision()
    public var basePoint: Watts = .zero
    public var basePointSource = BasePointSource.siteDefault
    /// What the energy management, its reserve and the latch of an event add to the base point.
    public var correction: Watts = .zero
    /// The part of the correction that is the latch: what was delivered when frequency left the deadband.
    public var eventShift: Watts = .zero
    /// What the grid's frequency asks for, whatever may flow.
    public var response: Watts = .zero
    /// Base point, correction and response after their ramps, before anything limits them.
    public var wanted: Watts = .zero
    /// The same with the base inside what may flow, and the response as far as it fits on top: it is shared.
    public var target: Watts = .zero
    /// The sum of the units' setpoints.
    public var setpoint: Watts = .zero
    /// The limit at the meter has taken power from the units.
    public var isSiteLimited = false
    public var unitCount = 0
    public var units: InlineArray<64, UnitDecision> = InlineArray(repeating: UnitDecision())
    public var events = EventList()

    public init() {}

    /// Becomes the same decision; of the room for units and events no more is copied than is in use.
    /// `DecisionTests` has all fields.
    public mutating func take(_ other: inout Decision) {
        cycle = other.cycle
        at = other.at
        frequency = other.frequency
        grid = other.grid
        basePoint = other.basePoint
        basePointSource = other.basePointSource
        correction = other.correction
        eventShift = other.eventShift
        response = other.response
        wanted = other.wanted
        target = other.target
        setpoint = other.setpoint
        isSiteLimited = other.isSiteLimited
        unitCount = other.unitCount
        for unit in 0..<min(max(0, unitCount), units.count) { units[unit] = other.units[unit] }
        events.take(&other.events)
    }
}
