import Foundation
import GRDB
import ProgramSupport
import Recorder
import Testing

/// What the version of November 2026 has left on both sides, kept in `Tests/Resources/landed`: a spool of which
/// 27 records are delivered, and the aggregator's database with them.
@Suite struct `A spool and a database of the landed version` {
    private static let files = URL(filePath: #filePath).appending(path: "../../../Resources/landed")
        .standardizedFileURL.path
    /// As its log had it.
    private static let head = "9:f9b96e12efa0cda744fb05ab6fc141b42fb75e4ffde8f388a43ce1be95d76947"
    let scratch: ScratchFolder

    init() throws {
        scratch = try ScratchFolder()
        try FileManager.default.copyItem(
            atPath: Self.files + "/spool", toPath: scratch.path + "/spool")
        let text = try String(contentsOfFile: Self.files + "/aggregator.sql", encoding: .utf8)
        let database = try DatabaseQueue(path: scratch.path + "/aggregator.sqlite")
        try database.writeWithoutTransaction { try $0.execute(sql: text) }
        try database.close()
    }

    @Test func `are read on: what waits is delivered, new records follow, and the history holds`()
        async throws
    {
        let writer = try SpoolWriter(directory: scratch.path + "/spool")
        let last = writer.nextNumber - 1
        #expect(last >= 27, "\(last)")
        for _ in 0..<5 { _ = try writer.append(Array("{\"kind\":\"event\",\"event\":\"new\"}".utf8)) }
        try writer.sync()
        let aggregator = try RunningAggregator(in: scratch)
        #expect(try await aggregator.storedThrough() == 27)
        let config = """
            spool: \(scratch.path)/spool
            site: demo
            aggregator: {url: "\(aggregator.url)", token: demo-token}
            """
        let link = try RunningProgram("ballast-link", ["--config", try scratch.write("link.yaml", config)])
        try await aggregator.waitUntilStored(last + 5)
        #expect(try await aggregator.get("/v1/sites/demo/events").body.contains("operator"))
        #expect(link.end(by: SIGTERM) == 0)
        #expect(aggregator.end(by: SIGTERM) == 0)
        let queue = try DatabaseQueue(path: aggregator.database)
        let numbers = try await queue.read {
            try UInt64.fetchAll($0, sql: "SELECT n FROM record ORDER BY n")
        }
        #expect(numbers == Array(1...last + 5))
        try queue.close()
        let path = try aggregator.writeFile()
        let verify = try RunningProgram(
            "ballast-aggregator", ["verify", "--config", path, "--head", Self.head, "--replay"])
        #expect(verify.end(by: 0) == 0, "\(verify.log)")
    }
}
