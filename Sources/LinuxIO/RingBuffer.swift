import Synchronization

/// A bounded queue from one writer thread to one reader thread; neither ever waits. What finds no room is
/// counted, never dropped in silence.
///
/// `@unchecked Sendable`: a slot belongs to the writer or to the reader, as the two atomic counters say.
public final class RingBuffer<Element: BitwiseCopyable & Sendable>: @unchecked Sendable {
    private let slots: UnsafeMutablePointer<Element>
    private let capacity: UInt64
    private let written = Atomic<UInt64>(0)
    private let taken = Atomic<UInt64>(0)
    private let refused = Atomic<UInt64>(0)

    public init(capacity: Int, filler: Element) {
        precondition(capacity > 0)
        self.capacity = UInt64(capacity)
        slots = .allocate(capacity: capacity)
        slots.initialize(repeating: filler, count: capacity)
    }

    deinit { slots.deallocate() }

    /// Writer only. `false` where the queue is full; `lost` counts it.
    @discardableResult
    public func push(_ element: Element) -> Bool {
        let position = written.load(ordering: .relaxed)
        guard position &- taken.load(ordering: .acquiring) < capacity else {
            refused.add(1, ordering: .relaxed)
            return false
        }
        slots[Int(position % capacity)] = element
        written.store(position &+ 1, ordering: .releasing)
        return true
    }

    /// Reader only.
    public func pop() -> Element? {
        let position = taken.load(ordering: .relaxed)
        guard position < written.load(ordering: .acquiring) else { return nil }
        let element = slots[Int(position % capacity)]
        taken.store(position &+ 1, ordering: .releasing)
        return element
    }

    /// How many elements found no room so far.
    public var lost: UInt64 { refused.load(ordering: .relaxed) }
}
