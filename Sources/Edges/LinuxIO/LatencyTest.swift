import Glibc
import Quantities
import Synchronization

/// Cyclic wake-ups as the control cycle makes them, without its work: what the machine alone adds.
public final class LatencyTest: Sendable {
    /// From each planned instant to the thread's first instruction.
    public let lateness = Histogram()
    private let missed = Atomic<UInt64>(0)
    private let granted = Mutex<RealTimeGrant?>(nil)

    public init() {}

    /// Periods that were left out because an earlier one ended too late.
    public var overruns: UInt64 { missed.load(ordering: .relaxed) }
    /// What the thread was granted; `nil` before it ran.
    public var grant: RealTimeGrant? { granted.withLock { $0 } }

    /// Sleeps until each `period` for `duration`, on a thread of its own with the scheduling asked for.
    public func run(
        period: Duration, duration: Duration, priority: Int, cpu: Int?, locksMemory: Bool = true
    ) throws(SystemError) {
        let thread = try SystemThread(name: "latency") {
            let grant = RealTime.enter(priority: priority, cpu: cpu, locksMemory: locksMemory)
            self.granted.withLock { $0 = grant }
            self.turn(period, until: .now() + duration)
        }
        thread.join()
    }

    private func turn(_ period: Duration, until end: MonotonicTime) {
        var planned = MonotonicTime.now()
        while planned < end {
            planned = planned + period
            planned.sleep()
            let late = (MonotonicTime.now() - planned).nanoseconds
            lateness.record(late)
            let skipped = late / period.nanoseconds
            guard skipped > 0 else { continue }
            missed.add(UInt64(skipped), ordering: .relaxed)
            planned = planned + .nanoseconds(skipped * period.nanoseconds)
        }
    }
}

/// Work that stands in a gateway's way: arithmetic on every processor, copying of memory, writing to disk.
public final class MachineLoad: Sendable {
    private let stop = StopFlag()
    private let threads: [SystemThread]

    /// Begins at once; normal scheduling.
    ///
    /// - Parameter folder: where a file of 8 MiB is written again and again; nameless, it goes with us.
    public init(processors: Int, folder: String) throws(SystemError) {
        var threads: [SystemThread] = []
        let stop = stop
        for _ in 0..<max(1, processors) {
            threads.append(try SystemThread(name: "load-cpu") { Self.compute(until: stop) })
        }
        threads.append(try SystemThread(name: "load-memory") { Self.copy(until: stop) })
        threads.append(try SystemThread(name: "load-disk") { Self.write(in: folder, until: stop) })
        self.threads = threads
    }

    /// Ends all of it.
    public func end() {
        stop.raise()
        for thread in threads { thread.join() }
    }

    private static func compute(until stop: StopFlag) {
        var number: UInt64 = 1
        while !stop.isRaised {
            for _ in 0..<100_000 { number = number &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407 }
        }
        // So that the loop is not left out.
        withExtendedLifetime(number) {}
    }

    private static func copy(until stop: StopFlag) {
        let size = 32 << 20
        let (from, to) = (malloc(size), malloc(size))
        defer {
            free(from)
            free(to)
        }
        guard let from, let to else { return }
        memset(from, 1, size)
        while !stop.isRaised { memcpy(to, from, size) }
    }

    private static func write(in folder: String, until stop: StopFlag) {
        var template = Array("\(folder)/load-XXXXXX".utf8CString)
        let number = mkstemp(&template)
        guard number >= 0 else { return }
        unlink(template)
        let file = FileDescriptor(owning: number)
        let block = [UInt8](repeating: 0x5a, count: 1 << 20)
        while !stop.isRaised {
            for at in 0..<8 where !stop.isRaised {
                _ = block.withUnsafeBytes { pwrite(file.number, $0.baseAddress, $0.count, at << 20) }
            }
            fdatasync(file.number)
        }
    }
}
