import Hummingbird
import JSONText
import LinuxIO

/// Leases: asked for by a principal, fetched by the site's link, answered by the site.
extension AggregatorRoutes {
    /// How long a link waits for a lease before it is told that there is none; well within the 15 s for which
    /// it listens to a connection that says nothing.
    static let patience = Duration.seconds(10)

    var leases: [Route] {
        [
            Route(
                .post, "/v1/sites/{site}/leases", .dispatch, "Asks a site for a power, for a time.",
                bodyLimit: LeaseRequest.sizeLimit, answer: askLease),
            Route(
                .get, "/v1/sites/{site}/leases", .read,
                "The newest hundred leases of a site, and where it has contradicted its own word on one."
            ) { call in
                let list = try await store.leases(of: call.site).map(\.json)
                let against = try await store.contradictions(of: call.site)
                return Answers.json(
                    "{\"leases\":[\(list.joined(separator: ","))],"
                        + "\"contradictions\":[\(against.joined(separator: ","))]}")
            },
            Route(
                .get, "/v1/edge/commands", .report, "Signed leases that wait for a site; waits for one.",
                query: [.site], isFrequent: true, answer: commands),
            Route(
                .post, "/v1/edge/results", .report, "What a site made of a lease.", query: [.site],
                bodyLimit: LeaseRequest.sizeLimit, answer: result),
        ]
    }

    private func askLease(_ call: Call) async throws -> Response {
        let (person, site) = (call.caller.name, call.site)
        guard desk.canSign else {
            throw Refusal(.notImplemented, "this aggregator signs nothing: its file has no signing key")
        }
        let wish: LeaseRequest
        do { wish = try LeaseRequest(json: call.body) } catch {
            throw Refusal(.badRequest, "the request cannot be used: \(error)")
        }
        if let level, level.tree.index(of: site) != nil {
            throw Refusal(.conflict, "site \(site) is a child of this fleet: POST /v1/dispatches asks it")
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

    private func commands(_ call: Call) async throws -> Response {
        let site = try site(of: call)
        let wakes = desk.wakes(of: site)
        if let lease = await level?.control.lease(for: site) {
            return Answers.json(
                "{\"commands\":[{\"sequence\":\(lease.sequence),\"lease\":\"\(lease.bytes)\"}]}")
        }
        var waiting = try await store.waitingLeases(of: site, now: WallClock.nowMilliseconds())
        if waiting.isEmpty {
            await desk.wait(for: site, after: wakes, atMost: Self.patience)
            waiting = try await store.waitingLeases(of: site, now: WallClock.nowMilliseconds())
        }
        var list = waiting.prefix(4).map { "{\"sequence\":\($0.sequence),\"lease\":\"\($0.bytes)\"}" }
        if let lease = await level?.control.lease(for: site) {
            list.append("{\"sequence\":\(lease.sequence),\"lease\":\"\(lease.bytes)\"}")
        }
        return Answers.json("{\"commands\":[\(list.joined(separator: ","))]}")
    }

    private func result(_ call: Call) async throws -> Response {
        let site = try site(of: call)
        let result: LeaseResult
        do { result = try LeaseResult(json: call.body) } catch {
            throw Refusal(.badRequest, "the result cannot be used: \(error)")
        }
        if await level?.control.take(result, of: site) ?? false { return Answers.json("{}") }
        switch try await store.finish(result, of: site) {
        case .noSuchLease: throw Refusal(.notFound, "site \(site) was given no lease \(result.sequence)")
        case .taken: log("site \(site): lease \(result.sequence) \(result.state)")
        case .saidBefore: break
        case .contradicts(let first):
            figures.add(.resultsContradicted, 1)
            log(
                "site \(site): lease \(result.sequence) was \(first.state), and now it says \(result.state): "
                    + "the first stands, the other is kept beside it")
        }
        return Answers.json("{}")
    }

    /// The one site that the request's token speaks for, or that it names of several.
    func site(of call: Call) throws -> String {
        if let named = call.query[.site] {
            try gate.checkMay(.report, named, call.caller)
            return named
        }
        let allowed = call.caller.sites(.report, of: gate.sites)
        guard allowed.count == 1 else {
            throw Refusal(.badRequest, "this token speaks for several sites: add ?site=ID")
        }
        return allowed[0]
    }
}
