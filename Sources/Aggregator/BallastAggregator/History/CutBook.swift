import GRDB

/// What retention has taken out of the history, as the history itself declares it.
///
/// An entry of the kind `cut` holds rows of the table `cut`: entries of which something is gone, with the
/// digest of what is left; and stretches of entries that are gone with all they stood for, with the hash of
/// the last, on which the chain goes on. A cut is part of the chain, and says so for good.
struct CutBook {
    private let database: Database
    private let isEmpty: Bool
    private var seen: Set<Int64> = []
    private var told: [(words: String, count: Int)] = []

    init(_ database: Database) throws {
        self.database = database
        isEmpty =
            try !database.tableExists("cut")
            || !(Bool.fetchOne(database, sql: "SELECT EXISTS (SELECT 1 FROM cut)") ?? false)
    }

    /// What was cut, each with how often.
    var words: [String] { told.map { $0.count == 1 ? $0.words : "\($0.words) (\($0.count))" } }

    /// Where the chain goes on behind entries that are gone; `nil` = none is declared to be gone here.
    func past(_ sequence: Int64) throws -> ChainHead? {
        guard !isEmpty else { return nil }
        let sql = "SELECT to_seq, hash FROM cut WHERE from_seq = ? AND content = '' ORDER BY seq DESC LIMIT 1"
        return try Row.fetchOne(database, sql: sql, arguments: [sequence]).map {
            ChainHead(sequence: $0["to_seq"], hash: $0["hash"])
        }
    }

    /// The digest of what is left of an entry; `nil` = nothing was taken from it.
    func rest(of sequence: Int64) throws -> String? {
        guard !isEmpty else { return nil }
        let sql =
            "SELECT content FROM cut WHERE from_seq = ? AND content != '' ORDER BY seq DESC LIMIT 1"
        return try String.fetchOne(database, sql: sql, arguments: [sequence])
    }

    /// Takes an entry that declares a cut.
    mutating func take(_ entry: ChainEntry, _ content: inout ChainContent) throws {
        let rows = try Row.fetchCursor(
            database, sql: "SELECT * FROM cut WHERE seq = ? ORDER BY from_seq", arguments: [entry.sequence])
        while let row = try rows.next() { content.add(fields: Self.fields(row)) }
        seen.insert(entry.sequence)
        let words = entry.epoch.prefix { $0 != "," }
        if let index = told.firstIndex(where: { $0.words == words }) {
            told[index].count += 1
        } else {
            told.append((String(words), 1))
        }
    }

    /// A row that no entry declares, in words.
    func stray(seen last: Int64) throws -> String? {
        guard !isEmpty else { return nil }
        let all = Set(try Int64.fetchAll(database, sql: "SELECT DISTINCT seq FROM cut"))
        guard let stray = all.subtracting(seen).min() else { return nil }
        return "a cut is noted under \(stray), and no entry declares it"
    }

    static func fields(_ row: Row) -> [String] {
        let (from, to): (Int64, Int64) = (row["from_seq"], row["to_seq"])
        return [String(from), String(to), row["content"], row["hash"]]
    }
}
