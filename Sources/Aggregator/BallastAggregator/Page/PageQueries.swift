import FrequencyRecord
import GRDB
import JSONText

extension TelemetryStore {
    /// So many steps of a line are one field of a strip.
    static let stripSteps: Int64 = 5

    /// The newest record of a kind, whatever the stream.
    func newest(_ kind: String, of site: String) async throws -> StoredRecord? {
        try await pool.read { database in
            try Row.fetchOne(
                database,
                sql: """
                    SELECT n, received_at, data FROM record WHERE site = ? AND kind = ?
                    ORDER BY t_ms DESC, rowid DESC LIMIT 1
                    """, arguments: [site, kind]
            ).map { StoredRecord(number: $0["n"], receivedAt: $0["received_at"], data: $0["data"]) }
        }
    }

    /// The newest single cells of each unit, as JSON objects; what is half an hour older than the newest of
    /// all is not now.
    func cells(of site: String) async throws -> [String] {
        try await pool.read { database in
            let newest = try Int64.fetchOne(
                database, sql: "SELECT max(t_ms) FROM record WHERE site = ? AND kind = 'cells'",
                arguments: [site])
            guard let newest else { return [] }
            // With max() SQLite takes the other columns from the row that has it.
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT max(t_ms) AS t_ms, received_at, data, n FROM record
                    WHERE site = ? AND kind = 'cells' AND t_ms > ? AND json_valid(data)
                    GROUP BY json_extract(data, '$.unit') ORDER BY json_extract(data, '$.unit') LIMIT 64
                    """, arguments: [site, newest - 1_800_000])
            return rows.map { row in
                let record = StoredRecord(number: row["n"], receivedAt: row["received_at"], data: row["data"])
                return Answers.record(record)
            }
        }
    }

    /// What was told of the response to the frequency in a time, held against `codes`.
    func response(
        of site: String, in range: Range<Int64>, by codes: GridCodes = GridCodes()
    ) async throws -> ToldResponse {
        try await pool.read { database in
            var told = ToldResponse(codes)
            // A quarter of an hour stands at its end. What was told twice is told once, the newest.
            for (kind, first, last) in [
                ("frequency_event", range.lowerBound, range.upperBound),
                ("frequency_time", range.lowerBound &+ 1, range.upperBound &+ 1),
            ] {
                let rows = try Row.fetchCursor(
                    database,
                    sql: """
                        SELECT max(rowid), data, json_extract(data, '$.mode') IS 'production' AS real
                        FROM record
                        WHERE site = ? AND kind = ? AND json_valid(data) AND t_ms >= ? AND t_ms < ?
                        GROUP BY t_ms ORDER BY t_ms LIMIT 40000
                        """, arguments: [site, kind, first, last])
                while let row = try rows.next() {
                    let text: String = row["data"]
                    if row["real"] as Bool != true { told.isSimulated = true }
                    if kind == "frequency_event" {
                        told.take(event: Array(text.utf8))
                    } else {
                        told.take(time: Array(text.utf8))
                    }
                }
            }
            return told
        }
    }

    /// What was told of how powers from outside were followed in a time, by who asked.
    func signals(of site: String, in range: Range<Int64>) async throws -> [ToldSignal] {
        try await pool.read { database in
            var told = ToldSignal.Source.allCases.map { ToldSignal($0) }
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT max(rowid), data FROM record
                    WHERE site = ? AND kind = 'signal_time' AND t_ms >= ? AND t_ms < ? AND json_valid(data)
                    GROUP BY json_extract(data, '$.from_ms'), json_extract(data, '$.source')
                    ORDER BY t_ms LIMIT 40000
                    """, arguments: [site, range.lowerBound, range.upperBound])
            while let row = try rows.next() {
                let text: String = row["data"]
                for index in told.indices { told[index].take(Array(text.utf8)) }
            }
            return told
        }
    }

    /// The records of a kind, by the site's time.
    func records(_ kind: String, _ wanted: Wanted) async throws -> Page {
        try await pool.read { database in
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT rowid, t_ms, received_at, data FROM record
                    WHERE kind = ? AND site = ? AND t_ms >= ? AND t_ms < ? AND (t_ms, rowid) > (?, ?)
                        AND \(Self.isToldFirst)
                    ORDER BY t_ms, rowid LIMIT ?
                    """, arguments: [kind] + wanted.arguments)
            return try Self.page(rows, ["t_ms", "received_at", "data"], wanted.limit, time: "t_ms") { row in
                [.whole(row["t_ms"]), .text(row["received_at"]), .json(row["data"])]
            }
        }
    }

    /// What was asked of the aggregator for `site`, newest first, as JSON objects.
    func audit(of site: String, in range: Range<Int64>, limit: Int) async throws -> [String] {
        let plain = site.replacing("!", with: "!!").replacing("%", with: "!%").replacing("_", with: "!_")
        return try await pool.read { database in
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT at_ms, who, address, method, path, status, why, count FROM audit
                    WHERE at_ms >= ? AND at_ms < ? AND (path LIKE ? ESCAPE '!' OR who = ?
                        OR method = 'LOGIN' AND who NOT LIKE 'site %')
                    ORDER BY seq DESC LIMIT ?
                    """,
                arguments: [
                    range.lowerBound, range.upperBound, "%/sites/\(plain)/%", "site \(site)", limit,
                ])
            var texts: [String] = []
            while let row = try rows.next() {
                let (at, status, count): (Int64, Int64, Int64) = (row["at_ms"], row["status"], row["count"])
                let words = ["who", "address", "method", "path", "why"].map { name -> String in
                    "\"\(name)\":\(JSONText.quoted(row[name]))"
                }
                texts.append(
                    "{\"at_ms\":\(at),\"status\":\(status),\"count\":\(count),\(words.joined(separator: ","))}"
                )
            }
            return texts
        }
    }

    /// Lines of the site and of all its units together by steps, and of each unit by longer ones: members of
    /// a JSON object. A step is its begin, lowest, mean and highest value; one without values is not there.
    func trends(
        of site: String, units: [String], in range: Range<Int64>, step: Int64
    ) async throws -> String {
        try await pool.read { database in
            let own = try Self.lines(
                database, site, [""], ["frequency_hz", "site_power_kw", "setpoint_kw"], range, step)
            let together = try Self.lines(
                database, site, units, ["soc_percent", "cell_temperature_min_c", "cell_temperature_max_c"],
                range, step)
            let strips = try Self.strips(database, site, units, range, step * Self.stripSteps)
            return "\"channels\":{\((own + together).joined(separator: ","))},\"units\":{\(strips)}"
        }
    }

    private static func marks(_ list: [String]) -> String { list.map { _ in "?" }.joined(separator: ",") }

    private static func lines(
        _ database: Database, _ site: String, _ units: [String], _ channels: [String],
        _ range: Range<Int64>, _ step: Int64
    ) throws -> [String] {
        guard !units.isEmpty else { return [] }
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT channel, start_ms / \(step) * \(step) AS start, min(low) AS low,
                    sum(mean * seconds) / sum(seconds) AS mean, max(high) AS high FROM minute
                WHERE site = ? AND unit IN (\(marks(units))) AND channel IN (\(marks(channels)))
                    AND start_ms >= ? AND start_ms < ? GROUP BY channel, start ORDER BY channel, start
                """,
            arguments: [site] + StatementArguments(units) + StatementArguments(channels)
                + [range.lowerBound, range.upperBound])
        var points: [String: [String]] = [:]
        while let row = try rows.next() {
            let (channel, start): (String, Int64) = (row["channel"], row["start"])
            let numbers = ["low", "mean", "high"].map { number(row[$0]) }
            points[channel, default: []].append("[\(start),\(numbers.joined(separator: ","))]")
        }
        return channels.map { "\"\($0)\":[\((points[$0] ?? []).joined(separator: ","))]" }
    }

    /// Of each unit, by fields: begin, coldest and hottest cell, lowest and highest cell voltage.
    private static func strips(
        _ database: Database, _ site: String, _ units: [String], _ range: Range<Int64>, _ step: Int64
    ) throws -> String {
        guard !units.isEmpty else { return "" }
        let channels = [
            "cell_temperature_min_c", "cell_temperature_max_c", "cell_voltage_min_v", "cell_voltage_max_v",
        ]
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT unit, start_ms / \(step) * \(step) AS start,
                    min(CASE channel WHEN 'cell_temperature_min_c' THEN low END) AS coldest,
                    max(CASE channel WHEN 'cell_temperature_max_c' THEN high END) AS hottest,
                    min(CASE channel WHEN 'cell_voltage_min_v' THEN low END) AS lowest,
                    max(CASE channel WHEN 'cell_voltage_max_v' THEN high END) AS highest FROM minute
                WHERE site = ? AND unit IN (\(marks(units))) AND channel IN (\(marks(channels)))
                    AND start_ms >= ? AND start_ms < ? GROUP BY unit, start ORDER BY unit, start
                """,
            arguments: [site] + StatementArguments(units) + StatementArguments(channels)
                + [range.lowerBound, range.upperBound])
        var fields: [String: [String]] = [:]
        while let row = try rows.next() {
            let (unit, start): (String, Int64) = (row["unit"], row["start"])
            let numbers = ["coldest", "hottest", "lowest", "highest"].map { number(row[$0]) }
            fields[unit, default: []].append("[\(start),\(numbers.joined(separator: ","))]")
        }
        return units.map { "\(JSONText.quoted($0)):[\((fields[$0] ?? []).joined(separator: ","))]" }
            .joined(separator: ",")
    }

    private static func number(_ value: Double?) -> String {
        value.map { "\(($0 * 10_000).rounded() / 10_000)" } ?? "null"
    }
}
