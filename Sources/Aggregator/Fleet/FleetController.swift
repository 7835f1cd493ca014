import struct ExactAmounts.WholeWatts
import PowerDispatch

/// One level of the fleet: what it was asked for, what its children say of themselves, what each of them is
/// granted. Each time it is asked it shares anew, and says what is to be signed for whom. A value without I/O
/// or clock.
///
/// Instants are milliseconds since 1970-01-01 00:00 UTC.
public struct FleetController: Sendable {
    public struct Settings: Sendable, Equatable {
        public var sharing = SharingSettings()
        /// Of the level's own place.
        public var bounds = FleetBounds()
        /// How long a grant holds, and how often it is renewed; milliseconds.
        public var lease: Int64 = 4_000
        public var renewal: Int64 = 2_000
        /// A child that is not heard for longer is silent; one that has a grant and does not answer it too.
        public var silence: Int64 = 10_000
        public var patience: Int64 = 2_000
        /// The child whose meter stands at the level's own connection; `nil` = none does.
        public var meter: String?
        /// Whether simulated children count like others; where not, none of them is believed.
        public var isSimulation = true

        public init() {}
    }

    /// What the level above has granted this one.
    public struct Grant: Sendable, Equatable {
        public var dispatch: String
        public var power: WholeWatts
        public var until: Int64

        public init(dispatch: String, power: WholeWatts, until: Int64) {
            self.dispatch = dispatch
            self.power = power
            self.until = until
        }
    }

    /// What a child is to be told.
    public struct Command: Sendable, Equatable {
        public var place: String
        /// Larger than every earlier one of the same place.
        public var sequence: Int64
        /// `nil` = what it was granted before ends.
        public var power: WholeWatts?
        public var until: Int64
        public var dispatch: String
    }

    public enum Answer: Sendable, Equatable {
        case granted
        case refused(String)
    }

    /// A child that has refused is asked for nothing for so long; milliseconds. One that says that too much
    /// comes is asked soon again.
    static let refusalTime: Int64 = 10_000
    static let busyTime: Int64 = 1_000
    /// What is not answered is told again after so long; milliseconds.
    static let repeatTime: Int64 = 1_000

    public let tree: FleetTree
    /// The level's own place; what stands beside and above it is not its.
    public let top: Int
    public let settings: Settings
    public internal(set) var children: [Int: FleetChildState] = [:]
    var desks: [Int: DispatchDesk] = [:]
    var peaks: [PeakTask] = []
    var sharings: [Int: FleetSharing] = [:]
    public internal(set) var above: Grant?
    /// The newest: by the order of the tree's nodes, `nil` = asked for nothing.
    public internal(set) var powers: [Int64?]
    var governors: [Governor?]
    var followed: [String: FollowedDispatch] = [:]
    private var lastSequence: Int64 = 0
    let meterLeaf: Int?
    private var meter = CampusMeter()
    var others = OtherFlows()
    /// Of its first step.
    private var begunAt: Int64?

    /// - Parameter place: the level's own.
    /// - Throws: where the tree has no such place, or the meter is none of its children's.
    public init(_ tree: FleetTree, place: String, _ settings: Settings) throws(FleetFaults) {
        guard let top = tree.index(of: place) else {
            throw FleetFaults(faults: [.unknownMember(place, of: "place")])
        }
        (self.tree, self.top, self.settings) = (tree, top, settings)
        meterLeaf = settings.meter.flatMap { tree.index(of: $0) }
        powers = tree.nodes.map { _ in nil }
        governors = tree.nodes.map { _ in nil }
        for leaf in tree.leaves(under: top) where leaf != top { children[leaf] = FleetChildState() }
        if let name = settings.meter, meterLeaf.map({ children[$0] == nil }) ?? true {
            throw FleetFaults(faults: [.unknownMember(name, of: "meter")])
        }
    }

    // MARK: What comes in

    /// Takes in what a child says of itself; `received` is our clock's.
    ///
    /// - Throws: why it is not believed; the child is as silent as if nothing had come.
    public mutating func take(_ report: ChildReport, received: Int64) throws(ChildRefusal) {
        let index: Int
        do { index = try tree.judge(report, at: received) } catch {
            if let known = tree.index(of: report.id) { children[known]?.refusal = error }
            throw error
        }
        guard children[index] != nil else { throw .unknownPlace }
        guard settings.isSimulation || !report.state.isSimulated else {
            children[index]?.refusal = .simulated
            throw .simulated
        }
        children[index]?.hear(report, received: received)
    }

    /// What the level above grants; `nil` = it takes that back.
    public mutating func take(_ grant: Grant?) { above = grant }

    /// A child's link has fetched a command.
    public mutating func handedOut(_ sequence: Int64, to place: String) {
        guard let index = tree.index(of: place) else { return }
        children[index]?.handedOut(sequence)
    }

    /// What a child made of a command; an answer to an older one than the last is passed over.
    ///
    /// - Returns: whether the command is one of ours.
    @discardableResult
    public mutating func answer(_ answer: Answer, to sequence: Int64, of place: String, at now: Int64) -> Bool
    {
        guard let index = tree.index(of: place) else { return false }
        return children[index]?.take(answer, to: sequence, at: now) ?? false
    }

    // MARK: What goes out

    /// Shares anew, and says what is to be signed for whom: what has changed, and what is to be renewed.
    public mutating func step(at now: Int64) -> [Command] {
        if let grant = above, grant.until <= now { above = nil }
        for node in desks.keys.sorted() { desks[node]?.tick(at: now) }
        begunAt = begunAt ?? now
        lookAtMeter(at: now)
        lookAtOthers(at: now)
        lookAtPeaks(at: now)
        share(at: now)
        let powers = raised(at: now)
        let commands = children.keys.sorted().compactMap { command(for: $0, powers[$0], at: now) }
        for node in desks.keys.sorted() { follow(node, at: now) }
        forget(at: now)
        return commands
    }

    private mutating func command(for leaf: Int, _ wanted: Int64?, at now: Int64) -> Command? {
        guard let child = children[leaf] else { return nil }
        let isReporting = presence(of: leaf, at: now) == .reporting
        guard let governor = governors[leaf] else {
            // What was granted ends now rather than by itself, where somebody is there to hear it.
            guard isReporting, let held = child.sent, held.until > now, held.power != nil else { return nil }
            return send(nil, until: now + settings.lease, held.dispatch, to: leaf, at: now)
        }
        let power: WholeWatts
        if isReporting {
            power = WholeWatts(wanted ?? 0)
        } else if child.isFresh(at: now, settings), now >= child.refusedUntil {
            // It speaks and does not answer: it is given something again once it has taken nothing.
            power = WholeWatts(0)
        } else {
            return nil
        }
        let until = min(now + settings.lease, governor.until)
        // One that may be lost is told again before what holds has ended.
        let renewal = child.unanswered == nil ? settings.renewal : min(settings.renewal, Self.repeatTime)
        if let sent = child.sent, sent.power == power, sent.dispatch == governor.id,
            now - sent.at < renewal - 100
        {
            return nil
        }
        guard child.pace.allows(at: now) else { return nil }
        return send(power, until: until, governor.id, to: leaf, at: now)
    }

    private mutating func send(
        _ power: WholeWatts?, until: Int64, _ dispatch: String, to leaf: Int, at now: Int64
    ) -> Command {
        lastSequence = max(now, lastSequence + 1)
        children[leaf]?.note(
            FleetLease(sequence: lastSequence, dispatch: dispatch, power: power, until: until, at: now))
        return Command(
            place: tree.nodes[leaf].place.id, sequence: lastSequence, power: power, until: until,
            dispatch: dispatch)
    }

    /// Whether a child is there to be asked.
    public func presence(of leaf: Int, at now: Int64) -> ChildPresence {
        guard let child = children[leaf] else { return .gone }
        if child.isFresh(at: now, settings), child.isAnswering(at: now, settings), !child.hasLapsed(at: now),
            now >= child.refusedUntil
        {
            return .reporting
        }
        guard let held = child.held, held.until > now else { return .gone }
        let lease = held.power ?? WholeWatts(0)
        return meter.missing.contains(leaf) ? .missing(lease: lease) : .silent(lease: lease)
    }

    /// Whether an earlier run of this level may have granted a child something that has not ended, and that
    /// nobody here knows.
    func mayHoldUnknownGrant(_ leaf: Int, at now: Int64) -> Bool {
        guard let begunAt, let child = children[leaf] else { return false }
        return child.heardAt == nil && now - begunAt < settings.lease
    }

    /// The next instant at which a grant ends that nothing has renewed yet, and others may take its part.
    public func nextEnd(after now: Int64) -> Int64? {
        (children.values.compactMap { $0.held?.until } + [(begunAt ?? now) + settings.lease]).filter {
            $0 > now
        }
        .min()
    }

    /// At the level's own connection, positive = injected: by the one meter that stands there, or else the
    /// sum of the children's; `nil` = nobody sees it.
    public func connection(at now: Int64) -> WholeWatts? {
        let states = states(at: now)
        if let meterLeaf { return states[meterLeaf]?.meter }
        let meters = children.keys.compactMap { states[$0]?.meter?.count }
        return meters.count == children.count ? WholeWatts(meters.reduce(0, +)) : nil
    }

    private mutating func lookAtMeter(at now: Int64) {
        guard let meterLeaf, presence(of: meterLeaf, at: now) == .reporting, let own = children[meterLeaf],
            let reading = own.state?.meter?.count, let heardAt = own.heardAt
        else { return meter.lose() }
        var (heard, silent) = (Int64(0), [CampusMeter.Silent]())
        for (leaf, child) in children {
            switch presence(of: leaf, at: now) {
            case .reporting: heard += child.state?.power.count ?? 0
            case .silent(let lease), .missing(let lease):
                silent.append(
                    CampusMeter.Silent(child: leaf, grant: lease.count, heardAt: child.heardAt ?? .min))
            case .gone: continue
            }
        }
        meter.look(at: heardAt, meter: reading, heard: heard, silent: silent)
    }

    /// The children that the meter shows to do nothing of what they were granted.
    public func missingChildren(at now: Int64) -> [String] {
        children.keys.sorted().compactMap { leaf in
            if case .missing = presence(of: leaf, at: now) { tree.nodes[leaf].place.id } else { nil }
        }
    }

    /// What the places say of themselves, by the order of the nodes; `nil` = not heard.
    public func states(at now: Int64) -> [SiteState?] {
        tree.nodes.indices.map { index in
            guard let child = children[index], child.isFresh(at: now, settings) else { return nil }
            return child.state
        }
    }
}

/// What was sent to a child.
public struct FleetLease: Sendable, Equatable {
    public var sequence: Int64
    public var dispatch: String
    /// `nil` = a release.
    public var power: WholeWatts?
    public var until: Int64
    /// When it was sent.
    public var at: Int64
}

/// How many leases a child looks at: ten in a row, and one more each second (`LeaseBook`). One is left to it.
struct LeasePace: Sendable, Equatable {
    private static let most: Int64 = 9_000
    /// Thousandths.
    private var left = most
    private var last: Int64 = .min

    private func left(at now: Int64) -> Int64 {
        last == .min ? Self.most : min(Self.most, left + max(0, now - last))
    }

    func allows(at now: Int64) -> Bool { left(at: now) >= 1_000 }

    mutating func spend(at now: Int64) { (left, last) = (left(at: now) - 1_000, now) }
}

/// A child as its parent knows it.
public struct FleetChildState: Sendable, Equatable {
    public internal(set) var state: SiteState?
    /// Ours.
    public internal(set) var heardAt: Int64?
    /// Why its last report was not believed; `nil` = it was.
    public internal(set) var refusal: ChildRefusal?
    /// The newest that was sent.
    public internal(set) var sent: FleetLease?
    /// The newest that it has taken.
    public internal(set) var held: FleetLease?
    /// What it has said last, and to which.
    public internal(set) var answered: (lease: FleetLease, answer: FleetController.Answer)?
    /// The dispatch that it has fetched last.
    var fetched: String?
    var refusedUntil: Int64 = .min
    var pace = LeasePace()
    private var stateAt: Int64 = .min
    private var unansweredSince: Int64?
    /// Those that may still be answered.
    private var open: [FleetLease] = []

    public static func == (a: Self, b: Self) -> Bool {
        a.state == b.state && a.heardAt == b.heardAt && a.sent == b.sent && a.held == b.held
    }

    /// The newest that was sent, while nothing has been said to it.
    var unanswered: FleetLease? {
        sent.flatMap { sent in open.contains { $0.sequence == sent.sequence } ? sent : nil }
    }

    mutating func hear(_ report: ChildReport, received: Int64) {
        refusal = nil
        // The same state told again is no sign of life.
        guard report.at > stateAt else { return }
        (state, stateAt, heardAt) = (report.state, report.at, received)
    }

    mutating func note(_ lease: FleetLease) {
        sent = lease
        pace.spend(at: lease.at)
        open = open.suffix(15) + [lease]
        if unansweredSince == nil { unansweredSince = lease.at }
    }

    mutating func handedOut(_ sequence: Int64) {
        if let lease = open.first(where: { $0.sequence == sequence }) { fetched = lease.dispatch }
    }

    mutating func take(_ answer: FleetController.Answer, to sequence: Int64, at now: Int64) -> Bool {
        guard let lease = open.first(where: { $0.sequence == sequence }) else { return false }
        fetched = lease.dispatch
        open.removeAll { $0.sequence <= sequence }
        guard sequence > answered?.lease.sequence ?? .min else { return true }
        answered = (lease, answer)
        unansweredSince = open.first?.at
        switch answer {
        case .granted: held = lease.power == nil ? nil : lease
        case .refused(let why):
            let isBusy = why.contains("too_often")
            refusedUntil = now + (isBusy ? FleetController.busyTime : FleetController.refusalTime)
        }
        return true
    }

    func isFresh(at now: Int64, _ settings: FleetController.Settings) -> Bool {
        heardAt.map { now - $0 <= settings.silence } ?? false
    }

    /// Whether its grant has ended while it had not answered the one that was to follow it.
    func hasLapsed(at now: Int64) -> Bool {
        guard let held, held.until <= now, let since = unansweredSince else { return false }
        return since < held.until
    }

    func isAnswering(at now: Int64, _ settings: FleetController.Settings) -> Bool {
        unansweredSince.map { now - $0 <= settings.patience } ?? true
    }
}
