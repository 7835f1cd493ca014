import BooksFiles
import ConfigText
import ExactAmounts
import GRDB
import Metering

/// Intervals as a body has them: each with the place where it stands.
enum IntervalBody {
    static func json(_ call: BooksCall) throws -> [(String, Interval)] {
        let told = try BooksBody.read(call) { reader -> [Interval]? in
            if reader.has("intervals") {
                return reader.list("intervals", count: 1...1_500) { section, _ in interval(section) }
            }
            return interval(reader).map { [$0] }
        }
        return told.enumerated().map { ("intervals[\($0)]", $1) }
    }

    private static func interval(_ reader: ConfigReader) -> Interval? {
        let ends = Int64.min...Int64.max
        let resource = reader.value(BooksKeys.name("resource", "of which resource"))
        let kind = reader.value(ConfigKey<IntervalKind>.choice("kind", .fixed("actual"), "what it says"))
        let start = reader.value(BooksKeys.time("start", "its beginning"))
        let length = reader.value(
            ConfigKey<BlockLength>.oneOf("length_s", [300, 900, 3_600], "s", .fixed(900), "how long") {
                $0 == 300 ? .fiveMinutes : $0 == 900 ? .quarterHour : .hour
            })
        let imported = reader.value(BooksBody.whole("import_wh", ends, .required, "drawn"))
        let exported = reader.value(BooksBody.whole("export_wh", ends, .required, "given"))
        let revision = reader.value(
            BooksBody.whole("revision", -1_000_000...1_000_000, .fixed(0), "higher counts"))
        let quality = reader.value(
            ConfigKey<Quality>.choice("quality", .fixed("measured"), "how it is known"))
        let mode = reader.value(
            ConfigKey<RecordedMode>.choice("mode", .required, "the mode it was recorded in"))
        let record = reader.value(BooksBody.words("record", "the site's own record", without: ""))
        guard let resource, let kind, let start, let length, let imported, let exported, let revision,
            let quality, let mode, let record
        else { return nil }
        return Interval(
            resource: resource, kind: kind, start: start, length: length, imported: WattHours(imported),
            exported: WattHours(exported), revision: Int(revision), quality: quality, mode: mode,
            record: record)
    }

    static func csv(_ call: BooksCall) throws -> [(String, Interval)] {
        do throws(BooksErrors) {
            var table = try CSVTable(call.body, file: "body", columns: MeterFiles.intervalColumns)
            var told: [(String, Interval)] = []
            while let row = try table.next() {
                told.append(("line \(row.line)", try MeterFiles.interval(row, table, resources: nil)))
            }
            return told
        } catch { throw BooksRefusal.malformed("\(error)") }
    }
}

/// Decides on intervals against what is stored of the same stretches, and writes what is new.
struct IntervalIntake {
    private struct Slot: Hashable {
        var number: Int64
        var kind: IntervalKind
        var start: UTCInstant
    }

    private struct Series: Hashable {
        var number: Int64
        var kind: IntervalKind
    }

    let database: Database
    private var meters: [String: MeterDesk.Meter] = [:]
    private var lengths: [Series: BlockLength] = [:]
    /// Those that are not in the database yet.
    private var newSeries: [Series: BlockLength] = [:]
    private var books: [Slot: IntervalBook] = [:]
    private var fresh: [(number: Int64, interval: Interval)] = []
    private var (unchanged, superseding, older) = (0, 0, 0)
    private var late = LateRows()
    /// What could not be looked up, which is the database's fault and not the interval's.
    private var failure: (any Error)?

    init(database: Database) { self.database = database }

    mutating func meter(_ id: String) throws -> MeterDesk.Meter? {
        if let known = meters[id] { return known }
        let found = try MeterDesk.meter(id, database)
        meters[id] = found
        return found
    }

    /// Whether the interval may be taken; nothing is written yet.
    mutating func decide(_ interval: Interval) throws(IntervalRefusal) {
        guard let number = meters[interval.resource]?.number else { return }
        let slot = Slot(number: number, kind: interval.kind, start: interval.start)
        var book: IntervalBook
        do {
            try checkLength(interval, number)
            book = try books[slot] ?? stored(number, interval)
        } catch let refusal as IntervalRefusal { throw refusal } catch {
            failure = error
            return
        }
        switch try book.accept(interval) {
        case .added: fresh.append((number, interval))
        case .unchanged: unchanged += 1
        case .supersedes:
            superseding += 1
            fresh.append((number, interval))
        case .older:
            older += 1
            fresh.append((number, interval))
        }
        books[slot] = book
    }

    private func stored(_ number: Int64, _ interval: Interval) throws -> IntervalBook {
        var book = IntervalBook()
        for known in try IntervalRows.stored(number, interval, database) { try book.accept(known) }
        return book
    }

    /// A resource is told in stretches of one length.
    private mutating func checkLength(_ interval: Interval, _ number: Int64) throws {
        let series = Series(number: number, kind: interval.kind)
        if lengths[series] == nil {
            if let known = try IntervalRows.length(number, interval.kind, database) {
                lengths[series] = known
            } else {
                (lengths[series], newSeries[series]) = (interval.length, interval.length)
            }
        }
        if let length = lengths[series], length != interval.length {
            throw IntervalRefusal.otherLength(length)
        }
    }

    mutating func write(at time: UTCInstant) throws {
        if let failure { throw failure }
        for (series, length) in newSeries {
            try database.cachedStatement(sql: "INSERT INTO books_series VALUES (?, ?, ?)").execute(
                arguments: [series.number, series.kind.rawValue, length.seconds])
        }
        let event = try BooksHistory.next(database)
        for (number, interval) in fresh { try IntervalRows.insert(interval, number, event: event, database) }
        for (_, interval) in fresh {
            guard let meter = meters[interval.resource] else { continue }
            try late.note(interval, meter, at: time, database)
            try late.noteGap(around: interval, meter, at: time, database)
        }
    }

    var told: String {
        JSONOut.object([
            ("taken", "\(fresh.count)"), ("unchanged", "\(unchanged)"), ("superseding", "\(superseding)"),
            ("older", "\(older)"), ("late", "\(late.count)"),
        ])
    }
}

/// The rows of intervals.
enum IntervalRows {
    /// Those that count: the highest revision of each stretch.
    static let counting = """
        SELECT * FROM books_interval b WHERE revision = (SELECT max(revision) FROM books_interval c
            WHERE c.resource = b.resource AND c.kind = b.kind AND c.start_s = b.start_s)
        """

    static func length(
        _ number: Int64, _ kind: IntervalKind, _ database: Database
    ) throws -> BlockLength? {
        let statement = try database.cachedStatement(
            sql: "SELECT length_s FROM books_series WHERE resource = ? AND kind = ?")
        return try Int64.fetchOne(statement, arguments: [number, kind.rawValue])
            .flatMap { BlockLength(rawValue: $0) }
    }

    /// What is stored of the same stretch, all revisions; simulated ones are none.
    static func stored(
        _ number: Int64, _ like: Interval, _ database: Database
    ) throws -> [Interval] {
        let statement = try database.cachedStatement(
            sql: """
                SELECT * FROM books_interval WHERE resource = ? AND kind = ? AND start_s = ?
                AND is_production = 1
                """)
        let arguments: StatementArguments = [number, like.kind.rawValue, like.start.seconds]
        return try Row.fetchAll(statement, arguments: arguments).map { row in
            interval(row, like.resource, like.length)
        }
    }

    static func interval(_ row: Row, _ resource: String, _ length: BlockLength) -> Interval {
        let (isMeasured, isProduction): (Bool, Bool) = (row["is_measured"], row["is_production"])
        return Interval(
            resource: resource, kind: IntervalKind(rawValue: row["kind"]) ?? .actual,
            start: UTCInstant(seconds: row["start_s"]), length: length,
            imported: WattHours(row["import_wh"]), exported: WattHours(row["export_wh"]),
            revision: row["revision"], quality: isMeasured ? .measured : .substituted,
            mode: isProduction ? .production : .simulated, record: row["record"])
    }

    /// - Parameter event: the number of the event that will note it.
    static func insert(
        _ interval: Interval, _ number: Int64, event: Int64?, _ database: Database
    ) throws {
        try database.cachedStatement(sql: "INSERT INTO books_interval VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
            .execute(arguments: [
                number, interval.kind.rawValue, interval.start.seconds, interval.revision,
                interval.imported.count, interval.exported.count, interval.quality == .measured,
                interval.mode == .production, interval.record, event,
            ])
    }

    /// The intervals that count, of what `condition` says, in a period.
    static func latest(
        _ condition: String, _ arguments: [Int64], _ period: Period, limit: Int, _ database: Database
    ) throws -> [Interval] {
        var values = StatementArguments(arguments)
        values += [period.from.seconds, period.until.seconds, limit]
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT i.*, r.id AS name, s.length_s FROM (\(counting)) i
                JOIN books_resource r ON r.number = i.resource
                JOIN books_series s ON s.resource = i.resource AND s.kind = i.kind
                WHERE \(condition) ORDER BY i.resource, i.kind, start_s LIMIT ?
                """, arguments: values)
        return rows.map { row in
            interval(row, row["name"], BlockLength(rawValue: row["length_s"]) ?? .quarterHour)
        }
    }

    static func json(_ one: Interval) -> String {
        JSONOut.object([
            ("resource", JSONOut.text(one.resource)), ("kind", JSONOut.text(one.kind.rawValue)),
            ("start", JSONOut.text(one.start.text)), ("length_s", "\(one.length.seconds)"),
            ("import_wh", "\(one.imported.count)"), ("export_wh", "\(one.exported.count)"),
            ("revision", "\(one.revision)"), ("quality", JSONOut.text(one.quality.rawValue)),
            ("mode", JSONOut.text(one.mode.rawValue)), ("record", JSONOut.text(one.record)),
        ])
    }

    static func csv(_ one: Interval) -> String {
        CSVTable.row([
            one.resource, one.kind.rawValue, one.start.text, "\(one.length.seconds)",
            "\(one.imported.count)", "\(one.exported.count)", "\(one.revision)", one.quality.rawValue,
            one.mode.rawValue, one.record,
        ])
    }
}

/// Netto a second time, by the database: it shares no code with `IntervalBook.netto`.
enum NettoRows {
    /// By the start of each block; a block in which a part of any resource is missing has none.
    static func netto(
        of resources: [Int64], _ period: Period, _ length: BlockLength, _ database: Database
    ) throws -> [Int64: Int64] {
        let list = resources.map { "\($0)" }.joined(separator: ",")
        let seconds = length.seconds
        let rows = try Row.fetchAll(
            database,
            sql: """
                WITH latest AS (
                    SELECT resource, start_s, export_wh - import_wh AS net,
                        row_number() OVER (PARTITION BY resource, start_s ORDER BY revision DESC) AS place
                    FROM books_interval WHERE kind = 'actual' AND is_production = 1
                        AND resource IN (\(list)) AND start_s >= ? AND start_s < ?)
                SELECT l.start_s - l.start_s % \(seconds) AS block, sum(net) AS net, sum(s.length_s) AS told
                FROM latest l JOIN books_series s ON s.resource = l.resource AND s.kind = 'actual'
                WHERE place = 1 AND s.length_s <= \(seconds)
                GROUP BY block
                """, arguments: [period.from.seconds, period.until.seconds])
        let spans = try Membership.all(database).filter { resources.contains($0.key) }
        let whole = rows.filter { row in
            let block: Int64 = row["block"]
            let members = spans.values.filter { ($0.from ?? block) <= block && block < ($0.until ?? .max) }
            return row["told"] == seconds * Int64(members.count)
        }
        return Dictionary(uniqueKeysWithValues: whole.map { ($0["block"], $0["net"]) })
    }
}
