import BooksFiles
import ConfigText
import ExactAmounts
import GRDB
import Ledger
import Settlement

/// Amounts set aside in a wallet: nobody else can have them until they are moved or given back.
enum HoldDesk {
    private enum Action: String, CaseIterable, Sendable { case release, capture }

    private struct Wish {
        var id: String
        var party: String
        var amount: MinorUnits
        var asset: Asset
        var text: String
    }

    static func add(_ call: BooksCall, _ database: Database) throws -> String {
        let wish = try BooksBody.read(call) { reader -> Wish? in
            let id = reader.value(BooksKeys.name("id", "its name"))
            let party = reader.value(BooksKeys.name("party", "whose wallet"))
            let text = reader.value(TransferDesk.text)
            let wanted = TransferDesk.amount(reader)
            guard let id, let party, let wanted, let text else { return nil }
            return Wish(id: id, party: party, amount: wanted.amount, asset: wanted.asset, text: text)
        }
        if !call.reaches(wish.party) { throw BooksRefusal.notYours("the wallet of \(wish.party)") }
        if try Registry.exists("books_hold", wish.id, database) {
            throw BooksRefusal(409, "there is a hold \(wish.id) already")
        }
        var desk = try WalletDesk(database)
        try desk.group.hold(try desk.account(wish.party, wish.asset), wish.amount)
        try database.execute(
            sql: "INSERT INTO books_hold VALUES (?, ?, ?, ?, ?, ?, 'held', ?)",
            arguments: [
                wish.id, wish.party, wish.asset.code, wish.amount.count, wish.text, call.now.seconds,
                call.scope == nil,
            ])
        return JSONOut.object([("hold", JSONOut.text(wish.id)), ("state", "\"held\"")])
    }

    /// Gives it back, or moves it to another wallet in the same step that ends it.
    static func end(_ call: BooksCall, _ database: Database) throws -> String {
        let wish = try BooksBody.read(call) { reader -> (Action, to: String?)? in
            let action = reader.value(ConfigKey<Action>.choice("action", .required, "what becomes of it"))
            let to = reader.value(BooksBody.optional("to", "the party that gets it"))
            guard let action, let to else { return nil }
            if action == .capture, to == nil { reader.refuse("to", "is missing: a capture has a party") }
            return (action, to)
        }
        let row = try Row.fetchOne(
            database, sql: "SELECT * FROM books_hold WHERE id = ?", arguments: [call.id])
        guard let row, call.reaches(row["party"]) else {
            throw call.scope == nil
                ? BooksRefusal.unknown("hold \(call.id)") : BooksRefusal.notYours("hold \(call.id)")
        }
        if row["is_office"] == true, call.scope != nil {
            throw BooksRefusal(403, "hold \(call.id) was set by an admin, who ends it")
        }
        guard row["state"] == "held", let asset = Asset(code: row["asset"]) else {
            throw BooksRefusal(409, "this hold is \(row["state"] as String) already")
        }
        let (party, amount): (String, MinorUnits) = (row["party"], MinorUnits(row["amount"]))
        var desk = try WalletDesk(database)
        let account = try desk.account(party, asset)
        try desk.group.hold(account, -amount)
        if let to = wish.to, wish.0 == .capture {
            if to == TransferDesk.outside, call.scope != nil {
                throw BooksRefusal(403, "to: only an admin takes out")
            }
            let transfer = Transfer(
                at: call.now, text: row["text"],
                postings: [
                    Posting(try desk.account(to, asset), amount), Posting(account, -amount),
                ])
            try desk.group.post(transfer, key: TransferKey.hold.of(call.id))
        }
        let state = wish.0 == .capture ? "captured" : "released"
        try database.execute(
            sql: "UPDATE books_hold SET state = ? WHERE id = ?", arguments: [state, call.id])
        return JSONOut.object([("hold", JSONOut.text(call.id)), ("state", JSONOut.text(state))])
    }

    static func list(_ call: BooksCall, _ database: Database) throws -> String {
        let rows = try Row.fetchAll(
            database,
            sql: "SELECT * FROM books_hold WHERE ?1 IS NULL OR party = ?1 ORDER BY at_s DESC, id LIMIT 1000",
            arguments: [call.scope])
        let holds = rows.map { row in
            let asset = Asset(code: row["asset"]) ?? .inr
            return JSONOut.object([
                ("id", JSONOut.text(row["id"])), ("party", JSONOut.text(row["party"])),
                ("asset", JSONOut.text(asset.code)),
                ("amount", JSONOut.text(MinorUnits(row["amount"]).text(asset))),
                ("text", JSONOut.text(row["text"])), ("state", JSONOut.text(row["state"])),
            ])
        }
        return JSONOut.object([("holds", JSONOut.list(holds))])
    }
}
