import GRDB

/// The aggregator's database: one SQLite file, one writer with readers beside it, every commit on the disk
/// before it returns.
public struct TelemetryStore: Sendable {
    public enum Failure: Error, Equatable, CustomStringConvertible {
        /// SQLite would answer before the disk does: the file must not be used.
        case notSynchronous(level: Int)
        /// A later version has written to it; the names are of its migrations.
        case ofLaterVersion([String])

        public var description: String {
            switch self {
            case .notSynchronous(let level): "SQLite answers before the disk does (synchronous = \(level))"
            case .ofLaterVersion(let names): laterText(names)
            }
        }
    }

    /// What became of a report. `differing` are numbers whose record was stored before with another content;
    /// the first stands. `head` is that of the history behind it.
    public enum Outcome: Sendable, Equatable {
        case stored(through: Int64, differing: [Int64] = [], head: String = "")
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

    let pool: DatabasePool
    private let commits: ReportCommits
    let rolled = RolledStreams()

    public init(path: String) throws {
        var configuration = Configuration()
        configuration.maximumReaderCount = 4
        // A settlement, which is a process of its own, writes for a moment now and then.
        configuration.busyMode = .timeout(10)
        // A pool writes to the file as soon as it is opened.
        let later = try Self.laterMigrations(of: path)
        guard later.isEmpty else { throw Failure.ofLaterVersion(later) }
        let pool = try DatabasePool(path: path, configuration: configuration)
        self.pool = pool
        try pool.writeWithoutTransaction { database in
            // GRDB sets NORMAL with WAL, which answers before the disk does.
            try database.execute(sql: "PRAGMA synchronous = FULL")
            let level = try Int.fetchOne(database, sql: "PRAGMA synchronous")
            guard level == 2 else { throw Failure.notSynchronous(level: level ?? 0) }
        }
        try Self.migrator.migrate(pool)
        commits = ReportCommits(pool)
    }

    public func close() throws { try pool.close() }

    /// How many transactions have stored reports.
    func commitCount() async -> Int { await commits.count }

    /// Writes in a task of its own, since GRDB rolls back where the caller's task is cancelled, and a request
    /// is cancelled when its connection goes away.
    func write<Result: Sendable>(_ body: @escaping @Sendable (Database) throws -> Result) async throws
        -> Result
    {
        let pool = pool
        return try await Task { try await pool.write(body) }.value
    }

    /// Stores what is new in `report`; returns after the commit, which may hold other reports too.
    public func store(_ report: EdgeReport) async throws -> Outcome { try await commits.store(report) }

    /// `nil` where the site has never reported.
    public func stream(of site: String) async throws -> Stream? {
        try await pool.read { try Self.stream(of: site, in: $0) }
    }

    /// The newest stream's last telemetry and last events; `nil` where the site has never reported.
    public func state(of site: String, eventLimit: Int = 50) async throws -> SiteState? {
        try await pool.read { database in
            guard let stream = try Self.stream(of: site, in: database) else { return nil }
            func newest(_ kind: String, _ limit: Int) throws -> [StoredRecord] {
                let sql = """
                    SELECT n, received_at, data FROM record
                    WHERE site = ? AND epoch = ? AND kind = ? ORDER BY n DESC LIMIT ?
                    """
                let rows = try Row.fetchCursor(
                    database, sql: sql, arguments: [site, stream.epoch, kind, limit])
                var (found, bytes): ([StoredRecord], Int) = ([], 0)
                while bytes < Self.answerBytes, let row = try rows.next() {
                    found.append(
                        StoredRecord(number: row["n"], receivedAt: row["received_at"], data: row["data"]))
                    bytes += found[found.count - 1].data.utf8.count
                }
                return found
            }
            return SiteState(
                stream: stream, telemetry: try Self.telemetry(of: site, stream.epoch, in: database),
                events: try newest("event", eventLimit))
        }
    }
}

extension TelemetryStore {
    static let now = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"
    /// After so many bytes an answer takes no further row.
    static let answerBytes = 1 << 20

    static var migrator: DatabaseMigrator {
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
        migrator.registerMigration("v3") { try addTimesAndAudit($0) }
        migrator.registerMigration("v4") { try createChain($0) }
        migrator.registerMigration("v5") { try createCaptures($0) }
        migrator.registerMigration("v6") { try chainCaptures($0) }
        migrator.registerMigration("alarms") { try createAlarms($0) }
        migrator.registerMigration("whole-history") { try createCuts($0) }
        migrator.registerMigration("page") { database in
            try createSummaries(database)
            try createSessions(database)
        }
        migrator.registerMigration("dispatches") { try createDispatches($0) }
        migrator.registerMigration("turns") { database in
            // Streams that have brought nothing since there are turns.
            try database.execute(
                sql: """
                    UPDATE stream SET turn = told.turn FROM (
                        SELECT site, epoch, max(seq) AS turn FROM chain WHERE kind = 'report'
                        GROUP BY site, epoch) AS told
                    WHERE stream.site = told.site AND stream.epoch = told.epoch AND stream.turn = 0
                    """)
        }
        migrator.registerMigration("changes") { try createChanges($0) }
        migrator.registerMigration("contradictions") { try createContradictions($0) }
        // Entries hold when their records came: an older version would take them for changed ones.
        migrator.registerMigration("received") { _ in }
        return migrator
    }

    /// The one that brought something last, by the history's order: a clock that jumped changes nothing.
    static func stream(of site: String, in database: Database) throws -> Stream? {
        let sql = """
            SELECT epoch, stored_through, last_seen FROM stream
            WHERE site = ? ORDER BY turn DESC, last_seen DESC, rowid DESC LIMIT 1
            """
        return try Row.fetchOne(database, sql: sql, arguments: [site]).map {
            Stream(epoch: $0["epoch"], storedThrough: $0["stored_through"], lastSeen: $0["last_seen"])
        }
    }
}
