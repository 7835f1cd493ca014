import Quantities

/// A limit that the battery moves: followed down at once, and up over a ramp, so that a limit which comes and
/// goes does not throw power about.
struct WideningLimit: Sendable, BitwiseCopyable {
    /// From nothing to the rating.
    private static let time = Duration.seconds(10)
    private var allowed: Watts?

    init() {}

    mutating func follow(_ limit: Watts, rating: Watts, after elapsed: Duration) -> Watts {
        let bounded = limit < rating ? limit : rating
        let highest = allowed.map { $0 + rating * (elapsed.seconds / Self.time.seconds) } ?? bounded
        let now = bounded < highest ? bounded : highest
        allowed = now
        return now
    }

    /// Without power there is nothing to throw about: the next limit counts as it is.
    mutating func forget() { allowed = nil }
}
