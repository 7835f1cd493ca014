import HTTPTypes
import Hummingbird

/// What the machine itself may ask without a token, on 127.0.0.1: whether all is well, and the figures.
struct LocalView: HTTPResponder {
    let store: TelemetryStore
    let figures: Figures
    let bodies: BodiesInFlight
    let listeners: Listeners
    let signs: SiteSigns
    let sites: SiteMetrics
    let tls: ListenerTLS?
    let certificates: SiteCertificates?
    /// `nil` = this aggregator is no level of a fleet.
    let level: FleetControl?
    let doorstep: Doorstep

    func respond(to request: Request, context: AggregatorContext) async throws -> Response {
        let response = try await answer(request)
        return request.method == .head ? Answers.headOnly(response) : response
    }

    private func answer(_ request: Request) async throws -> Response {
        let known = ["/healthz", "/metrics"]
        guard known.contains(request.uri.path) else {
            return Refusal(.notFound, "there is no such path").response
        }
        guard request.method == .get else {
            var refusal = Refusal(.methodNotAllowed, "this path takes GET")
            refusal.allow = [.get]
            return refusal.response
        }
        guard request.uri.path == "/metrics" else { return await health() }
        let commits = await store.commitCount()
        let history: Int64
        do { history = try await store.head().sequence } catch {
            return Refusal(.serviceUnavailable, "the store failed").response
        }
        let ownEnd = tls.map { tls in
            [
                (
                    "ballast_aggregator_certificate_not_after_timestamp_seconds",
                    "When this aggregator's own certificate ends, in seconds since 1970.",
                    Double(tls.end / 1_000)
                )
            ]
        }
        let open = doorstep.counts
        let text = figures.text(
            gauges: (ownEnd ?? []) + [
                (
                    "ballast_aggregator_bodies_bytes", "Bytes set aside for bodies on their way.",
                    Double(bodies.bytes)
                ),
                ("ballast_aggregator_site_connections", "Open connections of sites.", Double(open.sites)),
                ("ballast_aggregator_people_connections", "Open connections of people.", Double(open.people)),
                (
                    "ballast_aggregator_stranger_connections",
                    "Open connections that have shown no token yet.", Double(open.strangers)
                ),
                ("ballast_aggregator_history_entries", "Entries of the history's chain.", Double(history)),
                (
                    "ballast_aggregator_silent_controllers",
                    "Sites whose link says that their controller writes nothing.", Double(signs.silentCount)
                ),
                ("ballast_aggregator_listeners", "Listeners to events.", Double(listeners.count)),
                (
                    "ballast_aggregator_commits_total",
                    "Transactions that stored reports; each holds one report or several.", Double(commits)
                ),
            ])
        return Answers.json(
            text + (certificates?.metrics() ?? "") + (await sites.text()) + (await level?.metrics() ?? ""),
            as: "text/plain; version=0.0.4; charset=utf-8")
    }

    /// Well where the database answers.
    private func health() async -> Response {
        do {
            _ = try await store.lastRow()
            return Answers.json("{\"status\":\"ok\"}")
        } catch {
            return Refusal(.serviceUnavailable, "the store failed: \(error)").response
        }
    }
}
