import LinuxIO
import Quantities
import SiteConfig

/// Looks at the cycle's punctuality from outside of it: says what was late, at most once in ten seconds, and
/// asks for the end of service where the site is configured so.
struct TimingWatch {
    /// What has been counted so far.
    struct Counts: Equatable {
        /// Periods left out.
        var overruns: UInt64 = 0
        /// Cycles that began later than the configured limit.
        var late: UInt64 = 0
        /// Cycles that worked longer than it.
        var long: UInt64 = 0
    }

    enum Outcome: Equatable {
        case warning(String)
        case stop(String)
    }

    private static let window = Duration.seconds(10)
    private static let windowsInMinute = 6

    private let limits: TimingLimitsConfig
    private var seen = Counts()
    private var due: MonotonicTime
    /// Overruns of the last windows, the newest last.
    private var recent: [UInt64] = []
    private var hasStopped = false

    init(_ limits: TimingLimitsConfig, at now: MonotonicTime) {
        self.limits = limits
        due = now + Self.window
    }

    /// Looks again; what it says is for the log.
    mutating func look(_ counts: Counts, at now: MonotonicTime) -> Outcome? {
        if let stop = limits.overrunStop, !hasStopped {
            let missed = recent.reduce(counts.overruns &- seen.overruns, +)
            if missed > UInt64(stop) {
                hasStopped = true
                return .stop("\(missed) periods missed within a minute; \(stop) are allowed")
            }
        }
        guard now >= due else { return nil }
        due = now + Self.window
        let overruns = counts.overruns &- seen.overruns
        let late = counts.late &- seen.late
        let long = counts.long &- seen.long
        seen = counts
        recent.append(overruns)
        if recent.count >= Self.windowsInMinute { recent.removeFirst() }
        // After an operator's resume the count begins anew.
        if hasStopped && recent.allSatisfy({ $0 == 0 }) { hasStopped = false }
        return warning(overruns, late, long).map { .warning($0) }
    }

    private func warning(_ overruns: UInt64, _ late: UInt64, _ long: UInt64) -> String? {
        var parts: [String] = []
        if overruns > 0 { parts.append("\(overruns) periods were missed") }
        if late > 0 {
            parts.append("\(late) cycles began more than \(Self.text(limits.latenessWarning)) late")
        }
        if long > 0 { parts.append("\(long) cycles worked more than \(Self.text(limits.executionWarning))") }
        return parts.isEmpty ? nil : "in the last 10 s " + parts.joined(separator: ", ")
    }

    private static func text(_ duration: Duration) -> String {
        let tenths = (duration.milliseconds * 10).rounded()
        return "\(tenths / 10) ms"
    }
}

extension CycleLink {
    /// What the watch over the cycle counts.
    func timingCounts(_ limits: TimingLimitsConfig) -> TimingWatch.Counts {
        TimingWatch.Counts(
            overruns: overruns.load(ordering: .relaxed),
            late: timing.lateness.count(above: limits.latenessWarning.nanoseconds),
            long: timing.execution.count(above: limits.executionWarning.nanoseconds))
    }
}
