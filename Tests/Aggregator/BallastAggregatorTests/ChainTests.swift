import GRDB
import Glibc
import ProgramSupport
import Testing

@testable import BallastAggregator

/// The history as somebody finds it who has had the file in his hands in between.
@Suite struct `The aggregator's history` {
    let scratch: ScratchFolder
    let path: String

    init() throws {
        scratch = try ScratchFolder()
        path = scratch.path + "/history.sqlite"
    }

    private func report(_ text: String) throws -> EdgeReport {
        try EdgeReport(
            json: Array("{\"site\":\"demo\",\"epoch\":\"\(`An edge report`.epoch)\",\(text)}".utf8))
    }

    private func records(_ numbers: ClosedRange<Int>) -> String {
        let list = numbers.map { "{\"n\":\($0),\"data\":{\"kind\":\"event\",\"t_ms\":9,\"was\":\($0)}}" }
        return "\"records\":[\(list.joined(separator: ","))]"
    }

    /// Three reports, a gap, one that comes all the same, an audit and a lease with its result.
    private func fill() async throws {
        let store = try TelemetryStore(path: path)
        _ = try await store.store(try report(records(1...3)))
        _ = try await store.store(try report(records(2...5)))
        _ = try await store.store(try report(records(8...9) + ",\"gaps\":[{\"from\":6,\"to\":7}]"))
        _ = try await store.store(try report(records(6...6)))
        let entry = AuditLog.Entry(
            who: "p", address: "a", method: "GET", path: "/", status: 403, why: "no")
        try await store.write([.init(entry: entry, at: 5, count: 2), .init(entry: entry, at: 6, count: 1)])
        let wish = try LeaseRequest(
            json: Array(#"{"power_w":5,"for_s":60,"dispatch":"D","reason":"r"}"#.utf8))
        let lease = try await store.add(wish, to: "demo", by: "p", now: 1_000) { _ in "00" }
        let result = "{\"sequence\":\(lease?.lease.sequence ?? 0),\"state\":\"granted\"}"
        #expect(try await store.finish(try LeaseResult(json: Array(result.utf8)), of: "demo") == .taken)
        _ = try await store.store(try report(records(10...12)))
        _ = try await store.add(Self.capture("a.cycles", [1, 2, 3]), of: "demo")
        try store.close()
    }

    /// The digest is that of sha256sum.
    private static func capture(_ name: String, _ bytes: [UInt8], total: Int64 = 3) -> CapturePart {
        CapturePart(
            name: name, digest: "039058c6f2c0cb492c533b0a4d14ef77cc0f78abccced5287d84a1a2011cfb81",
            total: total, offset: 0, bytes: bytes)
    }

    // swift-format-ignore
    static let changes: [(sql: String, says: String, why: Comment)] = [
        ("UPDATE record SET data = replace(data, '4', '5') WHERE n = 4", "record 4 of site demo was changed",
            "one byte"),
        ("UPDATE record SET data = '{}', kind = '', mark = '44136fa355b3678a' WHERE n = 4", "entry 2 (report of site demo, 4 to 5)",
            "its mark as well"),
        ("UPDATE record SET n = 44 WHERE n = 4",    "record 4 of site demo is missing", "another number"),
        ("UPDATE record SET site = 'x' WHERE n = 4", "record 4 of site x is not where", "another site"),
        ("DELETE FROM record WHERE n = 2",          "record 2 of site demo is missing", "one is gone"),
        ("INSERT INTO record (site, epoch, n, kind, received_at, data, chain) VALUES ('demo','e',99,'','','{}',3)",
            "record 99 of site demo",               "one too many"),
        ("UPDATE record SET kind = 'note' WHERE n = 4", "record 4 of site demo was changed", "an event that is none"),
        ("UPDATE record SET event = 'mode' WHERE n = 4", "record 4 of site demo was changed", "another event"),
        ("UPDATE record SET t_ms = 0 WHERE n = 4",  "record 4 of site demo was changed", "another time"),
        ("UPDATE record SET received_at = '2020-01-01T00:00:00.000Z' WHERE n = 4", "record 4 of site demo was changed",
            "when it came"),
        ("UPDATE record SET received_at = '2020-01-01T00:00:00.000Z', mark = '1532903dbd568a5f' WHERE n = 4",
            "entry 2 (report of site demo, 4 to 5)", "when it came, with the mark of a version that did not hold it"),
        ("INSERT INTO gap VALUES ('demo', 'e', 90, 91, 0, 0)", "a gap of site demo, 90, has no entry", "one more"),
        ("INSERT INTO gap VALUES ('demo', 'e', 90, 91, 0, 3)", "a gap of site demo, 90, has no entry", "of another stream"),
        ("INSERT INTO gap SELECT site, epoch, 90, 91, 0, chain FROM gap", "entry 3 (report of site demo, 6 to 9)",
            "one more in the entry"),
        ("INSERT INTO differing VALUES ('demo', 'e', 4, 5, '{}')",
            "a record that came with another content of site demo, 4, has no entry", "it never came"),
        ("INSERT INTO audit VALUES (3, 5, 'p', '', 'GET', '/', 200, '', 1, 5)", "a request, 3, has no entry", "nobody asked"),
        ("INSERT INTO audit VALUES (3, 5, 'p', '', 'GET', '/', 200, '', 1, 0)", "a request, 3, has no entry", "nor before"),
        ("UPDATE audit SET chain = 4 WHERE seq = 2", "a request, 2, has no entry", "of another entry"),
        ("INSERT INTO lease VALUES ('demo', 2000, 'E', 5, 6, 'p', 'r', '', 'waiting', '', '00')",
            "a lease of site demo, 2000, has no entry", "nobody signed it"),
        ("UPDATE gap SET site = 'x'",               "record 6 of site demo is missing", "another site's gap"),
        ("UPDATE gap SET epoch = 'x'",              "record 6 of site demo is missing", "another stream's gap"),
        ("UPDATE stream SET turn = 99",             "a stream of site demo is not where", "shown as the newest"),
        ("UPDATE stream SET turn = 0",              "a stream of site demo is not where", "shown as an old one"),
        ("UPDATE stream SET stored_through = 9",    "a stream of site demo is not where", "asks for records again"),
        ("UPDATE stream SET rolled_through = 99",   "a stream of site demo is not where", "minutes are left out"),
        ("DELETE FROM stream",                      "a stream of site demo is not where", "never reported"),
        ("UPDATE gap SET to_n = 6",                 "entry 3 (report of site demo, 6 to 9)", "a shorter gap"),
        ("DELETE FROM gap",                         "record 6 of site demo is missing", "no gap"),
        ("UPDATE audit SET who = 'q' WHERE seq = 2", "entry 5 (audit",                  "somebody else"),
        ("DELETE FROM audit WHERE seq = 1",         "entry 5 (audit",                   "a refusal is gone"),
        ("UPDATE lease SET power = 50",             "entry 6 (lease of site demo",      "another power"),
        ("UPDATE lease SET state = 'refused'",      "entry 7 (result of site demo",     "another fate"),
        ("DELETE FROM lease",                       "lease 1000 of site demo is missing", "no lease"),
        ("UPDATE capture_part SET data = x'010204'", "capture a.cycles of site demo was changed", "other bytes"),
        ("UPDATE capture_part SET data = x'010204'; UPDATE capture SET sha256 = "
            + "'d4b29a968c40173638ded8d174c86957afa211be479cee020dba5dfe127d91ca'", "entry 9 (capture",
            "with the digest of the other bytes"),
        ("UPDATE capture SET name = 'b.cycles'",    "capture a.cycles of site demo has another name", "renamed"),
        ("DELETE FROM capture",                     "capture a.cycles of site demo is missing", "no capture"),
        ("UPDATE capture SET chain = 0",            "capture a.cycles of site demo is missing", "unsealed"),
        ("INSERT INTO capture VALUES ('demo','z','',0,0,'',0)", "capture z of site demo has no entry", "put in between"),
        ("UPDATE chain SET content = '00' WHERE seq = 2", "entry 2",                   "the entry"),
        ("UPDATE chain SET hash = '00' WHERE seq = 2", "entry 2",                      "the entry's hash"),
        ("DELETE FROM chain WHERE seq = 2",         "entry 2 is missing",               "no entry"),
        ("DELETE FROM chain WHERE seq >= 8; DELETE FROM record WHERE n >= 10; DELETE FROM capture",
            "the end is cut: entries 8 to 9", "a cut end"),
        ("DELETE FROM chain WHERE seq >= 8; DELETE FROM record WHERE n >= 10; DELETE FROM capture; "
            + "UPDATE sqlite_sequence SET seq = 7 WHERE name = 'chain'", "site demo was told that all through 12",
            "cut with more care"),
    ]

    @Test func `holds as it was stored, and names the first thing that is not`() async throws {
        try await fill()
        let lines = try Upkeep.verify(database: path)
        #expect(lines.first?.contains("holds: 9 entries, 11 records, head 9:") == true, "\(lines)")
        for (index, row) in Self.changes.enumerated() {
            let copy = scratch.path + "/\(index).sqlite"
            let (source, target) = (try DatabaseQueue(path: path), try DatabaseQueue(path: copy))
            try source.backup(to: target)
            try await target.write { try $0.execute(sql: row.sql) }
            try target.close()
            let failure = #expect(throws: Upkeep.Failure.self, row.why) { try Upkeep.verify(database: copy) }
            #expect(
                failure?.description.contains(row.says) == true, "\(row.why): \(failure?.description ?? "")")
        }
    }

    @Test func `a capture that makes room leaves its entry, and one of that`() async throws {
        try await fill()
        let store = try TelemetryStore(path: path)
        var dropped: [String] = []
        // By what they say they will be: four of the largest pass what a site may hold.
        for number in 1...4 {
            let part = Self.capture("b\(number)", [1], total: Int64(CapturePart.captureLimit))
            dropped += try await store.add(part, of: "demo").dropped
        }
        try store.close()
        #expect(dropped == ["a.cycles"])
        #expect(try Upkeep.verify(database: path).first?.contains("holds: ") == true)
    }

    @Test func `an answer that no site gave is named`() async throws {
        let store = try TelemetryStore(path: path)
        let wish = try LeaseRequest(
            json: Array(#"{"power_w":5,"for_s":60,"dispatch":"D","reason":"r"}"#.utf8))
        _ = try await store.add(wish, to: "demo", by: "p", now: 1_000) { _ in "00" }
        #expect(try Upkeep.verify(database: path).count == 1)
        try await store.pool.write { try $0.execute(sql: "UPDATE lease SET state = 'granted'") }
        try store.close()
        let failure = #expect(throws: Upkeep.Failure.self) { try Upkeep.verify(database: path) }
        let words = "an answer to a lease of site demo, 1000, has no entry"
        #expect(failure?.description.contains(words) == true, "\(failure as Any)")
    }

    /// The version before held the content of records and not when they came.
    @Test func `entries of the version before hold, beside those that hold when their records came`()
        async throws
    {
        var old = try report(records(1...3))
        for index in old.records.indices {
            old.records[index].came = .init(at: "2026-01-01T00:00:00.000Z", isHeld: false)
        }
        let store = try TelemetryStore(path: path)
        _ = try await store.store(old)
        _ = try await store.store(try report(records(4...6)))
        let marks = try await store.pool.read {
            try Int.fetchAll($0, sql: "SELECT length(mark) FROM record ORDER BY n")
        }
        #expect(marks == [16, 16, 16, 17, 17, 17])
        while try await store.rollUpSome() {}
        _ = try await store.cut(RetentionRule(kind: .values, days: 400), before: 4_000_000_000_000)
        try store.close()
        #expect(try Upkeep.verify(database: path).first?.contains("6 records") == true)
        #expect(try Upkeep.replayed(database: path).allSatisfy { $0.contains("the same from") })
    }

    /// As the version before left it.
    @Test func `captures from before are sealed by the first start`() async throws {
        try await fill()
        let old = try DatabaseQueue(path: path)
        try await old.write { database in
            try database.execute(
                sql: """
                    DELETE FROM chain WHERE kind = 'capture';
                    UPDATE sqlite_sequence SET seq = 8 WHERE name = 'chain';
                    ALTER TABLE capture DROP COLUMN chain;
                    DELETE FROM grdb_migrations WHERE identifier = 'v6';
                    """)
        }
        try old.close()
        #expect(try Upkeep.verify(database: path).first?.contains("holds: 8 entries") == true)
        try TelemetryStore(path: path).close()
        #expect(try Upkeep.verify(database: path).first?.contains("holds: 9 entries") == true)
    }

    @Test func `shows an end that was cut with all care where somebody kept a head`() async throws {
        try await fill()
        let line = try #require(try Upkeep.verify(database: path).first)
        let head = String(line.split(separator: "head ").last ?? "")
        #expect(try Upkeep.verify(database: path, head: head).count == 1)
        let queue = try DatabaseQueue(path: path)
        try await queue.write {
            try $0.execute(
                sql: """
                    DELETE FROM chain WHERE seq >= 8; DELETE FROM record WHERE n >= 10; DELETE FROM capture;
                    UPDATE sqlite_sequence SET seq = 7 WHERE name = 'chain';
                    UPDATE stream SET stored_through = 9, turn = 4;
                    """)
        }
        try queue.close()
        #expect(try Upkeep.verify(database: path).count == 1, "nothing in the file itself tells it")
        let failure = #expect(throws: Upkeep.Failure.self) { try Upkeep.verify(database: path, head: head) }
        #expect(failure?.description.contains("the end is cut") == true)
        let store = try TelemetryStore(path: path)
        // Up to the number of the head that was kept.
        for number in 10...11 { _ = try await store.store(try report(records(number...number))) }
        try store.close()
        let anew = #expect(throws: Upkeep.Failure.self) { try Upkeep.verify(database: path, head: head) }
        #expect(anew?.description.contains("made anew") == true)
    }

    @Test func `a backup under load is whole, lies on the same chain, and becomes a database again`()
        async throws
    {
        let aggregator = try RunningAggregator(in: scratch)
        let config = try aggregator.writeFile()
        let copy = scratch.path + "/copy.sqlite"
        let load = Task { [aggregator = UncheckedBox(aggregator)] in
            for first in stride(from: 1, to: 3_000, by: 10) {
                _ = try await aggregator.value.post(
                    `The program ballast-aggregator`.report(first...first + 9))
            }
        }
        try await aggregator.waitUntilStored(200)
        let lines = try Upkeep.backup(config: config, to: copy)
        let head = String(lines.first?.split(separator: "head ").last ?? "")
        try await load.value
        #expect(throws: Upkeep.Failure.self, "never over another") {
            try Upkeep.backup(config: config, to: copy)
        }
        #expect(try Upkeep.verify(config: config, head: head).lines.count == 1, "while it serves")
        #expect(throws: Upkeep.Failure.self) { try Upkeep.restore(config: config, from: copy) }
        aggregator.end(by: SIGKILL)
        unlink(aggregator.database)
        let beside = #expect(throws: Upkeep.Failure.self, "what a dead one left beside") {
            try Upkeep.restore(config: config, from: copy)
        }
        #expect(beside?.description.contains("-wal: is of a database that was here") == true)
        for end in ["-wal", "-shm"] { unlink(aggregator.database + end) }
        let restored = try Upkeep.restore(config: config, from: copy)
        #expect(restored.first?.hasSuffix(head) == true, "the same head")
        try aggregator.start()
        #expect(try await aggregator.storedThrough() >= 200)
    }

    @Test func `a file is checked in words`() async throws {
        let path = try scratch.write(
            "a.yaml",
            """
            listen: {host: 0.0.0.0}
            database: \(scratch.path)
            read_token_sha256: "\(String(repeating: "0", count: 64))"
            sites:
              - {id: a, token_sha256: "\(String(repeating: "0", count: 64))"}
              - {id: b, token_sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855}
            principals:
              - name: p
                token_sha256: "\(String(repeating: "0", count: 64))"
                sites: all
                roles: [dispatch]
                expires: 2020-01-01
            """)
        let text = try Upkeep.check(config: path).joined(separator: "\n")
        for part in [
            "p: dispatch for all; its token HAS EXPIRED", "nothing is signed", "no TLS",
            "p and site a have the same token", "reader and p have the same token",
            "site b: its token is the empty text", "\(scratch.path) is a folder: nothing starts with it",
            "site a: its token_sha256 is a placeholder", "reader: its token_sha256 is a placeholder",
        ] {
            #expect(text.contains(part), "\(part) in \(text)")
        }
    }

    // swift-format-ignore
    static let remarked: [(key: String, says: String?, why: Comment)] = [
        ("database: /dev/null", "/dev/null is no regular file: nothing starts with it", "a device"),
        ("database: FILE",      "FILE is another file, and no database",                "the configuration itself"),
        ("alarms: {rules: [{id: x, when: below, channel: nix, limit: 10, severity: warning}]}",
            "alarm x: no site tells a channel nix", "no such channel"),
        ("alarms: {rules: [{id: x, when: below, channel: trips, limit: 10, severity: warning}]}",
            "alarm x: no site tells a channel trips", "no number"),
        ("alarms: {rules: [{id: x, when: below, channel: soc_percent, limit: 10, severity: warning}]}", nil, "a unit's"),
        ("alarms: {rules: [{id: x, when: above, channel: frequency_hz, limit: 51, severity: warning}]}", nil, "the site's"),
        (#"alarms: {quiet_hours: {from: "00:00", until: "00:00"}}"#, "quiet_hours have no effect", "no length"),
        (#"alarms: {quiet_hours: {from: "22:00", until: "06:00"}}"#, nil, "a night"),
        (#"alarms: {webhook: {url: "http://example.org/x", key_file: /k}}"#, "alarms travel in the clear", "far away"),
        (#"alarms: {webhook: {url: "http://localhost:1@example.org/x", key_file: /k}}"#, "travel in the clear", "looks near"),
        (#"alarms: {webhook: {url: "http://127.0.0.1:81/x", key_file: /k}}"#, nil, "on this machine"),
        (#"alarms: {webhook: {url: "https://example.org/x", key_file: /k}}"#, nil, "by TLS"),
        ("limits: {connections: 100, connections_of_one: 51}", "connections_of_one has no effect", "half is the bound"),
    ]

    @Test(arguments: 0..<remarked.count)
    func `what has no effect, or another one than meant, is said`(_ index: Int) throws {
        let row = Self.remarked[index]
        let digest = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"
        let path = scratch.path + "/remarked.yaml"
        let own = row.key.replacing("FILE", with: path)
        let rest = row.key.hasPrefix("database") ? "" : "database: \(scratch.path)/d.sqlite\n"
        _ = try scratch.write(
            "remarked.yaml",
            "\(rest)\(own)\nread_token_sha256: \(digest)\nsites: [{id: a, token_sha256: \(digest.replacing("2", with: "3"))}]\n"
        )
        let remarks = try Upkeep.check(config: path).filter { $0.hasPrefix("remark: ") }
        guard let says = row.says?.replacing("FILE", with: path) else {
            #expect(remarks.isEmpty, "\(row.why): \(remarks)")
            return
        }
        #expect(remarks.count == 1 && remarks[0].contains(says), "\(row.why): \(remarks)")
    }

    @Test func `nothing starts with what is no database, and nothing of it is changed`() throws {
        let path = try scratch.write("other.txt", "not a database, and longer than sixteen bytes")
        #expect(throws: DatabaseLock.Refused.self) { try DatabaseLock(of: path) }
        #expect(throws: DatabaseLock.Refused.self) { try DatabaseLock(of: "/dev/null") }
        #expect(access(path + ".lock", F_OK) != 0 && access("/dev/null.lock", F_OK) != 0)
    }
}

/// For one task at a time, which the test sees to.
private struct UncheckedBox: @unchecked Sendable {
    let value: RunningAggregator
    init(_ value: RunningAggregator) { self.value = value }
}
