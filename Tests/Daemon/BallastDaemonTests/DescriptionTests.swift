import Foundation
import FrequencyRecord
import Quantities
import Testing

@testable import BallastDaemon

/// What a site tells of itself at its start, and of each frequency event.
@Suite struct DescriptionTests {
    private static func object(_ bytes: [UInt8]) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    }

    @Test func `the record has each row of the matrix and how each unit is wired`() throws {
        let site = try InterlockMatrixTests.checked("io-site.yaml")
        let matrix = InterlockMatrix(site)
        let record = try Self.object(
            matrix.record(monotonicMilliseconds: 5, wallMilliseconds: 1_764_000_000_123))
        #expect(record["kind"] as? String == "site" && record["v"] as? Int == 1)
        #expect(record["t_ms"] as? Int64 == 1_764_000_000_123)
        let rows = try #require(record["rows"] as? [[String: Any]])
        #expect(rows.compactMap { $0["id"] as? String } == matrix.rows.map(\.rule.name))
        let stop = try #require(rows.first { $0["signal"] as? String == "emergency_stop_input" })
        let units = try #require(record["units"] as? [[String: Any]])
        let wired = try #require(units.first { ($0["id"] as? String) == (stop["wired"] as? [String])?.first })
        let wires = try #require(wired["wires"] as? [String])
        #expect(wires.contains { $0.contains("emergency_stop") }, "\(wires)")
        // The same worst case as `--check --json` has.
        for (row, own) in zip(rows, matrix.rows) {
            #expect(row["slowest_ms"] as? Double == own.slowest?.total.milliseconds, "\(own.rule.name)")
        }
    }

    @Test func `at 64 units it is still one record`() throws {
        let site = try InterlockMatrixTests.checked("io-site.yaml")
        var config = site.config
        let unit = try #require(config.units.first)
        config.units = (0..<64).map { number in
            var one = unit
            one.id = "A_UNIT_WITH_A_LONG_NAME_\(number)"
            return one
        }
        let bytes = InterlockMatrix(CheckedSite(config: config, files: site.files))
            .record(monotonicMilliseconds: 0, wallMilliseconds: 0)
        // A spool takes 256 KiB.
        #expect(bytes.count < 200_000, "\(bytes.count) bytes")
    }

    /// Ten minutes of samples, outside the deadband in between: as the sampler writes them down.
    private static func batches(_ outside: [ClosedRange<Int64>], to end: Int64) -> (
        batches: [[UInt8]], samples: [FrequencySample]
    ) {
        var (batches, all, batch) = ([[UInt8]](), [FrequencySample](), SampleBatch())
        for second in 0..<end {
            let isOut = outside.contains { $0.contains(second) }
            let power: Watts = isOut ? .kilowatts(20) : .zero
            let sample = FrequencySample(
                milliseconds: 1_764_000_000_000 + second * 1_000, frequency: Hertz(isOut ? 49.8 : 50),
                expected: power, response: power, setpoint: power, delivered: power, rated: .kilowatts(100))
            if !batch.accepts(sample) {
                batches += batch.json.map { [$0] } ?? []
                batch = SampleBatch()
            }
            batch.append(sample)
            all.append(sample)
        }
        return (batches + (batch.json.map { [$0] } ?? []), all)
    }

    @Test func `each frequency event is told once, as the report over everything judges it`() throws {
        let (batches, samples) = Self.batches([100...180, 195...220, 400...460], to: 600)
        var teller = FrequencyTeller(mode: "production")
        let all = batches.flatMap { teller.take($0) }
        let told = all.filter { String(decoding: $0, as: UTF8.self).contains("frequency_event") }
        let report = FrequencyReport(samples, rules: FrequencyRules())
        #expect(report.events.count == 3)
        let records = try told.map { try Self.object($0) }
        #expect(records.count == 3)
        for (record, (event, text)) in zip(records, zip(report.events, report.eventTexts)) {
            #expect(record["t_ms"] as? Int64 == event.startMilliseconds)
            let own = try JSONSerialization.data(
                withJSONObject: try #require(record["event"]), options: .sortedKeys)
            let judged = try JSONSerialization.data(
                withJSONObject: try Self.object(Array(text.utf8)), options: .sortedKeys)
            #expect(own == judged, "\(text)")
        }
        #expect(teller.take(Array("no record".utf8)).isEmpty)
    }
}
