import BallastLink
import ExactAmounts
import Fleet
import HTTPTypes
import LinuxIO
import Quantities
import RemoteLeases
import ServiceLifecycle
import Signatures

/// Runs a level of the fleet: hears its children, lets the controller share each second and at once where
/// something new comes, signs what is to be signed. It decides nothing itself.
actor FleetControl: Service {
    private static let turnPace = Duration.seconds(1)
    private static let tracePause: Int64 = 2_000
    /// Of one place, until its link has fetched it.
    private struct Outgoing {
        var sequence: Int64
        var bytes: String
        var until: Int64
        var answer: LeaseResult?
        var isAnswered: Bool { answer != nil }
    }

    let settings: AggregatorConfig.FleetSettings
    private(set) var controller: FleetController
    private let store: TelemetryStore
    private let desk: LeaseDesk
    private let rows: FleetDesk
    private let signs: SiteSigns
    private let log: @Sendable (String) -> Void
    private var outgoing: [String: Outgoing] = [:]
    private var reports: [String: (report: LevelReport, received: Int64)] = [:]
    private var told: [String: String] = [:]
    private var refusals: [String: ChildRefusal] = [:]
    /// Of a child that is a site, what it has written to its inverters.
    private var registers: [String: String] = [:]
    private var isLoaded = false
    private var book: LeaseBook
    private var spool: LevelSpool?
    private var spoolFault: String?
    private var notes: [(id: String, state: String, words: String, at: Int64)] = []
    private var isKeeping = false
    private var traced: (sign: String, at: Int64) = ("", 0)
    private var missing: [String] = []
    /// How long sharing has taken: the last time, and at most.
    private(set) var pace = (last: Duration.zero, most: Duration.zero)

    init(
        _ settings: AggregatorConfig.FleetSettings, store: TelemetryStore, desk: LeaseDesk, rows: FleetDesk,
        signs: SiteSigns, log: @escaping @Sendable (String) -> Void
    ) throws {
        self.settings = settings
        (self.store, self.desk, self.rows, self.signs, self.log) = (store, desk, rows, signs, log)
        controller = try FleetController(settings.tree, place: settings.place, settings.control)
        // What an earlier run has used is not known: what is issued from now on is new.
        book = LeaseBook(
            site: settings.place, keys: Set(settings.upward?.keys.map(\.id) ?? []),
            longest: settings.upward?.longest ?? .zero,
            record: LeaseBook.Record(since: WallClock.nowMilliseconds()))
        if let upward = settings.upward {
            spool = try LevelSpool(
                upward.link.spool, place: settings.place, isSimulation: settings.isSimulation)
        }
        for remark in settings.remarks { log("remark: \(remark)") }
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await self.turn()
                // Ends early only where the program ends, which the loop looks at.
                try? await Task.sleep(for: self.pause)
            }
        }
    }

    /// Until the next turn: what a child leaves that has died is taken the moment its grant ends.
    private var pause: Duration {
        let now = WallClock.nowMilliseconds()
        let end = controller.nextEnd(after: now).map { Duration.milliseconds($0 - now) }
        return min(Self.turnPace, end ?? Self.turnPace)
    }

    private func turn() async {
        do {
            if !isLoaded { try await load() }
            await hear()
        } catch { log("the fleet cannot be read: \(error)") }
        await advance()
        report()
    }

    // MARK: Children

    /// A child that is a level itself says so with its records, and is heard at once.
    func take(_ report: EdgeReport) async {
        guard settings.tree.index(of: report.site) != nil else { return }
        let newest = (report.records + report.present).last { $0.kind == "fleet" }
        // What cannot be read is not believed; the records are stored as they are.
        guard let newest, let read = try? LevelReport(json: Array(newest.data.utf8)) else { return }
        let now = WallClock.nowMilliseconds()
        reports[report.site] = (read, now)
        hear(ChildReport(report.site, read.state, at: read.at), received: now)
    }

    private func hear() async {
        for leaf in controller.children.keys.sorted() {
            let place = settings.tree.nodes[leaf].place
            guard reports[place.id] == nil, !signs.isSilent(place.id) else { continue }
            guard let row = await rows.row(of: place.id), let received = row.receivedAt,
                let report = row.report(capacity: place.capacity)
            else { continue }
            registers[place.id] = row.registers
            hear(report, received: received)
        }
    }

    private func hear(_ report: ChildReport, received: Int64) {
        do throws(ChildRefusal) {
            try controller.take(report, received: received)
            if refusals.removeValue(forKey: report.id) != nil { log("\(report.id) is believed again") }
        } catch {
            guard refusals.updateValue(error, forKey: report.id) != error else { return }
            log("\(report.id) is not believed: \(error.rawValue)")
        }
    }

    // MARK: Leases down

    /// Shares, signs and keeps what has changed.
    func advance() async {
        let now = WallClock.nowMilliseconds()
        let begin = MonotonicTime.now()
        var commands = controller.step(at: now)
        // Who has fallen silent is told zero first; the others get in the same turn what that leaves.
        let isSilent = commands.contains { command in
            settings.tree.index(of: command.place).map { controller.presence(of: $0, at: now) } != .reporting
        }
        if isSilent { commands += controller.step(at: now) }
        pace.last = MonotonicTime.now() - begin
        pace.most = max(pace.most, pace.last)
        for command in commands {
            let bytes = desk.sign(
                power: command.power?.count, until: command.until, dispatch: command.dispatch,
                site: command.place, sequence: command.sequence, now: now)
            guard let bytes else {
                log("nothing can be signed for \(command.place)")
                continue
            }
            outgoing[command.place] = Outgoing(
                sequence: command.sequence, bytes: bytes, until: command.until)
            desk.wake(command.place)
        }
        let absent = controller.missingChildren(at: now)
        for name in absent where !missing.contains(name) {
            log("\(name) is missing at the meter: others take its part at once")
        }
        missing = absent
        trace(at: now, isLast: false)
        await tell(at: now)
    }

    /// The lease that a child's link is to fetch; `nil` = there is none.
    func lease(for place: String) -> (sequence: Int64, bytes: String)? {
        guard let waiting = outgoing[place], !waiting.isAnswered, waiting.until > WallClock.nowMilliseconds()
        else { return nil }
        controller.handedOut(waiting.sequence, to: place)
        return (waiting.sequence, waiting.bytes)
    }

    /// - Returns: whether the lease is one of the fleet's.
    func take(_ result: LeaseResult, of place: String) async -> Bool {
        if let first = outgoing[place]?.answer, first.sequence == result.sequence, first != result {
            await keep(Contradiction(sequence: result.sequence, first: first, then: result), of: place)
            return true
        }
        let answer: FleetController.Answer = result.isGranted ? .granted : .refused(result.answer)
        let now = WallClock.nowMilliseconds()
        guard controller.answer(answer, to: result.sequence, of: place, at: now) else {
            return outgoing[place]?.sequence == result.sequence
        }
        if outgoing[place]?.sequence == result.sequence { outgoing[place]?.answer = result }
        if !result.isGranted { log("\(place) refuses: \(LogText.plain(result.answer))") }
        await advance()
        return true
    }

    private func keep(_ one: Contradiction, of place: String) async {
        log(
            "\(place): lease \(one.sequence) was \(one.first.state), and now it says \(one.then.state): "
                + "the first stands, the other is kept beside it")
        do { try await store.keep(one, of: place) } catch { log("it could not be kept: \(error)") }
    }

    // MARK: The level above

    /// Judges a lease of the level above, as a site does.
    func take(fromAbove hexadecimal: String) async -> Uplink.Verdict {
        guard let bytes = Hexadecimal.bytes(hexadecimal), let open = RemoteLease.open(bytes) else {
            return Uplink.Verdict(isGranted: false, words: "malformed: it is no lease of version 1")
        }
        let keys = settings.upward?.keys ?? []
        let isSynchronised = settings.isSimulation || ClockDiscipline()?.isSynchronised == true
        let moment = LeaseBook.Moment(
            monotonic: .now(), wall: WallClock.nowMilliseconds(), isSynchronised: isSynchronised)
        let verdict = book.judge(open.lease, at: moment) {
            keys.contains {
                $0.id == open.lease.key
                    && Signatures.isValid(open.signature, of: open.signed, by: $0.publicKey)
            }
        }
        switch verdict {
        case .refused(let refusal):
            log("lease \(open.lease.sequence) from above refused: \(refusal.rawValue)")
            return Uplink.Verdict(isGranted: false, words: refusal.rawValue)
        case .release:
            trace(at: moment.wall, isLast: true)
            controller.take(nil)
        case .power(let watts, _):
            if let above = controller.above, above.dispatch != open.lease.dispatch {
                trace(at: moment.wall, isLast: true)
            }
            controller.take(
                FleetController.Grant(
                    dispatch: open.lease.dispatch, power: WholeWatts(watts), until: open.lease.until))
        }
        await advance()
        let given = controller.powers[controller.top] ?? 0
        let asked = verdict == .release ? "released" : "granted \(open.lease.watts) W"
        return Uplink.Verdict(isGranted: true, words: "\(asked); the children are given \(given) W")
    }

    // MARK: What people ask

    /// Stores a dispatch, and follows it.
    ///
    /// - Returns: as it stands; `isNew` is false where it was asked for before.
    func add(_ wish: DispatchWish, by person: String) async throws -> (json: String, isNew: Bool) {
        let now = WallClock.nowMilliseconds()
        let row = wish.row(by: person, at: now)
        if let old = try await store.dispatch(wish.id) {
            guard old.isLike(row) else {
                throw Refusal(.conflict, "dispatch \(wish.id) was asked for before, and otherwise")
            }
            return (old.json(events: []), false)
        }
        // Looked at on a copy first: what is refused is not kept.
        var probe = controller
        try Self.put(row, into: &probe, at: now)
        try await store.add(row)
        try Self.put(row, into: &controller, at: now)
        told[wish.id] = row.state
        log("\(person) asks \(row.place) for \(row.words)")
        await advance()
        return (try await store.dispatch(wish.id)?.json(events: []) ?? row.json(events: []), true)
    }

    /// - Returns: `false` where there is none of that name that is not over.
    func revoke(_ id: String, by person: String, reason: String) async throws -> Bool {
        let now = WallClock.nowMilliseconds()
        guard controller.revoke(id, at: now) else { return false }
        try await store.note(id, state: nil, what: "revoked by \(person): \(reason)", at: now)
        // A dispatch of power tells of its end itself.
        if controller.dispatches.allSatisfy({ $0.dispatch.id != id }) {
            told[id] = nil
            try await store.note(id, state: "expired", what: nil, at: now)
        }
        await advance()
        return true
    }

    private static func put(
        _ row: DispatchRow, into controller: inout FleetController, at now: Int64
    ) throws(Refusal) {
        do throws(DispatchRefusal) {
            if let most = row.limit {
                guard let limit = PeakLimit(WholeWatts(most), from: row.from, until: row.until) else {
                    throw .malformed
                }
                try controller.take(
                    limit, row.id, row.priority, reason: row.reason, for: row.place, at: now)
                return
            }
            let dispatch = Dispatch(
                row.id, row.priority, reason: row.reason, power: WholeWatts(row.power ?? 0), from: row.from,
                until: row.until)
            guard let dispatch else { throw .malformed }
            try controller.take(dispatch, for: row.place, at: now)
        } catch {
            let status: HTTPResponse.Status = error == .unknownPlace ? .notFound : .conflict
            throw Refusal(status, "\(error.rawValue): \(error.words)")
        }
    }

    /// Those that were under way when the program ended go on: what they reach is delivered anew.
    private func load() async throws {
        let now = WallClock.nowMilliseconds()
        for row in try await store.openDispatches() {
            do throws(Refusal) {
                guard row.until > now else { throw Refusal(.gone, "its time is over") }
                try Self.put(row, into: &controller, at: now)
                told[row.id] = "pending"
            } catch {
                try await store.note(
                    row.id, state: "expired", what: "not taken up after a start: \(error.reason)", at: now)
            }
        }
        isLoaded = true
    }

    // MARK: What is kept and told

    /// Keeps every change of a dispatch.
    private func tell(at now: Int64) async {
        var changed: [(id: String, state: String, words: String)] = []
        for (_, dispatch) in controller.dispatches {
            let text = dispatch.state.words
            guard told[dispatch.id].map({ $0 != text }) ?? false else { continue }
            told[dispatch.id] = text
            changed.append((dispatch.id, dispatch.state.name, dispatch.state.words))
        }
        for peak in controller.peakTasks {
            guard let verdict = controller.verdict(ofPeak: peak.id, at: now) else { continue }
            let text = verdict.words
            guard told[peak.id].map({ $0 != text }) ?? false else { continue }
            told[peak.id] = text
            changed.append((peak.id, verdict.name, text))
        }
        for change in changed {
            log("dispatch \(change.id): \(change.words)")
            notes.append((change.id, change.state, change.words, now))
        }
        await keep()
    }

    /// One after the other: the last that is written is what holds.
    private func keep() async {
        guard !isKeeping else { return }
        isKeeping = true
        defer { isKeeping = false }
        while !notes.isEmpty {
            let note = notes.removeFirst()
            do { try await store.note(note.id, state: note.state, what: note.words, at: note.at) } catch {
                log("dispatch \(note.id): its change could not be kept: \(error)")
            }
        }
    }

    /// Tells the level above what has become of its grant: as soon as a part of it changes, and now and then.
    private func trace(at now: Int64, isLast: Bool) {
        guard spool != nil, let above = controller.above else { return }
        let parts = controller.children.keys.sorted().map { leaf in
            let child = controller.children[leaf]
            let answer = child?.answered.map { "\($0.lease.dispatch) \($0.answer)" } ?? ""
            return "\(leaf) \(FleetTrace.number(controller.powers[leaf])) \(answer)"
        }
        let sign = "\(above.dispatch) \(parts.joined(separator: ","))"
        guard isLast || sign != traced.sign || now - traced.at >= Self.tracePause else { return }
        traced = (sign, now)
        spoolGuarded { spool throws(LevelSpool.Failure) in
            let text = traceText(above.dispatch, at: now) ?? "{}"
            try spool.tell("trace", text.dropFirst().dropLast(), at: now)
        }
    }

    /// Writes a record for the level above.
    ///
    /// - Parameter members: of its object, beside those that every record has.
    func tell(_ kind: String, _ members: String, at now: Int64) {
        spoolGuarded { spool throws(LevelSpool.Failure) in try spool.tell(kind, members, at: now) }
    }

    private func spoolGuarded(_ body: (inout LevelSpool) throws(LevelSpool.Failure) -> Void) {
        guard var open = spool else { return }
        do throws(LevelSpool.Failure) {
            defer { spool = open }
            try body(&open)
            spoolFault = nil
        } catch {
            let words = "\(error)"
            if spoolFault != words { log("nothing can be told upward: \(words)") }
            spoolFault = words
        }
    }

    private func report() {
        let now = WallClock.nowMilliseconds()
        trace(at: now, isLast: false)
        let known = controller
        spoolGuarded { spool throws(LevelSpool.Failure) in
            for report in try spool.look(known, at: now) { log("what goes upward: \(report)") }
        }
    }

    /// What stands behind a dispatch here; `nil` = it is not known.
    func traceText(_ id: String, at now: Int64) -> String? {
        FleetTrace.text(id, controller, registers: registers, at: now)
    }
}
