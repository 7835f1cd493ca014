import Quantities
import Synchronization

/// Keeps a link's owner from saying anything at all to one I/O module, on purpose: to see whether the
/// module's outputs fall by themselves.
///
/// Everything is held back, also what would switch a coil off; so that it is for a time only, which the owner
/// keeps by itself, and for a unit whose power is zero. One thread asks, the owner carries it out.
public final class ModbusHush: Sendable {
    public enum Outcome: Sendable, Equatable {
        /// The levels at both ends, bit 0 = the lowest coil that is driven, and the time between.
        case looked(before: UInt64, after: UInt64, time: Duration)
        /// The module could not be read.
        case unreadable
    }

    private let length = Atomic<Int64>(0)
    /// Of the owner: 0 = none, 1 = quiet, 2 = looked, 3 = unreadable.
    private let state = Atomic<Int>(0)
    private let since = Atomic<Int64>(0)
    private let until = Atomic<Int64>(0)
    private let before = Atomic<UInt64>(0)
    private let after = Atomic<UInt64>(0)
    private let lookedAt = Atomic<Int64>(0)

    init() {}

    /// Longest that nothing is said, whatever is asked for.
    public static let longest = Duration.seconds(10)

    /// Asks for silence from now on; clamped to `longest`.
    public func begin(for time: Duration) {
        length.store(min(time, Self.longest).nanoseconds, ordering: .releasing)
    }

    /// Ends it: what is to be written is written at once.
    public func end() { length.store(0, ordering: .releasing) }

    /// Nothing is said to the module now.
    public var isQuiet: Bool { state.load(ordering: .acquiring) == 1 }

    /// `nil` until it is over.
    public var outcome: Outcome? {
        switch state.load(ordering: .acquiring) {
        case 2:
            let time = lookedAt.load(ordering: .relaxed) - since.load(ordering: .relaxed)
            return .looked(
                before: before.load(ordering: .relaxed), after: after.load(ordering: .relaxed),
                time: .nanoseconds(time))
        case 3: return .unreadable
        // Not begun, or under way.
        default: return nil
        }
    }

    // MARK: The owner's side

    enum Order: Equatable {
        /// Go on as ever.
        case none
        /// Read the coils, then say nothing more.
        case begin
        case quiet
        /// The time is over: read the coils before anything else.
        case look
        /// It was ended before its time.
        case over
    }

    func order(at now: MonotonicTime) -> Order {
        let isAsked = length.load(ordering: .acquiring) > 0
        switch state.load(ordering: .relaxed) {
        case 1:
            guard isAsked else {
                state.store(0, ordering: .releasing)
                return .over
            }
            return now.nanoseconds < until.load(ordering: .relaxed) ? .quiet : .look
        case 0: return isAsked ? .begin : .none
        // An outcome stays until the silence is no longer asked for.
        default:
            if !isAsked { state.store(0, ordering: .releasing) }
            return .none
        }
    }

    /// - Returns: when it is to look again.
    func began(with levels: UInt64, at now: MonotonicTime) -> MonotonicTime {
        let end = now + .nanoseconds(length.load(ordering: .relaxed))
        before.store(levels, ordering: .relaxed)
        since.store(now.nanoseconds, ordering: .relaxed)
        until.store(end.nanoseconds, ordering: .relaxed)
        state.store(1, ordering: .releasing)
        return end
    }

    func ended(with levels: UInt64, at now: MonotonicTime) {
        after.store(levels, ordering: .relaxed)
        lookedAt.store(now.nanoseconds, ordering: .relaxed)
        state.store(2, ordering: .releasing)
    }

    func failed() { state.store(3, ordering: .releasing) }
}
