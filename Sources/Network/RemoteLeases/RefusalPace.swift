import Quantities

/// Which refused leases get a line of their own: whoever stands in for an aggregator needs no key to send
/// rubbish, and must not push out of journal, spool and audit what people and the safety functions did.
public struct RefusalPace: Sendable {
    /// Lines in a row, and one more each half a minute.
    static let burst = 20
    static let each = Duration.seconds(30)
    /// What got no line is summed up so often.
    static let pause = Duration.seconds(300)

    private var lines = Double(burst)
    private var last: MonotonicTime?
    private var counts: [LeaseRefusal: Int] = [:]
    private var since: MonotonicTime?

    public init() {}

    /// Whether a refusal at `now` is told by itself; otherwise it is counted.
    public mutating func isTold(_ refusal: LeaseRefusal, at now: MonotonicTime) -> Bool {
        if let last { lines = min(Double(Self.burst), lines + (now - last) / Self.each) }
        last = now
        if lines >= 1 {
            lines -= 1
            return true
        }
        counts[refusal, default: 0] += 1
        since = since ?? now
        return false
    }

    /// What was counted, where it is to be told now; it begins anew then.
    public mutating func summary(at now: MonotonicTime, isLast: Bool) -> [LeaseRefusal: Int]? {
        guard let begun = since, isLast || now - begun >= Self.pause else { return nil }
        defer { (counts, since) = ([:], nil) }
        return counts
    }
}
