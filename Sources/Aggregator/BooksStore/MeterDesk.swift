import BooksFiles
import ConfigText
import ExactAmounts
import GRDB
import Metering

/// Intervals and registers as they come in, and what they come to.
enum MeterDesk {
    struct Meter {
        var number: Int64
        var party: String
    }

    static func meter(_ id: String, _ database: Database) throws -> Meter? {
        let statement = try database.cachedStatement(
            sql: "SELECT number, party FROM books_resource WHERE id = ?")
        return try Row.fetchOne(statement, arguments: [id]).map {
            Meter(number: $0["number"], party: $0["party"])
        }
    }

    static func addIntervals(_ call: BooksCall, _ database: Database) throws -> String {
        let told =
            call.operation == .addIntervalsCSV ? try IntervalBody.csv(call) : try IntervalBody.json(call)
        var desk = IntervalIntake(database: database)
        var errors: [String] = []
        for (place, interval) in told {
            guard let meter = try desk.meter(interval.resource) else {
                throw BooksRefusal.unknown("resource \(interval.resource) (\(place))")
            }
            if !call.reaches(meter.party) {
                throw BooksRefusal.notYours("resource \(interval.resource) (\(place))")
            }
            do throws(IntervalRefusal) { try desk.decide(interval) } catch {
                errors.append("\(place): \(interval.resource): \(error.text)")
                if errors.count == 20 { break }
            }
        }
        if !errors.isEmpty { throw BooksRefusal.impossible(errors.joined(separator: "\n")) }
        try desk.write()
        return desk.told
    }

    static func addRegisters(_ call: BooksCall, _ database: Database) throws -> String {
        let readings = try BooksBody.read(call) { reader in
            reader.list("registers", count: 1...1_000) { section, _ in register(section) }
        }
        for reading in readings {
            guard let meter = try meter(reading.resource, database) else {
                throw BooksRefusal.unknown("resource \(reading.resource)")
            }
            if !call.reaches(meter.party) { throw BooksRefusal.notYours("resource \(reading.resource)") }
            try add(reading, meter.number, database)
        }
        return JSONOut.object([("registers", "\(readings.count)")])
    }

    private static func register(_ reader: ConfigReader) -> RegisterReading? {
        let resource = reader.value(BooksKeys.name("resource", "of which resource"))
        let meter = reader.value(BooksKeys.words("meter", "the meter's serial number"))
        let time = reader.value(BooksKeys.time("at", "when it was read"))
        let range = 0...Int64(1) << 60
        let imported = reader.value(BooksBody.whole("import_wh", range, .required, "drawn so far"))
        let exported = reader.value(BooksBody.whole("export_wh", range, .required, "given so far"))
        guard let resource, let meter, let time, let imported, let exported else { return nil }
        return RegisterReading(
            resource: resource, meter: meter, time: time, imported: WattHours(imported),
            exported: WattHours(exported))
    }

    /// The same reading again changes nothing; another one of the same instant is refused.
    static func add(_ reading: RegisterReading, _ number: Int64, _ database: Database) throws {
        let known = try Row.fetchOne(
            database, sql: "SELECT * FROM books_register WHERE resource = ? AND meter = ? AND at_s = ?",
            arguments: [number, reading.meter, reading.time.seconds])
        if let known {
            if known["import_wh"] == reading.imported.count, known["export_wh"] == reading.exported.count {
                return
            }
            throw BooksRefusal.impossible(
                "\(reading.resource): meter \(reading.meter) was read otherwise at \(reading.time.text)")
        }
        try database.execute(
            sql: "INSERT INTO books_register VALUES (?, ?, ?, ?, ?)",
            arguments: [
                number, reading.meter, reading.time.seconds, reading.imported.count, reading.exported.count,
            ])
    }

    // MARK: Reading

    static func intervals(_ call: BooksCall, _ database: Database) throws -> BooksAnswer {
        guard let id = call.query["resource"] else { throw BooksRefusal.malformed("resource: is missing") }
        // Whose meter it is, and whether there is one, is told alike to those who may not know.
        guard let meter = try meter(id, database), call.reaches(meter.party) else {
            throw call.scope == nil
                ? BooksRefusal.unknown("resource \(id)") : BooksRefusal.notYours("resource \(id)")
        }
        let rows = try IntervalRows.latest(
            "i.resource = ? AND start_s >= ? AND start_s < ?", [meter.number],
            try call.period(), limit: 3_000, database)
        if call.query["format"] == "csv" {
            return BooksAnswer(
                CSVTable.row(MeterFiles.intervalColumns) + rows.map(IntervalRows.csv).joined(), form: .csv)
        }
        return BooksAnswer(JSONOut.object([("intervals", JSONOut.list(rows.map(IntervalRows.json)))]))
    }

    static func netto(_ call: BooksCall, _ database: Database) throws -> String {
        let length = try call.whole("length_s").map { BlockLength(rawValue: $0) } ?? .quarterHour
        guard let length else { throw BooksRefusal.malformed("length_s: takes 300, 900, 3600") }
        let wanted = ["resource", "party", "zone"].compactMap { name in
            call.query[name].map { (name, $0) }
        }
        guard wanted.count == 1, let (name, id) = wanted.first else {
            throw BooksRefusal.malformed("name one of resource, party, zone")
        }
        let column = name == "resource" ? "id" : name
        let members = try Row.fetchAll(
            database,
            sql: "SELECT number, party FROM books_resource WHERE \(column) = ? AND kind <> 'grid_connection'",
            arguments: [id])
        for member in members where !call.reaches(member["party"]) {
            throw BooksRefusal.notYours("\(name) \(id)")
        }
        if members.isEmpty { throw BooksRefusal.unknown("resource in \(name) \(id)") }
        let numbers = members.map { $0["number"] as Int64 }
        let period = try call.period()
        guard let starts = length.starts(in: period) else {
            throw BooksRefusal.malformed("from, until: must stand at multiples of \(length.seconds) s UTC")
        }
        let sums = try NettoRows.netto(of: numbers, period, length, database)
        let blocks = starts.prefix(10_000).map { start in
            JSONOut.object([
                ("start", JSONOut.text(start.text)), ("netto_wh", JSONOut.number(sums[start.seconds])),
            ])
        }
        return JSONOut.object([("netto", JSONOut.list(blocks))])
    }

    static func completeness(_ call: BooksCall, _ database: Database) throws -> String {
        let period = try call.period()
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT r.id, r.party, s.length_s, count(i.start_s) AS told, sum(1 - i.is_measured) AS substituted,
                    max(i.import_wh) AS peak, sum(i.import_wh) AS drawn, sum(i.export_wh) AS given
                FROM books_resource r JOIN books_series s ON s.resource = r.number AND s.kind = 'actual'
                LEFT JOIN (\(IntervalRows.counting)) i
                    ON i.resource = r.number AND i.kind = 'actual' AND i.start_s >= ? AND i.start_s < ?
                    AND i.is_production = 1
                WHERE ? IS NULL OR r.party = ? GROUP BY r.number ORDER BY r.id
                """, arguments: [period.from.seconds, period.until.seconds, call.scope, call.scope])
        let meters = rows.map { row in
            let (length, told): (Int64, Int64) = (row["length_s"], row["told"])
            let peak: Int64? = row["peak"]
            let power = peak.map { WholeWatts(average: WattHours($0), over: length).count }
            return JSONOut.object([
                ("resource", JSONOut.text(row["id"])), ("party", JSONOut.text(row["party"])),
                ("told", "\(told)"), ("missing", "\(period.seconds / length - told)"),
                ("substituted", JSONOut.number(row["substituted"])),
                ("import_wh", JSONOut.number(row["drawn"])), ("export_wh", JSONOut.number(row["given"])),
                ("peak_import_w", JSONOut.number(power)),
            ])
        }
        return JSONOut.object([("meters", JSONOut.list(meters))])
    }
}
