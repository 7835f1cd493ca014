import Plant
import PowerDispatch
import Quantities

extension Controller {
    /// A step that proves the meter takes the place of what is asked, where that is less of a step: inside
    /// the units' windows, and on the ramp of those that enter. A unit that a person holds at zero takes no
    /// part.
    mutating func prove(_ decision: inout Decision) {
        var demand = ProvingStep.Demand(
            least: min(decision.wanted, decision.setpoint), most: max(decision.wanted, decision.setpoint))
        for index in 0..<unitCount {
            shares[index].window =
                decision.units[index].override == .zero ? .closed(.sharing) : decision.units[index].window
            shares[index].window.limitCharge(to: units[index].entered, .entry)
            shares[index].window.limitDischarge(to: units[index].entered, .entry)
            demand.charge += shares[index].window.charge
            demand.discharge += shares[index].window.discharge
        }
        connection.note(demand)
        guard let step = connection.provingStep else { return }
        let now = decision.setpoint
        guard step.isUpward ? now < step.power : now > step.power else { return }
        if now != .zero, step.power / now >= 0, step.power / now <= 1 {
            move(to: .zero, by: 1 - step.power / now, from: 1, &decision)
            return
        }
        // All of them the same way: from where they are, or from zero where some go the other way.
        let isFurther = now != .zero && step.power / now > 1
        let start = isFurther ? now : Watts.zero
        let way = (step.power < .zero ? demand.charge : demand.discharge) - start
        guard way != .zero else { return }
        let part = min(1, max(0, (step.power - start) / way))
        move(to: step.power, by: part, from: isFurther ? 1 : 0, &decision)
    }

    /// Moves each unit from this share of its setpoint by a part of the way to its window's end.
    private mutating func move(
        to power: Watts, by part: Double, from share: Double, _ decision: inout Decision
    ) {
        decision.setpoint = .zero
        for index in 0..<unitCount {
            let window = shares[index].window
            let end = power < .zero ? window.charge : power > .zero ? window.discharge : .zero
            let start = decision.units[index].setpoint * share
            decision.units[index].setpoint = start + (end - start) * part
            decision.setpoint += decision.units[index].setpoint
        }
    }
}
