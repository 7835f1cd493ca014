import Plant

/// Why a unit that is well does not start by itself; `none` = it starts.
///
/// Power after a trip, a crash or work on the unit begins with a person: reset, restart and the end of a time
/// are not enough. Only a resume ends a hold, and none while a trip is latched.
public struct UnitHold: BitSet {
    /// One bit each in the persisted latch file: never renumber, never reuse.
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A trip was latched: it holds from the trip on, and is seen once that trip is reset.
    public static let afterReset = UnitHold(rawValue: 1 << 0)
    /// The program before this one did not end in order.
    public static let afterRestart = UnitHold(rawValue: 1 << 1)
    /// It did so for the third time within ten minutes: no setting starts the unit then.
    public static let repeatedRestarts = UnitHold(rawValue: 1 << 2)
    /// Maintenance ended by its time; or a standby did to which the unit had not come from power.
    public static let afterOverride = UnitHold(rawValue: 1 << 3)

    /// Every bit that has a name.
    public static let all = UnitHold(rawValue: 0b1111)
}
