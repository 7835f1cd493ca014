import ExactAmounts
import GRDB
import Metering
import Settlement

/// What comes for blocks that a run has settled, or is settling: their certificates follow at once, their
/// money by the next run, which is told of them.
struct LateRows {
    /// How many blocks were noted.
    private(set) var count = 0
    private var length: BlockLength?
    /// By zone: no block after it was ever drafted.
    private var newest: [String: Int64] = [:]

    mutating func note(
        _ interval: Interval, _ meter: MeterDesk.Meter, at time: UTCInstant, _ database: Database
    ) throws {
        guard interval.kind == .actual, interval.mode == .production else { return }
        let length = try length ?? FactsRows.length(database)
        self.length = length
        let start = interval.start.seconds - interval.start.seconds % length.seconds
        let last = try newest[meter.zone] ?? Self.newest(of: meter.zone, database)
        newest[meter.zone] = last
        guard start <= last else { return }
        // A job that is at work may have read the block already, and has not drafted it yet.
        let known = try database.cachedStatement(
            sql: """
                SELECT 1 FROM books_settling WHERE from_s <= ?1 AND until_s > ?1
                UNION ALL SELECT 1 FROM books_block WHERE start_s = ?1 AND zone = ?2 LIMIT 1
                """)
        guard try Int.fetchOne(known, arguments: [start, meter.zone]) != nil else { return }
        try database.cachedStatement(
            sql: "INSERT INTO books_late (zone, start_s, resource, at_s) VALUES (?, ?, ?, ?)"
        ).execute(arguments: [meter.zone, start, interval.resource, time.seconds])
        count += 1
        guard meter.isRenewable else { return }
        let slot = CertificateBook.Slot(resource: interval.resource, start: UTCInstant(seconds: start))
        _ = try CertificateDesk.correct(slot, at: time, database)
    }

    private static func newest(of zone: String, _ database: Database) throws -> Int64 {
        let statement = try database.cachedStatement(
            sql: """
                SELECT max(coalesce((SELECT max(start_s) FROM books_block WHERE zone = ?), 0),
                    coalesce((SELECT max(until_s) FROM books_settling), 0))
                """)
        return try Int64.fetchOne(statement, arguments: [zone]) ?? 0
    }

    /// The number of the last one that was noted.
    static func mark(_ database: Database) throws -> Int64 {
        try Int64.fetchOne(database, sql: "SELECT max(seq) FROM books_late") ?? 0
    }

    /// Those of a period up to a mark are settled with it.
    static func clear(_ period: Period, through mark: Int64, _ database: Database) throws {
        try database.execute(
            sql: "DELETE FROM books_late WHERE seq <= ? AND start_s >= ? AND start_s < ?",
            arguments: [mark, period.from.seconds, period.until.seconds])
    }

    /// Each block of a resource that was noted after a mark.
    static func slots(
        after mark: Int64, _ period: Period, _ database: Database
    ) throws -> [CertificateBook.Slot] {
        try Row.fetchAll(
            database,
            sql: """
                SELECT DISTINCT resource, start_s FROM books_late WHERE seq > ? AND start_s >= ? AND start_s < ?
                ORDER BY start_s, resource
                """, arguments: [mark, period.from.seconds, period.until.seconds]
        ).map {
            CertificateBook.Slot(resource: $0["resource"], start: UTCInstant(seconds: $0["start_s"]))
        }
    }

    /// What runs are still to be told of, from its first block to the end of its last; `nil` of nothing.
    static func waiting(_ database: Database) throws -> Period? {
        let length = try FactsRows.length(database).seconds
        let row = try Row.fetchOne(
            database, sql: "SELECT min(start_s) AS first, max(start_s) AS last FROM books_late")
        guard let row, let first: Int64 = row["first"], let last: Int64 = row["last"] else { return nil }
        return Period(from: UTCInstant(seconds: first), until: UTCInstant(seconds: last + length))
    }
}
