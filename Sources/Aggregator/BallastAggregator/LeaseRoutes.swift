import HTTPTypes
import Hummingbird
import JSONText
import LinuxIO
import NIOCore

/// Leases: asked for by a principal, fetched by the site's link, answered by the site.
extension AggregatorRoutes {
    /// How long a link waits for a lease before it is told that there is none.
    static let patience = Duration.seconds(20)

    func addLeases(to router: Router<Context>) {
        router.post("/v1/sites/:site/leases") { request, context in
            await answer { try await askLease(request, of: try context.parameters.require("site")) }
        }
        router.get("/v1/sites/:site/leases") { request, context in
            await answer {
                try gate.checkMayRead(authorization: request.headers[.authorization])
                let list = try await store.leases(of: try context.parameters.require("site")).map(\.json)
                return Answers.json("{\"leases\":[\(list.joined(separator: ","))]}")
            }
        }
        router.get("/v1/edge/commands") { request, _ in await answer { try await commands(request) } }
        router.post("/v1/edge/results") { request, _ in await answer { try await result(request) } }
    }

    private func askLease(_ request: Request, of site: String) async throws -> Response {
        let person = try gate.principal(authorization: request.headers[.authorization], for: site)
        guard desk.canSign else {
            throw Refusal(.notImplemented, "this aggregator signs nothing: its file has no signing key")
        }
        let wish: LeaseRequest
        do { wish = try LeaseRequest(json: try await small(request)) } catch let error as JSONError {
            throw Refusal(.badRequest, "the request cannot be used: \(error)")
        }
        let now = WallClock.nowMilliseconds()
        let stored = try await store.add(wish, to: site, by: person, now: now) {
            desk.sign(wish, site: site, sequence: $0, now: now)
        }
        guard let stored else {
            throw Refusal(.badRequest, "dispatch: takes 1 … 64 letters, digits, _ . and -")
        }
        if stored.isNew {
            log("\(person) asks site \(site): \(stored.lease.json)")
            desk.wake(site)
        } else if stored.lease.power != wish.power || stored.lease.reason != wish.reason {
            throw Refusal(.conflict, "dispatch \(wish.dispatch) was asked for before, and otherwise")
        }
        return Answers.json(stored.lease.json, status: stored.isNew ? .created : .ok)
    }

    private func commands(_ request: Request) async throws -> Response {
        let site = try site(of: request)
        let wakes = desk.wakes(of: site)
        var waiting = try await store.waitingLeases(of: site, now: WallClock.nowMilliseconds())
        if waiting.isEmpty {
            await desk.wait(for: site, after: wakes, atMost: Self.patience)
            waiting = try await store.waitingLeases(of: site, now: WallClock.nowMilliseconds())
        }
        let list = waiting.prefix(4).map { "{\"sequence\":\($0.sequence),\"lease\":\"\($0.bytes)\"}" }
        return Answers.json("{\"commands\":[\(list.joined(separator: ","))]}")
    }

    private func result(_ request: Request) async throws -> Response {
        let site = try site(of: request)
        let result: LeaseResult
        do { result = try LeaseResult(json: try await small(request)) } catch let error as JSONError {
            throw Refusal(.badRequest, "the result cannot be used: \(error)")
        }
        guard try await store.finish(result, of: site) else {
            throw Refusal(.notFound, "site \(site) was given no lease \(result.sequence)")
        }
        log("site \(site): lease \(result.sequence) \(result.isGranted ? "granted" : "refused")")
        return Answers.json("{}")
    }

    /// The one site that the request's token speaks for, or that it names of several.
    private func site(of request: Request) throws -> String {
        let allowed = try gate.sites(forAuthorization: request.headers[.authorization])
        guard let named = request.uri.queryParameters["site"].map(String.init) else {
            guard allowed.count == 1 else {
                throw Refusal(.badRequest, "this token speaks for several sites: add ?site=ID")
            }
            return allowed[0]
        }
        try gate.checkMayWrite(named, of: allowed)
        return named
    }

    private func small(_ request: Request) async throws -> [UInt8] {
        do {
            let buffer = try await request.body.collect(upTo: LeaseRequest.sizeLimit)
            return Array(buffer.readableBytesView)
        } catch is NIOTooManyBytesError {
            throw Refusal(.contentTooLarge, "the body is larger than \(LeaseRequest.sizeLimit) bytes")
        }
    }
}
