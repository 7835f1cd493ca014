import GRDB

/// An alarm as it is stored: what it is about, and its machine.
struct AlarmRecord: Sendable, Equatable {
    struct Key: Sendable, Hashable {
        var rule: String
        var site: String
        /// A unit; empty = the site itself.
        var subject: String
    }

    var key: Key
    var machine: AlarmMachine
    /// What was the matter when it was raised, for people.
    var text = ""
}

/// Something that is to be told to people, on its way.
struct AlarmNotice: Sendable, Equatable {
    enum Way: String, Sendable, CaseIterable { case mail, webhook, command }

    var id: Int64 = 0
    var way: Way
    var told: AlarmMachine.Told
    var severity: AlarmMachine.Severity
    var key: AlarmRecord.Key
    var text: String
    /// UTC, in milliseconds since 1970.
    var at: Int64
    var tries = 0
}

extension TelemetryStore {
    static func createAlarms(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE alarm (
                    rule TEXT NOT NULL, site TEXT NOT NULL, subject TEXT NOT NULL, state TEXT NOT NULL,
                    raised_ms INTEGER, since_ms INTEGER, acknowledged_by TEXT, acknowledged_ms INTEGER,
                    acknowledged_why TEXT, shelved_by TEXT, shelved_ms INTEGER, shelved_why TEXT,
                    shelved_until_ms INTEGER, escalated INTEGER NOT NULL, text TEXT NOT NULL,
                    PRIMARY KEY (rule, site, subject));
                CREATE TABLE alarm_notice (
                    id INTEGER PRIMARY KEY, way TEXT NOT NULL, told TEXT NOT NULL, severity TEXT NOT NULL,
                    rule TEXT NOT NULL, site TEXT NOT NULL, subject TEXT NOT NULL, text TEXT NOT NULL,
                    at_ms INTEGER NOT NULL, tries INTEGER NOT NULL, due_ms INTEGER NOT NULL, sent_ms INTEGER,
                    fault TEXT);
                CREATE INDEX alarm_notice_due ON alarm_notice (sent_ms, due_ms);
                """)
    }

    /// What became of alarms and what is to be told of it, in one transaction: neither is there without the
    /// other.
    ///
    /// - Parameter day: that the notices sum up, so that it is summed up once.
    func save(_ alarms: [AlarmRecord], _ notices: [AlarmNotice], summaryOf day: Int64? = nil) async throws {
        try await write { database in
            var changes: [KeptChange] = []
            if let day { changes.append(KeptChange(.summary, [1, day])) }
            changes += alarms.map(Self.change)
            var id = try Int64.fetchOne(database, sql: "SELECT max(id) FROM alarm_notice") ?? 0
            for notice in notices {
                id += 1
                changes.append(
                    KeptChange(
                        .notice,
                        [
                            id, notice.way.rawValue, notice.told.rawValue, notice.severity.rawValue,
                            notice.key.rule, notice.key.site, notice.key.subject, notice.text, notice.at,
                        ]))
            }
            try Self.put(changes, in: database)
        }
    }

    static func createSummaries(_ database: Database) throws {
        try database.execute(sql: "CREATE TABLE alarm_summary (id INTEGER PRIMARY KEY, day INTEGER NOT NULL)")
    }

    /// The last day that was summed up; 0 = none.
    func lastSummaryDay() async throws -> Int64 {
        try await pool.read { try Int64.fetchOne($0, sql: "SELECT max(day) FROM alarm_summary") ?? 0 }
    }

    /// What was told since then, by what it was, each alarm once whatever the ways.
    func told(since: Int64) async throws -> [String: Int] {
        try await pool.read { database in
            let sql = """
                SELECT told, count(*) AS number FROM (
                    SELECT DISTINCT told, rule, site, subject, at_ms FROM alarm_notice
                    WHERE at_ms >= ? AND rule NOT IN ('test', 'summary')) GROUP BY told
                """
            return Dictionary(
                uniqueKeysWithValues: try Row.fetchAll(database, sql: sql, arguments: [since]).map {
                    ($0["told"], $0["number"])
                })
        }
    }

    private static func change(_ alarm: AlarmRecord) -> KeptChange {
        let (key, machine) = (alarm.key, alarm.machine)
        var (word, raised, since): (String, Int64?, Int64?) = ("clear", nil, nil)
        var act: AlarmMachine.Act?
        switch machine.state {
        case .clear: break
        case .pending(let begun): (word, since) = ("pending", begun)
        case .raised(let at): (word, raised) = ("raised", at)
        case .acknowledged(let at, let by): (word, raised, act) = ("acknowledged", at, by)
        case .leaving(let at, let by, let gone): (word, raised, act, since) = ("leaving", at, by, gone)
        }
        let names: [(any DatabaseValueConvertible)?] = [key.rule, key.site, key.subject]
        if word == "clear", machine.shelf == nil { return KeptChange(.alarm, names) }
        let shelf = machine.shelf
        let rest: [(any DatabaseValueConvertible)?] = [
            word, raised, since, act?.by, act?.at, act?.reason, shelf?.act.by, shelf?.act.at,
            shelf?.act.reason, shelf?.until, machine.isEscalated, alarm.text,
        ]
        return KeptChange(.alarm, names + rest)
    }

    /// Those that stand, as far as `rules` still has their rule.
    func alarms(_ rules: [AlarmRule]) async throws -> [AlarmRecord] {
        let settings = Dictionary(rules.map { ($0.id, $0.settings) }, uniquingKeysWith: { first, _ in first })
        return try await pool.read { database in
            let rows = try Row.fetchAll(database, sql: "SELECT * FROM alarm")
            return rows.compactMap { row in Self.record(row, settings) }
        }
    }

    private static func record(_ row: Row, _ rules: [String: AlarmMachine.Settings]) -> AlarmRecord? {
        let key = AlarmRecord.Key(rule: row["rule"], site: row["site"], subject: row["subject"])
        guard let settings = rules[key.rule] else { return nil }
        func act(_ name: String) -> AlarmMachine.Act? {
            guard let by: String = row["\(name)_by"], let at: Int64 = row["\(name)_ms"] else { return nil }
            return AlarmMachine.Act(by: by, at: at, reason: row["\(name)_why"] ?? "")
        }
        let (raised, since): (Int64, Int64) = (row["raised_ms"] ?? 0, row["since_ms"] ?? 0)
        let state: AlarmMachine.State
        switch row["state"] as String {
        case "pending": state = .pending(since: since)
        case "raised": state = .raised(at: raised)
        case "acknowledged":
            state = act("acknowledged").map { .acknowledged(raised: raised, $0) } ?? .raised(at: raised)
        case "leaving": state = .leaving(raised: raised, act("acknowledged"), since: since)
        case _: state = .clear
        }
        let until: Int64? = row["shelved_until_ms"]
        let shelf = act("shelved").flatMap { act in until.map { AlarmMachine.Shelf(act: act, until: $0) } }
        return AlarmRecord(
            key: key,
            machine: AlarmMachine(settings, state: state, shelf: shelf, isEscalated: row["escalated"]),
            text: row["text"])
    }

    /// What is to be told now, life safety before all else, then the oldest.
    func dueNotices(at now: Int64) async throws -> [AlarmNotice] {
        try await pool.read { database in
            let sql = """
                SELECT * FROM alarm_notice WHERE sent_ms IS NULL AND due_ms <= ?
                ORDER BY severity = 'life_safety' DESC, id LIMIT 8
                """
            return try Row.fetchAll(database, sql: sql, arguments: [now]).compactMap { row in
                guard let way = AlarmNotice.Way(rawValue: row["way"]),
                    let told = AlarmMachine.Told(rawValue: row["told"]),
                    let severity = AlarmMachine.Severity(rawValue: row["severity"])
                else { return nil }
                return AlarmNotice(
                    id: row["id"], way: way, told: told, severity: severity,
                    key: .init(rule: row["rule"], site: row["site"], subject: row["subject"]),
                    text: row["text"],
                    at: row["at_ms"], tries: row["tries"])
            }
        }
    }

    /// - Parameter fault: why it could not be sent; `nil` = it was.
    func tried(_ notice: AlarmNotice, fault: String?, at now: Int64) async throws {
        // One minute, two, four … an hour.
        let pause = Int64(60_000) << Int64(min(6, notice.tries))
        try await write { database in
            try database.execute(
                sql:
                    "UPDATE alarm_notice SET tries = tries + 1, sent_ms = ?, fault = ?, due_ms = ? WHERE id = ?",
                arguments: [fault == nil ? now : nil, fault, now + min(pause, 3_600_000), notice.id])
        }
    }
}
