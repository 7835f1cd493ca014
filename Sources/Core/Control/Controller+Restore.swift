import Interlocks
import Plant
import Quantities

extension Controller {
    /// Takes over the trips that a former run latched, and what holds the unit. To be called before the first
    /// step; more than once it adds up.
    public mutating func restore(
        _ trips: InterlockSet, firstOut: InterlockID?, hold: UnitHold = .none, resetBy: Person? = nil,
        unit: Int
    ) {
        units[unit].restore(trips, firstOut: firstOut, hold: hold, resetBy: resetBy)
    }

    /// Takes over that a former run has counted a passing of the row's limit, `age` ago. To be called before
    /// the first step, the oldest first.
    public mutating func restore(counted id: InterlockID, age: Duration, unit: Int) {
        units[unit].restore(
            counted: id, age: age, settings.interlocks.rows.span.extracting(first: settings.interlocks.count))
    }

    /// Takes over that a former run has seen so many quarters of the row's sum used up, `age` ago. To be
    /// called before the first step.
    public mutating func restore(exposed id: InterlockID, quarters: Int, age: Duration, unit: Int) {
        units[unit].restore(
            exposed: id, quarters: quarters, age: age,
            settings.interlocks.rows.span.extracting(first: settings.interlocks.count))
    }

    /// Takes over that a former run has bridged a short gap of the unit within the last hour. To be called
    /// before the first step.
    public mutating func restoreGap(unit: Int) { units[unit].restoreGap() }

    /// Takes over that the site was stopped before the restart. To be called before the first step.
    public mutating func restoreStop() { isStopWanted = true }
}
