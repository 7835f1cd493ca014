/// How punctual the cycle is.
public struct TimingReport: Codable, Sendable, Equatable {
    public struct Quantiles: Codable, Sendable, Equatable {
        public var count: UInt64
        public var p50_us: Double
        public var p99_us: Double
        public var p999_us: Double
        public var max_us: Double
        /// The records by steps of 6 %.
        public var bins: [Bin]?

        public init(
            count: UInt64, p50_us: Double, p99_us: Double, p999_us: Double, max_us: Double,
            bins: [Bin]? = nil
        ) {
            self.count = count
            self.p50_us = p50_us
            self.p99_us = p99_us
            self.p999_us = p999_us
            self.max_us = max_us
            self.bins = bins
        }
    }

    /// So many records took no longer than this, and longer than the bin before.
    public struct Bin: Codable, Sendable, Equatable {
        public var up_to_us: Double
        public var count: UInt64

        public init(up_to_us: Double, count: UInt64) {
            self.up_to_us = up_to_us
            self.count = count
        }
    }

    /// One measured time with its name.
    public struct Row: Codable, Sendable, Equatable {
        public var name: String
        public var quantiles: Quantiles

        public init(_ name: String, _ quantiles: Quantiles) {
            self.name = name
            self.quantiles = quantiles
        }
    }

    public var period_ms: Double
    /// Periods left out.
    public var overruns: UInt64
    /// From the planned instant to the thread's first instruction.
    public var lateness: Quantiles
    /// From there to the end of the cycle's work.
    public var execution: Quantiles
    /// Its parts: `image`, `step`, `actuation`, `publication`.
    public var stages: [Row]?
    /// Age of the samples when the cycle takes them: `battery`, `inverter`, `meter`, `pmu`.
    public var sample_ages: [Row]?
    /// From the start of a cycle's slot to the acknowledged write of a setpoint, by link.
    public var write_latencies: [Row]?
    /// A cycle that begins later is warned of.
    public var lateness_warn_ms: Double?
    /// A cycle that works longer is warned of.
    public var execution_warn_ms: Double?

    public init(period_ms: Double, overruns: UInt64, lateness: Quantiles, execution: Quantiles) {
        self.period_ms = period_ms
        self.overruns = overruns
        self.lateness = lateness
        self.execution = execution
    }
}
