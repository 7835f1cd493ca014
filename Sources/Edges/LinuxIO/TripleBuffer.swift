import Synchronization

/// The latest value of one writer for one reader. Neither ever waits for the other, and no value is ever
/// torn.
///
/// Three slots: the writer fills its own, the reader reads its own, and one lies between them. The only
/// shared word holds the index of the slot between and a "fresh" bit; publishing and taking are each one
/// atomic exchange of it.
/// *Memory order.* The writer's exchange releases the slot's contents together with its index, and the
/// reader's exchange acquires both; in the other direction the reader's exchange releases the slot it has
/// finished with, and the writer's acquires it, so the writer never fills a slot that is still being read.
/// Both exchanges therefore are acquire-and-release; the plain look at the fresh bit before the exchange may
/// be relaxed, since it only decides whether to try.
///
/// `@unchecked Sendable`, here and on both ends: a slot belongs to one end at a time, as the shared word
/// says.
///
/// The ends are `@inlinable`, so that each user copies values of a known size in place, and ThreadSanitizer
/// sees it.
///
/// The storage must outlive both ends: keep the `TripleBuffer` as long as a thread uses them.
public final class TripleBuffer<Element: BitwiseCopyable & Sendable>: @unchecked Sendable {
    @usableFromInline let slots: UnsafeMutablePointer<Element>
    @usableFromInline let between: UnsafeMutablePointer<Atomic<UInt32>>
    private let handedOut = Atomic<UInt8>(0)

    public init(_ initial: Element) {
        slots = .allocate(capacity: 3)
        slots.initialize(repeating: initial, count: 3)
        between = .allocate(capacity: 1)
        between.initialize(to: Atomic(1))
    }

    deinit {
        between.deinitialize(count: 1)
        between.deallocate()
        slots.deinitialize(count: 3)
        slots.deallocate()
    }

    /// The writing end; there is one.
    public func writer() -> TripleBufferWriter<Element> {
        precondition(handedOut.bitwiseOr(1, ordering: .relaxed).oldValue & 1 == 0)
        return TripleBufferWriter(slots: slots, between: between)
    }

    /// The reading end; there is one.
    public func reader() -> TripleBufferReader<Element> {
        precondition(handedOut.bitwiseOr(2, ordering: .relaxed).oldValue & 2 == 0)
        return TripleBufferReader(slots: slots, between: between)
    }
}

/// The writing end of a `TripleBuffer`; moves to the thread that writes.
public struct TripleBufferWriter<Element: BitwiseCopyable & Sendable>: ~Copyable, @unchecked Sendable {
    @usableFromInline let slots: UnsafeMutablePointer<Element>
    @usableFromInline let between: UnsafeMutablePointer<Atomic<UInt32>>
    @usableFromInline var own: UInt32 = 0

    fileprivate init(slots: UnsafeMutablePointer<Element>, between: UnsafeMutablePointer<Atomic<UInt32>>) {
        self.slots = slots
        self.between = between
    }

    @inlinable public mutating func publish(_ value: Element) {
        slots[Int(own)] = value
        commit()
    }

    /// The slot to fill before `commit()`. It holds an old value: write every field.
    @inlinable public var pending: UnsafeMutablePointer<Element> { slots + Int(own) }

    @inlinable public mutating func commit() {
        own = between.pointee.exchange(own | 4, ordering: .acquiringAndReleasing) & 3
    }
}

/// The reading end of a `TripleBuffer`; moves to the thread that reads.
public struct TripleBufferReader<Element: BitwiseCopyable & Sendable>: ~Copyable, @unchecked Sendable {
    @usableFromInline let slots: UnsafeMutablePointer<Element>
    @usableFromInline let between: UnsafeMutablePointer<Atomic<UInt32>>
    @usableFromInline var own: UInt32 = 2

    fileprivate init(slots: UnsafeMutablePointer<Element>, between: UnsafeMutablePointer<Atomic<UInt32>>) {
        self.slots = slots
        self.between = between
    }

    /// Takes the newest value if one was published since the last call.
    @discardableResult @inlinable
    public mutating func update() -> Bool {
        if between.pointee.load(ordering: .relaxed) & 4 == 0 { return false }
        own = between.pointee.exchange(own, ordering: .acquiringAndReleasing) & 3
        return true
    }

    /// The value taken last; nobody writes it until the next `update()`.
    @inlinable public var latest: UnsafePointer<Element> { UnsafePointer(slots + Int(own)) }
}
