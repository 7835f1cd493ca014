import struct ExactAmounts.WholeWatts

/// Why a dispatch is not taken.
public enum DispatchRefusal: String, Error, Sendable, Equatable, CaseIterable {
    /// The tree has no such place, or it is not this level's.
    case unknownPlace = "unknown_place"
    /// Another one has this name.
    case sameName = "same_name"
    /// It would end before it begins, has ended, or has no reason.
    case malformed
    /// It asks for more than what all of the place is at its best.
    case aboveNameplate = "above_nameplate"
    /// One of a higher rank holds in its time.
    case outranked
}

/// A dispatch of a level, and what came of it so far.
public struct FollowedDispatch: Sendable, Equatable {
    public var id: String
    public var place: String
    /// Of what was given to the children in sum; `nil` = nothing yet.
    public var given: Int64?
    /// What the place has given or taken while the dispatch was active: the newest, the sum, and of how many.
    public var delivered: Int64?
    public var deliveredSum: Int64 = 0
    public var samples: Int64 = 0

    /// On average while it was active; `nil` = it never was.
    public var deliveredMean: Int64? { samples > 0 ? deliveredSum / samples : nil }
}

/// A peak limit of a place.
public struct PeakTask: Sendable, Equatable {
    public let id: String
    public let priority: DispatchPriority
    public let reason: String
    public let node: Int
    public internal(set) var limit: PeakLimit
    /// What the storage must give now.
    public internal(set) var wanted: Int64 = 0

    func isRunning(at now: Int64) -> Bool { now >= limit.from && now < limit.until }
}

extension DispatchDesk {
    /// The one that counts now, whatever became of it so far.
    public func current(at now: Int64) -> Dispatch? {
        dispatches.first { !$0.isOver && $0.from <= now && now < $0.until }
    }
}

extension FleetController {
    /// Takes a dispatch of one of its places in.
    ///
    /// - Returns: which others end because of it.
    @discardableResult
    public mutating func take(
        _ dispatch: Dispatch, for place: String, at now: Int64
    ) throws(DispatchRefusal) -> [String] {
        let node = try node(of: place, for: dispatch.id)
        guard dispatch.until > now else { throw .malformed }
        let most = tree.leaves(under: node).reduce(Int64(0)) {
            $0 + (tree.nodes[$1].place.nameplate?.count ?? 1_000_000_000_000)
        }
        guard abs(dispatch.power.count) <= most else { throw .aboveNameplate }
        guard let superseded = desks[node, default: DispatchDesk()].take(dispatch, at: now) else {
            throw .outranked
        }
        followed[dispatch.id] = FollowedDispatch(id: dispatch.id, place: place)
        return superseded
    }

    /// Takes a peak limit in.
    public mutating func take(
        _ limit: PeakLimit, _ id: String, _ priority: DispatchPriority, reason: String, for place: String,
        at now: Int64
    ) throws(DispatchRefusal) {
        let node = try node(of: place, for: id)
        guard limit.until > now, !reason.isEmpty else { throw .malformed }
        peaks.append(PeakTask(id: id, priority: priority, reason: reason, node: node, limit: limit))
        followed[id] = FollowedDispatch(id: id, place: place)
    }

    private func node(of place: String, for id: String) throws(DispatchRefusal) -> Int {
        guard followed[id] == nil else { throw .sameName }
        guard let node = tree.index(of: place), tree.isUnder(node, top) else { throw .unknownPlace }
        return node
    }

    /// Takes one back; `false` where there is none of that name that is not over.
    public mutating func revoke(_ id: String, at now: Int64) -> Bool {
        if let peak = peaks.firstIndex(where: { $0.id == id && $0.limit.until > now }) {
            peaks.remove(at: peak)
            return true
        }
        for node in desks.keys {
            guard let output = desks[node]?.handle(.revoked, of: id, at: now) else { continue }
            return output == .changed
        }
        return false
    }

    /// Every dispatch that is still known.
    public var dispatches: [(node: Int, dispatch: Dispatch)] {
        desks.keys.sorted().flatMap { node in (desks[node]?.dispatches ?? []).map { (node, $0) } }
    }

    /// Every peak limit that is still known.
    public var peakTasks: [PeakTask] { peaks }

    /// What came of a dispatch so far; of the level above too.
    public func following(_ id: String) -> FollowedDispatch? { followed[id] }

    /// Whether it held, so far.
    public mutating func verdict(ofPeak id: String, at now: Int64) -> PeakLimit.Verdict? {
        guard let index = peaks.firstIndex(where: { $0.id == id }) else { return nil }
        return peaks[index].limit.verdict(at: now)
    }

    // MARK: Each step

    /// Forgets what is over for longer than a day.
    mutating func forget(at now: Int64) {
        peaks.removeAll { now - $0.limit.until > 86_400_000 }
        let known = Set(desks.values.flatMap { $0.dispatches.map(\.id) } + peaks.map(\.id))
        followed = followed.filter { known.contains($0.key) }
    }

    mutating func lookAtPeaks(at now: Int64) {
        for index in peaks.indices where peaks[index].isRunning(at: now) {
            let leaves = tree.leaves(under: peaks[index].node)
            let states = leaves.map { leaf -> SiteState? in
                guard let child = children[leaf], child.isFresh(at: now, settings) else { return nil }
                return child.state
            }
            // One meter that nobody sees hides what all draw together.
            let meters = states.compactMap { $0?.meter?.count }
            let sum = meters.count == leaves.count ? WholeWatts(meters.reduce(0, +)) : nil
            guard let meter = peaks[index].node == top ? connection(at: now) : sum else { continue }
            let storage = WholeWatts(states.reduce(Int64(0)) { $0 + ($1?.power.count ?? 0) })
            let most = WholeWatts(states.reduce(Int64(0)) { $0 + ($1?.discharge.count ?? 0) })
            peaks[index].wanted = peaks[index].limit.wanted(meter: meter, storage: storage).count
            peaks[index].limit.note(meter: meter, storage: storage, available: most, at: now)
        }
    }

    /// What the children's answers make of a place's dispatch.
    mutating func follow(_ node: Int, at now: Int64) {
        guard let dispatch = desks[node]?.current(at: now) else { return }
        let leaves = tree.leaves(under: node)
        let own = leaves.filter { governors[$0]?.id == dispatch.id }
        let given = own.reduce(Int64(0)) { $0 + (powers[$1] ?? 0) }
        followed[dispatch.id]?.given = given
        for event in events(of: dispatch, leaves, own, given, at: now) {
            _ = desks[node]?.handle(event, of: dispatch.id, at: now)
        }
        guard let new = desks[node]?.current(at: now), new.id == dispatch.id, new.granted != nil else {
            return
        }
        let power = leaves.reduce(Int64(0)) { sum, leaf in
            guard let child = children[leaf], child.isFresh(at: now, settings) else { return sum }
            return sum + (child.state?.power.count ?? 0)
        }
        followed[dispatch.id]?.delivered = power
        followed[dispatch.id]?.deliveredSum += power
        followed[dispatch.id]?.samples += 1
    }

    private func events(
        of dispatch: Dispatch, _ leaves: [Int], _ own: [Int], _ given: Int64, at now: Int64
    ) -> [Dispatch.Event] {
        let fetched = leaves.filter { children[$0]?.fetched == dispatch.id }
        let answers = leaves.compactMap { children[$0]?.answered }.filter { $0.lease.dispatch == dispatch.id }
        let asked = own.filter { presence(of: $0, at: now) == .reporting }
        let fitting = WholeWatts(Self.narrowed(given, into: dispatch.power.count))
        switch dispatch.state {
        case .pending: return fetched.isEmpty ? [] : [.delivered]
        case .delivered:
            let refusals = answers.compactMap { answer -> String? in
                guard case .refused(let why) = answer.answer else { return nil }
                return why
            }
            if !refusals.isEmpty, refusals.count == answers.count, asked.isEmpty {
                return [.refused(refusals[0])]
            }
            let granting = asked.filter { leaf in
                guard let answered = children[leaf]?.answered else { return false }
                return answered.lease.dispatch == dispatch.id && answered.answer == .granted
            }
            guard !asked.isEmpty, granting.count == asked.count else { return [] }
            return fitting == dispatch.power ? [.accepted] : [.clipped(fitting)]
        case .accepted, .clipped, .active:
            let isGone = leaves.allSatisfy { presence(of: $0, at: now) == .gone }
            if isGone { return [.lapsed] }
            return dispatch.granted.map { $0 != fitting } ?? false ? [.clipped(fitting)] : []
        case .refused, .done, .expired: return []
        }
    }
}
