/// The digital inputs of one unit.
///
/// `true` = the evidence is there. The driver has already turned normally-closed circuits round, so that an
/// open wire is evidence. An input that is not wired stays `neverSeen`.
public struct DigitalInputImage: Sendable, BitwiseCopyable {
    /// Somebody has pressed the emergency stop.
    public var emergencyStop: Reading<Bool> = .neverSeen
    public var smoke: Reading<Bool> = .neverSeen
    public var gas: Reading<Bool> = .neverSeen
    /// The container's door is open.
    public var door: Reading<Bool> = .neverSeen
    /// The unit's circuit breaker is open, or its auxiliary contact's wire.
    public var breaker: Reading<Bool> = .neverSeen
    /// Auxiliary contact of the main contactor.
    public var isMainContactorClosed: Reading<Bool> = .neverSeen
    /// Auxiliary contact of the precharge contactor.
    public var isPrechargeContactorClosed: Reading<Bool> = .neverSeen

    public init() {}
}

/// Which digital inputs a unit has.
public struct DigitalInputSet: BitSet {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let emergencyStop = DigitalInputSet(rawValue: 1 << 0)
    public static let smoke = DigitalInputSet(rawValue: 1 << 1)
    public static let gas = DigitalInputSet(rawValue: 1 << 2)
    public static let door = DigitalInputSet(rawValue: 1 << 3)
    public static let mainContactor = DigitalInputSet(rawValue: 1 << 4)
    public static let prechargeContactor = DigitalInputSet(rawValue: 1 << 5)
    public static let breaker = DigitalInputSet(rawValue: 1 << 6)
}
