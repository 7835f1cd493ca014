import Control
import ControlSocket
import LinuxIO
import Plant
import PowerDispatch
import Quantities
import Recorder
import SiteEvents
import Synchronization

/// Answers the control socket. It only asks the cycle; what came of it is read from the cycle's own events.
final class ControlService: Sendable {
    struct State: Sendable {
        var status: SiteStatus?
        var trips: [TripStatus] = []
        /// Newest first.
        var events: [EventStatus] = []
        /// Newest answers of the cycle to resets and resumes, by unit.
        var answers: [Int: Event] = [:]
        /// The same of the whole site's resume.
        var resumed: Event?
        /// Why people have asked for locks.
        var reasons: [LockKey: String] = [:]
        /// Who has stopped the site, since when and why.
        var stopWords: String?
        /// Stops and locks as they stand on disk; `nil` where nobody keeps any.
        var onDisk: LatchRecord?
        /// Whose power holds, of the site (`nil`) or a unit.
        var wishes: [Int?: Wish] = [:]
    }

    struct LockKey: Hashable {
        var unit: Int
        var kind: UInt8
        var userID: UInt32?
    }

    let state = Mutex(State())
    private let commands = Mutex<Void>(())
    let link: CycleLink
    let units: [String]
    private let timing: TimingSource
    let access: ControlAccess
    let journal: Journal
    private let modbus: ModbusDesk
    let leases: LeaseDesk?
    let agc: AGCDesk?
    let tap: CycleTap?
    let frequencyRule: FrequencyTestRule
    let certificateNotice = CertificateNotice()
    private let stop = StopFlag()
    private let beat: Beat
    let reversionDesk = ReversionDesk()
    private let followers = StatusFollowers()

    init(
        link: CycleLink, units: [String], timing: TimingSource, access: ControlAccess, journal: Journal,
        beat: Beat = Beat("control"), modbus: ModbusDesk = ModbusDesk(), leases: LeaseDesk? = nil,
        agc: AGCDesk? = nil, tap: CycleTap? = nil, frequencyRule: FrequencyTestRule = .never
    ) {
        self.frequencyRule = frequencyRule
        self.leases = leases
        self.agc = agc
        self.tap = tap
        self.beat = beat
        self.link = link
        self.modbus = modbus
        self.units = units
        self.timing = timing
        self.access = access
        self.journal = journal
    }

    func update(_ status: SiteStatus, trips: [TripStatus], events: [EventStatus] = []) {
        state.withLock {
            $0.status = status
            $0.trips = trips
            $0.events = events
        }
        followers.tell(at: .now()) { statusNow }
    }

    /// The newest; `nil` before the first cycle.
    var currentStatus: SiteStatus? { state.withLock { $0.status } }

    /// Tells what the cycle made of a command.
    ///
    /// - Returns: whether somebody is answered by it.
    func saw(_ event: Event) -> Bool {
        switch event.kind {
        case .resetDone, .resetRefused, .resetNeedsService, .holdEnded, .resumeRefused, .held:
            guard let unit = event.unit else { return false }
            state.withLock { $0.answers[unit] = event }
            return true
        case .resumed:
            state.withLock { state in
                state.resumed = event
                state.stopWords = nil
            }
            return true
        case _: return false
        }
    }

    /// Who stopped the site in a former run, since when and why.
    func remember(stop words: String?) { state.withLock { $0.stopWords = words } }
    /// Why the person has asked for the lock of the event, in their own words; of a stop by whom and when.
    func reason(of event: Event) -> String {
        if event.kind == .stopRequested { return state.withLock { $0.stopWords } ?? "" }
        guard case .lockBegun(let kind) = event.kind, let unit = event.unit else { return "" }
        let key = LockKey(unit: unit, kind: kind.rawValue, userID: event.by?.userID)
        return state.withLock { $0.reasons[key] } ?? ""
    }

    /// Asks the cycle about one unit and waits for what it makes of it.
    ///
    /// - Returns: `nil` where the cycle does not answer.
    func ask(_ command: Controller.Command, about unit: Int) -> Event? {
        _ = state.withLock { $0.answers.removeValue(forKey: unit) }
        guard hand(command, until: .now() + Self.validity) else { return nil }
        let answer = waitFor { state in state.answers[unit].flatMap { command.isAnswered(by: $0) ? $0 : nil }
        }
        if let answer { waitForPicture(of: answer) }
        return answer
    }

    /// Whoever looks once they are answered finds what the answer says; not for longer than a disk may take.
    func waitForPicture(of event: Event) {
        let limit = MonotonicTime.now() + .milliseconds(500)
        _ = waitFor(until: limit) { state in state.status.flatMap { $0.cycle >= event.cycle ? true : nil } }
    }

    /// A command that the cycle has not taken by then lapses, before who asked is told so.
    static let validity = Duration.milliseconds(1_500)
    /// A question that has waited for so long is not begun any more.
    private static let queueing = Duration.milliseconds(1_500)
    private static let longestQueue = 8
    private static let stoodStill = "the program stood still: ask again"

    func waitFor<Value: Sendable>(until limit: MonotonicTime? = nil, _ value: (State) -> Value?) -> Value? {
        let deadline = limit ?? MonotonicTime.now() + .seconds(2)
        while MonotonicTime.now() < deadline {
            if let value = state.withLock({ value($0) }) { return value }
            (MonotonicTime.now() + .milliseconds(5)).sleep()
        }
        return nil
    }

    /// Hands a command to the cycle; `false` where its queue is full.
    ///
    /// In production no power is taken from outside the site before every device has proven its reversion.
    func command(_ command: Controller.Command) -> Bool { hand(command, until: nil) }

    /// The same, until its time.
    func hand(_ command: Controller.Command, until: MonotonicTime?) -> Bool {
        if command.isRemotePower, let refusal = reversionDesk.remoteRefusal {
            let source = command.source.map { "\($0.name)" } ?? "remote"
            journal.write(LogRecord(.operatorRefused, "refused: \(refusal)", [.source: source], as: .error))
            return false
        }
        return put(command, until: until) != nil
    }

    /// - Returns: how many commands the cycle has taken once it has taken this one.
    private func put(_ command: Controller.Command, until: MonotonicTime?) -> UInt64? {
        commands.withLock { _ in
            link.commands.push(TimedCommand(command: command, until: until))
                ? link.commands.writtenCount : nil
        }
    }

    func end() { stop.raise() }
    var isEnded: Bool { stop.isRaised }

    /// What may wait for the cycle or a device, on its way to the thread that does.
    private struct Work: Sendable {
        var question: ControlServer.Question
        var asker: Asker
        var until: MonotonicTime
    }

    private let works = Mutex<[Work]>([])

    /// Takes questions, and answers those that need not wait, a stop among them.
    func run(_ server: inout ControlServer) {
        var still = StoodStill(at: .now())
        server.run(
            while: {
                still.turn(at: .now())
                beat.turn()
                return !stop.isRaised
            },
            told: tell,
            { question in
                let asker = access.asker(question.peer, groups: question.groups)
                switch question.request.command {
                case .status, .timing, .metrics, .trips, .stop:
                    return answer(question.request, asker)
                case .lease: return lease(question, asker)
                case .certificate: return certificate(question.request, asker)
                case .agcRelease: return centre(question, asker)
                case .follow:
                    return centreRefusal(question.request, asker) ?? followers.take(question)
                case .agc:
                    return still.isBehind(at: .now())
                        ? refused(question.request, asker, Self.stoodStill) : centre(question, asker)
                case .reset, .resume, .setpoint, .revoke, .mode, .modbusWrite, .reversion, .frequencyTest,
                    .capture:
                    if still.isBehind(at: .now()) {
                        return refused(question.request, asker, Self.stoodStill)
                    }
                    let work = Work(question: question, asker: asker, until: .now() + Self.queueing)
                    let hasRoom = works.withLock { works in
                        guard works.count < Self.longestQueue else { return false }
                        works.append(work)
                        return true
                    }
                    return hasRoom ? nil : refused(question.request, asker, "too many ask at once: try again")
                }
            })
    }

    /// What became of the path at which people ask.
    private func tell(_ change: Doorway.Change) {
        let level: LogRecord.Priority = change == .madeAnew ? .warning : .error
        journal.write(LogRecord(.controlSocket, "the control socket's path \(change)", as: level))
    }

    /// Answers what may wait, one after the other, on a thread of its own.
    func work() {
        while !stop.isRaised {
            let next = works.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            guard let next else {
                (MonotonicTime.now() + .milliseconds(5)).sleep()
                continue
            }
            guard MonotonicTime.now() < next.until else {
                let late = "it came too late for an answer: nothing was done"
                next.question.answer(refused(next.question.request, next.asker, late))
                continue
            }
            // Here, where a slow disk holds no stop up.
            Accounts.learnNames()
            next.question.answer(answer(next.question.request, next.asker))
        }
    }

    private func answer(_ request: ControlRequest, _ asker: Asker) -> ControlAnswer {
        let name = request.command.rawValue
        if let refusal = asker.refusal(of: name, needing: AccessRole.needed(for: request.command)) {
            return refused(request, asker, refusal)
        }
        if let fault = request.fault { return refused(request, asker, fault) }
        switch request.command {
        case .status:
            guard let status = statusNow else {
                return ControlAnswer(error: "the first cycle has not run yet")
            }
            return ControlAnswer(status: status)
        case .timing: return ControlAnswer(timing: timing.report())
        case .metrics:
            return ControlAnswer(
                metrics: MetricsText.text(state.withLock { $0.status }, timing.report()))
        case .trips:
            return state.withLock { state in
                var answer = ControlAnswer(trips: state.trips)
                answer.events = state.events
                return answer
            }
        case .reset, .stop, .resume, .setpoint, .revoke, .mode, .modbusWrite, .reversion, .frequencyTest,
            .capture, .lease, .certificate, .agc, .agcRelease, .follow:
            log(request, asker)
            let answer = change(request, asker)
            if let error = answer.error { return refused(request, asker, error) }
            return answer
        }
    }

    private func change(_ request: ControlRequest, _ asker: Asker) -> ControlAnswer {
        switch request.command {
        case .reset: return reset(request, asker)
        case .stop: return stopSite(request, asker)
        case .resume: return resume(request, asker)
        case .setpoint: return setpoint(request, asker)
        case .revoke: return revoke(request)
        case .mode: return mode(request, asker)
        case .modbusWrite:
            return modbusWrite(request, asker)
        case .reversion: return reversion(request)
        case .frequencyTest: return frequencyTest(request)
        case .capture: return capture(request)
        case .status, .timing, .trips, .metrics, .lease, .certificate, .agc, .agcRelease, .follow:
            return ControlAnswer(error: "nothing to change")
        }
    }

    /// With what the cycle does not know: who has asked for what it does, and why.
    private var statusNow: SiteStatus? {
        state.withLock { state in
            guard var status = state.status else { return nil }
            if status.base_point_by == "operator" { status.base_point_words = state.wishes[nil]?.text }
            for index in status.units.indices where status.units[index].override_kw != nil {
                status.units[index].override_words = state.wishes[index]?.text
            }
            if status.stopped {
                status.stopped_by =
                    state.stopWords ?? "before this start of the program; the journal names who and why"
            }
            return status
        }
    }

    private func modbusWrite(_ request: ControlRequest, _ asker: Asker) -> ControlAnswer {
        let modes = state.withLock { $0.status?.units.map(\.mode) ?? [] }
        let answer = modbus.write(request, modes: modes)
        say(
            .modbusWrite, "modbus write (\(asker.name)): \(answer.done ?? answer.error ?? "")", request, asker
        )
        return answer
    }

    /// Done once the cycle has taken it; what it has not taken in time lapses, and that is the answer.
    func send(_ command: Controller.Command, _ done: String) -> ControlAnswer {
        let lapsed = link.lapsed.load(ordering: .acquiring)
        let until = MonotonicTime.now() + Self.validity
        guard let count = put(command, until: until) else {
            return ControlAnswer(error: "the cycle takes no command now")
        }
        // A little longer than it holds: taken at the last moment is taken.
        let isTaken = waitFor(until: until + .milliseconds(100)) { _ in
            self.link.commands.takenCount >= count ? true : nil
        }
        // What was taken too late is counted right after it was taken.
        (MonotonicTime.now() + .milliseconds(1)).sleep()
        guard isTaken == true, link.lapsed.load(ordering: .acquiring) == lapsed else { return noAnswer }
        return ControlAnswer(done: done)
    }

    var noSuchUnit: ControlAnswer {
        ControlAnswer(error: "no such unit; the units are \(units.joined(separator: ", "))")
    }

    private func reset(_ request: ControlRequest, _ asker: Asker) -> ControlAnswer {
        guard access.isCommissioned else {
            return ControlAnswer(
                error: "the site has no latch record: stop the daemon, ballastctl commission init")
        }
        guard let name = request.unit, let unit = units.firstIndex(of: name) else { return noSuchUnit }
        if state.withLock({ $0.status?.units[unit].trips.isEmpty }) == true {
            return ControlAnswer(error: "unit \(name): nothing is latched, so there is nothing to reset")
        }
        let role: Role = asker.role == .service ? .service : .operator
        let event = ask(.reset(unit: unit, role: role, by: asker.person), about: unit)
        switch event?.kind {
        case .resetDone:
            return ControlAnswer(
                done: "unit \(name): trips reset; it is held, 'ballastctl resume \(name)' starts it, or the"
                    + " site's resume by you")
        case .resetRefused:
            return ControlAnswer(error: stillLatched(name, role, since: event?.cycle ?? 0))
        case .resetNeedsService: return ControlAnswer(error: needsService(name, asker))
        case nil, .some: return noAnswer
        }
    }

    /// What a reset has left, which the status tells from the event's cycle on.
    private func stillLatched(_ unit: String, _ role: Role, since cycle: UInt64) -> String {
        let left = waitFor { state in
            (state.status?.cycle ?? 0) >= cycle ? state.trips.filter { $0.unit == unit } : nil
        }
        let (service, own) = (left ?? []).parted { $0.reset == "\(AccessRole.service)" && role != .service }
        var text = "unit \(unit): the cause of a trip is still present, or not seen to be gone"
        if !own.isEmpty { text += ": " + own.map(\.interlock).joined(separator: ", ") }
        let rest = service.map(\.interlock).joined(separator: ", ")
        return service.isEmpty ? text : text + "; \(rest) also needs the group \(AccessRole.service.group)"
    }

    var noAnswer: ControlAnswer {
        ControlAnswer(
            error:
                "the cycle did not answer in time; what it had not taken lapses, 'ballastctl status' tells what is"
        )
    }

    private func needsService(_ unit: String, _ asker: Asker) -> String {
        let trips = state.withLock { $0.trips }.filter {
            $0.unit == unit && $0.reset == "\(AccessRole.service)"
        }
        let names = trips.map(\.interlock).joined(separator: ", ")
        let refusal = asker.refusal(of: "the reset of \(names)", needing: .service)
        return "unit \(unit): \(refusal ?? "something is still latched")"
    }
}

extension Array {
    /// Those that fit, and the others, each in order.
    fileprivate func parted(_ fits: (Element) -> Bool) -> (fit: [Element], other: [Element]) {
        (filter(fits), filter { !fits($0) })
    }
}
