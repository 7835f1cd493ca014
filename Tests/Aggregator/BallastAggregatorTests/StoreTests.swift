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

    @Test func `commits to the disk before it answers: WAL with synchronous FULL`() throws {
        let level = try store.queue.read { try Int.fetchOne($0, sql: "PRAGMA synchronous") }
        let mode = try store.queue.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") }
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
            #expect(try await store.store(try report(row.numbers, gaps: row.gaps)) == row.outcome, row.why)
        }
        let numbers = try await store.queue.read {
            try Int.fetchAll($0, sql: "SELECT n FROM record ORDER BY n")
        }
        #expect(numbers == [1, 2, 3, 4, 5, 6, 7, 9])
    }

    @Test func `keeps epochs apart and shows the newest`() async throws {
        let other = String(repeating: "a", count: 32)
        #expect(try await store.store(try report(1...4)) == .stored(through: 4))
        #expect(try await store.store(try report(1...2, epoch: other)) == .stored(through: 2))
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
        #expect(try await request.value == .stored(through: 500))
        #expect(try await store.stream(of: "demo")?.storedThrough == 500)
    }
}
