import GRDB

/// One step of retention, inside one transaction: goes on along the chain, takes what a rule names, and
/// declares it.
struct Cutter {
    private struct Row {
        var from: Int64
        var to: Int64
        /// Of what is left; empty where nothing is.
        var content: String
        var hash: String
    }

    private let database: Database
    private let rule: RetentionRule
    private let limit: Int64
    /// As `received_at` is written.
    private let limitText: String
    /// What says that it happened after this is not believed, in milliseconds since 1970.
    private let latest: Int64

    init(_ database: Database, _ rule: RetentionRule, _ limit: Int64) {
        self.database = database
        self.rule = rule
        self.limit = limit
        limitText = TelemetryStore.text(ofMilliseconds: limit)
        latest = limit + Int64(rule.days + 1) * 86_400_000
    }

    func step(most: Int) throws -> TelemetryStore.CutStep {
        let name = rule.kind.rawValue
        let known = try Int64.fetchOne(
            database, sql: "SELECT chain FROM retention WHERE rule = ?", arguments: [name])
        let entries = try GRDB.Row.fetchAll(
            database, sql: "SELECT * FROM chain WHERE seq > ? ORDER BY seq LIMIT ?",
            arguments: [known ?? 0, most])
        var (rows, last, step) = ([Row](), known ?? 0, TelemetryStore.CutStep())
        for entry in entries {
            guard let taken = try take(entry) else { break }
            last = entry["seq"]
            step.gone += taken.gone
            if let row = taken.row { Self.add(row, to: &rows) }
        }
        step.hasMore = entries.count == most && last == entries[most - 1]["seq"]
        guard last > known ?? 0 else { return step }
        try database.execute(
            sql: """
                INSERT INTO retention VALUES (?, ?, 0)
                ON CONFLICT (rule) DO UPDATE SET chain = excluded.chain
                """, arguments: [name, last])
        if !rows.isEmpty { try declare(rows) }
        return step
    }

    /// Stretches that follow each other are one.
    private static func add(_ row: Row, to rows: inout [Row]) {
        if row.content.isEmpty, let last = rows.last, last.content.isEmpty, last.to + 1 == row.from {
            (rows[rows.count - 1].to, rows[rows.count - 1].hash) = (row.to, row.hash)
        } else {
            rows.append(row)
        }
    }

    private func declare(_ rows: [Row]) throws {
        let sequence = try TelemetryStore.head(in: database).sequence + 1
        for row in rows {
            try database.execute(
                sql: "INSERT INTO cut VALUES (?, ?, ?, ?, ?)",
                arguments: [sequence, row.from, row.to, row.content, row.hash])
        }
        var content = ChainContent()
        let stored = try GRDB.Row.fetchCursor(
            database, sql: "SELECT * FROM cut WHERE seq = ? ORDER BY from_seq", arguments: [sequence])
        while let row = try stored.next() { content.add(fields: CutBook.fields(row)) }
        try TelemetryStore.append(
            .cut, epoch: "\(rule.kind.rawValue) older than \(rule.days) days, of before \(limitText)",
            from: rows[0].from, to: rows[rows.count - 1].to, content, in: database)
    }

    /// - Returns: `nil` where the entry is too young, and with it all behind it.
    private func take(_ entry: GRDB.Row) throws -> (row: Row?, gone: Int)? {
        switch (ChainEntry.Kind(rawValue: entry["kind"]), rule.kind) {
        case (.report, .values), (.report, .events), (.report, .energy): return try takeRecords(entry)
        case (.audit, .requests): return try takeRequests(entry)
        case (.report, _), (.audit, _), (.lease, _), (.result, _), (.capture, _), (.dropped, _),
            (.differing, _), (.found, _), (.change, _), (.cut, _), (nil, _):
            return (nil, 0)
        }
    }

    private func takeRequests(_ entry: GRDB.Row) throws -> (row: Row?, gone: Int)? {
        let (from, to): (Int64, Int64) = (entry["from_n"], entry["to_n"])
        let newest = try Int64.fetchOne(
            database, sql: "SELECT max(at_ms) FROM audit WHERE seq BETWEEN ? AND ?", arguments: [from, to])
        guard let newest else { return (nil, 0) }
        guard newest < limit else { return nil }
        try database.execute(sql: "DELETE FROM audit WHERE seq BETWEEN ? AND ?", arguments: [from, to])
        let gone = database.changesCount
        return (try remove(entry), gone)
    }

    /// Its own time counts as well: the clock here may have been wrong when it came.
    private func isYoung(_ record: GRDB.Row) -> Bool {
        (record["received_at"] as String) >= limitText || (limit..<latest).contains(record["t_ms"] as Int64)
    }

    private func takeRecords(_ entry: GRDB.Row) throws -> (row: Row?, gone: Int)? {
        let (sequence, from, to): (Int64, Int64, Int64) = (entry["seq"], entry["from_n"], entry["to_n"])
        let key: StatementArguments = [entry["site"], entry["epoch"]]
        let records = try GRDB.Row.fetchAll(
            database,
            sql: """
                SELECT n, kind, t_ms, received_at, data, mark FROM record
                WHERE site = ? AND epoch = ? AND n BETWEEN ? AND ? AND chain = ? ORDER BY rowid
                """, arguments: key + [from, to, sequence])
        if records.contains(where: isYoung) { return nil }
        let (through, rolled, shown) = try bounds(key)
        if rule.kind == .values, to > rolled { return nil }
        let doomed = records.filter { row in
            rule.kind.records.contains(row["kind"]) && (rule.kind != .values || (row["n"] as Int64) < shown)
        }
        guard !doomed.isEmpty else { return (nil, 0) }
        for row in doomed {
            let number: Int64 = row["n"]
            try database.execute(
                sql: "DELETE FROM record WHERE site = ? AND epoch = ? AND n = ?", arguments: key + [number])
        }
        let gone = Set(doomed.map { $0["n"] as Int64 })
        let rest = records.filter { !gone.contains($0["n"]) }
        let gaps = try GRDB.Row.fetchAll(
            database,
            sql: "SELECT from_n, to_n FROM gap WHERE site = ? AND epoch = ? AND chain = ? ORDER BY from_n",
            arguments: key + [sequence])
        // The last of a stream stays: it says how far the site was told that all is stored.
        if rest.isEmpty, gaps.isEmpty, to < through { return (try remove(entry), doomed.count) }
        var content = ChainContent()
        for row in rest { content.add(record: row["n"], row["data"], received: ChainText.received(row)) }
        for gap in gaps { content.add(gap: gap["from_n"]...max(gap["from_n"], gap["to_n"])) }
        return (
            Row(from: sequence, to: sequence, content: content.digest, hash: entry["hash"]), doomed.count
        )
    }

    /// How far a stream is stored and put together by minutes, and the snapshot from which its newest state
    /// follows.
    private func bounds(_ key: StatementArguments) throws -> (stored: Int64, rolled: Int64, shown: Int64) {
        let stream = try GRDB.Row.fetchOne(
            database,
            sql: "SELECT stored_through, rolled_through FROM stream WHERE site = ? AND epoch = ?",
            arguments: key)
        let shown = try Int64.fetchOne(
            database,
            sql: "SELECT max(n) FROM record WHERE site = ? AND epoch = ? AND kind = 'snapshot'",
            arguments: key)
        guard let stream else { return (0, 0, 0) }
        return (stream["stored_through"], stream["rolled_through"], shown ?? .max)
    }

    private func remove(_ entry: GRDB.Row) throws -> Row {
        let sequence: Int64 = entry["seq"]
        try database.execute(sql: "DELETE FROM chain WHERE seq = ?", arguments: [sequence])
        return Row(from: sequence, to: sequence, content: "", hash: entry["hash"])
    }
}
