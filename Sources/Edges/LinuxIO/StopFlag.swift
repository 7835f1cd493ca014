import Synchronization

/// Asks a thread to come to its end; raised once, by anybody, and never lowered.
public final class StopFlag: Sendable {
    private let flag = Atomic<Bool>(false)

    public init() {}

    public func raise() { flag.store(true, ordering: .releasing) }
    public var isRaised: Bool { flag.load(ordering: .acquiring) }
}
