import ProgramSupport
import Recorder
import Testing

@testable import BallastLink

/// A line on which bytes take long, and many links that come back together.
@Suite struct `A slow line` {
    /// A clock that a test moves.
    private final class Line {
        var now = ContinuousClock.now
        /// Records of each report, and whether it came through.
        var reports: [(records: Int, isStored: Bool)] = []
    }

    /// - Parameters:
    ///   - each: what a record takes on the line, s; nobody waits for an answer longer than 30 s.
    ///   - failing: the reports, by their place, that are refused at once.
    private func played(
        records: Int, each: [Double], failing: Set<Int> = [], steps: Int
    ) async throws -> (line: Line, stored: UInt64) {
        let scratch = try ScratchFolder()
        let writer = try SpoolWriter(directory: scratch.path + "/spool")
        for number in 1...records { _ = try writer.append(Array("{\"was\":\(number)}".utf8)) }
        try writer.sync()
        let line = Line()
        let text = """
            spool: \(scratch.path)/spool
            site: demo
            aggregator: {url: "http://127.0.0.1", token: t}
            batch_max_records: 64
            """
        var session = LinkSession(
            config: try `The link's configuration`.read(text), clock: { line.now }, log: { _ in },
            post: { body, _, _ in
                let numbers = String(decoding: body, as: UTF8.self).split(separator: "{\"n\":").dropFirst()
                let place = line.reports.count
                let time = Double(numbers.count) * each[min(place, each.count - 1)]
                line.now += .seconds(min(time, 30))
                let isStored = time <= 30 && !failing.contains(place)
                line.reports.append((numbers.count, isStored))
                guard isStored else { return .unreachable(reason: "no answer") }
                return .stored(through: UInt64(numbers.last?.prefix { $0.isNumber } ?? "0") ?? 0)
            })
        for _ in 0..<steps { _ = await session.step() }
        let mark = try DeliveryMark(directory: scratch.path + "/spool", epoch: writer.epoch)
        return (line, mark.deliveredThrough)
    }

    @Test func `a report that does not pass in its time is halved until it does`() async throws {
        // A record of 6 kB at 64 kbit/s: 64 of them are 384 kB, 48 s.
        let (line, stored) = try await played(records: 200, each: [0.75], steps: 40)
        #expect(line.reports.prefix(4).map(\.records) == [0, 64, 32, 16])
        #expect(line.reports.filter { !$0.isStored }.count == 1, "only the first is too large")
        #expect(stored == 200, "all of them in the end")
    }

    @Test func `on a line of which one record takes long they go one by one`() async throws {
        let (line, stored) = try await played(records: 40, each: [14], steps: 60)
        #expect(line.reports.dropFirst().prefix(7).map(\.records) == [40, 20, 10, 5, 2, 1, 1])
        #expect(stored == 40)
    }

    @Test func `a line that is well again has whole reports again`() async throws {
        let (line, stored) = try await played(
            records: 400, each: [0, 1, 1, 0.2, 0.2, 0.01], steps: 20)
        #expect(line.reports.map(\.records).contains(64) && line.reports.map(\.records).max() == 64)
        #expect(line.reports.dropFirst(2).contains { $0.records == 64 && $0.isStored })
        #expect(stored == 400)
    }

    @Test func `what is refused at once is not the line's doing`() async throws {
        let (line, _) = try await played(records: 200, each: [0.01], failing: [1, 2, 3], steps: 6)
        #expect(line.reports.map(\.records) == [0, 64, 64, 64, 64, 64])
    }

    @Test func `ten thousand links whose aggregator comes back do not come back at once`() {
        var generator = SystemRandomNumberGenerator()
        // Each has tried for so long that its pause is the longest; the aggregator is there from 100 s on.
        var arrivals = [Int](repeating: 0, count: 100)
        for _ in 0..<10_000 {
            var backoff = Backoff()
            var time = Duration.seconds(Double.random(in: 0...1, using: &generator))
            while time < .seconds(100) { time += backoff.next(using: &generator) }
            let tenth = Int((time - .seconds(100)) / .milliseconds(100))
            arrivals[min(99, tenth)] += 1
        }
        #expect(arrivals.reduce(0, +) == 10_000, "all of them within ten seconds")
        // Even over the first five of them, 133 in a tenth of a second on the mean, and falling behind that.
        #expect((arrivals.max() ?? 0) < 220, "\(arrivals)")
    }
}
