import Glibc
import LinuxIO
import Quantities
import SiteEvents

/// Compares the machine's clocks. Control runs on the monotonic one; the others are looked at only to tell
/// people, and to notice that the machine was suspended.
struct ClockWatch {
    enum Finding: Equatable {
        case wallStepped(by: Duration)
        case suspended(for: Duration)
        case standsStill
    }

    /// The clocks as they were read at one moment.
    struct Reading {
        var monotonic: MonotonicTime
        var boot: Duration
        var wallMilliseconds: Int64

        /// `nil` where the thread was held between two readings: they belong to no one moment then.
        static func now() -> Reading? {
            let before = MonotonicTime.now()
            let (boot, wall) = (BootClock.now(), WallClock.nowMilliseconds())
            let after = MonotonicTime.now()
            guard after - before < .milliseconds(5) else { return nil }
            return Reading(monotonic: before, boot: boot, wallMilliseconds: wall)
        }
    }

    /// Smaller differences come from slewing and from reading one clock after the other.
    private static let smallestStep = Duration.milliseconds(500)
    private static let smallestSuspension = Duration.milliseconds(100)
    /// Looks are 10 ms apart by the kernel's own count.
    private static let stillLimit = 300
    private var last: Reading?
    private var stillCount = 0

    /// Whether the monotonic clock moves at all.
    static func advances() -> Bool {
        let start = MonotonicTime.now()
        for _ in 0..<10 {
            if MonotonicTime.now() > start { return true }
            // The kernel's own count, whatever the clock says.
            _ = poll(nil, 0, 10)
        }
        return false
    }

    mutating func look() -> [Finding] {
        guard let reading = Reading.now() else { return [] }
        return look(reading)
    }

    mutating func look(_ reading: Reading) -> [Finding] {
        defer { last = reading }
        guard let last else { return [] }
        let elapsed = reading.monotonic - last.monotonic
        stillCount = elapsed == .zero ? stillCount + 1 : 0
        var findings: [Finding] = []
        let asleep = reading.boot - last.boot - elapsed
        if asleep >= Self.smallestSuspension { findings.append(.suspended(for: asleep)) }
        // A suspension moves the wall clock too; only what is more than that was a step.
        let step =
            .milliseconds(reading.wallMilliseconds - last.wallMilliseconds) - elapsed - max(.zero, asleep)
        if step >= Self.smallestStep || step <= .zero - Self.smallestStep {
            findings.append(.wallStepped(by: step))
        }
        if stillCount == Self.stillLimit { findings.append(.standsStill) }
        return findings
    }
}

extension ClockWatch.Finding {
    var record: LogRecord {
        switch self {
        case .wallStepped(let step):
            LogRecord(
                .clockStep, "the wall clock was set by \(Self.seconds(step)) s; control does not use it",
                [.value: Self.seconds(step)])
        case .suspended(let time):
            LogRecord(
                .suspended,
                "the machine was suspended for \(Self.seconds(time)) s: every unit enters service anew."
                    + " A gateway must never sleep", [.value: Self.seconds(time)])
        case .standsStill:
            LogRecord(
                .clockStandsStill,
                "the monotonic clock stands still: nothing would ever expire; ending at once")
        }
    }

    private static func seconds(_ time: Duration) -> String { "\((time.seconds * 10).rounded() / 10)" }
}

/// Tells when the cycle stands still for so long that its outputs have expired, and when it turns again.
struct StallWatch {
    private static let pause = Duration.seconds(10)
    private let grace: Duration
    private var last: UInt64?
    private var movedAt = MonotonicTime(nanoseconds: 0)
    private var isStalled = false
    private var notBefore = MonotonicTime(nanoseconds: 0)

    /// - Parameter grace: how long an output holds without a fresh decision.
    init(grace: Duration) { self.grace = grace }

    /// - Parameter cycles: how often the cycle has turned.
    mutating func look(_ cycles: UInt64, at now: MonotonicTime) -> LogRecord? {
        guard let last, last == cycles else {
            let wasStalled = isStalled
            let time = now - movedAt
            (last, movedAt, isStalled) = (cycles, now, false)
            guard wasStalled else { return nil }
            return LogRecord(
                .cycleBack, "the cycle turns again after \(Int(time.milliseconds)) ms",
                [.value: "\(Int(time.milliseconds))"])
        }
        // Before the first cycle there is nothing to expire.
        guard cycles > 0, !isStalled, now - movedAt > grace, now >= notBefore else { return nil }
        isStalled = true
        notBefore = now + Self.pause
        return LogRecord(
            .cycleStalled,
            "the cycle stands still for more than \(Int(grace.milliseconds)) ms: the bus threads write zero")
    }
}
