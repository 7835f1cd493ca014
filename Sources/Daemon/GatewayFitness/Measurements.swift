/// What no file tells, and the caller has measured.
public struct Measurements: Sendable, Equatable {
    /// The kernel's clock discipline, as `adjtimex(2)` tells it.
    public struct Clock: Sendable, Equatable {
        public var isSynchronised: Bool
        public var maximumErrorMicroseconds: Int64

        public init(isSynchronised: Bool, maximumErrorMicroseconds: Int64) {
            self.isSynchronised = isSynchronised
            self.maximumErrorMicroseconds = maximumErrorMicroseconds
        }
    }

    /// The disk under the state directory.
    public struct Disk: Sendable, Equatable {
        public var path: String
        public var freeBytes: Int64
        public var totalBytes: Int64
        public var freeFiles: Int64
        /// The slowest of some writes of 4 KiB with `fdatasync`; `nil` where nothing could be written.
        public var slowestSyncMilliseconds: Double?

        public init(
            path: String, freeBytes: Int64, totalBytes: Int64, freeFiles: Int64,
            slowestSyncMilliseconds: Double?
        ) {
            self.path = path
            self.freeBytes = freeBytes
            self.totalBytes = totalBytes
            self.freeFiles = freeFiles
            self.slowestSyncMilliseconds = slowestSyncMilliseconds
        }
    }

    /// A run of cyclic wake-ups at the site's period.
    public struct Latency: Sendable, Equatable {
        public var count: UInt64
        public var p50Microseconds: Double
        public var p99Microseconds: Double
        public var p999Microseconds: Double
        public var maximumMicroseconds: Double
        public var overruns: UInt64
        /// What the thread was granted, in words.
        public var scheduling: String
        public var isRealTime: Bool

        public init(
            count: UInt64, p50Microseconds: Double, p99Microseconds: Double, p999Microseconds: Double,
            maximumMicroseconds: Double, overruns: UInt64, scheduling: String, isRealTime: Bool
        ) {
            self.count = count
            self.p50Microseconds = p50Microseconds
            self.p99Microseconds = p99Microseconds
            self.p999Microseconds = p999Microseconds
            self.maximumMicroseconds = maximumMicroseconds
            self.overruns = overruns
            self.scheduling = scheduling
            self.isRealTime = isRealTime
        }
    }

    public var clock: Clock?
    public var disk: Disk?
    /// `nil` where no test was asked for.
    public var latency: Latency?

    public init(clock: Clock? = nil, disk: Disk? = nil, latency: Latency? = nil) {
        self.clock = clock
        self.disk = disk
        self.latency = latency
    }
}

enum MeasuredChecks {
    static func all(_ measured: Measurements, _ demands: Demands) -> [Finding] {
        [clock(measured.clock), disk(measured.disk)]
            + (measured.latency.map { [latency($0, demands)] } ?? [])
    }

    static func clock(_ clock: Measurements.Clock?) -> Finding {
        let subject = "clock discipline"
        guard let clock else { return Finding(subject, .unknown, "adjtimex gives no answer") }
        let error = "within \(shown(Double(clock.maximumErrorMicroseconds) / 1_000)) ms"
        guard clock.isSynchronised else {
            return Finding(
                subject, .warning, "not synchronised",
                reason: "records and schedules carry a wrong time; control does not depend on it",
                remedy: "apt install chrony, then chronyc tracking")
        }
        return Finding(subject, .good, "synchronised, \(error)")
    }

    static func disk(_ disk: Measurements.Disk?) -> Finding {
        let subject = "disk"
        guard let disk else { return Finding(subject, .unknown, "the state directory cannot be looked at") }
        let free = Double(disk.freeBytes) / 1_048_576
        var found = "\(shown(free.rounded())) MB free at \(disk.path)"
        if let slowest = disk.slowestSyncMilliseconds { found += ", slowest write \(shown(slowest)) ms" }
        let isFull = free < 256 || disk.freeBytes * 50 < disk.totalBytes || disk.freeFiles < 100
        if isFull {
            return Finding(
                subject, .bad, found, reason: "latched trips and records may find no room",
                remedy: "journalctl --vacuum-size=100M; df -h \(disk.path)")
        }
        guard let slowest = disk.slowestSyncMilliseconds else {
            return Finding(
                subject, .unknown, found + ", nothing could be written",
                reason: "run this as root or as the user of the daemon", remedy: "sudo ballastctl doctor")
        }
        if slowest > 250 {
            return Finding(
                subject, .warning, found,
                reason: "a trip stands on disk late; control does not wait for it",
                remedy: "smartctl --all on the device under \(disk.path), or a better disk")
        }
        return Finding(subject, .good, found)
    }

    static func latency(_ latency: Measurements.Latency, _ demands: Demands) -> Finding {
        let subject = "wake-up latency"
        let found =
            "p50 \(shown(latency.p50Microseconds)), p99 \(shown(latency.p99Microseconds)), p99.9"
            + " \(shown(latency.p999Microseconds)), max \(shown(latency.maximumMicroseconds)) µs of"
            + " \(latency.count); \(latency.overruns) periods of \(shown(demands.periodMilliseconds)) ms missed;"
            + " \(latency.scheduling)"
        guard latency.isRealTime else {
            return Finding(
                subject, .unknown, found, reason: "the test itself was not granted real time",
                remedy: "sudo ballastctl doctor --latency 60s")
        }
        let period = demands.periodMilliseconds * 1_000
        if latency.p999Microseconds > period || latency.overruns * 1_000 > latency.count {
            return Finding(
                subject, .bad, found, reason: "more than one wake-up in a thousand misses its period",
                remedy: "a PREEMPT_RT kernel, or a longer period_ms")
        }
        if latency.p999Microseconds > period / 4 || latency.overruns > 0 {
            return Finding(
                subject, .warning, found, reason: "little of the period is left now and then",
                remedy: "a PREEMPT_RT kernel, or a longer period_ms")
        }
        return Finding(subject, .good, found)
    }
}
