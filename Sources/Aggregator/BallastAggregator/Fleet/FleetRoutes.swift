import Fleet
import FrequencyRecord
import Hummingbird
import JSONText
import LinuxIO

/// The level of the fleet by HTTP: its places, and what they are asked for.
struct FleetRoutes: Sendable {
    let control: FleetControl
    let store: TelemetryStore
    let tree: FleetTree
    /// What sites' months are held against.
    let codes: GridCodes

    init(
        _ control: FleetControl, _ settings: AggregatorConfig.FleetSettings, _ store: TelemetryStore,
        _ codes: GridCodes
    ) {
        (self.control, self.store, tree, self.codes) = (control, store, settings.tree, codes)
    }

    static let dispatchPattern = "/v1/dispatches"

    var routes: [Route] {
        [
            Route(
                .get, "/v1/nodes", .read, "The places of this level with what they are together.",
                isFrequent: true, answer: nodes),
            Route(
                .get, "/v1/nodes/{id}", .read, "One place, a zone or a co-operative.", isFrequent: true,
                answer: node),
            Route(
                .get, "/v1/nodes/{id}/compliance", .read,
                "How the sites below a place have done by months and quarters; not a regulator's judgement.",
                query: [.from, .until, .format], answer: compliance),
            Route(
                .post, Self.dispatchPattern, .dispatch,
                "Asks a place for a power, or for no more than a draw from the grid, for a time.",
                bodyLimit: DispatchWish.sizeLimit, answer: ask),
            Route(.get, Self.dispatchPattern, .read, "The newest hundred dispatches.", answer: list),
            Route(
                .get, "/v1/dispatches/{id}", .read, "A dispatch and its events.", answer: one),
            Route(
                .get, "/v1/dispatches/{id}/trace", .read,
                "From here to the register written, and back to what was delivered.", answer: trace),
            Route(
                .post, "/v1/dispatches/{id}/revoke", .dispatch, "Takes a dispatch back.",
                bodyLimit: DispatchWish.sizeLimit, answer: revoke),
        ]
    }

    /// Who asks must have the role for every child below the place.
    private func check(_ role: Role, _ place: String, _ caller: Caller) throws(Refusal) {
        guard let node = tree.index(of: place) else {
            throw Refusal(.notFound, "there is no place \"\(place.prefix(64))\" here")
        }
        let all = tree.leaves(under: node).map { tree.nodes[$0].place.id }
        if let foreign = all.first(where: { !caller.may(role, $0) }) {
            throw Refusal(.forbidden, "\(caller.name) has not the role \(role.rawValue) for \(foreign)")
        }
    }

    private func mayRead(_ node: Int, _ caller: Caller) -> Bool {
        tree.leaves(under: node).allSatisfy { caller.may(.read, tree.nodes[$0].place.id) }
    }

    private func nodes(_ call: Call) async throws -> Response {
        let now = WallClock.nowMilliseconds()
        let controller = await control.controller
        let list = FleetNodes.text(controller, at: now).filter { mayRead($0.node, call.caller) }.map(\.json)
        let zones = tree.zones.filter { zone in
            tree.leaves(of: zone).allSatisfy { mayRead($0, call.caller) }
        }.map { self.zone($0, controller, at: now) }
        return Answers.json(
            "{\"now_ms\":\(now),\"place\":\(JSONText.quoted(tree.nodes[controller.top].place.id)),"
                + "\"nodes\":[\(list.joined(separator: ","))],\"zones\":[\(zones.joined(separator: ","))]}")
    }

    private func zone(_ zone: FleetZone, _ controller: FleetController, at now: Int64) -> String {
        let sum = tree.rollUp(of: zone, controller.states(at: now))
        return "{\"id\":\(JSONText.quoted(zone.id)),\"kind\":\"\(zone.kind.rawValue)\","
            + FleetNodes.sum(sum) + "}"
    }

    private func node(_ call: Call) async throws -> Response {
        let now = WallClock.nowMilliseconds()
        let controller = await control.controller
        if let zone = tree.zones.first(where: { $0.id == call.site }) {
            for leaf in tree.leaves(of: zone) { try check(.read, tree.nodes[leaf].place.id, call.caller) }
            return Answers.json(self.zone(zone, controller, at: now))
        }
        try check(.read, call.site, call.caller)
        guard let index = tree.index(of: call.site),
            let found = FleetNodes.text(controller, at: now).first(where: { $0.node == index })
        else { throw Refusal(.notFound, "that place is not below this level") }
        return Answers.json(found.json)
    }

    private func compliance(_ call: Call) async throws -> Response {
        try check(.read, call.site, call.caller)
        guard let node = tree.index(of: call.site) else { throw Refusal(.notFound, "there is no such place") }
        let sites = tree.leaves(under: node).map { Compliance.Site(tree.nodes[$0].place) }
        return try await Compliance(call, of: sites, by: codes).answer(from: store)
    }

    private func ask(_ call: Call) async throws -> Response {
        let wish: DispatchWish
        do { wish = try DispatchWish(json: call.body) } catch {
            throw Refusal(.badRequest, "the request cannot be used: \(error)")
        }
        try check(.dispatch, wish.place, call.caller)
        let (text, isNew) = try await control.add(wish, by: call.caller.name)
        return Answers.json(text, status: isNew ? .created : .ok)
    }

    private func list(_ call: Call) async throws -> Response {
        let rows = try await store.dispatches(limit: 100).filter { row in
            tree.index(of: row.place).map { mayRead($0, call.caller) } ?? false
        }
        return Answers.json("{\"dispatches\":[\(rows.map { $0.json(events: []) }.joined(separator: ","))]}")
    }

    private func row(_ call: Call, _ role: Role) async throws -> DispatchRow {
        guard let row = try await store.dispatch(call.site) else {
            throw Refusal(.notFound, "there is no dispatch \"\(call.site.prefix(64))\" here")
        }
        try check(role, row.place, call.caller)
        return row
    }

    private func one(_ call: Call) async throws -> Response {
        let row = try await row(call, .read)
        return Answers.json(row.json(events: try await store.dispatchEvents(of: row.id)))
    }

    private func trace(_ call: Call) async throws -> Response {
        let row = try await row(call, .read)
        let events = try await store.dispatchEvents(of: row.id)
        let now = WallClock.nowMilliseconds()
        var below: [String] = []
        if let node = tree.index(of: row.place) {
            for leaf in tree.leaves(under: node) {
                let place = tree.nodes[leaf].place.id
                let found = try await store.below(place, row.id)
                let parts =
                    "\"trace\":\(found.trace ?? "null"),\"events\":[\(found.events.joined(separator: ","))]"
                below.append("{\"place\":\(JSONText.quoted(place)),\(parts)}")
            }
        }
        let own = await control.traceText(row.id, at: now) ?? "null"
        return Answers.json(
            "{\"request\":\(row.json(events: events)),\"here\":\(own),\"below\":[\(below.joined(separator: ","))]}"
        )
    }

    private func revoke(_ call: Call) async throws -> Response {
        let row = try await row(call, .dispatch)
        var reason: String?
        do throws(JSONError) {
            var cursor = JSONCursor(call.body)
            try cursor.object { (key, cursor) throws(JSONError) in
                guard key == "reason" else { throw JSONError("unknown; known: reason", at: 0, path: key) }
                reason = try cursor.string()
            }
            try cursor.end()
        } catch { throw Refusal(.badRequest, "the request cannot be used: \(error)") }
        if let fault = ReasonText.fault(reason) { throw Refusal(.badRequest, "reason: \(fault)") }
        guard let reason else { throw Refusal(.badRequest, "reason: is missing") }
        guard try await control.revoke(row.id, by: call.caller.name, reason: reason) else {
            throw Refusal(.conflict, "dispatch \(row.id) is over")
        }
        return Answers.json(try await store.dispatch(row.id)?.json(events: []) ?? "{}")
    }

    /// The body of a dispatch, as the OpenAPI document has it.
    static let schema = """
        {"type":"object","required":["dispatch","place","reason"],"additionalProperties":false,
        "allOf":[{"oneOf":[{"required":["power_w"]},{"required":["limit_w"]}]},
        {"oneOf":[{"required":["until_ms"]},{"required":["for_s"]}]}],
        "properties":{"dispatch":{"type":"string","pattern":"^[A-Za-z0-9_.-]{1,64}$"},
        "place":{"type":"string","pattern":"^[A-Za-z0-9_.-]{1,64}$"},
        "power_w":{"type":"integer","minimum":-1000000000000,"maximum":1000000000000},
        "limit_w":{"type":"integer","minimum":0,"maximum":1000000000000},
        "priority":{"enum":["emergency","agc","market","schedule"]},
        "reason":{"type":"string","minLength":1,"maxLength":200},
        "from_ms":{"type":"integer","minimum":0,"maximum":4102444799999},
        "until_ms":{"type":"integer","minimum":0,"maximum":4102444799999},
        "for_s":{"type":"integer","minimum":1,"maximum":31622400}}}
        """
    static let revokeSchema = """
        {"type":"object","required":["reason"],"additionalProperties":false,
        "properties":{"reason":{"type":"string","minLength":1,"maxLength":200}}}
        """
}
