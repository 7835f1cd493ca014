import JSONText
import RemoteLeases

/// A power that somebody asks of a site, as it comes in.
struct LeaseRequest: Sendable, Equatable {
    /// The largest request, in bytes.
    static let sizeLimit = 4_096

    /// Watts, positive = the site gives; `nil` = what was granted before ends.
    var power: Int64?
    /// How long it holds: 1 … 86 400 s.
    var seconds: Int64
    /// What it is called; a second request of the same name is the same request.
    var dispatch: String
    /// Why, 1 … 200 bytes.
    var reason: String

    /// - Throws: what is wrong and where.
    init(json bytes: [UInt8]) throws(JSONError) {
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw JSONError("the text is not UTF-8", at: 0)
        }
        var (power, seconds): (Int64??, Int64?) = (nil, nil)
        var (dispatch, reason): (String?, String?) = (nil, nil)
        var cursor = JSONCursor(bytes)
        try cursor.object { (key, cursor) throws(JSONError) in
            let start = cursor.offset
            switch key {
            case "power_w" where cursor.isAtNull:
                _ = try cursor.skipValue()
                power = .some(nil)
            case "power_w": power = try cursor.integer()
            case "for_s": seconds = try cursor.integer()
            case "dispatch": dispatch = try cursor.string()
            case "reason": reason = try cursor.string()
            default: throw JSONError("unknown; known: power_w, for_s, dispatch, reason", at: start, path: key)
            }
        }
        try cursor.end()
        guard let power else {
            throw JSONError("is missing (watts, or null for a release)", at: 0, path: "power_w")
        }
        guard let dispatch else { throw JSONError("is missing", at: 0, path: "dispatch") }
        if let fault = ReasonText.fault(reason) { throw JSONError(fault, at: 0, path: "reason") }
        guard let reason else { throw JSONError("is missing", at: 0, path: "reason") }
        guard power.map({ (-1_000_000_000_000...1_000_000_000_000).contains($0) }) ?? true else {
            throw JSONError("\(power ?? 0) is outside ±10¹² W", at: 0, path: "power_w")
        }
        let time = seconds ?? (power == nil ? 60 : nil)
        guard let time, (1...86_400).contains(time) else {
            throw JSONError("is missing, or outside 1 … 86400 s", at: 0, path: "for_s")
        }
        (self.power, self.seconds, self.dispatch, self.reason) = (power, time, dispatch, reason)
    }

    /// What is to be signed.
    func lease(site: String, key: String, sequence: UInt64, now: Int64) -> RemoteLease {
        RemoteLease(
            kind: power == nil ? .release : .power, sequence: sequence, issued: now, from: now,
            until: now + seconds * 1_000, watts: power ?? 0, key: key, site: site, dispatch: dispatch)
    }
}

/// What a site made of a lease.
struct LeaseResult: Sendable, Equatable {
    var sequence: Int64
    var isGranted: Bool
    /// In the site's words.
    var answer: String

    /// As it is stored and shown.
    var state: String { isGranted ? "granted" : "refused" }

    init(sequence: Int64, isGranted: Bool, answer: String) {
        (self.sequence, self.isGranted, self.answer) = (sequence, isGranted, answer)
    }

    /// - Throws: what is wrong and where.
    init(json bytes: [UInt8]) throws(JSONError) {
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw JSONError("the text is not UTF-8", at: 0)
        }
        var (sequence, state, answer): (Int64?, String?, String) = (nil, nil, "")
        var cursor = JSONCursor(bytes)
        try cursor.object { (key, cursor) throws(JSONError) in
            switch key {
            case "sequence": sequence = try cursor.integer()
            case "state": state = try cursor.string()
            case "answer": answer = try cursor.string()
            default: _ = try cursor.skipValue()
            }
        }
        try cursor.end()
        guard let sequence else { throw JSONError("is missing", at: 0, path: "sequence") }
        guard state == "granted" || state == "refused" else {
            throw JSONError("is neither granted nor refused", at: 0, path: "state")
        }
        (self.sequence, isGranted, self.answer) = (sequence, state == "granted", String(answer.prefix(400)))
    }
}
