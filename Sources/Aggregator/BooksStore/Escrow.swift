import ExactAmounts
import GRDB
import Ledger
import Settlement

/// The price of a prepaid contract: in escrow from its beginning, out of it by delivery, and the rest back.
enum Escrow {
    /// What a contract in satoshi is charged is fixed when it comes into force: so many for so many paise.
    static func fund(_ one: ContractDesk.Standing, at time: UTCInstant, _ database: Database) throws {
        let terms = one.terms
        guard terms.payment == .prepaid else { return }
        guard let price = (terms.energy * terms.price).rounded(to: .inr)?.amount else {
            throw BooksRefusal.impossible("the contract costs more than 64 bits of paise can hold")
        }
        if price == .zero { return }
        var amount = price
        if one.asset == .btc {
            let version = try TariffDesk.newest(database)
            amount = try PayoutDesk.satoshi(price, PayoutDesk.rate(at: time, tariffs: version, database))
            if amount == .zero { throw BooksRefusal.impossible("it costs less than half a satoshi") }
            try database.execute(
                sql: "INSERT INTO books_escrow VALUES (?, ?, ?)",
                arguments: [terms.id, price.count, amount.count])
        }
        let (wallet, escrow) = try accounts(one, database)
        try LedgerRows.post(
            Transfer(
                at: time, text: "escrow of contract \(terms.id)",
                postings: [Posting(escrow, amount), Posting(wallet, -amount)]),
            key: TransferKey.escrow.of(terms.id), database)
    }

    /// Pays what is left in escrow back to the buyer.
    static func refund(_ one: ContractDesk.Standing, at time: UTCInstant, _ database: Database) throws {
        let terms = one.terms
        guard terms.payment == .prepaid else { return }
        let left = try LedgerRows.balance(BookAccounts.escrow(terms.id), one.asset, database)
        if left == .zero { return }
        let (wallet, escrow) = try accounts(one, database)
        try LedgerRows.post(
            Transfer(
                at: time, text: "escrow of \(terms.id) paid back",
                postings: [Posting(wallet, left), Posting(escrow, -left)]),
            key: TransferKey.escrowBack.of(terms.id), database)
    }

    private static func accounts(
        _ one: ContractDesk.Standing, _ database: Database
    ) throws -> (wallet: AccountKey, escrow: AccountKey) {
        guard let name = BookAccounts.escrow(one.terms.id) else { throw BooksRefusal.impossible("id") }
        let escrow = AccountKey(name, one.asset)
        try LedgerRows.open(escrow, floor: .zero, party: one.terms.buyer, database)
        return (try TransferDesk.account(one.terms.buyer, one.asset, database), escrow)
    }

    /// Confirmed delivery is paid out of escrow, onto the buyer's bill; what is owed back goes into it again.
    ///
    /// - Returns: what was paid, in paise; negative went back.
    static func pay(
        _ one: ContractDesk.Standing, _ owed: MinorUnits, run: String, at time: UTCInstant,
        _ database: Database
    ) throws -> MinorUnits {
        let terms = one.terms
        guard owed != .zero, let name = BookAccounts.escrow(terms.id),
            let bills = BookAccounts.bills(terms.buyer)
        else { return .zero }
        let left = try LedgerRows.balance(name, one.asset, database)
        let room = try room(in: one, left, database)
        if owed > .zero ? left <= .zero : room <= .zero { return .zero }
        let (escrow, bill) = (AccountKey(name, one.asset), AccountKey(bills, .inr))
        try LedgerRows.open(bill, floor: nil, party: terms.buyer, database)
        var (paid, postings): (MinorUnits, [Posting])
        if one.asset == .inr {
            paid = max(min(owed, left), -room)
            postings = [Posting(bill, paid), Posting(escrow, -paid)]
        } else {
            paid = owed
            let satoshi = max(min(try self.satoshi(paid, of: terms.id, database), left), -room)
            var group = try LedgerGroup(database)
            postings = [
                Posting(bill, paid), Posting(try PayoutDesk.exchange(.inr, &group), -paid),
                Posting(try PayoutDesk.exchange(.btc, &group), satoshi), Posting(escrow, -satoshi),
            ]
            postings.removeAll { $0.amount == .zero }
        }
        let words =
            paid > .zero ? "delivery of \(terms.id) paid from escrow" : "back into escrow of \(terms.id)"
        try LedgerRows.post(
            Transfer(at: time, text: words, postings: postings), key: "\(run)/escrow-paid-\(terms.id)",
            database)
        return paid
    }

    /// What was paid out of an escrow that is still held, in its asset: so much may go back into it.
    private static func room(
        in one: ContractDesk.Standing, _ left: MinorUnits, _ database: Database
    ) throws -> MinorUnits {
        switch one.life.state {
        case .active, .settling, .ended(.endedEarly): break
        case .draft, .offered, .agreed, .ended: return .zero
        }
        let keys = [TransferKey.escrow.of(one.terms.id), TransferKey.escrowBack.of(one.terms.id)]
        let back = try Int64.fetchOne(
            database, sql: "SELECT 1 FROM books_transfer WHERE key = ?", arguments: [keys[1]])
        let funded = try Int64.fetchOne(
            database,
            sql: """
                SELECT amount FROM books_posting JOIN books_transfer t ON t.id = transfer
                WHERE key = ? AND amount > 0
                """, arguments: [keys[0]])
        return back == nil ? MinorUnits((funded ?? left.count) - left.count) : .zero
    }

    /// The part of what was charged that so many paise are of the price; halves to even.
    private static func satoshi(
        _ paid: MinorUnits, of contract: String, _ database: Database
    ) throws -> MinorUnits {
        let row = try Row.fetchOne(
            database, sql: "SELECT paid, satoshi FROM books_escrow WHERE contract = ?", arguments: [contract])
        guard let row else { return .zero }
        let (whole, charged): (Int64, Int64) = (row["paid"], row["satoshi"])
        let scaled = Int128(max(min(paid.count, whole), -whole)) * Int128(charged)
        return MinorUnits(Int64(Rounding.halfEven(scaled, by: Int128(whole)).quotient))
    }
}
