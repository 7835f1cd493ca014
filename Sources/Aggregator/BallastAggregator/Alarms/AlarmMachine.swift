/// One alarm: of a rule, about one site or unit. A value; time comes in, what leaves goes out.
///
/// Once for each occurrence: what flickers between its limits is one, for it clears only after its condition
/// was gone for the rule's time.
struct AlarmMachine: Sendable, Equatable {
    /// What it means for people decides what may be silenced.
    enum Severity: String, Sendable, CaseIterable, Comparable {
        case notice, warning, critical
        /// Fire, gas, smoke, runaway: nothing silences it.
        case lifeSafety = "life_safety"

        static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }
        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// Who did something to it, when and in which words.
    struct Act: Sendable, Equatable {
        var by: String
        /// UTC, in milliseconds since 1970.
        var at: Int64
        var reason: String
    }

    struct Shelf: Sendable, Equatable {
        var act: Act
        var until: Int64
    }

    enum State: Sendable, Equatable {
        case clear
        /// The condition holds since then, and not yet for the rule's time.
        case pending(since: Int64)
        case raised(at: Int64)
        case acknowledged(raised: Int64, Act)
        /// Raised, and its condition is gone since then, and not yet for the rule's time.
        case leaving(raised: Int64, Act?, since: Int64)
    }

    enum Event: Sendable, Equatable {
        /// What the rule's condition says now.
        case seen(Bool)
        case acknowledge(Act)
        case shelve(Shelf)
        case unshelve
    }

    /// What people are to be told.
    enum Output: Sendable, Equatable {
        case nothing
        case tell(Told)
        /// A person's wish that is not granted.
        case refused(String)
    }

    enum Told: String, Sendable, CaseIterable { case raised, escalated, cleared, summary }

    struct Settings: Sendable, Equatable {
        var severity: Severity
        /// How long the condition must hold, and be gone.
        var raiseAfter: Int64
        var clearAfter: Int64
        /// Told once more where nobody has acknowledged it by then; `nil` = never.
        var escalateAfter: Int64?
        /// The longest that a shelf may last.
        static let longestShelf: Int64 = 86_400_000
    }

    let settings: Settings
    private(set) var state = State.clear
    private(set) var shelf: Shelf?
    private(set) var isEscalated = false

    init(_ settings: Settings, state: State = .clear, shelf: Shelf? = nil, isEscalated: Bool = false) {
        self.settings = settings
        self.state = state
        self.shelf = shelf
        self.isEscalated = isEscalated
    }

    /// Whether people see it as an alarm.
    var isRaised: Bool {
        switch state {
        case .clear, .pending: false
        case .raised, .acknowledged, .leaving: true
        }
    }

    /// Whether it is kept from people for a time; never where life is in danger.
    func isShelved(at now: Int64) -> Bool {
        settings.severity != .lifeSafety && shelf.map { now < $0.until } ?? false
    }

    /// - Parameter now: UTC, in milliseconds since 1970; a clock that steps back makes nothing sooner.
    mutating func handle(_ event: Event, at now: Int64) -> Output {
        switch event {
        case .shelve(let wish):
            return putOnShelf(wish, at: now)
        case .unshelve:
            shelf = nil
            return .nothing
        case .acknowledge(let act):
            return acknowledge(act)
        case .seen(let holds):
            let told = look(holds, at: now)
            if let end = shelf?.until, now >= end { return endShelf(at: now, told) }
            guard let told else { return escalate(at: now) }
            return isShelved(at: now) ? .nothing : .tell(told)
        }
    }

    private mutating func look(_ holds: Bool, at now: Int64) -> Told? {
        switch (state, holds) {
        case (.clear, false): return nil
        case (.clear, true):
            state = .pending(since: now)
            return settings.raiseAfter <= 0 ? raise(at: now) : nil
        case (.pending, false):
            state = .clear
            return nil
        case (.pending(let since), true):
            return now - since >= settings.raiseAfter ? raise(at: now) : nil
        case (.raised, true), (.acknowledged, true): return nil
        case (.raised(let raised), false):
            state = .leaving(raised: raised, nil, since: now)
            return leave(since: now, at: now)
        case (.acknowledged(let raised, let act), false):
            state = .leaving(raised: raised, act, since: now)
            return leave(since: now, at: now)
        case (.leaving(let raised, let act, _), true):
            state = act.map { .acknowledged(raised: raised, $0) } ?? .raised(at: raised)
            return nil
        case (.leaving(_, _, let since), false): return leave(since: since, at: now)
        }
    }

    private mutating func raise(at now: Int64) -> Told {
        state = .raised(at: now)
        isEscalated = false
        return .raised
    }

    private mutating func leave(since: Int64, at now: Int64) -> Told? {
        guard now - since >= settings.clearAfter else { return nil }
        state = .clear
        return .cleared
    }

    private mutating func escalate(at now: Int64) -> Output {
        guard case .raised(let raised) = state, let after = settings.escalateAfter, !isEscalated,
            now - raised >= after, !isShelved(at: now)
        else { return .nothing }
        isEscalated = true
        return .tell(.escalated)
    }

    /// What was kept from people meanwhile is told now, where it still stands.
    private mutating func endShelf(at now: Int64, _ told: Told?) -> Output {
        shelf = nil
        if let told { return .tell(told) }
        return isRaised ? .tell(.raised) : .nothing
    }

    private mutating func acknowledge(_ act: Act) -> Output {
        switch state {
        case .raised(let raised): state = .acknowledged(raised: raised, act)
        case .leaving(let raised, nil, let since): state = .leaving(raised: raised, act, since: since)
        case .acknowledged(_, let first), .leaving(_, .some(let first), _):
            return .refused("\(first.by) has acknowledged it already")
        case .clear, .pending: return .refused("the alarm is not raised")
        }
        return .nothing
    }

    private mutating func putOnShelf(_ wish: Shelf, at now: Int64) -> Output {
        guard settings.severity != .lifeSafety else {
            return .refused("an alarm of life safety cannot be shelved")
        }
        guard wish.until > now, wish.until - now <= Settings.longestShelf else {
            return .refused("a shelf ends, after at most 24 h")
        }
        shelf = wish
        return .nothing
    }
}
