import Plant
import Quantities

/// Who keeps a unit out of service.
public enum Person: Sendable, BitwiseCopyable, Equatable {
    /// An account, by the number that the kernel tells.
    case user(UInt32)
    /// Somebody whose name a record of an older version does not tell.
    case unknown
    /// The program itself, after the machine was suspended.
    case program
}

/// A person keeps a unit out of service.
///
/// It ends by that person, by somebody who names that person, or by its time; a trip, a reset, a resume and a
/// restart leave it as it is. An end by time starts nothing: the unit is held from then on.
public struct UnitLock: Sendable, BitwiseCopyable {
    public enum Kind: UInt8, Sendable, BitwiseCopyable, Equatable {
        /// Zero power, contactors open, and its devices are the person's to write to.
        case maintenance
        /// Zero power, ready to run.
        case standby
        /// Zero power, contactors open.
        case hold

        public var name: StaticString {
            switch self {
            case .maintenance: "maintenance"
            case .standby: "standby"
            case .hold: "hold"
            }
        }
    }

    public var kind: Kind
    public var person: Person
    /// `nil` = until somebody ends it; of a hold alone.
    public var end: MonotonicTime?
}

/// The locks of one unit: of each person one of each kind.
struct UnitLocks: Sendable, BitwiseCopyable {
    /// Persons at one unit at once; the next is refused.
    static let room = 6
    private var slots: InlineArray<6, UnitLock?> = InlineArray(repeating: nil)
    private(set) var isMaintained = false
    private(set) var isStandby = false
    private(set) var isHeld = false

    init() {}

    /// Sets a lock, or changes the end of the same one.
    ///
    /// - Returns: `false` where there is no room.
    mutating func set(_ lock: UnitLock) -> Bool {
        var place: Int?
        for index in 0..<Self.room {
            guard let other = slots[index] else {
                place = place ?? index
                continue
            }
            guard other.kind == lock.kind && other.person == lock.person else { continue }
            // A longer one is the same one: where the unit came from does not change.
            slots[index]?.end = lock.end
            return true
        }
        guard let place else { return false }
        slots[place] = lock
        learn()
        return true
    }

    /// Takes out one lock of `person`; `nil` where there is none left.
    mutating func remove(of person: Person) -> UnitLock? {
        for index in 0..<Self.room {
            guard let lock = slots[index], lock.person == person else { continue }
            slots[index] = nil
            learn()
            return lock
        }
        return nil
    }

    /// Takes out one lock whose time is over; `nil` where there is none left.
    mutating func removeEnded(at now: MonotonicTime) -> UnitLock? {
        guard isMaintained || isStandby || isHeld else { return nil }
        for index in 0..<Self.room {
            guard let lock = slots[index], let end = lock.end, now >= end else { continue }
            slots[index] = nil
            learn()
            return lock
        }
        return nil
    }

    private mutating func learn() {
        (isMaintained, isStandby, isHeld) = (false, false, false)
        for index in 0..<Self.room {
            switch slots[index]?.kind {
            case .maintenance: isMaintained = true
            case .standby: isStandby = true
            case .hold: isHeld = true
            case nil: continue
            }
        }
    }

    /// When the last maintenance ends; `nil` while there is none.
    var maintenanceEnd: MonotonicTime? {
        var latest: MonotonicTime?
        for index in 0..<Self.room {
            guard let lock = slots[index], lock.kind == .maintenance, let end = lock.end else { continue }
            if let former = latest, former > end { continue }
            latest = end
        }
        return latest
    }
}
