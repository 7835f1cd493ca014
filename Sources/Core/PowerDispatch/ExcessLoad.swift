import Quantities

/// A meter that shows for a moment, again and again, more than anything else at the site is said to draw.
///
/// That widens no limit, so the units give way; then it shows less, they come back, and so on. Four times in
/// quick succession make it unproven; where that comes again, what it shows widens nothing for a time that
/// grows.
struct ExcessLoad: Sendable, BitwiseCopyable {
    /// What it shows counts as beyond all that can be drawn.
    private(set) var isHeld = false
    private(set) var isSeen = false
    /// How often it has begun, less one for each ``forgets``.
    private var count = 0.0
    private var lookedAt: MonotonicTime?
    private var flappedAt: MonotonicTime?
    private var hold = Duration.zero
    private static let most = 3.5
    private static let forgets = Duration.seconds(5)
    private static let firstHold = Duration.seconds(10)
    private static let memory = Duration.seconds(600)

    /// Whether it comes and goes too often.
    mutating func look(_ isSeen: Bool, at now: MonotonicTime) -> Bool {
        if let lookedAt { count = max(0, count - (now - lookedAt).seconds / Self.forgets.seconds) }
        lookedAt = now
        isHeld = flappedAt.map { now - $0 < hold } ?? false
        let hasBegun = isSeen && !self.isSeen
        self.isSeen = isSeen
        guard hasBegun, !isHeld else { return false }
        count += 1
        guard count > Self.most else { return false }
        let isAgain = flappedAt.map { now - $0 < Self.memory + hold } ?? false
        hold = isAgain ? min(max(hold * 2, Self.firstHold), Self.memory) : .zero
        (count, flappedAt) = (0, now)
        return true
    }
}
