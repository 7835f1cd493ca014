import ExactAmounts
import GRDB
import Metering

/// What registers fill of the gaps of a period, worked out meter by meter.
///
/// A gap lies between two readings that follow each other, whatever period is asked for: the readings before
/// and behind it count, with the intervals up to there. So a block is filled alike in every period.
enum SubstituteRows {
    /// - Parameter wanted: of these resources alone; `nil` = of all.
    static func of(
        _ period: Period, of wanted: [Int64]? = nil, _ database: Database
    ) throws -> [Interval] {
        let list = wanted.map { "AND r.number IN (\($0.map(String.init).joined(separator: ",")))" } ?? ""
        let length = try FactsRows.length(database).seconds
        let resources = try Row.fetchAll(
            database,
            sql: """
                SELECT r.number, r.id, 'actual' AS kind, export_max_w, coalesce(s.length_s, \(length)) AS length_s
                FROM books_resource r LEFT JOIN books_series s ON s.resource = r.number AND s.kind = 'actual'
                WHERE EXISTS (SELECT 1 FROM books_register g WHERE g.resource = r.number) \(list)
                """)
        return try resources.flatMap { try of($0, period, database) }
    }

    private static func of(
        _ resource: Row, _ period: Period, _ database: Database
    ) throws -> [Interval] {
        let (number, seconds): (Int64, Int64) = (resource["number"], resource["length_s"])
        let told = try Int64.fetchOne(
            database.cachedStatement(
                sql: """
                    SELECT count(DISTINCT start_s) FROM books_interval WHERE resource = ? AND kind = 'actual'
                    AND start_s >= ? AND start_s < ? AND is_production = 1
                    """), arguments: [number, period.from.seconds, period.until.seconds])
        guard let length = BlockLength(rawValue: seconds), (told ?? 0) < period.seconds / seconds else {
            return []
        }
        let readings = try readings(resource, period, database)
        guard let first = readings.map(\.time).min(), let last = readings.map(\.time).max(),
            let whole = Period(from: min(first, period.from), until: max(last, period.until))
        else { return [] }
        var book = IntervalBook()
        book.expect(resource["id"], length: length)
        try FactsRows.add(resource, whole, to: &book, database)
        _ = book.substitute(from: readings)
        let most = Int128(resource["export_max_w"] as Int64) * Int128(seconds) / 3_600
        return book.sorted().filter { one in
            // More than the resource can give was not seen by a meter that is well: the block stays open.
            one.record.hasPrefix("register:") && period.contains(one.start)
                && (most == 0 || Int128(one.exported.count) <= most)
        }
    }

    /// Of each meter those of the period, the last before it and the first behind it.
    private static func readings(
        _ resource: Row, _ period: Period, _ database: Database
    ) throws -> [RegisterReading] {
        let number: Int64 = resource["number"]
        let meters = try String.fetchAll(
            database, sql: "SELECT DISTINCT meter FROM books_register WHERE resource = ?", arguments: [number]
        )
        let statement = try database.cachedStatement(
            sql: """
                SELECT * FROM books_register WHERE resource = ?1 AND meter = ?2 AND at_s BETWEEN
                    coalesce((SELECT max(at_s) FROM books_register
                        WHERE resource = ?1 AND meter = ?2 AND at_s <= ?3), ?3)
                    AND coalesce((SELECT min(at_s) FROM books_register
                        WHERE resource = ?1 AND meter = ?2 AND at_s >= ?4), ?4)
                """)
        return try meters.flatMap { meter in
            try Row.fetchAll(
                statement, arguments: [number, meter, period.from.seconds, period.until.seconds]
            ).map {
                RegisterReading(
                    resource: resource["id"], meter: meter, time: UTCInstant(seconds: $0["at_s"]),
                    imported: WattHours($0["import_wh"]), exported: WattHours($0["export_wh"]))
            }
        }
    }
}
