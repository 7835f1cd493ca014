import Control
import ControlSocket
import LinuxIO
import Quantities
import SiteConfig
import SiteEvents
import Synchronization

/// Whether the site's response may be shown a frequency that nobody measures, and how far it may lie.
struct FrequencyTestRule: Sendable {
    var nominal: Hertz
    /// `nil` = it may.
    var refusal: String?

    static let never = FrequencyTestRule(nominal: Hertz(50), refusal: "no frequency is simulated here")

    init(nominal: Hertz, refusal: String?) { (self.nominal, self.refusal) = (nominal, refusal) }

    init(_ config: SiteConfig) {
        nominal = config.gridIntegration.nominalFrequency
        let mode = config.mode.rawValue
        switch config.mode.rules.frequency {
        case .measuredOrTest: refusal = nil
        case .measured:
            refusal = "no frequency is simulated in mode \(mode): the site answers to the grid that it is on"
        case .maybeSimulated:
            refusal = "in mode \(mode) the simulator makes the frequency: ballast-sim ask SOCKET frequency"
        }
    }
}

/// Acceptance of a real battery: the response to a frequency that the grid does not have.
extension ControlService {
    func frequencyTest(_ request: ControlRequest) -> ControlAnswer {
        if let refusal = frequencyRule.refusal { return ControlAnswer(error: refusal) }
        guard let hertz = request.frequency_hz, let time = request.for_s else {
            return send(
                .testFrequency(nil, for: .zero), "the site answers to the measured frequency")
        }
        let farthest = FrequencyTest.farthest.value
        guard abs(hertz - frequencyRule.nominal.value) <= farthest else {
            return ControlAnswer(
                error: "\(hertz) Hz is more than \(farthest) Hz from \(frequencyRule.nominal.value) Hz")
        }
        let taken = send(
            .testFrequency(Hertz(hertz), for: .milliseconds(Int64(time * 1_000))),
            "the site answers to \(hertz) Hz for \(time) s, inside every limit; a stop ends it, and a grid that"
                + " is not well")
        guard taken.error == nil else { return taken }
        let isShown = waitFor { $0.status?.grid?.frequency_source == "simulated" ? true : nil }
        return isShown == true
            ? taken
            : ControlAnswer(
                error: "not begun, or over at once: the frequency must be measured, within"
                    + " \(FrequencyTest.calm.value) Hz of nominal, and the grid good")
    }

    /// The link's own certificate is about to end: told of once a day, whoever brings the word.
    func certificate(_ request: ControlRequest, _ asker: Asker) -> ControlAnswer {
        if let refusal = asker.refusal(of: "certificate", needing: AccessRole.needed(for: .certificate)) {
            return refused(request, asker, refusal)
        }
        if let fault = request.fault { return ControlAnswer(error: fault) }
        let end = Int64(request.until_s ?? 0)
        let wall = WallClock.nowMilliseconds() / 1_000
        if let words = certificateNotice.words(end, wallSeconds: wall, at: .now()) {
            journal.write(
                LogRecord(
                    .certificateEnds, words,
                    [.userID: asker.userID.map { "\($0)" } ?? "unknown", .value: "\(end)"]))
        }
        return ControlAnswer(done: "noted")
    }
}

/// What was told of the certificate of the site's link.
final class CertificateNotice: Sendable {
    /// So long before it ends.
    static let notice: Int64 = 30 * 86_400
    private static let pace = Duration.seconds(86_400)
    /// Whoever makes ends up is not heard more often than this.
    private static let mostEnds = 4
    private let told = Mutex<[Int64: MonotonicTime]>([:])

    /// - Returns: what is to be said now; `nil` = nothing.
    func words(_ end: Int64, wallSeconds now: Int64, at time: MonotonicTime) -> String? {
        guard end - now <= Self.notice else { return nil }
        let isDue = told.withLock { told in
            told = told.filter { time - $0.value < Self.pace }
            guard told[end] == nil, told.count < Self.mostEnds else { return false }
            told[end] = time
            return true
        }
        guard isDue else { return nil }
        let until = WallClock.text(milliseconds: end * 1_000)
        let link = "the certificate with which the site reports"
        guard end > now else { return "\(link) ended at \(until)" }
        return "\(link) ends in \((end - now) / 86_400) days, at \(until)"
    }
}
