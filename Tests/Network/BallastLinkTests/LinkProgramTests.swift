import Foundation
import GRDB
import Glibc
import LinuxIO
import ProgramSupport
import Quantities
import Recorder
import Testing

@testable import BallastLink

@Suite struct `The program ballast-link` {
    let scratch: ScratchFolder
    let writer: SpoolWriter

    init() throws {
        scratch = try ScratchFolder()
        writer = try SpoolWriter(
            directory: scratch.path + "/spool",
            options: SpoolOptions(segmentBytes: 16_384, totalBytes: 64 << 20))
    }

    func startLink(url: String, token: String = "demo-token", more: String = "") throws -> RunningProgram {
        let config = """
            spool: \(scratch.path)/spool
            site: demo
            aggregator: {url: "\(url)", token: \(token)}
            batch_max_records: 10
            \(more)
            """
        return try RunningProgram("ballast-link", ["--config", try scratch.write("link.yaml", config)])
    }

    /// Appends records that name their own number, and makes them durable now and then.
    func append(_ count: Int) throws {
        for index in 1...count {
            let text = "{\"kind\":\"telemetry\",\"was\":\(writer.nextNumber)}"
            _ = try writer.append(Array(text.utf8))
            if index % 7 == 0 || index == count { try writer.sync() }
        }
    }

    @Test func `delivers every number once across kills of the aggregator and of itself`() async throws {
        let aggregator = try RunningAggregator(in: scratch)
        var link = try startLink(url: aggregator.url)
        for round in 1...4 {
            try append(150)
            try await aggregator.waitUntilStored(UInt64(round * 300 - 250))
            aggregator.end(by: SIGKILL)
            try append(150)
            if round % 2 == 0 {
                _ = link.end(by: SIGKILL)
                link = try startLink(url: aggregator.url)
            }
            try aggregator.start()
        }
        try await aggregator.waitUntilStored(1_200)
        #expect(link.end(by: SIGTERM) == 0)
        #expect(aggregator.end(by: SIGTERM) == 0)
        let stored = try DatabaseQueue(path: aggregator.database).read { database in
            try Row.fetchAll(
                database, sql: "SELECT n, json_extract(data, '$.was') AS was FROM record ORDER BY n")
        }
        #expect(stored.map { $0["n"] as Int } == Array(1...1_200))
        #expect(stored.map { $0["was"] as Int } == Array(1...1_200))
        let mark = try DeliveryMark(directory: scratch.path + "/spool", epoch: writer.epoch)
        // The end may cut off the confirmation of the last batch: it would be sent again, and stored once.
        #expect((1_190...1_200).contains(mark.deliveredThrough))
    }

    @Test
    func `a second link brings the same spool to a page on the gateway, and neither disturbs the other`()
        async throws
    {
        let (far, page) = (try RunningAggregator(in: scratch), try RunningAggregator(in: try ScratchFolder()))
        let marks = try ScratchFolder()
        let spool = scratch.path + "/spool"
        // Nobody listens far away meanwhile: a cut line.
        far.end(by: SIGKILL)
        try append(120)
        let config = """
            spool: \(spool)
            site: demo
            aggregator: {url: "\(page.url)", token: demo-token}
            marks: \(marks.path)
            """
        let local = try RunningProgram(
            "ballast-link", ["--config", try scratch.write("link-local.yaml", config)])
        try await page.waitUntilStored(120)
        #expect(try SpoolReader(directory: spool).state().delivered == 0, "the writer keeps all of it")
        try far.start()
        let link = try startLink(url: far.url)
        try await far.waitUntilStored(120)
        try append(30)
        try await far.waitUntilStored(150)
        try await page.waitUntilStored(150)
        #expect(link.end(by: SIGTERM) == 0 && local.end(by: SIGTERM) == 0)
        let own = try DeliveryMark(directory: spool, epoch: writer.epoch, folder: marks.path)
        #expect((120...150).contains(own.deliveredThrough))
    }

    @Test func `loses nothing to an aggregator that says 429 again and again`() async throws {
        let aggregator = try RunningAggregator(in: scratch, extra: "limits: {requests_per_s: 5}")
        try append(700)
        let link = try startLink(url: aggregator.url)
        try link.waitForLine(containing: "unreachable: status 429")
        try await aggregator.waitUntilStored(700)
        #expect(link.end(by: SIGTERM) == 0)
        aggregator.end(by: SIGKILL)
        let numbers = try await DatabaseQueue(path: aggregator.database).read {
            try Int.fetchAll($0, sql: "SELECT n FROM record ORDER BY n")
        }
        #expect(numbers == Array(1...700))
    }

    @Test func `says why it is refused, and delivers once its token is right`() async throws {
        let aggregator = try RunningAggregator(in: scratch)
        let config = """
            spool: \(scratch.path)/spool
            site: demo
            aggregator: {url: "\(aggregator.url)", token_file: \(scratch.path)/token}
            """
        _ = try scratch.write("token", "other-token\n")
        try append(5)
        let link = try RunningProgram("ballast-link", ["--config", try scratch.write("link.yaml", config)])
        try link.waitForLine(containing: "refused with status 403: this token is not the one of site")
        _ = try scratch.write("token", "demo-token\n")
        try link.waitForLine(containing: "connected")
        try await aggregator.waitUntilStored(5)
        #expect(link.end(by: SIGTERM) == 0)
    }

    @Test func `its figures are on this machine alone, each with help and type`() async throws {
        let aggregator = try RunningAggregator(in: scratch)
        let link = try startLink(url: aggregator.url, more: "metrics_port: 0")
        let line = try link.waitForLine(containing: "figures on 127.0.0.1:")
        let port = try #require(line.split(separator: ":").last.flatMap { Int($0) }, "\(line)")
        try append(5)
        try await aggregator.waitUntilStored(5)
        func figures(_ host: String) async throws -> RunningAggregator.Answer {
            try await aggregator.ask("http://\(host):\(port)/metrics", nil, token: nil)
        }
        let limit = MonotonicTime.now() + .seconds(60)
        var text = ""
        while !text.contains("\nballast_link_delivered_through 5\n"), MonotonicTime.now() < limit {
            text = try await figures("127.0.0.1").body
        }
        #expect(text.contains("\nballast_link_records_total 5\n"), "\(text)")
        let names = text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { $0.prefix { $0 != " " } }
        #expect(names.count >= 10)
        for name in names { #expect(text.contains("# HELP \(name) ") && text.contains("# TYPE \(name) ")) }
        // Another address of the same machine.
        var isElsewhere = true
        do { _ = try await figures("127.0.0.2") } catch { isElsewhere = false }
        #expect(!isElsewhere)
        #expect(link.end(by: SIGTERM) == 0)
    }

    @Test func `a file is checked in words`() throws {
        let file = try scratch.write(
            "link.yaml",
            """
            spool: /nowhere/spool
            site: demo
            aggregator: {url: "http://far.example", token_file: /nowhere/token, allow_plain_http: true}
            """)
        let text = try Link.check(configPath: file).joined(separator: "\n")
        for part in ["site demo", "no token can be read", "in the clear", "/nowhere/spool cannot be read"] {
            #expect(text.contains(part), "\(part) in \(text)")
        }
        let spool = try SpoolWriter(directory: scratch.path + "/kept")
        // As an audit writes it: a hash, a line's end, an event.
        _ = try spool.append(Array((String(repeating: "0", count: 64) + "\n{}").utf8))
        try spool.sync()
        let other = try scratch.write(
            "other.yaml",
            """
            spool: \(scratch.path)/kept
            captures: \(scratch.path)/kept
            marks: /
            site: demo
            aggregator: {url: "http://127.0.0.1", token: t}
            """)
        let remarks = try Link.check(configPath: other).joined(separator: "\n")
        for part in ["is the audit's folder", "is a spool: no capture", "/ holds other things ("] {
            #expect(remarks.contains(part), "\(part) in \(remarks)")
        }
        let young = try scratch.write(
            "young.yaml",
            """
            spool: /nowhere/state/audit
            captures: /nowhere/state/audit
            site: demo
            aggregator: {url: "http://127.0.0.1", token: t}
            """)
        let early = try Link.check(configPath: young).joined(separator: "\n")
        #expect(
            early.contains("is the audit's folder") && early.contains("is a spool: no capture"), "\(early)")
        let program = try RunningProgram(
            "ballast-link", ["--check", "--config", scratch.path + "/none.yaml"])
        try program.waitForLine(containing: "cannot be opened")
        #expect(program.end(by: 0) == 78)
    }

    @Test func `ends with 78 where its file cannot be used, so that nobody starts it again and again`() throws
    {
        let file = try scratch.write("link.yaml", "spool: /nowhere\nwrong_key: 1\n")
        for (path, why) in [(file, "wrong_key"), (scratch.path + "/none.yaml", "cannot be opened")] {
            let link = try RunningProgram("ballast-link", ["--config", path])
            try link.waitForLine(containing: why)
            #expect(link.end(by: 0) == 78)
        }
    }

    @Test func `waits for a spool and for an aggregator, and ends when told`() throws {
        let link = try startLink(url: "http://127.0.0.1:1")
        try link.waitForLine(containing: "unreachable: ")
        #expect(link.end(by: SIGTERM) == 0)
        #expect(link.log.contains("ended"))
    }

    @Test func `declares the numbers that had to go, and the aggregator takes that`() async throws {
        let small = try SpoolWriter(
            directory: scratch.path + "/small", options: SpoolOptions(segmentBytes: 1_024, totalBytes: 4_096))
        for _ in 1...200 {
            _ = try small.append(Array("{\"kind\":\"event\",\"was\":\(small.nextNumber)}".utf8))
        }
        try small.sync()
        #expect(small.droppedUndelivered > 0)
        let aggregator = try RunningAggregator(in: scratch)
        let config = """
            spool: \(scratch.path)/small
            site: demo
            aggregator: {url: "\(aggregator.url)", token: demo-token}
            """
        let link = try RunningProgram("ballast-link", ["--config", try scratch.write("link.yaml", config)])
        try await aggregator.waitUntilStored(200)
        #expect(link.end(by: SIGTERM) == 0)
        aggregator.end(by: SIGTERM)
        let gaps = try DatabaseQueue(path: aggregator.database).read { database in
            try Row.fetchAll(database, sql: "SELECT from_n, to_n FROM gap")
        }
        #expect(gaps.map { $0["from_n"] as UInt64 } == [1])
        #expect(gaps.map { $0["to_n"] as UInt64 } == [small.droppedUndelivered])
    }

    /// Captures are brought whole, trips first, across kills of both sides, and no record waits for them.
    @Test func `captures come whole across kills of the aggregator and of itself`() async throws {
        let captures = scratch.path + "/captures"
        try DurableFile.createDirectories(captures)
        var generator = SystemRandomNumberGenerator()
        let trip = "20261123T140307Z-trip.cycles"
        let names = ["20261122T080000Z-asked.cycles", trip, "20261124T000000Z-grid.cycles"]
        var files: [String: [UInt8]] = [:]
        for name in names {
            let bytes = (0..<1_500_000).map { _ in UInt8.random(in: 0...255, using: &generator) }
            files[name] = bytes
            try DurableFile.replace(captures + "/" + name, with: bytes)
        }
        // What is not one, or not whole, stays.
        try DurableFile.replace(captures + "/20261125T000000Z-trip.cycles.new", with: [1, 2, 3])
        let aggregator = try RunningAggregator(in: scratch)
        let more = "captures: \(captures)"
        var link = try startLink(url: aggregator.url, more: more)
        try append(50)
        try await aggregator.waitUntilStored(50)
        let first = try link.waitForLine(containing: " delivered, 1500000 bytes")
        #expect(first.contains(trip), "a trip comes first")
        aggregator.end(by: SIGKILL)
        _ = link.end(by: SIGKILL)
        try aggregator.start()
        link = try startLink(url: aggregator.url, more: more)
        let limit = MonotonicTime.now() + .seconds(120)
        var whole = 0
        while whole < names.count, MonotonicTime.now() < limit {
            let list = try await aggregator.get("/v1/sites/demo/captures").body
            whole = list.split(separator: "\"stored\":1500000,").count - 1
            try await Task.sleep(for: .milliseconds(50))
        }
        #expect(link.end(by: SIGTERM) == 0)
        #expect(!link.log.contains(trip + " delivered"), "it is there already")
        #expect(aggregator.end(by: SIGTERM) == 0)
        let stored = try await DatabaseQueue(path: aggregator.database).read { database in
            try Row.fetchAll(database, sql: "SELECT name, data FROM capture_part ORDER BY name, at").map {
                (name: $0["name"] as String, bytes: [UInt8]($0["data"] as Data))
            }
        }
        for name in names {
            #expect(Array(stored.filter { $0.name == name }.map(\.bytes).joined()) == files[name], "\(name)")
        }
        #expect(Set(stored.map(\.name)) == Set(names))
    }
}
