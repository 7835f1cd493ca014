import Quantities
import SiteConfig

/// What must become true in a run, and by when. Bounds, never exact values.
public struct Expectation: Sendable, Equatable {
    /// What is looked at. Of a unit, or of every unit where the expectation names none; `power` and
    /// `setpoint` are then the site's.
    public enum Subject: Sendable, Equatable {
        /// The unit is in one of these modes: offline, standby, precharge, running, stopping, tripped,
        /// maintenance.
        case mode([String])
        /// Delivered, as the plant itself measures it at the inverter.
        case power(ClosedRange<Double>)
        /// As it stands in the inverter, kW.
        case setpoint(ClosedRange<Double>)
        /// The magnitude of the battery's own current, A.
        case current(ClosedRange<Double>)
        /// The largest current that contacts which we command have parted so far, A.
        case parted(ClosedRange<Double>)
        /// %
        case charge(ClosedRange<Double>)
        /// A latched trip: its interlock, `any` or `none`.
        case trip(String)
        /// The latched trip that came first.
        case firstOut(String)
        /// A standing warning: its interlock, `any` or `none`.
        case warning(String)
        /// What keeps the unit from starting by itself: after_reset …, `any` or `none`.
        case hold(String)
        /// What keeps the setpoint below what is asked: bms_current_limit …, `none`.
        case limitedBy([String])
        /// Main contact, the unit's own or the battery's, as it is: `open` or `closed`.
        case contactors(isClosed: Bool)
        /// The inverter's state as it is: off, standby, running, fault …
        case inverter([String])
        /// An event came, with this cause where one is named.
        case event(String, cause: String?)
        case noEvent(String, cause: String?)
        /// meter, `inverter UNIT`, `pmu N` or `none`.
        case frequencySource(String)
        /// As the controller sees it, Hz.
        case frequency(ClosedRange<Double>)
        /// The grid's state as the controller judges it: out, waiting, ramping, in_service, blind.
        case grid([String])
        case daemon(isRunning: Bool)
        /// An operator has stopped the site.
        case stopped(Bool)
    }

    /// How long it must stay true.
    public enum Hold: Sendable, Equatable {
        /// Once is enough.
        case none
        case for_(Duration)
        /// On the scenario's clock.
        case until(Duration)
        case toTheEnd
    }

    public var subject: Subject
    public var unit: String?
    /// From when on it is looked for, on the scenario's clock.
    public var from: Duration
    /// The step that `from` is the time of.
    public var after: String?
    /// By when, from `from` on, it must have become true.
    public var within: Duration
    public var hold: Hold
    /// The time that is measured here is how long the plant took to be safe.
    public var isTimeToSafe: Bool
    /// For people.
    public var why: String?

    public init(
        _ subject: Subject, unit: String? = nil, from: Duration = .zero, after: String? = nil,
        within: Duration = .zero, hold: Hold = .none, isTimeToSafe: Bool = false, why: String? = nil
    ) {
        self.subject = subject
        self.unit = unit
        self.from = from
        self.after = after
        self.within = within
        self.hold = hold
        self.isTimeToSafe = isTimeToSafe
        self.why = why
    }

    /// The last instant that it looks at, on the scenario's clock; for `toTheEnd` when it must have begun.
    var end: Duration {
        switch hold {
        case .none, .toTheEnd: from + within
        case .for_(let time): from + within + time
        case .until(let time): max(time, from + within)
        }
    }
}
