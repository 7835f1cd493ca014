import ExactAmounts
import GRDB
import JSONText
import Metering

/// One point of a site's energy record.
struct EnergyPoint: Equatable {
    var name: String
    var imported: Int64
    var exported: Int64
    var importedCounter: Int64
    var exportedCounter: Int64
    /// A block of which a part was not measured is no interval; its counters say what it came to.
    var isWhole: Bool
}

/// A site's energy record, as `ballastd` writes it: `kind`, `mode`, `start_s`, `length_s`, `points`.
struct EnergyRecord: Equatable {
    var isProduction = false
    var start: Int64 = 0
    var length: Int64 = 0
    var points: [EnergyPoint] = []

    /// - Throws: where it is no such record.
    init(json: [UInt8]) throws(JSONError) {
        var record = (mode: "", start: Int64(0), length: Int64(0), points: [EnergyPoint]())
        var cursor = JSONCursor(json)
        try cursor.object { (key, cursor) throws(JSONError) in
            switch key {
            case "mode": record.mode = try cursor.string()
            case "start_s": record.start = try cursor.integer()
            case "length_s": record.length = try cursor.integer()
            case "points":
                try cursor.object { (name, cursor) throws(JSONError) in
                    record.points.append(try Self.point(name, &cursor))
                }
            case _: _ = try cursor.skipValue()
            }
        }
        isProduction = record.mode == "production"
        (start, length, points) = (record.start, record.length, record.points)
    }

    private static func point(
        _ name: String, _ cursor: inout JSONCursor
    ) throws(JSONError) -> EnergyPoint {
        var point = EnergyPoint(
            name: name, imported: 0, exported: 0, importedCounter: 0, exportedCounter: 0, isWhole: false)
        try cursor.object { (key, cursor) throws(JSONError) in
            switch key {
            case "import_wh": point.imported = try cursor.integer()
            case "export_wh": point.exported = try cursor.integer()
            case "import_counter_wh": point.importedCounter = try cursor.integer()
            case "export_counter_wh": point.exportedCounter = try cursor.integer()
            case "quality": point.isWhole = try cursor.string() == "measured"
            case _: _ = try cursor.skipValue()
            }
        }
        return point
    }
}

extension BooksStore {
    private static let rowsOfStep: Int64 = 5_000

    /// Takes the energy records behind the mark in; the mark moves in the same transaction.
    ///
    /// - Parameter now: stamps what is noted (the history's own time where it is earlier); what ends after it
    /// has not been, and is not taken.
    /// - Returns: whether there may be more to do.
    public func feedSome(at now: UTCInstant) async throws -> Bool {
        let writer = writer
        return try await Task {
            let state = try await writer.read { database -> (mark: Int64, last: Int64)? in
                guard try database.tableExists("record") else { return nil }
                return (
                    try Int64.fetchOne(database, sql: "SELECT row FROM books_feed") ?? 0,
                    try Int64.fetchOne(database, sql: "SELECT max(rowid) FROM record") ?? 0
                )
            }
            guard let state, state.mark < state.last else { return false }
            let end = min(state.mark + Self.rowsOfStep, state.last)
            try await writer.write { try Self.feed(from: state.mark, through: end, at: now, $0) }
            return end < state.last
        }.value
    }

    private static func feed(
        from mark: Int64, through end: Int64, at now: UTCInstant, _ database: Database
    ) throws {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT site, n, data FROM record WHERE rowid > ? AND rowid <= ? AND kind = 'energy'
                ORDER BY rowid
                """, arguments: [mark, end])
        var (taken, readings, simulated) = (0, 0, 0)
        var late = LateRows()
        let (event, before) = (try BooksHistory.next(database), try RecordTree.newestTransfer(database))
        for row in rows {
            // What is no energy record says nothing of energy.
            guard let record = try? EnergyRecord(json: Array((row["data"] as String).utf8)) else { continue }
            if !record.isProduction { simulated += 1 }
            // A site whose clock is ahead tells of what has not been.
            let (end, overflows) = record.start.addingReportingOverflow(record.length)
            if overflows || end > now.seconds + MeterDesk.clockTolerance { continue }
            for point in record.points {
                let source = "\(row["site"] as String)/\(point.name)"
                let name = "\(row["site"] as String):\(row["n"] as Int64)"
                let interval = try take(point, record, source, name, event, &readings, database)
                guard let interval else { continue }
                taken += 1
                if let meter = try MeterDesk.meter(interval.resource, database) {
                    let told = UTCInstant(seconds: record.start + record.length)
                    try late.note(interval, meter, at: told, database)
                    try late.noteGap(around: interval, meter, at: told, database)
                }
            }
        }
        if taken > 0 || readings > 0 {
            let roots =
                try RecordTree.note(intervalsOf: event, transfersAfter: before, database)
                + RecordTree.noteRegisters(of: event, database)
            try BooksHistory.note("feed", who: "feed", at: now, "{\"taken\":\(taken)\(roots)}", database)
        }
        try database.execute(
            sql: "UPDATE books_feed SET row = ?, taken = taken + ?, simulated = simulated + ?",
            arguments: [end, taken, simulated])
    }

    /// - Returns: the interval that somebody's resource got.
    private static func take(
        _ point: EnergyPoint, _ record: EnergyRecord, _ source: String, _ name: String,
        _ event: Int64, _ readings: inout Int, _ database: Database
    ) throws -> Interval? {
        let resource = try Row.fetchOne(
            database, sql: "SELECT number, id, from_s FROM books_resource WHERE source = ?",
            arguments: [source])
        guard let resource, let length = BlockLength(rawValue: record.length),
            record.length <= (try FactsRows.length(database).seconds),
            (0..<253_402_300_800).contains(record.start),
            record.start >= (resource["from_s"] as Int64? ?? 0)
        else { return nil }
        let (number, start): (Int64, UTCInstant) = (resource["number"], UTCInstant(seconds: record.start))
        let interval = Interval(
            resource: resource["id"], kind: .actual, start: start, length: length,
            imported: WattHours(point.imported), exported: WattHours(point.exported), revision: 0,
            quality: .measured, mode: record.isProduction ? .production : .simulated, record: name)
        // The rules of meters, but that a simulated one is kept as what it is: nothing is settled on it.
        var judged = interval
        judged.mode = .production
        var book = IntervalBook()
        guard (try? book.accept(judged)) != nil else { return nil }
        if record.isProduction {
            try database.execute(
                sql: "INSERT OR IGNORE INTO books_register VALUES (?, ?, ?, ?, ?, ?)",
                arguments: [
                    number, source, (start + record.length).seconds, point.importedCounter,
                    point.exportedCounter, event,
                ])
            readings += database.changesCount
        }
        guard point.isWhole else { return nil }
        try database.execute(
            sql: "INSERT OR IGNORE INTO books_series VALUES (?, 'actual', ?)",
            arguments: [number, record.length])
        guard try IntervalRows.length(number, .actual, database) == length else { return nil }
        let known = try Int.fetchOne(
            database,
            sql:
                "SELECT 1 FROM books_interval WHERE resource = ? AND kind = 'actual' AND start_s = ? LIMIT 1",
            arguments: [number, start.seconds])
        if known != nil { return nil }
        try IntervalRows.insert(interval, number, event: event, database)
        return interval
    }

    /// Brings into force what is due, and closes the days of the history that are over.
    public func closeDays(before now: UTCInstant) async throws {
        let writer = writer
        try await Task {
            try await writer.write { database in
                try AutomaticContracts.begin(at: now, database)
                try BooksHistory.closeDays(before: now, database)
            }
        }.value
        try await forget()
    }

    /// What was erased lies on in the write-ahead log until that is written into the file and cut.
    private func forget() async throws {
        guard remembers.withLock({ $0 }) else { return }
        let writer = writer
        try await Task {
            try await writer.writeWithoutTransaction { database in
                let isLogged = try String.fetchOne(database, sql: "PRAGMA journal_mode") == "wal"
                if isLogged { try database.checkpoint(.truncate) }
            }
        }.value
        remembers.withLock { $0 = false }
    }
}
