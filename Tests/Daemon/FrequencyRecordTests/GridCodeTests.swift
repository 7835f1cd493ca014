@testable import FrequencyRecord
import Quantities
import Testing

/// Sites that hold to a curve of their own, told as records and held against a grid code of ±30 mHz and
/// 3 … 6 %. What a site gives is the test's own arithmetic.
@Suite struct GridCodeTests {
    private static let codes = GridCodes(
        "a code", source: "the test", mark: "illustrative",
        [
            GridCode(
                effectiveFrom: 0, fullResponse: 30_000,
                curve: GridCode.Curve(
                    nominal: 50, deadband: 30, droop: 0.03...0.06,
                    operatingBand: FrequencyRules.Band(lowMillihertz: 49_900, highMillihertz: 50_050)))
        ])

    /// Of 1 MW in kW: a deadband in mHz and a droop in percent.
    private static func given(_ frequency: Double, _ deadband: Double, _ droop: Double) -> Double {
        let beyond = max(0, (frequency - 50).magnitude - deadband / 1_000)
        let power = min(1_000, beyond / (50 * droop / 100) * 1_000)
        return frequency < 50 ? power : -power
    }

    private static func told(_ samples: [FrequencySample], _ codes: GridCodes) -> ToldResponse {
        var clock = FrequencyClock(FrequencyRules())
        var response = ToldResponse(codes)
        var later = samples[samples.count - 1]
        later.milliseconds += FrequencyTime.length
        for time in (samples + [later]).compactMap({ clock.take($0) }) {
            response.take(time: Array("{\"kind\":\"frequency_time\",\(time.members)}".utf8))
        }
        return response
    }

    /// Two minutes at one frequency after one at rest.
    private static func samples(
        at hertz: Double, base: Double = 0, _ given: @escaping (Double) -> Double?
    ) -> [FrequencySample] {
        var bench = Bench()
        bench.add(from: 0, to: 60, frequency: { _ in 50 }, base: base)
        bench.add(
            from: 60, to: 180, frequency: { _ in hertz }, base: base, delivered: { _, _ in given(hertz) })
        return bench.samples
    }

    typealias Rule = ResponseViolation.Rule
    typealias Row = (hertz: Double, deadband: Double, droop: Double, rule: Rule?, why: Comment)

    // swift-format-ignore
    static let rows: [Row] = [
        (49.940,  30, 5,    nil,            "as the code asks"),
        (49.700,  30, 6,    nil,            "the flattest that will do"),
        (49.700,  30, 3,    nil,            "the steepest that will do"),
        (49.700,   0, 3,    nil,            "no deadband at all"),
        (49.700,  30, 7.5,  .operatingBand, "too flat, outside the operating band"),
        (49.910,  30, 10,   .droop,         "too flat, inside it"),
        (50.130,  30, 10,   .operatingBand, "the same above"),
        (49.700,  30, 2,    .droop,         "too steep"),
        (50.300,  30, 2,    .droop,         "the same above"),
        (49.910, 100, 5,    .deadband,      "a deadband that is too wide, inside the operating band"),
        (49.890, 150, 5,    .operatingBand, "outside it"),
        (50.045, 100, 5,    nil,            "less is asked there than a measurement is worth"),
        (49.975, 100, 5,    nil,            "inside the code's own deadband"),
    ]

    @Test(arguments: rows)
    func `what a site gives at a steady frequency is held against the code`(row: Row) {
        let samples = Self.samples(at: row.hertz) { Self.given($0, row.deadband, row.droop) }
        let told = Self.told(samples, Self.codes)
        #expect(told.violations.map(\.rule) == (row.rule.map { [$0] } ?? []), row.why)
        guard let found = told.violations.first, let evidence = found.row else { return }
        #expect(found.eventMilliseconds == Bench.origin && found.share < 1, row.why)
        // 120 s less the 30 of a full response, and the last step of the record.
        #expect(evidence.seconds == 89 && isClose(evidence.deviation, row.hertz - 50, 1e-4), row.why)
        let power = Self.given(row.hertz, row.deadband, row.droop) / 1_000
        #expect(isClose(evidence.share, power, 1e-5), row.why)
        #expect(Self.told(Self.samples(at: row.hertz) { _ in 0 }, GridCodes()).violations.isEmpty)
    }

    @Test func `what is excused, unmeasured or too short proves nothing`() {
        typealias Change = (inout FrequencySample) -> Void
        // swift-format-ignore
        let changes: [(change: Change, count: Int, why: Comment)] = [
            ({ _ in }, 1, "nothing is given at 49.7 Hz"),
            ({ $0.chargeLimit = .discharge }, 0, "the state of charge has no more"),
            ({ $0.chargeLimit = .charge }, 1, "the state of charge closes the other way"),
            ({ $0.delivered = nil }, 0, "nobody measured"),
            ({ $0.inService = $0.rated * 0.5 }, 0, "a part is out of service, which the score has"),
            ({ $0.isSimulated = true }, 0, "a test"),
            ({ ($0.basePoint, $0.delivered) = ($0.rated * 0.9, $0.rated * 0.9) }, 0, "no room beside the base point"),
            ({ ($0.basePoint, $0.delivered) = ($0.rated * -0.9, $0.rated * -0.9) }, 1, "room enough"),
        ]
        for row in changes {
            var samples = Self.samples(at: 49.7) { _ in 0 }
            for index in samples.indices where samples[index].frequency != Hertz(50) {
                row.change(&samples[index])
            }
            #expect(Self.told(samples, Self.codes).violationCount == row.count, row.why)
        }
        // From one side to the other each twenty seconds: never steady for as long as a full response takes.
        var bench = Bench()
        bench.add(
            from: 0, to: 600, frequency: { Int($0) / 20 % 2 == 0 ? 49.7 : 50.3 }, delivered: { _, _ in 0 })
        #expect(Self.told(bench.samples, Self.codes).violationCount == 0)
    }

    @Test func `another time for full response is judged by what it took, from its day on`() {
        let day: Int64 = 1_000_000
        let codes = GridCodes(
            "c", source: "t", mark: "illustrative",
            [GridCode(effectiveFrom: day, fullResponse: 10_000)])
        func share(_ event: String, at time: Int64) -> Double? {
            var told = ToldResponse(codes)
            told.take(event: Array("{\"t_ms\":\(time),\"event\":{\"duration_s\":60,\(event)}}".utf8))
            return told.violations.first?.share
        }
        #expect(share("\"response_s\":15,\"delay\":1", at: day) == 0.5)
        #expect(share("\"response_s\":9,\"delay\":1", at: day) == nil)
        #expect(share("\"response_s\":null,\"response\":\"missed\",\"delay\":0", at: day) == 0)
        #expect(share("\"response_s\":15,\"delay\":1", at: day - 1) == nil, "before it nothing is judged")
    }

    @Test func `rows that lie are passed over`() {
        let lies = [
            "[[1]]", "[[-300,1e9,-0.3,0]]", "[[-300,90,0.3,0]]", "{}", "[[-300,\"x\",-0.3,0]]",
            "[[0.5,90,-0.3,0]]", "[7]",
        ]
        let head = "\"from_ms\":5,\"until_ms\":9,\"covered_s\":1,\"in_service_s\":1"
        for rows in lies + ["[[-300,90,-0.3,0]]"] {
            var told = ToldResponse(Self.codes)
            told.take(time: Array("{\(head),\"deviations\":\(rows)}".utf8))
            let isLie = lies.contains(rows)
            #expect(told.violationCount == (isLie ? 0 : 1), "\(rows)")
        }
    }
}
