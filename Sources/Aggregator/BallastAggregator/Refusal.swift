import HTTPTypes
import Hummingbird
import JSONText
import NIOCore

/// A request that gets no: the status, and a reason that names what is wrong.
struct Refusal: Error {
    var status: HTTPResponse.Status
    var reason: String
    /// Where the stream stands, for a link that must go back.
    var storedThrough: Int64?
    /// In seconds.
    var retryAfter: Int?
    /// The methods that the path does take.
    var allow: [HTTPRequest.Method] = []

    init(
        _ status: HTTPResponse.Status, _ reason: String, storedThrough: Int64? = nil, retryAfter: Int? = nil
    ) {
        self.status = status
        self.reason = reason
        self.storedThrough = storedThrough
        self.retryAfter = retryAfter
    }

    /// A problem document (RFC 9457). `error` says the same for links of older versions.
    var response: Response {
        let mark = storedThrough.map { ",\"stored_through\":\($0)" } ?? ""
        let text = JSONText.quoted(reason)
        var response = Answers.json(
            "{\"type\":\"about:blank\",\"title\":\(JSONText.quoted(status.reasonPhrase)),"
                + "\"status\":\(status.code),\"detail\":\(text),\"error\":\(text)\(mark)}",
            status: status, as: "application/problem+json")
        if status == .unauthorized { response.headers[.wwwAuthenticate] = "Bearer" }
        if let retryAfter { response.headers[.retryAfter] = String(retryAfter) }
        if !allow.isEmpty { response.headers[.allow] = allow.map(\.rawValue).joined(separator: ", ") }
        return response
    }
}

enum Answers {
    static func json(
        _ text: String, status: HTTPResponse.Status = .ok, as type: String = "application/json"
    ) -> Response {
        Response(
            status: status,
            headers: [.contentType: type, .cacheControl: "no-store", .xContentTypeOptions: "nosniff"],
            body: .init(byteBuffer: ByteBuffer(string: text)))
    }

    /// The same without its body, for HEAD.
    static func headOnly(_ response: Response) -> Response {
        Response(status: response.status, headers: response.headers, body: .init())
    }

    static func csv(_ text: String) -> Response { json(text, as: "text/csv; charset=utf-8") }

    static func page(_ text: String) -> Response { json(text, as: "text/html; charset=utf-8") }

    /// A file of the page, with what keeps it from loading or running anything else.
    static func file(_ file: (text: String, type: String)) -> Response {
        var response = json(file.text, as: file.type)
        let headers = [
            ("Content-Security-Policy", StatusPage.policy), ("Referrer-Policy", "no-referrer"),
            ("X-Frame-Options", "DENY"), ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Permissions-Policy", "camera=(), microphone=(), geolocation=()"),
        ]
        for (name, value) in headers { if let name = HTTPField.Name(name) { response.headers[name] = value } }
        return response
    }

    static func members(_ stream: TelemetryStore.Stream?) -> String {
        guard let stream else { return "\"epoch\":null,\"stored_through\":null,\"last_seen\":null" }
        return "\"epoch\":\"\(stream.epoch)\",\"stored_through\":\(stream.storedThrough),"
            + "\"last_seen\":\"\(stream.lastSeen)\""
    }

    static func record(_ record: TelemetryStore.StoredRecord) -> String {
        "{\"n\":\(record.number),\"received_at\":\"\(record.receivedAt)\",\"data\":\(record.data)}"
    }

    /// A field of a CSV line (RFC 4180).
    static func field(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { $0 != 0x22 && $0 != 0x2C && $0 != 0x0A && $0 != 0x0D }
        if isPlain { return text }
        return "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
            + "\""
    }
}
