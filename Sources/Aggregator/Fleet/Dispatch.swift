import struct ExactAmounts.WholeWatts

/// Who stands behind a dispatch, from the highest rank to the lowest.
public enum DispatchPriority: Int, Sendable, CaseIterable, Comparable {
    case emergency, agc, market, schedule

    /// A lower rank is less.
    public static func < (a: DispatchPriority, b: DispatchPriority) -> Bool { a.rawValue > b.rawValue }
}

/// A power that is wanted of a place from one instant to another; a value without I/O or clock.
///
/// Instants are milliseconds since 1970-01-01 00:00 UTC.
public struct Dispatch: Sendable, Equatable {
    public enum State: Sendable, Equatable {
        /// Not at the place yet.
        case pending
        /// The place has it and has not answered.
        case delivered
        case accepted
        /// The place gives so much of it.
        case clipped(WholeWatts)
        case active(WholeWatts)
        case refused(String)
        /// It held until its end.
        case done
        case expired(Expiry)
    }

    public enum Expiry: String, Sendable, Equatable, CaseIterable {
        /// Its end came before the place had it.
        case neverDelivered = "never_delivered"
        /// Its end came before the place had answered.
        case neverAnswered = "never_answered"
        /// Somebody has taken it back.
        case revoked
        /// Another one of the same or a higher rank holds instead.
        case superseded
        /// The place is silent for longer than what it was granted holds.
        case lapsed
    }

    public enum Event: Sendable, Equatable {
        case delivered
        case accepted
        /// The nearest power that the place gives, no wider than what was asked.
        case clipped(WholeWatts)
        case refused(String)
        case revoked
        case superseded
        case lapsed
        case tick
    }

    public enum Output: Sendable, Equatable {
        /// Nothing has changed.
        case nothing
        case changed
        /// It does not belong here: told, and nothing is done.
        case outOfPlace
    }

    public let id: String
    public let priority: DispatchPriority
    public let reason: String
    public let power: WholeWatts
    public let from: Int64
    public let until: Int64
    public private(set) var state = State.pending

    /// `nil` where it would end before it begins, or has no reason.
    public init?(
        _ id: String, _ priority: DispatchPriority, reason: String, power: WholeWatts, from: Int64,
        until: Int64
    ) {
        guard until > from, !reason.isEmpty else { return nil }
        self.id = id
        self.priority = priority
        self.reason = reason
        self.power = power
        self.from = from
        self.until = until
    }

    func overlaps(_ other: Dispatch) -> Bool { from < other.until && other.from < until }

    /// Whether nothing can change it any more.
    public var isOver: Bool {
        switch state {
        case .pending, .delivered, .accepted, .clipped, .active: false
        case .refused, .done, .expired: true
        }
    }

    /// What the place gives because of it now.
    public var granted: WholeWatts? {
        switch state {
        case .active(let power): power
        case .pending, .delivered, .accepted, .clipped, .refused, .done, .expired: nil
        }
    }

    public mutating func handle(_ event: Event, at now: Int64) -> Output {
        switch (state, event) {
        case (.refused, .tick), (.done, .tick), (.expired, .tick): return .nothing
        case (.refused, .delivered), (.refused, .accepted), (.refused, .clipped), (.refused, .refused),
            (.refused, .revoked), (.refused, .superseded), (.refused, .lapsed), (.done, .delivered),
            (.done, .accepted), (.done, .clipped), (.done, .refused), (.done, .revoked), (.done, .superseded),
            (.done, .lapsed), (.expired, .delivered), (.expired, .accepted), (.expired, .clipped),
            (.expired, .refused), (.expired, .revoked), (.expired, .superseded), (.expired, .lapsed):
            return .outOfPlace
        case (.pending, .delivered): return become(.delivered)
        case (.delivered, .delivered), (.accepted, .delivered), (.clipped, .delivered), (.active, .delivered):
            // What is sent until it is acknowledged may come twice.
            return .nothing
        case (.delivered, .accepted): return now >= from ? become(.active(power)) : become(.accepted)
        case (.delivered, .clipped(let given)): return clip(given, at: now)
        case (.delivered, .refused(let why)): return become(.refused(why))
        case (.pending, .accepted), (.pending, .clipped), (.pending, .refused), (.pending, .lapsed),
            (.delivered, .lapsed), (.accepted, .accepted), (.accepted, .clipped), (.accepted, .refused),
            (.clipped, .accepted), (.clipped, .clipped), (.clipped, .refused), (.active, .accepted),
            (.active, .refused):
            return .outOfPlace
        case (.active, .clipped(let given)): return clip(given, at: now)
        case (.pending, .revoked), (.delivered, .revoked), (.accepted, .revoked), (.clipped, .revoked),
            (.active, .revoked):
            return become(.expired(.revoked))
        case (.pending, .superseded), (.delivered, .superseded), (.accepted, .superseded),
            (.clipped, .superseded), (.active, .superseded):
            return become(.expired(.superseded))
        case (.accepted, .lapsed), (.clipped, .lapsed), (.active, .lapsed): return become(.expired(.lapsed))
        case (.pending, .tick): return now >= until ? become(.expired(.neverDelivered)) : .nothing
        case (.delivered, .tick): return now >= until ? become(.expired(.neverAnswered)) : .nothing
        case (.accepted, .tick): return begin(power, at: now)
        case (.clipped(let given), .tick): return begin(given, at: now)
        case (.active, .tick): return now >= until ? become(.done) : .nothing
        }
    }

    private mutating func become(_ next: State) -> Output {
        state = next
        return .changed
    }

    private mutating func begin(_ given: WholeWatts, at now: Int64) -> Output {
        if now >= until { return become(.done) }
        return now >= from ? become(.active(given)) : .nothing
    }

    /// A place may give less, never more, and never the other way.
    private mutating func clip(_ given: WholeWatts, at now: Int64) -> Output {
        let range = power.count < 0 ? power.count...0 : 0...power.count
        guard range.contains(given.count) else { return .outOfPlace }
        return now >= from ? become(.active(given)) : become(.clipped(given))
    }
}

/// The dispatches of one place, of which one at a time counts.
public struct DispatchDesk: Sendable {
    public private(set) var dispatches: [Dispatch] = []

    public init() {}

    /// Takes one in. Those of a rank that is not above its own, and overlap it in time, are superseded: now
    /// where they would begin in its time, else once it begins.
    ///
    /// - Returns: which are now; `nil` where one of a higher rank holds in its time, and it is not taken.
    public mutating func take(_ dispatch: Dispatch, at now: Int64) -> [String]? {
        let others = dispatches.filter { !$0.isOver && $0.overlaps(dispatch) }
        if others.contains(where: { $0.priority > dispatch.priority }) { return nil }
        dispatches.append(dispatch)
        return giveWay(at: now)
    }

    /// Ends those whose time a later one has taken.
    private mutating func giveWay(at now: Int64) -> [String] {
        var ended: [String] = []
        for index in dispatches.indices where !dispatches[index].isOver {
            let own = dispatches[index]
            let isTaken = dispatches[(index + 1)...].contains { later in
                !later.isOver && later.priority >= own.priority && later.overlaps(own)
                    && later.from <= max(now, own.from)
            }
            guard isTaken else { continue }
            _ = dispatches[index].handle(.superseded, at: now)
            ended.append(own.id)
        }
        return ended
    }

    /// Tells one of them what has happened; `nil` where there is none of that name.
    public mutating func handle(_ event: Dispatch.Event, of id: String, at now: Int64) -> Dispatch.Output? {
        guard let index = dispatches.firstIndex(where: { $0.id == id }) else { return nil }
        return dispatches[index].handle(event, at: now)
    }

    /// Lets time pass; what is over for longer than a day is forgotten.
    public mutating func tick(at now: Int64) {
        for index in dispatches.indices { _ = dispatches[index].handle(.tick, at: now) }
        _ = giveWay(at: now)
        dispatches.removeAll { $0.isOver && now - $0.until > 86_400_000 }
    }

    /// What the place is asked for now, and by which.
    public var active: (id: String, power: WholeWatts)? {
        for dispatch in dispatches {
            if let power = dispatch.granted { return (dispatch.id, power) }
        }
        return nil
    }
}
