import Quantities

/// When a bus thread tries its link again: after 0.1 s, doubling to 5 s, and 0.1 s again once the link has
/// brought something that counts.
public struct BackOff: Sendable {
    static let first = Duration.milliseconds(100)
    static let longest = Duration.seconds(5)

    private var delay = BackOff.first
    public private(set) var next = MonotonicTime(nanoseconds: 0)

    public init() {}

    public mutating func schedule(after now: MonotonicTime) {
        next = now + delay
        delay = min(delay * 2, Self.longest)
    }

    public mutating func reset() { delay = Self.first }
}
