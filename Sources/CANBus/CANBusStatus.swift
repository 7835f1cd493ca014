import Synchronization

/// What a CAN bus thread has done so far; any thread may read it at any time.
public final class CANBusStatus: Sendable {
    private let isUp = Atomic<Bool>(false)
    private let heartbeatCount = Atomic<UInt64>(0)
    private let frameCount = Atomic<UInt64>(0)
    private let rejectedCount = Atomic<UInt64>(0)
    private let ignoredCount = Atomic<UInt64>(0)
    private let busErrorCount = Atomic<UInt64>(0)
    private let linkLossCount = Atomic<UInt64>(0)
    private let garbageCount = Atomic<UInt64>(0)
    private let keepAliveCount = Atomic<UInt64>(0)

    public init() {}

    public var isLinkUp: Bool { isUp.load(ordering: .relaxed) }
    /// Moves at least every 100 ms while the thread goes round, whatever the link does; for the watchdog.
    public var heartbeat: UInt64 { heartbeatCount.load(ordering: .relaxed) }
    /// Frames received, of any kind.
    public var frames: UInt64 { frameCount.load(ordering: .relaxed) }
    public var rejectedFrames: UInt64 { rejectedCount.load(ordering: .relaxed) }
    /// Frames with an unknown or a 29-bit identifier, and remote frames.
    public var ignoredFrames: UInt64 { ignoredCount.load(ordering: .relaxed) }
    public var busErrors: UInt64 { busErrorCount.load(ordering: .relaxed) }
    /// Failed attempts to open and losses of the link.
    public var linkLosses: UInt64 { linkLossCount.load(ordering: .relaxed) }
    public var garbageBytes: UInt64 { garbageCount.load(ordering: .relaxed) }
    public var keepAlives: UInt64 { keepAliveCount.load(ordering: .relaxed) }

    func beat() { heartbeatCount.add(1, ordering: .relaxed) }
    func setLink(up: Bool) { isUp.store(up, ordering: .relaxed) }
    func addFrame() { frameCount.add(1, ordering: .relaxed) }
    func addRejected() { rejectedCount.add(1, ordering: .relaxed) }
    func addIgnored() { ignoredCount.add(1, ordering: .relaxed) }
    func addBusError() { busErrorCount.add(1, ordering: .relaxed) }
    func addLinkLoss() { linkLossCount.add(1, ordering: .relaxed) }
    func addGarbage(_ bytes: UInt64) { garbageCount.add(bytes, ordering: .relaxed) }
    func addKeepAlive() { keepAliveCount.add(1, ordering: .relaxed) }
}
