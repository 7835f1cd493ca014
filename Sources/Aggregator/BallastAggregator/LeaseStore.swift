import GRDB
import JSONText

/// Leases that were asked for, and what became of each.
extension TelemetryStore {
    /// One lease as it stands.
    struct StoredLease: Sendable, Equatable {
        var sequence: Int64
        var dispatch: String
        /// Watts; `nil` = a release.
        var power: Int64?
        /// Milliseconds since 1970-01-01 00:00 UTC.
        var until: Int64
        var by: String
        var reason: String
        var askedAt: String
        /// `waiting`, `granted`, `refused`.
        var state: String
        var answer: String
        var bytes: String
        /// When the site said that it holds no more, before its time; `nil` = it never did.
        var ended: Int64?

        /// As the API shows it.
        var json: String {
            "{\"sequence\":\(sequence),\"dispatch\":\(JSONText.quoted(dispatch)),\"power_w\":\(power.map { "\($0)" } ?? "null"),"
                + "\"until_ms\":\(until),\"by\":\(JSONText.quoted(by)),\"reason\":\(JSONText.quoted(reason)),"
                + "\"asked_at\":\"\(askedAt)\",\"state\":\"\(state)\",\"answer\":\(JSONText.quoted(answer)),"
                + "\"ended_ms\":\(ended.map { "\($0)" } ?? "null")}"
        }
    }

    static func createLeases(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE lease (
                    site TEXT NOT NULL, sequence INTEGER NOT NULL, dispatch TEXT NOT NULL, power INTEGER,
                    until INTEGER NOT NULL, asked_by TEXT NOT NULL, reason TEXT NOT NULL, asked_at TEXT NOT NULL,
                    state TEXT NOT NULL, answer TEXT NOT NULL, bytes TEXT NOT NULL,
                    PRIMARY KEY (site, sequence), UNIQUE (site, dispatch));
                """)
    }

    /// Signs and stores a lease; one of the same dispatch that is there already is given back as it is.
    ///
    /// - Parameter sign: makes the lease's text for a sequence; `nil` = it cannot be signed.
    func add(
        _ request: LeaseRequest, to site: String, by person: String, now: Int64,
        sign: @escaping @Sendable (UInt64) -> String?
    ) async throws -> (lease: StoredLease, isNew: Bool)? {
        try await write { database -> (lease: StoredLease, isNew: Bool)? in
            let old = try Self.leases(in: database, "site = ? AND dispatch = ?", [site, request.dispatch])
            if let old = try Self.ended(old, of: site, in: database).first { return (old, false) }
            let last = try Int64.fetchOne(
                database, sql: "SELECT max(sequence) FROM lease WHERE site = ?", arguments: [site])
            let sequence = max(now, (last ?? 0) + 1)
            guard let bytes = sign(UInt64(sequence)) else { return nil }
            try database.execute(
                sql: "INSERT INTO lease VALUES (?, ?, ?, ?, ?, ?, ?, \(Self.now), 'waiting', '', ?)",
                arguments: [
                    site, sequence, request.dispatch, request.power, now + request.seconds * 1_000,
                    person, request.reason, bytes,
                ])
            try Self.seal(.lease, site, sequence, in: database)
            let made = try Self.leases(in: database, "site = ? AND sequence = ?", [site, sequence])
            return made.first.map { ($0, true) }
        }
    }

    /// Those that the site has not answered and that still hold, oldest first.
    func waitingLeases(of site: String, now: Int64) async throws -> [StoredLease] {
        try await pool.read {
            try Self.leases(in: $0, "site = ? AND state = 'waiting' AND until > ?", [site, now])
        }
    }

    /// The newest, at most 100, oldest first.
    func leases(of site: String) async throws -> [StoredLease] {
        try await pool.read {
            let newest = "SELECT sequence FROM lease WHERE site = ? ORDER BY sequence DESC LIMIT 100"
            let leases = try Self.leases(in: $0, "site = ? AND sequence IN (\(newest))", [site, site])
            return try Self.ended(leases, of: site, in: $0)
        }
    }

    /// So many of a site's newest events are looked at for the ends of its leases.
    private static let eventsOfEnds = 10_000

    /// With what the site said since of those that it had granted: a restart carries none on.
    private static func ended(
        _ leases: [StoredLease], of site: String, in database: Database
    ) throws -> [StoredLease] {
        guard leases.contains(where: { $0.state == "granted" }) else { return leases }
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT t_ms, CAST(json_extract(data, '$.value') AS TEXT) AS dispatch FROM
                    (SELECT t_ms, event, data FROM record WHERE site = ? AND kind = 'event'
                     ORDER BY t_ms DESC LIMIT \(eventsOfEnds))
                WHERE event = 'base_point_lapsed' AND json_valid(data)
                """, arguments: [site])
        var ends: [String: Int64] = [:]
        while let row = try rows.next() {
            // One that ends by itself names no dispatch.
            guard let dispatch = row["dispatch"] as String? else { continue }
            ends[dispatch] = min(ends[dispatch] ?? .max, row["t_ms"])
        }
        return leases.map { lease in
            var lease = lease
            let end = lease.state == "granted" ? ends[lease.dispatch] : nil
            if let end, end < lease.until { lease.ended = end }
            return lease
        }
    }

    /// What became of a site's word on a lease.
    enum Finish: Sendable, Equatable {
        case noSuchLease, taken, saidBefore
        /// The first stands; what came is kept beside it.
        case contradicts(first: LeaseResult)
    }

    /// Notes what the site made of a lease; the first answer stands.
    func finish(_ result: LeaseResult, of site: String) async throws -> Finish {
        try await write { database in
            let key: StatementArguments = [site, result.sequence]
            let known = try Self.leases(in: database, "site = ? AND sequence = ?", key)
            guard let lease = known.first else { return .noSuchLease }
            guard lease.state == "waiting" else {
                let first = LeaseResult(
                    sequence: result.sequence, isGranted: lease.state == "granted", answer: lease.answer)
                if first == result { return .saidBefore }
                let one = Contradiction(sequence: result.sequence, first: first, then: result)
                try Self.keep(one, of: site, in: database)
                return .contradicts(first: first)
            }
            try database.execute(
                sql: """
                    UPDATE lease SET state = ?, answer = ?
                    WHERE site = ? AND sequence = ? AND state = 'waiting'
                    """,
                arguments: [result.state, result.answer, site, result.sequence])
            try Self.seal(.result, site, result.sequence, in: database)
            return .taken
        }
    }

    /// Puts a lease, or what became of it, into the chain.
    static func seal(
        _ kind: ChainEntry.Kind, _ site: String, _ sequence: Int64, in database: Database
    ) throws {
        let row = try Row.fetchOne(
            database, sql: "SELECT * FROM lease WHERE site = ? AND sequence = ?", arguments: [site, sequence])
        guard let row else { return }
        var content = ChainContent()
        content.add(fields: fields(ofLease: row, isResult: kind == .result))
        try append(kind, site: site, from: sequence, to: sequence, content, in: database)
    }

    private static func leases(
        in database: Database, _ condition: String, _ arguments: StatementArguments
    ) throws -> [StoredLease] {
        let sql = "SELECT * FROM lease WHERE \(condition) ORDER BY sequence"
        return try Row.fetchAll(database, sql: sql, arguments: arguments).map {
            StoredLease(
                sequence: $0["sequence"], dispatch: $0["dispatch"], power: $0["power"], until: $0["until"],
                by: $0["asked_by"], reason: $0["reason"], askedAt: $0["asked_at"], state: $0["state"],
                answer: $0["answer"], bytes: $0["bytes"])
        }
    }
}
