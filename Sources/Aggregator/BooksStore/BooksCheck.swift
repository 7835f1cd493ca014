import Contracts
import ExactAmounts
import GRDB
import Ledger
import Settlement

/// B1 … B8 of the books as they lie in the database, each added up anew.
public enum BooksCheck {
    public struct Line: Sendable, Equatable {
        public var name: String
        /// What does not hold; empty where all does.
        public var findings: [String]
    }

    /// May run beside a serving aggregator: it sees one instant.
    public static func run(_ reader: any DatabaseReader) throws -> [Line] {
        try reader.read { database in
            guard try database.tableExists("books_event") else { return [] }
            return [
                Line(name: "B1 every transfer sums to 0 for each asset", findings: try transfers(database)),
                Line(
                    name: "B2 no wallet and no escrow is below its floor",
                    findings: try floors(database) + RowChecks.floors(database)
                        + RowChecks.holders(database)),
                Line(
                    name: "B3 every interval and every reading is there once", findings: try unique(database)),
                Line(
                    name: "B4 no block is promised beyond what its resource has",
                    findings: try promised(database) + RowChecks.reserved(database)),
                Line(
                    name: "B5 no issued certificate is above its block's final export"
                        + (try usedUp(database)),
                    findings: try certificates(database) + RowChecks.certificates(database)),
                Line(name: historyName, findings: try chain(database)),
                Line(
                    name: "B7 export, import, grid and losses of a block sum to 0",
                    findings: try blocks(database)),
                Line(name: "B8 every key has one answer", findings: try answers(database)),
            ]
        }
    }

    /// B6 alone.
    public static func history(_ reader: any DatabaseReader) throws -> Line? {
        try reader.read { database in
            guard try database.tableExists("books_event") else { return nil }
            return Line(name: historyName, findings: try chain(database))
        }
    }

    private static let historyName = "B6 the history has no gap, its chain is true, its records are as noted"

    private static func texts(_ database: Database, _ sql: String) throws -> [String] {
        try String.fetchAll(database, sql: sql + " LIMIT 20")
    }

    private static func transfers(_ database: Database) throws -> [String] {
        try texts(
            database,
            """
            SELECT 'transfer ' || transfer || ' in ' || asset FROM books_posting
            JOIN books_account a ON a.id = account GROUP BY transfer, asset HAVING sum(amount) <> 0
            """)
            + texts(
                database,
                """
                SELECT name || ' is not the sum of its postings' FROM books_account a LEFT JOIN (
                    SELECT account, sum(amount) AS posted FROM books_posting GROUP BY account) p
                ON p.account = a.id WHERE balance <> coalesce(posted, 0)
                """)
            + texts(
                database,
                """
                SELECT 'transfer ' || id || ' has no two postings' FROM books_transfer t
                WHERE (SELECT count(*) FROM books_posting WHERE transfer = t.id) < 2
                """)
            + texts(
                database,
                """
                SELECT 'a posting of transfer ' || transfer || ' has none' FROM books_posting
                WHERE transfer NOT IN (SELECT id FROM books_transfer)
                """)
            + texts(
                database,
                """
                SELECT name || ' is left with energy' FROM books_account
                WHERE asset = 'WH' AND name LIKE 'Assets:Party:%:Energy' AND balance <> 0
                """)
    }

    private static func floors(_ database: Database) throws -> [String] {
        try texts(
            database, "SELECT name FROM books_account WHERE floor IS NOT NULL AND balance - held < floor")
            + (try database.tableExists("books_hold")
                ? texts(
                    database,
                    """
                    SELECT name || ' is held otherwise than its holds say' FROM books_account a WHERE held <>
                    (SELECT coalesce(sum(amount), 0) FROM books_hold h WHERE h.state = 'held'
                        AND h.party = a.party AND h.asset = a.asset AND a.name LIKE 'Assets:Party:%:Wallet')
                    """) : [])
    }

    private static func unique(_ database: Database) throws -> [String] {
        try texts(
            database,
            """
            SELECT 'resource ' || resource || ' ' || start_s FROM books_interval
            GROUP BY resource, kind, start_s, revision HAVING count(*) > 1
            """)
    }

    private static func promised(_ database: Database) throws -> [String] {
        let length = try FactsRows.length(database).seconds
        return try texts(
            database,
            """
            SELECT r.id || ' ' || start_s FROM books_reserved v JOIN books_resource r ON r.id = v.resource
            GROUP BY v.resource, start_s HAVING sum(energy_wh) > r.export_max_w * \(length) / 3600
            """)
    }

    private static func certificates(_ database: Database) throws -> [String] {
        let length = try FactsRows.length(database).seconds
        return try texts(
            database,
            """
            SELECT c.resource || ' ' || c.start_s FROM books_certificate c
            JOIN books_resource r ON r.id = c.resource WHERE c.state = 'issued' AND c.energy_wh > \(final(length))
            AND c.run IN (SELECT n FROM books_run)
            """) + owned(database)
    }

    /// What everybody's certificates come to is what the ledger has of them.
    private static func owned(_ database: Database) throws -> [String] {
        guard try PendingRows.isEmpty(database) else { return [] }
        return try texts(
            database,
            """
            WITH issued AS (SELECT owner, sum(energy_wh) AS energy FROM books_certificate
                    WHERE state = 'issued' AND run IN (SELECT n FROM books_run) GROUP BY owner),
                posted AS (SELECT party, balance FROM books_account
                    WHERE asset = 'CWH' AND name LIKE 'Assets:Party:%:Certificates')
            SELECT 'the certificates of ' || party || ' are not what was posted' FROM posted
                LEFT JOIN issued ON owner = party WHERE balance <> coalesce(energy, 0)
            UNION ALL SELECT 'the certificates of ' || owner || ' were not posted' FROM issued
                WHERE energy <> 0 AND owner NOT IN (SELECT party FROM posted)
            """)
    }

    /// The export of a certificate's block, as it is known now.
    private static func final(_ length: Int64) -> String {
        """
        (SELECT coalesce(sum(export_wh), 0) FROM books_interval i
        WHERE i.resource = r.number AND i.kind = 'actual' AND i.start_s >= c.start_s
            AND i.start_s < c.start_s + \(length) AND revision = (SELECT max(revision)
                FROM books_interval l WHERE l.resource = i.resource AND l.kind = i.kind
                AND l.start_s = i.start_s))
        """
    }

    /// A used-up certificate never moves: what later data takes back of it is said, for there is no way back.
    private static func usedUp(_ database: Database) throws -> String {
        let excess = final(try FactsRows.length(database).seconds)
        let row = try Row.fetchOne(
            database,
            sql: """
                SELECT count(*) AS many, sum(c.energy_wh - \(excess)) AS energy FROM books_certificate c
                JOIN books_resource r ON r.id = c.resource
                WHERE c.state = 'retired' AND c.energy_wh > \(excess)
                """)
        guard let row, let energy: Int64 = row["energy"] else { return "" }
        return
            "; used up before later data took them back: \(row["many"] as Int64) certificates, \(energy) Wh"
    }

    private static func chain(_ database: Database) throws -> [String] {
        let rows = try Row.fetchCursor(database, sql: "SELECT * FROM books_event ORDER BY seq")
        var (previous, expected) = ("", Int64(1))
        while let row = try rows.next() {
            let sequence: Int64 = row["seq"]
            if sequence != expected { return ["event \(expected) is missing"] }
            let text = BooksHistory.canonical(
                after: previous, sequence, row["at_s"], row["who"], row["kind"], row["data"])
            previous = row["hash"]
            if BooksHistory.sha256(text) != previous { return ["event \(sequence) is not as it was noted"] }
            expected += 1
        }
        for day in try Row.fetchAll(database, sql: "SELECT * FROM books_day") {
            let leaves = try BooksHistory.leaves(from: day["first"], to: day["last"], database)
            if BooksHistory.root(leaves) != day["root"] {
                return ["the root of \(UTCInstant(seconds: day["day_s"]).day) is another"]
            }
        }
        return try RecordTree.findings(database) + tariffs(database) + RowChecks.versions(database)
    }

    /// Each version of the tariffs is the body that the history noted.
    private static func tariffs(_ database: Database) throws -> [String] {
        let noted = try String.fetchAll(
            database, sql: "SELECT data FROM books_event WHERE kind = 'addTariffs' ORDER BY seq")
        let texts = try String.fetchAll(
            database, sql: "SELECT text FROM books_document WHERE kind = 'tariffs' ORDER BY n")
        if noted.count != texts.count {
            return ["\(noted.count) tariffs were noted, \(texts.count) are there"]
        }
        return zip(noted, texts).enumerated().compactMap { index, pair in
            let digest = BooksStore.digest("addTariffs \n", Array(pair.1.utf8))
            return pair.0.hasPrefix("{\"body_sha256\":\"\(digest)\"")
                ? nil : "version \(index + 1) of the tariffs is not as it was noted"
        }
    }

    private static func blocks(_ database: Database) throws -> [String] {
        try texts(
            database,
            """
            SELECT zone || ' ' || start_s FROM books_block
            WHERE export_wh - import_wh + grid_wh - losses_wh <> 0
            """)
            + money(database) + amounts(database) + bills(database)
    }

    /// Every line is energy times price, rounded once; what owners share is no energy.
    private static func amounts(_ database: Database) throws -> [String] {
        var findings: [String] = []
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT id, quantity_wh, price, exact, amount FROM books_line
                WHERE kind <> 'share' AND run IN (SELECT n FROM books_run)
                """)
        while findings.count < 20, let row = try rows.next() {
            let exact = ExactMoney(nano: Int128(row["exact"] as String) ?? 0)
            let priced = WattHours(row["quantity_wh"]) * Price(row["price"])
            if exact.nano.magnitude != priced.nano.magnitude
                || exact.rounded(to: .inr)?.amount != MinorUnits(row["amount"])
            {
                findings.append("\(row["id"] as String) is not its energy times its price")
            }
        }
        return findings
    }

    /// A bill is the sum of its lines, and what the ledger says of it.
    private static func bills(_ database: Database) throws -> [String] {
        try texts(
            database,
            """
            SELECT id || ' is not the sum of its lines' FROM books_bill b
            WHERE run IN (SELECT n FROM books_run) AND total <> (
                SELECT coalesce(sum(amount), 0) FROM books_line l WHERE l.party = b.party AND l.run = b.run)
            """)
            + texts(
                database,
                """
                SELECT b.id || ' is not what was posted' FROM books_bill b
                WHERE run IN (SELECT n FROM books_run) AND run NOT IN (SELECT run FROM books_pending)
                AND total <> (SELECT coalesce(sum(amount), 0) FROM books_transfer t
                    JOIN books_posting p ON p.transfer = t.id JOIN books_account a ON a.id = p.account
                    WHERE t.key = 'r' || b.run || '/bill-' || b.party AND a.asset = 'INR'
                    AND a.name LIKE 'Assets:Party:%:Bills' AND a.party = b.party)
                """)
            + payments(database)
    }

    /// What came out of escrow counts for the bill's party; what is paid of the rest, against it, and never
    /// beyond it.
    private static func payments(_ database: Database) throws -> [String] {
        let (payments, escrow) = (BillRows.paymentKeys, BillRows.escrowKeys)
        // Who only looks at an older database finds it as it is.
        guard try database.columns(in: "books_bill").contains(where: { $0.name == "escrow" }) else {
            return try texts(
                database,
                """
                SELECT b.id || ' is paid otherwise than was posted' FROM books_bill b
                WHERE run IN (SELECT n FROM books_run)
                AND paid <> abs(\(BillRows.posted("(\(payments) OR \(escrow))")))
                """)
        }
        return try texts(
            database,
            """
            SELECT b.id || ' is paid otherwise than was posted' FROM books_bill b
            WHERE run IN (SELECT n FROM books_run) AND (paid > abs(total + escrow)
                OR paid <> iif(total + escrow > 0, -1, 1) * \(BillRows.posted(payments)))
            """)
            + texts(
                database,
                """
                SELECT b.id || ' is paid from escrow otherwise than was posted' FROM books_bill b
                WHERE run IN (SELECT n FROM books_run) AND escrow <> \(BillRows.posted(escrow))
                """)
    }

    /// What the lines of a run come to exactly, before anything is rounded.
    private static func money(_ database: Database) throws -> [String] {
        var sums: [Int64: Int128] = [:]
        let rows = try Row.fetchCursor(
            database, sql: "SELECT run, exact FROM books_line WHERE run IN (SELECT n FROM books_run)")
        while let row = try rows.next() {
            sums[row["run"], default: 0] += Int128(row["exact"] as String) ?? Int128.max / 2
        }
        return sums.filter { $0.value != 0 }.map { "the money of run \($0.key) does not sum to 0" }
    }

    /// Every command that was carried out is in the history once, and has one answer.
    private static func answers(_ database: Database) throws -> [String] {
        let noted =
            try Int.fetchOne(
                database,
                sql: "SELECT count(*) FROM books_event WHERE who NOT IN ('settlement', 'feed', 'history')")
            ?? 0
        let answered =
            try Int.fetchOne(
                database, sql: "SELECT count(*) FROM books_answer WHERE status < 400") ?? 0
        return noted == answered ? [] : ["\(noted) commands in the history, \(answered) answers"]
    }
}

/// The ledger's text for programs that were not written here.
public enum BooksExport {
    public static func text(_ reader: any DatabaseReader, _ format: String) throws -> String {
        try reader.read { database in
            guard let format = LedgerFormat(rawValue: format) else {
                throw SettleFailure(description: "the formats are hledger, ledger, beancount")
            }
            return try LedgerRows.whole(database).text(format)
        }
    }
}
