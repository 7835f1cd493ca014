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
    private let journal: Journal
    private let book: Mutex<LeaseBook>
    private let questions = Mutex<[Question]>([])
    private let stop = StopFlag()
    private let beat: Beat

    init(_ site: SiteConfig, journal: Journal, beat: Beat) {
        config = site.remoteLeases
        // A simulation moves no power, and runs on machines without a time server.
        isClockAsked = site.mode.rules.remoteCommands != .anyClock
        file = LeaseRecordFile(directory: site.paths.stateDirectory)
        self.journal = journal
        self.beat = beat
        var record = file.read()
        // Without a record what was used before this start is not known; what is issued from now on is new.
        if record.since == nil {
            let moment = Self.moment(isClockAsked: isClockAsked)
            if moment.isSynchronised { record.since = moment.wall }
        }
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
        while !stop.isRaised {
            beat.turn()
            let next = questions.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            guard let next else {
                (MonotonicTime.now() + .milliseconds(10)).sleep()
                continue
            }
            next.answer(answer(next, control))
        }
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
        let (verdict, record) = book.withLock { book in
            let verdict = book.judge(lease, at: Self.moment(isClockAsked: isClockAsked)) {
                config.keys.contains {
                    $0.id == lease.key
                        && Signatures.isValid(open.signature, of: open.signed, by: $0.publicKey)
                }
            }
            return (verdict, book.record)
        }
        if case .refused(let refusal) = verdict { return refuse(refusal, lease, question.asker, nil) }
        // A lease that could be played again after a restart is none.
        do throws(SystemError) { try file.write(record) } catch {
            return refuse(.notSaved, lease, question.asker, "\(file.path): \(error)")
        }
        return grant(verdict, lease, question, control)
    }

    private static func moment(isClockAsked: Bool) -> LeaseBook.Moment {
        LeaseBook.Moment(
            monotonic: .now(), wall: WallClock.nowMilliseconds(),
            isSynchronised: !isClockAsked || ClockDiscipline()?.isSynchronised == true)
    }

    private func grant(
        _ verdict: LeaseBook.Verdict, _ lease: RemoteLease, _ question: Question, _ control: ControlService
    ) -> ControlAnswer {
        let answer: ControlAnswer
        switch verdict {
        case .refused: return ControlAnswer(error: "refused")
        case .release:
            answer = control.send(.revokeBasePoint(.aggregator), "the aggregator's lease ends")
        case .power(let watts, let time):
            let text =
                "the aggregator's lease: \(Double(watts) / 1_000) kW for \(Self.seconds(time)) s, inside every limit"
            answer = control.send(.setBasePoint(.aggregator, Watts(Double(watts)), for: time), text)
        }
        guard let done = answer.done else {
            return refuse(.noAnswer, lease, question.asker, answer.error)
        }
        journal.write(
            told(
                .remoteLease,
                "lease \(lease.sequence) of \(lease.key) granted (dispatch \(lease.dispatch)): \(done)",
                lease, question.asker))
        return answer
    }

    private static func seconds(_ time: Duration) -> Int { Int(time / .seconds(1)) }

    private func refuse(
        _ refusal: LeaseRefusal, _ lease: RemoteLease?, _ asker: Asker, _ detail: String?
    ) -> ControlAnswer {
        let what = lease.map { "lease \($0.sequence) of \($0.key) (dispatch \($0.dispatch))" } ?? "a lease"
        let text = "\(what) refused: \(refusal.rawValue)" + (detail.map { ": \($0)" } ?? "")
        var line = told(.remoteLeaseRefused, text, lease, asker)
        line.add(.cause, refusal.rawValue)
        journal.write(line)
        return ControlAnswer(error: text)
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
