/// Why the grid's state keeps the whole site from power.
public enum GridCause: UInt8, Sendable, BitwiseCopyable, Equatable {
    /// Nothing was seen good yet since the start.
    case notEntered = 0
    case underFrequency, overFrequency, undervoltage, overvoltage
    /// Frequency changes faster than a grid does: perhaps an island.
    case rateOfChange
    /// The breaker at the point of connection is open, or nobody can tell.
    case breaker
    /// The grid's operator does not allow service, or nobody can tell.
    case permit
    /// Back in service and not at full power yet.
    case ramp
    /// No local source has seen the grid for longer than its code allows.
    case unseen

    public var name: StaticString {
        switch self {
        case .notEntered: "not_entered"
        case .underFrequency: "under_frequency"
        case .overFrequency: "over_frequency"
        case .undervoltage: "undervoltage"
        case .overvoltage: "overvoltage"
        case .rateOfChange: "rate_of_change"
        case .breaker: "breaker_open"
        case .permit: "no_permit"
        case .ramp: "enter_service_ramp"
        case .unseen: "unseen"
        }
    }

    /// What a person reads: "the grid: frequency was too low".
    public var words: StaticString {
        switch self {
        case .notEntered: "the grid was not yet seen good for long enough"
        case .underFrequency: "frequency was too low for too long"
        case .overFrequency: "frequency was too high for too long"
        case .undervoltage: "voltage was too low for too long"
        case .overvoltage: "voltage was too high for too long"
        case .rateOfChange: "frequency changed too fast: perhaps an island"
        case .breaker: "the breaker at the point of connection is not seen closed"
        case .permit: "there is no permit for service"
        case .ramp: "it enters service over its ramp"
        case .unseen: "nobody on site sees it"
        }
    }
}
