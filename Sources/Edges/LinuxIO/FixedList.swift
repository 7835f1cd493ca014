/// A list of values that have one owner each, filled once and then used by one thread. `Array` cannot hold
/// them.
/// `@unchecked Sendable`: filled by one thread, then handed to one other, which alone uses it.
public final class FixedList<Element: ~Copyable & Sendable>: @unchecked Sendable {
    public internal(set) var count = 0
    private let capacity: Int
    @usableFromInline let elements: UnsafeMutablePointer<Element>

    public init(capacity: Int) {
        self.capacity = capacity
        elements = .allocate(capacity: capacity)
    }

    deinit {
        elements.deinitialize(count: count)
        elements.deallocate()
    }

    /// Before the list is handed to its thread.
    public func append(_ element: consuming Element) {
        precondition(count < capacity)
        (elements + count).initialize(to: element)
        count += 1
    }

    /// The element's place; only for the thread that the list was handed to.
    @inlinable public subscript(index: Int) -> UnsafeMutablePointer<Element> {
        precondition(index >= 0 && index < count)
        return elements + index
    }
}
