import BooksFiles
import ConfigText
import ExactAmounts
import GRDB
import Ledger
import Settlement

/// Bills as people see them, and what is paid of them.
enum BillDesk {
    static func runs(_ database: Database) throws -> String {
        let rows = try Row.fetchAll(database, sql: "SELECT * FROM books_run ORDER BY n DESC LIMIT 1000")
        let runs = rows.map { row in
            JSONOut.object(
                [("id", JSONOut.text(row["id"]))]
                    + ["from_s", "until_s", "at_s", "due_s", "settled", "corrected", "open", "tariffs"].map {
                        ($0, JSONOut.number(row[$0]))
                    })
        }
        return JSONOut.object([("settlements", JSONOut.list(runs))])
    }

    private static let select = """
        SELECT b.*, r.id AS run_id, r.from_s, r.until_s, r.due_s, r.tariffs FROM books_bill b
        JOIN books_run r ON r.n = b.run
        """

    static func bills(_ call: BooksCall, _ database: Database) throws -> String {
        let rows = try Row.fetchAll(
            database,
            sql: "\(select) WHERE ?1 IS NULL OR b.party = ?1 ORDER BY b.run DESC, b.party LIMIT 1000",
            arguments: [call.scope])
        let list = try rows.map { JSONOut.object(members($0, at: try now(database))) }
        return JSONOut.object([("bills", JSONOut.list(list))])
    }

    /// Whether a bill is overdue is judged by the database's own clock, which is the machine's.
    private static func now(_ database: Database) throws -> Int64 {
        try Int64.fetchOne(database, sql: "SELECT CAST(strftime('%s', 'now') AS INTEGER)") ?? 0
    }

    private static func payment(_ row: Row, at now: Int64) -> BillPayment {
        BillPayment(
            total: MinorUnits(row["total"]), escrow: MinorUnits(row["escrow"]), paid: MinorUnits(row["paid"]),
            due: UTCInstant(seconds: row["due_s"]), now: UTCInstant(seconds: now))
    }

    private static func members(_ row: Row, at now: Int64) -> [(String, String)] {
        let payment = payment(row, at: now)
        func rupees(_ value: MinorUnits) -> String { JSONOut.text(value.text(.inr)) }
        return [
            ("id", JSONOut.text(row["id"])), ("party", JSONOut.text(row["party"])),
            ("run", JSONOut.text(row["run_id"])),
            ("from", JSONOut.text(UTCInstant(seconds: row["from_s"]).text)),
            ("until", JSONOut.text(UTCInstant(seconds: row["until_s"]).text)),
            ("due", JSONOut.text(UTCInstant(seconds: row["due_s"]).text)),
            ("total_inr", rupees(payment.total)), ("escrow_inr", rupees(payment.escrow)),
            ("paid_inr", rupees(payment.paid)), ("rest_inr", rupees(payment.rest)),
            ("state", JSONOut.text(payment.state.rawValue)),
            ("note", "\"estimate from meter data, not the bill of a licensed supplier\""),
        ]
    }

    private static func find(_ call: BooksCall, _ database: Database) throws -> (row: Row, bill: Bill) {
        let row = try Row.fetchOne(database, sql: "\(select) WHERE b.id = ?", arguments: [call.id])
        guard let row, call.reaches(row["party"]) else {
            throw call.scope == nil
                ? BooksRefusal.unknown("bill \(call.id)") : BooksRefusal.notYours("bill \(call.id)")
        }
        let lines = try Row.fetchAll(
            database, sql: "SELECT * FROM books_line WHERE party = ? AND run = ? ORDER BY n",
            arguments: [row["party"] as String, row["run"] as Int64]
        ).map(line)
        let ordered = lines.sorted { ($0.id.utf8.count, $0.id) < ($1.id.utf8.count, $1.id) }
        return (row, Bill(party: row["party"], lines: ordered, total: MinorUnits(row["total"])))
    }

    private static func line(_ row: Row) -> BillLine {
        let (price, quantity) = (Price(row["price"]), WattHours(row["quantity_wh"]))
        let exact = ExactMoney(nano: Int128(row["exact"] as String) ?? 0)
        return BillLine(
            id: row["id"], party: row["party"], kind: EntryKind(rawValue: row["kind"]) ?? .share,
            reference: row["reference"], price: price, adjusts: row["adjusts"],
            from: UTCInstant(seconds: row["from_s"]), until: UTCInstant(seconds: row["until_s"]),
            quantity: quantity, exact: exact, amount: MinorUnits(row["amount"]), remainder: .zero)
    }

    static func json(_ call: BooksCall, _ database: Database) throws -> String {
        let (row, bill) = try find(call, database)
        let tariffs = try TariffDesk.file(database, version: row["tariffs"])
        let rate = try rate(row, tariffs)
        let satoshi = rate.flatMap { BitcoinBill(bill, $0, asset: .inr) }
        let lines = bill.lines.enumerated().map { index, line in
            JSONOut.object([
                ("id", JSONOut.text(line.id)), ("kind", JSONOut.text(line.kind.rawValue)),
                ("reference", JSONOut.text(line.reference)), ("quantity_wh", "\(line.quantity.count)"),
                ("price", JSONOut.text(line.price.text)),
                ("exact_inr", JSONOut.text(FixedText.write(line.exact.nano, decimals: 9))),
                ("amount_inr", JSONOut.text(line.amount.text(.inr))),
                ("amount_btc", JSONOut.text(satoshi?.lines[index].text(.btc))),
                ("adjusts", JSONOut.text(line.adjusts)),
            ])
        }
        let price = rate.map { FixedText.write(Int128($0.microPerBitcoin), decimals: 6) }
        return JSONOut.object(
            members(row, at: try now(database)) + [
                ("total_btc", JSONOut.text(satoshi?.total.text(.btc))), ("inr_per_btc", JSONOut.text(price)),
                ("rate_source", JSONOut.text(rate?.source)),
                ("rate_mark", JSONOut.text(rate?.mark?.rawValue)),
                ("rate_from", JSONOut.text(rate?.effective?.from.text)),
                ("rate_until", JSONOut.text(rate?.effective?.until.text)),
                ("energy", try OriginRows.json(bill, row["run"], tariffs.carbon, database)),
                ("lines", JSONOut.list(lines)),
            ])
    }

    static func csv(_ call: BooksCall, _ database: Database) throws -> String {
        let (row, bill) = try find(call, database)
        return BillText.csv(
            bill, .inr, try rate(row, try TariffDesk.file(database, version: row["tariffs"])),
            payment(row, at: try now(database)))
    }

    private static func period(_ row: Row) throws -> Period {
        let period = Period(
            from: UTCInstant(seconds: row["from_s"]), until: UTCInstant(seconds: row["until_s"]))
        guard let period else { throw BooksRefusal(500, "a run has no length") }
        return period
    }

    /// The rate of a bitcoin at the end of the bill's period, by the tariffs of its run.
    private static func rate(_ row: Row, _ tariffs: TariffsFile) throws -> ExchangeRate? {
        tariffs.bitcoin.rate(of: try period(row))
    }

    static func page(_ call: BooksCall, _ database: Database) throws -> String {
        let (row, bill) = try find(call, database)
        let period = try period(row)
        let name = try String.fetchOne(
            database, sql: "SELECT name FROM books_party WHERE id = ?", arguments: [bill.party])
        let tariffs = try TariffDesk.file(database, version: row["tariffs"])
        var sources: [String: String] = [:]
        for tariff in tariffs.tariffs.tariffs {
            let text = "\(tariff.regulation) (\(tariff.source)) [\(tariff.mark.rawValue)]"
            for one in tariff.bands.map(\.name) + tariff.fees.map(\.name) {
                sources["\(tariff.id)/\(one)"] = text
            }
        }
        for one in tariffs.incentives { sources[one.name] = one.source }
        return BillPage(
            bill: bill, party: name ?? bill.party, run: row["run_id"], period: period, asset: .inr,
            bitcoin: try rate(row, tariffs), sources: sources,
            origins: try OriginRows.words(bill, row["run"], tariffs.carbon, database),
            payment: payment(row, at: try now(database)),
            explainedBy: "ballast-aggregator explain LINE --config FILE"
        ).html
    }

    // MARK: Why

    static func explain(_ call: BooksCall, _ database: Database) throws -> String {
        let row = try Row.fetchOne(
            database,
            sql: "SELECT * FROM books_line WHERE id = ? AND run IN (SELECT n FROM books_run)",
            arguments: [call.id])
        guard let row, call.reaches(row["party"]) else {
            throw call.scope == nil
                ? BooksRefusal.unknown("line \(call.id)") : BooksRefusal.notYours("line \(call.id)")
        }
        return try LineReason.text(line(row), row["n"], row["run"], database)
    }

    // MARK: Payments

    /// Out of the payer's wallet, or, by an admin, a credit into it.
    static func pay(_ call: BooksCall, _ database: Database) throws -> String {
        let (amount, asset) = try BooksBody.read(call) { reader -> (MinorUnits, Asset)? in
            let amount = reader.value(
                ConfigKey<MinorUnits>.text(
                    "amount_inr", allowed: "above 0, at most 2 decimals", .required, "how much"
                ) { text in
                    FixedText.parse(text, decimals: 2).flatMap { $0 > 0 ? MinorUnits($0) : nil }
                })
            let asset = reader.value(BooksBody.money)
            guard let amount, let asset else { return nil }
            return (amount, asset)
        }
        let (row, bill) = try find(call, database)
        var payment = payment(row, at: try now(database))
        let left = Int64(clamping: payment.rest.count.magnitude)
        if amount.count > left {
            throw BooksRefusal.impossible(
                "amount_inr: only \(MinorUnits(left).text(.inr)) INR of \(call.id) is left")
        }
        let isCredit = payment.rest > .zero
        if isCredit, call.scope != nil {
            throw BooksRefusal(403, "a credit is paid out by an admin")
        }
        let isWhole = payment.escrow == .zero && payment.paid == .zero && amount.count == left
        let postings = try Self.postings(
            isCredit ? -amount : amount, isWhole: isWhole, of: bill, in: asset, row, database)
        // What escrow paid is counted in, as it was in keys of before: none comes twice.
        let before = "\(payment.escrow.count + payment.paid.count)"
        try LedgerRows.post(
            Transfer(
                at: call.now, text: "payment of \(call.id), in these books only", postings: postings),
            key: TransferKey.pay.of(call.id, before, "\(amount.count)"), database)
        payment.paid = MinorUnits(payment.paid.count + amount.count)
        try database.execute(
            sql: "UPDATE books_bill SET paid = ? WHERE id = ?", arguments: [payment.paid.count, call.id])
        let satoshi = postings.last { $0.account.asset == .btc && $0.amount < .zero }.map { -$0.amount }
        return JSONOut.object([
            ("bill", JSONOut.text(call.id)),
            ("paid_inr", JSONOut.text(payment.paid.text(.inr))),
            ("rest_inr", JSONOut.text(payment.rest.text(.inr))),
            ("btc", satoshi.map { JSONOut.text($0.text(.btc)) } ?? "null"),
            ("note", "\"moved within these books; no payment was made by this program\""),
        ])
    }

    /// What is paid of a bill in satoshi: the whole is the sum of its lines, a part never less than it is
    /// worth.
    private static func satoshi(
        _ amount: MinorUnits, isWhole: Bool, of bill: Bill, _ row: Row, _ database: Database
    ) throws -> MinorUnits {
        let last = try period(row).until + -1
        let rate = try PayoutDesk.rate(at: last, tariffs: row["tariffs"], database)
        let whole = isWhole ? BitcoinBill(bill, rate, asset: .inr).map { -$0.total } : nil
        if let whole, (whole > .zero) == (amount > .zero), whole != .zero { return whole }
        return isWhole || amount < .zero
            ? try PayoutDesk.satoshi(amount, rate) : try PayoutDesk.satoshi(ofPart: amount, rate)
    }

    /// From the wallet to the bill's account, in rupees or by way of the exchange in satoshi; a negative
    /// amount the other way.
    private static func postings(
        _ amount: MinorUnits, isWhole: Bool, of bill: Bill, in asset: Asset, _ row: Row, _ database: Database
    ) throws -> [Posting] {
        guard let name = BookAccounts.bills(bill.party) else { throw BooksRefusal.impossible("party") }
        var desk = try WalletDesk(database)
        let (owed, wallet) = (AccountKey(name, .inr), try desk.account(bill.party, asset))
        // A bill is there before the run has posted it.
        try desk.group.open(owed, floor: nil, party: bill.party)
        if asset == .inr { return [Posting(owed, amount), Posting(wallet, -amount)] }
        let satoshi = try satoshi(amount, isWhole: isWhole, of: bill, row, database)
        if satoshi == .zero { throw BooksRefusal.impossible("amount_inr: is less than half a satoshi") }
        let rupees = try PayoutDesk.exchange(.inr, &desk.group)
        let bitcoin = try PayoutDesk.exchange(.btc, &desk.group)
        return [
            Posting(owed, amount), Posting(rupees, -amount), Posting(bitcoin, satoshi),
            Posting(wallet, -satoshi),
        ]
    }
}
