import Quantities

/// What a site promises besides its curve: how the response moves, and the energy that is kept for it.
public struct ServiceSettings: Sendable, BitwiseCopyable, Equatable {
    public var dynamics: ResponseDynamics
    /// State of charge that the base point leaves above the lower end, for the response alone.
    public var reserve: Fraction
    /// State of charge that the base point leaves below the upper end, for the response alone.
    public var headroom: Fraction
    /// `nil` = the state of charge goes where the response takes it.
    public var energy: EnergyManagement.Settings?

    public init(
        dynamics: ResponseDynamics = ResponseDynamics(), reserve: Fraction = .zero,
        headroom: Fraction = .zero, energy: EnergyManagement.Settings? = nil
    ) {
        self.dynamics = dynamics
        self.reserve = reserve
        self.headroom = headroom
        self.energy = energy
    }
}
