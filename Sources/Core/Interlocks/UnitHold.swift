import Plant

/// Why a unit that is well does not start by itself; `none` = it starts.
///
/// Power after a trip, a crash or work on the unit begins with a person: reset, restart and the end of a time
/// are not enough. Only a resume of that unit ends a hold, and none while a trip is latched.
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
    /// A person's lock (maintenance, standby, hold) ended by its time.
    public static let afterOverride = UnitHold(rawValue: 1 << 3)
    /// A row asked for it: a door was open.
    public static let afterInterlock = UnitHold(rawValue: 1 << 4)

    /// Every bit that has a name.
    public static let all = UnitHold(rawValue: 0b1_1111)

    /// Nothing but trips and restarts: who has reset the trips knows of all of it.
    public var isOfTrips: Bool {
        UnitHold.afterReset.union(.afterRestart).union(.repeatedRestarts).contains(self)
    }

    /// No person and no trip has a part in it: the resume of the whole site is enough.
    public var isOfNobody: Bool {
        UnitHold.afterRestart.union(UnitHold.repeatedRestarts).contains(self)
    }
}
