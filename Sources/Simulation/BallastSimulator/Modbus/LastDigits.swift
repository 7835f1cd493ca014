import Quantities
import Scenario

/// The last digits of a living measuring device, which never stand still; the same in every run.
enum LastDigits {
    /// Of the largest device here less than its accuracy.
    private static let power = Watts(25)
    private static let voltageShare = 0.000_5

    static func power(at time: Duration, of device: UInt8) -> Watts { power * spread(time, device) }

    static func voltage(_ voltage: Fraction, at time: Duration, of device: UInt8) -> Fraction {
        Fraction(voltage.value * (1 + voltageShare * spread(time, device)))
    }

    /// Another one each tenth of a second, −1 … 1.
    private static func spread(_ time: Duration, _ device: UInt8) -> Double {
        let tenths = UInt64(max(0, time.nanoseconds / 100_000_000))
        var random = SplitMix64(seed: tenths << 8 | UInt64(device))
        return random.nextSpread()
    }
}
