import Synchronization

/// What the aggregator counts, for `/metrics`.
final class Figures: Sendable {
    enum Counter: Int, Sendable, CaseIterable {
        case bytesReceived, reports, records, recordsDiffering, wrongTokens, guessesSlowed
        case eventsStreamed, resultsContradicted, strangersClosed, connectionsRefused

        var name: String {
            switch self {
            case .bytesReceived: "ballast_aggregator_received_bytes_total"
            case .reports: "ballast_aggregator_reports_total"
            case .records: "ballast_aggregator_records_total"
            case .recordsDiffering: "ballast_aggregator_records_differing_total"
            case .wrongTokens: "ballast_aggregator_wrong_tokens_total"
            case .guessesSlowed: "ballast_aggregator_guesses_slowed_total"
            case .eventsStreamed: "ballast_aggregator_events_streamed_total"
            case .resultsContradicted: "ballast_aggregator_results_contradicted_total"
            case .strangersClosed: "ballast_aggregator_strangers_closed_total"
            case .connectionsRefused: "ballast_aggregator_connections_refused_total"
            }
        }

        var help: String {
            switch self {
            case .bytesReceived: "Bytes of request bodies that came whole."
            case .reports: "Reports that were stored."
            case .records: "Records in them, those that were there already included."
            case .recordsDiffering: "Records that came again under their number with another content."
            case .wrongTokens: "Requests with a token that nobody has."
            case .guessesSlowed: "Wrong tokens that were told 429, after too many from their address."
            case .eventsStreamed: "Events that were sent to listeners."
            case .resultsContradicted: "Results of leases that differ from the site's first word on them."
            case .strangersClosed: "Connections closed because too many did not say who they are."
            case .connectionsRefused: "Connections closed because their token, or people's, had too many."
            }
        }
    }

    private struct Counts {
        var single = [Int](repeating: 0, count: Counter.allCases.count)
        var answers: [String: Int] = [:]
    }

    private let counts = Mutex(Counts())

    func add(_ counter: Counter, _ amount: Int) { counts.withLock { $0.single[counter.rawValue] += amount } }

    func value(_ counter: Counter) -> Int { counts.withLock { $0.single[counter.rawValue] } }

    /// - Parameter path: of the few that there are, so that the labels stay few.
    func answered(_ status: Int, _ path: String) {
        counts.withLock { $0.answers["path=\"\(path)\",status=\"\(status)\"", default: 0] += 1 }
    }

    /// In the text format of Prometheus.
    func text(gauges: [(name: String, help: String, value: Double)]) -> String {
        let counts = counts.withLock { $0 }
        var text = ""
        func head(_ name: String, _ help: String, _ type: String) {
            text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
        }
        for counter in Counter.allCases {
            head(counter.name, counter.help, "counter")
            text += "\(counter.name) \(counts.single[counter.rawValue])\n"
        }
        let answers = "ballast_aggregator_answers_total"
        head(answers, "Answers by path and status.", "counter")
        for (labels, count) in counts.answers.sorted(by: { $0.key < $1.key }) {
            text += "\(answers){\(labels)} \(count)\n"
        }
        for gauge in gauges {
            head(gauge.name, gauge.help, gauge.name.hasSuffix("_total") ? "counter" : "gauge")
            text += "\(gauge.name) \(gauge.value)\n"
        }
        return text
    }
}
