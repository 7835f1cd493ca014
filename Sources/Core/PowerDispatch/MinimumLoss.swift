import Quantities

/// Finds which units run, and at what power, so that together they lose least.
///
/// Within a set of running units the powers are those at which one watt more would cost the same everywhere.
/// Which units run is a choice that only trying all 2ⁿ sets settles; that is done for up to 8 units. Of more,
/// the sets of the n units that are cheapest at their best power are tried, n = 1 … 64, and the best of them
/// is improved by single units put in, taken out or exchanged. Bounded: at most 64 + 3 · (64 + 16) sets of 18
/// sums over the units each.
///
/// Functions that change nothing are mutating all the same: read through a borrow, each element of an inline
/// array costs a copy of the whole array (Swift 6.3).
struct MinimumLoss: Sendable, BitwiseCopyable {
    /// Units that run stay until others lose this share less.
    private static let advantage = 0.02
    private static let exhaustive = 8
    private static let passes = 3
    private static let exchanged = 4
    private static let halvings = 16

    private struct Unit: BitwiseCopyable {
        var limit: Double
        var idle: Double
        var linear: Double
        var square: Double
        var bonus = 0.0

        /// The least cost per watt at any power.
        var best: Double {
            let ideal = square > 0 ? (idle / square).squareRoot() : limit
            let power = ideal > 0 && ideal < limit ? ideal : limit
            return (idle > 0 ? idle / power : 0) + linear + (ideal > 0 ? square * power : 0)
        }

        /// The power at which one watt more costs `price`; of a range of such powers its upper or lower end.
        func power(at price: Double, isUpper: Bool) -> Double {
            guard square > 0 else { return price > linear || (isUpper && price == linear) ? limit : 0 }
            let power = (price - linear) / (2 * square)
            return power < 0 ? 0 : (power > limit ? limit : power)
        }

        func cost(at power: Double) -> Double { idle + (linear + square * power) * power }
    }

    private let target: Double
    private var units = InlineArray<64, Unit>(repeating: Unit(limit: 0, idle: 0, linear: 0, square: 0))
    private var powers = InlineArray<64, Double>(repeating: 0)
    /// The units that can take part, cheapest first.
    private var order = InlineArray<64, Int>(repeating: 0)
    private var count = 0
    private var usable: UInt64 = 0

    /// - Parameter target: a magnitude above zero, below the sum of the limits.
    init(target: Watts) { self.target = target.value }

    /// - Parameter bonus: the share of its power by which the unit counts as cheaper than it is.
    mutating func add(_ index: Int, limit: Watts, _ losses: UnitLosses, bonus: Double) {
        guard limit > .zero else { return }
        let unit = Unit(
            limit: limit.value, idle: losses.idle.value, linear: losses.linear.value - bonus,
            square: losses.square, bonus: bonus)
        units[index] = unit
        usable |= 1 << UInt64(index)
        var place = count
        while place > 0 && units[order[place - 1]].best > unit.best {
            order[place] = order[place - 1]
            place -= 1
        }
        order[place] = index
        count += 1
    }

    mutating func power(of index: Int) -> Watts { Watts(powers[index]) }

    /// - Parameter before: the units that ran until now, one bit each.
    /// - Returns: those that run from now on; their powers are set.
    mutating func solve(before: UInt64) -> UInt64 {
        var best = usable
        var bestCost = Double.infinity
        if count <= Self.exhaustive { tryAll(&best, &bestCost) } else { searchMany(&best, &bestCost) }
        let kept = before & usable
        if kept != best, let cost = cost(of: kept) {
            let isClose = cost - bestCost <= Self.advantage * loss(of: kept)
            if isClose { best = kept }
        }
        _ = cost(of: best)
        return best
    }

    private mutating func tryAll(_ best: inout UInt64, _ bestCost: inout Double) {
        for choice in 1..<(1 << count) {
            var set: UInt64 = 0
            for place in 0..<count where choice & (1 << place) != 0 { set |= bit(place) }
            consider(set, &best, &bestCost)
        }
    }

    private mutating func searchMany(_ best: inout UInt64, _ bestCost: inout Double) {
        var set: UInt64 = 0
        for place in 0..<count {
            set |= bit(place)
            consider(set, &best, &bestCost)
        }
        for _ in 0..<Self.passes where !improve(&best, &bestCost) { break }
    }

    private mutating func bit(_ place: Int) -> UInt64 { 1 << UInt64(order[place]) }

    @discardableResult
    private mutating func consider(_ set: UInt64, _ best: inout UInt64, _ bestCost: inout Double) -> Bool {
        guard let cost = cost(of: set), cost < bestCost else { return false }
        best = set
        bestCost = cost
        return true
    }

    /// Looks at every neighbour of the best set.
    ///
    /// - Returns: whether one of them is better.
    private mutating func improve(_ best: inout UInt64, _ bestCost: inout Double) -> Bool {
        let start = best
        var isBetter = false
        for place in 0..<count where consider(start ^ bit(place), &best, &bestCost) { isBetter = true }
        // The dearest that run against the cheapest that rest.
        var outs = 0
        for place in stride(from: count - 1, through: 0, by: -1) where start & bit(place) != 0 {
            guard outs < Self.exchanged else { break }
            outs += 1
            var ins = 0
            for other in 0..<count where start & bit(other) == 0 && ins < Self.exchanged {
                ins += 1
                if consider(start ^ bit(place) ^ bit(other), &best, &bestCost) { isBetter = true }
            }
        }
        return isBetter
    }

    /// What a set of units costs when it gives the target in the best way; `nil` where it cannot. Sets their
    /// powers, and all others' to zero.
    private mutating func cost(of set: UInt64) -> Double? {
        var capacity = 0.0
        var low = Double.infinity
        var high = -Double.infinity
        for index in 0..<64 where set & (1 << UInt64(index)) != 0 {
            let unit = units[index]
            capacity += unit.limit
            let last = unit.linear + 2 * unit.square * unit.limit
            low = low < unit.linear ? low : unit.linear
            high = high > last ? high : last
        }
        guard capacity >= target else { return nil }
        for _ in 0..<Self.halvings {
            let middle = low + (high - low) / 2
            if sum(set, at: middle, isUpper: false) < target { low = middle } else { high = middle }
        }
        return fill(set, between: low, and: high)
    }

    private mutating func sum(_ set: UInt64, at price: Double, isUpper: Bool) -> Double {
        var sum = 0.0
        for index in 0..<64 where set & (1 << UInt64(index)) != 0 {
            sum += units[index].power(at: price, isUpper: isUpper)
        }
        return sum
    }

    /// Takes each unit the same share of the way from its power at the lower price to that at the higher one.
    private mutating func fill(_ set: UInt64, between low: Double, and high: Double) -> Double {
        let lower = sum(set, at: low, isUpper: false)
        let upper = sum(set, at: high, isUpper: true)
        let way = upper > lower ? (target - lower) / (upper - lower) : 1
        let share = way.clamped(to: 0...1)
        var cost = 0.0
        for index in 0..<64 {
            powers[index] = 0
            guard set & (1 << UInt64(index)) != 0 else { continue }
            let unit = units[index]
            let least = unit.power(at: low, isUpper: false)
            let power = least + share * (unit.power(at: high, isUpper: true) - least)
            powers[index] = min(power, unit.limit)
            cost += unit.cost(at: powers[index])
        }
        return cost
    }

    /// What the set really loses at the powers that it has now.
    private mutating func loss(of set: UInt64) -> Double {
        var loss = 0.0
        for index in 0..<64 where set & (1 << UInt64(index)) != 0 {
            loss += units[index].cost(at: powers[index]) + units[index].bonus * powers[index]
        }
        return loss
    }
}
