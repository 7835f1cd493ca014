/// Who asked for a power, or who limited it. The number of causes is small and each has one name in logs and
/// JSON.
public enum Cause: Sendable, BitwiseCopyable, Equatable {
    /// Nothing limits.
    case none
    /// The unit's configured maximum power.
    case rating
    /// The BMS's current limit times the pack voltage.
    case batteryCurrentLimit
    /// The BMS forbids this direction.
    case batteryPermission
    /// State of charge at its configured end.
    case stateOfCharge
    /// An input that this direction needs is missing, stale or implausible.
    case reading(Signal)
    /// An interlock derates or has tripped.
    case interlock(InterlockID)
    /// The unit is not in service.
    case mode
    /// It has come into service a moment ago: its power follows the site's ramp.
    case entry
    /// The contactors are not closed.
    case contactors
    /// The site's import or export limit at the meter.
    case siteLimit
    /// Other units take a part of its power: for the balance of charge, or to lose less.
    case sharing
    /// The grid's voltage, frequency, breaker or permit does not allow service.
    case grid(GridCause)
}
