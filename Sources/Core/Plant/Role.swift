/// What a person may do, from the least to the most.
public enum Role: UInt8, Sendable, BitwiseCopyable, Equatable {
    case `operator`, service

    /// Whether this role may do what needs `least`.
    public func includes(_ least: Role) -> Bool { rawValue >= least.rawValue }
}
