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
        for index in 0..<unitCount where !keeps(decision.units[index], units[index].settings.rating) {
            isKept = false
            stop(index, &decision, elapsed)
        }
        decision.setpoint = sum(&decision)
        guard !keepsSite(decision.setpoint) else { return isKept }
        for index in 0..<unitCount { stop(index, &decision, elapsed) }
        decision.setpoint = sum(&decision)
        return false
    }

    /// A setpoint is inside its window and its rating; a tripped unit has none, and what is out of
    /// service asks for none.
    private func keeps(_ unit: UnitDecision, _ rating: Watts) -> Bool {
        let (power, window) = (unit.setpoint, unit.window)
        guard power.magnitude <= rating + Self.rounding(rating) else { return false }
        guard power >= window.charge - Self.rounding(rating),
            power <= window.discharge + Self.rounding(rating)
        else { return false }
        return power == .zero || (unit.latched.isEmpty && unit.mode == .running)
    }

    /// All units together are inside what the site may have at its meter; nothing at all is always allowed.
    private func keepsSite(_ power: Watts) -> Bool {
        let room = Self.rounding(rated)
        let (lowest, highest) = siteWindow
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

    private func sum(_ decision: inout Decision) -> Watts {
        var sum = Watts.zero
        for index in 0..<unitCount { sum += decision.units[index].setpoint }
        return sum
    }
}
