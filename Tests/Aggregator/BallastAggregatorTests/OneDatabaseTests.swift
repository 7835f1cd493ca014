import Foundation
import GRDB
import Glibc
import ProgramSupport
import Testing

@testable import BallastAggregator

/// The real aggregator on a database that another one serves, or that a later version has written to.
@Suite struct `One database` {
    let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func run(_ arguments: [String]) throws -> (status: Int, log: String) {
        let program = try RunningProgram("ballast-aggregator", arguments)
        return (program.end(by: 0), program.log)
    }

    @Test func `has one aggregator, also under another name of its file, and the next once that has ended`()
        async throws
    {
        let aggregator = try RunningAggregator(in: scratch)
        #expect(try await aggregator.post(`The program ballast-aggregator`.report(1...5)).status == 200)
        let link = scratch.path + "/same.sqlite"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: aggregator.database)
        let own = try String(contentsOfFile: scratch.path + "/aggregator.yaml", encoding: .utf8)
        let free = own.replacing("port: \(aggregator.port)", with: "port: 0")
            .replacing("local_port: \(aggregator.localPort)", with: "local_port: 0")
        for text in [free, free.replacing(aggregator.database, with: link)] {
            let second = try run(["--config", try scratch.write("second.yaml", text)])
            #expect(second.status == 1, "\(second.log)")
            #expect(second.log.contains("another aggregator serves this database"), "\(second.log)")
        }
        // Somebody removes the lock beside it, or gives the file a second name of its own.
        let hard = scratch.path + "/hard.sqlite"
        try FileManager.default.linkItem(atPath: aggregator.database, toPath: hard)
        try FileManager.default.removeItem(atPath: aggregator.database + ".lock")
        for text in [free, free.replacing(aggregator.database, with: hard)] {
            let third = try run(["--config", try scratch.write("third.yaml", text)])
            #expect(third.status == 1, "\(third.log)")
            #expect(third.log.contains("another aggregator serves this database"), "\(third.log)")
        }
        // The tools look on beside it.
        let config = scratch.path + "/aggregator.yaml"
        #expect(try run(["verify", "--config", config]).status == 0)
        #expect(try run(["backup", "--config", config, "--out", scratch.path + "/copy"]).status == 0)
        #expect(try await aggregator.post(`The program ballast-aggregator`.report(6...7)).status == 200)
        aggregator.end(by: SIGKILL)
        try aggregator.start()
        #expect(try await aggregator.storedThrough() == 7, "a lock ends with its process")
        #expect(aggregator.end(by: SIGTERM) == 0)
    }

    @Test func `of a later version is refused by name, and not one byte of it changes`() async throws {
        let aggregator = try RunningAggregator(in: scratch)
        #expect(try await aggregator.post(`The program ballast-aggregator`.report(1...5)).status == 200)
        #expect(aggregator.end(by: SIGTERM) == 0)
        let queue = try DatabaseQueue(path: aggregator.database)
        try await queue.write {
            try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('markets-of-2031'), ('books9')")
        }
        try queue.close()
        let before = try #require(FileManager.default.contents(atPath: aggregator.database))
        let config = try aggregator.writeFile()
        let name = "a later version has written to this database (markets-of-2031, books9)"
        let served = try run(["--config", config])
        #expect(served.status == 78 && served.log.contains(name), "\(served.log)")
        for arguments in [
            ["verify", "--config", config], ["backup", "--config", config, "--out", scratch.path + "/copy"],
        ] {
            let said = try run(arguments)
            #expect(said.status == 1 && said.log.contains(name), "\(arguments): \(said.log)")
        }
        #expect(try Upkeep.check(config: config).contains { $0.contains(name) })
        #expect(FileManager.default.contents(atPath: aggregator.database) == before)
    }

    @Test func `a site that takes back its word on a lease is kept, shown and counted, and the first stands`()
        async throws
    {
        let key = scratch.path + "/key"
        #expect(try run(["lease", "key", "--out", key]).status == 0)
        let aggregator = try RunningAggregator(
            in: scratch,
            extra: """
                signing: {key_file: \(key)}
                principals:
                  - {name: dispatcher, token_sha256: "\(Self.digest)", sites: [demo]}
                """)
        let wish = #"{"power_w":20000,"for_s":600,"dispatch":"D-1","reason":"test"}"#
        let asked = try await aggregator.post(wish, to: "/v1/sites/demo/leases", token: "operator-token")
        let sequence = try #require(asked.body.firstMatch(of: /"sequence":(\d+)/), "\(asked.body)").1
        func tell(_ state: String, _ words: String) async throws -> Int {
            let body = "{\"sequence\":\(sequence),\"state\":\"\(state)\",\"answer\":\"\(words)\"}"
            return try await aggregator.post(body, to: "/v1/edge/results?site=demo", token: "demo-token")
                .status
        }
        for (state, words) in [
            ("granted", "as asked"), ("granted", "as asked"), ("refused", "never heard of it"),
            ("refused", "never heard of it"), ("granted", "for half of it"),
        ] {
            #expect(try await tell(state, words) == 200)
        }
        for turn in 0..<50 { #expect(try await tell("refused", "because of \(turn)") == 200) }
        try await expectShown(aggregator, String(sequence))
    }

    // printf %s operator-token | sha256sum
    private static let digest = "0850123315d21ab90f4f7236408a52ef6dbd6a02a6550e5c10dc73f4d993680e"

    private func expectShown(_ aggregator: RunningAggregator, _ sequence: String) async throws {
        let body = try await aggregator.get("/v1/sites/demo/leases").body
        let shown = try #require(
            try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: [[String: Any]]])
        let lease = try #require(shown["leases"]?.first)
        #expect(lease["state"] as? String == "granted" && lease["answer"] as? String == "as asked")
        let against = try #require(shown["contradictions"])
        #expect(against.count == 4, "whoever says ever anew something else fills nothing: \(body)")
        #expect(against.map { $0["state"] as? String }.prefix(2) == ["refused", "granted"])
        #expect(against.map { $0["answer"] as? String }.prefix(2) == ["never heard of it", "for half of it"])
        #expect(against.allSatisfy { $0["first"] as? String == "granted" })
        #expect(against.allSatisfy { "\($0["sequence"] ?? 0)" == sequence })
        let metrics = try await aggregator.metrics()
        #expect(metrics.contains("\nballast_aggregator_results_contradicted_total 53\n"))
        #expect(aggregator.end(by: SIGTERM) == 0)
        let config = try aggregator.writeFile()
        let verify = try run(["verify", "--config", config, "--replay"])
        #expect(verify.status == 0, "\(verify.log)")
        let queue = try DatabaseQueue(path: aggregator.database)
        try await queue.write { try $0.execute(sql: "DELETE FROM contradiction WHERE id = 2") }
        try queue.close()
        let broken = try run(["verify", "--config", config])
        #expect(broken.status == 1 && broken.log.contains("[2] of contradiction is missing"), "\(broken.log)")
    }
}
