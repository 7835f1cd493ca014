import FrequencyRecord
import Quantities
import Testing

@Suite struct EventTests {
    @Test func `a step is one event with the energy, peak and beta of the closed form`() throws {
        let report = Bench.step(delivered: { $1 * 0.9 }).report()
        let event = try #require(report.events.first)
        #expect(report.events.count == 1)
        #expect(event.begin == .seen && event.end == .returned)
        #expect(event.startMilliseconds == Bench.origin + 60_000)
        #expect(event.durationMilliseconds == 400_000)
        #expect(event.nadir == Hertz(49.8) && event.zenith == Hertz(50))
        // (49.97 − 49.8) ÷ 2.5 of 1 MW; 399 s on the level and half of the last second on the way back.
        #expect(isClose(event.expectedPeak.kilowatts, 68, 1e-9))
        #expect(isClose(event.deliveredPeak?.kilowatts, 61.2, 1e-9))
        #expect(isClose(event.expectedEnergy.injected.value, 68_000 * 399.5 / 3_600, 1e-6))
        #expect(isClose(event.deliveredEnergy.injected.value, 61_200 * 399.5 / 3_600, 1e-6))
        #expect(event.expectedEnergy.absorbed == .zero)
        #expect(isClose(event.energyRatio, 0.9))
        #expect(event.response == .reached(0))
        #expect(isClose(event.betaShare, 0.9))
        // 61.2 kW for 0.2 Hz.
        #expect(isClose(event.betaMegawattsPerHertz, 0.306, 1e-9))
    }

    // swift-format-ignore
    static let answers: [(arrivesAfter: Double?, length: Double, response: ResponseTime, delay: Double?, why: Comment)] = [
        (0,    400, .reached(0),      1,    "at once"),
        (24,   400, .reached(24_000), 1,    "inside the time for full response"),
        (30,   400, .reached(30_000), 1,    "on its end"),
        (45,   400, .reached(45_000), 0.5,  "half of the way to twice that time"),
        (60,   400, .reached(60_000), 0,    "at twice that time"),
        (nil,  400, .missed,          0,    "never"),
        (nil,   20, .unknown,         nil,  "the frequency was back before the time was over"),
        (12,    20, .reached(12_000), 1,    "a short event may show a response all the same"),
    ]

    @Test(arguments: answers)
    func `response time runs from asking for 90 percent of the peak until it is there`(
        arrivesAfter: Double?, length: Double, response: ResponseTime, delay: Double?, why: Comment
    ) throws {
        let bench = Bench.step(length: length) { time, expected in
            arrivesAfter.map { time - 60 >= $0 } ?? false ? expected * 0.9 : 0
        }
        let event = try #require(bench.report().events.first)
        #expect(event.response == response, why)
        #expect(event.score.delay == delay, why)
    }

    @Test func `the way back and forth across nominal splits energy at its zero`() throws {
        var bench = Bench()
        bench.add(from: 0, to: 20, frequency: { _ in 50 })
        // 40 kW for 10 s, then −40 kW for 10 s, with 1 s from one to the other.
        bench.add(from: 20, to: 30, frequency: { _ in 49.87 })
        bench.add(from: 30, to: 40, frequency: { _ in 50.13 })
        bench.add(from: 40, to: 60, frequency: { _ in 50 })
        let event = try #require(bench.report().events.first)
        // 9 s on the level, a quarter of a second's product to zero; on the other side also half a second back.
        #expect(isClose(event.expectedEnergy.injected.value * 3.6, 40 * 9.25, 1e-6))
        #expect(isClose(event.expectedEnergy.absorbed.value * 3.6, 40 * 9.75, 1e-6))
        #expect(event.expectedEnergy.net < .zero)
    }

    // swift-format-ignore
    static let inside: [(frequency: Double, events: Int, why: Comment)] = [
        (50.000, 0, "nominal"),
        (49.970, 0, "the lower edge belongs to the inside"),
        (50.030, 0, "so does the upper one"),
        (49.969999, 1, "a micro-hertz below"),
        (50.030001, 1, "a micro-hertz above"),
    ]

    @Test(arguments: inside)
    func `an event begins outside the deadband of the curve`(frequency: Double, events: Int, why: Comment) {
        #expect(Bench.step(to: frequency).report().events.count == events, why)
    }

    @Test func `a short return does not end an event and a long one does`() {
        for (pause, events) in [(9.0, 1), (12.0, 2)] {
            var bench = Bench()
            bench.add(from: 0, to: 20, frequency: { _ in 50 })
            bench.add(from: 20, to: 40, frequency: { _ in 49.9 })
            bench.add(from: 40, to: 40 + pause, frequency: { _ in 50 })
            bench.add(from: 40 + pause, to: 60 + pause, frequency: { _ in 49.9 })
            bench.add(from: 60 + pause, to: 80 + pause, frequency: { _ in 50 })
            #expect(bench.report().events.count == events, "a pause of \(pause) s")
        }
    }

    @Test func `an event that the data cuts says so and is judged on what was seen`() throws {
        var bench = Bench()
        bench.add(from: 0, to: 40, frequency: { _ in 49.8 })
        bench.add(from: 40, to: 60, frequency: { _ in 50 })
        bench.add(from: 60, to: 90, frequency: { _ in 49.8 })
        let report = bench.report()
        #expect(report.events.map(\.begin) == [.beforeData, .seen])
        #expect(report.events.map(\.end) == [.returned, .endOfData])
        let first = try #require(report.events.first)
        #expect(first.response == .unknown && first.score.delay == nil && first.betaShare == nil)
        let last = try #require(report.events.last)
        #expect(last.durationMilliseconds == 29_000)
        #expect(last.score.accuracy == nil, "it ends before the time for full response")
    }

    @Test func `a long gap ends an event and a short one stays in it by name`() throws {
        for (gap, ends) in [(5.0, [FrequencyEvent.End.returned]), (30.0, [.gap, .returned])] {
            var bench = Bench()
            bench.add(from: 0, to: 20, frequency: { _ in 50 })
            bench.add(from: 20, to: 100, frequency: { _ in 49.8 })
            bench.add(from: 99 + gap, to: 200, frequency: { _ in 49.8 })
            bench.add(from: 200, to: 220, frequency: { _ in 50 })
            let report = bench.report()
            #expect(report.events.map(\.end) == ends, "a gap of \(gap) s")
            #expect(report.gaps.map(\.milliseconds) == [Int64(gap * 1_000)])
            #expect(report.coveredMilliseconds == 219_000 - Int64(gap * 1_000))
            let first = try #require(report.events.first)
            #expect(first.gapMilliseconds == (ends.count == 1 ? 5_000 : 0))
            // 68 kW for 179.5 s, without what the gap may have held.
            let joules = report.events.reduce(0) { $0 + $1.expectedEnergy.injected.value } * 3_600
            #expect(isClose(joules, 68_000 * (179.5 - gap), 1))
            #expect(
                report.text.contains("gap of \(gap == 5 ? "5.0 s" : "30.0 s") from 2026-01-01T00:01:39.000Z"))
        }
    }

    @Test func `a delivered power that nobody measured is neither zero nor the last one`() throws {
        let bench = Bench.step(delivered: { $0 < 100 || $0 >= 200 ? $1 : nil })
        let event = try #require(bench.report().events.first)
        #expect(event.unmeasuredMilliseconds == 101_000)
        #expect(isClose(event.deliveredEnergy.injected.value * 3.6, 68 * (399.5 - 101), 1e-6))
        #expect(isClose(event.expectedEnergy.injected.value * 3.6, 68 * 399.5, 1e-6))
        #expect(isClose(event.energyRatio, 1), "compared over the same time")
        // From 90 s on 370 s are judged; 100 s of them had no measurement.
        #expect(isClose(event.score.accuracy, 1 - 100 / 370))
        #expect(isClose(event.score.sustained, 1 - 100 / 300))
        let silent = try #require(Bench.step(delivered: { _, _ in nil }).report().events.first)
        #expect(silent.deliveredPeak == nil && silent.energyRatio == nil && silent.response == .unknown)
        #expect(silent.score.accuracy == 0 && silent.score.delay == nil && silent.betaShare == nil)
    }

    @Test func `base point and nameplate stand between the curve and what is expected`() throws {
        var bench = Bench()
        bench.add(from: 0, to: 60, frequency: { _ in 50 }, base: 980)
        bench.add(from: 60, to: 200, frequency: { _ in 49.8 }, base: 980, delivered: { _, _ in 20 })
        bench.add(from: 200, to: 260, frequency: { _ in 50 }, base: 980)
        let event = try #require(bench.report().events.first)
        #expect(isClose(event.expectedPeak.kilowatts, 20, 1e-9), "68 kW beside 980 kW do not fit into 1000")
        #expect(isClose(event.score.accuracy, 1) && event.response == .reached(0))
    }
}
