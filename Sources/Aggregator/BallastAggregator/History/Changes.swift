import GRDB
import JSONText

/// A table whose rows change: each new state of a row stands in the history before it stands in its table, so
/// that the table follows from the history as records do.
///
/// Log-ins are not among them: they are secrets that end within a day, and each begin and end is a request.
enum KeptTable: String, CaseIterable {
    case alarm
    case notice = "alarm_notice"
    case summary = "alarm_summary"
    case dispatch
    case dispatchEvent = "dispatch_event"
    case contradiction

    /// Those that the history has; the key first. What became of a notice on its way is no part of it.
    var columns: [String] {
        switch self {
        case .alarm:
            [
                "rule", "site", "subject", "state", "raised_ms", "since_ms", "acknowledged_by",
                "acknowledged_ms", "acknowledged_why", "shelved_by", "shelved_ms", "shelved_why",
                "shelved_until_ms", "escalated", "text",
            ]
        case .notice: ["id", "way", "told", "severity", "rule", "site", "subject", "text", "at_ms"]
        case .summary: ["id", "day"]
        case .dispatch:
            [
                "id", "place", "priority", "reason", "power", "limit_w", "from_ms", "until_ms", "asked_by",
                "asked_ms", "state", "length",
            ]
        case .dispatchEvent: ["row", "id", "at_ms", "what"]
        case .contradiction:
            ["id", "site", "sequence", "first", "first_answer", "state", "answer", "at_ms"]
        }
    }

    /// Leading columns that name the row.
    var keyLength: Int { self == .alarm ? 3 : 1 }

    private var keys: String { columns.prefix(keyLength).joined(separator: ", ") }

    fileprivate var insertion: String {
        let places = columns.map { _ in "?" }.joined(separator: ", ")
        let new = columns.dropFirst(keyLength).map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        guard self == .notice else {
            return "INSERT INTO \(rawValue) (\(columns.joined(separator: ", "))) VALUES (\(places)) "
                + "ON CONFLICT (\(keys)) DO UPDATE SET \(new)"
        }
        return "INSERT INTO alarm_notice (\(columns.joined(separator: ", ")), tries, due_ms) "
            + "VALUES (\(places), 0, 0)"
    }

    fileprivate var removal: String {
        let named = columns.prefix(keyLength).map { "\($0) = ?" }.joined(separator: " AND ")
        return "DELETE FROM \(rawValue) WHERE \(named)"
    }

    /// All rows, as far as the history has them.
    var selection: String {
        "SELECT \(columns.joined(separator: ", ")) FROM \(rawValue) ORDER BY \(keys)"
    }
}

/// A row as it is from now on; with its key alone it is gone.
struct KeptChange {
    var table: KeptTable
    var values: [DatabaseValue]

    init(_ table: KeptTable, _ values: [(any DatabaseValueConvertible)?]) {
        self.table = table
        self.values = values.map { $0?.databaseValue ?? .null }
    }

    init(_ table: KeptTable, row: Row) { (self.table, values) = (table, Array(row.databaseValues)) }

    var isGone: Bool { values.count == table.keyLength }

    /// A JSON array of whole numbers, texts and nulls: the tables hold nothing else.
    var text: String {
        let parts = values.map { value -> String in
            switch value.storage {
            case .null: "null"
            case .int64(let number): String(number)
            case .string(let text): JSONText.quoted(text)
            case .double, .blob: JSONText.quoted(value.description)
            }
        }
        return "[\(parts.joined(separator: ","))]"
    }

    /// The names of the row, as one text.
    var key: String { KeptChange(table, key: values).text }

    private init(_ table: KeptTable, key values: [DatabaseValue]) {
        (self.table, self.values) = (table, Array(values.prefix(table.keyLength)))
    }

    /// - Throws: where it is not as it was written.
    init(_ table: KeptTable, text: String) throws(JSONError) {
        var values: [DatabaseValue] = []
        var cursor = JSONCursor(Array(text.utf8))
        try cursor.array { (_, cursor) throws(JSONError) in
            if cursor.isAtString {
                values.append(try cursor.string().databaseValue)
            } else if cursor.isAtNull {
                _ = try cursor.skipValue()
                values.append(.null)
            } else {
                values.append(try cursor.integer().databaseValue)
            }
        }
        try cursor.end()
        guard values.count == table.columns.count || values.count == table.keyLength else {
            throw JSONError("has \(values.count) values", at: 0)
        }
        (self.table, self.values) = (table, values)
    }
}

extension TelemetryStore {
    static func createChanges(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE change (
                    seq INTEGER PRIMARY KEY AUTOINCREMENT, what TEXT NOT NULL, row TEXT NOT NULL)
                """)
        // What lies there already is the history's first word of it.
        var found: [KeptChange] = []
        for table in KeptTable.allCases where try database.tableExists(table.rawValue) {
            found += try Row.fetchAll(database, sql: table.selection).map { KeptChange(table, row: $0) }
        }
        try note(found, in: database)
    }

    /// Puts rows into their tables and into the history, in the caller's transaction.
    static func put(_ changes: [KeptChange], in database: Database) throws {
        for change in changes {
            let sql = change.isGone ? change.table.removal : change.table.insertion
            try database.run(sql, StatementArguments(change.values))
        }
        try note(changes, in: database)
    }

    private static func note(_ changes: [KeptChange], in database: Database) throws {
        guard !changes.isEmpty else { return }
        for change in changes {
            try database.run(
                "INSERT INTO change (what, row) VALUES (?, ?)", [change.table.rawValue, change.text])
        }
        let last = database.lastInsertedRowID
        let from = last - Int64(changes.count) + 1
        let content = try content(ofChanges: from, last, in: database)
        try append(.change, from: from, to: last, content, in: database)
    }

    static func content(ofChanges from: Int64, _ to: Int64, in database: Database) throws -> ChainContent {
        var content = ChainContent()
        let rows = try Row.fetchCursor(
            database, sql: "SELECT seq, what, row FROM change WHERE seq BETWEEN ? AND ? ORDER BY seq",
            arguments: [from, to])
        while let row = try rows.next() {
            let number: Int64 = row["seq"]
            content.add(fields: [String(number), row["what"], row["row"]])
        }
        return content
    }

    /// The first row that is not as its last change left it; `nil` where all are.
    static func faultOfKept(in database: Database) throws -> String? {
        guard try database.tableExists("change") else { return nil }
        for table in KeptTable.allCases where try database.tableExists(table.rawValue) {
            var last: [String: String] = [:]
            let changes = try Row.fetchCursor(
                database, sql: "SELECT row FROM change WHERE what = ? ORDER BY seq",
                arguments: [table.rawValue])
            while let row = try changes.next() {
                do throws(JSONError) {
                    let change = try KeptChange(table, text: row["row"])
                    last[change.key] = change.isGone ? nil : change.text
                } catch { return "a change of \(table.rawValue) cannot be read" }
            }
            let rows = try Row.fetchCursor(database, sql: table.selection)
            while let row = try rows.next() {
                let own = KeptChange(table, row: row)
                guard last.removeValue(forKey: own.key) == own.text else {
                    return "\(own.key) of \(table.rawValue) was changed"
                }
            }
            if let missing = last.keys.min() { return "\(missing) of \(table.rawValue) is missing" }
        }
        return nil
    }
}
