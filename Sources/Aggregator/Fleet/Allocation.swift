import struct ExactAmounts.WholeWatts
import Plant
import PowerDispatch
import Quantities

/// Whether a child is there to be asked.
public enum ChildPresence: Sendable, Equatable {
    case reporting
    /// Nobody hears it, and what it was granted last still holds there: it is taken to do that.
    case silent(lease: WholeWatts)
    /// Nobody hears it, the campus meter shows that it does not do what it was granted, and the grant has not
    /// ended: it may come back any moment.
    case missing(lease: WholeWatts)
    /// Nobody hears it, and its grant has ended.
    case gone
}

/// A child as its parent shares power over it.
public struct FleetChild: Sendable {
    /// Zero or less, and zero or more.
    public var charge: WholeWatts
    public var discharge: WholeWatts
    /// `nil` = unknown.
    public var stateOfCharge: Fraction?
    /// Its own and its line's.
    public var losses: UnitLosses
    public var presence: ChildPresence
    /// Its redundancy group; `nil` = in none.
    public var group: Int?

    public init(
        charge: WholeWatts, discharge: WholeWatts, stateOfCharge: Fraction? = nil, losses: UnitLosses = .none,
        presence: ChildPresence = .reporting, group: Int? = nil
    ) {
        self.charge = charge
        self.discharge = discharge
        self.stateOfCharge = stateOfCharge
        self.losses = losses
        self.presence = presence
        self.group = group
    }
}

/// What a parent keeps back and may not pass.
public struct FleetBounds: Sendable, Equatable {
    /// The most that may flow at its own connection, zero or less and zero or more; `nil` = anything.
    public var importLimit: WholeWatts?
    public var exportLimit: WholeWatts?
    /// Kept back for frequency response, magnitudes.
    public var reserveUp: WholeWatts
    public var reserveDown: WholeWatts

    public init(
        importLimit: WholeWatts? = nil, exportLimit: WholeWatts? = nil,
        reserveUp: WholeWatts = WholeWatts(0), reserveDown: WholeWatts = WholeWatts(0)
    ) {
        self.importLimit = importLimit
        self.exportLimit = exportLimit
        self.reserveUp = reserveUp
        self.reserveDown = reserveDown
    }
}

/// What the children are asked for.
public struct FleetAllocation: Sendable, Equatable {
    /// By the order of the children; of those that do not report what they were granted before, or zero.
    public var powers: [Int64]
    /// What the node will do if the silent ones do as they were told: the sum of `powers`.
    public var given: Int64
    /// What was asked for and cannot be had.
    public var shortfall: Int64
}

/// Shares a power over up to 64 children with the gateway's own `PowerSharing`, in whole watts.
public struct FleetSharing: Sendable {
    private var sharing: PowerSharing
    public var bounds: FleetBounds

    public init(_ settings: SharingSettings = SharingSettings(), _ bounds: FleetBounds = FleetBounds()) {
        sharing = PowerSharing(settings)
        self.bounds = bounds
    }

    /// The part of each child in `target`.
    ///
    /// A silent child counts, for the target, with what it was granted, and for limits with the worse of that
    /// and zero; what it does not do is made up for by others only once its grant has ended or a meter shows
    /// it missing. Nobody works against a child that nobody sees.
    ///
    /// - Precondition: at most 64 children.
    public mutating func share(_ target: WholeWatts, over children: [FleetChild]) -> FleetAllocation {
        precondition(children.count <= FleetTree.childrenMax)
        let unseen = Unseen(children)
        let wanted = clamp(target.count - unseen.assumed, target.count, unseen, children)
        var powers = spread(wanted, children)
        for (index, child) in children.enumerated() {
            switch child.presence {
            case .silent(let lease): powers[index] = lease.count
            case .reporting, .missing, .gone: continue
            }
        }
        let given = powers.reduce(0, +)
        return FleetAllocation(powers: powers, given: given, shortfall: target.count - given)
    }

    /// What those that nobody hears may be doing.
    private struct Unseen {
        /// For the target.
        var assumed: Int64 = 0
        /// For limits.
        var least: Int64 = 0
        var most: Int64 = 0

        init(_ children: [FleetChild]) {
            for child in children {
                switch child.presence {
                case .reporting, .gone: continue
                case .silent(let lease):
                    assumed += lease.count
                    add(lease.count)
                case .missing(let lease): add(lease.count)
                }
            }
        }

        private mutating func add(_ lease: Int64) {
            least += min(0, lease)
            most += max(0, lease)
        }
    }

    /// What the reporting ones may have together.
    private func clamp(
        _ wanted: Int64, _ target: Int64, _ unseen: Unseen, _ children: [FleetChild]
    ) -> Int64 {
        let reporting = children.filter { $0.presence == .reporting }
        let up = reporting.reduce(0) { $0 + $1.discharge.count } - bounds.reserveUp.count
        let down = reporting.reduce(0) { $0 + $1.charge.count } + bounds.reserveDown.count
        var power = min(max(wanted, min(0, down)), max(0, up))
        if let most = bounds.exportLimit?.count { power = min(power, max(0, most - unseen.most)) }
        if let least = bounds.importLimit?.count { power = max(power, min(0, least - unseen.least)) }
        return target < 0 ? min(power, 0) : max(power, 0)
    }

    /// Shares; a redundancy group that would have more than its others can take over has that, and the rest
    /// goes to those outside it.
    private mutating func spread(_ wanted: Int64, _ children: [FleetChild]) -> [Int64] {
        let limits = children.map { child -> Int64 in
            guard child.presence == .reporting else { return 0 }
            return wanted < 0 ? -child.charge.count : child.discharge.count
        }
        var powers = children.map { _ in Int64(0) }
        var open = Set(children.indices)
        var left = abs(wanted)
        // Who ran before counts for each of the ways that are tried.
        let before = sharing
        while true {
            sharing = before
            let parts = divide(left, over: open, limits, children, isCharge: wanted < 0)
            for member in open { powers[member] = parts[member] }
            guard let (group, cap) = overfull(powers, limits, children, open) else { break }
            sharing = before
            let capped = divide(cap, over: group, limits, children, isCharge: wanted < 0)
            for member in group { powers[member] = capped[member] }
            open.subtract(group)
            left -= group.reduce(0) { $0 + capped[$1] }
        }
        return wanted < 0 ? powers.map { -$0 } : powers
    }

    /// A group of open children that has more than all but its strongest can give, and what it may have. One
    /// that is alone in its group has nobody to stand in for it: it gives what it can, and `RollUp` says that
    /// nothing is left without it.
    private func overfull(
        _ powers: [Int64], _ limits: [Int64], _ children: [FleetChild], _ open: Set<Int>
    ) -> (members: Set<Int>, cap: Int64)? {
        for group in Set(children.compactMap(\.group)).sorted() {
            let members = open.filter { children[$0].group == group }
            guard members.count(where: { limits[$0] > 0 }) > 1 else { continue }
            let strongest = members.map { limits[$0] }.max() ?? 0
            let cap = members.reduce(0) { $0 + limits[$1] } - strongest
            if members.reduce(0, { $0 + powers[$1] }) > cap { return (members, cap) }
        }
        return nil
    }

    /// Shares a magnitude over some children by `PowerSharing`, in whole watts that sum up exactly. All
    /// children keep their places, so that those that run are remembered by them.
    private mutating func divide(
        _ total: Int64, over members: Set<Int>, _ limits: [Int64], _ children: [FleetChild], isCharge: Bool
    ) -> [Int64] {
        var shares = InlineArray<64, UnitShare>(repeating: UnitShare(window: .rating(.zero)))
        let own = children.indices.map { members.contains($0) ? limits[$0] : 0 }
        for (index, child) in children.enumerated() {
            shares[index] = UnitShare(
                window: .rating(Watts(Double(own[index]))), stateOfCharge: child.stateOfCharge,
                losses: child.losses)
        }
        let target = Watts(Double(isCharge ? -total : total))
        var span = shares.mutableSpan
        _ = sharing.share(target, over: &span, count: children.count)
        return Self.whole(children.indices.map { shares[$0].power.magnitude.value }, total, own)
    }

    /// Whole watts nearest to `wished` that sum up to `total`, or to all that the limits give.
    static func whole(_ wished: [Double], _ total: Int64, _ limits: [Int64]) -> [Int64] {
        var parts = zip(wished, limits).map { min(max(Int64($0), 0), $1) }
        var left = min(total, limits.reduce(0, +)) - parts.reduce(0, +)
        // Those that run already take the rest, the one that was cut most first.
        let order = wished.indices.sorted { a, b in
            let (one, other) = (wished[a] - wished[a].rounded(.down), wished[b] - wished[b].rounded(.down))
            return (wished[a] > 0 ? 1 : 0, one, -a) > (wished[b] > 0 ? 1 : 0, other, -b)
        }
        while left != 0 {
            let before = left
            for index in order where left != 0 {
                if left > 0, parts[index] < limits[index] {
                    (parts[index], left) = (parts[index] + 1, left - 1)
                }
                if left < 0, parts[index] > 0 { (parts[index], left) = (parts[index] - 1, left + 1) }
            }
            if left == before { break }
        }
        return parts
    }
}
