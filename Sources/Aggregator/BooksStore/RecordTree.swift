import ExactAmounts
import GRDB

/// The records that an event of the history stands for, each a leaf of a tree whose root the event names: so
/// a record that is changed afterwards shows, and one can be proven without the others.
struct RecordTree {
    /// A record as it is hashed.
    struct Record {
        var text: String
        /// Whose it is.
        var parties: Set<String>
        /// Whose interval it is.
        var resource: String?
        /// Whether words stand in it that go with an erased person.
        var hasWords = false
        /// What was told, where words of it are erased.
        var told: [UInt8]?
        var leaf: [UInt8] { told ?? BooksHistory.leaf(text) }
    }

    /// How the fields of a record stand in its text.
    enum Form {
        /// Each on a line and as JSON: no field holds a line break, and one set of fields has this text.
        case json
        /// Each on a line as it is, by which roots were made before: where people wrote line breaks,
        /// fields cannot be told apart. No text of this form begins with a quotation mark; all in JSON do.
        case plain
    }

    enum Field {
        case text(String)
        case number(Int64)

        static func texts(_ row: Row, _ names: [String]) -> [Field] { names.map { .text(row[$0]) } }
        static func numbers(_ row: Row, _ names: [String]) -> [Field] { names.map { .number(row[$0]) } }

        func line(_ form: Form) -> String {
            switch (self, form) {
            case (.number(let number), .json), (.number(let number), .plain): "\(number)\n"
            case (.text(let text), .json): JSONOut.text(text) + "\n"
            case (.text(let text), .plain): text + "\n"
            }
        }
    }

    var records: [Record]

    var root: String { BooksHistory.root(records.map(\.leaf)) }

    private mutating func keep(_ kind: String, of event: Int64, _ database: Database) throws {
        for (number, leaf) in try ErasedWords.leaves(event, kind, database)
        where records.indices.contains(number) { records[number].told = leaf }
    }

    private static func lines(_ fields: [Field], _ form: Form) -> String {
        fields.map { $0.line(form) }.joined()
    }

    /// The intervals that an event brought, or those of one resource and beginning.
    static func intervals(
        of event: Int64, _ database: Database, _ form: Form = .json
    ) throws -> RecordTree {
        let statement = try database.cachedStatement(
            sql: """
                SELECT i.*, r.id AS name, r.party FROM books_interval i
                JOIN books_resource r ON r.number = i.resource
                WHERE event = ? ORDER BY i.resource, i.kind, start_s, revision
                """)
        var tree = RecordTree(
            records: try Row.fetchAll(statement, arguments: [event]).map { row in
                let numbers = [
                    "start_s", "revision", "import_wh", "export_wh", "is_measured", "is_production",
                ]
                let fields =
                    [.text("interval")] + Field.texts(row, ["name", "kind"]) + Field.numbers(row, numbers)
                    + [.text(row["record"])]
                return Record(
                    text: lines(fields, form), parties: [row["party"]], resource: row["name"],
                    hasWords: row["record"] as String != "")
            })
        try tree.keep("interval", of: event, database)
        return tree
    }

    /// The readings of registers that an event brought.
    static func registers(
        of event: Int64, _ database: Database, _ form: Form = .json
    ) throws -> RecordTree {
        let statement = try database.cachedStatement(
            sql: """
                SELECT g.*, r.id AS name, r.party FROM books_register g
                JOIN books_resource r ON r.number = g.resource WHERE event = ? ORDER BY g.resource, meter, at_s
                """)
        var tree = RecordTree(
            records: try Row.fetchAll(statement, arguments: [event]).map { row in
                let fields =
                    [.text("register")] + Field.texts(row, ["name", "meter"])
                    + Field.numbers(row, ["at_s", "import_wh", "export_wh"])
                return Record(text: lines(fields, form), parties: [row["party"]], hasWords: true)
            })
        try tree.keep("register", of: event, database)
        return tree
    }

    static func noteRegisters(of event: Int64, _ database: Database) throws -> String {
        let tree = try registers(of: event, database)
        return tree.records.isEmpty ? "" : ",\"registers_root\":\"\(tree.root)\""
    }

    /// The bills of a run with their lines.
    static func bills(of run: Int64, _ database: Database, _ form: Form = .json) throws -> RecordTree {
        let found = try database.cachedStatement(
            sql: "SELECT * FROM books_line WHERE party = ? AND run = ? ORDER BY n")
        let bills = try Row.fetchAll(
            database, sql: "SELECT id, party, total FROM books_bill WHERE run = ? ORDER BY party",
            arguments: [run])
        return RecordTree(
            records: try bills.map { bill in
                let party: String = bill["party"]
                var text = lines(
                    [.text("bill"), .text(bill["id"]), .text(party), .number(bill["total"])], form)
                for row in try Row.fetchAll(found, arguments: [party, run]) {
                    let words = Field.texts(row, ["id", "kind", "reference", "adjusts", "exact"])
                    let numbers = ["price", "from_s", "until_s", "quantity_wh", "amount"]
                    text += lines(words + Field.numbers(row, numbers), form)
                }
                return Record(text: text, parties: [party])
            })
    }

    /// Transfers by their numbers, with their postings.
    static func transfers(
        _ numbers: ClosedRange<Int64>, _ database: Database, _ form: Form = .json
    ) throws -> RecordTree {
        let found = try database.cachedStatement(
            sql: """
                SELECT name, asset, party, amount FROM books_posting JOIN books_account a ON a.id = account
                WHERE transfer = ? ORDER BY leg
                """)
        let transfers = try database.cachedStatement(
            sql: "SELECT * FROM books_transfer WHERE id BETWEEN ? AND ? ORDER BY id")
        let rows = try Row.fetchAll(transfers, arguments: [numbers.lowerBound, numbers.upperBound])
        return RecordTree(
            records: try rows.map { row in
                let fields: [Field] = [
                    .text("transfer"), .text(row["key"]), .number(row["at_s"]), .text(row["text"]),
                ]
                var record = Record(text: lines(fields, form), parties: [])
                for leg in try Row.fetchAll(found, arguments: [row["id"] as Int64]) {
                    record.text += lines(
                        Field.texts(leg, ["name", "asset"]) + [.number(leg["amount"])], form)
                    if let party: String = leg["party"] { record.parties.insert(party) }
                }
                return record
            })
    }

    // MARK: In the history

    static func newestTransfer(_ database: Database) throws -> Int64 {
        let last = try database.cachedStatement(sql: "SELECT coalesce(max(id), 0) FROM books_transfer")
        return try Int64.fetchOne(last) ?? 0
    }

    /// What an event says of its records: the number of those that are numbered, the roots.
    static func note(
        intervalsOf event: Int64?, transfersAfter before: Int64, _ database: Database
    ) throws -> String {
        var text = ""
        if let event {
            let tree = try intervals(of: event, database)
            if !tree.records.isEmpty { text += ",\"intervals_root\":\"\(tree.root)\"" }
        }
        let last = try newestTransfer(database)
        if last > before {
            let root = try transfers(before + 1...last, database).root
            text += ",\"transfers\":[\(before + 1),\(last)],\"transfers_root\":\"\(root)\""
        }
        return text
    }

    /// The roots that an event's data names, with the records as they lie there now.
    static func trees(
        _ event: Int64, _ data: String, _ database: Database
    ) throws -> [(name: String, root: String, tree: RecordTree)] {
        var found: [(String, String, RecordTree)] = []
        /// In the form whose root was noted; in that of now where neither is.
        func add(_ name: String, _ make: (Form) throws -> RecordTree) throws {
            guard let root = member(name, data) else { return }
            let tree = try make(.json)
            let isOld = tree.root != root
            let old = isOld ? try make(.plain) : tree
            found.append((name, root, old.root == root ? old : tree))
        }
        try add("intervals_root") { try intervals(of: event, database, $0) }
        if let run = member("run", data).flatMap({ Int64($0.dropFirst()) }) {
            try add("bills_root") { try bills(of: run, database, $0) }
        }
        try add("registers_root") { try registers(of: event, database, $0) }
        try add("rows_root") { _ in try RecordNotes.tree(of: event, database) }
        if let range = range(data) { try add("transfers_root") { try transfers(range, database, $0) } }
        return found
    }

    /// A text of the data's own members, which are written here and have no quotes inside.
    private static func member(_ name: String, _ data: String) -> String? {
        // The last one: what people wrote stands before it.
        guard let place = data.ranges(of: "\"\(name)\":\"").last else { return nil }
        return String(data[place.upperBound...].prefix { $0 != "\"" })
    }

    static func range(_ data: String) -> ClosedRange<Int64>? {
        guard let place = data.ranges(of: "\"transfers\":[").last else { return nil }
        let numbers = data[place.upperBound...].prefix { $0 != "]" }.split(separator: ",").map { Int64($0) }
        guard numbers.count == 2, let first = numbers[0], let last = numbers[1], first <= last else {
            return nil
        }
        return first...last
    }

    /// Every event whose records are no longer as it noted them.
    static func findings(_ database: Database) throws -> [String] {
        var findings: [String] = []
        let events = try Row.fetchCursor(
            database, sql: "SELECT seq, data FROM books_event WHERE data LIKE '%\\_root\":%' ESCAPE '\\'")
        while findings.count < 20, let row = try events.next() {
            let seq: Int64 = row["seq"]
            for (name, root, tree) in try trees(seq, row["data"], database) where tree.root != root {
                findings.append("event \(seq): the \(name.dropLast(5)) are not as it noted them")
            }
        }
        return findings + (try RecordNotes.findings(database)) + (try unclaimed(database))
            + (try TransferNotes.findings(database))
    }

    /// Records that say an event brought them which named none.
    private static func unclaimed(_ database: Database) throws -> [String] {
        guard try database.tableExists("books_note") else { return [] }
        return try ["interval", "register"].flatMap { kind in
            try String.fetchAll(
                database,
                sql: """
                    SELECT '\(kind)s of event ' || event || ', which named none' FROM (
                        SELECT DISTINCT event FROM books_\(kind) WHERE event IS NOT NULL)
                    WHERE event NOT IN (
                        SELECT seq FROM books_event WHERE data LIKE '%"\(kind)s\\_root":"%' ESCAPE '\\') LIMIT 20
                    """)
        }
    }

    /// The records of an event that a caller asks for and may see, each with its way to the root.
    func proofs(_ name: String, _ wanted: (Record) -> Bool) -> [String] {
        let leaves = records.map(\.leaf)
        return records.indices.filter { records[$0].told == nil && wanted(records[$0]) }.prefix(100).map {
            index in
            JSONOut.object([
                ("root", JSONOut.text(name)), ("text", JSONOut.text(records[index].text)),
                ("path", BooksHistory.pathText(index, leaves)),
            ])
        }
    }
}
