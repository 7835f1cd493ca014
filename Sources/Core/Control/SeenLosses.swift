import PowerDispatch
import Quantities

/// What a unit is seen to lose between its terminals and its battery, while its power rests.
///
/// The file's losses may be wrong, and limits hold in the battery's own amperes: a charge counts on no loss
/// that was not seen, and a discharge reckons with all that was.
struct SeenLosses: Sendable, BitwiseCopyable {
    /// Samples of battery and inverter are of different moments.
    private static let smoothing = Duration.seconds(1)
    /// Of the rating: more than that it moves, and what is lost cannot be told from what is not sampled yet.
    private static let restShare = 0.02
    /// Of the power: no inverter loses more, and some sensor is wrong.
    private static let mostShare = 0.3

    /// Smoothed, both magnitudes; `nil` before power has rested.
    private(set) var seen: (lost: Watts, power: Watts)?
    private var restingFor = Duration.zero

    /// What one cycle sees.
    struct Sight: Sendable, BitwiseCopyable {
        /// At the battery and at the terminals; positive = discharge.
        var drawn: Watts
        var delivered: Watts
        /// The lowest and the highest setpoint of the response time.
        var lowest: Watts
        var highest: Watts
    }

    /// Looks once.
    ///
    /// - Parameter patience: so old a sample may be.
    mutating func look(_ sight: Sight?, rating: Watts, patience: Duration, after elapsed: Duration) {
        let room = rating * Self.restShare
        guard let sight, sight.highest - sight.lowest <= room,
            sight.delivered >= sight.lowest - room, sight.delivered <= sight.highest + room,
            sight.delivered.magnitude > rating * 0.005
        else { return restingFor = .zero }
        restingFor = restingFor + elapsed
        guard restingFor >= patience else { return }
        let power = sight.delivered.magnitude
        let lost = min(max(.zero, sight.drawn - sight.delivered), power * Self.mostShare)
        guard let before = seen else { return seen = (lost, power) }
        let share = min(1, elapsed.seconds / Self.smoothing.seconds)
        seen = (before.lost + (lost - before.lost) * share, before.power + (power - before.power) * share)
    }

    mutating func forget() { (seen, restingFor) = (nil, .zero) }

    /// What the battery may be charged with at the terminals so that it takes no more than `power`.
    ///
    /// A loss that grows at most with the square of the power is at less power at least this.
    func absorbed(into power: Watts, _ losses: UnitLosses) -> Watts {
        guard let seen, seen.power > .zero else { return power }
        let share = min(1, power / seen.power)
        return power + min(losses.loss(at: power), seen.lost * (share * share))
    }

    /// What may be injected so that the battery gives no more than `power`; `losses` are the file's.
    func injected(from power: Watts, _ losses: UnitLosses) -> Watts {
        guard let seen, seen.power > .zero else { return losses.injected(from: power) }
        let more = max(.zero, seen.lost - losses.loss(at: seen.power))
        return losses.injected(from: max(.zero, power - more * max(1, power / seen.power)))
    }
}
