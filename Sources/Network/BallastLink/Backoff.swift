/// How long to wait before the next try: doubles from 0.2 s to 10 s; a random half of it is taken off, so
/// that links that lost the same aggregator do not come back in step.
struct Backoff {
    private static let shortest = 0.2
    private static let longest = 10.0

    private var seconds = Backoff.shortest

    mutating func reset() { seconds = Self.shortest }

    mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
        defer { seconds = Swift.min(Self.longest, seconds * 2) }
        return .seconds(Double.random(in: seconds / 2...seconds, using: &generator))
    }
}
