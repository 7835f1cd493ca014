import ConfigText
import Quantities

/// From when on the cycle's punctuality is worth a warning, or the end of service.
public struct TimingLimitsConfig: Sendable, Equatable {
    /// A later wake-up is warned of.
    public var latenessWarning: Duration
    /// A longer cycle is warned of.
    public var executionWarning: Duration
    /// More missed periods than this within a minute take the site out of service; `nil` = never.
    public var overrunStop: Int?
}

extension SiteKeys {
    /// Keys of `control`.
    enum Timing {
        static let lateness = ConfigKey.number(
            "lateness_warn_ms", 0.1...1_000, "ms", .computed("half a period"),
            "a cycle that begins later is warned of"
        ) { Duration.nanoseconds(Int64($0 * 1e6)) }
        static let execution = ConfigKey.number(
            "execution_warn_percent", 1...100, "%", .fixed(50),
            "a cycle that works for a longer share of its period is warned of"
        ) { $0 / 100 }
        static let overruns = ConfigKey<Int?>(
            "overruns_stop_per_min", allowed: "none or 1 … 60000", .fixed(nil), shown: "none",
            "more missed periods within a minute take the site out of service, until an operator resumes"
        ) { (node) throws(ConfigComplaint) in
            let allowed = "none or 1 … 60000"
            if try node.text(allowed) == "none" { return nil }
            let number = try node.number(in: 1...60_000, allowed)
            guard let count = Int(exactly: number) else {
                throw ConfigComplaint("is not a whole number (allowed: \(allowed))", at: node.position)
            }
            return count
        }
    }
}

extension TimingLimitsConfig {
    /// - Returns: `nil` where one of the keys is wrong, which the reader has noted.
    static func read(_ reader: ConfigReader, period: Duration?) -> TimingLimitsConfig? {
        let lateness = reader.value(SiteKeys.Timing.lateness)
        let execution = reader.value(SiteKeys.Timing.execution)
        let overruns = reader.value(SiteKeys.Timing.overruns)
        guard let period, let execution, let overruns else { return nil }
        return TimingLimitsConfig(
            latenessWarning: lateness ?? .nanoseconds(period.nanoseconds / 2),
            executionWarning: .nanoseconds(Int64(Double(period.nanoseconds) * execution)),
            overrunStop: overruns)
    }
}
