import GRDB
import LinuxIO
import Synchronization

/// Log-ins of people by a cookie: a random name that stands for a token until an end.
///
/// The token is typed once and kept by nobody's script: the cookie is HttpOnly and SameSite=Strict, ends
/// after twelve hours, and names a row here, so that logging out ends it wherever it was copied to. What the
/// token may do is asked of the gate each time: a token that is taken out ends its sessions with it.
final class Sessions: Sendable {
    struct Session: Sendable, Equatable {
        var token: TokenDigest
        /// UTC, in milliseconds since 1970.
        var ends: Int64
    }

    static let length: Int64 = 12 * 3_600_000
    /// Beyond, the oldest ends.
    private static let most = 2_000
    private let known: Mutex<[TokenDigest: Session]>
    private let store: TelemetryStore

    /// - Throws: where the store cannot be read.
    init(_ store: TelemetryStore) throws {
        self.store = store
        let now = WallClock.nowMilliseconds()
        let rows = try store.pool.read { database in
            try Row.fetchAll(
                database, sql: "SELECT id, token, ends_ms FROM session WHERE ends_ms > ?", arguments: [now])
        }
        var sessions: [TokenDigest: Session] = [:]
        for row in rows {
            guard let id = TokenDigest(hex: row["id"]), let token = TokenDigest(hex: row["token"]) else {
                continue
            }
            sessions[id] = Session(token: token, ends: row["ends_ms"])
        }
        known = Mutex(sessions)
    }

    /// - Returns: what stands for `token` from now on; only its digest is kept.
    func begin(_ token: TokenDigest, at now: Int64) async throws -> String {
        var generator = SystemRandomNumberGenerator()
        let words = (0..<4).map { _ in generator.next() as UInt64 }
        let name = words.map { String($0, radix: 36) }.joined(separator: "-")
        let (id, session) = (TokenDigest(of: name), Session(token: token, ends: now + Self.length))
        let over = known.withLock { known -> [TokenDigest] in
            var over = known.filter { $0.value.ends <= now }.map(\.key)
            if known.count - over.count >= Self.most,
                let oldest = known.min(by: { $0.value.ends < $1.value.ends })
            {
                over.append(oldest.key)
            }
            for one in over { known[one] = nil }
            known[id] = session
            return over
        }
        try await store.write { database in
            for one in over { try Self.delete(one, in: database) }
            try database.execute(
                sql: "INSERT INTO session (id, token, ends_ms) VALUES (?, ?, ?)",
                arguments: [id.hex, token.hex, session.ends])
        }
        return name
    }

    func end(_ name: String) async throws {
        let id = TokenDigest(of: name)
        known.withLock { $0[id] = nil }
        try await store.write { try Self.delete(id, in: $0) }
    }

    /// The token that `name` stands for; `nil` where it stands for none, or no more.
    func session(_ name: String, at now: Int64) -> Session? {
        known.withLock { $0[TokenDigest(of: name)] }.flatMap { $0.ends > now ? $0 : nil }
    }

    private static func delete(_ id: TokenDigest, in database: Database) throws {
        try database.execute(sql: "DELETE FROM session WHERE id = ?", arguments: [id.hex])
    }
}

extension TelemetryStore {
    static func createSessions(_ database: Database) throws {
        try database.execute(
            sql: "CREATE TABLE session (id TEXT PRIMARY KEY, token TEXT NOT NULL, ends_ms INTEGER NOT NULL)")
    }
}

/// The cookie of a session. Over TLS it is bound to this host and never leaves in the clear.
enum SessionCookie {
    private static let name = "ballast"

    /// - Parameter header: of a request, as it came.
    static func value(_ header: String?) -> String? {
        for pair in (header ?? "").split(separator: ";") {
            let parts = pair.split(separator: "=", maxSplits: 1)
            let key = parts.first.map { $0.drop { $0 == " " } }
            guard parts.count == 2, key == "ballast" || key == "__Host-ballast" else { continue }
            return String(parts[1])
        }
        return nil
    }

    /// - Parameter name: `nil` = the browser is to forget it.
    static func header(_ value: String?, isSecure: Bool) -> String {
        "\(isSecure ? "__Host-" : "")\(name)=\(value ?? ""); Path=/; HttpOnly; SameSite=Strict; "
            + "Max-Age=\(value == nil ? 0 : Sessions.length / 1_000)" + (isSecure ? "; Secure" : "")
    }
}
