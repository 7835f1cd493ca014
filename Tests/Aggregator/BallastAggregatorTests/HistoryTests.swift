import GRDB
import Glibc
import LinuxIO
import ProgramSupport
import Testing

@testable import BallastAggregator

/// What retention takes is declared, what was there before the chain is in it, and the whole comes out of its
/// own history again.
@Suite struct `The aggregator's history over the years` {
    let scratch: ScratchFolder
    let path: String

    init() throws {
        scratch = try ScratchFolder()
        path = scratch.path + "/history.sqlite"
    }

    private static let begin: Int64 = 1_790_000_000_000

    /// A report of `demo`: each tenth number an event, each fifth a snapshot, the others rows.
    private func report(_ numbers: ClosedRange<Int>, site: String = "demo", more: String = "") throws
        -> EdgeReport
    {
        let list = numbers.map { number -> String in
            let time = Self.begin + Int64(number) * 4_000
            let head = "\"v\":1,\"mono_ms\":\(number * 4_000),\"t_ms\":\(time),\"mode\":\"hil\""
            let data =
                if number % 10 == 0 {
                    "{\"kind\":\"event\",\(head),\"event\":\"trip\"}"
                } else if number % 5 == 1 {
                    "{\"kind\":\"snapshot\",\(head),\"site\":\"\(site)\",\"values\":{\"frequency_hz\":[1,\(50_000 + number)]},"
                        + "\"units\":[],\"counters\":{}}"
                } else { "{\"kind\":\"delta\",\(head),\"rows\":[[0,1,\(50_000 + number)]]}" }
            return "{\"n\":\(number),\"data\":\(data)}"
        }
        let text =
            "{\"site\":\"\(site)\",\"epoch\":\"\(`An edge report`.epoch)\","
            + "\"records\":[\(list.joined(separator: ","))]\(more)}"
        return try EdgeReport(json: Array(text.utf8))
    }

    /// Two sites for a while, people who ask, a lease with its answer, a capture, a gap, a record that comes
    /// again as another one.
    private func fill(_ store: TelemetryStore) async throws {
        for block in 0..<12 {
            _ = try await store.store(try report(block * 8 + 1...block * 8 + 8))
            _ = try await store.store(try report(block * 3 + 1...block * 3 + 3, site: "other"))
        }
        _ = try await store.store(try report(110...112, more: ",\"gaps\":[{\"from\":97,\"to\":109}]"))
        let other =
            "{\"site\":\"demo\",\"epoch\":\"\(`An edge report`.epoch)\",\"records\":[{\"n\":3,\"data\":{}}]}"
        _ = try await store.store(try EdgeReport(json: Array(other.utf8)))
        let entry = AuditLog.Entry(who: "p", address: "a", method: "GET", path: "/", status: 403, why: "no")
        try await store.write([.init(entry: entry, at: Self.begin, count: 2)])
        try await store.write([.init(entry: entry, at: Self.begin + 9, count: 1)])
        let wish = try LeaseRequest(
            json: Array(#"{"power_w":5,"for_s":60,"dispatch":"D","reason":"r"}"#.utf8))
        let lease = try await store.add(wish, to: "demo", by: "p", now: 1_000) { _ in "00" }
        let result = "{\"sequence\":\(lease?.lease.sequence ?? 0),\"state\":\"granted\"}"
        #expect(try await store.finish(try LeaseResult(json: Array(result.utf8)), of: "demo") == .taken)
        let against = result.replacing("granted", with: "refused")
        _ = try await store.finish(try LeaseResult(json: Array(against.utf8)), of: "demo")
        _ = try await store.add(
            CapturePart(
                name: "a.cycles",
                digest: "039058c6f2c0cb492c533b0a4d14ef77cc0f78abccced5287d84a1a2011cfb81", total: 3,
                offset: 0, bytes: [1, 2, 3]), of: "demo")
        try await fillWhatChanges(store)
        while try await store.rollUpSome() {}
    }

    /// An alarm that a person acknowledges, one that goes again, a summary, and a dispatch with its fate.
    private func fillWhatChanges(_ store: TelemetryStore) async throws {
        let settings = AlarmMachine.Settings(severity: .critical, raiseAfter: 0, clearAfter: 0)
        func alarm(_ subject: String, _ state: AlarmMachine.State) -> AlarmRecord {
            AlarmRecord(
                key: .init(rule: "r", site: "demo", subject: subject),
                machine: AlarmMachine(settings, state: state), text: "it's \"hot\"\n")
        }
        let act = AlarmMachine.Act(by: "p", at: 7, reason: "seen")
        let notice = AlarmNotice(
            way: .mail, told: .raised, severity: .critical, key: alarm("", .clear).key, text: "hot", at: 6)
        try await store.save([alarm("", .raised(at: 6)), alarm("BESS_01", .raised(at: 6))], [notice])
        try await store.save([alarm("", .acknowledged(raised: 6, act))], [])
        try await store.save([alarm("BESS_01", .clear)], [notice], summaryOf: 20_000)
        if let sent = try await store.dueNotices(at: 100).first {
            try await store.tried(sent, fault: "no network", at: 100)
        }
        let dispatch = DispatchRow(
            id: "D", place: "demo", priority: .schedule, reason: "r", power: -5, limit: nil, from: 1,
            until: 2, by: "p", askedAt: 1, state: "pending", length: nil)
        try await store.add(dispatch)
        try await store.note("D", state: "done", what: "is over", at: 3)
    }

    private static let future: Int64 = 4_000_000_000_000

    /// Takes all there is to take, as if years had passed.
    private func cut(_ store: TelemetryStore, _ kind: RetentionRule.Kind) async throws -> Int {
        var gone = 0
        while true {
            let step = try await store.cut(RetentionRule(kind: kind, days: 400), before: Self.future)
            gone += step.gone
            if !step.hasMore { return gone }
        }
    }

    private func count(_ store: TelemetryStore, _ sql: String) async throws -> Int {
        try await store.pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM " + sql) ?? -1 }
    }

    @Test func `comes out the same when its history is fed to an empty store`() async throws {
        let store = try TelemetryStore(path: path)
        try await fill(store)
        try store.close()
        let lines = try Upkeep.replayed(database: path)
        #expect(
            lines.count == 18 && lines.allSatisfy { $0.contains("the same from the history") }, "\(lines)")
        #expect(lines.contains { $0.hasPrefix("record: 135 rows") }, "\(lines)")
        #expect(lines.contains { $0.hasPrefix("minute:") && !$0.hasPrefix("minute: 0 ") }, "\(lines)")
        #expect(access("\(path).replay-\(getpid())", F_OK) != 0, "nothing stays behind")
    }

    /// What the chain does not notice by itself: columns that were derived from what is in it.
    @Test(arguments: [
        ("UPDATE record SET event = 'reset' WHERE n = 10", "record"),
        ("UPDATE record SET t_ms = t_ms + 1 WHERE n = 10", "record"),
        ("UPDATE record SET kind = 'delta' WHERE n = 10", "record"),
        ("UPDATE stream SET stored_through = 111 WHERE site = 'demo'", "stream"),
        ("UPDATE stream SET turn = 99 WHERE site = 'demo'", "stream"),
        ("UPDATE minute SET mean = mean + 0.001", "minute"),
        ("DELETE FROM minute", "minute"),
        ("UPDATE alarm SET state = 'raised'", "alarm"),
        ("DELETE FROM alarm_notice WHERE id = 1", "alarm_notice"),
        ("UPDATE dispatch SET power = 5", "dispatch"),
        ("UPDATE dispatch_event SET at_ms = 4 WHERE row = 2", "dispatch_event"),
    ]) func `a table that is not what its history makes of it is named`(_ sql: String, _ table: String)
        async throws
    {
        let store = try TelemetryStore(path: path)
        try await fill(store)
        try await store.pool.write { try $0.execute(sql: sql) }
        try store.close()
        let failure = #expect(throws: Upkeep.Failure.self) { try Upkeep.replayed(database: path) }
        #expect(failure?.description.contains("it is another one: \(table)") == true, "\(failure as Any)")
    }

    @Test(arguments: [
        ("UPDATE alarm SET state = 'raised'", "[\"r\",\"demo\",\"\"] of alarm was changed"),
        ("DELETE FROM alarm", "[\"r\",\"demo\",\"\"] of alarm is missing"),
        ("INSERT INTO alarm_summary VALUES (2, 3)", "[2] of alarm_summary was changed"),
        ("DELETE FROM alarm_notice WHERE id = 2", "[2] of alarm_notice is missing"),
        ("UPDATE dispatch SET asked_by = 'q'", "[\"D\"] of dispatch was changed"),
        ("DELETE FROM dispatch_event WHERE row = 1", "[1] of dispatch_event is missing"),
        ("UPDATE change SET row = replace(row, 'seen', 'none')", "it is not what was stored"),
        ("DELETE FROM change WHERE seq = 1", "it is not what was stored"),
    ]) func `an alarm or a dispatch that somebody changed is named`(_ sql: String, _ words: String)
        async throws
    {
        let store = try TelemetryStore(path: path)
        try await fill(store)
        #expect(try Upkeep.verify(database: path).count == 1)
        try await store.pool.write { try $0.execute(sql: sql) }
        try store.close()
        let failure = #expect(throws: Upkeep.Failure.self) { try Upkeep.verify(database: path) }
        #expect(failure?.description.contains(words) == true, "\(failure as Any)")
    }

    @Test func `what is too old goes, the chain verifies, and says what was cut`() async throws {
        let store = try TelemetryStore(path: path)
        try await fill(store)
        let head = try await store.head()
        let state = try #require(try await store.state(of: "demo")?.telemetry)
        let (records, entries) = (try await count(store, "record"), try await count(store, "chain"))
        let values = try await cut(store, .values)
        #expect(values > 100)
        #expect(try await count(store, "record") == records - values)
        #expect(try await count(store, "record WHERE kind = 'event'") == 13, "others stay")
        #expect(try await count(store, "chain") < entries, "what stood for nothing else is gone as well")
        #expect(try await store.state(of: "demo")?.telemetry == state, "the newest state stays")
        #expect(try await cut(store, .requests) == 2)
        #expect(try await cut(store, .events) == 13)
        #expect(try await cut(store, .events) == 0)
        #expect(try await cut(store, .energy) == 0)
        _ = try await store.store(try report(113...120))
        let line = try Upkeep.verify(database: path).first ?? ""
        #expect(
            line.contains("holds: ") && line.contains("declared cuts: values older than 400 days"), "\(line)")
        #expect(line.contains("requests older than") && line.contains("events older than"), "\(line)")
        #expect(
            try Upkeep.verify(database: path, head: head.text).count == 1, "a head that was kept still fits")
        try store.close()
        let lines = try Upkeep.replayed(database: path)
        #expect(lines.contains { $0.contains("minute: not compared") }, "\(lines)")
    }

    // swift-format-ignore
    static let changes: [(sql: String, says: String, why: Comment)] = [
        ("DELETE FROM record WHERE kind = 'event' AND n = 20", "it is not what was stored", "one more than declared"),
        ("UPDATE record SET data = '{}' WHERE kind = 'event' AND n = 20", "record 20 of site demo was changed", "what is left"),
        ("DELETE FROM cut WHERE content = ''",      "is missing",               "a stretch that nobody declares"),
        ("DELETE FROM cut WHERE content != ''",     "is missing",               "what is left of an entry"),
        ("UPDATE cut SET to_seq = to_seq + 1 WHERE content = ''", "entry",      "a longer stretch"),
        ("UPDATE cut SET hash = '00' WHERE content = ''", "entry",              "the hash to go on with"),
        ("INSERT INTO cut VALUES (9999, 1, 1, 'x', 'y')", "no entry declares it", "a cut put in later"),
        ("DELETE FROM chain WHERE kind = 'cut'",    "",                         "the declaration"),
    ]

    @Test func `a cut that was not declared so is found`() async throws {
        let store = try TelemetryStore(path: path)
        try await fill(store)
        _ = try await cut(store, .values)
        try store.close()
        for (index, row) in Self.changes.enumerated() {
            let copy = scratch.path + "/\(index).sqlite"
            let (source, target) = (try DatabaseQueue(path: path), try DatabaseQueue(path: copy))
            try source.backup(to: target)
            try await target.write { try $0.execute(sql: row.sql) }
            try target.close()
            let failure = #expect(throws: Upkeep.Failure.self, row.why) { try Upkeep.verify(database: copy) }
            #expect(
                row.says.isEmpty || failure?.description.contains(row.says) == true,
                "\(row.why): \(failure?.description ?? "")")
        }
    }

    /// `received_at` is this machine's clock of then: years behind at a start without a battery.
    @Test func `what came under a clock that was behind stays as long as its own time says`() async throws {
        let store = try TelemetryStore(path: path)
        try await fill(store)
        let day: Int64 = 86_400_000
        let newest = try await store.pool.read {
            try Int64.fetchOne($0, sql: "SELECT max(t_ms) FROM record") ?? 0
        }
        try await store.pool.write { database in
            try database.execute(sql: "UPDATE record SET received_at = '2010-01-01T00:00:00.000Z'")
        }
        let rule = RetentionRule(kind: .events, days: 400)
        #expect(try await store.cut(rule, before: newest - day).gone == 0, "it is younger by its own time")
        #expect(try await store.cut(rule, before: newest + day).gone > 0)
        try store.close()
    }

    // swift-format-ignore
    static let clocks: [(shift: Int64, heard: Bool, isDoubted: Bool, why: Comment)] = [
        (0,               true,  false, "the sites say the same"),
        (3_600_000,       true,  false, "an hour is nothing to days"),
        (400_000_000_000, true,  true,  "twelve years ahead, and heard under that clock"),
        (-90_000_000,     true,  true,  "a day behind"),
        (0,               false, true,  "nobody was heard who could say"),
    ]

    @Test(arguments: clocks) func `nothing is cut by a clock that the sites' do not bear out`(
        shift: Int64, heard: Bool, isDoubted: Bool, why: Comment
    ) async throws {
        let store = try TelemetryStore(path: path)
        let now = WallClock.nowMilliseconds()
        let text =
            "{\"site\":\"demo\",\"epoch\":\"\(`An edge report`.epoch)\",\"records\":[{\"n\":1,\"data\":"
            + "{\"kind\":\"event\",\"t_ms\":\(now)}}]}"
        _ = try await store.store(try EdgeReport(json: Array(text.utf8)))
        let seen = heard ? now + shift : now - 90_000_000
        try await store.pool.write {
            try $0.execute(
                sql: "UPDATE stream SET last_seen = ?", arguments: [WallClock.text(milliseconds: seen)])
        }
        let doubt = try await store.clockDoubt(at: now + shift)
        #expect((doubt != nil) == isDoubted, why)
        try store.close()
    }

    @Test func `values by minutes go by their own rule, once a day`() async throws {
        let store = try TelemetryStore(path: path)
        try await fill(store)
        let rule = RetentionRule(kind: .minutes, days: 30)
        #expect(try await store.cut(rule, before: Self.begin - 86_400_000).gone == 0)
        #expect(try await store.cut(rule, before: Self.future).gone > 0)
        #expect(try await count(store, "minute") == 0)
        #expect(try Upkeep.verify(database: path).count == 1)
        try store.close()
    }

    /// As a version before the chain left it.
    @Test func `what was there before the chain is put into it as it is found`() async throws {
        let store = try TelemetryStore(path: path)
        try await fill(store)
        try await store.pool.write { database in
            try database.execute(
                sql: """
                    DELETE FROM chain; DELETE FROM sqlite_sequence WHERE name = 'chain';
                    UPDATE record SET chain = 0, mark = ''; UPDATE gap SET chain = 0; UPDATE audit SET chain = 0;
                    DELETE FROM capture; DELETE FROM capture_part;
                    DROP TABLE cut; DROP TABLE retention; ALTER TABLE stream DROP COLUMN turn; DROP TABLE change;
                    DELETE FROM grdb_migrations WHERE identifier IN ('whole-history', 'turns', 'changes');
                    """)
        }
        try store.close()
        let later = try TelemetryStore(path: path)
        _ = try await later.store(try report(113...115))
        while try await later.rollUpSome() {}
        try later.close()
        let line = try Upkeep.verify(database: path).first ?? ""
        #expect(line.contains("138 records"), "\(line)")
        #expect(try Upkeep.replayed(database: path).allSatisfy { $0.contains("the same from") })
        let queue = try DatabaseQueue(path: path)
        try await queue.write { try $0.execute(sql: "UPDATE record SET data = '{}' WHERE n = 50") }
        let failure = #expect(throws: Upkeep.Failure.self) { try Upkeep.verify(database: path) }
        #expect(failure?.description.contains("record 50 of site demo was changed") == true)
    }

    @Test func `the newest stream is the one that brought something last, whatever the clock said`()
        async throws
    {
        let store = try TelemetryStore(path: path)
        _ = try await store.store(try report(1...3))
        // The clock was a day ahead when the first stream came, and is right again.
        try await store.pool.write {
            try $0.execute(sql: "UPDATE stream SET last_seen = '2099-01-01T00:00:00.000Z'")
        }
        let other = String(repeating: "b", count: 32)
        let text =
            "{\"site\":\"demo\",\"epoch\":\"\(other)\",\"records\":[{\"n\":1,\"data\":{\"kind\":\"event\"}}]}"
        _ = try await store.store(try EdgeReport(json: Array(text.utf8)))
        #expect(try await store.stream(of: "demo")?.epoch == other)
        // Who only asks how far it is stored brings nothing.
        let empty = "{\"site\":\"demo\",\"epoch\":\"\(`An edge report`.epoch)\"}"
        _ = try await store.store(try EdgeReport(json: Array(empty.utf8)))
        #expect(try await store.stream(of: "demo")?.epoch == other)
        let view = AlarmView(site: "demo", seenAt: 1_000 + 86_400_000)
        let rule = AlarmRule(
            id: "r", condition: .noReport, settings: .init(severity: .warning, raiseAfter: 0, clearAfter: 0))
        let isTold = view.findings(rule, at: 1_000, was: { _ in false }).first?.holds
        #expect(isTold == true, "a record of tomorrow is not live")
        try store.close()
    }
}
