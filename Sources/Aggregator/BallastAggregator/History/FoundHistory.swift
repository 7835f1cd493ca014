import GRDB

/// What lay in the database before the chain began, or beside it: the first start of this version puts it
/// into the chain as it is found.
extension TelemetryStore {
    /// Records of one entry.
    private static let recordsOfEntry = 1_000

    static func createCuts(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE cut (
                    seq INTEGER NOT NULL, from_seq INTEGER NOT NULL, to_seq INTEGER NOT NULL,
                    content TEXT NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (from_seq, seq));
                CREATE INDEX cut_by_entry ON cut (seq, from_seq);
                CREATE TABLE retention (
                    rule TEXT PRIMARY KEY, chain INTEGER NOT NULL, swept_ms INTEGER NOT NULL);
                ALTER TABLE stream ADD COLUMN turn INTEGER NOT NULL DEFAULT 0;
                """)
        try findRecords(database)
        try findGaps(database)
        try findRequests(database)
        try findLeases(database)
        for row in try Row.fetchAll(database, sql: "SELECT * FROM differing ORDER BY site, epoch, n") {
            try sealDiffering(row, in: database)
        }
    }

    private static func findRecords(_ database: Database) throws {
        let rows = try Row.fetchCursor(
            database,
            sql: "SELECT rowid, site, epoch, n, data FROM record WHERE chain = 0 ORDER BY rowid")
        var (content, rowids) = (ChainContent(), [(row: Int64, mark: String)]())
        // What is found is written down beside, so that nothing moves under the cursor.
        var entries: [(ChainContent, [(row: Int64, mark: String)])] = []
        while let row = try rows.next() {
            let data: String = row["data"]
            content.add(fields: found(row))
            rowids.append((row["rowid"], ChainText.mark(data, received: nil)))
            guard rowids.count == recordsOfEntry else { continue }
            entries.append((content, rowids))
            (content, rowids) = (ChainContent(), [])
        }
        if !rowids.isEmpty { entries.append((content, rowids)) }
        let statement = try database.makeStatement(
            sql: "UPDATE record SET chain = ?, mark = ? WHERE rowid = ?")
        for (content, rowids) in entries {
            let entry = try append(
                .found, epoch: "records", from: 1, to: Int64(rowids.count), content, in: database)
            for (row, mark) in rowids { try statement.execute(arguments: [-entry, mark, row]) }
        }
    }

    /// What an entry of found records holds of each.
    static func found(_ row: Row) -> [String] {
        let number: Int64 = row["n"]
        return [row["site"], row["epoch"], String(number), row["data"]]
    }

    private static func findGaps(_ database: Database) throws {
        let rows = try Row.fetchAll(
            database, sql: "SELECT * FROM gap WHERE chain = 0 ORDER BY site, epoch, from_n")
        guard !rows.isEmpty else { return }
        var content = ChainContent()
        for row in rows { content.add(fields: found(gap: row)) }
        let entry = try append(
            .found, epoch: "gaps", from: 1, to: Int64(rows.count), content, in: database)
        try database.execute(sql: "UPDATE gap SET chain = ? WHERE chain = 0", arguments: [-entry])
    }

    static func found(gap row: Row) -> [String] {
        let (from, to): (Int64, Int64) = (row["from_n"], row["to_n"])
        return [row["site"], row["epoch"], String(from), String(to)]
    }

    private static func findRequests(_ database: Database) throws {
        let known = try Int64.fetchOne(
            database, sql: "SELECT min(from_n) FROM chain WHERE kind = 'audit'")
        let last = try Int64.fetchOne(
            database, sql: "SELECT max(seq) FROM audit WHERE seq < ?", arguments: [known ?? .max])
        guard let last else { return }
        var content = ChainContent()
        let rows = try Row.fetchCursor(
            database, sql: "SELECT * FROM audit WHERE seq BETWEEN 1 AND ? ORDER BY seq", arguments: [last])
        while let row = try rows.next() { content.add(fields: fields(ofAudit: row)) }
        try append(.audit, from: 1, to: last, content, in: database)
    }

    private static func findLeases(_ database: Database) throws {
        guard try database.tableExists("lease") else { return }
        func known(_ kind: ChainEntry.Kind) throws -> Set<String> {
            let sql = "SELECT site || ' ' || from_n FROM chain WHERE kind = ?"
            return Set(try String.fetchAll(database, sql: sql, arguments: [kind.rawValue]))
        }
        let (leases, results) = (try known(.lease), try known(.result))
        let rows = try Row.fetchAll(database, sql: "SELECT * FROM lease ORDER BY site, sequence")
        for row in rows {
            let (site, sequence, state): (String, Int64, String) = (
                row["site"], row["sequence"], row["state"]
            )
            let key = "\(site) \(sequence)"
            if !leases.contains(key) { try seal(.lease, site, sequence, in: database) }
            if state != "waiting", !results.contains(key) { try seal(.result, site, sequence, in: database) }
        }
    }

    /// Puts a record that came again with another content into the chain.
    static func sealDiffering(_ row: Row, in database: Database) throws {
        let number: Int64 = row["n"]
        var content = ChainContent()
        content.add(fields: fields(ofDiffering: row))
        try append(
            .differing, site: row["site"], epoch: row["epoch"], from: number, to: number, content,
            in: database)
    }

    static func fields(ofDiffering row: Row) -> [String] {
        let (number, at): (Int64, Int64) = (row["n"], row["at_ms"])
        return [String(number), String(at), row["data"]]
    }
}
