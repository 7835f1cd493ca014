import HTTPTypes
import Hummingbird

/// Everybody's way in: whose token it is, whether the path is there, what it may cost; and the way out, where
/// every refusal and request is noted.
struct Front: HTTPResponder {
    let routes: [Route]
    let gate: TokenGate
    /// `nil` = sites come with their token alone.
    let certificates: SiteCertificates?
    let bodies: BodiesInFlight
    let pace: RequestPace
    let brake = GuessBrake()
    let figures: Figures
    let audit: AuditLog
    let contacts: Contacts
    let log: @Sendable (String) -> Void

    func respond(to request: Request, context: AggregatorContext) async throws -> Response {
        var seen = AuditLog.Entry(
            who: "", address: context.address, method: LogText.plain(request.method.rawValue),
            path: "", status: 0, why: "")
        var route: Route?
        let response: Response
        do {
            response = try await answer(request, context, &seen, &route)
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
        if request.method == .get, let file = StatusPage.file(request.uri.path) { return Answers.file(file) }
        var caller = try identify(request, context, &seen)
        seen.path = LogText.plain(String(request.uri.path.prefix(120)))
        let (found, site) = try find(parts, request.method)
        route = found
        let name = LogText.plain(String(site.prefix(64)))
        seen.path = found.pattern.replacing("{site}", with: name).replacing("{id}", with: name)
        guard caller.may(found.role, nil) else {
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

    private func identify(
        _ request: Request, _ context: AggregatorContext, _ seen: inout AuditLog.Entry
    ) throws -> Caller {
        let digest = try TokenGate.digest(authorization: request.headers[.authorization])
        let (address, now) = (context.address, ContinuousClock.now)
        guard brake.mayTry(digest, from: address, at: now) else {
            figures.add(.guessesSlowed, 1)
            throw Refusal(
                .tooManyRequests, "too many wrong tokens came from \(address)",
                retryAfter: Int(GuessBrake.pause / .seconds(1)))
        }
        guard let caller = gate.caller(digest) else {
            figures.add(.wrongTokens, 1)
            if brake.wrong(from: address, at: now) {
                log("\(GuessBrake.most) wrong tokens from \(address): it is slowed for \(GuessBrake.pause)")
            }
            throw Refusal(.unauthorized, "this token is not known here")
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
        let isSuccess = entry.status < 400
        if isSuccess, route?.isFrequent ?? true { return }
        audit.note(entry)
    }
}

/// Text from afar, for a log or a record: on one line, without control characters, at most 200 characters.
enum LogText {
    static func plain(_ text: String) -> String {
        let scalars = text.unicodeScalars.prefix(200).map { scalar -> String in
            let isPlain = scalar.value >= 0x20 && scalar.value < 0x7F || scalar.properties.isAlphabetic
            return isPlain ? String(scalar) : "\\u{\(String(scalar.value, radix: 16))}"
        }
        return scalars.joined()
    }
}
