import ExactAmounts
import GRDB
import Settlement

/// When a resource belongs to its zone, which waits for it that long.
///
/// Who is there before anything was settled belongs from always. Who comes later belongs from the block in
/// which it was added, or from where its body says. Who was taken away belongs as long as it was told of.
enum Membership {
    /// `number`, `from_s` and `until_s` of every resource; nothing = no bound.
    static let spans = """
        SELECT r.number, r.from_s, CASE WHEN r.state = 'removed' THEN max(
            coalesce((SELECT max(i.start_s) + s.length_s FROM books_interval i JOIN books_series s
                ON s.resource = i.resource AND s.kind = i.kind
                WHERE i.resource = r.number AND i.kind = 'actual'), 0),
            coalesce((SELECT max(at_s) FROM books_register g WHERE g.resource = r.number), 0)) END AS until_s
        FROM books_resource r
        """

    static func instant(_ seconds: Int64?) -> UTCInstant? { seconds.map { UTCInstant(seconds: $0) } }

    /// Of a new resource; `nil` = always did.
    static func begin(
        _ resource: Resource, at now: UTCInstant, _ database: Database
    ) throws -> UTCInstant? {
        let length = try FactsRows.length(database)
        if let from = resource.from {
            try check(from, length)
            return from
        }
        let settled = try Int.fetchOne(
            database,
            sql: "SELECT 1 FROM books_block WHERE zone = ? AND run IN (SELECT n FROM books_run) LIMIT 1",
            arguments: [resource.zone])
        if settled == nil { return nil }
        return UTCInstant(seconds: now.seconds - now.seconds % length.seconds)
    }

    private static func check(_ from: UTCInstant, _ length: BlockLength) throws {
        if length.isAligned(from) { return }
        throw BooksRefusal.impossible("from: must stand at blocks of \(length.seconds / 60) min")
    }

    /// Says anew from when on. Earlier blocks that were settled without it are corrected when it tells them.
    static func move(_ call: BooksCall, to from: UTCInstant, _ database: Database) throws {
        if call.scope != nil { throw BooksRefusal(403, "from: an admin or the operator says so") }
        try check(from, try FactsRows.length(database))
        let told = try Int64.fetchOne(
            database,
            sql: """
                SELECT min(start_s) FROM books_interval i JOIN books_resource r ON r.number = i.resource
                WHERE r.id = ? AND i.kind = 'actual'
                """, arguments: [call.id])
        if let told = instant(told), told < from {
            throw BooksRefusal(409, "from: \(call.id) was told of from \(told.text) on")
        }
        try database.execute(
            sql: "UPDATE books_resource SET from_s = ? WHERE id = ?", arguments: [from.seconds, call.id])
    }

    /// The spans of all resources by their numbers.
    static func all(_ database: Database) throws -> [Int64: (from: Int64?, until: Int64?)] {
        let rows = try Row.fetchAll(database, sql: spans)
        return Dictionary(
            uniqueKeysWithValues: rows.map { ($0["number"], (from: $0["from_s"], until: $0["until_s"])) })
    }
}
