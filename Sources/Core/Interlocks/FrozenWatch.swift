import Plant
import Quantities

/// Whether a BMS keeps sending, but always the same: voltages and current of a battery have noise.
///
/// Its cells have a board of their own: they are also judged by themselves, by the current that they carry.
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
    /// Samples in which the current has swung since the cells took the values that they show.
    private var swings = 0
    private var cellCurrents: (low: Amperes, high: Amperes) = (.zero, .zero)
    /// A board that is only slower than the current shows the swing by then.
    private static let swingLimit = 10

    /// - Parameter limit: frozen after so many samples that repeat the one before; zero = never.
    public init(limit: Int) { self.limit = limit }

    /// Looks at the newest sample. One that was looked at before counts once, and one that cannot be read
    /// not at all.
    ///
    /// - Parameters:
    ///   - isLoaded: power flows, so that current and voltages cannot stand still; a repetition counts only
    ///     then.
    ///   - swing: a change of current that no cell carries without a change of its voltage; `nil` = unknown.
    public mutating func isFrozen(
        _ battery: BatteryImage, at now: MonotonicTime, within budget: Duration, isLoaded: Bool = true,
        swing: Amperes? = nil
    ) -> Bool {
        guard limit > 0 else { return false }
        guard let current = battery.packCurrent.fresh(at: now, within: budget),
            let pack = battery.packVoltage.fresh(at: now, within: budget),
            let cellMax = battery.cellVoltageMax.fresh(at: now, within: budget),
            let cellMin = battery.cellVoltageMin.fresh(at: now, within: budget),
            let age = battery.packCurrent.age(at: now), now - age != lastTime
        else { return isStanding }
        let sample = Sample(current: current, pack: pack, cellMax: cellMax, cellMin: cellMin)
        if sample != last { repeats = 0 } else if isLoaded { repeats = min(limit, repeats + 1) }
        judgeCells(sample, swing)
        last = sample
        lastTime = now - age
        return isStanding
    }

    private var isStanding: Bool { repeats >= limit || swings >= Self.swingLimit }

    /// Cells have a resistance: a current that swings far moves them by many of the BMS's steps.
    private mutating func judgeCells(_ sample: Sample, _ swing: Amperes?) {
        let current = sample.current
        guard let swing, let last, sample.cellMax == last.cellMax, sample.cellMin == last.cellMin else {
            swings = 0
            cellCurrents = (current, current)
            return
        }
        cellCurrents = (min(cellCurrents.low, current), max(cellCurrents.high, current))
        if cellCurrents.high - cellCurrents.low >= swing { swings = min(Self.swingLimit, swings + 1) }
    }
}
