import GRDB
import JSONText

/// Pages of what is stored: at most so many rows and about so many bytes, and where the next page begins.
extension TelemetryStore {
    struct Page: Sendable {
        /// The names of the columns, for CSV.
        var columns: [String]
        var rows: [[Cell]] = []
        /// `nil` where this is the last page.
        var next: String?

        func json(_ name: String) -> String {
            let list = rows.map { row in
                let members = zip(columns, row).map { "\"\($0)\":\($1.json)" }
                return "{" + members.joined(separator: ",") + "}"
            }
            let next = next.map(JSONText.quoted) ?? "null"
            return "{\"\(name)\":[\(list.joined(separator: ","))],\"next\":\(next)}"
        }

        /// With the cursor of the next page in a last column, the same in each row.
        var csv: String {
            let lines = rows.map { row in row.map(\.csv).joined(separator: ",") }
            return ([columns.joined(separator: ",")] + lines).joined(separator: "\r\n") + "\r\n"
        }
    }

    enum Cell: Sendable {
        case whole(Int64)
        case number(Double)
        case text(String)
        /// A JSON text.
        case json(String)

        var json: String {
            switch self {
            case .whole(let value): String(value)
            case .number(let value): String(value)
            case .text(let value): JSONText.quoted(value)
            case .json(let value): value
            }
        }

        var csv: String {
            switch self {
            case .whole(let value): String(value)
            case .number(let value): String(value)
            case .text(let value), .json(let value): Answers.field(value)
            }
        }

        var size: Int {
            switch self {
            case .whole, .number: 8
            case .text(let value), .json(let value): value.utf8.count
            }
        }
    }

    /// What a page is asked for.
    struct Wanted: Sendable {
        var site: String
        var range: Range<Int64>
        /// Behind this time and row.
        var after: (time: Int64, row: Int64)
        var limit: Int

        init(_ call: Call, most: Int = 1_000) throws {
            site = call.site
            range = try call.query.range()
            limit = try call.query.limit(most: most)
            after = (Int64.min, 0)
            guard let cursor = call.query[.cursor] else { return }
            let parts = cursor.split(separator: ".", omittingEmptySubsequences: false).map { Int64($0) }
            guard parts.count == 2, let time = parts[0], let row = parts[1] else {
                throw Refusal(.badRequest, "cursor: is not the \"next\" of an answer")
            }
            after = (time, row)
        }

        var arguments: StatementArguments {
            [site, range.lowerBound, range.upperBound, after.time, after.row, limit + 1]
        }
    }

    /// Leaves out what another stream of the site told before: a spool that was set back goes up anew under a
    /// new epoch, and what it tells again has the number and the bytes that it had.
    static let isToldFirst = """
        NOT EXISTS (SELECT 1 FROM stream CROSS JOIN record AS former
            ON former.site = stream.site AND former.epoch = stream.epoch AND former.n = record.n
            WHERE stream.site = record.site AND stream.epoch <> record.epoch
                AND former.rowid < record.rowid AND former.data = record.data)
        """

    func events(_ wanted: Wanted) async throws -> Page {
        try await pool.read { database in
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT rowid, t_ms, epoch, n, received_at, event, data FROM record
                    WHERE site = ? AND kind = 'event' AND t_ms >= ? AND t_ms < ? AND (t_ms, rowid) > (?, ?)
                        AND \(Self.isToldFirst)
                    ORDER BY t_ms, rowid LIMIT ?
                    """, arguments: wanted.arguments)
            let columns = ["t_ms", "epoch", "n", "received_at", "event", "data"]
            return try Self.page(rows, columns, wanted.limit, time: "t_ms") { row in
                [
                    .whole(row["t_ms"]), .text(row["epoch"]), .whole(row["n"]), .text(row["received_at"]),
                    .text(row["event"]), .json(row["data"]),
                ]
            }
        }
    }

    func gaps(_ wanted: Wanted) async throws -> Page {
        try await pool.read { database in
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT rowid, told_ms, epoch, from_n, to_n FROM gap
                    WHERE site = ? AND told_ms >= ? AND told_ms < ? AND (told_ms, rowid) > (?, ?)
                    ORDER BY told_ms, rowid LIMIT ?
                    """, arguments: wanted.arguments)
            return try Self.page(rows, ["told_ms", "epoch", "from", "to"], wanted.limit, time: "told_ms") {
                [.whole($0["told_ms"]), .text($0["epoch"]), .whole($0["from_n"]), .whole($0["to_n"])]
            }
        }
    }

    /// A channel by minutes.
    func minutes(_ wanted: Wanted, unit: String, channel: String) async throws -> Page {
        try await pool.read { database in
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT 0 AS rowid, start_ms, low, mean, high, seconds FROM minute
                    WHERE site = ? AND unit = ? AND channel = ? AND start_ms >= ? AND start_ms < ?
                        AND start_ms > ? ORDER BY start_ms LIMIT ?
                    """,
                arguments: [
                    wanted.site, unit, channel, wanted.range.lowerBound, wanted.range.upperBound,
                    wanted.after.time, wanted.limit + 1,
                ])
            let columns = ["start_ms", "low", "mean", "high", "seconds"]
            return try Self.page(rows, columns, wanted.limit, time: "start_ms") { row in
                [.whole(row["start_ms"])]
                    + ["low", "mean", "high", "seconds"].map { .number(row[$0]) }
            }
        }
    }

    static func page(
        _ rows: RowCursor, _ columns: [String], _ limit: Int, time: String, _ cells: (Row) -> [Cell]
    ) throws -> Page {
        var page = Page(columns: columns)
        var bytes = 0
        var last = ""
        while let row = try rows.next() {
            guard page.rows.count < limit, bytes < answerBytes else {
                page.next = last
                break
            }
            let line = cells(row)
            bytes += line.reduce(0) { $0 + $1.size }
            page.rows.append(line)
            let (at, number): (Int64, Int64) = (row[time], row["rowid"])
            last = "\(at).\(number)"
        }
        return page
    }

    /// One event, for those who listen.
    struct Told: Sendable {
        var row: Int64
        var site: String
        var json: String
    }

    /// The newest row there is, from which somebody may listen on.
    func lastRow() async throws -> Int64 {
        try await pool.read { try Int64.fetchOne($0, sql: "SELECT max(rowid) FROM record") ?? 0 }
    }

    /// Events of any site behind `row`, in the order in which they were stored, and how far was looked.
    func eventsTold(after row: Int64) async throws -> (events: [Told], through: Int64) {
        try await pool.read { database in
            let end = try Int64.fetchOne(database, sql: "SELECT max(rowid) FROM record") ?? 0
            let through = min(end, row + 2_000)
            guard through > row else { return ([], row) }
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT rowid, site, epoch, n, received_at, data FROM record
                    WHERE rowid > ? AND rowid <= ? AND kind = 'event' AND \(Self.isToldFirst)
                    ORDER BY rowid
                    """, arguments: [row, through])
            var (told, bytes): ([Told], Int) = ([], 0)
            while let row = try rows.next() {
                let (site, epoch, data): (String, String, String) = (row["site"], row["epoch"], row["data"])
                let (number, at): (Int64, String) = (row["n"], row["received_at"])
                let json =
                    "{\"site\":\(JSONText.quoted(site)),\"epoch\":\"\(epoch)\",\"n\":\(number),"
                    + "\"received_at\":\"\(at)\",\"data\":\(data)}"
                told.append(Told(row: row["rowid"], site: site, json: json))
                bytes += json.utf8.count
                if bytes > Self.answerBytes { return (told, row["rowid"]) }
            }
            return (told, through)
        }
    }
}
