import Quantities

/// What everything else at the site drew while the meter was seen right, and how far it seems to have gone
/// from there while the units' power was even: somebody draws otherwise, or the meter was turned.
///
/// What was proven counts for ten minutes, so that a load that comes and goes is looked into once.
struct ProvenLoads: Sendable, BitwiseCopyable {
    /// The farthest since the meter was last proven, outside of all that it was proven with; a magnitude.
    private(set) var strayed: Watts = .zero
    private var proven: (least: Watts, most: Watts, last: Watts, since: MonotonicTime)?
    private static let memory = Duration.seconds(600)

    mutating func prove(with others: Watts, at now: MonotonicTime) {
        strayed = .zero
        guard let before = proven, now - before.since < Self.memory else {
            return proven = (others, others, others, now)
        }
        proven = (min(before.least, others), max(before.most, others), others, before.since)
    }

    /// What others seem to draw while all stands still.
    mutating func look(_ others: Watts, at now: MonotonicTime) {
        guard let before = proven else { return prove(with: others, at: now) }
        if now - before.since >= Self.memory { proven = (before.last, before.last, before.last, now) }
        strayed = max(strayed, max(before.least - others, others - before.most))
    }

    /// It is proven by something else than a step beside others that stood still.
    mutating func forget() { self = ProvenLoads() }
}
