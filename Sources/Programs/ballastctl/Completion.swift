import ArgumentParser
import ControlSocket
import SiteConfig
import SiteEvents

/// What a shell offers behind a word that was begun.
enum Completion {
    /// The site's units, as the daemon names them; none where it does not answer.
    static let units = CompletionKind.custom { words, _, _ in
        unitNames(socket: option("--socket", in: words))
    }
    /// Rows of an interlock table.
    static let rows = CompletionKind.list(rowNames)
    /// Kinds of events.
    static let events = CompletionKind.list(EventName.allCases.map(\.rawValue))
    static let yaml = CompletionKind.file(extensions: ["yaml"])

    static var rowNames: [String] {
        let rows = SiteConfig.keys.first { $0.section == "interlocks.rows[]." }?.keys
        guard case .words(let names)? = rows?.first(where: { $0.name == "id" })?.form else { return [] }
        return names
    }

    private static func unitNames(socket: String?) -> [String] {
        // Whoever completes a word is told nothing but words.
        let answer = try? ControlClient.ask(
            ControlRequest(.status), at: socket ?? SocketOption.standard)
        return answer?.status?.units.map(\.id) ?? []
    }

    private static func option(_ name: String, in words: [String]) -> String? {
        guard let index = words.firstIndex(of: name), words.indices.contains(index + 1) else { return nil }
        return words[index + 1]
    }
}
