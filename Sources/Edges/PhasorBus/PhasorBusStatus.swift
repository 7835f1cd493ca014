import DeviceCodecs
import LinuxIO
import Quantities
import Synchronization

/// What a PMU's link has done so far; readable from any thread.
public final class PhasorBusStatus: Sendable {
    private let isUp = Atomic<Bool>(false)
    private let counts: InlineCounters

    public init() { counts = InlineCounters() }

    public var isLinkUp: Bool { isUp.load(ordering: .relaxed) }
    /// Moves at least every 100 ms while the thread goes round, whatever the link does; for the watchdog.
    public var heartbeat: UInt64 { counts.heartbeat.load(ordering: .relaxed) }
    /// Whole frames of any kind.
    public var frames: UInt64 { counts.frames.load(ordering: .relaxed) }
    /// Data frames that gave a sample, good or marked bad by the PMU.
    public var samples: UInt64 { counts.samples.load(ordering: .relaxed) }
    public var configurations: UInt64 { counts.configurations.load(ordering: .relaxed) }
    public var duplicates: UInt64 { counts.duplicates.load(ordering: .relaxed) }
    /// Data frames older than one that came before, or from another time.
    public var outOfOrder: UInt64 { counts.outOfOrder.load(ordering: .relaxed) }
    public var badChecksums: UInt64 { counts.badChecksums.load(ordering: .relaxed) }
    /// Frames refused for another reason than their checksum.
    public var rejected: UInt64 { counts.rejected.load(ordering: .relaxed) }
    public var garbageBytes: UInt64 { counts.garbageBytes.load(ordering: .relaxed) }
    /// Failed attempts to open and losses of the link.
    public var linkLosses: UInt64 { counts.linkLosses.load(ordering: .relaxed) }

    func beat() { counts.heartbeat.add(1, ordering: .relaxed) }
    func setLink(up: Bool) { isUp.store(up, ordering: .relaxed) }
    func addFrame() { counts.frames.add(1, ordering: .relaxed) }
    func addLinkLoss() { counts.linkLosses.add(1, ordering: .relaxed) }
    func addBadChecksums(_ count: UInt64) { counts.badChecksums.add(count, ordering: .relaxed) }
    func addGarbage(_ bytes: UInt64) { counts.garbageBytes.add(bytes, ordering: .relaxed) }

    func add(_ outcome: PhasorStream.Outcome) {
        switch outcome {
        case .sample: counts.samples.add(1, ordering: .relaxed)
        case .configured: counts.configurations.add(1, ordering: .relaxed)
        case .duplicate: counts.duplicates.add(1, ordering: .relaxed)
        case .outOfOrder: counts.outOfOrder.add(1, ordering: .relaxed)
        case .rejected(.checksum): counts.badChecksums.add(1, ordering: .relaxed)
        case .rejected: counts.rejected.add(1, ordering: .relaxed)
        case .unconfigured, .ignored: break
        }
    }
}

private struct InlineCounters: ~Copyable, Sendable {
    let heartbeat = Atomic<UInt64>(0)
    let frames = Atomic<UInt64>(0)
    let samples = Atomic<UInt64>(0)
    let configurations = Atomic<UInt64>(0)
    let duplicates = Atomic<UInt64>(0)
    let outOfOrder = Atomic<UInt64>(0)
    let badChecksums = Atomic<UInt64>(0)
    let rejected = Atomic<UInt64>(0)
    let garbageBytes = Atomic<UInt64>(0)
    let linkLosses = Atomic<UInt64>(0)
}
