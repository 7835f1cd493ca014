import Quantities

/// The base of an event (P_pre): what was delivered when frequency left the deadband, held until it is back.
/// A change of the schedule in the event is added; nothing is latched again.
public struct PreEventPower: Sendable, BitwiseCopyable {
    /// From the schedule to P_pre; `nil` while no event goes on.
    private var shift: Watts?

    public init() {}

    /// What the base should go to now.
    ///
    /// - Parameters:
    ///   - scheduled: what is asked for without the grid's frequency.
    ///   - delivered: the base of the cycle before, as far as it was delivered.
    ///   - isLimited: whether less than the base was delivered then. Only then does P_pre differ from what
    ///     was asked: a ramp that was on its way goes on.
    public mutating func goal(
        scheduled: Watts, delivered: Watts, isLimited: Bool, isEvent: Bool
    ) -> Watts {
        guard isEvent else {
            shift = nil
            return scheduled
        }
        let latched = shift ?? (isLimited ? delivered - scheduled : .zero)
        shift = latched
        return scheduled + latched
    }
}
