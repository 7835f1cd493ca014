import HTTPTypes
import Hummingbird
import JSONText
import LinuxIO

/// Logging in and out of the page.
extension AggregatorRoutes {
    var sessionRoutes: [Route] {
        [
            Route(
                .get, "/v1/session", .read, "Who is logged in, what that person may do, and until when.",
                isFrequent: true
            ) { call in
                let now = WallClock.nowMilliseconds()
                let end = call.session.flatMap { sessions.session($0, at: now)?.ends }
                return Answers.json(whoIs(call, until: end))
            },
            Route(
                .post, "/v1/session", .read,
                "Logs in: with a token once, and then by a cookie that no script sees (HttpOnly, SameSite=Strict, 12 h).",
                answer: logIn),
            Route(.post, "/v1/session/end", .read, "Logs out: what the cookie stands for ends.") { call in
                if let session = call.session { try await sessions.end(session) }
                return Self.answer("{}", cookie: nil, call)
            },
        ]
    }

    private func logIn(_ call: Call) async throws -> Response {
        let now = WallClock.nowMilliseconds()
        let name = try await sessions.begin(call.caller.digest, at: now)
        return Self.answer(whoIs(call, until: now + Sessions.length), cookie: name, call)
    }

    private func whoIs(_ call: Call, until end: Int64?) -> String {
        "{\"name\":\(JSONText.quoted(call.caller.name)),\"may_dispatch\":\(call.caller.may(.dispatch, nil))"
            + ",\"signs\":\(desk.canSign),\"is_level\":\(level != nil),\"ends_ms\":\(end.map(String.init) ?? "null")}"
    }

    private static func answer(_ text: String, cookie: String?, _ call: Call) -> Response {
        var response = Answers.json(text)
        response.headers[.setCookie] = SessionCookie.header(cookie, isSecure: call.isSecure)
        return response
    }
}
