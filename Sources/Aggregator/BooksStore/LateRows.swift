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
    /// Of each resource the meters whose registers are known.
    private var meters: [Int64: [String]] = [:]
    private var gaps: Set<Gap> = []

    /// Between two readings of a register that follow each other.
    private struct Gap: Hashable {
        var resource: Int64
        var from: Int64
        var until: Int64
    }

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

    /// What runs are still to be told of, from its first block to the end of its last; `nil` of nothing. A
    /// run that was cut short leaves blocks of its period behind that no run has settled: they wait.
    static func waiting(_ database: Database) throws -> Period? {
        let length = try FactsRows.length(database).seconds
        let row = try Row.fetchOne(
            database,
            sql: """
                SELECT min(start_s) AS first, max(start_s) AS last FROM books_late l WHERE EXISTS (
                    SELECT 1 FROM books_block b WHERE b.start_s = l.start_s AND b.zone = l.zone
                    AND b.run IN (SELECT n FROM books_run))
                """)
        guard let row, let first: Int64 = row["first"], let last: Int64 = row["last"] else { return nil }
        return Period(from: UTCInstant(seconds: first), until: UTCInstant(seconds: last + length))
    }
}

extension LateRows {
    /// What is told between two readings of a register changes what they fill of the other blocks between
    /// them: those that were settled are settled again.
    mutating func noteGap(
        around interval: Interval, _ meter: MeterDesk.Meter, at time: UTCInstant, _ database: Database
    ) throws {
        guard interval.kind == .actual, interval.mode == .production else { return }
        let known = try meters[meter.number] ?? Self.meters(of: meter.number, database)
        meters[meter.number] = known
        let from = interval.start.seconds
        for name in known {
            let gap = try Self.gap(from, from + interval.length.seconds, meter.number, name, database)
            try note(gap, of: interval.resource, meter.zone, at: time, database)
        }
    }

    /// A reading parts the stretch between those around it in two.
    mutating func noteGaps(
        beside reading: RegisterReading, _ meter: MeterDesk.Meter, at time: UTCInstant, _ database: Database
    ) throws {
        let at = reading.time.seconds
        for (from, until) in [(at - 1, at), (at, at + 1)] {
            let gap = try Self.gap(from, until, meter.number, reading.meter, database)
            try note(gap, of: reading.resource, meter.zone, at: time, database)
        }
    }

    private static func meters(of resource: Int64, _ database: Database) throws -> [String] {
        let statement = try database.cachedStatement(
            sql: "SELECT DISTINCT meter FROM books_register WHERE resource = ?")
        return try String.fetchAll(statement, arguments: [resource])
    }

    /// `nil` where there is no reading before or behind.
    private static func gap(
        _ from: Int64, _ until: Int64, _ resource: Int64, _ meter: String, _ database: Database
    ) throws -> Gap? {
        let statement = try database.cachedStatement(
            sql: """
                SELECT (SELECT max(at_s) FROM books_register WHERE resource = ?1 AND meter = ?2 AND at_s <= ?3)
                    AS from_s,
                    (SELECT min(at_s) FROM books_register WHERE resource = ?1 AND meter = ?2 AND at_s >= ?4)
                    AS until_s
                """)
        let row = try Row.fetchOne(statement, arguments: [resource, meter, from, until])
        guard let row, let from: Int64 = row["from_s"], let until: Int64 = row["until_s"] else { return nil }
        return Gap(resource: resource, from: from, until: until)
    }

    /// The first and the last of its settled blocks say it: a run takes all between them.
    private mutating func note(
        _ gap: Gap?, of resource: String, _ zone: String, at time: UTCInstant, _ database: Database
    ) throws {
        guard let gap, gaps.insert(gap).inserted, try Self.isLacking(gap, database) else { return }
        let length = try FactsRows.length(database).seconds
        let from = max(gap.from - gap.from % length, try SettleJob.frozen(database))
        let row = try Row.fetchOne(
            database,
            sql: """
                SELECT min(first) AS first, max(last) AS last FROM (
                    SELECT min(start_s) AS first, max(start_s) AS last FROM books_block
                    WHERE zone = ?1 AND start_s >= ?2 AND start_s < ?3
                    UNION ALL SELECT max(from_s, ?2), min(until_s, ?3) - ?4 FROM books_settling
                    WHERE from_s < ?3 AND until_s > ?2)
                """, arguments: [zone, from, gap.until, length])
        guard let row, let first: Int64 = row["first"], let last: Int64 = row["last"] else { return }
        for start in Set([first, max(first, last)]).sorted() {
            try database.execute(
                sql: "INSERT INTO books_late (zone, start_s, resource, at_s) VALUES (?, ?, ?, ?)",
                arguments: [zone, start, resource, time.seconds])
        }
    }

    /// Where all was told, registers fill nothing.
    private static func isLacking(_ gap: Gap, _ database: Database) throws -> Bool {
        let length = try IntervalRows.length(gap.resource, .actual, database)?.seconds
        let told = try Int64.fetchOne(
            database.cachedStatement(
                sql: """
                    SELECT count(DISTINCT start_s) FROM books_interval WHERE resource = ? AND kind = 'actual'
                    AND start_s >= ? AND start_s < ? AND is_production = 1
                    """), arguments: [gap.resource, gap.from, gap.until])
        guard let length, let told else { return true }
        return told * length < gap.until - gap.from
    }
}
