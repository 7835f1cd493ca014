/// An instant of the machine's monotonic clock. All control runs on it; wall time is for people.
public struct MonotonicTime: Comparable, Hashable, Sendable, BitwiseCopyable {
    /// Nanoseconds since the clock's own start; never negative on Linux.
    public let nanoseconds: Int64

    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    public static func < (a: MonotonicTime, b: MonotonicTime) -> Bool { a.nanoseconds < b.nanoseconds }
    public static func + (a: MonotonicTime, b: Duration) -> MonotonicTime {
        MonotonicTime(nanoseconds: a.nanoseconds &+ b.nanoseconds)
    }
    public static func - (a: MonotonicTime, b: Duration) -> MonotonicTime {
        MonotonicTime(nanoseconds: a.nanoseconds &- b.nanoseconds)
    }
    public static func - (a: MonotonicTime, b: MonotonicTime) -> Duration {
        .nanoseconds(a.nanoseconds &- b.nanoseconds)
    }
}

extension Duration {
    /// Whole nanoseconds. Spans beyond 292 years do not occur: every duration comes from a bounded setting or
    /// from the difference of two instants.
    public var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000
    }
    public var seconds: Double { Double(nanoseconds) / 1e9 }
    public var milliseconds: Double { Double(nanoseconds) / 1e6 }
}
