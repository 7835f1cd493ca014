import FrequencyResponse
import Quantities
import Testing

/// What happens to the response while nobody measures frequency, and the comfort ramp.
@Suite struct FrequencyResponderTests {
    static let start = MonotonicTime(nanoseconds: 5_000_000_000)
    static let rated = Watts.kilowatts(1_000)
    static let curve = DroopCurve(
        nominal: Hertz(50), deadbandLowMillihertz: 49_970, deadbandHighMillihertz: 50_030, droop: .percent(5))

    /// Holds for 1 s, then 100 kW/s to zero.
    static func responder() -> FrequencyResponder {
        FrequencyResponder(curve: curve, hold: .seconds(1), ramp: WattsPerSecond(100_000))
    }

    // swift-format-ignore
    static let outage: [(at: Duration, after: Duration, kilowatts: Double, why: Comment)] = [
        (.milliseconds(500),  .milliseconds(500),  188, "held"),
        (.milliseconds(1000), .milliseconds(500),  188, "held to the end of its time"),
        (.milliseconds(1100), .milliseconds(100),  178, "then 100 kW/s"),
        (.milliseconds(2100), .milliseconds(1000),  78, "still on the ramp"),
        (.milliseconds(2800), .milliseconds(700),    8, "still on the ramp"),
        (.milliseconds(2900), .milliseconds(100),    0, "zero, not beyond"),
        (.milliseconds(3000), .milliseconds(100),    0, "and stays"),
    ]

    @Test(arguments: [49.5, 50.5])
    func `without a frequency the response is held, then goes to exactly zero, from either side`(
        before: Double
    ) {
        var responder = Self.responder()
        let first = responder.respond(to: Hertz(before), rated: Self.rated, at: Self.start, after: .zero)
        let sign = before < 50 ? 1.0 : -1.0
        #expect((first - .kilowatts(188 * sign)).magnitude < Watts(1e-3))
        for row in Self.outage {
            let power = responder.respond(
                to: nil, rated: Self.rated, at: Self.start + row.at, after: row.after)
            #expect((power - .kilowatts(row.kilowatts * sign)).magnitude < Watts(1e-3), row.why)
            #expect(row.kilowatts != 0 || power == .zero, row.why)
        }
    }

    // swift-format-ignore
    static let plausibility: [(hertz: Double, isUsed: Bool, why: Comment)] = [
        (39.999,              false, "just too low"),
        (40.000,              true,  "the lowest that counts"),
        (70.000,              true,  "the highest that counts"),
        (70.001,              false, "just too high"),
        (0,                   false, "a meter without a signal"),
        (-50,                 false, "nonsense"),
        (1.7e308,             false, "the largest finite number does not trap"),
    ]

    @Test(arguments: plausibility)
    func `an implausible frequency counts as none`(row: (hertz: Double, isUsed: Bool, why: Comment)) {
        var responder = Self.responder()
        _ = responder.respond(to: Hertz(49.5), rated: Self.rated, at: Self.start, after: .zero)
        let now = Self.start + .milliseconds(20)
        let power = responder.respond(
            to: Hertz(row.hertz), rated: Self.rated, at: now, after: .milliseconds(20))
        let held = Self.curve.power(at: Hertz(49.5), rated: Self.rated)
        #expect((power == held) == !row.isUsed, row.why)
        #expect(FrequencyResponder.isPlausible(Hertz(row.hertz)) == row.isUsed, row.why)
    }

    @Test func `NaN and the infinities cannot be made into a frequency`() {
        #expect(Hertz(decoded: .nan) == nil && Hertz(decoded: .infinity) == nil)
        #expect(Hertz(decoded: -.infinity) == nil && Hertz(decoded: .signalingNaN) == nil)
    }

    @Test func `before the first frequency there is no response`() {
        var responder = Self.responder()
        let power = responder.respond(to: nil, rated: Self.rated, at: Self.start, after: .seconds(1))
        #expect(power == .zero)
    }

    @Test func `a long gap between two cycles ends the response at once and never turns it round`() {
        var responder = Self.responder()
        _ = responder.respond(to: Hertz(49.5), rated: Self.rated, at: Self.start, after: .zero)
        let power = responder.respond(
            to: nil, rated: Self.rated, at: Self.start + .seconds(100), after: .seconds(100))
        #expect(power == .zero)
    }

    @Test func `a frequency that comes back is followed at once`() {
        var responder = Self.responder()
        _ = responder.respond(to: Hertz(49.5), rated: Self.rated, at: Self.start, after: .zero)
        _ = responder.respond(to: nil, rated: Self.rated, at: Self.start + .seconds(2), after: .seconds(2))
        let power = responder.respond(
            to: Hertz(50.1), rated: Self.rated, at: Self.start + .seconds(3), after: .seconds(1))
        #expect((power - .kilowatts(-28)).magnitude < Watts(1e-3))
    }

    // swift-format-ignore
    static let steps: [(target: Double, after: Duration, value: Double, why: Comment)] = [
        (100, .zero,              0, "no time, no step"),
        (100, .milliseconds(20),  2, "100 W/s for 20 ms"),
        (100, .milliseconds(500), 52, "on measured time"),
        (100, .seconds(10),     100, "arrives and stays"),
        (-50, .seconds(1),        0, "down as fast as up"),
        (-50, .milliseconds(499), -49.9, "through zero"),
        (-50, .milliseconds(2),   -50, "exactly there"),
    ]

    @Test func `the ramp limiter follows no faster than its rate and arrives exactly`() {
        var limiter = RampLimiter(rate: WattsPerSecond(100))
        for row in Self.steps {
            let value = limiter.follow(Watts(row.target), after: row.after)
            #expect((value - Watts(row.value)).magnitude < Watts(1e-9), row.why)
            #expect(value == limiter.value)
        }
        #expect(limiter.value == Watts(-50))
    }

    @Test func `the ramp limiter starts again from what could really be delivered`() {
        var limiter = RampLimiter(rate: WattsPerSecond(100))
        _ = limiter.follow(Watts(100), after: .seconds(1))
        limiter.restart(from: Watts(20))
        let value = limiter.follow(Watts(100), after: .milliseconds(100))
        #expect((value - Watts(30)).magnitude < Watts(1e-9))
    }

    @Test
    func `a frequency that comes back after the response has faded finds it on its ramp, without a jump`() {
        var responder = Self.responder()
        _ = responder.respond(to: Hertz(49.5), rated: Self.rated, at: Self.start, after: .zero)
        for step in 1...150 {
            _ = responder.respond(
                to: nil, rated: Self.rated, at: Self.start + .milliseconds(20 * step),
                after: .milliseconds(20))
        }
        var last = responder.response
        #expect(last == .zero, "100 kW/s after a hold of 1 s")
        for step in 151...244 {
            let power = responder.respond(
                to: Hertz(49.5), rated: Self.rated, at: Self.start + .milliseconds(20 * step),
                after: .milliseconds(20))
            #expect((power - last).magnitude <= Watts(2_000 + 1e-6), "step \(step)")
            last = power
        }
        #expect((last - .kilowatts(188)).magnitude < Watts(1e-3))
        let next = responder.respond(
            to: Hertz(49), rated: Self.rated, at: Self.start + .milliseconds(20 * 245),
            after: .milliseconds(20))
        #expect(next > .kilowatts(380), "caught up: from here on the response is as quick as ever")
    }
}
