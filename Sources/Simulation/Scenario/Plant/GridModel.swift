import ConfigText
import Quantities
import SiteConfig

/// A grid that answers: the inertia of what turns, the load's own damping, and other machines with a droop
/// and a governor of their own. Without machines it is an island that the site holds alone.
public struct GridModel: Sendable, Equatable {
    /// Power of all that runs, on which the rest is per unit.
    public var power: Watts
    /// H, s.
    public var inertia: Double
    /// Change of load per change of frequency, per unit.
    public var damping: Double
    /// Share of the power whose governors answer; 0 … 1.
    public var machines: Double
    public var machineDroop: Fraction
    /// Time constant of their governors and turbines.
    public var machineLag: Duration
    /// What the load is more than what was fed in at nominal frequency.
    public var surplusLoad: Watts = .zero
    /// From nominal.
    private(set) var deviation: Hertz = .zero
    private var machinePower: Watts = .zero

    public init(
        power: Watts, inertia: Double = 3, damping: Double = 1, machines: Double = 0.5,
        machineDroop: Fraction = Fraction(0.05), machineLag: Duration = .seconds(8)
    ) {
        precondition(power > .zero && inertia > 0)
        self.power = power
        self.inertia = inertia
        self.damping = damping
        self.machines = machines
        self.machineDroop = machineDroop
        self.machineLag = machineLag
    }

    /// Lets `site` flow into it for `step`.
    mutating func advance(site: Watts, nominal: Hertz, by step: Duration) {
        let seconds = step.seconds
        let off = deviation / nominal
        let asked = power * (-off / machineDroop.value * machines)
        machinePower += (asked - machinePower) * min(1, seconds / max(seconds, machineLag.seconds))
        let surplus = (site + machinePower - surplusLoad) / power - damping * off
        let most = Hertz(10)
        deviation =
            (deviation + nominal * (surplus / (2 * inertia) * seconds)).clamped(Hertz(-10), most)
    }

    /// Reads `grid` of a scenario.
    init(_ node: ConfigNode, file: String) throws(ConfigError) {
        var keys = try ScenarioKeys(node, path: "grid", file: file)
        self.init(
            power: .kilowatts(try keys.requiredNumber("power_kw", 1...1e9)),
            inertia: try keys.number("inertia_s", 0.05...20, default: 3),
            damping: try keys.number("damping", 0...10, default: 1),
            machines: try keys.number("machines_percent", 0...100, default: 50) / 100,
            machineDroop: .percent(try keys.number("machines_droop_percent", 1...20, default: 5)),
            machineLag: ScenarioKeys.seconds(try keys.number("machines_lag_s", 0.01...100, default: 8)))
        try keys.finish()
    }
}
