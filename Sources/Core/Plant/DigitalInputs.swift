import Quantities

/// A wire of the container that an I/O module reads: the one list of them. Files, status and recordings call
/// each by its `name`.
public enum DigitalInput: UInt8, Sendable, BitwiseCopyable {
    /// Somebody has pressed the emergency stop.
    case emergencyStop
    case smoke
    case gas
    /// The container's door is open.
    case door
    /// The unit's circuit breaker is open, or its auxiliary contact's wire.
    case breaker
    /// Auxiliary contact of the main contactor: the contactor is closed.
    case mainContactor
    /// Auxiliary contact of the precharge contactor: the contactor is closed.
    case prechargeContactor

    /// Every input, in the order in which an image holds them.
    public static var all: InlineArray<7, DigitalInput> {
        [.emergencyStop, .smoke, .gas, .door, .breaker, .mainContactor, .prechargeContactor]
    }

    public var name: StaticString {
        switch self {
        case .emergencyStop: "emergency_stop"
        case .smoke: "smoke"
        case .gas: "gas"
        case .door: "door"
        case .breaker: "breaker"
        case .mainContactor: "main_contactor"
        case .prechargeContactor: "precharge_contactor"
        }
    }
}

/// The digital inputs of one unit.
///
/// `true` = the evidence is there. The driver has already turned normally-closed circuits round, so that an
/// open wire is evidence. An input that is not wired stays `neverSeen`.
public struct DigitalInputImage: Sendable, BitwiseCopyable {
    private var readings = InlineArray<7, Reading<Bool>>(repeating: .neverSeen)

    public init() {}

    public subscript(_ input: DigitalInput) -> Reading<Bool> {
        get { readings[Int(input.rawValue)] }
        set { readings[Int(input.rawValue)] = newValue }
    }
}

/// Which digital inputs a unit has.
public struct DigitalInputSet: BitSet {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public init(_ input: DigitalInput) { rawValue = 1 << input.rawValue }

    public func contains(_ input: DigitalInput) -> Bool { contains(DigitalInputSet(input)) }
    public mutating func insert(_ input: DigitalInput) { insert(DigitalInputSet(input)) }
}

/// What a coil of an I/O module drives: the one list of them.
public enum DigitalOutput: UInt8, Sendable, BitwiseCopyable {
    case mainContactor
    case prechargeContactor
    /// A relay in the enabling circuit of battery or inverter: on while contactors are permitted.
    case permit
}

extension Actuation {
    /// Whether the coil of `output` is to be energised at `now`.
    public func energises(_ output: DigitalOutput, at now: MonotonicTime) -> Bool {
        switch output {
        case .mainContactor: closesMainContactor(at: now)
        case .prechargeContactor: closesPrechargeContactor(at: now)
        case .permit: isContactorPermitted(at: now)
        }
    }
}
