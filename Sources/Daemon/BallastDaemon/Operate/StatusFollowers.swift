import ControlSocket
import Quantities
import Synchronization

/// Who is told the site's status again and again, without asking each time: the control centre's program.
final class StatusFollowers: Sendable {
    private struct State {
        var questions: [ControlServer.Question] = []
        var due: MonotonicTime?
    }

    private static let pace = Duration.milliseconds(200)
    private let state = Mutex(State())

    /// - Returns: why it is not told; `nil` = it is, with the next status.
    func take(_ question: ControlServer.Question) -> ControlAnswer? {
        guard question.follow() else { return ControlAnswer(error: "enough look on already") }
        state.withLock { state in
            state.questions.append(question)
            state.due = nil
        }
        return nil
    }

    /// Tells all of them, where it is time to.
    func tell(at now: MonotonicTime, _ status: () -> SiteStatus?) {
        let questions = state.withLock { state -> [ControlServer.Question] in
            state.questions.removeAll { !$0.isFollowed }
            guard !state.questions.isEmpty, state.due.map({ now >= $0 }) ?? true else { return [] }
            state.due = now + Self.pace
            return state.questions
        }
        guard !questions.isEmpty, let status = status() else { return }
        ControlServer.tell(ControlAnswer(status: status), questions)
    }
}
