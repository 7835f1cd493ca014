import Hummingbird
import JSONText
import LinuxIO

/// The fleet at a glance, and what people do about alarms.
extension AggregatorRoutes {
    var alarmRoutes: [Route] {
        [
            Route(
                .get, "/v1/fleet", .read, "Every site in a line, with what is the matter.", isFrequent: true,
                answer: fleetNow),
            Route(
                .get, "/v1/live", .read,
                "The same as it changes (SSE): a row for each site that has changed.",
                isFrequent: true, answers: "text/event-stream", answer: live),
            Route(
                .get, "/v1/alarms", .read, "Alarms that stand or are shelved, the gravest first.",
                isFrequent: true
            ) {
                try await alarmList($0)
            },
            Route(
                .post, "/v1/alarms", .dispatch,
                "Acknowledges an alarm, shelves it for a time, or takes it off the shelf.",
                bodyLimit: AlarmAct.sizeLimit, answer: act),
            Route(
                .post, "/v1/alarms/test", .dispatch, "Sends a test to every way that alarms are told by.",
                bodyLimit: AlarmAct.sizeLimit
            ) { call in
                let count = try await alarms.test(by: call.caller.name, at: WallClock.nowMilliseconds())
                return Answers.json("{\"sent\":\(count)}", status: .accepted)
            },
        ]
    }

    private func mine(_ call: Call) -> Set<String> { Set(call.caller.sites(.read, of: gate.sites)) }

    private func fleetNow(_ call: Call) async throws -> Response {
        let rows = await fleet.all(mine(call).sorted())
        return Answers.json(
            "{\"now_ms\":\(WallClock.nowMilliseconds()),\"sites\":[\(rows.joined(separator: ","))]}")
    }

    private func alarmList(_ call: Call) async throws -> Response {
        let now = WallClock.nowMilliseconds()
        let list = await alarms.standing(mine(call), at: now).prefix(1_000).map { $0.json(at: now) }
        let may = call.caller.may(.dispatch, nil)
        return Answers.json(
            "{\"now_ms\":\(now),\"may_act\":\(may),\"alarms\":[\(list.joined(separator: ","))]}")
    }

    private func act(_ call: Call) async throws -> Response {
        let wish: AlarmAct
        do { wish = try AlarmAct(json: call.body) } catch {
            throw Refusal(.badRequest, "the request cannot be used: \(error)")
        }
        try gate.checkMay(.dispatch, wish.key.site, call.caller)
        let now = WallClock.nowMilliseconds()
        let act = AlarmMachine.Act(by: call.caller.name, at: now, reason: LogText.plain(wish.reason))
        let event: AlarmMachine.Event =
            switch wish.what {
            case .acknowledge: .acknowledge(act)
            case .shelve: .shelve(AlarmMachine.Shelf(act: act, until: now + wish.seconds * 1_000))
            case .unshelve: .unshelve
            }
        try await alarms.act(event, on: wish.key, at: now)
        log(
            "\(call.caller.name): \(wish.what.rawValue) \(LogText.plain("\(wish.key.rule) \(wish.key.site)")): \(act.reason)"
        )
        return Answers.json("{\"done\":\"\(wish.what.rawValue)\"}")
    }

    /// Rows that have changed, for ten minutes: what is urgent at once, figures with it or each second. Who
    /// may see every site is sent the same bytes as everybody else who may.
    private func live(_ call: Call) async throws -> Response {
        let seat = try watchers.take(call.caller.name)
        let (fleet, gate) = (fleet, gate)
        let body = ResponseBody { writer in
            defer { seat.leave() }
            let end = ContinuousClock.now + .seconds(600)
            var look = -1
            while ContinuousClock.now < end, let caller = gate.caller(call.caller.digest) {
                let own = caller.seesAll ? nil : caller.sites(.read, of: gate.sites)
                let (event, through) = await fleet.changes(after: look, of: own)
                try await writer.write(event)
                look = through
                await fleet.next(after: look)
            }
            try await writer.finish(nil)
        }
        return Response(
            status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"], body: body)
    }
}

/// What somebody does about an alarm, as it comes in.
struct AlarmAct: Sendable, Equatable {
    static let sizeLimit = 2_048

    enum What: String, Sendable, CaseIterable { case acknowledge, shelve, unshelve }

    var what: What
    var key: AlarmRecord.Key
    /// 1 … 200 bytes.
    var reason: String
    /// With `shelve`: 60 … 86 400.
    var seconds: Int64

    /// - Throws: what is wrong and where.
    init(json bytes: [UInt8]) throws(JSONError) {
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw JSONError("the text is not UTF-8", at: 0)
        }
        var words: [String: String] = [:]
        var seconds: Int64?
        var cursor = JSONCursor(bytes)
        try cursor.object { (key, cursor) throws(JSONError) in
            switch key {
            case "do", "rule", "site", "subject", "reason": words[key] = try cursor.string()
            case "for_s": seconds = try cursor.integer()
            case _:
                throw JSONError(
                    "unknown; known: do, rule, site, subject, reason, for_s", at: cursor.offset, path: key)
            }
        }
        try cursor.end()
        guard let what = words["do"].flatMap(What.init(rawValue:)) else {
            throw JSONError("takes acknowledge, shelve, unshelve", at: 0, path: "do")
        }
        guard let rule = words["rule"], let site = words["site"] else {
            throw JSONError("is missing", at: 0, path: "rule, site")
        }
        if let fault = ReasonText.fault(words["reason"]) { throw JSONError(fault, at: 0, path: "reason") }
        guard let reason = words["reason"] else { throw JSONError("is missing", at: 0, path: "reason") }
        if what == .shelve {
            guard let seconds, (60...86_400).contains(seconds) else {
                throw JSONError("a shelf has an end: 60 … 86400 s", at: 0, path: "for_s")
            }
        }
        (self.what, self.reason, self.seconds) = (what, reason, seconds ?? 0)
        key = AlarmRecord.Key(rule: rule, site: site, subject: words["subject"] ?? "")
    }
}
