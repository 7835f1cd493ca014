import GRDB
import Glibc
import JSONText

/// The history fed to an empty store, in its order and by the code that stores what comes: the tables must
/// come out as they are.
///
/// Not rebuilt are the aggregator's own readings of the clock (when a stream was heard, when a capture came),
/// captures that are not whole, what became of a mail on its way, log-ins, how far retention has looked, and
/// the books, which have a check of their own.
struct HistoryReplay {
    struct Outcome {
        /// For people.
        var lines: [String]
        /// Tables that came out otherwise.
        var differing: [String]
    }

    private static let entriesOfCommit = 1_000
    private let source: Database
    private let hasCuts: Bool

    /// - Parameter path: the database's; the empty store is made beside it, and taken away.
    static func run(_ source: Database, beside path: String) throws -> Outcome {
        let place = "\(path).replay-\(getpid())"
        func clear() { for end in ["", "-wal", "-shm"] { unlink(place + end) } }
        clear()
        defer { clear() }
        let target = try TelemetryStore(path: place)
        let outcome = try HistoryReplay(source).run(target)
        try target.close()
        return outcome
    }

    private init(_ source: Database) throws {
        self.source = source
        hasCuts = try Bool.fetchOne(source, sql: "SELECT EXISTS (SELECT 1 FROM cut)") ?? false
    }

    private func run(_ target: TelemetryStore) throws -> Outcome {
        try target.pool.write { try copyFound(to: $0) }
        let rows = try Row.fetchCursor(source, sql: "SELECT * FROM chain ORDER BY seq")
        var isOver = false
        while !isOver {
            try target.pool.write { database in
                for _ in 0..<Self.entriesOfCommit {
                    guard let row = try rows.next() else {
                        isOver = true
                        return
                    }
                    try feed(row, to: database)
                }
            }
        }
        try target.pool.write { database in
            try database.execute(sql: "DELETE FROM chain WHERE kind = 'gone'")
            while try TelemetryStore.rollUpSome(in: database) {}
        }
        return try target.pool.read { try TableDigest.compare(source, $0, hasCuts: hasCuts) }
    }

    // MARK: Before the chain

    /// What was there before the chain began has no order that anybody knows: it is taken as it was found.
    private func copyFound(to target: Database) throws {
        try copy("record", "chain < 0 ORDER BY rowid", to: target)
        try copy("gap", "chain < 0 ORDER BY site, epoch, from_n", to: target)
        for table in ["record", "gap"] {
            let last = table == "record" ? "n" : "to_n"
            try target.execute(
                sql: """
                    INSERT INTO stream (site, epoch, stored_through, first_seen, last_seen)
                    SELECT site, epoch, max(\(last)), '', '' FROM \(table) WHERE true GROUP BY site, epoch
                    ON CONFLICT (site, epoch)
                    DO UPDATE SET stored_through = max(stored_through, excluded.stored_through)
                    """)
        }
    }

    private func copy(
        _ table: String, _ condition: String, _ arguments: StatementArguments = [], to target: Database
    ) throws {
        let rows = try Row.fetchCursor(
            source, sql: "SELECT * FROM \(table) WHERE \(condition)", arguments: arguments)
        while let row = try rows.next() {
            let names = row.columnNames.joined(separator: ", ")
            let places = row.columnNames.map { _ in "?" }.joined(separator: ", ")
            try target.execute(
                sql: "INSERT INTO \(table) (\(names)) VALUES (\(places))",
                arguments: StatementArguments(row.databaseValues))
        }
    }

    // MARK: Entry by entry

    private func feed(_ row: Row, to target: Database) throws {
        let (sequence, from): (Int64, Int64) = (row["seq"], row["from_n"])
        let (site, epoch): (String, String) = (row["site"], row["epoch"])
        try bridge(to: sequence, in: target)
        switch ChainEntry.Kind(rawValue: row["kind"]) {
        case .report: try report(row, to: target)
        case .audit: try requests(row, to: target)
        case .lease:
            try copy("lease", "site = ? AND sequence = ?", [site, from], to: target)
            try target.execute(
                sql: "UPDATE lease SET state = 'waiting', answer = '' WHERE site = ? AND sequence = ?",
                arguments: [site, from])
            try TelemetryStore.seal(.lease, site, from, in: target)
        case .result:
            let sql = "SELECT state, answer FROM lease WHERE site = ? AND sequence = ?"
            let known = try Row.fetchOne(source, sql: sql, arguments: [site, from])
            try target.execute(
                sql: "UPDATE lease SET state = ?, answer = ? WHERE site = ? AND sequence = ?",
                arguments: [known?["state"] as String?, known?["answer"] as String?, site, from])
            try TelemetryStore.seal(.result, site, from, in: target)
        case .capture: try capture(row, to: target)
        case .differing:
            try copy("differing", "site = ? AND epoch = ? AND n = ?", [site, epoch, from], to: target)
            let sql = "SELECT * FROM differing WHERE site = ? AND epoch = ? AND n = ?"
            let copied = try Row.fetchOne(target, sql: sql, arguments: [site, epoch, from])
            if let copied { try TelemetryStore.sealDiffering(copied, in: target) }
        case .change: try changes(row, to: target)
        case .cut:
            try copy("cut", "seq = ? ORDER BY from_seq", [sequence], to: target)
            try take(row, in: target)
        case .dropped, .found, nil: try take(row, in: target)
        }
    }

    /// An entry as it stands.
    private func take(_ row: Row, in target: Database) throws {
        try target.execute(
            sql: "INSERT OR REPLACE INTO chain VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            arguments: StatementArguments(row.databaseValues))
    }

    /// Over entries that retention has taken, the chain goes on from the hash that it has declared.
    private func bridge(to sequence: Int64, in target: Database) throws {
        while try TelemetryStore.head(in: target).sequence + 1 < sequence {
            let head = try TelemetryStore.head(in: target)
            guard let past = try CutBook(source).past(head.sequence + 1) else { return }
            try target.execute(
                sql: "INSERT INTO chain VALUES (?, 'gone', '', '', 0, 0, '', ?)",
                arguments: [past.sequence, past.hash])
        }
    }

    private func report(_ row: Row, to target: Database) throws {
        let (sequence, from, to): (Int64, Int64, Int64) = (row["seq"], row["from_n"], row["to_n"])
        let (site, epoch): (String, String) = (row["site"], row["epoch"])
        let heading = "{\"site\":\(JSONText.quoted(site)),\"epoch\":\"\(epoch)\""
        var report = try EdgeReport(json: Array((heading + "}").utf8))
        let rows = try Row.fetchCursor(
            source,
            sql: """
                SELECT n, data, t_ms, received_at, mark FROM record
                WHERE site = ? AND epoch = ? AND n BETWEEN ? AND ? AND chain = ? ORDER BY rowid
                """, arguments: [site, epoch, from, to, sequence])
        while let stored = try rows.next() {
            let (number, data): (Int64, String) = (stored["n"], stored["data"])
            let text = "\(heading),\"records\":[{\"n\":\(number),\"data\":\(data)}]}"
            guard var record = try EdgeReport(json: Array(text.utf8)).records.first else { continue }
            // Without a time of the site's own it was the clock here.
            record.time = record.time ?? stored["t_ms"]
            record.came = .init(at: stored["received_at"], isHeld: ChainText.received(stored) != nil)
            report.records.append(record)
        }
        report.gaps = try Row.fetchAll(
            source,
            sql: "SELECT from_n, to_n FROM gap WHERE site = ? AND epoch = ? AND chain = ? ORDER BY from_n",
            arguments: [site, epoch, sequence]
        ).map { gap -> ClosedRange<Int64> in gap["from_n"]...gap["to_n"] }
        report.covered = from...max(from, to)
        if hasCuts { try pass(site, epoch, from - 1, in: target) }
        _ = try TelemetryStore.store(report, in: target)
        if hasCuts, try CutBook(source).rest(of: sequence) != nil { try take(row, in: target) }
    }

    /// What came before a cut is stored as far as its site was told.
    private func pass(_ site: String, _ epoch: String, _ number: Int64, in target: Database) throws {
        try target.execute(
            sql: """
                INSERT INTO stream (site, epoch, stored_through, first_seen, last_seen) VALUES (?, ?, ?, '', '')
                ON CONFLICT (site, epoch)
                DO UPDATE SET stored_through = max(stored_through, excluded.stored_through)
                """, arguments: [site, epoch, number])
    }

    private func requests(_ row: Row, to target: Database) throws {
        let (from, to): (Int64, Int64) = (row["from_n"], row["to_n"])
        // Before it others may have been cut.
        try target.execute(sql: "DELETE FROM sqlite_sequence WHERE name = 'audit'")
        try target.execute(
            sql: "INSERT INTO sqlite_sequence VALUES ('audit', ?)", arguments: [from - 1])
        let rows = try Row.fetchAll(
            source, sql: "SELECT * FROM audit WHERE seq BETWEEN ? AND ? ORDER BY seq", arguments: [from, to])
        let entries = rows.map { row in
            AuditLog.Row(
                entry: AuditLog.Entry(
                    who: row["who"], address: row["address"], method: row["method"], path: row["path"],
                    status: row["status"], why: row["why"]),
                at: row["at_ms"], count: row["count"])
        }
        try TelemetryStore.insert(entries, in: target)
    }

    private func changes(_ row: Row, to target: Database) throws {
        let (from, to): (Int64, Int64) = (row["from_n"], row["to_n"])
        let rows = try Row.fetchAll(
            source, sql: "SELECT what, row FROM change WHERE seq BETWEEN ? AND ? ORDER BY seq",
            arguments: [from, to])
        let changes = try rows.compactMap { row in
            try KeptTable(rawValue: row["what"]).map { try KeptChange($0, text: row["row"]) }
        }
        try TelemetryStore.put(changes, in: target)
    }

    private func capture(_ row: Row, to target: Database) throws {
        let (site, name, sequence): (String, String, Int64) = (row["site"], row["epoch"], row["seq"])
        let sql = "SELECT EXISTS (SELECT 1 FROM capture WHERE site = ? AND name = ? AND chain = ?)"
        let isHere = try Bool.fetchOne(source, sql: sql, arguments: [site, name, sequence]) ?? false
        guard isHere else { return try take(row, in: target) }
        for table in ["capture", "capture_part"] {
            try copy(table, "site = ? AND name = ?", [site, name], to: target)
        }
        try TelemetryStore.sealCapture(name, of: site, in: target)
    }
}
