import GRDB
import ProgramSupport
import Testing

@testable import BallastAggregator

@Suite struct `The telemetry store` {
    static let epoch = `An edge report`.epoch
    let scratch: ScratchFolder
    let store: TelemetryStore

    init() throws {
        scratch = try ScratchFolder()
        store = try TelemetryStore(path: scratch.path + "/test.sqlite")
    }

    func report(_ numbers: ClosedRange<Int>, gaps: String = "", epoch: String = epoch) throws -> EdgeReport {
        let records = numbers.map { "{\"n\":\($0),\"data\":{\"kind\":\"telemetry\",\"was\":\($0)}}" }
        let text =
            "{\"site\":\"demo\",\"epoch\":\"\(epoch)\",\"records\":[\(records.joined(separator: ","))],"
            + "\"gaps\":[\(gaps)]}"
        return try EdgeReport(json: Array(text.utf8))
    }

    /// Without the head, which is another one each time.
    static func plain(_ outcome: TelemetryStore.Outcome) -> TelemetryStore.Outcome {
        guard case .stored(let through, let differing, _) = outcome else { return outcome }
        return .stored(through: through, differing: differing)
    }

    @Test func `commits to the disk before it answers: WAL with synchronous FULL`() throws {
        let level = try store.pool.unsafeReentrantWrite { try Int.fetchOne($0, sql: "PRAGMA synchronous") }
        let mode = try store.pool.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") }
        #expect(level == 2)
        #expect(mode == "wal")
    }

    @Test func `answers the highest number without a hole before it`() async throws {
        typealias Outcome = TelemetryStore.Outcome
        // swift-format-ignore
        let rows: [(numbers: ClosedRange<Int>, gaps: String, outcome: Outcome, why: Comment)] = [
            (2...3,   "",                        .numbersMissing(after: 0), "1 was never there"),
            (1...3,   "",                        .stored(through: 3),       "the beginning"),
            (1...3,   "",                        .stored(through: 3),       "the same again"),
            (2...5,   "",                        .stored(through: 5),       "old and new in one"),
            (7...8,   "",                        .numbersMissing(after: 5), "6 is missing"),
            (9...9,   "{\"from\":6,\"to\":8}",   .stored(through: 9),       "6 to 8 will never come"),
            (6...7,   "",                        .stored(through: 9),       "and come all the same"),
            (1...2,   "",                        .stored(through: 9),       "never back"),
        ]
        for row in rows {
            let outcome = try await store.store(try report(row.numbers, gaps: row.gaps))
            #expect(Self.plain(outcome) == row.outcome, row.why)
        }
        let numbers = try await store.pool.read {
            try Int.fetchAll($0, sql: "SELECT n FROM record ORDER BY n")
        }
        #expect(numbers == [1, 2, 3, 4, 5, 6, 7, 9])
    }

    @Test func `keeps epochs apart and shows the newest`() async throws {
        let other = String(repeating: "a", count: 32)
        #expect(Self.plain(try await store.store(try report(1...4))) == .stored(through: 4))
        #expect(Self.plain(try await store.store(try report(1...2, epoch: other))) == .stored(through: 2))
        let stream = try #require(try await store.stream(of: "demo"))
        #expect(stream.epoch == other)
        #expect(stream.storedThrough == 2)
    }

    @Test func `keeps a report whose request was cancelled after it began`() async throws {
        let report = try report(1...500)
        let request = Task { [store] in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await store.store(report)
        }
        #expect(Self.plain(try await request.value) == .stored(through: 500))
        #expect(try await store.stream(of: "demo")?.storedThrough == 500)
    }

    @Test func `tells a record that differs from the stored one with its number, and keeps both`()
        async throws
    {
        #expect(Self.plain(try await store.store(try report(1...3))) == .stored(through: 3))
        let other = try EdgeReport(
            json: Array(
                ("{\"site\":\"demo\",\"epoch\":\"\(Self.epoch)\",\"records\":["
                    + "{\"n\":2,\"data\":{\"kind\":\"telemetry\",\"was\":2}},{\"n\":3,\"data\":{\"x\":1}}]}")
                    .utf8))
        #expect(Self.plain(try await store.store(other)) == .stored(through: 3, differing: [3]))
        let kept = try await store.pool.read {
            try String.fetchAll(
                $0, sql: "SELECT data FROM record WHERE n = 3 UNION ALL SELECT data FROM differing")
        }
        #expect(kept == ["{\"kind\":\"telemetry\",\"was\":3}", "{\"x\":1}"])
    }

    @Test func `keeps absurd values as they came, and shows none of them as a state`() async throws {
        let absurd = ["1e999", "-1", "1.5", "9223372036854775808", "\"x\"", "null", "[]", "253402300800000"]
        let records = absurd.enumerated().map { index, value in
            "{\"n\":\(index + 1),\"data\":{\"v\":1,\"kind\":\"snapshot\",\"t_ms\":\(value),"
                + "\"values\":{\"frequency_uhz\":[0,1e999]},\"units\":7}}"
        }
        let text =
            "{\"site\":\"demo\",\"epoch\":\"\(Self.epoch)\",\"records\":[\(records.joined(separator: ","))]}"
        let report = try EdgeReport(json: Array(text.utf8))
        #expect(report.records.map(\.time) == Array(repeating: nil, count: 8))
        #expect(Self.plain(try await store.store(report)) == .stored(through: 8))
        #expect(try await store.state(of: "demo")?.telemetry == nil)
        while try await store.rollUpSome() {}
        let minutes = try await store.pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM minute") }
        #expect(minutes == 0)
    }

    @Test func `stores many reports that come at once in few transactions, each whole`() async throws {
        let sites = 200
        try await withThrowingTaskGroup(of: TelemetryStore.Outcome.self) { group in
            for index in 0..<sites {
                let epoch = String(repeating: "0", count: 29) + String(1_000 + index).suffix(3)
                let report = try report(1...3, epoch: epoch)
                group.addTask { [store] in try await store.store(report) }
            }
            for try await outcome in group {
                #expect(Self.plain(outcome) == .stored(through: 3))
            }
        }
        let count = try await store.pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM record") }
        #expect(count == 600)
        #expect(await store.commitCount() < 100)
    }

    @Test func `reads a file of the first version on, and finds its events by their times`() async throws {
        let path = scratch.path + "/old.sqlite"
        let old = try DatabaseQueue(path: path)
        try await old.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
                    INSERT INTO grdb_migrations VALUES ('v1'), ('v2');
                    CREATE TABLE stream (
                        site TEXT NOT NULL, epoch TEXT NOT NULL, stored_through INTEGER NOT NULL,
                        first_seen TEXT NOT NULL, last_seen TEXT NOT NULL, PRIMARY KEY (site, epoch));
                    CREATE TABLE record (
                        site TEXT NOT NULL, epoch TEXT NOT NULL, n INTEGER NOT NULL, kind TEXT NOT NULL,
                        received_at TEXT NOT NULL, data TEXT NOT NULL, PRIMARY KEY (site, epoch, n));
                    CREATE TABLE gap (
                        site TEXT NOT NULL, epoch TEXT NOT NULL, from_n INTEGER NOT NULL, to_n INTEGER NOT NULL,
                        PRIMARY KEY (site, epoch, from_n, to_n));
                    INSERT INTO stream VALUES
                        ('demo', 'e', 2, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:01.000Z');
                    INSERT INTO record VALUES
                        ('demo', 'e', 1, 'event', '2026-01-01T00:00:01.000Z', '{"t_ms":5,"event":"trip"}'),
                        ('demo', 'e', 2, 'event', '1970-01-01T00:00:07.000Z', '{"t_ms":"x","event":[]}'),
                        ('demo', 'e', 3, 'event', '1970-01-01T00:00:08.000Z', '{no JSON');
                    """)
        }
        try old.close()
        let store = try TelemetryStore(path: path)
        let rows = try store.pool.read {
            try Row.fetchAll($0, sql: "SELECT t_ms, event FROM record ORDER BY n")
        }
        #expect(rows.map { $0["t_ms"] as Int } == [5, 7_000, 8_000])
        #expect(rows.map { $0["event"] as String } == ["trip", "", ""])
        #expect(try await store.stream(of: "demo")?.storedThrough == 2)
    }

    /// 50 Hz + 1 mHz per second over three minutes, a row each second: the mean of a minute has a closed form.
    @Test func `puts values together by minutes, and across its own steps`() async throws {
        let start: Int64 = 1_800_000_000_000
        func snapshot(_ n: Int, _ second: Int) -> String {
            "{\"n\":\(n),\"data\":{\"v\":1,\"kind\":\"snapshot\",\"mono_ms\":0,\"t_ms\":\(start + Int64(second) * 1_000),"
                + "\"mode\":\"production\",\"site\":\"demo\",\"values\":{\"frequency_uhz\":[0,\(50_000_000 + second * 1_000)]},"
                + "\"units\":[{\"id\":\"B\",\"values\":{\"power_w\":[101,-7000]}}],\"counters\":{}}}"
        }
        func delta(_ n: Int, _ second: Int) -> String {
            "{\"n\":\(n),\"data\":{\"v\":1,\"kind\":\"delta\",\"mono_ms\":0,\"t_ms\":\(start + Int64(second) * 1_000),"
                + "\"mode\":\"production\",\"rows\":[[0,0,\(50_000_000 + second * 1_000)]]}}"
        }
        for part in 0..<3 {
            let records = (part * 60...part * 60 + 59).map { $0 == 0 ? snapshot(1, 0) : delta($0 + 1, $0) }
            let last = part == 2 ? [delta(181, 180)] : []
            _ = try await store.store(
                try EdgeReport(
                    json: Array(
                        ("{\"site\":\"demo\",\"epoch\":\"\(Self.epoch)\",\"records\":["
                            + (records + last).joined(separator: ",") + "]}").utf8)))
            while try await store.rollUpSome() {}
        }
        #expect(try await store.rollUpSome() == false)
        let rows = try store.pool.read {
            try Row.fetchAll(
                $0, sql: "SELECT * FROM minute WHERE channel = 'frequency_hz' AND unit = '' ORDER BY start_ms"
            )
        }
        #expect(rows.map { $0["start_ms"] as Int64 } == [0, 60_000, 120_000].map { start + $0 })
        for (index, row) in rows.enumerated() {
            let first = 50 + Double(index) * 0.06
            #expect(abs((row["mean"] as Double) - (first + 0.0295)) < 1e-9)
            #expect(abs((row["low"] as Double) - first) < 1e-9)
            #expect(abs((row["high"] as Double) - (first + 0.059)) < 1e-9)
            #expect(row["seconds"] as Double == 60)
        }
        let power = try await store.pool.read {
            try Double.fetchAll($0, sql: "SELECT mean FROM minute WHERE channel = 'power_kw' AND unit = 'B'")
        }
        #expect(power == [-7, -7, -7])
    }
}
