import BooksFiles
import ConfigText
import ExactAmounts
import GRDB
import Metering
import Settlement

/// Intervals and registers as they come in, and what they come to.
enum MeterDesk {
    struct Meter {
        var number: Int64
        var party: String
        var zone: String
        var isRenewable: Bool
        /// What it can give, in W.
        var exportMax: Int64
        /// The most that it draws, in W; `nil` = nobody told.
        var demand: Int64?
        /// It belongs to its zone from then on.
        var from: UTCInstant?
    }

    static func meter(_ id: String, _ database: Database) throws -> Meter? {
        let statement = try database.cachedStatement(
            sql: "SELECT * FROM books_resource WHERE id = ?")
        return try Row.fetchOne(statement, arguments: [id]).map { row in
            Meter(
                number: row["number"], party: row["party"], zone: row["zone"],
                isRenewable: Resource.Kind(rawValue: row["kind"])?.isRenewable ?? false,
                exportMax: row["export_max_w"], demand: row["demand_w"],
                from: Membership.instant(row["from_s"]))
        }
    }

    static func addIntervals(_ call: BooksCall, _ database: Database) throws -> String {
        let told =
            call.operation == .addIntervalsCSV ? try IntervalBody.csv(call) : try IntervalBody.json(call)
        var desk = IntervalIntake(database: database)
        let length = try FactsRows.length(database)
        var errors: [String] = []
        for (place, interval) in told {
            guard let meter = try desk.meter(interval.resource) else {
                throw BooksRefusal.unknown("resource \(interval.resource) (\(place))")
            }
            if !call.reaches(meter.party) {
                throw BooksRefusal.notYours("resource \(interval.resource) (\(place))")
            }
            if call.scope != nil { try checkOwn(interval, meter, place) }
            guard try Registry.isThere(meter.party, database) else {
                throw BooksRefusal.impossible("\(place): the party of \(interval.resource) was erased")
            }
            try checkTime(interval, meter, place, call.now, length)
            do throws(IntervalRefusal) { try desk.decide(interval) } catch {
                errors.append("\(place): \(interval.resource): \(error.text)")
                if errors.count == 20 { break }
            }
        }
        if !errors.isEmpty { throw BooksRefusal.impossible(errors.joined(separator: "\n")) }
        try desk.write(at: call.now)
        return desk.told
    }

    /// Higher revisions are an operator's: else a device could make its own word the last one.
    private static let mostOwnRevision = 100_000
    /// How far a meter's clock may be ahead of this machine's.
    static let clockTolerance: Int64 = 300

    /// What was measured has been, while the resource belonged to its zone.
    private static func checkTime(
        _ interval: Interval, _ meter: Meter, _ place: String, _ now: UTCInstant, _ length: BlockLength
    ) throws {
        guard interval.kind == .actual else { return }
        if interval.length.seconds > length.seconds {
            throw BooksRefusal.impossible(
                "\(place): \(interval.resource): length_s: is longer than a block of its zone, "
                    + "\(length.seconds) s: no block could be settled on it")
        }
        let end = interval.start + interval.length.seconds
        if end > now + clockTolerance {
            throw BooksRefusal.impossible(
                "\(place): \(interval.resource): ends at \(end.text), which is not yet: what was measured ends at "
                    + "most \(clockTolerance) s ahead of this clock, \(now.text)")
        }
        if let from = meter.from, interval.start < from {
            throw BooksRefusal.impossible(
                "\(place): \(interval.resource): belongs to its zone from \(from.text) on; where it did before, "
                    + "an operator says so with \"from\" of POST /v1/resources/\(interval.resource)")
        }
    }

    /// Who is paid for what a meter says tells no baseline, and no more than the resource can give or draw.
    private static func checkOwn(_ interval: Interval, _ meter: Meter, _ place: String) throws {
        if interval.kind != .actual {
            throw BooksRefusal(403, "\(place): a \(interval.kind.rawValue) is an operator's to tell")
        }
        if interval.revision > mostOwnRevision {
            throw BooksRefusal.impossible(
                "\(place): revision: is above \(mostOwnRevision), beyond which an operator corrects")
        }
        func most(_ power: Int64) -> Int128 { Int128(power) * Int128(interval.length.seconds) / 3_600 }
        if Int128(interval.exported.count) > most(meter.exportMax) {
            throw BooksRefusal.impossible(
                "\(place): export_wh is above what \(interval.resource) can give, \(most(meter.exportMax)) Wh by its "
                    + "export_max_kw; an operator may tell more")
        }
        // As with a gap between readings, 0 and none say nothing.
        if let demand = meter.demand, demand > 0, Int128(interval.imported.count) > most(demand) {
            throw BooksRefusal.impossible(
                "\(place): import_wh is above what \(interval.resource) can draw, \(most(demand)) Wh by its "
                    + "demand_kw; an operator may tell more")
        }
    }

    /// Between two readings no more was given than the resource can give.
    private static func checkOwn(
        _ reading: RegisterReading, _ meter: Meter, _ database: Database
    ) throws {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT at_s, export_wh FROM books_register WHERE resource = ?1 AND meter = ?2 AND at_s IN (
                    (SELECT max(at_s) FROM books_register WHERE resource = ?1 AND meter = ?2 AND at_s < ?3),
                    (SELECT min(at_s) FROM books_register WHERE resource = ?1 AND meter = ?2 AND at_s > ?3))
                """, arguments: [meter.number, reading.meter, reading.time.seconds])
        for row in rows {
            let (at, exported): (Int64, Int64) = (row["at_s"], row["export_wh"])
            let isLater = at > reading.time.seconds
            let given = isLater ? exported - reading.exported.count : reading.exported.count - exported
            let seconds = (at - reading.time.seconds).magnitude
            if Int128(given) * 3_600 > Int128(meter.exportMax) * Int128(seconds) {
                throw BooksRefusal.impossible(
                    "\(reading.resource): export_wh differs by \(given) Wh from the reading of "
                        + "\(UTCInstant(seconds: at).text): more than it can give by its export_max_kw; "
                        + "an operator may tell more")
            }
        }
    }

    static func addRegisters(_ call: BooksCall, _ database: Database) throws -> String {
        let readings = try BooksBody.read(call) { reader in
            reader.list("registers", count: 1...1_000) { section, _ in register(section) }
        }
        let event = try BooksHistory.next(database)
        var late = LateRows()
        for reading in readings {
            guard let meter = try meter(reading.resource, database) else {
                throw BooksRefusal.unknown("resource \(reading.resource)")
            }
            if !call.reaches(meter.party) { throw BooksRefusal.notYours("resource \(reading.resource)") }
            guard try Registry.isThere(meter.party, database) else {
                throw BooksRefusal.impossible("the party of \(reading.resource) was erased")
            }
            if reading.time > call.now + clockTolerance {
                throw BooksRefusal.impossible(
                    "\(reading.resource): at \(reading.time.text), which is not yet: a reading is at most "
                        + "\(clockTolerance) s ahead of this clock, \(call.now.text)")
            }
            if call.scope != nil { try checkOwn(reading, meter, database) }
            try add(reading, meter.number, event, database)
            try late.noteGaps(beside: reading, meter, at: call.now, database)
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
    private static func add(
        _ reading: RegisterReading, _ number: Int64, _ event: Int64, _ database: Database
    ) throws {
        let known = try Row.fetchOne(
            database, sql: "SELECT * FROM books_register WHERE resource = ? AND meter = ? AND at_s = ?",
            arguments: [number, reading.meter, reading.time.seconds])
        if let known {
            if known["import_wh"] == reading.imported.count, known["export_wh"] == reading.exported.count {
                return
            }
            throw BooksRefusal.impossible(
                "\(reading.resource): this meter was read otherwise at \(reading.time.text)")
        }
        try database.execute(
            sql: "INSERT INTO books_register VALUES (?, ?, ?, ?, ?, ?)",
            arguments: [
                number, reading.meter, reading.time.seconds, reading.imported.count, reading.exported.count,
                event,
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
                SELECT r.number, r.id, r.party, s.length_s, count(i.start_s) AS told, sum(1 - i.is_measured) AS substituted,
                    max(i.import_wh) AS peak, sum(i.import_wh) AS drawn, sum(i.export_wh) AS given
                FROM books_resource r JOIN books_series s ON s.resource = r.number AND s.kind = 'actual'
                LEFT JOIN (\(IntervalRows.counting)) i
                    ON i.resource = r.number AND i.kind = 'actual' AND i.start_s >= ? AND i.start_s < ?
                    AND i.is_production = 1
                WHERE ? IS NULL OR r.party = ? GROUP BY r.number ORDER BY r.id
                """, arguments: [period.from.seconds, period.until.seconds, call.scope, call.scope])
        let spans = try Membership.all(database)
        /// How many stretches of the period a resource has.
        func wanted(_ row: Row) -> Int64 {
            let length: Int64 = row["length_s"]
            let span = spans[row["number"] as Int64]
            let from = max(period.from.seconds, span?.from ?? 0)
            let until = min(period.until.seconds, span?.until ?? period.until.seconds)
            return max(row["told"], (until - from) / length)
        }
        let lacking = rows.filter { wanted($0) > ($0["told"] as Int64) }
        let numbers = lacking.map { $0["number"] as Int64 }
        let rebuilt = Dictionary(
            grouping: try SubstituteRows.of(period, of: numbers, database).intervals, by: \.resource)
        let meters = rows.map { row in
            let (length, told): (Int64, Int64) = (row["length_s"], row["told"])
            let rest = rebuilt[row["id"]] ?? []
            let (drawn, given): (Int64?, Int64?) = (row["drawn"], row["given"])
            let sum = rest.reduce((drawn ?? 0, given ?? 0)) {
                ($0.0 + $1.imported.count, $0.1 + $1.exported.count)
            }
            let substituted = (row["substituted"] as Int64? ?? 0) + Int64(rest.count)
            let peak: Int64? = row["peak"]
            let power = peak.map { WholeWatts(average: WattHours($0), over: length).count }
            return JSONOut.object([
                ("resource", JSONOut.text(row["id"])), ("party", JSONOut.text(row["party"])),
                ("told", "\(told)"), ("missing", "\(max(0, wanted(row) - told - Int64(rest.count)))"),
                ("substituted", "\(substituted)"),
                ("import_wh", "\(sum.0)"), ("export_wh", "\(sum.1)"),
                ("peak_import_w", JSONOut.number(power)),
            ])
        }
        return JSONOut.object([("meters", JSONOut.list(meters))])
    }
}
