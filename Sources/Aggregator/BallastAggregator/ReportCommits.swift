import GRDB

/// Stores reports, several in one transaction: those that come while one is being written wait for the next,
/// so that a slow disk is asked once for many.
actor ReportCommits {
    typealias Outcome = TelemetryStore.Outcome

    private struct Waiting {
        var report: EdgeReport
        var continuation: CheckedContinuation<Outcome, any Error>
    }

    /// Records in one transaction; a report is never split.
    private static let mostRecords = 1_000
    private let pool: DatabasePool
    private var waiting: [Waiting] = []
    private var isWriting = false
    private(set) var count = 0

    init(_ pool: DatabasePool) { self.pool = pool }

    /// Returns after the commit, whatever becomes of the task that asks.
    func store(_ report: EdgeReport) async throws -> Outcome {
        try await withCheckedThrowingContinuation { continuation in
            waiting.append(Waiting(report: report, continuation: continuation))
            if isWriting { return }
            isWriting = true
            Task { await write() }
        }
    }

    private func write() async {
        while !waiting.isEmpty {
            let batch = take()
            let reports = batch.map(\.report)
            do {
                let outcomes = try await pool.write { database in
                    try reports.map { try Self.outcome(of: $0, in: database) }
                }
                count += 1
                for (one, outcome) in zip(batch, outcomes) { one.continuation.resume(with: outcome) }
            } catch {
                for one in batch { one.continuation.resume(throwing: error) }
            }
        }
        isWriting = false
    }

    private func take() -> [Waiting] {
        var records = 0
        let end = waiting.firstIndex { one in
            let isFull = records > 0 && records + one.report.records.count > Self.mostRecords
            records += max(1, one.report.records.count)
            return isFull
        }
        let batch = Array(waiting[..<(end ?? waiting.count)])
        waiting.removeFirst(batch.count)
        return batch
    }

    /// A report that fails takes nothing of the others with it; what fails beyond a report fails all of them.
    private static func outcome(
        of report: EdgeReport, in database: Database
    ) throws -> Result<Outcome, any Error> {
        var outcome: Result<Outcome, any Error>?
        do {
            try database.inSavepoint {
                outcome = .success(try TelemetryStore.store(report, in: database))
                return .commit
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            outcome = .failure(error)
        }
        return outcome ?? .failure(DatabaseError(resultCode: .SQLITE_ABORT))
    }
}

extension TelemetryStore {
    static func addTimesAndAudit(_ database: Database) throws {
        try database.execute(
            sql: """
                ALTER TABLE record ADD COLUMN t_ms INTEGER NOT NULL DEFAULT 0;
                ALTER TABLE record ADD COLUMN event TEXT NOT NULL DEFAULT '';
                UPDATE record SET t_ms = CAST(strftime('%s', received_at) AS INTEGER) * 1000;
                UPDATE record SET
                    t_ms = coalesce(
                        CASE WHEN json_type(data, '$.t_ms') = 'integer' THEN json_extract(data, '$.t_ms') END,
                        t_ms),
                    event = coalesce(
                        CASE WHEN json_type(data, '$.event') = 'text' THEN json_extract(data, '$.event') END, '')
                    WHERE json_valid(data);
                CREATE INDEX record_by_time ON record (site, kind, t_ms);
                ALTER TABLE gap ADD COLUMN told_ms INTEGER NOT NULL DEFAULT 0;
                ALTER TABLE stream ADD COLUMN rolled_through INTEGER NOT NULL DEFAULT 0;
                CREATE TABLE differing (
                    site TEXT NOT NULL, epoch TEXT NOT NULL, n INTEGER NOT NULL, at_ms INTEGER NOT NULL,
                    data TEXT NOT NULL, PRIMARY KEY (site, epoch, n));
                CREATE TABLE minute (
                    site TEXT NOT NULL, unit TEXT NOT NULL, channel TEXT NOT NULL, start_ms INTEGER NOT NULL,
                    low REAL NOT NULL, high REAL NOT NULL, mean REAL NOT NULL, seconds REAL NOT NULL,
                    PRIMARY KEY (site, unit, channel, start_ms)) WITHOUT ROWID;
                CREATE TABLE audit (
                    seq INTEGER PRIMARY KEY AUTOINCREMENT, at_ms INTEGER NOT NULL, who TEXT NOT NULL,
                    address TEXT NOT NULL, method TEXT NOT NULL, path TEXT NOT NULL, status INTEGER NOT NULL,
                    why TEXT NOT NULL, count INTEGER NOT NULL);
                """)
    }

    static func store(_ report: EdgeReport, in database: Database) throws -> Outcome {
        let sql = "SELECT stored_through FROM stream WHERE site = ? AND epoch = ?"
        let mark = try Int64.fetchOne(database, sql: sql, arguments: [report.site, report.epoch]) ?? 0
        if let covered = report.covered, covered.lowerBound > mark + 1 { return .numbersMissing(after: mark) }
        let differing = try insertContent(of: report, in: database)
        let through = max(mark, report.covered?.upperBound ?? 0)
        try database.execute(
            sql: """
                INSERT INTO stream (site, epoch, stored_through, first_seen, last_seen)
                VALUES (?, ?, ?, \(now), \(now)) ON CONFLICT (site, epoch)
                DO UPDATE SET stored_through = excluded.stored_through, last_seen = excluded.last_seen
                """, arguments: [report.site, report.epoch, through])
        return .stored(through: through, differing: differing, head: try head(in: database).text)
    }

    /// - Returns: the numbers that were stored before with another content.
    private static func insertContent(of report: EdgeReport, in database: Database) throws -> [Int64] {
        let record = try database.cachedStatement(
            sql: """
                INSERT INTO record (site, epoch, n, kind, received_at, data, t_ms, event, chain, mark)
                VALUES (?, ?, ?, ?, \(now), ?, coalesce(?, \(nowMilliseconds)), ?, ?, ?)
                ON CONFLICT (site, epoch, n) DO NOTHING
                """)
        let sequence = try head(in: database).sequence + 1
        var (content, numbers, differing) = (ChainContent(), [Int64](), [Int64]())
        for entry in report.records {
            try record.execute(arguments: [
                report.site, report.epoch, entry.number, entry.kind, entry.data, entry.time, entry.event,
                sequence, ChainText.mark(entry.data),
            ])
            if database.changesCount > 0 {
                content.add(record: entry.number, entry.data)
                numbers.append(entry.number)
            } else if try !isStored(entry, of: report, in: database) {
                differing.append(entry.number)
            }
        }
        for gap in report.gaps {
            try database.execute(
                sql: """
                    INSERT OR IGNORE INTO gap (site, epoch, from_n, to_n, told_ms, chain)
                    VALUES (?, ?, ?, ?, \(nowMilliseconds), ?)
                    """, arguments: [report.site, report.epoch, gap.lowerBound, gap.upperBound, sequence])
            if database.changesCount > 0 {
                content.add(gap: gap)
                numbers += [gap.lowerBound, gap.upperBound]
            }
        }
        if let first = numbers.min(), let last = numbers.max() {
            try append(
                .report, site: report.site, epoch: report.epoch, from: first, to: last, content, in: database)
        }
        return differing
    }

    private static let nowMilliseconds = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"

    /// Whether what is stored under the record's number is the record; if not, what came is kept beside it.
    private static func isStored(
        _ entry: EdgeReport.Record, of report: EdgeReport, in database: Database
    ) throws -> Bool {
        let key: StatementArguments = [report.site, report.epoch, entry.number]
        let sql = "SELECT data FROM record WHERE site = ? AND epoch = ? AND n = ?"
        if try String.fetchOne(database, sql: sql, arguments: key) == entry.data { return true }
        try database.execute(
            sql: "INSERT OR IGNORE INTO differing VALUES (?, ?, ?, \(nowMilliseconds), ?)",
            arguments: key + [entry.data])
        return false
    }

    func write(_ rows: [AuditLog.Row]) async throws {
        try await write { database in
            let statement = try database.cachedStatement(
                sql: """
                    INSERT INTO audit (at_ms, who, address, method, path, status, why, count, chain)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """)
            let first = try Int64.fetchOne(
                database, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'audit'")
            let sequence = try Self.head(in: database).sequence + 1
            for row in rows {
                let entry = row.entry
                try statement.execute(arguments: [
                    row.at, entry.who, entry.address, entry.method, entry.path, entry.status, entry.why,
                    row.count, sequence,
                ])
            }
            let (from, to) = ((first ?? 0) + 1, database.lastInsertedRowID)
            var content = ChainContent()
            let written = try Row.fetchCursor(
                database, sql: "SELECT * FROM audit WHERE seq BETWEEN ? AND ? ORDER BY seq",
                arguments: [from, to])
            while let row = try written.next() { content.add(fields: Self.fields(ofAudit: row)) }
            try Self.append(.audit, from: from, to: to, content, in: database)
        }
    }
}
