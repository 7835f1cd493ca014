/// An instant of the machine's monotonic clock. All control runs on it; wall time is for people.
@frozen public struct MonotonicTime: Comparable, Hashable, Sendable, BitwiseCopyable {
    /// Nanoseconds since the clock's own start; never negative on Linux.
    public let nanoseconds: Int64

    @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    @inlinable public static func < (a: MonotonicTime, b: MonotonicTime) -> Bool {
        a.nanoseconds < b.nanoseconds
    }
    @inlinable public static func + (a: MonotonicTime, b: Duration) -> MonotonicTime {
        MonotonicTime(nanoseconds: a.nanoseconds &+ b.nanoseconds)
    }
    @inlinable public static func - (a: MonotonicTime, b: Duration) -> MonotonicTime {
        MonotonicTime(nanoseconds: a.nanoseconds &- b.nanoseconds)
    }
    @inlinable public static func - (a: MonotonicTime, b: MonotonicTime) -> Duration {
        .nanoseconds(a.nanoseconds &- b.nanoseconds)
    }
}

extension Duration {
    /// Whole nanoseconds. Spans beyond 292 years do not occur: every duration comes from a bounded setting or
    /// from the difference of two instants.
    @inlinable public var nanoseconds: Int64 {
        // Below nine seconds one word holds it, and no division of two words is needed.
        if let few = Int64(exactly: attoseconds) { return few / 1_000_000_000 }
        let (seconds, rest) = components
        return seconds &* 1_000_000_000 &+ rest / 1_000_000_000
    }
    @inlinable public var seconds: Double { Double(nanoseconds) / 1e9 }
    @inlinable public var milliseconds: Double { Double(nanoseconds) / 1e6 }
}
