@testable import FrequencyRecord
import Quantities
import Testing

/// What the page's score stands on: events and quarters of an hour, put together again.
@Suite struct ToldTests {
    /// The samples told as a site tells them.
    private static func told(_ samples: [FrequencySample]) -> ToldResponse {
        let report = FrequencyReport(samples, rules: FrequencyRules())
        var response = ToldResponse()
        for text in report.eventTexts { response.take(event: Array("{\"event\":\(text)}".utf8)) }
        var clock = FrequencyClock(FrequencyRules())
        var times = samples.compactMap { clock.take($0) }
        // The last quarter is told once another one begins.
        var later = samples[samples.count - 1]
        later.milliseconds += FrequencyTime.length
        times += clock.take(later).map { [$0] } ?? []
        for time in times { response.take(time: Array("{\(time.members)}".utf8)) }
        return response
    }

    @Test func `told by events and quarters the score is the one of the whole record`() throws {
        var bench = Bench.step(length: 330) { $0 < 84 ? 30 : ($0 == 84 ? $1 * 0.9 : 61) }
        for index in bench.samples.indices where index % 3 == 0 {
            bench.samples[index].inService = Bench.rated * 0.5
        }
        bench.samples.removeAll { ($0.milliseconds - Bench.origin) / 1_000 == 200 }
        guard case .scored(let whole) = bench.report(FrequencyRules()).verdict,
            case .scored(let told) = Self.told(bench.samples).verdict
        else { throw NotScored() }
        #expect(isClose(told.accuracy, whole.accuracy, 1e-5) && told.delay == whole.delay)
        #expect(isClose(told.sustained, whole.sustained, 1e-5))
        #expect(isClose(told.inService, whole.inService, 1e-5), "\(told.inService) \(whole.inService)")
        #expect(isClose(told.total, whole.total, 1e-3))
    }

    private struct NotScored: Error {}

    @Test func `quarters begin at full ones, and what a test shows is in none`() throws {
        var clock = FrequencyClock(FrequencyRules())
        let origin = Bench.origin / FrequencyTime.length * FrequencyTime.length
        var over: [FrequencyTime] = []
        for second in 0..<2_000 {
            var sample = FrequencySample(
                milliseconds: origin + Int64(second) * 1_000, frequency: nil, expected: nil, delivered: nil,
                rated: .kilowatts(100), inService: .kilowatts(25))
            sample.isSimulated = (100..<200).contains(second)
            over += clock.take(sample).map { [$0] } ?? []
        }
        #expect(over.map(\.from) == [origin, origin + 899_000] && over[0].until == origin + 899_000)
        #expect(over[0].covered == 798_000, "a hundred seconds of a test, and the steps into and out of it")
        #expect(over[0].inService == 0.25 * 798_000 && over[0].withoutFrequency == 798_000)
        #expect(over[1].covered == 900_000)
    }

    // swift-format-ignore
    static let rows: [(event: String, events: Int, why: Comment)] = [
        ("{\"event\":{\"duration_s\":60,\"accuracy\":1,\"accuracy_weight_s\":30,\"sustained_weight_s\":30}}", 1, "as told"),
        ("{\"event\":{\"duration_s\":60,\"accuracy\":1}}", 1, "of an older version: counted, and without weight"),
        ("{\"frequency\":\"simulated\",\"event\":{\"duration_s\":60}}", 0, "of a test"),
        ("{\"event\":[1]}", 0, "no event"), ("{\"event\":{\"duration_s\":\"x\"}}", 0, "no number"),
        ("{\"event\":{\"duration_s\":1e400}}", 0, "beyond numbers"), ("nonsense", 0, "no record"), ("", 0, "nothing"),
    ]
    @Test(arguments: rows)
    func `whatever is told gives a verdict`(event: String, events: Int, why: Comment) {
        var response = ToldResponse()
        response.take(event: Array(event.utf8))
        response.take(time: Array("{\"from_ms\":5,\"until_ms\":1}".utf8))
        response.take(time: Array(event.utf8))
        #expect(response.eventCount == events, why)
        #expect(response.verdict == (events > 0 ? .notJudged : .noData), why)
        #expect(response.json.contains("\"events\":\(events)"), why)
    }
}
