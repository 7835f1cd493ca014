import BooksFiles
import ConfigText
import ExactAmounts
import GRDB
import YAMLText

/// Tariffs as documents: each version stands as it was given, and a run names the one that it used.
enum TariffDesk {
    static func add(_ call: BooksCall, _ database: Database) throws -> String {
        let wanted = try parse(call.body)
        let number = try newest(database) + 1
        let known = number > 1 ? try file(database) : nil
        if let known { try checkSettled(known, wanted, database) }
        if let length = try Int64.fetchOne(database, sql: "SELECT block_s FROM books_zone LIMIT 1") {
            try checkBlocks(wanted, besides: known, length)
        }
        try database.execute(
            sql: "INSERT INTO books_document VALUES ('tariffs', ?, ?, ?, ?)",
            arguments: [
                number, String(decoding: call.body, as: UTF8.self), call.now.seconds, call.caller.name,
            ])
        return JSONOut.object([("version", "\(number)")])
    }

    /// A price changes where a block begins.
    ///
    /// - Parameter known: what was taken before stays taken.
    static func checkBlocks(
        _ wanted: TariffsFile, besides known: TariffsFile? = nil, _ seconds: Int64
    ) throws {
        guard let length = BlockLength(rawValue: seconds) else { return }
        let old = known?.complaints(length) ?? []
        if let complaint = wanted.complaints(length).first(where: { !old.contains($0) }) {
            throw BooksRefusal.impossible("tariffs: \(complaint)")
        }
    }

    /// What was settled keeps its prices: late data is settled at them, whatever tariffs there are then.
    private static func checkSettled(
        _ known: TariffsFile, _ wanted: TariffsFile, _ database: Database
    ) throws {
        func check(_ start: Int64) throws {
            let time = UTCInstant(seconds: start)
            if known.prices(at: time) == wanted.prices(at: time) { return }
            throw BooksRefusal.impossible(
                "tariffs: other prices at \(time.text), which is settled: let what is new begin later")
        }
        let settled = try Int64.fetchCursor(
            database,
            sql: "SELECT DISTINCT start_s FROM books_block WHERE run IN (SELECT n FROM books_run) ORDER BY 1")
        while let start = try settled.next() { try check(start) }
        // A job that is at work has read the tariffs already.
        let length = try FactsRows.length(database).seconds
        for row in try Row.fetchAll(database, sql: "SELECT * FROM books_settling") {
            let (from, until): (Int64, Int64) = (row["from_s"], row["until_s"])
            for start in stride(from: from, to: until, by: Int(length)) { try check(start) }
        }
    }

    static func newest(_ database: Database) throws -> Int64 {
        try Int64.fetchOne(database, sql: "SELECT max(n) FROM books_document WHERE kind = 'tariffs'") ?? 0
    }

    static func text(_ database: Database, version: Int64? = nil) throws -> String {
        let number = try version ?? newest(database)
        let text = try String.fetchOne(
            database, sql: "SELECT text FROM books_document WHERE kind = 'tariffs' AND n = ?",
            arguments: [number])
        guard let text else { throw BooksRefusal.unknown("tariff yet") }
        return text
    }

    static func parse(_ bytes: [UInt8]) throws -> TariffsFile {
        do { return try TariffsFile(try BooksBody.parse(bytes), file: "body") } catch {
            throw BooksRefusal.malformed("\(error)")
        }
    }

    static func file(_ database: Database, version: Int64? = nil) throws -> TariffsFile {
        try parse(Array(try text(database, version: version).utf8))
    }
}
