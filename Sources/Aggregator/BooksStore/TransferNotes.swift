import ExactAmounts
import GRDB

/// Every transfer stands in the root of an event: one that stands in none was made by no command.
enum TransferNotes {
    private static let most: Int64 = 10_000

    /// What an older database holds is noted as it is found. Where runs note what they post, or no run was
    /// made, all is noted from the first note on, and what is not was made by no command.
    static func adopt(_ database: Database) throws {
        let isOld = try Bool.fetchOne(
            database,
            sql: """
                SELECT EXISTS (SELECT 1 FROM books_event WHERE kind = 'settle') AND NOT EXISTS (
                    SELECT 1 FROM books_event WHERE kind = 'post'
                    OR kind = 'found' AND data LIKE '%"transfers\\_root":%' ESCAPE '\\')
                """)
        let first = try ranges(database).first?.lowerBound
        let newest = try RecordTree.newestTransfer(database)
        let last = isOld == true ? newest : first.map { $0 - 1 } ?? newest
        for first in stride(from: 1, through: last, by: Int(most)) {
            let numbers = first...min(first + most - 1, last)
            let root = try RecordTree.transfers(numbers, database).root
            try BooksHistory.note(
                "found", who: "history", at: UTCInstant(seconds: 0),
                "{\"transfers\":[\(numbers.lowerBound),\(numbers.upperBound)],\"transfers_root\":\"\(root)\"}",
                database)
        }
    }

    /// What events note, in its order.
    private static func ranges(_ database: Database) throws -> [ClosedRange<Int64>] {
        let told = try String.fetchCursor(
            database,
            sql: "SELECT data FROM books_event WHERE data LIKE '%\"transfers\\_root\":%' ESCAPE '\\'")
        var ranges: [ClosedRange<Int64>] = []
        while let data = try told.next() {
            if let range = RecordTree.range(data) { ranges.append(range) }
        }
        return ranges.sorted { $0.lowerBound < $1.lowerBound }
    }

    /// Every transfer that no event notes, at most 20.
    static func findings(_ database: Database) throws -> [String] {
        // Of a database that no program of now has opened for writing, they are not noted yet.
        guard try database.tableExists("books_due") else { return [] }
        let ranges = try ranges(database)
        var (findings, noted, next) = ([String](), Int64.min, 0)
        let rows = try Row.fetchCursor(database, sql: "SELECT id, key FROM books_transfer ORDER BY id")
        while findings.count < 20, let row = try rows.next() {
            let id: Int64 = row["id"]
            while next < ranges.count, ranges[next].lowerBound <= id {
                noted = max(noted, ranges[next].upperBound)
                next += 1
            }
            if noted < id { findings.append("transfer \(row["key"] as String) was noted by no event") }
        }
        return findings
    }
}
