import Quantities

/// What is asked of a unit, with the instant after which it no longer holds.
public struct Actuation: Sendable, BitwiseCopyable {
    /// Positive = discharge.
    public var setpoint: Watts
    /// Later than this the bus owner writes zero by itself.
    public var expires: MonotonicTime
    /// Contactors may be closed only while this stands and has not expired.
    public var isContactorPermitted: Bool
    /// The coil of the main contactor is to be energised, where we drive it. It outlasts the permit by the
    /// time that the current needs to end.
    public var closesMainContactor: Bool
    /// The coil of the precharge contactor is to be energised, where we drive it.
    public var closesPrechargeContactor: Bool
    public var cycle: UInt64

    public init(
        setpoint: Watts, expires: MonotonicTime, isContactorPermitted: Bool,
        closesMainContactor: Bool = false, closesPrechargeContactor: Bool = false, cycle: UInt64
    ) {
        self.setpoint = setpoint
        self.expires = expires
        self.isContactorPermitted = isContactorPermitted
        self.closesMainContactor = closesMainContactor
        self.closesPrechargeContactor = closesPrechargeContactor
        self.cycle = cycle
    }

    /// Zero power, already expired, no permit.
    public static var safe: Actuation {
        Actuation(
            setpoint: .zero, expires: MonotonicTime(nanoseconds: 0), isContactorPermitted: false, cycle: 0)
    }

    /// Whether nothing would be written that the other does not say, as long as both hold.
    public func asksTheSame(as other: Actuation) -> Bool {
        setpoint == other.setpoint && isContactorPermitted == other.isContactorPermitted
            && closesMainContactor == other.closesMainContactor
            && closesPrechargeContactor == other.closesPrechargeContactor
    }

    /// The setpoint that holds at `now`: zero once expired.
    public func setpoint(at now: MonotonicTime) -> Watts { now <= expires ? setpoint : .zero }
    public func isContactorPermitted(at now: MonotonicTime) -> Bool { isContactorPermitted && now <= expires }
    /// Open once expired.
    public func closesMainContactor(at now: MonotonicTime) -> Bool { closesMainContactor && now <= expires }
    /// Open once expired.
    public func closesPrechargeContactor(at now: MonotonicTime) -> Bool {
        closesPrechargeContactor && now <= expires
    }
}
