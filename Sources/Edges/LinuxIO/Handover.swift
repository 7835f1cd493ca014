import Synchronization

/// Carries a value that has one owner into a thread's body, which takes it once.
public final class Handover<Value: ~Copyable>: Sendable {
    private let content: Mutex<Value?>

    public init(_ value: consuming sending Value) { content = Mutex(value) }

    /// The value at the first call; `nil` afterwards.
    public func take() -> sending Value? { content.withLock { $0.take() } }
}
