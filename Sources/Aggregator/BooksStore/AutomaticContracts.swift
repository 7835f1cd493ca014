import ExactAmounts
import GRDB

/// Contracts that come into force by themselves: when their window begins, or when they are agreed within it.
///
/// Whatever changes the books first brings into force what was due until then, and so does the upkeep: so it
/// is as if it had happened at that very time, whoever settles what and when. A buyer whose wallet has not
/// enough then has no contract: whether it holds is nobody's to choose once its energy has flowed.
enum AutomaticContracts {
    /// Those that are agreed, and since when they are due.
    static let table = """
        CREATE TABLE books_due (
            contract TEXT PRIMARY KEY REFERENCES books_contract, at_s INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        CREATE INDEX books_due_at ON books_due (at_s);
        INSERT INTO books_due SELECT id, max(from_s, traded_s) FROM books_contract WHERE is_automatic AND
            (SELECT event FROM books_contract_event WHERE contract = id ORDER BY n DESC LIMIT 1) = 'accept';
        """

    /// It was agreed, and waits.
    static func wait(_ one: ContractDesk.Standing, agreed time: UTCInstant, _ database: Database) throws {
        try database.execute(
            sql: "INSERT INTO books_due VALUES (?, ?)",
            arguments: [one.terms.id, max(one.terms.window.from, time).seconds])
    }

    /// It waits no more.
    static func forget(_ contract: String, _ database: Database) throws {
        try database.cachedStatement(sql: "DELETE FROM books_due WHERE contract = ?").execute(
            arguments: [contract])
    }

    /// Brings into force what is due, each at its own time, in the order of these and then of the trades.
    static func begin(at now: UTCInstant, _ database: Database) throws {
        let due = try database.cachedStatement(
            sql: """
                SELECT d.contract, d.at_s FROM books_due d JOIN books_contract c ON c.id = d.contract
                WHERE d.at_s <= ? ORDER BY d.at_s, c.traded_s, c.id
                """)
        let rows = try Row.fetchAll(due, arguments: [now.seconds])
        if rows.isEmpty { return }
        let (event, before) = (try BooksHistory.next(database), try RecordTree.newestTransfer(database))
        var changed: [RecordNotes.Name] = []
        for row in rows {
            let found = try ContractDesk.load("c.id = ?", [row["contract"] as String], database)
            guard let standing = found.first else { continue }
            try begin(standing, at: UTCInstant(seconds: row["at_s"]), database)
            changed.append(RecordNotes.Name(kind: .contract, id: standing.terms.id))
        }
        let roots = try RecordTree.note(intervalsOf: nil, transfersAfter: before, database)
        let notes = try RecordNotes.note(changed, event: event, database)
        try BooksHistory.note(
            "contracts", who: "settlement", at: now,
            "{\"contracts\":\(changed.count)\(roots)\(notes)}", database)
    }

    private static func begin(
        _ standing: ContractDesk.Standing, at time: UTCInstant, _ database: Database
    ) throws {
        do {
            try database.inSavepoint {
                _ = try ContractDesk.take(.activate, standing, at: time, "settlement", database)
                return .commit
            }
        } catch is BooksRefusal {
            _ = try ContractDesk.take(.cancel, standing, at: time, "settlement", database)
        }
    }
}
