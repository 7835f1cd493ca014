extension ContactorSequence.State {
    /// The state without its instants, for people.
    public var name: StaticString {
        switch self {
        case .unchecked: "unchecked"
        case .proving: "proving"
        case .open: "open"
        case .precharging: "precharging"
        case .pausing: "pausing"
        case .closed: "closed"
        case .opening: "opening"
        case .checking: "checking"
        case .welded: "welded"
        case .faulted: "faulted"
        }
    }
}

extension ContactorSequence.Fault {
    public var name: StaticString {
        switch self {
        case .prechargeVoltage: "precharge_voltage"
        case .prechargeCurrent: "precharge_current"
        case .feedback: "feedback"
        case .formerRun: "former_run"
        case .welded: "welded"
        case .notDischarged: "not_discharged"
        }
    }
}
