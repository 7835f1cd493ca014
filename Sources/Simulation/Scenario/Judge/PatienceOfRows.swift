import Quantities
import SiteConfig

extension SiteConfig {
    /// By row: from its trip until half of its process safety time is over, at the earliest; the trip itself
    /// comes behind the row's debounce, one response and the sample.
    public func openingHurry(of unit: UnitConfig) -> [String: Duration] {
        var hurry: [String: Duration] = [:]
        for rule in interlocks.rules where rule.latches {
            guard let time = rule.processSafetyTime else { continue }
            let before = rule.debounce + unit.followTime + unit.battery.period + .seconds(1)
            // Where a cell burns nobody waits for a current to end.
            hurry[rule.name] = rule.name == "thermal_runaway" ? .zero : max(.zero, time / 2 - before)
        }
        return hurry
    }
}
