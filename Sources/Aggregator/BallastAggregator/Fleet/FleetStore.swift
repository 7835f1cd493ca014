import Fleet
import GRDB

/// Dispatches of this level, and what became of each.
extension TelemetryStore {
    static func createDispatches(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE dispatch (
                    id TEXT PRIMARY KEY, place TEXT NOT NULL, priority TEXT NOT NULL, reason TEXT NOT NULL,
                    power INTEGER, limit_w INTEGER, from_ms INTEGER NOT NULL, until_ms INTEGER NOT NULL,
                    asked_by TEXT NOT NULL, asked_ms INTEGER NOT NULL, state TEXT NOT NULL, length INTEGER);
                CREATE TABLE dispatch_event (
                    row INTEGER PRIMARY KEY, id TEXT NOT NULL REFERENCES dispatch (id),
                    at_ms INTEGER NOT NULL, what TEXT NOT NULL);
                CREATE INDEX dispatch_event_by_id ON dispatch_event (id, row);
                CREATE INDEX dispatch_by_state ON dispatch (state);
                """)
    }

    /// States in which nothing can change any more.
    private static let over = "('refused', 'done', 'expired', 'not_held')"

    func add(_ row: DispatchRow) async throws {
        try await write { database in
            let asked = KeptChange(
                .dispatch,
                [
                    row.id, row.place, row.priority.word, row.reason, row.power, row.limit, row.from,
                    row.until, row.by, row.askedAt, row.state, row.length,
                ])
            let event = try Self.event(row.id, "asked for by \(row.by)", row.askedAt, in: database)
            try Self.put([asked, event], in: database)
        }
    }

    /// Keeps what became of one.
    func note(_ id: String, state: String?, what: String?, at now: Int64) async throws {
        try await write { database in
            var changes: [KeptChange] = []
            let columns = KeptTable.dispatch.columns
            let sql = "SELECT \(columns.joined(separator: ", ")) FROM dispatch WHERE id = ?"
            if let state, let row = try database.row(sql, [id]) {
                var change = KeptChange(.dispatch, row: row)
                for (index, name) in columns.enumerated() where name == "state" {
                    change.values[index] = state.databaseValue
                }
                changes.append(change)
            }
            if let what { changes.append(try Self.event(id, what, now, in: database)) }
            try Self.put(changes, in: database)
        }
    }

    private static func event(
        _ id: String, _ what: String, _ now: Int64, in database: Database
    ) throws -> KeptChange {
        let last = try Int64.fetchOne(database, sql: "SELECT max(row) FROM dispatch_event") ?? 0
        return KeptChange(.dispatchEvent, [last + 1, id, now, what])
    }

    func dispatch(_ id: String) async throws -> DispatchRow? {
        try await pool.read { try Self.dispatches(in: $0, "id = ?", [id]).first }
    }

    func openDispatches() async throws -> [DispatchRow] {
        try await pool.read {
            try Self.dispatches(in: $0, "state NOT IN \(Self.over) ORDER BY asked_ms, id", [])
        }
    }

    /// The newest, newest first.
    func dispatches(limit: Int) async throws -> [DispatchRow] {
        try await pool.read {
            try Self.dispatches(in: $0, "1 ORDER BY asked_ms DESC, id LIMIT ?", [limit])
        }
    }

    func dispatchEvents(of id: String) async throws -> [DispatchRow.Event] {
        try await pool.read { database in
            try Row.fetchAll(
                database, sql: "SELECT at_ms, what FROM dispatch_event WHERE id = ? ORDER BY row LIMIT 10000",
                arguments: [id]
            ).map { DispatchRow.Event(at: $0["at_ms"], what: $0["what"]) }
        }
    }

    /// The newest record of kind `trace` of a child about a dispatch, and the site's own events about it,
    /// oldest first, at most fifty of each end.
    func below(_ site: String, _ dispatch: String) async throws -> (trace: String?, events: [String]) {
        try await pool.read { database in
            guard let stream = try Self.stream(of: site, in: database) else { return (nil, []) }
            let place: StatementArguments = [site, stream.epoch]
            let trace = try String.fetchOne(
                database,
                sql: """
                    SELECT data FROM (SELECT data, n FROM record
                        WHERE site = ? AND epoch = ? AND kind = 'trace' ORDER BY n DESC LIMIT 5000)
                    WHERE data ->> '$.dispatch' = ? ORDER BY n DESC LIMIT 1
                    """, arguments: place + [dispatch])
            let events = try String.fetchAll(
                database,
                sql: """
                    SELECT data FROM (SELECT data, n FROM record
                        WHERE site = ? AND epoch = ? AND kind = 'event' ORDER BY n DESC LIMIT 20000)
                    WHERE data ->> '$.value' = ? ORDER BY n
                    """, arguments: place + [dispatch])
            let ends = events.count > 100 ? Array(events.prefix(50) + events.suffix(50)) : events
            return (trace, ends)
        }
    }

    private static func dispatches(
        in database: Database, _ condition: String, _ arguments: StatementArguments
    ) throws -> [DispatchRow] {
        let sql = "SELECT * FROM dispatch WHERE \(condition)"
        return try Row.fetchAll(database, sql: sql, arguments: arguments).map {
            DispatchRow(
                id: $0["id"], place: $0["place"],
                priority: DispatchPriority(word: $0["priority"]) ?? .schedule, reason: $0["reason"],
                power: $0["power"], limit: $0["limit_w"], from: $0["from_ms"], until: $0["until_ms"],
                by: $0["asked_by"], askedAt: $0["asked_ms"], state: $0["state"], length: $0["length"])
        }
    }
}
