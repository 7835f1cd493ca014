import DeviceCodecs
import Quantities
import Synchronization

/// What a CAN bus thread has done so far; any thread may read it at any time.
public final class CANBusStatus: Sendable {
    private let isUp = Atomic<Bool>(false)
    private let heartbeatCount = Atomic<UInt64>(0)
    private let frameCount = Atomic<UInt64>(0)
    private let rejectedCount = Atomic<UInt64>(0)
    private let shortCount = Atomic<UInt64>(0)
    private let protectionCount = Atomic<UInt64>(0)
    private let ignoredCount = Atomic<UInt64>(0)
    private let busErrorCount = Atomic<UInt64>(0)
    private let linkLossCount = Atomic<UInt64>(0)
    private let garbageCount = Atomic<UInt64>(0)
    private let keepAliveCount = Atomic<UInt64>(0)
    private let refusalCount = Atomic<UInt64>(0)
    private let conflictCount = Atomic<UInt64>(0)
    private let droppedCount = Atomic<UInt64>(0)
    private let unusableCount = Atomic<UInt64>(0)
    private let bus = BusCounters()
    private let strayCounts = StrayCounters()

    public init() {}

    public var isLinkUp: Bool { isUp.load(ordering: .relaxed) }
    /// Moves at least every 100 ms while the thread goes round, whatever the link does; for the watchdog.
    public var heartbeat: UInt64 { heartbeatCount.load(ordering: .relaxed) }
    /// Frames received, of any kind.
    public var frames: UInt64 { frameCount.load(ordering: .relaxed) }
    public var rejectedFrames: UInt64 { rejectedCount.load(ordering: .relaxed) }
    /// Of the rejected ones those that end before what they should carry.
    public var shortFrames: UInt64 { shortCount.load(ordering: .relaxed) }
    /// Of the rejected ones those of protected messages with a wrong checksum or counter.
    public var protectionFailures: UInt64 { protectionCount.load(ordering: .relaxed) }
    /// Frames with an identifier that the battery does not have, and remote frames.
    public var ignoredFrames: UInt64 { ignoredCount.load(ordering: .relaxed) }
    /// Error frames.
    public var busErrors: UInt64 { busErrorCount.load(ordering: .relaxed) }
    /// Failed attempts to open and losses of the link.
    public var linkLosses: UInt64 { linkLossCount.load(ordering: .relaxed) }
    public var garbageBytes: UInt64 { garbageCount.load(ordering: .relaxed) }
    public var keepAlives: UInt64 { keepAliveCount.load(ordering: .relaxed) }
    /// Frames of ours that found no room to leave.
    public var refusedSends: UInt64 { refusalCount.load(ordering: .relaxed) }
    /// Frames of somebody else with an identifier that only we send.
    public var identifierConflicts: UInt64 { conflictCount.load(ordering: .relaxed) }
    /// Frames lost because the kernel's queue was full.
    public var droppedFrames: UInt64 { droppedCount.load(ordering: .relaxed) }
    /// As the CAN controller says; `unknown` while the link is down and where nobody tells.
    public var busState: CANBusState { CANBusState(rawValue: bus.state.load(ordering: .relaxed)) ?? .unknown }
    /// In thousandths of what the bus carries, over the last second.
    public var load: UInt32 { bus.load.load(ordering: .relaxed) }

    /// What came since the battery's last word and was none; `nil` = nothing.
    public func strays(at now: MonotonicTime) -> CANStrays? { strayCounts.look(at: now) }

    /// All of it, by the names that the site's status gives it.
    public var counters: [String: UInt64] {
        [
            "up": isLinkUp ? 1 : 0, "frames": frames, "rejected_frames": rejectedFrames,
            "short_frames": shortFrames, "protection_failures": protectionFailures,
            "ignored_frames": ignoredFrames, "bus_errors": busErrors,
            "link_losses": linkLosses, "garbage_bytes": garbageBytes, "keep_alives": keepAlives,
            "refused_sends": refusedSends, "identifier_conflicts": identifierConflicts,
            "dropped_frames": droppedFrames, "unusable_frames": unusableCount.load(ordering: .relaxed),
        ].merging(bus.counters) { $1 }
    }

    func beat() { heartbeatCount.add(1, ordering: .relaxed) }
    func setLink(up: Bool) { isUp.store(up, ordering: .relaxed) }
    func addFrame() { frameCount.add(1, ordering: .relaxed) }
    func addRejected(_ reason: BatteryFrameOutcome.Rejection) {
        rejectedCount.add(1, ordering: .relaxed)
        switch reason {
        case .tooShort: shortCount.add(1, ordering: .relaxed)
        case .checksum, .counter: protectionCount.add(1, ordering: .relaxed)
        case .outOfRange, .contradictory, .voltageScale: break
        }
    }
    func addStray(_ kind: StrayCounters.Kind, at time: MonotonicTime) { strayCounts.add(kind, at: time) }
    func clearStrays() { strayCounts.clear() }
    func addIgnored() { ignoredCount.add(1, ordering: .relaxed) }
    func addBusError() { busErrorCount.add(1, ordering: .relaxed) }
    func addLinkLoss() { linkLossCount.add(1, ordering: .relaxed) }
    func addGarbage(_ bytes: UInt64) { garbageCount.add(bytes, ordering: .relaxed) }
    func addKeepAlive() { keepAliveCount.add(1, ordering: .relaxed) }
    func addRefusal() { refusalCount.add(1, ordering: .relaxed) }
    func addConflict() { conflictCount.add(1, ordering: .relaxed) }
    func addDropped(_ frames: UInt64) { droppedCount.add(frames, ordering: .relaxed) }
    func addUnusable(_ frames: UInt64) { unusableCount.add(frames, ordering: .relaxed) }
    func show(_ supervision: CANSupervision) { bus.show(supervision) }
}

/// What the supervision has seen.
private struct BusCounters: ~Copyable, Sendable {
    let state = Atomic<UInt8>(0)
    let load = Atomic<UInt32>(0)
    let isStalled = Atomic<Bool>(false)
    private let peakLoad = Atomic<UInt32>(0)
    private let transmitErrors = Atomic<UInt8>(0)
    private let receiveErrors = Atomic<UInt8>(0)
    private let busOffs = Atomic<UInt64>(0)
    private let restarts = Atomic<UInt64>(0)
    private let overflows = Atomic<UInt64>(0)
    private let stalls = Atomic<UInt64>(0)

    func show(_ supervision: CANSupervision) {
        state.store(supervision.state.rawValue, ordering: .relaxed)
        load.store(supervision.load, ordering: .relaxed)
        isStalled.store(supervision.isStalled, ordering: .relaxed)
        peakLoad.store(supervision.peakLoad, ordering: .relaxed)
        transmitErrors.store(supervision.transmitErrors, ordering: .relaxed)
        receiveErrors.store(supervision.receiveErrors, ordering: .relaxed)
        busOffs.store(supervision.busOffs, ordering: .relaxed)
        restarts.store(supervision.restarts, ordering: .relaxed)
        overflows.store(supervision.overflows, ordering: .relaxed)
        stalls.store(supervision.stalls, ordering: .relaxed)
    }

    var counters: [String: UInt64] {
        [
            "bus_state": UInt64(state.load(ordering: .relaxed)),
            "bus_load_permille": UInt64(load.load(ordering: .relaxed)),
            "peak_load_permille": UInt64(peakLoad.load(ordering: .relaxed)),
            "transmit_errors": UInt64(transmitErrors.load(ordering: .relaxed)),
            "receive_errors": UInt64(receiveErrors.load(ordering: .relaxed)),
            "bus_offs": busOffs.load(ordering: .relaxed), "bus_restarts": restarts.load(ordering: .relaxed),
            "controller_overflows": overflows.load(ordering: .relaxed),
            "transmit_stalled": isStalled.load(ordering: .relaxed) ? 1 : 0,
            "transmit_stalls": stalls.load(ordering: .relaxed),
        ]
    }
}
