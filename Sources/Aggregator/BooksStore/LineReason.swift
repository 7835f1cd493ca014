import BooksFiles
import ExactAmounts
import FoundationEssentials
import GRDB
import Settlement

/// Why a line is what it is: each of its blocks, the readings behind it, the site's own records.
enum LineReason {
    private static let most = 3_000

    static func text(
        _ line: BillLine, _ number: Int64, _ run: Int64, _ database: Database
    ) throws -> String {
        if line.kind == .share { return try share(line, run, database) }
        var text =
            "\(line.id): \(line.kind.words), \(line.reference)\n"
            + "\(line.quantity.kilowattHours) kWh × \(line.price.text) INR/kWh, exactly "
            + "\(FixedText.write(line.exact.nano, decimals: 9)) INR, rounded once to \(line.amount.text(.inr)) INR\n"
        if !line.adjusts.isEmpty { text += "corrects \(line.adjusts): later data changed its blocks\n" }
        let blocks = try Row.fetchCursor(
            database,
            sql: """
                SELECT zone, start_s, entries FROM books_block WHERE run = ? AND start_s >= ? AND start_s < ?
                ORDER BY start_s, zone
                """, arguments: [run, line.from.seconds, line.until.seconds])
        let resources = try meters(line, database)
        let contract = try contract(line, database)
        let length = try FactsRows.length(database)
        let promised = contract?.promised(length) ?? [:]
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
            if let contract, let energy = promised[UTCInstant(seconds: row["start_s"])] {
                text += "    contract \(contract.terms.id) promised \(energy.count) Wh\n"
            }
            for resource in resources where resource["zone"] == (row["zone"] as String) {
                text += try readings(resource, row["start_s"], database)
            }
        }
        return text
    }

    /// The contract that a line is of.
    private static func contract(_ line: BillLine, _ database: Database) throws -> ContractInForce? {
        guard line.kind.isOfContract || line.kind == .penalty else { return nil }
        return try ContractDesk.load("c.id = ?", [line.reference], database).first.map {
            ContractInForce(terms: $0.terms, active: $0.active)
        }
    }

    /// Whose readings say why: of a contract's line that of its resource, else the party's own.
    private static func meters(_ line: BillLine, _ database: Database) throws -> [Row] {
        let select = "SELECT number, id, zone FROM books_resource"
        if let contract = try contract(line, database) {
            return try Row.fetchAll(
                database, sql: "\(select) WHERE id = ?", arguments: [contract.terms.resource])
        }
        return try Row.fetchAll(
            database, sql: "\(select) WHERE party = ? ORDER BY id", arguments: [line.party])
    }

    /// What was earned, line by line, and which part of it this is.
    private static func share(_ line: BillLine, _ run: Int64, _ database: Database) throws -> String {
        let owners = FactsRows.owners(
            try String.fetchOne(
                database, sql: "SELECT owners FROM books_party WHERE id = ?", arguments: [line.reference])
                ?? "")
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT id, kind, reference, amount FROM books_line WHERE run = ? AND party = ? AND adjusts = ?
                AND NOT (kind = 'share' AND reference = party) ORDER BY length(id), id
                """, arguments: [run, line.reference, line.adjusts])
        let earned = rows.reduce(Int64(0)) { $0 + ($1["amount"] as Int64) }
        let whole = owners.reduce(Int64(0)) { $0 + $1.share }
        let own = owners.first { $0.party == line.party }?.share
        var text = "\(line.id): \(line.kind.words), \(line.reference): \(line.amount.text(.inr)) INR\n"
        if !line.adjusts.isEmpty { text += "corrects \(line.adjusts): later data changed its blocks\n" }
        text +=
            own.map { "\($0) of \(whole) shares of " } ?? "all of it goes to its owners: "
        text += "\(MinorUnits(earned).text(.inr)) INR, to the last paisa, which \(line.reference) earned by\n"
        for row in rows {
            text +=
                "    \(row["id"] as String): \(row["kind"] as String), \(row["reference"] as String), "
                + "\(MinorUnits(row["amount"]).text(.inr)) INR\n"
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
            let event: Int64? = row["event"]
            return
                "    \(id): in \(row["import_wh"] as Int64) Wh, out \(row["export_wh"] as Int64) Wh, revision "
                + "\(row["revision"] as Int64)\(record.isEmpty ? "" : ", record \(record)")"
                + (event.map { ", event \($0)\n" } ?? "\n")
        }.joined()
    }
}
