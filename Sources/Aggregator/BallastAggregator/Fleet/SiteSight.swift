import GRDB
import SiteRecords

/// A site's newest state with what it was put together from, so that the next record is added to it and not
/// all of them read again.
struct SiteSight: Sendable {
    var site: String
    var epoch: String
    var through: Int64
    var seenAt: Int64?
    /// As JSON; `nil` where there is none.
    var telemetry: String?
    /// `nil` where the newest state is a record of an older version, or cannot be put together.
    var state: SiteRecordState?
}

extension TelemetryStore {
    /// The newest state of each of `sites` that has one.
    ///
    /// - Parameter known: what was put together before.
    func sights(of sites: Set<String>, known: [String: SiteSight]) async throws -> [SiteSight] {
        try await pool.read { database in
            try sites.compactMap { site in
                let sql = """
                    SELECT epoch, stored_through,
                        CAST(round((julianday(last_seen) - 2440587.5) * 86400000) AS INTEGER) AS seen
                    FROM stream WHERE site = ? ORDER BY turn DESC, last_seen DESC, rowid DESC LIMIT 1
                    """
                guard let row = try database.row(sql, [site]) else { return nil }
                let fresh = SiteSight(
                    site: site, epoch: row["epoch"], through: row["stored_through"], seenAt: row["seen"])
                return try Self.sight(fresh, after: known[site], in: database)
            }
        }
    }

    private static func sight(
        _ fresh: SiteSight, after known: SiteSight?, in database: Database
    ) throws -> SiteSight {
        if let known, known.epoch == fresh.epoch, let state = known.state,
            let next = try sight(fresh, from: known.through, state, in: database)
        {
            return next
        }
        var sight = fresh
        guard let record = try telemetry(of: fresh.site, fresh.epoch, in: database) else { return sight }
        sight.telemetry = record.data
        let snapshot = try Int64.fetchOne(
            database,
            sql: "SELECT max(n) FROM record WHERE site = ? AND epoch = ? AND kind = 'snapshot'",
            arguments: [fresh.site, fresh.epoch])
        guard let snapshot else { return sight }
        return try self.sight(fresh, from: snapshot - 1, SiteRecordState(), in: database) ?? sight
    }

    /// - Parameter from: the last number that `state` rests on.
    /// - Returns: `nil` where numbers are missing, or something came that is no column record.
    private static func sight(
        _ fresh: SiteSight, from: Int64, _ state: SiteRecordState, in database: Database
    ) throws -> SiteSight? {
        let key: StatementArguments = [fresh.site, fresh.epoch, from]
        let gap = try database.number(
            "SELECT 1 FROM gap WHERE site = ? AND epoch = ? AND to_n > ? LIMIT 1", key)
        guard gap == nil else { return nil }
        let statement = try database.cachedStatement(
            sql: """
                SELECT +kind AS kind, data FROM record WHERE site = ? AND epoch = ? AND n > ?
                    AND +kind IN ('snapshot', 'delta', 'telemetry') ORDER BY n
                """)
        let rows = try Row.fetchCursor(statement, arguments: key)
        var state = state
        while let row = try rows.next() {
            let (kind, data): (String, String) = (row["kind"], row["data"])
            if kind == "telemetry" { return nil }
            // What is no column record says nothing, and nothing is put together over it.
            guard (try? state.take(Array(data.utf8))) != nil else { return nil }
        }
        guard let status = state.status(at: text(ofMilliseconds: state.wallMilliseconds)) else { return nil }
        var sight = fresh
        (sight.telemetry, sight.state) = (status, state)
        return sight
    }
}
