import ExactAmounts
import HTTPTypes
import Hummingbird
import NIOCore

/// What a request brings along: where it is answered, and the connection that it came by.
struct AggregatorContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }

    /// Who is at the other end, without the port.
    var address: String { channel.remoteAddress?.ipAddress ?? "local" }
}

/// A request that was let in.
struct Call: Sendable {
    var caller: Caller
    /// What stands in the path in place of `{site}`.
    var site: String
    var query: Query
    var body: [UInt8]
    /// `Last-Event-ID`, where a stream is taken up again.
    var lastEvent: String?
    /// `Idempotency-Key`, where something is changed once.
    var key: String?
    /// What the cookie says, where the caller is logged in by one.
    var session: String?
    /// It came by TLS, our own or that of something in front.
    var isSecure = false
}

/// One thing that the aggregator does: the only place that says its method, path, role and limits. The
/// answers 404, 405, 413 and 415 and the OpenAPI document follow from it.
struct Route: Sendable {
    var method: HTTPRequest.Method
    /// Its parts; `{site}` stands for any site, `{id}` for a name of something else.
    var path: [String]
    var role: Role
    var summary: String
    /// Names of the query that it knows.
    var query: [Query.Parameter] = []
    /// The largest body; 0 = takes none.
    var bodyLimit = 0
    var bodyType = "application/json"
    /// Of a success.
    var answers = "application/json"
    /// Successes are not recorded one by one: they are many, and leave their own traces.
    var isFrequent = false
    var answer: @Sendable (Call) async throws -> Response

    init(
        _ method: HTTPRequest.Method, _ path: String, _ role: Role, _ summary: String,
        query: [Query.Parameter] = [], bodyLimit: Int = 0, bodyType: String = "application/json",
        isFrequent: Bool = false, answers: String = "application/json",
        answer: @escaping @Sendable (Call) async throws -> Response
    ) {
        self.method = method
        self.path = path.split(separator: "/").map(String.init)
        self.role = role
        self.summary = summary
        self.query = query
        self.bodyLimit = bodyLimit
        self.bodyType = bodyType
        self.answers = answers
        self.isFrequent = isFrequent
        self.answer = answer
    }

    var pattern: String { "/" + path.joined(separator: "/") }
    var isOfSite: Bool { path.contains("{site}") }

    /// - Returns: the site or the name in the path, empty where it has none; `nil` where this is
    /// another path.
    func match(_ parts: [Substring]) -> String? {
        guard parts.count == path.count else { return nil }
        var site = ""
        for (part, wanted) in zip(parts, path) {
            if wanted == "{site}" || wanted == "{id}" {
                site = String(part)
            } else if wanted != part {
                return nil
            }
        }
        return site
    }
}

/// What stands behind the question mark, checked.
struct Query: Sendable {
    /// A name that a route knows.
    enum Parameter: String, Sendable, CaseIterable {
        case from, until, cursor, limit, format, site, channel, unit, name, sha256, bytes, offset
        case resource, party, zone, lengthSeconds = "length_s", after, stepSeconds = "step_s"

        var note: String {
            switch self {
            case .from: "from this time on: ms since 1970 (UTC), or 2026-11-01T00:00:00Z"
            case .until: "before this time, likewise"
            case .cursor: "the \"next\" of the answer before"
            case .limit: "at most so many rows"
            case .format: "json, or csv"
            case .site: "the site, where a token speaks for several"
            case .channel: "the value's name in the state: frequency_hz"
            case .unit: "the unit's name; without it the site's own values"
            case .name: "the capture's name, or the call's"
            case .sha256: "of the whole capture, in hexadecimal digits"
            case .bytes: "of the whole capture"
            case .offset: "where in it the piece begins, in bytes"
            case .resource: "the resource's name"
            case .party: "the party's name"
            case .zone: "the zone's name"
            case .lengthSeconds: "of a block: 300, 900, 3600"
            case .stepSeconds: "the length of a step: 60, 300, 900, 3600, 21600"
            case .after: "the number of the last event that is known"
            }
        }

        var isNumber: Bool {
            switch self {
            case .from, .until, .limit, .bytes, .offset, .lengthSeconds, .after, .stepSeconds: true
            case .cursor, .format, .site, .channel, .unit, .name, .sha256, .resource, .party, .zone: false
            }
        }
    }

    private var values: [Parameter: String] = [:]

    /// - Throws: where a name is unknown to the route or comes twice, or a number is none.
    init(_ request: Request, of route: Route) throws(Refusal) {
        for (key, value) in request.uri.queryParameters {
            guard let name = Parameter(rawValue: String(key)), route.query.contains(name) else {
                let known = route.query.map(\.rawValue).joined(separator: ", ")
                throw Refusal(
                    .badRequest,
                    "\"\(key.prefix(32))\" is not known here"
                        + (known.isEmpty ? "; nothing may follow a \"?\"" : "; known: \(known)"))
            }
            guard values.updateValue(String(value), forKey: name) == nil else {
                throw Refusal(.badRequest, "\(name.rawValue) comes twice")
            }
        }
        for name in Parameter.allCases where name.isNumber { _ = try number(name) }
        guard ["json", "csv", nil].contains(values[.format]) else {
            throw Refusal(.badRequest, "format: takes json and csv")
        }
    }

    subscript(_ name: Parameter) -> String? { values[name] }

    var isCSV: Bool { values[.format] == "csv" }

    /// From 0 to the year 9999 in milliseconds.
    func number(_ name: Parameter) throws(Refusal) -> Int64? {
        guard let text = values[name] else { return nil }
        let isTime = name == .from || name == .until
        if isTime, let time = UTCInstant(text), time.seconds >= 0 { return time.seconds * 1_000 }
        let isDigits = text.utf8.allSatisfy { (0x30...0x39).contains($0) }
        guard isDigits, let value = Int64(text), value < 253_402_300_800_000 else {
            let allowed =
                isTime ? "ms since 1970, or an instant as 2026-11-01T00:00:00Z" : "a whole number from 0 on"
            throw Refusal(.badRequest, "\(name.rawValue): takes \(allowed)")
        }
        return value
    }

    /// Rows for one answer.
    func limit(most: Int) throws(Refusal) -> Int {
        guard let value = try number(.limit) else { return most }
        guard value >= 1 else { throw Refusal(.badRequest, "limit: takes 1 … \(most)") }
        return min(most, Int(min(value, 1_000_000)))
    }

    /// Empty where it ends before it begins.
    func range() throws(Refusal) -> Range<Int64> {
        let (from, until) = (try number(.from) ?? 0, try number(.until) ?? Int64.max)
        return from..<max(from, until)
    }
}
