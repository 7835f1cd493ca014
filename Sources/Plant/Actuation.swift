import Quantities

/// What is asked of a unit, with the instant after which it no longer holds.
public struct Actuation: Sendable, BitwiseCopyable {
    /// Positive = discharge.
    public var setpoint: Watts
    /// Later than this the bus owner writes zero by itself.
    public var expires: MonotonicTime
    /// Contactors may be closed only while this stands and has not expired.
    public var isContactorPermitted: Bool
    public var cycle: UInt64

    public init(setpoint: Watts, expires: MonotonicTime, isContactorPermitted: Bool, cycle: UInt64) {
        self.setpoint = setpoint
        self.expires = expires
        self.isContactorPermitted = isContactorPermitted
        self.cycle = cycle
    }

    /// Zero power, already expired, no permit.
    public static var safe: Actuation {
        Actuation(
            setpoint: .zero, expires: MonotonicTime(nanoseconds: 0), isContactorPermitted: false, cycle: 0)
    }

    /// The setpoint that holds at `now`: zero once expired.
    public func setpoint(at now: MonotonicTime) -> Watts { now <= expires ? setpoint : .zero }
    public func isContactorPermitted(at now: MonotonicTime) -> Bool { isContactorPermitted && now <= expires }
}
