import Crypto
import GRDB

/// The aggregator's history as a chain: each entry holds the hash of what was stored with it and of the entry
/// before, so that whatever is changed afterwards shows, unless all that follows is made anew; and that shows
/// where somebody kept an earlier head (the log has one every few minutes).
struct ChainHead: Sendable, Equatable {
    /// 0 = nothing is there yet.
    var sequence: Int64
    /// In hexadecimal digits; empty where nothing is there yet.
    var hash: String

    /// As it stands in logs: the number, and the hash in hexadecimal digits.
    var text: String { "\(sequence):\(hash)" }
}

enum ChainText {
    static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// Of a record beside itself: tells which of an entry's records is another one.
    ///
    /// - Parameter received: when it came, where the entry holds that too; the mark then says so. `nil` = the
    ///   entry is of a version that kept it outside.
    static func mark(_ data: String, received: String?) -> String {
        let digest = SHA256.hash(data: Array("\(received ?? "")\(data)".utf8))
        return (received == nil ? "" : "t") + hexadecimal(digest.prefix(8))
    }

    /// When a record came, where its entry holds that.
    static func received(_ row: Row) -> String? {
        let mark: String = row["mark"]
        return mark.hasPrefix("t") ? row["received_at"] : nil
    }
}

/// What an entry stands for, hashed piece by piece.
struct ChainContent {
    private var hash = SHA256()
    private(set) var pieces = 0

    /// - Parameter received: when it came; `nil` in entries of versions that kept it outside.
    mutating func add(record number: Int64, _ data: String, received: String?) {
        add("r\(number) \(data.utf8.count)\(received.map { " \($0.utf8.count) \($0)" } ?? "")\n")
        hash.update(data: Array(data.utf8))
    }

    mutating func add(gap: ClosedRange<Int64>) { add("g\(gap.lowerBound)-\(gap.upperBound)\n") }

    /// Fields that may hold anything.
    mutating func add(fields: [String]) {
        for field in fields { add("f\(field.utf8.count)\n\(field)") }
    }

    private mutating func add(_ text: String) {
        hash.update(data: Array(text.utf8))
        pieces += 1
    }

    var digest: String { ChainText.hexadecimal(hash.finalize()) }
}

/// One link of the chain.
struct ChainEntry {
    enum Kind: String {
        case report, audit, lease, result
        /// A capture that is here whole, and one that has made room: its `epoch` is the capture's name.
        case capture, dropped
        /// A record that came again with another content, which is kept beside the first.
        case differing
        /// What lay there before the chain began, as it was found; its `epoch` says what: records, gaps.
        case found
        /// Rows of the tables that change, `KeptTable`.
        case change
        /// What retention has taken, declared; its `epoch` says what.
        case cut
    }

    var sequence: Int64
    var kind: String
    var site: String
    var epoch: String
    var from: Int64
    var to: Int64
    var content: String

    func hash(after previous: String) -> String {
        let text = "\(previous)\n\(sequence)\n\(kind)\n\(site)\n\(epoch)\n\(from)\n\(to)\n\(content)\n"
        return ChainText.hexadecimal(SHA256.hash(data: Array(text.utf8)))
    }

    /// For people.
    var name: String {
        let of = site.isEmpty ? "" : " of site \(site)"
        return "entry \(sequence) (\(kind)\(of), \(from) to \(to))"
    }
}

extension TelemetryStore {
    static func createChain(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE chain (
                    seq INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, site TEXT NOT NULL,
                    epoch TEXT NOT NULL, from_n INTEGER NOT NULL, to_n INTEGER NOT NULL, content TEXT NOT NULL,
                    hash TEXT NOT NULL);
                ALTER TABLE record ADD COLUMN chain INTEGER NOT NULL DEFAULT 0;
                ALTER TABLE record ADD COLUMN mark TEXT NOT NULL DEFAULT '';
                ALTER TABLE gap ADD COLUMN chain INTEGER NOT NULL DEFAULT 0;
                ALTER TABLE audit ADD COLUMN chain INTEGER NOT NULL DEFAULT 0;
                """)
    }

    static func head(in database: Database) throws -> ChainHead {
        let sql = "SELECT seq, hash FROM chain ORDER BY seq DESC LIMIT 1"
        return try database.row(sql).map { ChainHead(sequence: $0["seq"], hash: $0["hash"]) }
            ?? ChainHead(sequence: 0, hash: "")
    }

    func head() async throws -> ChainHead { try await pool.read { try Self.head(in: $0) } }

    /// Adds an entry behind the head, in the transaction that stores what it stands for.
    ///
    /// - Returns: its number.
    @discardableResult
    static func append(
        _ kind: ChainEntry.Kind, site: String = "", epoch: String = "", from: Int64, to: Int64,
        _ content: ChainContent, in database: Database
    ) throws -> Int64 {
        let head = try head(in: database)
        let entry = ChainEntry(
            sequence: head.sequence + 1, kind: kind.rawValue, site: site, epoch: epoch, from: from, to: to,
            content: content.digest)
        try database.run(
            "INSERT INTO chain VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                entry.sequence, entry.kind, site, epoch, from, to, entry.content,
                entry.hash(after: head.hash),
            ])
        return entry.sequence
    }
}
