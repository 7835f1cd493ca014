import struct ExactAmounts.WholeWatts
import PowerDispatch
import Quantities

/// Whose word a place follows.
struct Governor: Sendable, Equatable {
    var id: String
    /// `nil` = the level above, over which nobody stands.
    var rank: DispatchPriority?
    var until: Int64

    func isAbove(_ rank: DispatchPriority) -> Bool { self.rank.map { $0 > rank } ?? true }
}

extension FleetController {
    /// What somebody wants of a place now.
    private struct Wish {
        var governor: Governor
        var power: Int64
    }

    /// What a place gives in any case (its silent ones by their grants, those with a word of their own), and
    /// what may be asked of it besides.
    private struct Ability {
        var fixed: Int64 = 0
        /// Zero or less, and zero or more.
        var low: Int64 = 0
        var high: Int64 = 0
        var isReporting = false
        var stored: Int64 = 0
        var capacity: Int64 = 0

        mutating func add(_ other: Ability) {
            fixed += other.fixed
            (low, high) = (low + other.low, high + other.high)
            (stored, capacity) = (stored + other.stored, capacity + other.capacity)
            isReporting = isReporting || other.isReporting
        }

        /// What it gives where `power` is asked of it: nobody works against those that nobody reaches.
        func fitting(_ power: Int64) -> Int64 {
            let rest = power < 0 ? min(0, power - fixed) : max(0, power - fixed)
            return fixed + min(max(rest, low), high)
        }
    }

    /// Level by level: who is asked for how much by whom.
    mutating func share(at now: Int64) {
        powers = tree.nodes.map { _ in nil }
        governors = tree.nodes.map { _ in nil }
        let wishes = holdingWishes(at: now)
        let abilities = abilities(wishes, at: now)
        for node in tree.nodes.indices where tree.isUnder(node, top) {
            if let wish = wishes[node] { (powers[node], governors[node]) = (wish.power, wish.governor) }
        }
        var losses = LossesBelow()
        // Parents stand before their children.
        for node in tree.nodes.indices where !tree.nodes[node].isLeaf && tree.isUnder(node, top) {
            spread(node, wishes, abilities, &losses, at: now)
        }
        for leaf in children.keys where wishes[leaf] != nil { powers[leaf] = abilities[leaf].fixed }
        for node in tree.nodes.indices.reversed() where !tree.nodes[node].isLeaf && powers[node] != nil {
            powers[node] = tree.nodes[node].children.reduce(0) { $0 + (powers[$1] ?? 0) }
        }
    }

    /// What is wanted of each place now, where nobody of a higher rank stands above it.
    private func holdingWishes(at now: Int64) -> [Wish?] {
        var wishes = tree.nodes.map { _ -> Wish? in nil }
        var ranks = tree.nodes.map { _ -> DispatchPriority? in nil }
        for node in tree.nodes.indices where tree.isUnder(node, top) {
            let rank = node == top ? nil : tree.nodes[node].parent.flatMap { ranks[$0] }
            ranks[node] = rank
            guard let wish = node == top ? topWish(at: now) : wish(for: node, at: now) else { continue }
            if let rank, let own = wish.governor.rank, own < rank { continue }
            wishes[node] = wish
            ranks[node] = wish.governor.rank ?? rank
        }
        guard let whole = wishes[top], whole.governor.rank == nil else { return wishes }
        var left = whole.power
        narrow(below: top, &left, until: whole.governor.until, &wishes)
        return wishes
    }

    /// What the level above has granted nobody here widens: wishes below it share that, and end with it.
    private func narrow(below node: Int, _ left: inout Int64, until: Int64, _ wishes: inout [Wish?]) {
        for member in tree.nodes[node].children {
            guard let wish = wishes[member] else {
                narrow(below: member, &left, until: until, &wishes)
                continue
            }
            let power = Self.narrowed(wish.power, into: left)
            left -= power
            let governor = Governor(
                id: wish.governor.id, rank: nil, until: min(until, wish.governor.until))
            wishes[member] = Wish(governor: governor, power: power)
            var inner = power
            narrow(below: member, &inner, until: until, &wishes)
        }
    }

    /// The level above before everybody; what this level itself wants of its own place only narrows that.
    private func topWish(at now: Int64) -> Wish? {
        let own = wish(for: top, at: now)
        guard let above else { return own }
        let governor = Governor(id: above.dispatch, rank: nil, until: above.until)
        guard let own else { return Wish(governor: governor, power: above.power.count) }
        return Wish(governor: governor, power: Self.narrowed(own.power, into: above.power.count))
    }

    /// As much of `power` as lies between zero and `limit`.
    static func narrowed(_ power: Int64, into limit: Int64) -> Int64 {
        min(max(power, min(0, limit)), max(0, limit))
    }

    private func wish(for node: Int, at now: Int64) -> Wish? {
        let dispatch = desks[node]?.current(at: now).map {
            Wish(
                governor: Governor(id: $0.id, rank: $0.priority, until: $0.until), power: $0.power.count)
        }
        let peak = peaks.filter { $0.node == node && $0.isRunning(at: now) }.max { $0.wanted < $1.wanted }
        guard let peak else { return dispatch }
        let governor = Governor(id: peak.id, rank: peak.priority, until: peak.limit.until)
        guard let dispatch, !governor.isAbove(dispatch.governor.rank ?? .emergency) else {
            return Wish(governor: governor, power: max(dispatch?.power ?? 0, peak.wanted))
        }
        // The limit holds beside a dispatch of a higher rank as far as that is not more.
        return Wish(governor: dispatch.governor, power: max(dispatch.power, peak.wanted))
    }

    /// What each place is to its parent.
    private func abilities(_ wishes: [Wish?], at now: Int64) -> [Ability] {
        var abilities = tree.nodes.map { _ in Ability() }
        for node in tree.nodes.indices.reversed() {
            if tree.nodes[node].isLeaf { abilities[node] = ability(of: node, at: now) }
            guard node != top, let parent = tree.nodes[node].parent else { continue }
            if let wish = wishes[node] {
                abilities[node].fixed = abilities[node].fitting(wish.power)
                (abilities[node].low, abilities[node].high) = (0, 0)
            }
            abilities[parent].add(abilities[node])
        }
        return abilities
    }

    private func ability(of leaf: Int, at now: Int64) -> Ability {
        switch presence(of: leaf, at: now) {
        case .reporting:
            guard let state = children[leaf]?.state else { return Ability() }
            return Ability(
                low: state.charge.count, high: state.discharge.count, isReporting: true,
                stored: state.stored.count, capacity: state.capacity.count)
        case .silent(let lease): return Ability(fixed: lease.count)
        // It gives nothing, and may come back: `bounds` keeps room for that.
        case .missing, .gone: return Ability()
        }
    }

    /// Shares what a place is asked for over its children, beside what some of them give in any case.
    private mutating func spread(
        _ node: Int, _ wishes: [Wish?], _ abilities: [Ability], _ below: inout LossesBelow, at now: Int64
    ) {
        guard let power = powers[node], let governor = governors[node] else { return }
        let members = tree.nodes[node].children
        let fixed = members.map { abilities[$0].fixed }
        let sum = fixed.reduce(0, +)
        let rest = power < 0 ? min(0, power - sum) : max(0, power - sum)
        let losses = losses(of: members, sharing: rest, wishes, abilities, &below)
        let asked = zip(members, losses).map { child($0, abilities[$0], $1) }
        var sharing = sharings[node] ?? FleetSharing(settings.sharing)
        sharing.bounds = node == top ? bounds(beside: fixed + missing(at: now)) : FleetBounds()
        let shared = sharing.share(WholeWatts(rest), over: asked)
        sharings[node] = sharing
        for (place, member) in members.enumerated() where wishes[member] == nil {
            (powers[member], governors[member]) = (fixed[place] + shared.powers[place], governor)
        }
    }

    /// What each child is told now: who is to give more waits until those that are to give less have said so,
    /// for between the two both would.
    func raised(at now: Int64) -> [Int: Int64] {
        let leaves = children.keys.sorted()
        let whole = leaves.reduce(Int64(0)) { $0 + (powers[$1] ?? 0) }
        func toward(_ power: Int64) -> Int64 { whole < 0 ? -power : power }
        var left = toward(whole)
        var committed: [Int: Int64] = [:]
        for leaf in leaves {
            let child = children[leaf]
            let isMissing = if case .missing = presence(of: leaf, at: now) { true } else { false }
            let open = [child?.held, child?.unanswered].compactMap { isMissing ? nil : $0 }
                .filter { $0.until > now }
            let most = open.map { toward($0.power?.count ?? 0) }.max() ?? 0
            committed[leaf] = most
            left -= most
        }
        var told: [Int: Int64] = [:]
        for leaf in leaves {
            guard let power = powers[leaf], let most = committed[leaf] else { continue }
            let more = toward(power) - most
            guard more > 0 else {
                told[leaf] = power
                continue
            }
            let allowed = min(more, max(0, left))
            left -= allowed
            told[leaf] = toward(most + allowed)
        }
        return told
    }

    /// What those that a meter shows to do nothing were granted.
    private func missing(at now: Int64) -> [Int64] {
        children.keys.compactMap { leaf in
            if case .missing(let lease) = presence(of: leaf, at: now) { lease.count } else { nil }
        }
    }

    /// What the level's own connection leaves to the others.
    private func bounds(beside fixed: [Int64]) -> FleetBounds {
        var bounds = settings.bounds
        let (most, least) = (fixed.reduce(0) { $0 + max(0, $1) }, fixed.reduce(0) { $0 + min(0, $1) })
        bounds.exportLimit = bounds.exportLimit.map { WholeWatts(max(0, $0.count - most)) }
        bounds.importLimit = bounds.importLimit.map { WholeWatts(min(0, $0.count - least)) }
        return bounds
    }

    /// What each place and those below it lose, worked out once a step for each way.
    private struct LossesBelow {
        var charging: [LossCurve]?
        var discharging: [LossCurve]?
    }

    /// What children lose that share a power: each with its own line, and one that has others below it with
    /// theirs, as they share its part best.
    private func losses(
        of members: [Int], sharing power: Int64, _ wishes: [Wish?], _ abilities: [Ability],
        _ below: inout LossesBelow
    ) -> [UnitLosses] {
        let lines = members.map { tree.nodes[$0].place.line }
        guard settings.sharing.mode == .minimumLoss, members.contains(where: { !tree.nodes[$0].isLeaf })
        else {
            return lines
        }
        let way = power < 0 ? \LossesBelow.charging : \.discharging
        let known = below[keyPath: way] ?? curves(wishes, abilities, isCharge: power < 0)
        below[keyPath: way] = known
        let price = LossCurve(beside: members.map { known[$0] }).price(of: Double(abs(power)))
        return zip(members, lines).map { tree.nodes[$0].isLeaf ? $1 : known[$0].losses(at: price) }
    }

    /// By the order of the nodes, as their parents see them; one with a wish of its own shares nothing there.
    private func curves(_ wishes: [Wish?], _ abilities: [Ability], isCharge: Bool) -> [LossCurve] {
        var curves = tree.nodes.map { _ in LossCurve.none }
        for node in tree.nodes.indices.reversed() where node != top && wishes[node] == nil {
            let (own, ability) = (tree.nodes[node], abilities[node])
            let curve =
                own.isLeaf
                ? LossCurve(upTo: Double(isCharge ? -ability.low : ability.high))
                : LossCurve(beside: own.children.map { curves[$0] })
            curves[node] = curve.behind(own.place.line)
        }
        return curves
    }

    private func child(_ member: Int, _ ability: Ability, _ losses: UnitLosses) -> FleetChild {
        let charge =
            ability.capacity > 0 ? Fraction(Double(ability.stored) / Double(ability.capacity)) : nil
        return FleetChild(
            charge: WholeWatts(ability.low), discharge: WholeWatts(ability.high), stateOfCharge: charge,
            losses: losses, presence: ability.isReporting ? .reporting : .gone,
            group: tree.groups[member])
    }
}
