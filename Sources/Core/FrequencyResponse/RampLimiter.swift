import Quantities

/// Follows a target no faster than a rate. For comfort only: what limits for safety is applied after it.
public struct RampLimiter: Sendable, BitwiseCopyable {
    private let rate: WattsPerSecond
    public private(set) var value: Watts = .zero

    public init(rate: WattsPerSecond) { self.rate = rate }

    public mutating func follow(_ target: Watts, after elapsed: Duration) -> Watts {
        let step = rate * elapsed
        value = target.clamped(value - step, value + step)
        return value
    }

    /// Follows from `delivered` on: what could not be delivered must not wait behind the limiter as a step.
    public mutating func restart(from delivered: Watts) { value = delivered }
}
