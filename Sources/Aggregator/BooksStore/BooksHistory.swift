import Crypto
import ExactAmounts
import GRDB

/// The numbered history of the books: each event holds the hash of the one before, each day has a
/// Merkle root.
enum BooksHistory {
    static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    static func sha256(_ text: String) -> String { hexadecimal(SHA256.hash(data: Array(text.utf8))) }

    /// What is hashed of an event: its fields, each on a line, and the hash of the one before.
    static func canonical(
        after previous: String, _ sequence: Int64, _ at: Int64, _ who: String, _ kind: String, _ data: String
    ) -> String { "\(previous)\n\(sequence)\n\(at)\n\(who)\n\(kind)\n\(data)\n" }

    static func note(
        _ kind: String, who: String, at time: UTCInstant, _ data: String, _ database: Database
    ) throws {
        let last = try database.cachedStatement(
            sql: "SELECT seq, at_s, hash FROM books_event ORDER BY seq DESC LIMIT 1")
        let row = try Row.fetchOne(last)
        let (sequence, previous): (Int64, String) = row.map { ($0["seq"] + 1, $0["hash"]) } ?? (1, "")
        // The history's own time never goes back, whatever the clock does: a day's events stand together.
        let at = max(time.seconds, row?["at_s"] ?? 0)
        let hash = sha256(canonical(after: previous, sequence, at, who, kind, data))
        try database.cachedStatement(sql: "INSERT INTO books_event VALUES (?, ?, ?, ?, ?, ?)").execute(
            arguments: [sequence, at, who, kind, data, hash])
    }

    /// The number that the next event will have.
    static func next(_ database: Database) throws -> Int64 {
        let last = try database.cachedStatement(sql: "SELECT coalesce(max(seq), 0) + 1 FROM books_event")
        return try Int64.fetchOne(last) ?? 1
    }

    static func list(_ call: BooksCall, _ database: Database) throws -> String {
        let after = try call.whole("after") ?? 0
        let rows = try Row.fetchAll(
            database, sql: "SELECT * FROM books_event WHERE seq > ? ORDER BY seq LIMIT 1000",
            arguments: [after])
        let events = rows.map { row in
            JSONOut.object([
                ("seq", JSONOut.number(row["seq"])), ("at_s", JSONOut.number(row["at_s"])),
                ("who", JSONOut.text(row["who"])), ("kind", JSONOut.text(row["kind"])),
                ("data", row["data"]), ("hash", JSONOut.text(row["hash"])),
            ])
        }
        let next: Int64? = rows.count == 1_000 ? rows.last?["seq"] : nil
        return JSONOut.object([("events", JSONOut.list(events)), ("next", JSONOut.number(next))])
    }

    // MARK: Days and their roots

    private static let day: Int64 = 86_400

    /// Closes every day that is over and has events, in their order. A day is over when an event of a later
    /// one stands behind it: where the clock alone says so, that is an event too. So a clock that went ahead
    /// and came back again closes no day twice; the history's own time stays where it was.
    static func closeDays(before now: UTCInstant, _ database: Database) throws {
        let closed = try Int64.fetchOne(database, sql: "SELECT max(last) FROM books_day") ?? 0
        let last = try Row.fetchOne(
            database, sql: "SELECT seq, at_s FROM books_event ORDER BY seq DESC LIMIT 1")
        guard let last, last["seq"] > closed else { return }
        let newest: Int64 = last["at_s"]
        if now.seconds / day > newest / day {
            try note("dayOver", who: "history", at: now, "{\"after\":\(newest)}", database)
        }
        let today = max(now.seconds, newest) / day * day
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT at_s / \(day) * \(day) AS d, min(seq) AS a, max(seq) AS b FROM books_event
                WHERE seq > ? AND at_s < ? GROUP BY d ORDER BY d
                """, arguments: [closed, today])
        for row in rows {
            let leaves = try leaves(from: row["a"], to: row["b"], database)
            try database.execute(
                sql: "INSERT INTO books_day VALUES (?, ?, ?, ?)",
                arguments: [row["d"], row["a"], row["b"], root(leaves)])
        }
    }

    static func leaves(from: Int64, to: Int64, _ database: Database) throws -> [[UInt8]] {
        try String.fetchAll(
            database, sql: "SELECT hash FROM books_event WHERE seq BETWEEN ? AND ? ORDER BY seq",
            arguments: [from, to]
        ).map { leaf($0) }
    }

    /// Leaves and inner nodes begin with different bytes, so that neither passes for the other (RFC 6962).
    static func leaf(_ hash: String) -> [UInt8] { Array(SHA256.hash(data: [0] + Array(hash.utf8))) }
    static func node(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
        Array(SHA256.hash(data: [1] + left + right))
    }

    /// The tree of RFC 6962: the left half is the largest power of two below the count.
    static func tree(_ leaves: ArraySlice<[UInt8]>) -> [UInt8] {
        guard let first = leaves.first else { return Array(SHA256.hash(data: [UInt8]())) }
        if leaves.count == 1 { return first }
        let middle = leaves.startIndex + split(leaves.count)
        return node(tree(leaves[..<middle]), tree(leaves[middle...]))
    }

    static func root(_ leaves: [[UInt8]]) -> String { hexadecimal(tree(leaves[...])) }

    private static func split(_ count: Int) -> Int {
        var half = 1
        while half * 2 < count { half *= 2 }
        return half
    }

    /// The siblings from the leaf up, each with the side that it stands on.
    static func path(_ index: Int, _ leaves: ArraySlice<[UInt8]>) -> [(isLeft: Bool, hash: [UInt8])] {
        if leaves.count < 2 { return [] }
        let middle = leaves.startIndex + split(leaves.count)
        if index < middle { return path(index, leaves[..<middle]) + [(false, tree(leaves[middle...]))] }
        return path(index, leaves[middle...]) + [(true, tree(leaves[..<middle]))]
    }

    static func roots(_ database: Database) throws -> String {
        let rows = try Row.fetchAll(database, sql: "SELECT * FROM books_day ORDER BY day_s DESC LIMIT 1000")
        let days = rows.map { row in
            JSONOut.object([
                ("day", JSONOut.text(UTCInstant(seconds: row["day_s"]).day)),
                ("first", JSONOut.number(row["first"])), ("last", JSONOut.number(row["last"])),
                ("root", JSONOut.text(row["root"])),
            ])
        }
        return JSONOut.object([("days", JSONOut.list(days))])
    }

    static func proof(_ call: BooksCall, _ database: Database) throws -> String {
        guard let sequence = Int64(call.id),
            let event = try Row.fetchOne(
                database, sql: "SELECT * FROM books_event WHERE seq = ?", arguments: [sequence])
        else { throw BooksRefusal.unknown("event \(call.id)") }
        let records = try records(call, sequence, event["data"], database)
        if call.scope != nil, event["who"] != call.caller.name, records.isEmpty {
            throw BooksRefusal.notYours("this event")
        }
        let day = try Row.fetchOne(
            database, sql: "SELECT * FROM books_day WHERE first <= ? AND last >= ?",
            arguments: [sequence, sequence])
        guard let day else { throw BooksRefusal(409, "this event's day is not over yet") }
        let first: Int64 = day["first"]
        let leaves = try leaves(from: first, to: day["last"], database)
        let previous = try String.fetchOne(
            database, sql: "SELECT hash FROM books_event WHERE seq = ?", arguments: [sequence - 1])
        return JSONOut.object([
            ("seq", JSONOut.number(sequence)), ("at_s", JSONOut.number(event["at_s"])),
            ("who", JSONOut.text(event["who"])), ("kind", JSONOut.text(event["kind"])),
            ("data", JSONOut.text(event["data"])), ("previous", JSONOut.text(previous ?? "")),
            ("day", JSONOut.text(UTCInstant(seconds: day["day_s"]).day)),
            ("root", JSONOut.text(day["root"])), ("path", pathText(Int(sequence - first), leaves)),
            ("records", JSONOut.list(records)),
        ])
    }

    static func pathText(_ index: Int, _ leaves: [[UInt8]]) -> String {
        JSONOut.list(
            path(index, leaves[...]).map { step in
                JSONOut.object([
                    ("side", step.isLeft ? "\"left\"" : "\"right\""),
                    ("hash", JSONOut.text(hexadecimal(step.hash))),
                ])
            })
    }

    /// What the query asks for of the event's records: a resource's, a party's; never somebody else's.
    private static func records(
        _ call: BooksCall, _ sequence: Int64, _ data: String, _ database: Database
    ) throws -> [String] {
        let (resource, party) = (call.query["resource"], call.query["party"])
        guard resource != nil || party != nil else { return [] }
        let trees = try RecordTree.trees(sequence, data, database).filter {
            call.caller.role.seesMoney || !["bills_root", "transfers_root"].contains($0.name)
        }
        return trees.flatMap { name, _, tree in
            tree.proofs(name) { record in
                let isMine = call.scope.map { record.parties.contains($0) } ?? true
                let isAsked = party.map { record.parties.contains($0) } ?? true
                let isOf = resource.map { record.resource == $0 } ?? true
                return isMine && isAsked && isOf
            }
        }
    }
}
