import HTTPTypes
import Hummingbird
import LinuxIO

/// Everybody's way in: whose token it is, whether the path is there, what it may cost; and the way out, where
/// every refusal and request is noted.
struct Front: HTTPResponder {
    let routes: [Route]
    let gate: TokenGate
    /// `nil` = sites come with their token alone.
    let certificates: SiteCertificates?
    let bodies: BodiesInFlight
    let answers = AnswersInFlight()
    let pace: RequestPace
    let brake = GuessBrake()
    let figures: Figures
    let audit: AuditLog
    let contacts: Contacts
    let sessions: Sessions
    let doorstep: Doorstep
    /// The listener has TLS of its own.
    let hasTLS: Bool
    let log: @Sendable (String) -> Void

    func respond(to request: Request, context: AggregatorContext) async throws -> Response {
        var seen = AuditLog.Entry(
            who: "", address: context.address, method: LogText.plain(request.method.rawValue),
            path: "", status: 0, why: "")
        var route: Route?
        let response: Response
        do {
            let whole = try await answer(request, context, &seen, &route)
            response = try answers.bounded(whole, for: seen.who)
        } catch let refusal as Refusal {
            response = refusal.response
            seen.why = LogText.plain(refusal.reason)
        } catch is CancellationError {
            response = Refusal(.serviceUnavailable, "this server is going down").response
        } catch {
            log("cannot answer: \(error)")
            response = Refusal(.serviceUnavailable, "the store failed; nothing was taken").response
            seen.why = "\(error)"
        }
        seen.status = response.status.code
        note(seen, route)
        // What would follow would be taken for the next answer.
        if request.method == .head { return Answers.headOnly(response) }
        return response
    }

    private func answer(
        _ request: Request, _ context: AggregatorContext, _ seen: inout AuditLog.Entry,
        _ route: inout Route?
    ) async throws -> Response {
        let parts = request.uri.path.split(separator: "/")
        if request.method == .get, let file = StatusPage.file(request.uri.path) {
            seen.path = request.uri.path
            return Answers.file(file)
        }
        var caller = try identify(request, context, &seen)
        try doorstep.know(context.channel, as: caller.name, isSite: caller.isSite)
        seen.path = LogText.plain(String(request.uri.path.prefix(120)))
        let (found, site) = try find(parts, request.method)
        route = found
        let name = LogText.plain(String(site.prefix(64)))
        seen.path = found.pattern.replacing("{site}", with: name).replacing("{id}", with: name)
        // What there is to ask for may be read by whoever may ask for anything of it.
        let isDocument = found.pattern == OpenAPI.path && caller.may(.books, nil)
        guard caller.may(found.role, nil) || isDocument else {
            throw Refusal(.forbidden, "\(caller.name) has not the role \(found.role.rawValue)")
        }
        guard pace.allows(caller.name, at: .now) else {
            throw Refusal(.tooManyRequests, "\(caller.name) asks too often", retryAfter: 1)
        }
        if found.role == .report, let certificates {
            caller = try await certificates.narrow(caller, on: context.channel, from: context.address)
        }
        if found.isOfSite { try gate.checkMay(found.role, site, caller) }
        var call = Call(
            caller: caller, site: site, query: try Query(request, of: found), body: [],
            lastEvent: Self.lastEventName.flatMap { request.headers[$0] })
        call.key = Self.keyName.flatMap { request.headers[$0] }
        call.session = SessionCookie.value(request.headers[.cookie])
        call.isSecure = hasTLS || Self.protocolName.flatMap { request.headers[$0] } == "https"
        guard found.bodyLimit > 0 else { return try await found.answer(call) }
        let isPacked = try checkType(request, found.bodyType)
        let length = request.headers[.contentLength].flatMap { Int($0) }
        return try await bodies.with(
            request.body, declared: length, isPacked: isPacked, limit: found.bodyLimit, for: caller.name
        ) { bytes in
            figures.add(.bytesReceived, bytes.count)
            call.body = bytes
            return try await found.answer(call)
        }
    }

    private static let lastEventName = HTTPField.Name("Last-Event-ID")
    private static let keyName = HTTPField.Name("Idempotency-Key")
    private static let protocolName = HTTPField.Name("X-Forwarded-Proto")
    private static let pageName = HTTPField.Name("Ballast-Page")

    private func identify(
        _ request: Request, _ context: AggregatorContext, _ seen: inout AuditLog.Entry
    ) throws -> Caller {
        if let caller = try session(request) {
            seen.who = caller.name
            return caller
        }
        let digest = try TokenGate.digest(authorization: request.headers[.authorization])
        let (address, now) = (context.address, ContinuousClock.now)
        let caller: Caller
        do throws(Refusal) {
            caller = try gate.known(digest, request.headers[.authorization])
        } catch {
            switch brake.wrong(from: address, at: now) {
            case .slowed:
                figures.add(.guessesSlowed, 1)
                throw Refusal(
                    .tooManyRequests, "too many wrong tokens came from \(address)",
                    retryAfter: Int(GuessBrake.pause / .seconds(1)))
            case .slowedFromNowOn:
                log("\(GuessBrake.most) wrong tokens from \(address): it is slowed for \(GuessBrake.pause)")
            case .wrong: break
            }
            figures.add(.wrongTokens, 1)
            throw error
        }
        seen.who = caller.name
        contacts.note(caller)
        if brake.right(digest, from: address, at: now) {
            audit.note(
                AuditLog.Entry(
                    who: caller.name, address: address, method: "LOGIN", path: "", status: 200, why: ""))
            log("\(caller.name) logs in from \(address)")
        }
        return caller
    }

    /// Who is logged in by a cookie; `nil` where a token is to say who asks.
    ///
    /// What changes anything must also carry a header of the page's own: another site's page can neither send
    /// it nor ask whether it may, for nothing here answers that.
    private func session(_ request: Request) throws -> Caller? {
        guard request.headers[.authorization] == nil,
            let name = SessionCookie.value(request.headers[.cookie])
        else { return nil }
        guard let session = sessions.session(name, at: WallClock.nowMilliseconds()),
            let caller = gate.caller(session.token)
        else { throw Refusal(.unauthorized, "the log-in has ended: log in again") }
        let isPage = Self.pageName.flatMap { request.headers[$0] } != nil
        guard request.method == .get || request.method == .head || isPage else {
            throw Refusal(.forbidden, "a request by cookie needs the header Ballast-Page")
        }
        return caller
    }

    private func find(
        _ parts: [Substring], _ method: HTTPRequest.Method
    ) throws(Refusal) -> (Route, site: String) {
        var others: [HTTPRequest.Method] = []
        for route in routes {
            guard let site = route.match(parts) else { continue }
            if route.method == method { return (route, site) }
            others.append(route.method)
        }
        if others.isEmpty { throw Refusal(.notFound, "there is no such path") }
        var refusal = Refusal(.methodNotAllowed, "this path takes no \(LogText.plain(method.rawValue))")
        refusal.allow = others
        throw refusal
    }

    /// - Returns: whether the body is packed.
    private func checkType(_ request: Request, _ wanted: String) throws(Refusal) -> Bool {
        let coding = request.headers[.contentEncoding]?.lowercased() ?? "identity"
        guard ["identity", "deflate"].contains(coding) else {
            throw Refusal(
                .unsupportedMediaType,
                "the body may be packed as deflate alone, not as \(LogText.plain(coding))")
        }
        let isPacked = coding == "deflate"
        // Who names no type is taken at the word of the path.
        guard let type = request.headers[.contentType] else { return isPacked }
        let essence = type.prefix { $0 != ";" }.lowercased().filter { $0 != " " }
        guard essence == wanted else {
            throw Refusal(.unsupportedMediaType, "the body must be \(wanted)")
        }
        return isPacked
    }

    private func note(_ entry: AuditLog.Entry, _ route: Route?) {
        figures.answered(entry.status, route?.pattern ?? "other")
        if entry.status < 400, route?.isFrequent ?? true { audit.count(entry) } else { audit.note(entry) }
    }
}

/// Text from afar, for a log or a record: on one line, without control characters, at most 200 characters.
enum LogText {
    /// One line whatever a site's texts hold: what would end it or turn it round stands as its number.
    static func line(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { line, scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                line += "\\u{\(String(scalar.value, radix: 16))}"
            case _: line.unicodeScalars.append(scalar)
            }
        }
    }

    static func plain(_ text: String) -> String {
        let scalars = text.unicodeScalars.prefix(200).map { scalar -> String in
            let isPlain = scalar.value >= 0x20 && scalar.value < 0x7F || scalar.properties.isAlphabetic
            return isPlain ? String(scalar) : "\\u{\(String(scalar.value, radix: 16))}"
        }
        return scalars.joined()
    }
}
