import Quantities

/// The lowest pack voltage of the last ten to twenty seconds.
///
/// A current limit times a voltage is a power only at the voltage that stands under that power: a pack at
/// rest shows more than it will have under load. The lower one leaves less power in both directions.
struct LowestVoltage: Sendable, BitwiseCopyable {
    private static let span = Duration.seconds(10)
    private var lowest: Volts?
    private var former: Volts?
    private var began = MonotonicTime(nanoseconds: 0)

    /// Takes what is measured at `now`, and returns the lowest.
    mutating func add(_ voltage: Volts, at now: MonotonicTime) -> Volts {
        if now - began >= Self.span {
            former = now - began < Self.span * 2 ? lowest : nil
            lowest = nil
            began = now
        }
        if lowest.map({ voltage < $0 }) ?? true { lowest = voltage }
        let least = lowest ?? voltage
        guard let former, former < least else { return least }
        return former
    }
}
