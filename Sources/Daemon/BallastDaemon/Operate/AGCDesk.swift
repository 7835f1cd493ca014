import Control
import ControlSocket
import LinuxIO
import PowerDispatch
import Quantities
import SiteConfig
import SiteEvents
import Synchronization

/// Whether a setpoint of the control centre stays inside what the site's file allows; a value without I/O.
struct AGCRules: Sendable {
    private let config: ControlCentreConfig
    private var tokens: Double
    private var refilledAt: MonotonicTime?
    /// What was granted last, and until when it holds.
    private var granted: (power: Watts, until: MonotonicTime)?

    init(_ config: ControlCentreConfig) {
        self.config = config
        tokens = Double(config.perMinute)
    }

    /// - Returns: why not; `nil` = it may be granted, and then `note` is called.
    mutating func refusal(_ power: Watts, for time: Duration, at now: MonotonicTime) -> String? {
        guard takeToken(at: now) else { return "more than \(config.perMinute) setpoints a minute" }
        let range = -config.charge...config.discharge
        guard range.contains(power) else {
            return
                "\(power.kilowatts) kW is outside \(range.lowerBound.kilowatts) … \(range.upperBound.kilowatts) kW"
        }
        guard time > .zero, time <= config.longest else {
            return "it would hold for \(time.seconds) s; at most \(config.longest.seconds) s"
        }
        let before = granted.flatMap { now < $0.until ? $0.power : nil } ?? .zero
        guard (power - before).magnitude <= config.step else {
            return
                "a step from \(before.kilowatts) to \(power.kilowatts) kW is more than \(config.step.kilowatts) kW"
        }
        return nil
    }

    /// The setpoint holds from now on; `nil` = none does.
    mutating func note(_ power: Watts?, for time: Duration, at now: MonotonicTime) {
        granted = power.map { ($0, now + time) }
    }

    private mutating func takeToken(at now: MonotonicTime) -> Bool {
        let most = Double(config.perMinute)
        if let refilledAt { tokens = min(most, tokens + (now - refilledAt).seconds * most / 60) }
        refilledAt = now
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }
}

/// Takes setpoints of the control centre from `ballast-scada`, on a thread of its own: no person's question
/// holds them.
///
/// What is granted is the base point of the source `agc`, no more: interlocks, limits, modes, resets and
/// locks cannot be reached from here.
final class AGCDesk: Sendable {
    struct Question: Sendable {
        var request: ControlRequest
        var asker: Asker
        /// One that has waited for so long is not begun any more: who asked is told no meanwhile.
        var until: MonotonicTime
        var answer: @Sendable (ControlAnswer) -> Void
    }

    /// With what the cycle may take, less than `ballast-scada` waits for an answer.
    static let queueing = Duration.milliseconds(1_500)

    private static let longestQueue = 4
    private let rules: Mutex<AGCRules>
    private let journal: Journal
    private let questions = Mutex<[Question]>([])
    private let come: WakeUp
    private let stop = StopFlag()

    init(_ config: ControlCentreConfig, journal: Journal) throws(SystemError) {
        rules = Mutex(AGCRules(config))
        self.journal = journal
        come = try WakeUp()
    }

    func end() { stop.raise() }

    /// - Returns: `false` where too many wait.
    func put(_ question: Question) -> Bool {
        let hasRoom = questions.withLock { questions in
            guard questions.count < Self.longestQueue else { return false }
            questions.append(question)
            return true
        }
        if hasRoom { come.signal(at: .now()) }
        return hasRoom
    }

    func run(_ control: ControlService) {
        while !stop.isRaised {
            come.wait(until: .now() + .milliseconds(200))
            _ = come.take()
            while let next = questions.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
                next.answer(answer(next, control))
            }
        }
    }

    private func answer(_ question: Question, _ control: ControlService) -> ControlAnswer {
        guard MonotonicTime.now() < question.until else {
            let late = "it came too late for an answer: nothing was done"
            return control.refused(question.request, question.asker, late)
        }
        guard question.request.command == .agc else { return release(question, control) }
        guard let kilowatts = question.request.power_kw, let seconds = question.request.for_s else {
            return control.refused(question.request, question.asker, "agc needs power_kw and for_s")
        }
        let (power, time) = (Watts.kilowatts(kilowatts), Duration.milliseconds(Int64(seconds * 1_000)))
        let refusal =
            control.reversionDesk.remoteRefusal
            ?? rules.withLock { $0.refusal(power, for: time, at: .now()) }
        if let refusal { return control.refused(question.request, question.asker, refusal) }
        let answer = control.send(
            .setBasePoint(.agc, power, for: time),
            "the control centre's setpoint is \(kilowatts) kW for \(seconds) s, inside every limit")
        if answer.error == nil { rules.withLock { $0.note(power, for: time, at: .now()) } }
        return told(answer, question, control)
    }

    private func release(_ question: Question, _ control: ControlService) -> ControlAnswer {
        let answer = control.send(.revokeBasePoint(.agc), "the control centre's setpoint ends")
        if answer.error == nil { rules.withLock { $0.note(nil, for: .zero, at: .now()) } }
        return told(answer, question, control)
    }

    private func told(
        _ answer: ControlAnswer, _ question: Question, _ control: ControlService
    ) -> ControlAnswer {
        if let error = answer.error { return control.refused(question.request, question.asker, error) }
        control.say(.controlCentre, answer.done ?? "", question.request, question.asker)
        return answer
    }
}
