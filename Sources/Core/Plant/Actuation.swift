import Quantities

/// What is asked of a unit, with the instant after which it no longer holds.
public struct Actuation: Sendable, BitwiseCopyable {
    /// Positive = discharge.
    public var setpoint: Watts
    /// Later than this the bus owner writes zero by itself.
    public var expires: MonotonicTime
    /// Later than this contactors open too: power has had its time to end, by the zero that was written or by
    /// the inverter's own reversion. Not before `expires`.
    public var contactorsExpire: MonotonicTime
    /// Nothing is told to coils and battery: whoever has begun to command does not know yet what they do, and
    /// an opened contact may part the power of a former run. The module's own watchdog goes on.
    public var leavesContactors = false
    /// Neither a setpoint nor a heartbeat goes to the inverter, so that its own reversion comes: it does not
    /// do what it is told.
    public var restsInverter = false
    /// Contactors may be closed only while this stands and has not expired.
    public var isContactorPermitted: Bool
    /// The coil of the main contactor is to be energised, where we drive it. It outlasts the permit by the
    /// time that the current needs to end.
    public var closesMainContactor: Bool
    /// The coil of the precharge contactor is to be energised, where we drive it.
    public var closesPrechargeContactor: Bool
    public var cycle: UInt64

    public init(
        setpoint: Watts, expires: MonotonicTime, contactorsExpire: MonotonicTime? = nil,
        isContactorPermitted: Bool,
        closesMainContactor: Bool = false, closesPrechargeContactor: Bool = false, cycle: UInt64
    ) {
        self.setpoint = setpoint
        self.expires = expires
        self.contactorsExpire = contactorsExpire ?? expires
        self.isContactorPermitted = isContactorPermitted
        self.closesMainContactor = closesMainContactor
        self.closesPrechargeContactor = closesPrechargeContactor
        self.cycle = cycle
    }

    /// Zero power, already expired, no permit; contactors are left alone until somebody has looked at them.
    public static var safe: Actuation {
        var safe = Actuation(
            setpoint: .zero, expires: MonotonicTime(nanoseconds: 0), isContactorPermitted: false, cycle: 0)
        safe.leavesContactors = true
        return safe
    }

    /// Whether nothing would be written that the other does not say, as long as both hold.
    public func asksTheSame(as other: Actuation) -> Bool {
        setpoint == other.setpoint && isContactorPermitted == other.isContactorPermitted
            && closesMainContactor == other.closesMainContactor
            && closesPrechargeContactor == other.closesPrechargeContactor
            && leavesContactors == other.leavesContactors && restsInverter == other.restsInverter
    }

    /// The setpoint that holds at `now`: zero once expired.
    public func setpoint(at now: MonotonicTime) -> Watts { now <= expires ? setpoint : .zero }
    /// It ends by its own time, after that of the power.
    public func isContactorPermitted(at now: MonotonicTime) -> Bool {
        isContactorPermitted && now <= contactorsExpire
    }
    /// The same.
    public func closesMainContactor(at now: MonotonicTime) -> Bool {
        closesMainContactor && now <= contactorsExpire
    }
    /// Open once the power has expired: it carries none.
    public func closesPrechargeContactor(at now: MonotonicTime) -> Bool {
        closesPrechargeContactor && now <= expires
    }
    /// As long as contactors may stay closed; then the bus owner writes zero again.
    public func restsInverter(at now: MonotonicTime) -> Bool { restsInverter && now <= contactorsExpire }
}
