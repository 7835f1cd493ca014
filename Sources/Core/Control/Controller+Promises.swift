import Interlocks
import Plant
import Quantities

extension Controller {
    /// What a decision promises, looked at once more after everything that could have broken it. What breaks
    /// a promise asks for nothing and latches `internal_fault`, which only service resets.
    ///
    /// - Returns: whether all of it was kept.
    @discardableResult
    mutating func keepPromises(_ decision: inout Decision, _ elapsed: Duration) -> Bool {
        var isKept = true
        for index in 0..<unitCount {
            let rating = units[index].settings.rating
            if Self.keeps(decision.units[index], rating) { continue }
            isKept = false
            stop(index, &decision, elapsed)
        }
        decision.setpoint = Self.sum(&decision, unitCount)
        guard !Self.keeps(decision.setpoint, siteWindow, rated) else { return isKept }
        for index in 0..<unitCount { stop(index, &decision, elapsed) }
        decision.setpoint = Self.sum(&decision, unitCount)
        return false
    }

    /// A setpoint is inside its window and its rating; a tripped unit has none, and what is out of
    /// service asks for none.
    private static func keeps(_ unit: UnitDecision, _ rating: Watts) -> Bool {
        let (power, window) = (unit.setpoint, unit.window)
        guard power.magnitude <= rating + rounding(rating) else { return false }
        guard power >= window.charge - rounding(rating),
            power <= window.discharge + rounding(rating)
        else { return false }
        return power == .zero || (unit.latched.isEmpty && unit.mode == .running)
    }

    /// All units together are inside what the site may have at its meter; nothing at all is always allowed.
    private static func keeps(
        _ power: Watts, _ window: (lowest: Watts?, highest: Watts?), _ rated: Watts
    ) -> Bool {
        let room = rounding(rated)
        let (lowest, highest) = window
        if let highest, power > max(.zero, highest) + room { return false }
        if let lowest, power < min(.zero, lowest) - room { return false }
        return true
    }

    /// What sums and products of so large a power may be off by.
    private static func rounding(_ power: Watts) -> Watts { power * 1e-9 + Watts(1e-6) }

    private mutating func stop(_ index: Int, _ decision: inout Decision, _ elapsed: Duration) {
        let input = input(of: index, decision.at, elapsed)
        units[index].stop(
            for: .internalFault, input, into: &decision.units[index], &decision.events)
        decision.units[index].asked = .zero
        decision.units[index].setpoint = .zero
    }

    private static func sum(_ decision: inout Decision, _ count: Int) -> Watts {
        var sum = Watts.zero
        for index in 0..<count { sum += decision.units[index].setpoint }
        return sum
    }
}
