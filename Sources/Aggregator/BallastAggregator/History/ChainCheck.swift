import GRDB

/// Goes through the whole chain and everything that it stands for, in the order in which it was stored.
struct ChainCheck {
    /// What was found: everything as it was stored, or the first thing that is not.
    enum Finding: Equatable, CustomStringConvertible {
        /// `cuts` are what retention has declared, in words, each with how often.
        case holds(entries: Int64, records: Int, head: String, cuts: [String] = [])
        case broken(String)

        var description: String {
            switch self {
            case .holds(let entries, let records, let head, let cuts):
                "holds: \(entries) entries, \(records) records, head \(head)"
                    + (cuts.isEmpty ? "" : "; declared cuts: \(cuts.joined(separator: ", "))")
            case .broken(let what): "broken: \(what)"
            }
        }
    }

    fileprivate struct Broken: Error { var what: String }

    /// A record as it lies there.
    fileprivate struct Lying {
        var chain: Int64
        var site: String
        var epoch: String
        var number: Int64
        var data: String
        /// When it came, where its entry holds that.
        var received: String?
        var mark: String
        var kind: String
        var time: Int64
        var event: String

        var name: String { "record \(number) of site \(site)" }

        /// Whether it is what was stored, and what it is asked for by says what it says itself. Of one that
        /// says no time nobody knows when it came but the clock here.
        var isAsStored: Bool {
            guard mark == ChainText.mark(data, received: received) else { return false }
            guard let own = EdgeReport.Record.reading(data) else { return true }
            return own.kind == kind && own.event == event.prefix(64) && own.time ?? time == time
        }
    }

    fileprivate let database: Database
    private let records: RowCursor
    private var next: Lying?
    fileprivate let found: RowCursor
    fileprivate var nextFound: Lying?
    fileprivate var seen = 0
    fileprivate var head = ChainHead(sequence: 0, hash: "")
    fileprivate var cuts: CutBook

    /// - Parameter known: an earlier head, which the chain must still have.
    static func run(_ database: Database, known: (sequence: Int64, hash: String)? = nil) throws -> Finding {
        do {
            var check = try ChainCheck(database)
            return try check.all(known)
        } catch let broken as Broken { return .broken(broken.what) }
    }

    private init(_ database: Database) throws {
        self.database = database
        // A copy of an older aggregator's database has records without an entry.
        let isWhole = try database.tableExists("cut")
        let columns = "SELECT * FROM record WHERE chain"
        records = try Row.fetchCursor(
            database, sql: columns + (isWhole ? " >= 0 ORDER BY rowid" : " > 0 ORDER BY rowid"))
        found = try Row.fetchCursor(database, sql: columns + " < 0 ORDER BY rowid")
        cuts = try CutBook(database)
        try step()
        nextFound = try found.next().map { Lying($0) }
    }

    private mutating func step() throws { next = try records.next().map { Lying($0) } }

    private mutating func all(_ known: (sequence: Int64, hash: String)?) throws -> Finding {
        let rows = try Row.fetchCursor(database, sql: "SELECT * FROM chain ORDER BY seq")
        while let row = try rows.next() {
            let entry = ChainEntry(
                sequence: row["seq"], kind: row["kind"], site: row["site"], epoch: row["epoch"],
                from: row["from_n"], to: row["to_n"], content: row["content"])
            while entry.sequence > head.sequence + 1 {
                // The cut that declares it stands further on, and is looked at there.
                guard let past = try cuts.past(head.sequence + 1) else { break }
                if let known, known.sequence > head.sequence, known.sequence < past.sequence {
                    throw Broken(
                        what: "entry \(known.sequence) was cut with those around it: give a later head")
                }
                head = past
                try compare(known)
            }
            guard entry.sequence == head.sequence + 1 else {
                throw Broken(what: "entry \(head.sequence + 1) is missing")
            }
            try look(at: entry)
            let hash: String = row["hash"]
            guard hash == entry.hash(after: head.hash) else {
                throw Broken(what: "\(entry.name): the entry itself was changed")
            }
            head = ChainHead(sequence: entry.sequence, hash: hash)
            try compare(known)
        }
        try checkEnd(known)
        return .holds(entries: head.sequence, records: seen, head: head.text, cuts: cuts.words)
    }

    private func compare(_ known: (sequence: Int64, hash: String)?) throws {
        guard let known, known.sequence == head.sequence, known.hash != head.hash else { return }
        throw Broken(
            what: "entry \(head.sequence) is not the one whose head was kept; the chain was made anew")
    }

    private func checkEnd(_ known: (sequence: Int64, hash: String)?) throws {
        if let next = next ?? nextFound {
            throw Broken(what: "record \(next.number) of site \(next.site) has no entry")
        }
        if let stray = try cuts.stray(seen: head.sequence) { throw Broken(what: stray) }
        let given = try Int64.fetchOne(database, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'chain'")
        try checkCaptures()
        if let last = [given, known?.sequence].compactMap({ $0 }).max(), last > head.sequence {
            throw Broken(what: "the end is cut: entries \(head.sequence + 1) to \(last) are missing")
        }
        let cut = try Row.fetchOne(
            database,
            sql: """
                SELECT site, stored_through FROM stream WHERE stored_through > (
                    SELECT max(coalesce(max(to_n), 0), (
                        SELECT coalesce(max(n), 0) FROM record
                        WHERE site = stream.site AND epoch = stream.epoch AND chain <= 0), (
                        SELECT coalesce(max(to_n), 0) FROM gap
                        WHERE site = stream.site AND epoch = stream.epoch AND chain <= 0))
                    FROM chain WHERE site = stream.site AND epoch = stream.epoch AND kind = 'report')
                """)
        if let cut {
            let (site, through): (String, Int64) = (cut["site"], cut["stored_through"])
            throw Broken(what: "the end is cut: site \(site) was told that all through \(through) is stored")
        }
        try checkStreams()
        if let stray = try StrayRows.first(in: database) { throw Broken(what: stray) }
        if let fault = try TelemetryStore.faultOfKept(in: database) { throw Broken(what: fault) }
    }

    /// Each stream stands where its newest report put it: what is told and what is shown as the newest follow
    /// from it.
    private func checkStreams() throws {
        let sql = "SELECT EXISTS (SELECT 1 FROM grdb_migrations WHERE identifier = 'turns')"
        guard try Bool.fetchOne(database, sql: sql) == true else { return }
        let moved = try Row.fetchOne(
            database,
            sql: """
                SELECT told.site AS site FROM (
                    SELECT site, epoch, max(to_n) AS last, max(seq) AS turn FROM chain
                    WHERE kind = 'report' GROUP BY site, epoch) AS told
                LEFT JOIN stream ON stream.site = told.site AND stream.epoch = told.epoch
                WHERE stored_through IS NULL OR stored_through < last OR rolled_through > stored_through
                    OR stream.turn < told.turn OR (stream.turn > told.turn AND NOT EXISTS (
                        SELECT 1 FROM cut WHERE stream.turn BETWEEN from_seq AND to_seq))
                """)
        guard let moved else { return }
        let site: String = moved["site"]
        throw Broken(what: "a stream of site \(site) is not where its reports put it")
    }

    private mutating func look(at entry: ChainEntry) throws {
        var content = ChainContent()
        switch ChainEntry.Kind(rawValue: entry.kind) {
        case .report: try report(entry, &content)
        case .audit: try audit(entry, &content)
        case .lease, .result: try lease(entry, &content)
        case .capture: if try !capture(entry, &content) { return }
        case .dropped: break
        case .differing: try differing(entry, &content)
        case .found: try found(entry, &content)
        case .change:
            content = try TelemetryStore.content(ofChanges: entry.from, entry.to, in: database)
        case .cut: try cuts.take(entry, &content)
        case nil: throw Broken(what: "\(entry.name): there is no such kind")
        }
        // Of an entry that retention has taken something from, what is left is known instead.
        guard content.digest == (try cuts.rest(of: entry.sequence) ?? entry.content) else {
            throw Broken(what: "\(entry.name): it is not what was stored")
        }
    }

    private mutating func report(_ entry: ChainEntry, _ content: inout ChainContent) throws {
        var numbers: [Int64] = []
        while let record = next, record.chain <= entry.sequence {
            let name = record.name
            guard record.chain > 0 else { throw Broken(what: "\(name) has no entry") }
            guard record.chain == entry.sequence, record.site == entry.site, record.epoch == entry.epoch
            else {
                throw Broken(what: "\(name) is not where it was stored")
            }
            guard record.isAsStored else { throw Broken(what: "\(name) was changed") }
            content.add(record: record.number, record.data, received: record.received)
            numbers.append(record.number)
            seen += 1
            try step()
        }
        let gaps = try Row.fetchAll(
            database,
            sql: """
                SELECT from_n, to_n FROM gap WHERE chain = ? AND site = ? AND epoch = ? ORDER BY from_n
                """, arguments: [entry.sequence, entry.site, entry.epoch]
        ).map { row -> ClosedRange<Int64> in row["from_n"]...max(row["from_n"], row["to_n"]) }
        for gap in gaps { content.add(gap: gap) }
        guard content.digest != (try cuts.rest(of: entry.sequence) ?? entry.content) else { return }
        // Which one is missing is known only where the entry is one stretch of records.
        guard gaps.isEmpty, entry.from <= entry.to, try cuts.rest(of: entry.sequence) == nil else { return }
        let present = Set(numbers)
        let missing = (entry.from...entry.to).lazy.prefix(100_000).first { !present.contains($0) }
        if let missing {
            throw Broken(what: "record \(missing) of site \(entry.site) is missing")
        }
    }

    private func audit(_ entry: ChainEntry, _ content: inout ChainContent) throws {
        let rows = try Row.fetchCursor(
            database, sql: "SELECT * FROM audit WHERE seq BETWEEN ? AND ? ORDER BY seq",
            arguments: [entry.from, entry.to])
        while let row = try rows.next() { content.add(fields: TelemetryStore.fields(ofAudit: row)) }
    }

    private func lease(_ entry: ChainEntry, _ content: inout ChainContent) throws {
        let found = try Row.fetchOne(
            database, sql: "SELECT * FROM lease WHERE site = ? AND sequence = ?",
            arguments: [entry.site, entry.from])
        guard let found else {
            throw Broken(what: "lease \(entry.from) of site \(entry.site) is missing")
        }
        let isResult = entry.kind == ChainEntry.Kind.result.rawValue
        content.add(fields: TelemetryStore.fields(ofLease: found, isResult: isResult))
    }
}

extension ChainCheck {
    /// - Returns: whether it is here; one that has made room has an entry of that.
    private func capture(_ entry: ChainEntry, _ content: inout ChainContent) throws -> Bool {
        let name = "capture \(entry.epoch) of site \(entry.site)"
        let found = try Row.fetchOne(
            database, sql: "SELECT * FROM capture WHERE chain = ?", arguments: [entry.sequence])
        guard let found else {
            let sql =
                "SELECT 1 FROM chain WHERE kind = 'dropped' AND seq > ? AND site = ? AND epoch = ? AND from_n = ?"
            let isDropped = try Bool.fetchOne(
                database, sql: sql,
                arguments: [entry.sequence, entry.site, entry.epoch, entry.sequence])
            guard isDropped == true else { throw Broken(what: "\(name) is missing") }
            return false
        }
        let (own, of, digest): (String, String, String) = (found["name"], found["site"], found["sha256"])
        guard own == entry.epoch, of == entry.site else { throw Broken(what: "\(name) has another name") }
        let whole = try TelemetryStore.whole(own, of: of, in: database)
        guard Int64(whole.count) == entry.to, TelemetryStore.digest(whole) == digest else {
            throw Broken(what: "\(name) was changed")
        }
        content.add(fields: TelemetryStore.fields(ofCapture: found))
        return true
    }

    /// Whole ones that no entry stands for. A copy of an older aggregator's database has none in its chain.
    private func checkCaptures() throws {
        guard try database.tableExists("capture"),
            try database.columns(in: "capture").contains(where: { $0.name == "chain" })
        else { return }
        let stray = try Row.fetchOne(
            database,
            sql: """
                SELECT site, name FROM capture WHERE stored = bytes AND NOT EXISTS (
                    SELECT 1 FROM chain WHERE seq = capture.chain AND kind = 'capture')
                """)
        if let stray {
            let (site, name): (String, String) = (stray["site"], stray["name"])
            throw Broken(what: "capture \(name) of site \(site) has no entry")
        }
    }
}

extension ChainCheck.Lying {
    fileprivate init(_ row: Row) {
        self.init(
            chain: row["chain"], site: row["site"], epoch: row["epoch"], number: row["n"], data: row["data"],
            received: ChainText.received(row), mark: row["mark"], kind: row["kind"], time: row["t_ms"],
            event: row["event"])
    }
}

/// What came again, and what was there before the chain.
extension ChainCheck {
    fileprivate func differing(_ entry: ChainEntry, _ content: inout ChainContent) throws {
        let sql = "SELECT * FROM differing WHERE site = ? AND epoch = ? AND n = ?"
        let row = try Row.fetchOne(database, sql: sql, arguments: [entry.site, entry.epoch, entry.from])
        guard let row else {
            throw Broken(
                what: "record \(entry.from) of site \(entry.site) that came with another content is missing")
        }
        content.add(fields: TelemetryStore.fields(ofDiffering: row))
    }

    fileprivate mutating func found(_ entry: ChainEntry, _ content: inout ChainContent) throws {
        guard entry.epoch == "records" else {
            let rows = try Row.fetchCursor(
                database, sql: "SELECT * FROM gap WHERE chain = ? ORDER BY site, epoch, from_n",
                arguments: [-entry.sequence])
            while let row = try rows.next() { content.add(fields: TelemetryStore.found(gap: row)) }
            return
        }
        while let record = nextFound, -record.chain <= entry.sequence {
            guard -record.chain == entry.sequence else {
                throw Broken(what: "\(record.name) is not where it was found")
            }
            guard record.isAsStored else { throw Broken(what: "\(record.name) was changed") }
            content.add(fields: [record.site, record.epoch, String(record.number), record.data])
            seen += 1
            nextFound = try found.next().map { Lying($0) }
        }
    }
}

extension TelemetryStore {
    static func fields(ofAudit row: Row) -> [String] {
        let names = ["seq", "at_ms", "who", "address", "method", "path", "status", "why", "count"]
        return names.map { text(row[$0]) }
    }

    /// What a lease was, or what became of it.
    static func fields(ofLease row: Row, isResult: Bool) -> [String] {
        let names =
            isResult
            ? ["sequence", "state", "answer"]
            : ["sequence", "dispatch", "power", "until", "asked_by", "reason", "asked_at", "bytes"]
        return names.map { text(row[$0]) }
    }

    private static func text(_ value: DatabaseValue) -> String { value.description }
}
