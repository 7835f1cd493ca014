import HTTPTypes
import Hummingbird
import JSONText
import NIOCore

/// A request that gets no: the status, and a reason that names what is wrong.
struct Refusal: Error {
    var status: HTTPResponse.Status
    var reason: String
    /// Where the stream stands, for a link that must go back.
    var storedThrough: Int64?

    init(_ status: HTTPResponse.Status, _ reason: String, storedThrough: Int64? = nil) {
        self.status = status
        self.reason = reason
        self.storedThrough = storedThrough
    }

    var response: Response {
        let mark = storedThrough.map { ",\"stored_through\":\($0)" } ?? ""
        var response = Answers.json("{\"error\":\(JSONText.quoted(reason))\(mark)}", status: status)
        if status == .unauthorized { response.headers[.wwwAuthenticate] = "Bearer" }
        return response
    }
}

/// What the aggregator answers on the wire.
struct AggregatorRoutes: Sendable {
    typealias Context = BasicRequestContext

    let sites: [String]
    let gate: TokenGate
    let store: TelemetryStore
    let desk: LeaseDesk
    let log: @Sendable (String) -> Void

    init(
        config: AggregatorConfig, store: TelemetryStore, desk: LeaseDesk,
        log: @escaping @Sendable (String) -> Void
    ) {
        self.desk = desk
        sites = config.sites.map(\.id)
        gate = TokenGate(
            sites: config.sites, principals: config.principals, readToken: config.readToken)
        self.store = store
        self.log = log
    }

    func router() -> Router<Context> {
        let router = Router(context: Context.self)
        router.post("/v1/edge/report") { request, _ in await answer { try await report(request) } }
        router.get("/v1/sites") { request, _ in
            await answer {
                try gate.checkMayRead(authorization: request.headers[.authorization])
                return try await allSites()
            }
        }
        router.get("/v1/sites/:site/state") { request, context in
            await answer {
                try gate.checkMayRead(authorization: request.headers[.authorization])
                return try await state(of: try context.parameters.require("site"))
            }
        }
        addLeases(to: router)
        router.get("/") { _, _ in Answers.page(StatusPage.html) }
        return router
    }

    /// Turns everything that can go wrong into an answer with a reason.
    func answer(_ body: () async throws -> Response) async -> Response {
        do {
            return try await body()
        } catch let refusal as Refusal {
            return refusal.response
        } catch is CancellationError {
            return Refusal(.serviceUnavailable, "this server is going down").response
        } catch {
            log("cannot answer: \(error)")
            return Refusal(.serviceUnavailable, "the store failed; nothing was taken: \(error)").response
        }
    }

    private func report(_ request: Request) async throws -> Response {
        let allowed = try gate.sites(forAuthorization: request.headers[.authorization])
        let report: EdgeReport
        do {
            report = try EdgeReport(json: try await body(of: request))
        } catch let error as JSONError {
            throw Refusal(.badRequest, "the report cannot be used: \(error)")
        }
        try gate.checkMayWrite(report.site, of: allowed)
        switch try await store.store(report) {
        case .stored(let through):
            return Answers.json("{\"epoch\":\"\(report.epoch)\",\"stored_through\":\(through)}")
        case .numbersMissing(let mark):
            let first = report.covered?.lowerBound ?? 0
            throw Refusal(
                .conflict, "the report begins at \(first), but \(mark + 1) comes next", storedThrough: mark)
        }
    }

    private func body(of request: Request) async throws -> [UInt8] {
        let tooLarge = Refusal(
            .contentTooLarge, "the report is larger than \(EdgeReport.sizeLimit) bytes: send fewer records")
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > EdgeReport.sizeLimit {
            throw tooLarge
        }
        do {
            let buffer = try await request.body.collect(upTo: EdgeReport.sizeLimit)
            return Array(buffer.readableBytesView)
        } catch is NIOTooManyBytesError {
            throw tooLarge
        }
    }

    private func allSites() async throws -> Response {
        var entries: [String] = []
        for site in sites {
            entries.append(
                "{\"id\":\(JSONText.quoted(site)),\(Answers.members(try await store.stream(of: site)))}")
        }
        return Answers.json("{\"sites\":[\(entries.joined(separator: ","))]}")
    }

    private func state(of site: String) async throws -> Response {
        guard sites.contains(site) else {
            throw Refusal(.notFound, "there is no site \"\(site.prefix(64))\" here")
        }
        let state = try await store.state(of: site)
        let telemetry = state?.telemetry.map(Answers.record) ?? "null"
        let events = (state?.events ?? []).map(Answers.record).joined(separator: ",")
        return Answers.json(
            "{\"site\":\(JSONText.quoted(site)),\(Answers.members(state?.stream)),"
                + "\"telemetry\":\(telemetry),\"events\":[\(events)]}")
    }
}

enum Answers {
    static func json(_ text: String, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: .init(byteBuffer: ByteBuffer(string: text)))
    }

    static func page(_ text: String) -> Response {
        Response(
            status: .ok, headers: [.contentType: "text/html; charset=utf-8", .cacheControl: "no-store"],
            body: .init(byteBuffer: ByteBuffer(string: text)))
    }

    static func members(_ stream: TelemetryStore.Stream?) -> String {
        guard let stream else { return "\"epoch\":null,\"stored_through\":null,\"last_seen\":null" }
        return "\"epoch\":\"\(stream.epoch)\",\"stored_through\":\(stream.storedThrough),"
            + "\"last_seen\":\"\(stream.lastSeen)\""
    }

    static func record(_ record: TelemetryStore.StoredRecord) -> String {
        "{\"n\":\(record.number),\"received_at\":\"\(record.receivedAt)\",\"data\":\(record.data)}"
    }
}
