import struct ExactAmounts.WattHours
import struct ExactAmounts.WholeWatts

/// What one of the lowest places says of itself.
public struct SiteState: Sendable, Equatable {
    /// Positive = injected into the grid.
    public var power: WholeWatts
    /// Zero or less, and zero or more: what may be asked of it.
    public var charge: WholeWatts
    public var discharge: WholeWatts
    public var stored: WattHours
    public var capacity: WattHours
    /// Whether it was measured in production; what was not is worth nothing to who settles.
    public var isSimulated: Bool
    /// At its connection, positive = injected; `nil` = nobody sees it.
    public var meter: WholeWatts?

    public init(
        power: WholeWatts, charge: WholeWatts, discharge: WholeWatts, stored: WattHours, capacity: WattHours,
        isSimulated: Bool = false, meter: WholeWatts? = nil
    ) {
        self.power = power
        self.charge = charge
        self.discharge = discharge
        self.stored = stored
        self.capacity = capacity
        self.isSimulated = isSimulated
        self.meter = meter
    }
}

/// What several places are together. Only who is heard counts; how many are not is told beside it.
public struct RollUp: Sendable, Equatable {
    public private(set) var power: Int64 = 0
    public private(set) var charge: Int64 = 0
    public private(set) var discharge: Int64 = 0
    public private(set) var stored: Int64 = 0
    public private(set) var capacity: Int64 = 0
    /// Of all places, heard or not.
    public private(set) var nameplate: Int64 = 0
    public private(set) var heard = 0
    public private(set) var silent = 0
    /// One simulated place marks all that it is part of.
    public private(set) var isSimulated = false
    private var largest: Int64 = 0
    private var largestLine: Int64 = 0

    public init() {}

    /// Takes one of the lowest places in; `nil` = nobody hears it.
    public mutating func add(_ state: SiteState?, nameplate: WholeWatts?) {
        self.nameplate += nameplate?.count ?? 0
        guard let state else {
            silent += 1
            return
        }
        heard += 1
        power += state.power.count
        charge += state.charge.count
        discharge += state.discharge.count
        stored += state.stored.count
        capacity += state.capacity.count
        largest = max(largest, state.discharge.count)
        largestLine = max(largestLine, state.discharge.count)
        isSimulated = isSimulated || state.isSimulated
    }

    /// Takes in what another place is, with all below it: one line leads there.
    public mutating func add(_ other: RollUp) {
        power += other.power
        charge += other.charge
        discharge += other.discharge
        stored += other.stored
        capacity += other.capacity
        nameplate += other.nameplate
        heard += other.heard
        silent += other.silent
        largest = max(largest, other.largest)
        largestLine = max(largestLine, other.discharge)
        isSimulated = isSimulated || other.isSimulated
    }

    /// Parts in a thousand of the capacity; `nil` without any.
    public var chargePermille: Int64? { capacity > 0 ? stored * 1_000 / capacity : nil }

    /// What may be discharged now, in parts in a thousand of the nameplate; `nil` without one.
    public var availabilityPermille: Int64? { nameplate > 0 ? discharge * 1_000 / nameplate : nil }

    /// What could still be injected on top of the present power once the strongest place has dropped out;
    /// below zero, its loss cannot be made up for.
    public var marginWithoutLargest: Int64 { discharge - largest - power }

    /// The same once the line that leads to the most has dropped out, with all that stands behind it.
    public var marginWithoutLine: Int64 { discharge - largestLine - power }
}

extension FleetTree {
    /// What each place and all below it are together, in the order of `nodes`.
    ///
    /// - Parameter states: by the order of `nodes`; only the lowest places' are looked at, `nil` = not heard.
    public func rollUps(_ states: [SiteState?]) -> [RollUp] {
        precondition(states.count == nodes.count)
        var sums = nodes.map { _ in RollUp() }
        // Children stand behind their parents.
        for index in nodes.indices.reversed() {
            if nodes[index].isLeaf { sums[index].add(states[index], nameplate: nodes[index].place.nameplate) }
            if let parent = nodes[index].parent { sums[parent].add(sums[index]) }
        }
        return sums
    }

    /// The same of a zone or a co-operative.
    public func rollUp(of zone: FleetZone, _ states: [SiteState?]) -> RollUp {
        leaves(of: zone).reduce(into: RollUp()) { $0.add(states[$1], nameplate: nodes[$1].place.nameplate) }
    }
}
