import GRDB
import Incident

/// What the aggregator knows of a site in the minutes of an incident: its events, what was asked of it, and
/// who asked the aggregator for what.
extension TelemetryStore {
    /// Five minutes before and after, in milliseconds.
    private static let around: Int64 = 300_000
    private static let mostRows = 500

    /// - Parameters:
    ///   - begin: of the capture, by the site's clock, milliseconds since 1970-01-01 00:00 UTC.
    ///   - end: of the capture.
    func beside(_ site: String, from begin: Int64, to end: Int64) async throws -> [Beside] {
        let (from, to) = (begin - Self.around, end + Self.around)
        return try await pool.read { database in
            [
                try Self.told(site, from, to, in: database),
                try Self.asked(site, from, to, in: database),
                try Self.audited(site, from, to, in: database),
            ]
        }
    }

    private static func told(
        _ site: String, _ from: Int64, _ to: Int64, in database: Database
    ) throws -> Beside {
        let sql = """
            SELECT \(utc("t_ms")) AS at, event, json_extract(data, '$.unit') AS unit, json_extract(data, '$.by') AS who,
                coalesce(json_extract(data, '$.text'), data) AS text FROM record
            WHERE site = ? AND kind = 'event' AND t_ms >= ? AND t_ms <= ? AND json_valid(data)
                AND \(isToldFirst)
            ORDER BY t_ms, rowid LIMIT \(mostRows + 1)
            """
        return try table(
            "site_events", "What the site told in these minutes",
            "Its own words, requests and who made them among them, as they were delivered.",
            ["at", "event", "unit", "who", "text"], sql, [site, from, to], in: database)
    }

    private static func asked(
        _ site: String, _ from: Int64, _ to: Int64, in database: Database
    ) throws -> Beside {
        let asked = "CAST(strftime('%s', asked_at) AS INTEGER) * 1000"
        let sql = """
            SELECT asked_at AS at, dispatch, CASE WHEN power IS NULL THEN 'release' ELSE power || ' W' END AS power,
                \(utc("until")) AS until, asked_by AS who, reason, state, answer FROM lease
            WHERE site = ? AND \(asked) <= ? AND max(until, \(asked)) >= ? ORDER BY sequence LIMIT \(mostRows + 1)
            """
        return try table(
            "leases", "What was asked of it through the aggregator",
            "Leases in force in these minutes, and what the site made of each.",
            ["at", "dispatch", "power", "until", "who", "reason", "state", "answer"], sql, [site, to, from],
            in: database)
    }

    private static func audited(
        _ site: String, _ from: Int64, _ to: Int64, in database: Database
    ) throws -> Beside {
        let sql = """
            SELECT \(utc("at_ms")) AS at, who, address, method, path, status, why, count FROM audit
            WHERE at_ms >= ? AND at_ms <= ? AND (path LIKE ? ESCAPE '!' OR who = ? OR method = 'LOGIN')
            ORDER BY seq LIMIT \(mostRows + 1)
            """
        let plain = site.replacing("!", with: "!!").replacing("%", with: "!%").replacing("_", with: "!_")
        return try table(
            "audit", "Who asked the aggregator",
            "Log-ins, and requests and refusals that name this site; by the aggregator's clock.",
            ["at", "who", "address", "method", "path", "status", "why", "count"], sql,
            [from, to, "%/sites/\(plain)/%", site], in: database)
    }

    /// Milliseconds of a column as people read them.
    private static func utc(_ column: String) -> String {
        "strftime('%Y-%m-%dT%H:%M:%fZ', \(column) / 1000.0, 'unixepoch')"
    }

    private static func table(
        _ name: String, _ title: String, _ note: String, _ heads: [String], _ sql: String,
        _ arguments: StatementArguments, in database: Database
    ) throws -> Beside {
        let rows = try Row.fetchAll(database, sql: sql, arguments: arguments)
        let texts = rows.prefix(mostRows).map { row in
            heads.map { head -> String in
                let value: DatabaseValue = row[head]
                return value.isNull ? "" : String.fromDatabaseValue(value) ?? value.description
            }
        }
        let more = rows.count > mostRows ? " The first \(mostRows)." : ""
        return Beside(
            name: name, title: title, content: .table(heads: heads, rows: texts), note: note + more)
    }
}
