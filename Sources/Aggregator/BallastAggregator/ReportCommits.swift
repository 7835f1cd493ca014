import GRDB
import LinuxIO

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
    /// Where many sites report, a commit begins so long after the one before, with what came meanwhile.
    private static let pace = Duration.milliseconds(10)
    /// As many sites as have to have reported within a second, and records that do not wait.
    private static let manySites = 16
    private static let recordsAtOnce = 200
    private let pool: DatabasePool
    private var waiting: [Waiting] = []
    private var isWriting = false
    private var lastBegin = ContinuousClock.now
    /// Those that reported since then.
    private var sites: (seen: Set<String>, since: ContinuousClock.Instant) = ([], .now)
    private var hasManySites = false
    private(set) var count = 0

    init(_ pool: DatabasePool) { self.pool = pool }

    /// Returns after the commit, whatever becomes of the task that asks.
    func store(_ report: EdgeReport) async throws -> Outcome {
        try await withCheckedThrowingContinuation { continuation in
            waiting.append(Waiting(report: report, continuation: continuation))
            sites.seen.insert(report.site)
            if isWriting { return }
            isWriting = true
            Task { await write() }
        }
    }

    private func write() async {
        while !waiting.isEmpty {
            await gather()
            let batch = take()
            do {
                let outcomes = try await outcomes(of: batch.map(\.report))
                count += 1
                for (one, outcome) in zip(batch, outcomes) { one.continuation.resume(with: outcome) }
            } catch {
                for one in batch { one.continuation.resume(throwing: error) }
            }
        }
        isWriting = false
    }

    /// Waits for more to come, where a disk would else be asked for each of very many.
    private func gather() async {
        let now = ContinuousClock.now
        if now - sites.since > .seconds(1) {
            hasManySites = sites.seen.count >= Self.manySites
            sites = ([], now)
        }
        let due = lastBegin + Self.pace
        let records = waiting.reduce(0) { $0 + $1.report.records.count }
        if hasManySites, now < due, records < Self.recordsAtOnce {
            // Ends early only where the program ends, and then nothing waits for others.
            try? await Task.sleep(until: due, clock: .continuous)
        }
        lastBegin = .now
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

    /// All in one transaction; only where one of them cannot be stored each has a savepoint of its own, so
    /// that it takes nothing of the others with it. What fails beyond a report fails all of them.
    private func outcomes(of reports: [EdgeReport]) async throws -> [Result<Outcome, any Error>] {
        do {
            return try await pool.write { database in
                try reports.map { .success(try TelemetryStore.store($0, in: database)) }
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            return try await pool.write { database in
                try reports.map { try Self.outcome(of: $0, in: database) }
            }
        }
    }

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
        let mark = try database.number(sql, [report.site, report.epoch]) ?? 0
        if let covered = report.covered, covered.lowerBound > mark + 1 { return .numbersMissing(after: mark) }
        let before = try head(in: database).sequence
        let differing = try insertContent(of: report, as: before + 1, in: database)
        var turn = try head(in: database)
        for number in differing {
            let sql = "SELECT * FROM differing WHERE site = ? AND epoch = ? AND n = ?"
            let key: StatementArguments = [report.site, report.epoch, number.number]
            guard number.isNew, let row = try Row.fetchOne(database, sql: sql, arguments: key) else {
                continue
            }
            try sealDiffering(row, in: database)
        }
        let through = max(mark, report.covered?.upperBound ?? 0)
        try database.run(
            """
            INSERT INTO stream (site, epoch, stored_through, first_seen, last_seen, turn)
            VALUES (?, ?, ?, \(now), \(now), ?) ON CONFLICT (site, epoch)
            DO UPDATE SET stored_through = excluded.stored_through, last_seen = excluded.last_seen,
                turn = CASE WHEN ? THEN excluded.turn ELSE turn END
            """, [report.site, report.epoch, through, turn.sequence, turn.sequence > before])
        if !differing.isEmpty { turn = try head(in: database) }
        return .stored(through: through, differing: differing.map(\.number), head: turn.text)
    }

    /// A number that was stored before with another content; new where that was not seen before.
    private typealias Differing = (number: Int64, isNew: Bool)

    /// - Parameter sequence: of the entry of the chain that will stand for it.
    private static func insertContent(
        of report: EdgeReport, as sequence: Int64, in database: Database
    ) throws -> [Differing] {
        let record = try database.cachedStatement(
            sql: """
                INSERT INTO record (site, epoch, n, kind, received_at, data, t_ms, event, chain, mark)
                VALUES (?, ?, ?, ?, ?, ?, coalesce(?, \(nowMilliseconds)), ?, ?, ?)
                ON CONFLICT (site, epoch, n) DO NOTHING
                """)
        var (content, numbers, differing) = (ChainContent(), [Int64](), [Differing]())
        let now = text(ofMilliseconds: WallClock.nowMilliseconds())
        for entry in report.records {
            let came = entry.came ?? EdgeReport.Came(at: now, isHeld: true)
            let received = came.isHeld ? came.at : nil
            try record.execute(arguments: [
                report.site, report.epoch, entry.number, entry.kind, came.at, entry.data, entry.time,
                entry.event, sequence, ChainText.mark(entry.data, received: received),
            ])
            if database.changesCount > 0 {
                content.add(record: entry.number, entry.data, received: received)
                numbers.append(entry.number)
            } else if let isNew = try keepDiffering(entry, of: report, in: database) {
                differing.append((entry.number, isNew))
            }
        }
        for gap in report.gaps {
            try database.run(
                """
                INSERT OR IGNORE INTO gap (site, epoch, from_n, to_n, told_ms, chain)
                VALUES (?, ?, ?, ?, \(nowMilliseconds), ?)
                """, [report.site, report.epoch, gap.lowerBound, gap.upperBound, sequence])
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

    /// Keeps what came beside what is stored under the record's number, where that is something else.
    ///
    /// - Returns: whether it is the first of its kind; `nil` where it is the stored record.
    private static func keepDiffering(
        _ entry: EdgeReport.Record, of report: EdgeReport, in database: Database
    ) throws -> Bool? {
        let key: StatementArguments = [report.site, report.epoch, entry.number]
        let sql = "SELECT data FROM record WHERE site = ? AND epoch = ? AND n = ?"
        guard let stored = try String.fetchOne(database, sql: sql, arguments: key), stored != entry.data
        else { return nil }
        try database.execute(
            sql: "INSERT OR IGNORE INTO differing VALUES (?, ?, ?, \(nowMilliseconds), ?)",
            arguments: key + [entry.data])
        return database.changesCount > 0
    }

    func write(_ rows: [AuditLog.Row]) async throws {
        try await write { try Self.insert(rows, in: $0) }
    }

    /// Stores requests, and puts them into the chain.
    static func insert(_ rows: [AuditLog.Row], in database: Database) throws {
        let statement = try database.cachedStatement(
            sql: """
                INSERT INTO audit (at_ms, who, address, method, path, status, why, count, chain)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """)
        let first = try Int64.fetchOne(
            database, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'audit'")
        let sequence = try head(in: database).sequence + 1
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
        while let row = try written.next() { content.add(fields: fields(ofAudit: row)) }
        try append(.audit, from: from, to: to, content, in: database)
    }
}
