import Fleet
import JSONText

/// A dispatch as somebody asks for it.
struct DispatchWish: Sendable, Equatable {
    /// The largest request, in bytes.
    static let sizeLimit = 4_096

    var id: String
    var place: String
    /// Watts, positive = injected; `nil` in a peak limit.
    var power: Int64?
    /// The most that the place may draw, a magnitude; `nil` in a dispatch of power.
    var limit: Int64?
    var priority: DispatchPriority
    var reason: String
    /// UTC, in milliseconds since 1970; `nil` = now.
    var from: Int64?
    var until: Int64?
    /// Where `until` is not given.
    var seconds: Int64?

    /// - Throws: what is wrong and where.
    init(json bytes: [UInt8]) throws(JSONError) {
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw JSONError("the text is not UTF-8", at: 0)
        }
        var (texts, numbers): ([String: String], [String: Int64]) = ([:], [:])
        var cursor = JSONCursor(bytes)
        try cursor.object { (key, cursor) throws(JSONError) in
            switch key {
            case "dispatch", "place", "priority", "reason": texts[key] = try cursor.string()
            case "power_w", "limit_w", "from_ms", "until_ms", "for_s": numbers[key] = try cursor.integer()
            default:
                throw JSONError(
                    "unknown; known: dispatch, place, power_w, limit_w, priority, reason, from_ms, until_ms, for_s",
                    at: cursor.offset, path: key)
            }
        }
        try cursor.end()
        id = try Self.name(texts["dispatch"], "dispatch")
        place = try Self.name(texts["place"], "place")
        if let fault = ReasonText.fault(texts["reason"]) { throw JSONError(fault, at: 0, path: "reason") }
        guard let reason = texts["reason"] else { throw JSONError("is missing", at: 0, path: "reason") }
        guard let priority = DispatchPriority(word: texts["priority"] ?? "schedule") else {
            throw JSONError("is not one of \(DispatchPriority.words)", at: 0, path: "priority")
        }
        (self.reason, self.priority) = (reason, priority)
        (power, limit) = (numbers["power_w"], numbers["limit_w"])
        guard (power == nil) != (limit == nil) else {
            throw JSONError("exactly one of power_w and limit_w is given", at: 0, path: "power_w")
        }
        guard (power ?? 0).magnitude <= 1_000_000_000_000, (0...1_000_000_000_000).contains(limit ?? 0) else {
            throw JSONError("is outside ±10¹² W", at: 0, path: power == nil ? "limit_w" : "power_w")
        }
        (from, until, seconds) = (numbers["from_ms"], numbers["until_ms"], numbers["for_s"])
        guard (until == nil) != (seconds == nil) else {
            throw JSONError("exactly one of until_ms and for_s is given", at: 0, path: "until_ms")
        }
        for (key, value) in numbers where key.hasSuffix("_ms") && !(0..<4_102_444_800_000).contains(value) {
            throw JSONError("is no time from 1970 to 2100", at: 0, path: key)
        }
        guard (1...31_622_400).contains(seconds ?? 1) else {
            throw JSONError("is outside 1 … 31622400 s", at: 0, path: "for_s")
        }
    }

    private static func name(_ text: String?, _ key: String) throws(JSONError) -> String {
        guard let text, (1...64).contains(text.utf8.count),
            text.utf8.allSatisfy({ byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || [0x5F, 0x2E, 0x2D].contains(byte)
            })
        else { throw JSONError("takes 1 … 64 letters, digits, _ . and -", at: 0, path: key) }
        return text
    }

    func row(by person: String, at now: Int64) -> DispatchRow {
        let from = from ?? now
        return DispatchRow(
            id: id, place: place, priority: priority, reason: reason, power: power, limit: limit, from: from,
            until: until ?? from + (seconds ?? 0) * 1_000, by: person, askedAt: now, state: "pending",
            length: seconds)
    }
}

/// A dispatch as it is stored.
struct DispatchRow: Sendable, Equatable {
    struct Event: Sendable, Equatable {
        var at: Int64
        var what: String
    }

    var id: String
    var place: String
    var priority: DispatchPriority
    var reason: String
    var power: Int64?
    var limit: Int64?
    var from: Int64
    var until: Int64
    var by: String
    var askedAt: Int64
    var state: String
    /// As it was asked for, where its end was not.
    var length: Int64?

    /// Whether both ask for the same; one that begins when it comes may be asked for again.
    func isLike(_ other: DispatchRow) -> Bool {
        place == other.place && priority == other.priority && reason == other.reason && power == other.power
            && limit == other.limit && length == other.length
            && (length != nil || until == other.until)
    }

    var words: String {
        let what = power.map { "\($0) W" } ?? limit.map { "at most \($0) W drawn" } ?? ""
        return "\(what), \(priority.word), \(LogText.plain(reason)) (\(id))"
    }

    func json(events: [Event]) -> String {
        let list = events.map { "{\"at_ms\":\($0.at),\"what\":\(JSONText.quoted($0.what))}" }
        return "{\"dispatch\":\(JSONText.quoted(id)),\"place\":\(JSONText.quoted(place)),"
            + "\"priority\":\"\(priority.word)\",\"reason\":\(JSONText.quoted(reason)),"
            + "\"power_w\":\(power.map(String.init) ?? "null"),\"limit_w\":\(limit.map(String.init) ?? "null"),"
            + "\"from_ms\":\(from),\"until_ms\":\(until),\"by\":\(JSONText.quoted(by)),"
            + "\"asked_ms\":\(askedAt),\"state\":\(JSONText.quoted(state)),"
            + "\"events\":[\(list.joined(separator: ","))]}"
    }
}

extension DispatchPriority {
    static let words = DispatchPriority.allCases.map(\.word).joined(separator: ", ")

    init?(word: String) {
        guard let found = DispatchPriority.allCases.first(where: { $0.word == word }) else { return nil }
        self = found
    }

    /// As requests and answers have it.
    var word: String {
        switch self {
        case .emergency: "emergency"
        case .agc: "agc"
        case .market: "market"
        case .schedule: "schedule"
        }
    }
}

extension Dispatch.State {
    var name: String {
        switch self {
        case .pending: "pending"
        case .delivered: "delivered"
        case .accepted: "accepted"
        case .clipped: "clipped"
        case .active: "active"
        case .refused: "refused"
        case .done: "done"
        case .expired: "expired"
        }
    }

    var words: String {
        switch self {
        case .clipped(let power), .active(let power): "\(name): \(power.count) W"
        case .refused(let why): "\(name): \(LogText.plain(why))"
        case .expired(let why): "\(name): \(why.rawValue)"
        case .pending, .delivered, .accepted, .done: name
        }
    }
}

extension PeakLimit.Verdict {
    var name: String {
        switch self {
        case .running: "active"
        case .held: "done"
        case .notHeld: "not_held"
        }
    }

    var words: String {
        switch self {
        case .running: "active"
        case .held(let peak): "done: held, at most \(peak.count) W were drawn"
        case .notHeld(_, let cause): "not held: \(cause.rawValue)"
        }
    }
}

extension DispatchRefusal {
    var words: String {
        switch self {
        case .unknownPlace: "this level has no such place"
        case .sameName: "another dispatch has this name"
        case .malformed: "its end is over, or before its beginning"
        case .aboveNameplate: "it asks for more than the nameplates of all below"
        case .outranked: "a dispatch of a higher rank holds in its time"
        }
    }
}
