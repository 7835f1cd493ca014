import FoundationEssentials
import GRDB

/// What an erased party's meters were called, and the words of its intervals. Events name roots over them: so
/// the leaf of each such record stays when its words go, and the roots hold for all others.
enum ErasedWords {
    static let table = """
        CREATE TABLE books_erased_leaf (
            event INTEGER NOT NULL, kind TEXT NOT NULL, n INTEGER NOT NULL, leaf BLOB NOT NULL,
            PRIMARY KEY (event, kind, n)) STRICT, WITHOUT ROWID;
        """

    static func erase(_ party: String, _ database: Database) throws {
        for event in try events("interval", "AND record <> ''", party, database) {
            try keep("interval", event, party, database)
        }
        for event in try events("register", "", party, database) {
            try keep("register", event, party, database)
        }
        try database.execute(
            sql: """
                UPDATE books_interval SET record = '' WHERE record <> ''
                AND resource IN (SELECT number FROM books_resource WHERE party = ?)
                """, arguments: [party])
        let resources = try Int64.fetchAll(
            database, sql: "SELECT number FROM books_resource WHERE party = ?", arguments: [party])
        for resource in resources { try renameMeters(of: resource, database) }
    }

    private static func events(
        _ kind: String, _ condition: String, _ party: String, _ database: Database
    ) throws -> [Int64] {
        try Int64.fetchAll(
            database,
            sql: """
                SELECT DISTINCT event FROM books_\(kind) WHERE event IS NOT NULL \(condition)
                AND resource IN (SELECT number FROM books_resource WHERE party = ?)
                """, arguments: [party])
    }

    /// An interval without words is proven on as it is.
    private static func keep(
        _ kind: String, _ event: Int64, _ party: String, _ database: Database
    ) throws {
        let data = try String.fetchOne(
            database, sql: "SELECT data FROM books_event WHERE seq = ?", arguments: [event])
        // In the form whose root the event noted.
        let trees = try RecordTree.trees(event, data ?? "", database)
        guard let tree = trees.first(where: { $0.name == "\(kind)s_root" })?.tree else { return }
        let statement = try database.cachedStatement(
            sql: "INSERT OR IGNORE INTO books_erased_leaf VALUES (?, ?, ?, ?)")
        for (number, record) in tree.records.enumerated()
        where record.hasWords && record.parties.contains(party) {
            try statement.execute(arguments: [event, kind, number, Data(record.leaf)])
        }
    }

    /// Numbered in the order of their names, which is the order of their records.
    private static func renameMeters(of resource: Int64, _ database: Database) throws {
        let rows = try Row.fetchAll(
            database, sql: "SELECT * FROM books_register WHERE resource = ? ORDER BY meter, at_s",
            arguments: [resource])
        try database.execute(sql: "DELETE FROM books_register WHERE resource = ?", arguments: [resource])
        let insert = try database.cachedStatement(
            sql: "INSERT INTO books_register VALUES (?, ?, ?, ?, ?, ?)")
        var (meter, number): (String?, Int) = (nil, 0)
        for row in rows {
            if row["meter"] != meter { number += 1 }
            meter = row["meter"]
            let digits = String(number)
            let name = "erased-" + String(repeating: "0", count: max(0, 6 - digits.count)) + digits
            try insert.execute(arguments: [
                resource, name, row["at_s"] as Int64, row["import_wh"] as Int64, row["export_wh"] as Int64,
                row["event"] as Int64?,
            ])
        }
    }

    /// The leaves of records whose words are gone, by their places.
    static func leaves(_ event: Int64, _ kind: String, _ database: Database) throws -> [Int: [UInt8]] {
        // Who only looks at an older database finds it as it is.
        guard try database.tableExists("books_erased_leaf") else { return [:] }
        let statement = try database.cachedStatement(
            sql: "SELECT n, leaf FROM books_erased_leaf WHERE event = ? AND kind = ?")
        var leaves: [Int: [UInt8]] = [:]
        for row in try Row.fetchAll(statement, arguments: [event, kind]) {
            leaves[row["n"]] = Array(row["leaf"] as Data)
        }
        return leaves
    }
}
