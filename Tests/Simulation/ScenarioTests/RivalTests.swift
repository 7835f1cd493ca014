import Quantities
import Testing

@testable import Scenario

/// A machine that acts against the site, and the judge of what the site does beside it.
@Suite struct RivalTests {
    private static let step = Duration.milliseconds(20)

    /// The rival alone at a meter where the site gives a fixed power: what the meter shows in the end, and
    /// the largest step of the rival in the last second.
    private func held(_ rival: RivalModel, own: Watts, seconds: Double) -> (meter: Watts, moves: Watts) {
        var rival = rival
        var moves = Watts.zero
        for index in 0..<Int(seconds / 0.02) {
            let before = rival.power
            rival.advance(meter: own + rival.power, frequency: Hertz(50), by: Self.step)
            if Double(index) * 0.02 > seconds - 1 { moves = max(moves, (rival.power - before).magnitude) }
        }
        return (own + rival.power, moves)
    }

    @Test func `it holds the meter where it wants it, as far as its power goes`() {
        let rival = RivalModel(
            rating: .kilowatts(100), aim: .meter(.kilowatts(40)), gain: 0.3, integral: .milliseconds(500))
        let inside = held(rival, own: .kilowatts(-30), seconds: 20)
        #expect((inside.meter - .kilowatts(40)).magnitude < Watts(100) && inside.moves < Watts(10))
        let beyond = held(rival, own: .kilowatts(-100), seconds: 20)
        #expect(beyond.meter.magnitude < Watts(1), "100 kW are all it has")
    }

    @Test func `without an integral it gives its droop's share, and nothing before its dead time`() {
        var rival = RivalModel(
            rating: .kilowatts(100), aim: .frequency(Hertz(50), droop: .percent(2)), gain: 1,
            delay: .milliseconds(300), lag: .milliseconds(100))
        for _ in 0..<14 { rival.advance(meter: .zero, frequency: Hertz(49.5), by: Self.step) }
        #expect(rival.power == .zero, "0.28 s")
        for _ in 0..<200 { rival.advance(meter: .zero, frequency: Hertz(49.5), by: Self.step) }
        #expect((rival.power - .kilowatts(50)).magnitude < Watts(1), "a hundredth of 50 Hz is half of 2 %")
    }

    /// - Parameter swing: of the unit's power, by time.
    private func hunting(_ swing: @escaping (Double) -> Double, hasRival: Bool = true) -> Judgement {
        var history = MadeUpRun.history(seconds: 100) { time, sample in
            let isUp = Int(time / 2) % 2 == 0
            sample.units[0].delivered = .kilowatts(50 + (isUp ? 1 : -1) * swing(time) / 2)
        }
        history.hasRival = hasRival
        return Invariant.doesNotHunt.judged(on: history)
    }

    @Test func `units that go to and fro beside a rival for good are found, and those that settle are not`() {
        #expect(hunting { _ in 20 }.isFailed)
        #expect(hunting { $0 / 5 }.isFailed, "it grows")
        #expect(hunting { _ in 1 } == .passed, "two hundredths are nothing")
        #expect(hunting { $0 < 60 ? 20 : 0 } == .passed)
        #expect(hunting({ _ in 20 }, hasRival: false) != .passed, "nobody to hunt with")
    }

    /// Two units at a limit that falls to 20 kW at 3 s while nothing that is written reaches the first.
    private func judged(second: Double, seconds: Double, feeds: ClosedRange<Double>? = nil) -> Judgement {
        var history = MadeUpRun.history(seconds: seconds) { time, sample in
            sample.units.append(sample.units[0])
            sample.units[0].faults = time > 1 ? [.inverterRefuses] : []
            if let feeds, feeds.contains(time) {
                sample.units[0].faults.append(.inverterForeignWrites)
                sample.units[0].warnings = ["not_following"]
            }
            sample.units[1].delivered = .kilowatts(time < 3.5 ? 50 : second)
            sample.agreed = SiteAgreement(imports: nil, exports: .kilowatts(time < 3 ? 200 : 20))
        }
        history.units.append(history.units[0])
        return Invariant.siteLimits.judged(on: history)
    }

    @Test func `what no write reaches has its own timer's time, as long as nobody else gives the same way`() {
        #expect(judged(second: 0, seconds: 10) == .passed)
        #expect(judged(second: -20, seconds: 10) == .passed)
        #expect(judged(second: 10, seconds: 10).isFailed, "the other one adds to it")
        // Ten seconds, one of its own step, two and two of the response.
        #expect(judged(second: 0, seconds: 25).isFailed, "and no longer than that")
        #expect(judged(second: 0, seconds: 25, feeds: 8...12) == .passed, "it began anew")
    }

    @Test func `who gives nothing beyond a limit that others pass has passed none`() {
        func judged(_ own: Double, load: Double) -> Judgement {
            var history = MadeUpRun.history { time, sample in
                sample.units[0].delivered = .kilowatts(own)
                sample.load = .kilowatts(load)
            }
            (history.importLimit, history.exportLimit) = (.kilowatts(40), .kilowatts(60))
            return Invariant.siteLimits.judged(on: history)
        }
        #expect(judged(0, load: -100) == .passed)
        #expect(judged(-20, load: -100) == .passed, "a charge against it helps")
        #expect(judged(20, load: -100).isFailed)
        #expect(judged(20, load: 100) == .passed, "a discharge against a load helps")
        #expect(judged(-20, load: 100).isFailed)
    }
}
