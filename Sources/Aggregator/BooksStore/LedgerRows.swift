import ExactAmounts
import GRDB
import Ledger

/// Posts to the ledger in one transaction: the accounts that are named are loaded once, the pure ledger
/// decides, and what it decided is written.
struct LedgerGroup {
    private struct Found {
        var id: Int64
        var standing: Ledger.Standing
    }

    private let database: Database
    private let look: Statement
    private let posting: Statement
    private let transfer: Statement
    private var known: [AccountKey: Found] = [:]
    private var number: Int64?

    init(_ database: Database) throws {
        self.database = database
        look = try database.cachedStatement(
            sql: "SELECT id, balance, held, floor FROM books_account WHERE name = ? AND asset = ?")
        posting = try database.cachedStatement(sql: "INSERT INTO books_posting VALUES (?, ?, ?, ?)")
        transfer = try database.cachedStatement(sql: "INSERT INTO books_transfer VALUES (?, ?, ?, ?)")
    }

    private mutating func find(_ key: AccountKey) throws -> Found? {
        if let found = known[key] { return found }
        guard let row = try Row.fetchOne(look, arguments: [key.name.text, key.asset.code]) else { return nil }
        let floor: Int64? = row["floor"]
        let found = Found(
            id: row["id"],
            standing: Ledger.Standing(
                balance: MinorUnits(row["balance"]), held: MinorUnits(row["held"]),
                floor: floor.map { MinorUnits($0) }))
        known[key] = found
        return found
    }

    mutating func standing(_ key: AccountKey) throws -> Ledger.Standing? { try find(key)?.standing }

    /// Opens the account where it is not open.
    mutating func open(_ key: AccountKey, floor: MinorUnits?, party: String?) throws {
        if try find(key) != nil { return }
        try database.cachedStatement(
            sql: "INSERT INTO books_account (name, asset, party, floor) VALUES (?, ?, ?, ?)"
        ).execute(arguments: [key.name.text, key.asset.code, party, floor?.count])
    }

    /// Posts a transfer whole, or says why not; then nothing has changed.
    mutating func post(_ wanted: Transfer, key: String) throws {
        var ledger = try part(wanted.postings.map(\.account))
        do { try ledger.apply(.post(wanted), key: key) } catch {
            throw BooksRefusal.impossible(error.text)
        }
        try write(wanted, key)
        keep(ledger, wanted.postings.map(\.account))
    }

    /// Sets an amount aside, or gives it back where it is negative.
    mutating func hold(_ account: AccountKey, _ amount: MinorUnits) throws {
        var ledger = try part([account])
        do {
            if amount > .zero {
                try ledger.apply(.hold(account, amount), key: "hold")
            } else {
                guard let found = known[account] else { throw LedgerRefusal.unknownAccount(account) }
                ledger = Ledger(part: [account: found.standing], holds: ["h": (account, -amount)])
                try ledger.apply(.release(hold: "h"), key: "release")
            }
        } catch let refusal as LedgerRefusal { throw BooksRefusal.impossible(refusal.text) }
        try database.cachedStatement(sql: "UPDATE books_account SET held = held + ? WHERE id = ?").execute(
            arguments: [amount.count, known[account]?.id])
        keep(ledger, [account])
    }

    private mutating func part(_ accounts: [AccountKey]) throws -> Ledger {
        var part: [AccountKey: Ledger.Standing] = [:]
        for account in accounts { part[account] = try find(account)?.standing }
        return Ledger(part: part)
    }

    private mutating func keep(_ ledger: Ledger, _ accounts: [AccountKey]) {
        for account in accounts {
            if let standing = ledger.standing(account) { known[account]?.standing = standing }
        }
    }

    private mutating func write(_ wanted: Transfer, _ key: String) throws {
        let next: Int64
        if let number {
            next = number + 1
        } else {
            let last = try database.cachedStatement(sql: "SELECT coalesce(max(id), 0) FROM books_transfer")
            next = (try Int64.fetchOne(last) ?? 0) + 1
        }
        number = next
        // What comes goes before what leaves: the database looks at the floors after each posting.
        let ordered = wanted.postings.enumerated().sorted {
            ($1.element.amount, $0.offset) < ($0.element.amount, $1.offset)
        }
        for (leg, one) in ordered {
            try posting.execute(arguments: [next, leg, known[one.account]?.id, one.amount.count])
        }
        try transfer.execute(arguments: [next, key, wanted.at.seconds, wanted.text])
    }
}

/// The ledger in the database, one thing at a time.
enum LedgerRows {
    static func balance(_ name: AccountName?, _ asset: Asset, _ database: Database) throws -> MinorUnits {
        guard let name else { return .zero }
        var group = try LedgerGroup(database)
        return try group.standing(AccountKey(name, asset))?.balance ?? .zero
    }

    /// Opens the account where it is not open.
    static func open(
        _ key: AccountKey, floor: MinorUnits?, party: String?, _ database: Database
    ) throws {
        var group = try LedgerGroup(database)
        try group.open(key, floor: floor, party: party)
    }

    /// Posts a transfer whole, or says why not.
    static func post(_ transfer: Transfer, key: String, _ database: Database) throws {
        var group = try LedgerGroup(database)
        try group.post(transfer, key: key)
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
