import Plant
import Quantities

/// Which warnings people are told of: one that comes back soon after it was told gone is told once more, and
/// then gone only when it has been away for longer. What comes and goes each second is not told each second.
public struct ToldWarnings: Sendable, BitwiseCopyable {
    /// Back within this time it flickers; and away for so long it is gone.
    private static let quiet = Duration.seconds(10)
    private var told: InterlockSet = .none
    private var flickering: InterlockSet = .none
    /// When each was seen last.
    private var seenAt: InlineArray<64, MonotonicTime?> = InlineArray(repeating: nil)

    public init() {}

    /// Whether the warning counts as standing for people.
    public mutating func isTold(_ id: InterlockID, _ stands: Bool, at now: MonotonicTime) -> Bool {
        let one = InterlockSet(id)
        let awayFor = seenAt[Int(id.rawValue)].map { now - $0 }
        if stands {
            if !told.contains(id), let awayFor, awayFor < Self.quiet { flickering.insert(one) }
            seenAt[Int(id.rawValue)] = now
            told.insert(one)
            return true
        }
        guard told.contains(id) else { return false }
        if flickering.contains(id), let awayFor, awayFor < Self.quiet { return true }
        told = told.subtracting(one)
        flickering = flickering.subtracting(one)
        return false
    }
}
