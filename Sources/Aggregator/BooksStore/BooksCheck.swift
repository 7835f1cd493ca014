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
                Line(name: "B2 no wallet and no escrow is below its floor", findings: try floors(database)),
                Line(
                    name: "B3 every interval and every reading is there once", findings: try unique(database)),
                Line(
                    name: "B4 no block is promised beyond what its resource has",
                    findings: try promised(database)),
                Line(
                    name: "B5 no certificate is above its block's final export",
                    findings: try certificates(database)),
                Line(name: "B6 the history has no gap and its chain is true", findings: try chain(database)),
                Line(
                    name: "B7 export, import, grid and losses of a block sum to 0",
                    findings: try blocks(database)),
                Line(name: "B8 every key has one answer", findings: try answers(database)),
            ]
        }
    }

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
                SELECT name || ' is not the sum of its postings' FROM books_account a WHERE balance <>
                (SELECT coalesce(sum(amount), 0) FROM books_posting WHERE account = a.id)
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
            JOIN books_resource r ON r.id = c.resource WHERE c.state = 'issued' AND c.energy_wh > (
                SELECT coalesce(sum(export_wh), 0) FROM books_interval i
                WHERE i.resource = r.number AND i.kind = 'actual' AND i.start_s >= c.start_s
                    AND i.start_s < c.start_s + \(length) AND revision = (SELECT max(revision)
                        FROM books_interval l WHERE l.resource = i.resource AND l.kind = i.kind
                        AND l.start_s = i.start_s))
            AND NOT EXISTS (SELECT 1 FROM books_interval late WHERE late.resource = r.number
                AND late.kind = 'actual' AND late.start_s >= c.start_s AND late.start_s < c.start_s + \(length)
                AND late.revision > 0)
            """)
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
        return []
    }

    private static func blocks(_ database: Database) throws -> [String] {
        try texts(
            database,
            """
            SELECT zone || ' ' || start_s FROM books_block
            WHERE export_wh - import_wh + grid_wh - losses_wh <> 0
            """)
            + money(database)
    }

    /// What the lines of a run come to exactly, before anything is rounded.
    private static func money(_ database: Database) throws -> [String] {
        var sums: [Int64: Int128] = [:]
        let rows = try Row.fetchCursor(database, sql: "SELECT run, exact FROM books_line")
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
