import Foundation
import FrequencyRecord
import FrequencyReplay
import Quantities
import Scenario
import Testing

@Suite struct ReplayTests {
    /// Delivered power comes one period late, and the inverter moves with it.
    static let delay = 0.06

    private func expect(
        _ csv: String, _ bench: Bench = Bench(), slope: Double, _ why: Comment
    ) throws {
        let form = try bench.closedForm(csv)
        let summary = try #require(ReplaySummary(try bench.rows(csv)), why)
        let (expected, delivered) = (summary.expected, summary.delivered)
        // The rows lie 100 ms apart and may cut a corner of the curve.
        let corner = slope * 0.1 * 0.1 / 3_600 * 10 + 1e-6
        #expect((expected.peak.kilowatts - form.peak_kw).magnitude < slope * 0.1 + 1e-6, why)
        #expect((expected.injected.value / 1_000 - form.injected_kwh).magnitude < corner, why)
        #expect((expected.absorbed.value / 1_000 - form.absorbed_kwh).magnitude < corner, why)
        #expect((delivered.peak.kilowatts - form.peak_kw).magnitude < slope * Self.delay + 1e-3, why)
        let late = 0.001 * (form.injected_kwh + form.absorbed_kwh) + corner
        #expect((delivered.injected.value / 1_000 - form.injected_kwh).magnitude < late, why)
        #expect((delivered.absorbed.value / 1_000 - form.absorbed_kwh).magnitude < late, why)
        #expect(summary.worstDeviation.kilowatts < slope * Self.delay + 1e-3, why)
    }

    // swift-format-ignore
    static let events: [(name: String, slope: Double, peak: Double, why: Comment)] = [
        ("uk_2019-08-09_1s",     60.4,  473.2, "0.151 Hz/s at worst; the facts say 473.2 kW and 16.35 kWh for 1 MW"),
        ("uk_2023-12-22_1s",     45,    278.0, "the nadir of 49.275 Hz"),
        ("iberia_2025-04-28_2s", 270,  1000.0, "0.673 Hz/s, to the end of the nameplate"),
    ]

    @Test(arguments: events)
    func `a measured event is delivered with the peak and energy of the closed form`(
        name: String, slope: Double, peak: Double, why: Comment
    ) throws {
        let csv = try Bench.measured(name)
        let form = try Bench().closedForm(csv)
        #expect((form.peak_kw - peak).magnitude < 0.05, why)
        try expect(csv, slope: slope, why)
    }

    private static func csv(_ seconds: Int, _ frequency: (Double) -> Double) -> String {
        (0...seconds * 10).reduce("t_s,f_hz\n") { text, index in
            let time = Double(index) / 10
            return text + "\(time),\((frequency(time) * 1e6).rounded() / 1e6)\n"
        }
    }

    // swift-format-ignore
    static let family: [(csv: String, basePoint: Int, slope: Double, why: Comment)] = [
        (csv(60) { 50 + 0.2 * sin($0 * 2 * .pi / 20) }, 0, 26, "a sine of 0.2 Hz and 20 s crosses both edges"),
        (csv(60) { 50 + 0.02 * sin($0 * 2 * .pi / 20) }, 0, 1, "a sine inside the deadband"),
        (csv(30) { 50 + 1.5 * sin($0 * 2 * .pi / 30) }, 0, 126, "a large one"),
        ("t_s,f_hz\n0,50\n10,50\n30,49\n50,50\n60,50\n", 0, 20, "a ramp down and up of 50 mHz/s"),
        ("t_s,f_hz\n0,50\n10,50\n30,51\n50,50\n60,50\n", 0, 20, "its mirror"),
        ("t_s,f_hz\n0,50\n10,50\n30,49\n50,50\n60,50\n", 800, 20, "the nameplate ends a response of 388 kW at 200 kW"),
        ("t_s,f_hz\n0,50\n10,50\n30,51\n50,50\n60,50\n", -800, 20, "and its mirror"),
        ("t_s,f_hz\n0,49.8\n30,49.8\n", 0, 1, "an event that stands from the begin to the end"),
    ]

    @Test(arguments: family)
    func `sines, ramps and levels are delivered as the closed form says`(
        csv: String, basePoint: Int, slope: Double, why: Comment
    ) throws {
        try expect(csv, Bench(basePoint: basePoint), slope: slope, why)
    }

    @Test func `a step is there within 100 ms, and the report's own rules say so too`() throws {
        let csv = "t_s,f_hz\n0,50\n10,50\n10.001,49.8\n70,49.8\n"
        let rows = try Bench().rows(csv, every: .milliseconds(20))
        let there = try #require(rows.first { $0.total.kilowatts > 68 * 0.999 })
        #expect(there.time.seconds > 10 && there.time.seconds <= 10.1)
        let samples = rows.map { row in
            FrequencySample(
                milliseconds: Int64((row.time.seconds * 1_000).rounded()), frequency: row.frequency,
                expected: row.expected - row.basePoint, basePoint: row.basePoint, delivered: row.total,
                rated: .kilowatts(1_000))
        }
        let report = FrequencyReport(samples, rules: FrequencyRules())
        guard case .reached(let time) = report.events.first?.response else {
            Issue.record("\(report.events)")
            return
        }
        #expect((20...100).contains(time))
        guard case .scored(let score) = report.verdict else {
            Issue.record("\(report.verdict)")
            return
        }
        #expect(score.total > 99.99)
    }

    @Test func `contactors that the site drives close before the event and cost it nothing`() throws {
        let csv = "t_s,f_hz\n0,50\n5,49.5\n8,50.2\n"
        let own = try #require(ReplaySummary(try Bench(hasContactors: true).rows(csv)))
        let other = try #require(ReplaySummary(try Bench().rows(csv)))
        #expect((own.delivered.peak - other.delivered.peak).magnitude < Watts(1), "\(own) \(other)")
        #expect((own.delivered.injected - other.delivered.injected).magnitude < WattHours(0.01))
        #expect((own.worstDeviation - other.worstDeviation).magnitude < Watts(1))
    }

    @Test func `two replays of one profile give the same numbers`() throws {
        let csv = "t_s,f_hz\n0,50\n5,49.5\n8,50.2\n"
        #expect(try Bench().rows(csv) == Bench().rows(csv))
    }

    @Test func `the CSV has a row for each time and the plot is one drawing`() throws {
        let site = try Bench().site
        var replay = try FrequencyReplay(
            site, profile: FrequencyProfile(csv: "t_s,f_hz\n0,50\n1,49.9\n"), stateOfCharge: .percent(40))
        let rows = try replay.run(every: .milliseconds(250))
        let lines = replay.csv(rows).split(separator: "\n")
        // 250 ms are rounded up to 13 periods of 20 ms; the last cycle has its row too.
        #expect(rows.map { Int64($0.time.milliseconds) } == [0, 260, 520, 780, 1_000])
        #expect(
            lines.first
                == "t_s,f_hz,base_point_kw,expected_kw,target_kw,setpoint_kw,delivered_kw,BESS_01_kw,BESS_01_soc_percent"
        )
        #expect(lines.count == 6 && lines[5].hasPrefix("1.000,49.900000,0.000000,28.000000,"))
        let charge = try #require(lines[5].split(separator: ",").last.flatMap { Double($0) })
        #expect((39.4...40.6).contains(charge))
        let drawing = replay.plot(rows, title: "A & B").svg
        #expect(
            drawing.contains("A &amp; B") && drawing.contains("frequency, Hz")
                && drawing.contains("state of charge, %"))
        #expect(replay.text(rows).contains("worst deviation"))
    }

    @Test func `an empty battery delivers nothing and says so in the figures`() throws {
        var replay = try FrequencyReplay(
            try Bench().site, profile: FrequencyProfile(csv: "t_s,f_hz\n0,49.8\n10,49.8\n"),
            stateOfCharge: .percent(8))
        let summary = try #require(ReplaySummary(try replay.run()))
        #expect(summary.delivered.injected == .zero)
        #expect((summary.worstDeviation - .kilowatts(68)).magnitude < Watts(1))
    }
}
