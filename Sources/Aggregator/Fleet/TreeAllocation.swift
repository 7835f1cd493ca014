import struct ExactAmounts.WholeWatts
import PowerDispatch
import Quantities

/// What a line loses: nothing at rest, and with the square of its power.
public struct LineLosses: Sendable, Equatable {
    private let square: Fraction
    private let rating: Watts

    /// - Parameter square: the share of `rating` that is lost at `rating`, a magnitude above zero.
    public init(square: Fraction, at rating: Watts) {
        precondition(rating > .zero)
        self.square = square
        self.rating = rating
    }

    /// What a child loses with its line: both carry the same power.
    ///
    /// - Parameter rating: of the child, a magnitude above zero.
    public func added(to losses: UnitLosses, rating: Watts) -> UnitLosses {
        // What the child's own square part loses at its rating is what neither the rest nor the slope does.
        let own = losses.loss(at: rating) - losses.idle - rating * losses.linear
        let line = rating * (square.value * (rating / self.rating))
        return UnitLosses(
            idle: losses.idle, linear: losses.linear, square: Fraction(max(0, (own + line) / rating)),
            at: rating)
    }
}

extension FleetTree {
    /// Shares a power over the whole tree, level by level; each level's parts are its parent's to the watt.
    ///
    /// - Parameter states: by the order of `nodes`; of the lowest places alone, `nil` = not heard, and
    ///   nothing is granted there any more.
    /// - Returns: by the order of `nodes`; the first is what the top can give of `target`.
    public func allocate(
        _ target: WholeWatts, _ states: [SiteState?], _ settings: SharingSettings
    ) -> [Int64] {
        let sums = rollUps(states)
        var powers = nodes.map { _ in Int64(0) }
        powers[0] = min(max(target.count, sums[0].charge), sums[0].discharge)
        // Parents stand before their children.
        for index in nodes.indices where !nodes[index].isLeaf {
            let members = nodes[index].children
            let children = members.map { member in
                let sum = sums[member]
                return FleetChild(
                    charge: WholeWatts(sum.charge), discharge: WholeWatts(sum.discharge),
                    stateOfCharge: sum.chargePermille.map { Fraction(Double($0) / 1_000) },
                    losses: nodes[member].place.line, presence: sum.heard > 0 ? .reporting : .gone)
            }
            var sharing = FleetSharing(settings)
            let shared = sharing.share(WholeWatts(powers[index]), over: children)
            for (member, power) in zip(members, shared.powers) { powers[member] = power }
        }
        return powers
    }
}
