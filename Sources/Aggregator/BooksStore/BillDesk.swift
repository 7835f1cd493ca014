import BooksFiles
import ConfigText
import ExactAmounts
import FoundationEssentials
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

    static func state(total: Int64, paid: Int64, due: Int64, now: Int64) -> String {
        if total > 0 { return paid >= total ? "paid_out" : "credit" }
        if -total <= paid { return "paid" }
        return now >= due ? "overdue" : "open"
    }

    private static func members(_ row: Row, at now: Int64) -> [(String, String)] {
        let (total, paid): (Int64, Int64) = (row["total"], row["paid"])
        func rupees(_ value: Int64) -> String { JSONOut.text(MinorUnits(value).text(.inr)) }
        return [
            ("id", JSONOut.text(row["id"])), ("party", JSONOut.text(row["party"])),
            ("run", JSONOut.text(row["run_id"])),
            ("from", JSONOut.text(UTCInstant(seconds: row["from_s"]).text)),
            ("until", JSONOut.text(UTCInstant(seconds: row["until_s"]).text)),
            ("due", JSONOut.text(UTCInstant(seconds: row["due_s"]).text)), ("total_inr", rupees(total)),
            ("paid_inr", rupees(paid)),
            ("state", JSONOut.text(state(total: total, paid: paid, due: row["due_s"], now: now))),
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
        let lines = bill.lines.map { line in
            JSONOut.object([
                ("id", JSONOut.text(line.id)), ("kind", JSONOut.text(line.kind.rawValue)),
                ("reference", JSONOut.text(line.reference)), ("quantity_wh", "\(line.quantity.count)"),
                ("price", JSONOut.text(line.price.text)),
                ("exact_inr", JSONOut.text(FixedText.write(line.exact.nano, decimals: 9))),
                ("amount_inr", JSONOut.text(line.amount.text(.inr))),
                ("adjusts", JSONOut.text(line.adjusts)),
            ])
        }
        let carbon = try TariffDesk.file(database, version: row["tariffs"]).carbon
        return JSONOut.object(
            members(row, at: try now(database)) + [
                ("energy", try OriginRows.json(bill, row["run"], carbon, database)),
                ("lines", JSONOut.list(lines)),
            ])
    }

    static func csv(_ call: BooksCall, _ database: Database) throws -> String {
        BillText.csv(try find(call, database).bill.lines, .inr)
    }

    static func page(_ call: BooksCall, _ database: Database) throws -> String {
        let (row, bill) = try find(call, database)
        guard
            let period = Period(
                from: UTCInstant(seconds: row["from_s"]), until: UTCInstant(seconds: row["until_s"]))
        else { throw BooksRefusal.unknown("bill \(call.id)") }
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
            bitcoin: tariffs.bitcoin, sources: sources
        ).html
    }

    // MARK: Why

    static func explain(_ call: BooksCall, _ database: Database) throws -> String {
        let row = try Row.fetchOne(
            database, sql: "SELECT * FROM books_line WHERE id = ?", arguments: [call.id])
        guard let row, call.reaches(row["party"]) else {
            throw call.scope == nil
                ? BooksRefusal.unknown("line \(call.id)") : BooksRefusal.notYours("line \(call.id)")
        }
        return try LineReason.text(line(row), row["n"], row["run"], database)
    }

    // MARK: Payments

    /// Out of the payer's wallet, or, by an admin, a credit into it.
    static func pay(_ call: BooksCall, _ database: Database) throws -> String {
        let amount = try BooksBody.read(call) { reader in
            reader.value(
                ConfigKey<MinorUnits>.text(
                    "amount_inr", allowed: "above 0, at most 2 decimals", .required, "how much"
                ) { text in
                    FixedText.parse(text, decimals: 2).flatMap { $0 > 0 ? MinorUnits($0) : nil }
                })
        }
        let (row, bill) = try find(call, database)
        let paid: Int64 = row["paid"]
        let left = Int64(clamping: bill.total.count.magnitude) - paid
        if amount.count > left {
            throw BooksRefusal.impossible(
                "amount_inr: only \(MinorUnits(max(0, left)).text(.inr)) INR of \(call.id) is left")
        }
        let isCredit = bill.total > .zero
        if isCredit, call.scope != nil {
            throw BooksRefusal(403, "a credit is paid out by an admin")
        }
        guard let name = BookAccounts.bills(bill.party) else { throw BooksRefusal.impossible("party") }
        let wallet = try TransferDesk.account(bill.party, .inr, database)
        try LedgerRows.post(
            Transfer(
                at: call.now, text: "payment of \(call.id), in these books only",
                postings: [
                    Posting(AccountKey(name, .inr), isCredit ? -amount : amount),
                    Posting(wallet, isCredit ? amount : -amount),
                ]), key: "pay-\(call.id)-\(paid)-\(amount.count)", database)
        try database.execute(
            sql: "UPDATE books_bill SET paid = paid + ? WHERE id = ?", arguments: [amount.count, call.id])
        return JSONOut.object([
            ("bill", JSONOut.text(call.id)),
            ("paid_inr", JSONOut.text(MinorUnits(paid + amount.count).text(.inr))),
            ("note", "\"moved within these books; no payment was made by this program\""),
        ])
    }
}

/// Why a line is what it is: each of its blocks, the readings behind it, the site's own records.
enum LineReason {
    private static let most = 3_000

    static func text(
        _ line: BillLine, _ number: Int64, _ run: Int64, _ database: Database
    ) throws -> String {
        var text =
            "\(line.id): \(line.kind.words), \(line.reference)\n"
            + "\(line.quantity.kilowattHours) kWh × \(line.price.text) INR/kWh, exactly "
            + "\(FixedText.write(line.exact.nano, decimals: 9)) INR, rounded once to \(line.amount.text(.inr)) INR\n"
        if !line.adjusts.isEmpty { text += "corrects \(line.adjusts): later data changed its blocks\n" }
        if line.kind == .share {
            return text + "a part of what \(line.reference) earned in this run, as its owners' shares say\n"
        }
        let blocks = try Row.fetchCursor(
            database,
            sql: """
                SELECT zone, start_s, entries FROM books_block WHERE run = ? AND start_s >= ? AND start_s < ?
                ORDER BY start_s, zone
                """, arguments: [run, line.from.seconds, line.until.seconds])
        let resources = try Row.fetchAll(
            database, sql: "SELECT number, id, zone FROM books_resource WHERE party = ? ORDER BY id",
            arguments: [line.party])
        var shown = 0
        while let row = try blocks.next() {
            let bytes: Data = row["entries"]
            var quantity: WattHours?
            EntryBlob.read(Array(bytes)) { if $0 == number { quantity = $1 } }
            guard let quantity else { continue }
            shown += 1
            if shown > most { return text + "… more blocks follow\n" }
            text +=
                "\(UTCInstant(seconds: row["start_s"]).text) \(row["zone"] as String): \(quantity.count) Wh\n"
            for resource in resources where resource["zone"] == (row["zone"] as String) {
                text += try readings(resource, row["start_s"], database)
            }
        }
        return text
    }

    private static func readings(_ resource: Row, _ start: Int64, _ database: Database) throws -> String {
        let length = try FactsRows.length(database).seconds
        let statement = try database.cachedStatement(
            sql: """
                SELECT * FROM books_interval WHERE resource = ? AND kind = 'actual' AND start_s >= ?
                AND start_s < ? ORDER BY start_s, revision
                """)
        let rows = try Row.fetchAll(
            statement, arguments: [resource["number"] as Int64, start, start + length])
        let id: String = resource["id"]
        if rows.isEmpty { return "    \(id): no interval, rebuilt from its registers\n" }
        return rows.map { row in
            let record: String = row["record"]
            return
                "    \(id): in \(row["import_wh"] as Int64) Wh, out \(row["export_wh"] as Int64) Wh, revision "
                + "\(row["revision"] as Int64)\(record.isEmpty ? "" : ", record \(record)")\n"
        }.joined()
    }
}
