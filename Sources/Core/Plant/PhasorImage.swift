import Quantities

/// Most phasor measurement units (PMUs) one site may have.
public let maximumPhasorCount = 4

/// The grid as one PMU sees it.
public struct PhasorImage: Sendable, BitwiseCopyable {
    public var frequency: Reading<Hertz> = .neverSeen
    /// As the PMU computes it (ROCOF).
    public var rateOfChange: Reading<HertzPerSecond> = .neverSeen
    /// Magnitude of the first voltage phasor, as the PMU scales it.
    public var voltage: Reading<Volts> = .neverSeen
    /// From a digital bit of the PMU: the breaker is closed.
    public var breaker: Reading<Bool> = .neverSeen
    /// From a digital bit of the PMU: service is permitted.
    public var permit: Reading<Bool> = .neverSeen

    public init() {}
}
