import Control
import ControlSocket
import LinuxIO
import PowerDispatch
import Quantities
import RemoteLeases
import SiteEvents
import Signatures
import SiteConfig
import Synchronization

/// Takes signed leases from outside, one after the other, on a thread of its own: a disk that does not
/// answer holds nobody else.
///
/// What is granted is the base point of the source `aggregator`, no more: interlocks, limits, modes, resets
/// and locks cannot be reached from here.
final class LeaseDesk: Sendable {
    struct Question: Sendable {
        var lease: String
        var asker: Asker
        var answer: @Sendable (ControlAnswer) -> Void
    }

    private static let longestQueue = 4
    private let config: RemoteLeasesConfig?
    private let isClockAsked: Bool
    private let file: LeaseRecordFile
    private let grants: AuditedGrants
    private let started: LeaseBook.Moment
    /// What the former run has granted last.
    private let former: LeaseRecordFile.Running?
    private let journal: Journal
    private let recorder: RecorderThread
    private let book: Mutex<LeaseBook>
    private let pace = Mutex(RefusalPace())
    private let questions = Mutex<[Question]>([])
    private let stop = StopFlag()
    private let beat: Beat

    init(_ site: SiteConfig, recorder: RecorderThread, journal: Journal, beat: Beat) {
        self.recorder = recorder
        config = site.remoteLeases
        // A simulation moves no power, and runs on machines without a time server.
        isClockAsked = site.mode.rules.remoteCommands != .anyClock
        file = LeaseRecordFile(directory: site.paths.stateDirectory)
        grants = AuditedGrants(directory: site.paths.stateDirectory)
        started = Self.moment(isClockAsked: isClockAsked)
        self.journal = journal
        self.beat = beat
        var record: LeaseBook.Record
        (record, former) = file.read()
        // Without a record what was used before this start is not known; what is issued from now on is new.
        if record.since == nil, started.isSynchronised { record.since = started.wall }
        book = Mutex(
            LeaseBook(
                site: site.siteID, keys: Set(site.remoteLeases?.keys.map(\.id) ?? []),
                longest: site.remoteLeases?.longest ?? .zero, record: record))
    }

    func end() { stop.raise() }

    /// - Returns: `false` where too many wait.
    func put(_ question: Question) -> Bool {
        questions.withLock { questions in
            guard questions.count < Self.longestQueue else { return false }
            questions.append(question)
            return true
        }
    }

    func run(_ control: ControlService) {
        tellFormer()
        var isHeldAgainstAudit = false
        while !stop.isRaised {
            beat.turn()
            let next = questions.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            tellCounted(isLast: false)
            guard let next else {
                (MonotonicTime.now() + .milliseconds(10)).sleep()
                continue
            }
            // With the first question: by then the recorder has found the audit's end.
            if !isHeldAgainstAudit { holdAgainstAudit() }
            isHeldAgainstAudit = true
            next.answer(answer(next, control))
        }
        tellCounted(isLast: true)
    }

    /// A restart carries no lease on, and whoever waits for its end hears of it.
    private func tellFormer() {
        guard let former, former.until > started.wall else { return }
        journal.write(
            LogRecord(
                .basePointLapsed,
                "lease \(former.sequence) of \(former.key) (dispatch \(former.dispatch)) holds no more: "
                    + "the daemon has started anew",
                [.source: former.key, .value: former.dispatch]))
    }

    /// A file of sequences that somebody set back would have leases played again; the audit beside it knows.
    private func holdAgainstAudit() {
        guard config != nil else { return }
        let granted = grants.last { beat.turn() }
        let since = started.isSynchronised ? started.wall : nil
        guard book.withLock({ $0.hold(against: granted, since: since) }) else { return }
        let words = granted.sorted { $0.key < $1.key }.map { "lease \($0.value) of \($0.key)" }
        var line = LogRecord(
            .remoteLeaseRefused,
            "\(file.path) is older than the audit, which has \(words.joined(separator: ", ")) used: "
                + "every lease that was issued before this start is refused",
            [.source: "unknown", .role: "none", .via: "signed_lease"])
        line.add(.cause, LeaseRefusal.sequenceLost.rawValue)
        journal.write(line)
    }

    private func answer(_ question: Question, _ control: ControlService) -> ControlAnswer {
        guard let bytes = Hexadecimal.bytes(question.lease), let open = RemoteLease.open(bytes) else {
            return refuse(.malformed, nil, question.asker, "it is no lease of version 1")
        }
        let lease = open.lease
        guard let config else {
            return refuse(.notAllowed, lease, question.asker, "the site's file has no remote_leases")
        }
        if let refusal = control.reversionDesk.remoteRefusal {
            return refuse(.notAllowed, lease, question.asker, refusal)
        }
        let moment = Self.moment(isClockAsked: isClockAsked)
        let (verdict, record) = book.withLock { book in
            let verdict = book.judge(lease, at: moment) {
                config.keys.contains {
                    $0.id == lease.key
                        && Signatures.isValid(open.signature, of: open.signed, by: $0.publicKey)
                }
            }
            return (verdict, book.record)
        }
        if case .refused(let refusal) = verdict { return refuse(refusal, lease, question.asker, nil) }
        // A lease that could be played again after a restart is none.
        do throws(SystemError) { try file.write(record, running: Self.running(verdict, lease)) } catch {
            return refuse(.notSaved, lease, question.asker, "\(file.path): \(error)")
        }
        guard recorder.keepInAudit(used(lease, question.asker)) else {
            return refuse(.notSaved, lease, question.asker, "the audit's disk does not take it")
        }
        return grant(verdict, since: moment.monotonic, lease, question, control)
    }

    private static func running(
        _ verdict: LeaseBook.Verdict, _ lease: RemoteLease
    ) -> LeaseRecordFile.Running? {
        switch verdict {
        case .refused, .release: nil
        case .power:
            LeaseRecordFile.Running(
                key: lease.key, sequence: lease.sequence, until: lease.until, dispatch: lease.dispatch)
        }
    }

    /// Stands in the audit before the lease has an effect: whoever sets back `remote-leases`, and ends the
    /// daemon before it tells of the grant, has it played no second time.
    private func used(_ lease: RemoteLease, _ asker: Asker) -> LogLine {
        let text = "\(AuditedGrants.wordsBefore(lease.sequence, of: lease.key)) (dispatch \(lease.dispatch))"
        return LogLine(
            record: told(.remoteLease, text, lease, asker), file: #file, line: #line, function: #function,
            wallMilliseconds: WallClock.nowMilliseconds())
    }

    private static func moment(isClockAsked: Bool) -> LeaseBook.Moment {
        LeaseBook.Moment(
            monotonic: .now(), wall: WallClock.nowMilliseconds(),
            isSynchronised: !isClockAsked || ClockDiscipline()?.isSynchronised == true)
    }

    /// - Parameter judged: the time counts from there, whatever the disk took since.
    private func grant(
        _ verdict: LeaseBook.Verdict, since judged: MonotonicTime, _ lease: RemoteLease, _ question: Question,
        _ control: ControlService
    ) -> ControlAnswer {
        let answer: ControlAnswer
        // The clock first: a lease that has time left by the other one was granted before its end.
        let wall = WallClock.nowMilliseconds()
        let granted = LogRecord.Instant(monotonic: .now(), wallMilliseconds: wall)
        switch verdict {
        case .refused: return ControlAnswer(error: "refused")
        case .release:
            answer = control.send(.revokeBasePoint(.aggregator), "the aggregator's lease ends")
        case .power(let watts, let whole):
            let time = judged + whole - granted.monotonic
            guard time > .zero else {
                return refuse(.expired, lease, question.asker, "the disk took too long")
            }
            let (given, words) = Self.given(watts, control.currentStatus)
            let text = "the aggregator's lease: \(words) for \(Self.seconds(time)) s"
            answer = control.send(.setBasePoint(.aggregator, Watts(given), for: time), text)
        }
        guard let done = answer.done else {
            return refuse(.noAnswer, lease, question.asker, answer.error)
        }
        var line = told(
            .remoteLease,
            "\(AuditedGrants.words(lease.sequence, of: lease.key)) (dispatch \(lease.dispatch)): \(done)",
            lease, question.asker)
        // A busy machine tells of it later, when a short lease is over.
        line.happened = granted
        journal.write(line)
        return answer
    }

    /// What of it can be, in watts, and in words for who asked: what stands against it now is said.
    static func given(_ watts: Int64, _ status: SiteStatus?) -> (watts: Double, words: String) {
        let asked = Double(watts)
        guard let status else { return (asked, "\(asked / 1_000) kW, inside every limit") }
        let most = status.units.reduce(0) { $0 + $1.rating_kw } * 1_000
        let given = most > 0 ? min(max(asked, -most), most) : asked
        var words = "\(given / 1_000) kW"
        if given != asked { words += " of \(asked / 1_000) kW, which is beyond the units' ratings" }
        if status.stopped {
            words += ", but the site is stopped by a person"
        } else if !status.units.contains(where: { $0.mode == "running" }) {
            words += ", but no unit is in service"
        } else if status.base_point_by == "operator" {
            words += ", but an operator's setpoint holds"
        } else if given == asked {
            words += ", inside every limit"
        }
        return (given, words)
    }

    private static func seconds(_ time: Duration) -> Int { Int(time / .seconds(1)) }

    private func refuse(
        _ refusal: LeaseRefusal, _ lease: RemoteLease?, _ asker: Asker, _ detail: String?
    ) -> ControlAnswer {
        let what = lease.map { "lease \($0.sequence) of \($0.key) (dispatch \($0.dispatch))" } ?? "a lease"
        let text = "\(what) refused: \(refusal.rawValue)" + (detail.map { ": \($0)" } ?? "")
        if pace.withLock({ $0.isTold(refusal, at: .now()) }) {
            var line = told(.remoteLeaseRefused, text, lease, asker)
            line.add(.cause, refusal.rawValue)
            journal.write(line)
        }
        return ControlAnswer(error: text)
    }

    /// What was refused without a line of its own, in one.
    private func tellCounted(isLast: Bool) {
        guard let counts = pace.withLock({ $0.summary(at: .now(), isLast: isLast) }) else { return }
        let words = counts.map { "\($0.key.rawValue) \($0.value)" }.sorted()
        var line = LogRecord(
            .remoteLeaseRefused, "more leases refused: \(words.joined(separator: ", "))",
            [.source: "unknown", .role: "none", .via: "signed_lease"])
        line.add(.cause, "too_often")
        journal.write(line)
    }

    private func told(_ event: EventName, _ text: String, _ lease: RemoteLease?, _ asker: Asker) -> LogRecord
    {
        LogRecord(
            event, text,
            [
                .source: lease?.key ?? "unknown", .value: lease?.dispatch ?? "",
                .userID: asker.userID.map { "\($0)" } ?? "unknown",
                .role: asker.role.map { "\($0)" } ?? "none", .via: "signed_lease",
            ])
    }
}
