import Quantities
import Synchronization

/// What has come on a battery's wire since the battery itself said something that counts: who hears no word
/// of it need not have a silent wire.
public struct CANStrays: Sendable, Equatable {
    /// Frames of its own whose content was refused.
    public var refused: UInt64
    /// Frames with identifiers that it does not have.
    public var foreign: UInt64
    /// How often bytes came that are no frames.
    public var rubbish: UInt64
    /// Since the last of them.
    public var age: Duration

    public init(refused: UInt64, foreign: UInt64, rubbish: UInt64, age: Duration) {
        self.refused = refused
        self.foreign = foreign
        self.rubbish = rubbish
        self.age = age
    }
}

/// Their counters; one thread counts, any reads.
struct StrayCounters: ~Copyable, Sendable {
    enum Kind { case refused, foreign, rubbish }

    private let refused = Atomic<UInt64>(0)
    private let foreign = Atomic<UInt64>(0)
    private let rubbish = Atomic<UInt64>(0)
    private let lastAt = Atomic<Int64>(0)

    func add(_ kind: Kind, at time: MonotonicTime) {
        switch kind {
        case .refused: refused.add(1, ordering: .relaxed)
        case .foreign: foreign.add(1, ordering: .relaxed)
        case .rubbish: rubbish.add(1, ordering: .relaxed)
        }
        lastAt.store(time.nanoseconds, ordering: .releasing)
    }

    /// The battery has said something.
    func clear() {
        guard lastAt.load(ordering: .relaxed) != 0 else { return }
        lastAt.store(0, ordering: .relaxed)
        refused.store(0, ordering: .relaxed)
        foreign.store(0, ordering: .relaxed)
        rubbish.store(0, ordering: .relaxed)
    }

    func look(at now: MonotonicTime) -> CANStrays? {
        let last = lastAt.load(ordering: .acquiring)
        guard last != 0 else { return nil }
        return CANStrays(
            refused: refused.load(ordering: .relaxed), foreign: foreign.load(ordering: .relaxed),
            rubbish: rubbish.load(ordering: .relaxed),
            age: max(.zero, now - MonotonicTime(nanoseconds: last)))
    }
}
