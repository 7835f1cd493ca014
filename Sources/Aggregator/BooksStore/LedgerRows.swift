import ExactAmounts
import GRDB
import Ledger

/// The ledger in the database: the accounts that a command names are loaded, the pure ledger decides, and
/// what it decided is written.
enum LedgerRows {
    private struct Found {
        var id: Int64
        var standing: Ledger.Standing
    }

    private static func find(_ key: AccountKey, _ database: Database) throws -> Found? {
        let statement = try database.cachedStatement(
            sql: "SELECT id, balance, held, floor FROM books_account WHERE name = ? AND asset = ?")
        let row = try Row.fetchOne(statement, arguments: [key.name.text, key.asset.code])
        return row.map { row in
            let floor: Int64? = row["floor"]
            return Found(
                id: row["id"],
                standing: Ledger.Standing(
                    balance: MinorUnits(row["balance"]), held: MinorUnits(row["held"]),
                    floor: floor.map { MinorUnits($0) }))
        }
    }

    static func balance(_ name: AccountName?, _ asset: Asset, _ database: Database) throws -> MinorUnits {
        guard let name else { return .zero }
        return try find(AccountKey(name, asset), database)?.standing.balance ?? .zero
    }

    /// Opens the account where it is not open.
    static func open(
        _ key: AccountKey, floor: MinorUnits?, party: String?, _ database: Database
    ) throws {
        if try find(key, database) != nil { return }
        try database.cachedStatement(
            sql: "INSERT INTO books_account (name, asset, party, floor) VALUES (?, ?, ?, ?)"
        ).execute(arguments: [key.name.text, key.asset.code, party, floor?.count])
    }

    /// Posts a transfer whole, or says why not.
    static func post(_ transfer: Transfer, key: String, _ database: Database) throws {
        var (part, ids): ([AccountKey: Ledger.Standing], [AccountKey: Int64]) = ([:], [:])
        for account in Set(transfer.postings.map(\.account)) {
            guard let found = try find(account, database) else { continue }
            part[account] = found.standing
            ids[account] = found.id
        }
        var ledger = Ledger(part: part)
        do { try ledger.apply(.post(transfer), key: key) } catch {
            throw BooksRefusal.impossible(error.text)
        }
        let next = try database.cachedStatement(sql: "SELECT coalesce(max(id), 0) + 1 FROM books_transfer")
        let number = try Int64.fetchOne(next) ?? 1
        let posting = try database.cachedStatement(sql: "INSERT INTO books_posting VALUES (?, ?, ?, ?)")
        // What comes goes before what leaves: the database looks at the floors after each posting.
        let ordered = transfer.postings.enumerated().sorted {
            ($1.element.amount, $0.offset) < ($0.element.amount, $1.offset)
        }
        for (leg, one) in ordered {
            try posting.execute(arguments: [number, leg, ids[one.account], one.amount.count])
        }
        try database.cachedStatement(sql: "INSERT INTO books_transfer VALUES (?, ?, ?, ?)").execute(
            arguments: [number, key, transfer.at.seconds, transfer.text])
    }

    /// The whole ledger as the pure one has it: for exports and checks, which read everything anyway.
    static func whole(_ database: Database) throws -> Ledger {
        var ledger = Ledger()
        var names: [Int64: AccountKey] = [:]
        let accounts = try Row.fetchCursor(database, sql: "SELECT id, name, asset FROM books_account")
        while let row = try accounts.next() {
            guard let name = AccountName(row["name"] as String), let asset = Asset(code: row["asset"]) else {
                throw BooksRefusal(500, "an account has a name that no account can have")
            }
            let key = AccountKey(name, asset)
            names[row["id"]] = key
            try ledger.apply(.open(key, floor: nil), key: "open \(name.text) \(asset.code)")
        }
        let transfers = try Row.fetchCursor(database, sql: "SELECT * FROM books_transfer ORDER BY at_s, id")
        let legs = try database.makeStatement(
            sql: "SELECT account, amount FROM books_posting WHERE transfer = ? ORDER BY leg")
        while let row = try transfers.next() {
            let rows = try Row.fetchAll(legs, arguments: [row["id"] as Int64])
            let postings = rows.compactMap { leg in
                names[leg["account"]].map { Posting($0, MinorUnits(leg["amount"])) }
            }
            let transfer = Transfer(
                at: UTCInstant(seconds: row["at_s"]), text: row["text"], postings: postings)
            try ledger.apply(.post(transfer), key: "post \(row["key"] as String)")
        }
        return ledger
    }
}
