import Crypto
import GRDB

/// Tables of two stores beside each other, by the digest of all their rows.
enum TableDigest {
    private static let own: [(name: String, sql: String)] = [
        ("stream", "SELECT site, epoch, stored_through FROM stream WHERE stored_through > 0 ORDER BY 1, 2"),
        (
            "record",
            """
            SELECT site, epoch, n, kind, received_at, data, t_ms, event, chain, mark FROM record
            ORDER BY site, epoch, n
            """
        ),
        ("gap", "SELECT site, epoch, from_n, to_n, chain FROM gap ORDER BY 1, 2, 3, 4"),
        ("differing", "SELECT * FROM differing ORDER BY site, epoch, n"),
        ("lease", "SELECT * FROM lease ORDER BY site, sequence"),
        ("audit", "SELECT seq, at_ms, who, address, method, path, status, why, count FROM audit ORDER BY 1"),
        (
            "capture",
            "SELECT site, name, sha256, bytes, chain FROM capture WHERE stored = bytes ORDER BY 1, 2"
        ),
        (
            "capture_part",
            """
            SELECT part.* FROM capture_part AS part JOIN capture USING (site, name)
            WHERE stored = bytes ORDER BY site, name, at
            """
        ),
        ("cut", "SELECT * FROM cut ORDER BY from_seq, seq"),
        ("chain", "SELECT * FROM chain ORDER BY seq"),
        ("change", "SELECT * FROM change ORDER BY seq"),
    ]

    private static let tables = own + KeptTable.allCases.map { (name: $0.rawValue, sql: $0.selection) }

    static func compare(
        _ source: Database, _ target: Database, hasCuts: Bool
    ) throws -> HistoryReplay.Outcome {
        var outcome = HistoryReplay.Outcome(lines: [], differing: [])
        // Which stream brought something last follows from the history, as far as it is there.
        let turns =
            "SELECT site, epoch, stored_through, turn FROM stream WHERE stored_through > 0 ORDER BY 1, 2"
        // One that this version has brought is not in a database that it has not served yet.
        for (name, cutSQL) in tables where try source.tableExists(name) {
            let sql = name == "stream" && !hasCuts ? turns : cutSQL
            let (own, rebuilt) = (try digest(source, sql), try digest(target, sql))
            let words = own == rebuilt ? "the same from the history" : "ANOTHER ONE from the history"
            outcome.lines.append("\(name): \(own.rows) rows, \(own.hash.prefix(16)), \(words)")
            if own != rebuilt { outcome.differing.append(name) }
        }
        try compareMinutes(source, target, hasCuts: hasCuts, &outcome)
        return outcome
    }

    private struct Digest: Equatable {
        var rows = 0
        var hash = ""
    }

    private static func digest(_ database: Database, _ sql: String) throws -> Digest {
        let rows = try Row.fetchCursor(database, sql: sql)
        var (hash, digest) = (SHA256(), Digest())
        while let row = try rows.next() {
            digest.rows += 1
            for value in row.databaseValues {
                let bytes: [UInt8]
                switch value.storage {
                case .null: bytes = []
                case .int64(let whole): bytes = Array("i\(whole)".utf8)
                case .double(let number): bytes = Array("d\(number)".utf8)
                case .string(let text): bytes = Array("s\(text)".utf8)
                case .blob(let data): bytes = [0x62] + data
                }
                hash.update(data: Array("\(bytes.count)\n".utf8))
                hash.update(data: bytes)
            }
        }
        digest.hash = ChainText.hexadecimal(hash.finalize())
        return digest
    }

    /// Means depend in their last digits on where one step ended and the next began: they agree to 10⁻⁹.
    private static func compareMinutes(
        _ source: Database, _ target: Database, hasCuts: Bool, _ outcome: inout HistoryReplay.Outcome
    ) throws {
        func holds(_ sql: String) throws -> Bool { try Bool.fetchOne(source, sql: sql) ?? false }
        if try hasCuts || holds("SELECT EXISTS (SELECT 1 FROM retention WHERE rule = 'minutes')") {
            outcome.lines.append("minute: not compared: retention has cut it, or what it rests on")
            return
        }
        if try holds("SELECT EXISTS (SELECT 1 FROM stream WHERE rolled_through < stored_through)") {
            outcome.lines.append("minute: not compared: it is behind; a running aggregator puts it together")
            return
        }
        let sql = "SELECT * FROM minute ORDER BY site, unit, channel, start_ms"
        let (own, rebuilt) = (try Row.fetchCursor(source, sql: sql), try Row.fetchCursor(target, sql: sql))
        var (rows, isSame) = (0, true)
        while isSame {
            let (a, b) = (try own.next(), try rebuilt.next())
            guard let a, let b else {
                isSame = a == nil && b == nil
                break
            }
            rows += 1
            isSame = areAlike(a, b)
        }
        let words = isSame ? "the same from the history, to 10⁻⁹" : "ANOTHER ONE from the history"
        outcome.lines.append("minute: \(rows) rows, \(words)")
        if !isSame { outcome.differing.append("minute") }
    }

    private static func areAlike(_ a: Row, _ b: Row) -> Bool {
        for name in ["site", "unit", "channel", "start_ms"] where a[name] != b[name] as DatabaseValue {
            return false
        }
        return ["low", "high", "mean", "seconds"].allSatisfy { name in
            let (one, other): (Double, Double) = (a[name], b[name])
            return abs(one - other) <= 1e-9 * max(1, abs(one))
        }
    }
}
