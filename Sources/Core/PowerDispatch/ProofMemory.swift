import Quantities

/// How long a meter's proof must stand before it widens a limit, where it has been lost again and again.
///
/// Somebody else who holds the same meter at a power of its own takes each step of ours back: the meter
/// shows it, then does not, and what is trusted in between moves the units to and fro for good. Each loss of
/// a proof soon after the one before doubles the time until the next one counts.
public struct ProofMemory: Sendable, BitwiseCopyable {
    private var wasProven = false
    private var lostAt: MonotonicTime?
    private var wait = Duration.zero
    /// Until then a proof does not count.
    private var until: MonotonicTime?
    private static let firstWait = Duration.seconds(10)
    private static let longestWait = Duration.seconds(600)
    /// Two losses so far apart have nothing to do with each other, behind the longest wait.
    private static let memory = Duration.seconds(600)

    public init() {}

    /// Looks at the verdict of a cycle.
    public mutating func look(isProven: Bool, at now: MonotonicTime) {
        defer { wasProven = isProven }
        guard wasProven, !isProven else { return }
        let isAgain = lostAt.map { now - $0 < Self.memory + wait } ?? false
        wait = isAgain ? min(Self.longestWait, max(Self.firstWait, wait * 2)) : .zero
        lostAt = now
        until = now + wait
    }

    /// The proof that stands is too young, behind those that were lost.
    public func isHeld(at now: MonotonicTime) -> Bool { until.map { now < $0 } ?? false }
}
