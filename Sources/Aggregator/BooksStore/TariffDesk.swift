import BooksFiles
import ConfigText
import ExactAmounts
import GRDB
import YAMLText

/// Tariffs as documents: each version stands as it was given, and a run names the one that it used.
enum TariffDesk {
    static func add(_ call: BooksCall, _ database: Database) throws -> String {
        _ = try parse(call.body)
        let number = try newest(database) + 1
        try database.execute(
            sql: "INSERT INTO books_document VALUES ('tariffs', ?, ?, ?, ?)",
            arguments: [
                number, String(decoding: call.body, as: UTF8.self), call.now.seconds, call.caller.name,
            ])
        return JSONOut.object([("version", "\(number)")])
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
        do { return try TariffsFile(try YAMLText.parse(bytes, file: "body"), file: "body") } catch {
            throw BooksRefusal.malformed("\(error)")
        }
    }

    static func file(_ database: Database, version: Int64? = nil) throws -> TariffsFile {
        try parse(Array(try text(database, version: version).utf8))
    }
}
