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
        var number: Int64 = 0
        for (index, wish) in wishes.enumerated() {
            if wish.from == outside || wish.to == outside, call.operation.reach(call.caller.role) != .all {
                throw BooksRefusal(403, "transfers[\(index)]: only an admin brings in or takes out")
            }
            if wish.from != outside, !call.reaches(wish.from) {
                throw BooksRefusal.notYours("transfers[\(index)]: the wallet of \(wish.from)")
            }
            let transfer = Transfer(
                at: call.now, text: wish.text,
                postings: [
                    Posting(try account(wish.to, wish.asset, database), wish.amount),
                    Posting(try account(wish.from, wish.asset, database), -wish.amount),
                ])
            do {
                try LedgerRows.post(
                    transfer, key: "t-\(call.caller.name)-\(call.key ?? "")-\(index)", database)
            } catch let refusal as BooksRefusal {
                throw BooksRefusal(refusal.status, "transfers[\(index)]: \(refusal.why)")
            }
            number += 1
        }
        return JSONOut.object([("transfers", "\(number)")])
    }

    private static func wish(_ reader: ConfigReader) -> Wish? {
        let from = reader.value(BooksKeys.name("from", "the party that gives; or outside"))
        let to = reader.value(BooksKeys.name("to", "the party that gets; or outside"))
        let code = reader.value(
            ConfigKey<Asset>.text(
                "asset", allowed: Asset.all.map(\.code).joined(separator: ", "), .fixed(.inr), "of what",
                read: Asset.init(code:)))
        let text = reader.value(BooksKeys.words("text", "what for"))
        let amount = reader.value(
            ConfigKey<String>.text("amount", allowed: "a number above 0", .required, "how much") { $0 })
        guard let from, let to, let code, let text, let amount else { return nil }
        guard let units = FixedText.parse(amount, decimals: code.decimals), units > 0 else {
            reader.refuse(
                "amount", "takes a number above 0 with at most \(code.decimals) decimals for \(code.code)")
            return nil
        }
        return Wish(from: from, to: to, asset: code, amount: MinorUnits(units), text: text)
    }

    /// A party's wallet, opened where it is not open; or the account of all that is outside.
    static func account(_ party: String, _ asset: Asset, _ database: Database) throws -> AccountKey {
        if party == outside {
            guard let name = BookAccounts.equity("Outside") else {
                throw BooksRefusal.impossible("outside")
            }
            let key = AccountKey(name, asset)
            try LedgerRows.open(key, floor: nil, party: nil, database)
            return key
        }
        guard try Registry.exists("books_party", party, database), let name = BookAccounts.wallet(party)
        else { throw BooksRefusal.unknown("party \(party)") }
        let key = AccountKey(name, asset)
        try LedgerRows.open(key, floor: .zero, party: party, database)
        return key
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
