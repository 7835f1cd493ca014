import Quantities

/// Whether the program has stood still until just now: what lies at its door may have been asked long ago, by
/// somebody who has been told since that nobody answered. None of it is carried out but a stop.
public struct StoodStill {
    /// Threads that ask go round each 200 ms or less.
    private static let longest = Duration.seconds(1)
    /// Those who came meanwhile are let in and heard in the next rounds.
    private static let after = Duration.milliseconds(500)

    private var turnedAt: MonotonicTime
    private var behindUntil: MonotonicTime?

    /// It runs from `now` on.
    public init(at now: MonotonicTime) { turnedAt = now }

    /// The thread goes round.
    public mutating func turn(at now: MonotonicTime) {
        look(at: now)
        turnedAt = now
    }

    /// What is heard now may be from before.
    public mutating func isBehind(at now: MonotonicTime) -> Bool {
        look(at: now)
        return behindUntil.map { now < $0 } ?? false
    }

    private mutating func look(at now: MonotonicTime) {
        if now - turnedAt > Self.longest { behindUntil = now + Self.after }
    }
}
