import GRDB
import ServiceLifecycle
import SiteRecords

/// Puts the values of the sites together by minutes, a while after they came; what it has done it knows from
/// the database, so it may die at any time.
struct RollUp: Service {
    private static let pause = Duration.seconds(5)
    private static let headTime = Duration.seconds(600)
    let store: TelemetryStore
    let log: @Sendable (String) -> Void

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var told = ContinuousClock.now - Self.headTime
            while !Task.isCancelled {
                do {
                    if ContinuousClock.now - told >= Self.headTime {
                        told = .now
                        // Kept elsewhere, by the journal, it shows a history that was made anew.
                        log("history: head \(try await store.head().text)")
                    }
                    while try await store.rollUpSome(), !Task.isCancelled {}
                } catch { log("values by minutes are behind: \(error)") }
                // Ends early only where the program ends, which the loop looks at.
                try? await Task.sleep(for: Self.pause)
            }
        }
    }
}

extension TelemetryStore {
    /// Records of one step, so that reports never wait long.
    private static let recordsOfStep = 500
    /// Between rows that lie further apart nobody knows what the values were.
    static let longestStep: Int64 = 10_000

    private struct Behind {
        var site: String
        var epoch: String
        var rolled: Int64
    }

    /// - Returns: whether there may be more to do.
    func rollUpSome() async throws -> Bool {
        let stream = try await pool.read { database in
            try Row.fetchOne(
                database,
                sql: """
                    SELECT site, epoch, rolled_through FROM stream
                    WHERE rolled_through < stored_through LIMIT 1
                    """
            ).map { Behind(site: $0["site"], epoch: $0["epoch"], rolled: $0["rolled_through"]) }
        }
        guard let stream else { return false }
        let (minutes, through) = try await pool.read { try Self.minutes(of: stream, in: $0) }
        try await write { database in
            try Self.add(minutes, of: stream.site, in: database)
            try database.execute(
                sql: "UPDATE stream SET rolled_through = ? WHERE site = ? AND epoch = ?",
                arguments: [through, stream.site, stream.epoch])
        }
        return true
    }

    /// The minutes that the next records make, and the last number that they rest on.
    private static func minutes(
        of stream: Behind, in database: Database
    ) throws -> (Minutes, through: Int64) {
        let key: StatementArguments = [stream.site, stream.epoch, stream.rolled]
        let begin =
            try Int64.fetchOne(
                database,
                sql: """
                    SELECT max(n) FROM record WHERE site = ? AND epoch = ? AND kind = 'snapshot' AND n <= ?
                    """, arguments: key) ?? stream.rolled
        let gaps = try Row.fetchAll(
            database, sql: "SELECT from_n, to_n FROM gap WHERE site = ? AND epoch = ? AND to_n > ?",
            arguments: [stream.site, stream.epoch, begin]
        ).map { row -> ClosedRange<Int64> in row["from_n"]...row["to_n"] }
        let rows = try Row.fetchCursor(
            database,
            sql: "SELECT n, kind, data FROM record WHERE site = ? AND epoch = ? AND n >= ? ORDER BY n",
            arguments: [stream.site, stream.epoch, begin])
        var (state, minutes) = (SiteRecordState(), Minutes())
        var (last, done) = (begin, 0)
        while done < recordsOfStep, let row = try rows.next() {
            let number: Int64 = row["n"]
            if gaps.contains(where: { $0.upperBound > last && $0.lowerBound < number }) { state.gap() }
            last = number
            if number > stream.rolled { done += 1 }
            let kind: String = row["kind"]
            guard kind == "snapshot" || kind == "delta" else { continue }
            let data: String = row["data"]
            // What is no column record says nothing by minutes.
            try? state.take(Array(data.utf8)) { minutes.see($0, isNew: number > stream.rolled) }
        }
        guard done < recordsOfStep else { return (minutes, max(last, stream.rolled)) }
        let stored = try Int64.fetchOne(
            database, sql: "SELECT stored_through FROM stream WHERE site = ? AND epoch = ?",
            arguments: [stream.site, stream.epoch])
        return (minutes, max(stored ?? last, last))
    }

    private static func add(_ minutes: Minutes, of site: String, in database: Database) throws {
        let statement = try database.cachedStatement(
            sql: """
                INSERT INTO minute VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (site, unit, channel, start_ms) DO UPDATE SET
                    low = min(low, excluded.low), high = max(high, excluded.high),
                    mean = (mean * seconds + excluded.mean * excluded.seconds) / (seconds + excluded.seconds),
                    seconds = seconds + excluded.seconds
                """)
        for (key, minute) in minutes.all {
            try statement.execute(arguments: [
                site, key.unit, key.channel, key.start, minute.low, minute.high,
                minute.area / minute.seconds, minute.seconds,
            ])
        }
    }
}

/// Values by minutes: each holds from its row to the next one.
struct Minutes {
    struct Key: Hashable {
        var unit: String
        var channel: String
        var start: Int64
    }

    struct Minute {
        var low: Double
        var high: Double
        var area: Double
        var seconds: Double
    }

    private(set) var all: [Key: Minute] = [:]
    private var values: [(unit: String, key: String, value: Double)] = []
    private var since: Int64 = 0

    /// A row behind the one before.
    mutating func see(_ state: borrowing SiteRecordState, isNew: Bool) {
        let now = state.wallMilliseconds
        if isNew, now > since, now - since <= TelemetryStore.longestStep { hold(until: now) }
        since = now
        var values: [(unit: String, key: String, value: Double)] = []
        state.numbers { values.append(($0, $1, $2)) }
        self.values = values
    }

    private mutating func hold(until end: Int64) {
        var from = since
        while from < end {
            let start = from - from % 60_000
            let until = min(end, start + 60_000)
            let seconds = Double(until - from) / 1_000
            for (unit, channel, value) in values {
                let new = Minute(low: value, high: value, area: 0, seconds: 0)
                let key = Key(unit: unit, channel: channel, start: start)
                var minute = all[key] ?? new
                minute.low = min(minute.low, value)
                minute.high = max(minute.high, value)
                minute.area += value * seconds
                minute.seconds += seconds
                all[key] = minute
            }
            from = until
        }
    }
}
