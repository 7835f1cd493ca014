import Quantities

/// How a response moves in time towards what its curve asks for. Without any of it the response is there at
/// once.
///
/// What limits power for safety comes after it and is never delayed by it.
public struct ResponseDynamics: Sendable, BitwiseCopyable, Equatable {
    /// From leaving the deadband until the response begins.
    public var initiationDelay: Duration
    /// First-order answer: 90 % of a step is done after this time. Zero = none.
    public var openLoopTime: Duration
    /// Ramp: the time from nothing to the whole nameplate. Zero = no limit.
    public var fullActivation: Duration
    /// The largest response of an event stays until frequency has been inside for this time. Zero = the
    /// response follows the curve back.
    public var hold: Duration
    /// Ramp back after an event: the time from the whole nameplate to nothing. Zero = as `fullActivation`.
    public var recovery: Duration

    public init(
        initiationDelay: Duration = .zero, openLoopTime: Duration = .zero, fullActivation: Duration = .zero,
        hold: Duration = .zero, recovery: Duration = .zero
    ) {
        self.initiationDelay = initiationDelay
        self.openLoopTime = openLoopTime
        self.fullActivation = fullActivation
        self.hold = hold
        self.recovery = recovery
    }
}
