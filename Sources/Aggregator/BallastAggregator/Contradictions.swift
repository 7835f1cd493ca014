import GRDB
import JSONText
import LinuxIO

/// What a site said of a lease after it had said something else of it: the first stands, the other is kept
/// beside it and shown.
struct Contradiction: Sendable {
    var sequence: Int64
    var first: LeaseResult
    var then: LeaseResult
}

extension TelemetryStore {
    /// Of one lease: a site that says ever anew something else fills nothing.
    private static let mostContradictions = 4

    static func createContradictions(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE contradiction (
                    id INTEGER PRIMARY KEY, site TEXT NOT NULL, sequence INTEGER NOT NULL, first TEXT NOT NULL,
                    first_answer TEXT NOT NULL, state TEXT NOT NULL, answer TEXT NOT NULL,
                    at_ms INTEGER NOT NULL);
                CREATE INDEX contradiction_by_lease ON contradiction (site, sequence);
                """)
    }

    /// Keeps one in the history, where it is not there yet.
    static func keep(_ one: Contradiction, of site: String, in database: Database) throws {
        let known = try Row.fetchAll(
            database, sql: "SELECT state, answer FROM contradiction WHERE site = ? AND sequence = ?",
            arguments: [site, one.sequence])
        let isKnown = known.contains { $0["state"] == one.then.state && $0["answer"] == one.then.answer }
        guard !isKnown, known.count < mostContradictions else { return }
        let id = try Int64.fetchOne(database, sql: "SELECT coalesce(max(id), 0) + 1 FROM contradiction")
        let change = KeptChange(
            .contradiction,
            [
                id, site, one.sequence, one.first.state, one.first.answer, one.then.state, one.then.answer,
                WallClock.nowMilliseconds(),
            ])
        try put([change], in: database)
    }

    func keep(_ one: Contradiction, of site: String) async throws {
        try await write { try Self.keep(one, of: site, in: $0) }
    }

    /// The newest, at most 100, oldest first, as the API shows them.
    func contradictions(of site: String) async throws -> [String] {
        try await pool.read { database in
            try Row.fetchAll(
                database,
                sql: "SELECT * FROM contradiction WHERE site = ? ORDER BY id DESC LIMIT 100",
                arguments: [site]
            ).reversed().map { row in
                let (sequence, at): (Int64, Int64) = (row["sequence"], row["at_ms"])
                return "{\"sequence\":\(sequence),\"first\":\(JSONText.quoted(row["first"])),"
                    + "\"first_answer\":\(JSONText.quoted(row["first_answer"])),"
                    + "\"state\":\(JSONText.quoted(row["state"])),"
                    + "\"answer\":\(JSONText.quoted(row["answer"])),\"at_ms\":\(at)}"
            }
        }
    }
}
