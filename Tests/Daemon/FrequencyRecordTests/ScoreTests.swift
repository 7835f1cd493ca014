@testable import FrequencyRecord
import Quantities
import Testing

@Suite struct ScoreTests {
    private func score(_ bench: Bench, _ rules: FrequencyRules = FrequencyRules()) throws -> FrequencyScore {
        guard case .scored(let score) = bench.report(rules).verdict else {
            Issue.record("not scored: \(bench.report(rules).verdict)")
            throw NotScored()
        }
        return score
    }
    private struct NotScored: Error {}

    @Test func `the worked example of the proposal has its figures`() throws {
        // 50.000 → 49.800 Hz: 68 kW asked for, 61 kW delivered on the mean, 90 % at 24 s, in service 0.998.
        var bench = Bench.step(length: 330) { time, expected in
            time < 84 ? 30 : (time == 84 ? expected * 0.9 : 61)
        }
        for index in bench.samples.indices { bench.samples[index].inService = Bench.rated * 0.998 }
        let score = try score(bench)
        #expect(isClose(score.accuracy, 1 - 7.0 / 68, 1e-6))
        #expect(score.delay == 1 && score.sustained == 1)
        #expect(isClose(score.inService, 0.998, 1e-9))
        #expect(isClose(score.total, 95.9, 0.06))
    }

    @Test func `beta share has the bands of frequency response performance`() throws {
        for (share, band) in [
            (1.0, "excellent"), (0.897, "good"), (0.85, "good"), (0.8, "average"), (0.6, "below average"),
            (0.4, "poor"),
        ] {
            // 90 % comes once, so that the delay does not matter.
            let score = try score(Bench.step(delivered: { $0 == 61 ? $1 : $1 * share }))
            #expect(isClose(score.betaShare, share, 1e-9) && score.betaBand == band)
        }
    }

    @Test func `no events are no events and not 100`() {
        var bench = Bench()
        bench.add(from: 0, to: 600, frequency: { _ in 50.01 })
        let report = bench.report()
        #expect(report.verdict == .noEvents)
        #expect(report.text.contains("no events") && report.json.contains("\"verdict\":\"no_events\""))
        #expect(report.html(site: "x").contains("no events"))
        #expect(!report.text.contains("100 of 100") && !report.json.contains("\"total\""))
    }

    @Test func `no data is neither a good score nor no events`() {
        let report = Bench().report(from: 0, to: 3_600)
        #expect(report.verdict == .noData)
        #expect(
            report.gaps == [.init(fromMilliseconds: Bench.origin, toMilliseconds: Bench.origin + 3_600_000)])
        #expect(report.coverage == 0 && report.text.contains("no sample"))
        #expect(FrequencyReport([], rules: FrequencyRules()).verdict == .noData)
    }

    @Test func `events shorter than the time for full response give no score`() {
        let report = Bench.step(length: 25).report()
        #expect(report.events.count == 1 && report.verdict == .notJudged)
        #expect(report.text.contains("none: no event was seen"))
    }

    @Test func `power that stays after the frequency is back is an error too`() throws {
        var bench = Bench.step(length: 60)
        // After the return 50 kW go on for 8 s of the 10 s to settle: 30 s good, 8 s with an error of 1.
        for index in bench.samples.indices {
            let time = (bench.samples[index].milliseconds - Bench.origin) / 1_000
            if (120..<128).contains(time) { bench.samples[index].delivered = .kilowatts(50) }
        }
        #expect(isClose(try score(bench).accuracy, 30.0 / 38))
    }

    @Test func `what the state of charge forbids is excused where power must be held and nowhere else`()
        throws
    {
        var bench = Bench.step(delivered: { $0 < 200 ? $1 : 0 })
        for (limit, sustained) in [
            (FrequencySample.ChargeLimit.discharge, 1.0), (.both, 1), (.charge, 110.0 / 300),
            (.none, 110.0 / 300),
        ] {
            for index in bench.samples.indices {
                let isEmpty = bench.samples[index].milliseconds >= Bench.origin + 200_000
                bench.samples[index].chargeLimit = isEmpty ? limit : .none
            }
            // An error of 68 kW is beyond 5 % of rated.
            #expect(isClose(try score(bench).sustained, sustained), "\(limit)")
        }
    }

    /// 68 kW are asked for from the sixtieth second on for 400; from the 300th on nothing comes. What is judged begins
    /// 30 s after the event: 210 s are well.
    @Test func `the time to hold is the grid code's: told for each, and judged by the one in force`() throws {
        let event = try #require(Bench.step(delivered: { $0 < 300 ? $1 : 0 }).report().events.first)
        let told = zip(FrequencyRules.holds, event.heldShares)
        for (hold, share) in told {
            // The event asks for 370 s from there on, whatever the code would have held.
            #expect(isClose(share, 210 / min(max(210, Double(hold) / 1_000), 370)), "\(hold): \(share ?? -1)")
        }
        let text = try #require(Bench.step(delivered: { $0 < 300 ? $1 : 0 }).report().eventTexts.first)
        for hold in FrequencyRules.holds {
            let code = GridCode(effectiveFrom: 0, hold: hold)
            var response = ToldResponse(GridCodes("a code", source: "the test", mark: "illustrative", [code]))
            response.take(event: Array("{\"t_ms\":5,\"event\":\(text)}".utf8))
            let found = response.violations.filter { $0.rule == .held }
            #expect(found.isEmpty == (hold <= 210_000), "\(hold): \(response.violations)")
        }
    }

    @Test func `a gap inside an event is an error for as long as it lasts`() throws {
        var bench = Bench.step()
        bench.samples.removeAll { (200_000..<205_000).contains($0.milliseconds - Bench.origin) }
        // 370 s are judged; 6 s lie between two samples that are too far apart.
        #expect(isClose(try score(bench).accuracy, 1 - 6.0 / 370))
        #expect(isClose(try score(bench).sustained, 1 - 6.0 / 300))
    }

    // swift-format-ignore
    static let lines: [(from: Double, to: Double, injected: Double, absorbed: Double, why: Comment)] = [
        ( 30, 30,  30,    0,    "level"),
        (-30, -10, 0,     20,   "below zero"),
        ( 30, -10, 11.25, 1.25, "down through zero: three quarters of the time above"),
        (-30,  10, 1.25,  11.25, "up through zero"),
        (  0,   0, 0,     0,    "nothing"),
    ]

    @Test(arguments: lines)
    func `the energy of a line is split at its zero`(
        from: Double, to: Double, injected: Double, absorbed: Double, why: Comment
    ) {
        let energy = TrapezoidEnergy(Watts(from), Watts(to), .seconds(3_600))
        #expect(isClose(energy.injected.value, injected) && isClose(energy.absorbed.value, absorbed), why)
    }

    @Test func `gaps count as out of service`() throws {
        var bench = Bench.step()
        bench.samples.removeAll { (480_000..<500_000).contains($0.milliseconds - Bench.origin) }
        // 519 s from the first to the last sample; 21 s between two that are too far apart.
        #expect(isClose(try score(bench).inService, 498.0 / 519))
    }

    @Test func `the operating band is shown and never scored`() throws {
        let band = FrequencyRules(operatingBand: .init(lowMillihertz: 49_900, highMillihertz: 50_050))
        let bench = Bench.step(length: 400)
        let report = bench.report(band)
        // 60 s + 59 s of 519 s are inside.
        #expect(isClose(report.operatingBandShare, 119.0 / 519))
        #expect(report.verdict == bench.report().verdict)
        #expect(bench.report().operatingBandShare == nil)
    }

    // swift-format-ignore
    static let edges: [(frequency: Double, isInside: Bool, why: Comment)] = [
        (49.9, true,  "the lower edge belongs to the inside, whatever its binary form"),
        (50.05, true,  "and the upper one"),
        (49.899999, false, "a micro-hertz below"),
        (50.050001, false, "a micro-hertz above"),
    ]

    @Test(arguments: edges)
    func `edges of the operating band are whole millihertz`(
        frequency: Double, isInside: Bool, why: Comment
    ) {
        let band = FrequencyRules.Band(lowMillihertz: 49_900, highMillihertz: 50_050)
        #expect(band.contains(Hertz(frequency)) == isInside, why)
    }

    @Test func `a clock that is set back costs the samples of that time and says so`() {
        var bench = Bench()
        bench.add(from: 0, to: 100, frequency: { _ in 50 })
        bench.add(from: 90, to: 200, frequency: { _ in 50 })
        let report = bench.report()
        #expect(report.samples.count == 200 && report.disordered == 10 && report.gaps.isEmpty)
        #expect(report.text.contains("10 samples left out"))
    }

    @Test func `any samples give a report`() {
        var random = SeededNumbers(state: 7)
        for seed in 0..<200 {
            var samples: [FrequencySample] = []
            for _ in 0..<Int(random.next() % 60) {
                func watts() -> Watts { Watts((random.share() - 0.5) * 3e6) }
                samples.append(
                    FrequencySample(
                        milliseconds: Int64(random.next() % 120_000),
                        frequency: random.next() % 5 == 0 ? nil : Hertz(49 + 2 * random.share()),
                        expected: random.next() % 3 == 0 ? nil : (random.next() % 3 == 0 ? .zero : watts()),
                        basePoint: watts(), delivered: random.next() % 3 == 0 ? nil : watts(),
                        rated: Watts(1 + 1e6 * random.share()), inService: .zero))
            }
            let report = FrequencyReport(samples, rules: FrequencyRules())
            if case .scored(let score) = report.verdict {
                #expect((0...100).contains(score.total), "seed \(seed)")
            }
            #expect(!report.html(site: "<&>").isEmpty && !report.json.contains("nan"))
        }
    }
}

/// The same numbers in every run.
struct SeededNumbers {
    var state: UInt64
    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state >> 33
    }
    mutating func share() -> Double { Double(next() % 1_000_000) / 1e6 }
}
