import BooksFiles
import ConfigText
import ExactAmounts
import GRDB
import Ledger
import Settlement

/// Wallets and what moves between them.
enum TransferDesk {
    private struct Wish {
        var from: String
        var to: String
        var asset: Asset
        var amount: MinorUnits
        var text: String
    }

    /// Where amounts come from and go to that are not of these books.
    static let outside = "outside"

    static func transfer(_ call: BooksCall, _ database: Database) throws -> String {
        let wishes = try BooksBody.read(call) { reader in
            reader.list("transfers", count: 1...1_000) { section, _ in wish(section) }
        }
        let mayOutside = call.operation.reach(call.caller.role) == .all
        var desk = try WalletDesk(database)
        for (index, wish) in wishes.enumerated() {
            if wish.from == outside || wish.to == outside, !mayOutside {
                throw BooksRefusal(403, "transfers[\(index)]: only an admin brings in or takes out")
            }
            if wish.from != outside, !call.reaches(wish.from) {
                throw BooksRefusal.notYours("transfers[\(index)]: the wallet of \(wish.from)")
            }
            let transfer = Transfer(
                at: call.now, text: wish.text,
                postings: [
                    Posting(try desk.account(wish.to, wish.asset), wish.amount),
                    Posting(try desk.account(wish.from, wish.asset), -wish.amount),
                ])
            do {
                try desk.group.post(
                    transfer, key: TransferKey.transfer.of(call.caller.name, call.key ?? "", "\(index)"))
            } catch let refusal as BooksRefusal {
                throw BooksRefusal(refusal.status, "transfers[\(index)]: \(refusal.why)")
            }
        }
        return JSONOut.object([("transfers", "\(wishes.count)")])
    }

    private static let from = BooksKeys.name("from", "the party that gives; or outside")
    private static let to = BooksKeys.name("to", "the party that gets; or outside")
    /// Energy and certificates come of meters alone, and no wallet has any.
    static let asset = BooksBody.money
    static let text = BooksKeys.words("text", "what for")
    private static let amount = ConfigKey<String>.text(
        "amount", allowed: "a number above 0", .required, "how much"
    ) { $0 }

    private static func wish(_ reader: ConfigReader) -> Wish? {
        let (from, to) = (reader.value(from), reader.value(to))
        let text = reader.value(text)
        let wanted = amount(reader)
        guard let from, let to, let wanted, let text else { return nil }
        return Wish(from: from, to: to, asset: wanted.asset, amount: wanted.amount, text: text)
    }

    /// An amount above 0 of an asset, in its smallest unit.
    static func amount(_ reader: ConfigReader) -> (amount: MinorUnits, asset: Asset)? {
        let (asset, text) = (reader.value(asset), reader.value(amount))
        guard let asset, let text else { return nil }
        guard let units = FixedText.parse(text, decimals: asset.decimals), units > 0 else {
            reader.refuse(
                "amount", "takes a number above 0 with at most \(asset.decimals) decimals for \(asset.code)")
            return nil
        }
        return (MinorUnits(units), asset)
    }

    /// A party's wallet, opened where it is not open; or the account of all that is outside.
    static func account(_ party: String, _ asset: Asset, _ database: Database) throws -> AccountKey {
        var desk = try WalletDesk(database)
        return try desk.account(party, asset)
    }

    static func accounts(_ call: BooksCall, _ database: Database) throws -> String {
        let rows = try Row.fetchAll(
            database,
            sql: "SELECT * FROM books_account WHERE ? IS NULL OR party = ? ORDER BY name, asset",
            arguments: [call.scope, call.scope])
        return JSONOut.object([("accounts", JSONOut.list(rows.map(account)))])
    }

    private static func account(_ row: Row) -> String {
        let asset = Asset(code: row["asset"]) ?? .inr
        func text(_ name: String) -> String {
            let value: Int64? = row[name]
            return value.map { JSONOut.text(MinorUnits($0).text(asset)) } ?? "null"
        }
        return JSONOut.object([
            ("account", JSONOut.text(row["name"])), ("asset", JSONOut.text(asset.code)),
            ("balance", text("balance")), ("held", text("held")), ("floor", text("floor")),
        ])
    }

    static func trialBalance(_ database: Database) throws -> String {
        let rows = try Row.fetchAll(database, sql: "SELECT * FROM books_account ORDER BY name, asset")
        var sums: [String: Int128] = [:]
        for row in rows { sums[row["asset"], default: 0] += Int128(row["balance"] as Int64) }
        return JSONOut.object([
            ("accounts", JSONOut.list(rows.map(account))),
            ("sums", JSONOut.object(sums.sorted { $0.key < $1.key }.map { ($0.key, "\"\($0.value)\"") })),
        ])
    }
}

/// The wallets that a command names, each looked up once.
struct WalletDesk {
    private struct Name: Hashable {
        var party: String
        var asset: Asset
    }

    private let database: Database
    var group: LedgerGroup
    private var known: [Name: AccountKey] = [:]

    init(_ database: Database) throws {
        self.database = database
        group = try LedgerGroup(database)
    }

    /// Opened where it is not open.
    mutating func account(_ party: String, _ asset: Asset) throws -> AccountKey {
        let name = Name(party: party, asset: asset)
        if let key = known[name] { return key }
        let isOutside = party == TransferDesk.outside
        if !isOutside, try !Registry.isThere(party, database) {
            throw BooksRefusal.unknown("party \(party)")
        }
        guard let account = isOutside ? BookAccounts.equity("Outside") : BookAccounts.wallet(party) else {
            throw BooksRefusal.unknown("party \(party)")
        }
        let key = AccountKey(account, asset)
        try group.open(key, floor: isOutside ? nil : .zero, party: isOutside ? nil : party)
        known[name] = key
        return key
    }
}
