import struct ExactAmounts.WholeWatts

/// What flows at a level's own connection beside its storage: loads and sources of others. Positive =
/// injected.
struct OtherFlows: Sendable {
    /// Two readings of one instant come at different times while powers change; what lasts shorter is none.
    private static let window: Int64 = 5_000
    private var samples: [(at: Int64, power: Int64)] = []

    mutating func note(_ power: Int64?, at now: Int64) {
        samples.removeAll { now - $0.at > Self.window }
        if let power { samples.append((now, power)) }
    }

    /// So much has been there all the time; zero where nobody sees it.
    var power: Int64 {
        let (least, most) = (samples.map(\.power).min() ?? 0, samples.map(\.power).max() ?? 0)
        return least > 0 ? least : most < 0 ? most : 0
    }
}

extension FleetController {
    /// Of all children together: what the level's own connection, its reserves and what others do there
    /// leave.
    private struct Room {
        /// Zero or more, and zero or less.
        var up: Int64 = .max
        var down: Int64 = .min
    }

    /// Sees what flows at the connection beside the storage.
    mutating func lookAtOthers(at now: Int64) {
        guard settings.bounds != FleetBounds() else { return }
        others.note(otherFlow(at: now), at: now)
    }

    /// By the one meter at the connection less all that gives power behind it, or by each child's own.
    private func otherFlow(at now: Int64) -> Int64? {
        if meterLeaf != nil {
            guard let reading = connection(at: now)?.count else { return nil }
            return children.keys.reduce(reading) { rest, leaf in
                switch presence(of: leaf, at: now) {
                case .reporting: rest - (children[leaf]?.state?.power.count ?? 0)
                case .silent(let lease): rest - lease.count
                case .missing, .gone: rest
                }
            }
        }
        let seen = states(at: now).compactMap { state in
            state?.meter.map { $0.count - (state?.power.count ?? 0) }
        }
        return seen.isEmpty ? nil : seen.reduce(0, +)
    }

    /// What the level's own connection leaves to its storage, before anybody is asked.
    var ownBounds: FleetBounds {
        var bounds = settings.bounds
        bounds.exportLimit = bounds.exportLimit.map { WholeWatts(max(0, $0.count - max(0, others.power))) }
        bounds.importLimit = bounds.importLimit.map { WholeWatts(min(0, $0.count - min(0, others.power))) }
        return bounds
    }

    /// Whatever place was asked, all together stay inside the level's own limits and reserves; who has the
    /// higher rank is cut last, and those of one rank alike.
    mutating func holdOwnLimits(at now: Int64) {
        guard settings.bounds != FleetBounds() else { return }
        let reporting = children.keys.sorted().filter { presence(of: $0, at: now) == .reporting }
        let room = room(reporting, at: now)
        cut(reporting.filter { powers[$0] ?? 0 > 0 }, to: room.up)
        cut(reporting.filter { powers[$0] ?? 0 < 0 }, to: room.down)
    }

    private func room(_ reporting: [Int], at now: Int64) -> Room {
        let bounds = ownBounds
        var room = Room()
        if let most = bounds.exportLimit { room.up = most.count }
        if let least = bounds.importLimit { room.down = least.count }
        for leaf in children.keys {
            switch presence(of: leaf, at: now) {
            case .silent(let lease), .missing(let lease):
                if room.up < .max { room.up -= max(0, lease.count) }
                if room.down > .min { room.down -= min(0, lease.count) }
            case .reporting, .gone: continue
            }
        }
        let able = reporting.compactMap { children[$0]?.state }
        if bounds.reserveUp.count > 0 {
            room.up = min(room.up, able.reduce(0) { $0 + $1.discharge.count } - bounds.reserveUp.count)
        }
        if bounds.reserveDown.count > 0 {
            room.down = max(room.down, able.reduce(0) { $0 + $1.charge.count } + bounds.reserveDown.count)
        }
        return Room(up: max(0, room.up), down: min(0, room.down))
    }

    /// - Parameter most: what these may have together, of their sign.
    private mutating func cut(_ leaves: [Int], to most: Int64) {
        var left = most.magnitude
        guard leaves.reduce(UInt64(0), { $0 + (powers[$1] ?? 0).magnitude }) > left else { return }
        // Without a rank stands the level above, over which nobody does.
        let ranks = Dictionary(grouping: leaves) { governors[$0]?.rank?.rawValue ?? -1 }
        for (_, members) in ranks.sorted(by: { $0.key < $1.key }) {
            let sum = members.reduce(UInt64(0)) { $0 + (powers[$1] ?? 0).magnitude }
            let share = sum > left ? Double(left) / Double(sum) : 1
            for leaf in members {
                let power = powers[leaf] ?? 0
                let kept = min(left, UInt64((Double(power.magnitude) * share).rounded(.down)))
                powers[leaf] = power < 0 ? -Int64(kept) : Int64(kept)
                left -= kept
            }
        }
    }
}
