import Synchronization

/// A bounded queue from one writer thread to one reader thread; neither ever waits. What finds no room is
/// counted, never dropped in silence.
///
/// *Memory order.* The writer fills a slot and then releases it with the count of written ones; the reader
/// acquires that count before it reads the slot. The other way the reader releases a slot with the count of
/// taken ones, and the writer acquires that count before it fills the slot again. Each end reads its own
/// count relaxed, since nobody else writes it; the count of refused ones is only ever looked at.
///
/// `@unchecked Sendable`: a slot belongs to the writer or to the reader, as the two atomic counters say.
public final class RingBuffer<Element: BitwiseCopyable & Sendable>: @unchecked Sendable {
    @usableFromInline let slots: UnsafeMutablePointer<Element>
    @usableFromInline let capacity: UInt64
    @usableFromInline let written = Atomic<UInt64>(0)
    @usableFromInline let taken = Atomic<UInt64>(0)
    @usableFromInline let refused = Atomic<UInt64>(0)

    public init(capacity: Int, filler: Element) {
        precondition(capacity > 0)
        self.capacity = UInt64(capacity)
        slots = .allocate(capacity: capacity)
        slots.initialize(repeating: filler, count: capacity)
    }

    deinit { slots.deallocate() }

    /// Writer only. `false` where the queue is full; `lost` counts it.
    @discardableResult @inlinable
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
    @inlinable public func pop() -> Element? {
        let position = taken.load(ordering: .relaxed)
        guard position < written.load(ordering: .acquiring) else { return nil }
        let element = slots[Int(position % capacity)]
        taken.store(position &+ 1, ordering: .releasing)
        return element
    }

    /// Writer only: `fill` is given the slot as it was left, and writes what it needs of it.
    @discardableResult @inlinable
    public func push(filling fill: (inout Element) -> Void) -> Bool {
        let position = written.load(ordering: .relaxed)
        guard position &- taken.load(ordering: .acquiring) < capacity else {
            refused.add(1, ordering: .relaxed)
            return false
        }
        fill(&slots[Int(position % capacity)])
        written.store(position &+ 1, ordering: .releasing)
        return true
    }

    /// Reader only: `read` has the slot to itself.
    ///
    /// - Returns: whether there was one.
    @inlinable public func pop(reading read: (inout Element) -> Void) -> Bool {
        let position = taken.load(ordering: .relaxed)
        guard position < written.load(ordering: .acquiring) else { return false }
        read(&slots[Int(position % capacity)])
        taken.store(position &+ 1, ordering: .releasing)
        return true
    }

    /// Reader only: the next one stays where it does not fulfil `condition`.
    @inlinable public func pop(if condition: (Element) -> Bool) -> Element? {
        let position = taken.load(ordering: .relaxed)
        guard position < written.load(ordering: .acquiring) else { return nil }
        let element = slots[Int(position % capacity)]
        guard condition(element) else { return nil }
        taken.store(position &+ 1, ordering: .releasing)
        return element
    }

    /// How many elements have been put in, and how many taken out again, so far.
    public var writtenCount: UInt64 { written.load(ordering: .acquiring) }
    public var takenCount: UInt64 { taken.load(ordering: .acquiring) }

    /// How many elements found no room so far.
    public var lost: UInt64 { refused.load(ordering: .relaxed) }
}
