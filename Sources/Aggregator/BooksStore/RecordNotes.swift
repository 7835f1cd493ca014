import Crypto
import ExactAmounts
import FoundationEssentials
import GRDB

/// The versions of what may change: parties, zones, resources, contracts, batches; and each run. A command
/// that makes or changes one puts it down as it is then, and its event names the root of what it put down.
/// So a record that is changed by another way shows, and each of its versions can be proven.
///
/// A person's name and where something stands are not in it, for they go at an erasure; of an address only
/// its hash.
enum RecordNotes {
    enum Kind: String, CaseIterable, Sendable {
        case party, zone, resource, contract, batch, run
        /// All intervals or readings together that no event brought: those from before it was noted.
        case intervals, registers
    }

    struct Name: Hashable {
        var kind: Kind
        var id: String
    }

    static let table = """
        ALTER TABLE books_register ADD COLUMN event INTEGER;
        CREATE INDEX books_register_event ON books_register (event);
        CREATE TABLE books_note (
            event INTEGER NOT NULL, n INTEGER NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL, text TEXT NOT NULL,
            parties TEXT NOT NULL, PRIMARY KEY (event, n)) STRICT, WITHOUT ROWID;
        CREATE INDEX books_note_id ON books_note (kind, id, event);
        """

    /// What stands in an older database is put down as it is found.
    static func adopt(_ database: Database) throws {
        var names: [Name] = []
        for kind in Kind.allCases { names += try all(kind, database).map { Name(kind: kind, id: $0) } }
        if names.isEmpty { return }
        let root = try note(names, event: try BooksHistory.next(database), database)
        try BooksHistory.note(
            "found", who: "history", at: UTCInstant(seconds: 0), "{\"records\":\(names.count)\(root)}",
            database)
    }

    // MARK: Noting

    /// What a command has made or changed.
    static func touched(_ call: BooksCall, _ told: String, _ database: Database) throws -> [Name] {
        /// What was made is named first in the answer.
        func made(_ kind: Kind) -> [Name] {
            let parts = told.split(separator: "\"")
            return parts.count > 3 ? [Name(kind: kind, id: String(parts[3]))] : []
        }
        return switch call.operation {
        case .addParty: made(.party)
        case .addZone: made(.zone)
        case .addResource: made(.resource)
        case .addContract: made(.contract)
        case .addBatch: made(.batch)
        case .setResource: [Name(kind: .resource, id: call.id)]
        case .contractEvent: [Name(kind: .contract, id: call.id)]
        case .distribute: [Name(kind: .batch, id: call.id)]
        case .eraseParty:
            [Name(kind: .party, id: call.id)]
                + (try String.fetchAll(
                    database, sql: "SELECT id FROM books_resource WHERE party = ? ORDER BY id",
                    arguments: [call.id]
                ).map { Name(kind: .resource, id: $0) })
        case .addIntervals, .addIntervalsCSV, .addRegisters, .addTariffs, .transfer, .addHold, .endHold, .pay,
            .payOut, .moveCertificate, .parties, .zones, .resources, .intervals, .netto, .completeness,
            .tariffs, .contracts, .accounts, .trialBalance, .holds, .batches, .batch, .payouts, .runs, .bills,
            .bill, .billCSV, .billPage, .explain, .certificates, .leaderboard, .performance, .view,
            .interfaceCalls, .events, .roots, .proof, .exportParty:
            []
        }
    }

    /// Puts them down.
    ///
    /// - Returns: what their event says of it.
    static func note(_ names: [Name], event: Int64, _ database: Database) throws -> String {
        if names.isEmpty { return "" }
        for (place, name) in names.enumerated() {
            guard let record = try record(name, database) else { continue }
            try database.cachedStatement(sql: "INSERT INTO books_note VALUES (?, ?, ?, ?, ?, ?)").execute(
                arguments: [
                    event, place, name.kind.rawValue, name.id, record.text,
                    " \(record.parties.sorted().joined(separator: " ")) ",
                ])
        }
        return ",\"rows_root\":\"\(try tree(of: event, database).root)\""
    }

    /// What an event put down.
    static func tree(of event: Int64, _ database: Database) throws -> RecordTree {
        let rows = try Row.fetchAll(
            database, sql: "SELECT text, parties FROM books_note WHERE event = ? ORDER BY n",
            arguments: [event])
        return RecordTree(
            records: rows.map { row in
                RecordTree.Record(
                    text: row["text"],
                    parties: Set((row["parties"] as String).split(separator: " ").map(String.init)))
            })
    }

    // MARK: As it is

    private static func all(_ kind: Kind, _ database: Database) throws -> [String] {
        switch kind {
        case .party, .zone, .resource, .contract, .batch, .run:
            try String.fetchAll(database, sql: "SELECT id FROM books_\(kind.rawValue) ORDER BY id")
        case .intervals, .registers:
            try Int.fetchOne(
                database,
                sql: "SELECT 1 FROM books_\(kind.rawValue.dropLast()) WHERE event IS NULL LIMIT 1") == nil
                ? [] : ["unnoted"]
        }
    }

    /// What is said of it, with `:id` for its name; then what hangs on it.
    private static func statements(_ kind: Kind) -> [String] {
        switch kind {
        case .party:
            [
                """
                SELECT owners, address AS hashed, is_listed, erased_s IS NOT NULL AS erased FROM books_party
                WHERE id = :id
                """
            ]
        case .zone:
            ["SELECT grid, operator, block_s, cooperative FROM books_zone WHERE id = :id"]
        case .resource:
            [
                """
                SELECT party, zone, kind, export_max_w, demand_w, state, maintained_on, next_maintenance_on,
                    source AS hashed, from_s FROM books_resource WHERE id = :id
                """
            ]
        case .contract:
            [
                """
                SELECT kind, seller, buyer, resource, from_s, until_s, energy_wh, price, penalty, payment,
                    traded_s, is_automatic, asset FROM books_contract WHERE id = :id
                """,
                "SELECT version, energy_wh, price, at_s FROM books_terms WHERE contract = :id ORDER BY version",
                "SELECT n, event, at_s, who FROM books_contract_event WHERE contract = :id ORDER BY n",
                "SELECT paid, satoshi FROM books_escrow WHERE contract = :id",
            ]
        case .batch:
            ["SELECT resource, from_s, until_s, owners, at_s, shared FROM books_batch WHERE id = :id"]
        case .run:
            [
                """
                SELECT n, from_s, until_s, at_s, due_s, settled, corrected, open, tariffs FROM books_run
                WHERE id = :id
                """
            ]
        case .intervals, .registers: []
        }
    }

    private static func parties(_ name: Name, _ database: Database) throws -> Set<String> {
        let sql: String? =
            switch name.kind {
            case .party, .run, .intervals, .registers: nil
            case .zone:
                "SELECT grid FROM books_zone WHERE id = ?1 UNION SELECT operator FROM books_zone WHERE id = ?1"
            case .resource: "SELECT party FROM books_resource WHERE id = ?1"
            case .contract:
                "SELECT seller FROM books_contract WHERE id = ?1 UNION SELECT buyer FROM books_contract WHERE id = ?1"
            case .batch:
                "SELECT party FROM books_batch b JOIN books_resource r ON r.id = b.resource WHERE b.id = ?1"
            }
        guard let sql else { return name.kind == .party ? [name.id] : [] }
        return Set(try String.fetchAll(database, sql: sql, arguments: [name.id]))
    }

    /// `nil` where there is none of this name.
    private static func record(_ name: Name, _ database: Database) throws -> RecordTree.Record? {
        var text = "\(name.kind.rawValue)\n\(name.id)\n"
        for (place, sql) in statements(name.kind).enumerated() {
            let statement = try database.cachedStatement(sql: sql)
            let rows = try Row.fetchAll(statement, arguments: ["id": name.id])
            if place == 0, rows.isEmpty { return nil }
            for row in rows { text += words(row) + "\n" }
        }
        switch name.kind {
        case .run: text += try blocks(name.id, database)
        case .intervals, .registers: text += try unnoted(name.kind, database)
        case .party, .zone, .resource, .contract, .batch: break
        }
        return RecordTree.Record(text: text, parties: try parties(name, database))
    }

    private static func words(_ row: Row) -> String {
        row.map { name, value in
            if value.isNull { return "\(name)=" }
            if let number = Int64.fromDatabaseValue(value) { return "\(name)=\(number)" }
            let text = String.fromDatabaseValue(value) ?? ""
            return "\(name)=\(name == "hashed" ? BooksHistory.sha256(text) : text)"
        }.joined(separator: " ")
    }

    /// The hash of all blocks of a run, with what each of its entries comes to.
    private static func blocks(_ run: String, _ database: Database) throws -> String {
        var (hash, count) = (SHA256(), 0)
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT zone, start_s, export_wh, import_wh, grid_wh, losses_wh, entries FROM books_block
                WHERE run = (SELECT n FROM books_run WHERE id = ?) ORDER BY zone, start_s
                """, arguments: [run])
        while let row = try rows.next() {
            let numbers = ["start_s", "export_wh", "import_wh", "grid_wh", "losses_wh"]
            let words = numbers.map { "\(row[$0] as Int64)" }.joined(separator: " ")
            hash.update(data: Array("\(row["zone"] as String) \(words)\n".utf8))
            hash.update(data: row["entries"] as Data)
            count += 1
        }
        return "blocks=\(count) sha256=\(BooksHistory.hexadecimal(hash.finalize()))\n"
    }

    private static func unnoted(_ kind: Kind, _ database: Database) throws -> String {
        var (hash, count) = (SHA256(), 0)
        let columns =
            kind == .intervals
            ? "resource, kind, start_s, revision, import_wh, export_wh, is_measured, is_production, record"
            : "resource, meter, at_s, import_wh, export_wh"
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT \(columns) FROM books_\(kind.rawValue.dropLast()) WHERE event IS NULL
                ORDER BY 1, 2, 3, 4
                """)
        while let row = try rows.next() {
            hash.update(data: Array("\(words(row))\n".utf8))
            count += 1
        }
        return "count=\(count) sha256=\(BooksHistory.hexadecimal(hash.finalize()))\n"
    }

    // MARK: Checking

    /// Every record that is not as the history noted it last.
    static func findings(_ database: Database) throws -> [String] {
        guard try database.tableExists("books_note") else { return [] }
        var last: [Name: String] = [:]
        let rows = try Row.fetchCursor(
            database, sql: "SELECT event, kind, id, text FROM books_note ORDER BY event, n")
        while let row = try rows.next() {
            guard let kind = Kind(rawValue: row["kind"]) else { return ["a note of an unknown kind"] }
            last[Name(kind: kind, id: row["id"])] = row["text"]
        }
        var findings = try String.fetchAll(
            database,
            sql: """
                SELECT DISTINCT 'a note has no event ' || event FROM books_note WHERE event NOT IN (
                    SELECT seq FROM books_event WHERE data LIKE '%"rows\\_root":"%' ESCAPE '\\') LIMIT 20
                """)
        for kind in Kind.allCases {
            for id in try all(kind, database) {
                let name = Name(kind: kind, id: id)
                let noted = last.removeValue(forKey: name)
                guard let noted else {
                    findings.append("\(kind.rawValue) \(id) was never noted")
                    continue
                }
                if try record(name, database)?.text != noted {
                    findings.append("\(kind.rawValue) \(id) is not as it was noted last")
                }
            }
        }
        findings += last.keys.map { "\($0.kind.rawValue) \($0.id) was noted, and is gone" }.sorted()
        return Array(findings.prefix(20))
    }
}
