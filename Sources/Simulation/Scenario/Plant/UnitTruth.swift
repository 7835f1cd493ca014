import Quantities

/// A main contact that has parted: the unit's own, or one of the battery's.
public struct Parting: Sendable, Equatable {
    public enum Cause: Sendable, Equatable {
        /// Our coil went off, whoever switched it.
        case coil
        /// The battery was no longer permitted to keep its contacts closed, by our wire or our message.
        case permit
        /// The battery's own protection.
        case protection
        /// A fault of the contact itself.
        case fault
    }

    /// What flowed when it parted; positive = discharge.
    public var current: Amperes
    public var cause: Cause

    public init(current: Amperes, cause: Cause) {
        self.current = current
        self.cause = cause
    }
}

/// What the plant knows of one unit at an instant and nobody has told: the ground that invariants are judged
/// on.
public struct UnitTruth: Sendable, Equatable {
    /// What an inverter without a fault of its control would give, had it been told the same.
    public var obedient: Watts = .zero
    /// By the battery's own last words, A: charge (zero or less) … discharge; `nil` = it has said nothing
    /// yet.
    public var allowedCurrent: ClosedRange<Double>?
    /// Words come late by at most so much.
    public var wireDelay = Duration.zero
    public var packVoltage: Volts = .zero
    /// At the inverter's DC terminals.
    public var dcVoltage: Volts = .zero
    /// Lost in the inverter at the power that it gives now.
    public var losses: Watts = .zero
    /// Lost in the cells as heat.
    public var heat: Watts = .zero
    /// Of all cells as they are, V; a sensor may say something else.
    public var cellVoltages: ClosedRange<Double> = 0...0
    /// The same, °C.
    public var cellTemperatures: ClosedRange<Double> = 0...0
    /// Since the sample before.
    public var partings: [Parting] = []
    /// Emergency stop, smoke or gas, as it is.
    public var hasEmergency = false
    /// Since any frame of the battery came onto its wire; `nil` = never.
    public var batterySilence: Duration?
    /// Since the inverter gave a whole answer; `nil` = never.
    public var inverterSilence: Duration?
    /// The same of the I/O module.
    public var moduleSilence: Duration?
    /// What the controller wants in the inverter now; `nil` while none runs.
    public var asked: Watts?

    public init() {}
}

extension SimulatedUnit {
    /// All that the plant itself knows; what concerns wires and the controller is left out.
    public var truth: UnitTruth {
        var truth = UnitTruth()
        truth.obedient = inverter.obedientPower
        truth.packVoltage = battery.packVoltage
        truth.dcVoltage = dcVoltage
        truth.losses = inverter.losses(at: inverter.activePower)
        truth.heat = battery.heat
        (truth.cellVoltages, truth.cellTemperatures) = battery.physicalCells
        truth.hasEmergency = hasEmergency
        for case .bmsJitter(let time) in faults { truth.wireDelay = time }
        return truth
    }
}
