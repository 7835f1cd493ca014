import Plant
import Quantities

/// Whether a BMS keeps sending, but always the same: voltages and current of a battery have noise.
///
/// Its cells have a board of their own: they are also judged by themselves, by the current that they carry
/// and by how long they carry it.
public struct FrozenWatch: Sendable, BitwiseCopyable {
    private struct Sample: BitwiseCopyable, Equatable {
        var current: Amperes
        var pack: Volts
        var cells: Cells
    }

    private struct Cells: BitwiseCopyable, Equatable {
        var voltageMax: Volts
        var voltageMin: Volts
        /// `nil` where the battery does not tell them.
        var hottest: Celsius?
        var coldest: Celsius?
    }

    private let limit: Int
    private var last: Sample?
    private var lastTime = MonotonicTime(nanoseconds: 0)
    private var repeats = 0
    /// Samples in which the current has swung since the cells took the voltages that they show.
    private var swings = 0
    private var cellCurrents: (low: Amperes, high: Amperes) = (.zero, .zero)
    /// For how long they have carried the full current since the cells showed anything new.
    private var carried = Duration.zero
    /// A board that is only slower than the current shows the swing by then.
    private static let swingLimit = 10
    /// A battery of an hour has by then moved by a twelfth of its charge, one of four by a fiftieth.
    private static let carriedLimit = Duration.seconds(300)

    /// - Parameter limit: frozen after so many samples that repeat the one before; zero = never.
    public init(limit: Int) { self.limit = limit }

    /// Looks at the newest sample. One that was looked at before counts once, and one that cannot be read
    /// not at all.
    ///
    /// - Parameters:
    ///   - isLoaded: power flows, so that current and voltages cannot stand still; a repetition counts only
    ///     then.
    ///   - full: the current at full power; `nil` = unknown. No cell carries a change of two fifths of it
    ///     without a change of its voltage.
    public mutating func isFrozen(
        _ battery: BatteryImage, at now: MonotonicTime, within budget: Duration, isLoaded: Bool = true,
        full: Amperes? = nil
    ) -> Bool {
        guard limit > 0 else { return false }
        guard let current = battery.packCurrent.fresh(at: now, within: budget),
            let pack = battery.packVoltage.fresh(at: now, within: budget),
            let cellMax = battery.cellVoltageMax.fresh(at: now, within: budget),
            let cellMin = battery.cellVoltageMin.fresh(at: now, within: budget),
            let age = battery.packCurrent.age(at: now), now - age != lastTime
        else { return isStanding }
        let cells = Cells(
            voltageMax: cellMax, voltageMin: cellMin,
            hottest: battery.cellTemperatureMax.fresh(at: now, within: budget),
            coldest: battery.cellTemperatureMin.fresh(at: now, within: budget))
        let sample = Sample(current: current, pack: pack, cells: cells)
        if sample != last { repeats = 0 } else if isLoaded { repeats = min(limit, repeats + 1) }
        carry(sample, full, after: now - age - lastTime, budget)
        judgeCells(sample, full)
        last = sample
        lastTime = now - age
        return isStanding
    }

    private var isStanding: Bool {
        repeats >= limit || swings >= Self.swingLimit || carried >= Self.carriedLimit
    }

    /// Cells have a resistance: a current that swings far moves them by many of the BMS's steps.
    private mutating func judgeCells(_ sample: Sample, _ full: Amperes?) {
        let current = sample.current
        guard let full, let cells = last?.cells, sample.cells.voltageMax == cells.voltageMax,
            sample.cells.voltageMin == cells.voltageMin
        else {
            swings = 0
            cellCurrents = (current, current)
            return
        }
        cellCurrents = (min(cellCurrents.low, current), max(cellCurrents.high, current))
        if cellCurrents.high - cellCurrents.low >= full * 0.4 { swings = min(Self.swingLimit, swings + 1) }
    }

    /// What is carried for long moves voltages or warms: a board that shows neither stands still, however
    /// even the current is. One that only rests shows it by the first thing that is new.
    private mutating func carry(_ sample: Sample, _ full: Amperes?, after time: Duration, _ budget: Duration)
    {
        guard sample.cells == last?.cells else { return carried = .zero }
        guard let full, full > .zero, time > .zero, time <= budget else { return }
        let share = min(1, sample.current.magnitude / full)
        carried = min(Self.carriedLimit, carried + .nanoseconds(Int64(Double(time.nanoseconds) * share)))
    }
}
