import ConfigText
import Plant

/// A digital I/O module of a unit on Modbus: the wires of its container, and the coils of its contactors.
public struct IOModuleConfig: Sendable, Equatable {
    public var modbus: ModbusConfig
    /// A mapped input is a wired input. In the order of their numbers, each number and each name once.
    public var inputs: [DigitalInputConfig]
    /// In the order of their numbers, each number and each purpose once.
    public var coils: [CoilConfig]
    /// After this silence the module drops its outputs by itself, as it is set in the module; always there
    /// where coils are mapped.
    public var watchdog: Duration?

    public func has(_ name: DigitalInput) -> Bool { inputs.contains { $0.name == name } }
    public func drives(_ purpose: DigitalOutput) -> Bool { coils.contains { $0.purpose == purpose } }
}

/// One digital input.
public struct DigitalInputConfig: Sendable, Equatable {
    public var name: DigitalInput
    /// As on the module's terminals, from 1.
    public var number: Int
    /// Protocol address of the discrete input (zero-based).
    public var address: UInt16
    /// The circuit is closed while nothing is wrong: an open wire is evidence. For a contactor: the auxiliary
    /// contact is closed while the contactor is open.
    public var isNormallyClosed: Bool
}

/// One coil of the module.
public struct CoilConfig: Sendable, Equatable {
    public var purpose: DigitalOutput
    /// As on the module's terminals, from 1.
    public var number: Int
    /// Protocol address of the coil (zero-based).
    public var address: UInt16
}

extension DigitalInput {
    /// Whether an open circuit is its evidence unless the file says otherwise.
    public var isNormallyClosedByDefault: Bool {
        switch self {
        case .emergencyStop, .smoke, .gas, .door, .breaker: true
        case .mainContactor, .prechargeContactor: false
        }
    }
}

extension SiteKeys {
    enum IOModule {
        static let poll = ConfigKey.whole(
            "poll_ms", 10...1_000, "ms", .fixed(50),
            "time between two readings of the inputs; coils are written as often"
        ) { Duration.milliseconds($0) }
        static let timeout = ConfigKey.whole(
            "timeout_ms", 10...1_000, "ms", .fixed(100), "longest wait for an answer"
        ) { Duration.milliseconds($0) }
        static let inputAddress = ConfigKey.whole(
            "input_address", 0...65_000, "", .fixed(0), "protocol address of input 1"
        ) { $0 }
        static let coilAddress = ConfigKey.whole(
            "coil_address", 0...65_000, "", .fixed(0), "protocol address of coil 1"
        ) { $0 }
        static let watchdog = ConfigKey.whole(
            "watchdog_ms", 50...3_700_000, "ms", .computed("none; required with coils"),
            "the module drops its outputs after this silence: as set in the module"
        ) { Duration.milliseconds($0) }
        static let inputNumber = ConfigKey.whole(
            "number", 1...64, "", .required, "of the input, from 1"
        ) { $0 }
        static let inputName = ConfigKey<DigitalInput>.choice(
            "name", .required, "what is wired to it")
        static let normallyClosed = ConfigKey<Bool>.flag(
            "normally_closed", .computed("true; false for an auxiliary contact"),
            "an open circuit is the evidence; of an auxiliary contact: it opens when the contactor closes")
        static let coilNumber = ConfigKey.whole(
            "number", 1...64, "", .required, "of the coil, from 1"
        ) { $0 }
        static let purpose = ConfigKey<DigitalOutput>.choice(
            "drives", .required, "permit: a relay that is on while contactors are permitted")
    }
}
