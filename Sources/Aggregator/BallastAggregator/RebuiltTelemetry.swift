import GRDB
import LinuxIO
import SiteRecords

extension TelemetryStore {
    /// What a site looked like last, as a status, put together from its newest snapshot and the rows behind.
    /// Records of older versions are whole statuses themselves.
    static func telemetry(
        of site: String, _ epoch: String, in database: Database
    ) throws -> StoredRecord? {
        let stream: StatementArguments = [site, epoch]
        func newest(_ kind: String) throws -> StoredRecord? {
            let sql = """
                SELECT n, received_at, data FROM record WHERE site = ? AND epoch = ? AND kind = ?
                ORDER BY n DESC LIMIT 1
                """
            return try Row.fetchOne(database, sql: sql, arguments: stream + [kind]).map { record($0) }
        }
        let whole = try newest("telemetry")
        guard let snapshot = try newest("snapshot"), snapshot.number > whole?.number ?? 0 else {
            return whole
        }
        let gap = try Int64.fetchOne(
            database, sql: "SELECT min(from_n) FROM gap WHERE site = ? AND epoch = ? AND to_n > ?",
            arguments: stream + [snapshot.number])
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT n, received_at, data FROM record
                WHERE site = ? AND epoch = ? AND kind = 'delta' AND n > ? ORDER BY n
                """, arguments: stream + [snapshot.number])
        var state = SiteRecordState()
        var last = snapshot
        // A record that is no snapshot cannot be put together: there is no state to show.
        guard (try? state.take(Array(snapshot.data.utf8))) != nil else { return nil }
        while let row = try rows.next() {
            let delta = record(row)
            // Behind a gap nobody knows what has moved; the site sends a snapshot then.
            if let gap, delta.number > gap {
                state.gap()
                break
            }
            guard (try? state.take(Array(delta.data.utf8))) != nil else { continue }
            last = delta
        }
        last.data = state.status(at: Self.text(ofMilliseconds: state.wallMilliseconds)) ?? "null"
        return last
    }

    /// UTC, ISO 8601; empty beyond the years 0 to 9999, which no clock of a site tells.
    static func text(ofMilliseconds time: Int64) -> String {
        let years: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999
        return years.contains(time) ? WallClock.text(milliseconds: time) : ""
    }

    private static func record(_ row: Row) -> StoredRecord {
        StoredRecord(number: row["n"], receivedAt: row["received_at"], data: row["data"])
    }
}
