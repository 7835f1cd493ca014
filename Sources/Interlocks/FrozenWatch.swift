import Plant
import Quantities

/// Whether a BMS keeps sending, but always the same: voltages and current of a battery have noise.
public struct FrozenWatch: Sendable, BitwiseCopyable {
    private struct Sample: BitwiseCopyable, Equatable {
        var current: Amperes
        var pack: Volts
        var cellMax: Volts
        var cellMin: Volts
    }

    private let limit: Int
    private var last: Sample?
    private var lastTime = MonotonicTime(nanoseconds: 0)
    private var repeats = 0

    /// - Parameter limit: frozen after so many samples that repeat the one before; zero = never.
    public init(limit: Int) { self.limit = limit }

    /// Looks at the newest sample. One that was looked at before counts once, and one that cannot be read
    /// not at all.
    ///
    /// - Parameter isLoaded: power flows, so that current and voltages cannot stand still; a repetition
    ///   counts only then.
    public mutating func isFrozen(
        _ battery: BatteryImage, at now: MonotonicTime, within budget: Duration, isLoaded: Bool = true
    ) -> Bool {
        guard limit > 0 else { return false }
        guard let current = battery.packCurrent.fresh(at: now, within: budget),
            let pack = battery.packVoltage.fresh(at: now, within: budget),
            let cellMax = battery.cellVoltageMax.fresh(at: now, within: budget),
            let cellMin = battery.cellVoltageMin.fresh(at: now, within: budget),
            let age = battery.packCurrent.age(at: now), now - age != lastTime
        else { return repeats >= limit }
        let sample = Sample(current: current, pack: pack, cellMax: cellMax, cellMin: cellMin)
        if sample != last { repeats = 0 } else if isLoaded { repeats = min(limit, repeats + 1) }
        last = sample
        lastTime = now - age
        return repeats >= limit
    }
}
