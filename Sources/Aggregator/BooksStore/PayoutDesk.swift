import BooksFiles
import ConfigText
import ExactAmounts
import GRDB
import Ledger
import Settlement

/// Satoshi: bills paid in them by the rate of their run's tariffs, and what wallets hold as the map that a
/// bitcoin wallet's `sendmany` takes. Nothing here sends anything.
enum PayoutDesk {
    private struct Payee {
        var party: String
        var address: String
        var amount: MinorUnits
    }

    /// Parties with an address and satoshi that nobody has set aside.
    private static func payees(_ database: Database) throws -> [Payee] {
        try Row.fetchAll(
            database,
            sql: """
                SELECT p.id, p.address, a.balance - a.held AS amount FROM books_party p
                JOIN books_account a ON a.party = p.id AND a.asset = 'BTC'
                WHERE p.address IS NOT NULL AND a.name LIKE 'Assets:Party:%:Wallet' AND a.balance > a.held
                ORDER BY p.id LIMIT 1000
                """
        ).map { Payee(party: $0["id"], address: $0["address"], amount: MinorUnits($0["amount"])) }
    }

    /// `address: amount` in BTC; parties with one address are added up.
    private static func map(_ payees: [Payee]) throws -> String {
        var sums: [String: MinorUnits] = [:]
        for one in payees {
            guard let sum = sums[one.address, default: .zero].adding(one.amount) else {
                throw BooksRefusal.impossible("\(one.address): the sum does not fit 64 bits")
            }
            sums[one.address] = sum
        }
        return JSONOut.object(sums.sorted { $0.key < $1.key }.map { ($0.key, $0.value.text(.btc)) })
    }

    static func show(_ database: Database) throws -> String { try map(try payees(database)) }

    /// Takes them out of the wallets: as if the map had been sent.
    static func simulate(_ call: BooksCall, _ database: Database) throws -> String {
        try BooksBody.nothing(call)
        let payees = try payees(database)
        if payees.isEmpty { throw BooksRefusal(409, "no wallet with an address holds satoshi") }
        let text = try map(payees)
        var desk = try WalletDesk(database)
        for one in payees {
            let transfer = Transfer(
                at: call.now, text: "paid out to the address of \(one.party), simulated",
                postings: [
                    Posting(try desk.account(TransferDesk.outside, .btc), one.amount),
                    Posting(try desk.account(one.party, .btc), -one.amount),
                ])
            try desk.group.post(
                transfer, key: TransferKey.payout.of(call.caller.name, call.key ?? "", one.party))
        }
        // Addresses are persons' data, which an answer and the history would keep beyond an erasure.
        return JSONOut.object([
            ("paid", JSONOut.object(payees.map { ($0.party, JSONOut.text($0.amount.text(.btc))) })),
            ("sendmany_sha256", JSONOut.text(BooksHistory.sha256(text))),
            ("note", "\"simulated: moved within these books, nothing was sent\""),
        ])
    }

    // MARK: Exchange

    /// Between rupees and satoshi: where what was paid in the one stands against what was owed in the other.
    static func exchange(_ asset: Asset, _ group: inout LedgerGroup) throws -> AccountKey {
        guard let name = BookAccounts.equity("Exchange") else { throw BooksRefusal.impossible("exchange") }
        let key = AccountKey(name, asset)
        try group.open(key, floor: nil, party: nil)
        return key
    }

    /// The rate of a bitcoin that tariffs of a version have for an instant.
    static func rate(
        at time: UTCInstant, tariffs version: Int64, _ database: Database
    ) throws -> ExchangeRate {
        let rate = try TariffDesk.file(database, version: version).bitcoin.rate(at: time)
        guard let rate else {
            throw BooksRefusal.impossible("asset: these tariffs have no rate of a bitcoin for \(time.text)")
        }
        return rate
    }

    /// What so many paise are in satoshi.
    static func satoshi(_ paise: MinorUnits, _ rate: ExchangeRate) throws -> MinorUnits {
        guard let amount = rate.satoshi(paise, of: .inr) else {
            throw BooksRefusal.impossible("asset: the amount does not fit 64 bits of satoshi")
        }
        return amount
    }

    /// The same of a part: never less than it is worth, or many small ones would cost less than the whole.
    static func satoshi(ofPart paise: MinorUnits, _ rate: ExchangeRate) throws -> MinorUnits {
        let nearest = try satoshi(paise, rate)
        // In 10⁻¹⁴ rupees.
        let isLess =
            Int128(nearest.count) * Int128(rate.microPerBitcoin) < Int128(paise.count) * 1_000_000_000_000
        return isLess ? nearest.adding(MinorUnits(1)) ?? nearest : nearest
    }
}
