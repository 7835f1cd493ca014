import ExactAmounts
import GRDB
import Metering

/// What registers fill of the gaps of a period, worked out meter by meter.
///
/// A gap lies between two readings that follow each other, whatever period is asked for: the readings before
/// and behind it count, with the intervals up to there. So a block is filled alike in every period.
enum SubstituteRows {
    struct Filled {
        var intervals: [Interval] = []
        /// Gaps that stay open, since more was counted than the resource can draw or give.
        var open: [Substitution.TooMuch] = []
    }

    /// - Parameter wanted: of these resources alone; `nil` = of all.
    static func of(
        _ period: Period, of wanted: [Int64]? = nil, _ database: Database
    ) throws -> Filled {
        let list = wanted.map { "AND r.number IN (\($0.map(String.init).joined(separator: ",")))" } ?? ""
        let length = try FactsRows.length(database).seconds
        let resources = try Row.fetchAll(
            database,
            sql: """
                SELECT r.number, r.id, 'actual' AS kind, export_max_w, demand_w,
                    coalesce(s.length_s, \(length)) AS length_s
                FROM books_resource r LEFT JOIN books_series s ON s.resource = r.number AND s.kind = 'actual'
                WHERE EXISTS (SELECT 1 FROM books_register g WHERE g.resource = r.number) \(list)
                """)
        return try resources.reduce(into: Filled()) { filled, resource in
            let one = try of(resource, period, database)
            filled.intervals += one.intervals
            filled.open += one.open
        }
    }

    private static func of(
        _ resource: Row, _ period: Period, _ database: Database
    ) throws -> Filled {
        let (number, seconds): (Int64, Int64) = (resource["number"], resource["length_s"])
        let told = try Int64.fetchOne(
            database.cachedStatement(
                sql: """
                    SELECT count(DISTINCT start_s) FROM books_interval WHERE resource = ? AND kind = 'actual'
                    AND start_s >= ? AND start_s < ? AND is_production = 1
                    """), arguments: [number, period.from.seconds, period.until.seconds])
        guard let length = BlockLength(rawValue: seconds), (told ?? 0) < period.seconds / seconds else {
            return Filled()
        }
        let readings = try readings(resource, period, database)
        guard let first = readings.map(\.time).min(), let last = readings.map(\.time).max(),
            let whole = Period(from: min(first, period.from), until: max(last, period.until))
        else { return Filled() }
        var book = IntervalBook()
        book.expect(resource["id"], length: length)
        try FactsRows.add(resource, whole, to: &book, database)
        // More than the resource can draw or give was not seen by a meter that is well: the gap stays open.
        let found = book.substitute(from: readings, most: most(resource, seconds))
        let intervals = book.sorted().filter {
            $0.record.hasPrefix("register:") && period.contains($0.start)
        }
        let open = found.compactMap { finding -> Substitution.TooMuch? in
            guard case .tooMuch(var gap) = finding else { return nil }
            gap.missing.removeAll { !period.contains($0) }
            return gap.missing.isEmpty ? nil : gap
        }
        return Filled(intervals: intervals, open: open)
    }

    /// By its `demand_kw` and `export_max_kw`; 0 and none say nothing.
    private static func most(_ resource: Row, _ seconds: Int64) -> StretchMost {
        func energy(_ watts: Int64?) -> WattHours {
            guard let watts, watts > 0 else { return .limit }
            return WattHours(Int64(Int128(watts) * Int128(seconds) / 3_600))
        }
        return StretchMost(
            imported: energy(resource["demand_w"]), exported: energy(resource["export_max_w"]))
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
