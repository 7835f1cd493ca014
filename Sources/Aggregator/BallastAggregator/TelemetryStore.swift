import GRDB

/// The aggregator's database: one SQLite file, one connection, every commit on the disk before it returns.
public struct TelemetryStore: Sendable {
    public enum Failure: Error, Equatable {
        /// SQLite would answer before the disk does: the file must not be used.
        case notSynchronous(level: Int)
    }

    /// What became of a report.
    public enum Outcome: Sendable, Equatable {
        case stored(through: Int64)
        /// The report begins behind the next number; nothing of it was stored.
        case numbersMissing(after: Int64)
    }

    /// What is known of a site's newest stream.
    public struct Stream: Sendable, Equatable {
        public var epoch: String
        public var storedThrough: Int64
        /// UTC, ISO 8601 with milliseconds.
        public var lastSeen: String
    }

    public struct StoredRecord: Sendable, Equatable {
        public var number: Int64
        public var receivedAt: String
        /// A JSON object.
        public var data: String
    }

    public struct SiteState: Sendable, Equatable {
        public var stream: Stream
        public var telemetry: StoredRecord?
        /// Newest first.
        public var events: [StoredRecord]
    }

    let queue: DatabaseQueue

    public init(path: String) throws {
        var configuration = Configuration()
        configuration.journalMode = .wal
        queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.writeWithoutTransaction { database in
            // GRDB sets NORMAL with WAL, which answers before the disk does.
            try database.execute(sql: "PRAGMA synchronous = FULL")
            let level = try Int.fetchOne(database, sql: "PRAGMA synchronous")
            guard level == 2 else { throw Failure.notSynchronous(level: level ?? 0) }
        }
        try Self.migrator.migrate(queue)
    }

    public func close() throws { try queue.close() }

    /// Stores what is new in `report`; returns after the commit.
    ///
    /// Runs in a task of its own, since GRDB rolls back where the caller's task is cancelled, and a request
    /// is cancelled when its connection goes away.
    public func store(_ report: EdgeReport) async throws -> Outcome {
        let queue = queue
        return try await Task { try await queue.write { try Self.store(report, in: $0) } }.value
    }

    /// `nil` where the site has never reported.
    public func stream(of site: String) async throws -> Stream? {
        try await queue.read { try Self.stream(of: site, in: $0) }
    }

    /// The newest stream's last telemetry and last events; `nil` where the site has never reported.
    public func state(of site: String, eventLimit: Int = 50) async throws -> SiteState? {
        try await queue.read { database in
            guard let stream = try Self.stream(of: site, in: database) else { return nil }
            func newest(_ kind: String, _ limit: Int) throws -> [StoredRecord] {
                let sql = """
                    SELECT n, received_at, data FROM record
                    WHERE site = ? AND epoch = ? AND kind = ? ORDER BY n DESC LIMIT ?
                    """
                let rows = try Row.fetchAll(database, sql: sql, arguments: [site, stream.epoch, kind, limit])
                return rows.map {
                    StoredRecord(number: $0["n"], receivedAt: $0["received_at"], data: $0["data"])
                }
            }
            return SiteState(
                stream: stream, telemetry: try Self.telemetry(of: site, stream.epoch, in: database),
                events: try newest("event", eventLimit))
        }
    }
}

extension TelemetryStore {
    static let now = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { database in
            try database.execute(
                sql: """
                    CREATE TABLE stream (
                        site TEXT NOT NULL, epoch TEXT NOT NULL, stored_through INTEGER NOT NULL,
                        first_seen TEXT NOT NULL, last_seen TEXT NOT NULL,
                        PRIMARY KEY (site, epoch));
                    CREATE TABLE record (
                        site TEXT NOT NULL, epoch TEXT NOT NULL, n INTEGER NOT NULL,
                        kind TEXT NOT NULL, received_at TEXT NOT NULL, data TEXT NOT NULL,
                        PRIMARY KEY (site, epoch, n));
                    CREATE INDEX record_by_kind ON record (site, epoch, kind, n);
                    CREATE TABLE gap (
                        site TEXT NOT NULL, epoch TEXT NOT NULL,
                        from_n INTEGER NOT NULL, to_n INTEGER NOT NULL,
                        PRIMARY KEY (site, epoch, from_n, to_n));
                    """)
        }
        migrator.registerMigration("v2") { try createLeases($0) }
        return migrator
    }

    private static func stream(of site: String, in database: Database) throws -> Stream? {
        let sql = """
            SELECT epoch, stored_through, last_seen FROM stream
            WHERE site = ? ORDER BY last_seen DESC, first_seen DESC LIMIT 1
            """
        return try Row.fetchOne(database, sql: sql, arguments: [site]).map {
            Stream(epoch: $0["epoch"], storedThrough: $0["stored_through"], lastSeen: $0["last_seen"])
        }
    }

    private static func store(_ report: EdgeReport, in database: Database) throws -> Outcome {
        let sql = "SELECT stored_through FROM stream WHERE site = ? AND epoch = ?"
        let mark = try Int64.fetchOne(database, sql: sql, arguments: [report.site, report.epoch]) ?? 0
        if let covered = report.covered, covered.lowerBound > mark + 1 { return .numbersMissing(after: mark) }
        try insertContent(of: report, in: database)
        let through = max(mark, report.covered?.upperBound ?? 0)
        try database.execute(
            sql: """
                INSERT INTO stream VALUES (?, ?, ?, \(now), \(now)) ON CONFLICT (site, epoch)
                DO UPDATE SET stored_through = excluded.stored_through, last_seen = excluded.last_seen
                """, arguments: [report.site, report.epoch, through])
        return .stored(through: through)
    }

    private static func insertContent(of report: EdgeReport, in database: Database) throws {
        let record = try database.cachedStatement(
            sql: "INSERT INTO record VALUES (?, ?, ?, ?, \(now), ?) ON CONFLICT (site, epoch, n) DO NOTHING")
        for entry in report.records {
            try record.execute(
                arguments: [report.site, report.epoch, entry.number, entry.kind, entry.data])
        }
        for gap in report.gaps {
            try database.execute(
                sql: "INSERT OR IGNORE INTO gap VALUES (?, ?, ?, ?)",
                arguments: [report.site, report.epoch, gap.lowerBound, gap.upperBound])
        }
    }
}
