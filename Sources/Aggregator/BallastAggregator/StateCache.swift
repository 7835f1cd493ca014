import Synchronization

/// Sites' states as texts, so that a page that looks each second does not have them put together each time.
final class StateCache: Sendable {
    private struct Content {
        var states: [String: (stream: String, text: String)] = [:]
        var bytes = 0
    }

    /// What all texts together may take; beyond they are put together again.
    private static let room = 32 << 20
    private let content = Mutex(Content())

    /// - Parameter stream: what the state follows from: another one, another state.
    func text(of site: String, _ stream: String) -> String? {
        content.withLock { $0.states[site].flatMap { $0.stream == stream ? $0.text : nil } }
    }

    func keep(_ text: String, of site: String, _ stream: String) {
        content.withLock { content in
            if content.bytes > Self.room { content = Content() }
            content.bytes += text.utf8.count - (content.states[site]?.text.utf8.count ?? 0)
            content.states[site] = (stream, text)
        }
    }
}
