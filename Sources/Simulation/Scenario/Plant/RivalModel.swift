import ConfigText
import Quantities
import SiteConfig

/// Another machine that is not ours and acts on what we act on: it holds our meter at a power of its own, or
/// answers the same frequency. A regulator with a dead time: what it has seen late times its gain, the sum of
/// that over time, and its power's own lag.
public struct RivalModel: Sendable, Equatable {
    public enum Aim: Sendable, Equatable {
        /// It holds the site's meter at this power, whatever the site does.
        case meter(Watts)
        /// It holds the frequency there; at so much beside it, as a share, all of its power flows.
        case frequency(Hertz, droop: Fraction)
    }

    public enum Place: String, Sendable, Equatable, CaseIterable {
        /// Behind the site's meter, which shows it.
        case site
        /// Somewhere on the grid that answers.
        case grid
    }

    /// The most that it gives, and takes.
    public var rating: Watts
    public var aim: Aim
    public var place: Place
    /// Power at once, per power of the error.
    public var gain: Double
    /// In which time the sum grows to as much again; `nil` = it has none.
    public var integral: Duration?
    /// From what is to what it has seen.
    public var delay: Duration
    /// Time constant of its power.
    public var lag: Duration
    /// Positive = it injects.
    public private(set) var power: Watts = .zero
    private var sum: Watts = .zero
    /// Errors on their way to it, the oldest first.
    private var coming: [Sight] = []
    private var seen: Watts = .zero

    public init(
        rating: Watts, aim: Aim, place: Place = .site, gain: Double = 0.5, integral: Duration? = nil,
        delay: Duration = .milliseconds(100), lag: Duration = .milliseconds(200)
    ) {
        precondition(rating > .zero && gain >= 0)
        self.rating = rating
        self.aim = aim
        self.place = place
        self.gain = gain
        self.integral = integral
        self.delay = delay
        self.lag = lag
    }

    private struct Sight: Sendable, Equatable {
        var error: Watts
        /// Until it is seen.
        var left: Duration
    }

    mutating func advance(meter: Watts, frequency: Hertz, by step: Duration) {
        let error: Watts =
            switch aim {
            case .meter(let target): target - meter
            case .frequency(let target, let droop): rating * ((target - frequency) / target / droop.value)
            }
        for index in coming.indices { coming[index].left -= step }
        coming.append(Sight(error: error, left: delay))
        while let first = coming.first, first.left <= .zero {
            seen = first.error
            coming.removeFirst()
        }
        if let integral { sum = within(sum + seen * (gain * step.seconds / integral.seconds)) }
        let wanted = within(seen * gain + sum)
        power += (wanted - power) * min(1, step.seconds / max(step.seconds, lag.seconds))
    }

    private func within(_ power: Watts) -> Watts { power.clamped(-rating, rating) }

    /// Reads `rival` of a scenario.
    init(_ node: ConfigNode, file: String) throws(ConfigError) {
        var keys = try ScenarioKeys(node, path: "rival", file: file)
        let meter = try keys.optionalNumber("holds_meter_kw", -1e6...1e6)
        let frequency = try keys.optionalNumber("holds_frequency_hz", 40...70)
        let droop = Fraction.percent(try keys.number("droop_percent", 0.05...20, default: 2))
        let aim: Aim
        switch (meter, frequency) {
        case (let power?, nil): aim = .meter(.kilowatts(power))
        case (nil, let frequency?): aim = .frequency(Hertz(frequency), droop: droop)
        case (nil, nil), (_?, _?):
            throw keys.error("holds_meter_kw", "either it or holds_frequency_hz says what the rival holds")
        }
        self.init(
            rating: .kilowatts(try keys.requiredNumber("power_kw", 0.1...1e6)), aim: aim,
            place: try keys.choice("place", Place.self) ?? .site,
            gain: try keys.number("gain", 0...10, default: meter == nil ? 1 : 0.5),
            integral: try keys.optionalTime("integral_s", 0.01...1_000),
            delay: ScenarioKeys.seconds(try keys.number("delay_s", 0...10, default: 0.1)),
            lag: ScenarioKeys.seconds(try keys.number("lag_s", 0...100, default: 0.2)))
        try keys.finish()
    }
}
