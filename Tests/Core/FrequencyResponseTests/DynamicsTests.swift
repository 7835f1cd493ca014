import FrequencyResponse
import Glibc
import Quantities
import Testing

/// How the response moves in time, against closed forms.
@Suite struct DynamicsTests {
    static let rated = Watts.kilowatts(1_000)
    static let curve = DroopCurve(
        nominal: Hertz(50), deadbandLowMillihertz: 49_970, deadbandHighMillihertz: 50_030, droop: .percent(5))

    /// A responder on its own clock.
    struct Bench {
        var responder: FrequencyResponder
        var now = MonotonicTime(nanoseconds: 1_000_000_000)
        var situation = FrequencyResponder.Situation(rated: DynamicsTests.rated)

        init(_ dynamics: ResponseDynamics, _ curve: DroopCurve = DynamicsTests.curve) {
            responder = FrequencyResponder(
                curve: curve, dynamics: dynamics, hold: .seconds(1), ramp: WattsPerSecond(1e6))
            _ = responder.respond(to: Hertz(50), in: situation, at: now, after: .zero)
        }

        /// kW after the next stretch of time.
        mutating func see(_ hertz: Double?, after time: Duration) -> Double {
            now = now + time
            return responder.respond(to: hertz.map { Hertz($0) }, in: situation, at: now, after: time)
                .kilowatts
        }
    }

    @Test(arguments: [0.2, 1.0, 5.0, 10.0], [1, 20, 1_000])
    func `a step is answered by the exponential of the open-loop response time`(tr: Double, period: Int) {
        let lag = Duration.milliseconds(Int64(tr * 1_000))
        var bench = Bench(ResponseDynamics(openLoopTime: lag))
        _ = bench.see(49.5, after: .zero)
        var worst = 0.0
        for index in 1...(10_000 / period) {
            let power = bench.see(49.5, after: .milliseconds(period))
            let time = Double(index * period) / 1_000
            worst = max(worst, abs(power - 188 * (1 - pow(10, -time / tr))))
        }
        #expect(worst < 1e-6, "kW on 1 MW")
    }

    @Test func `nine tenths of a step are there after the open-loop response time`() {
        var bench = Bench(ResponseDynamics(openLoopTime: .seconds(5)))
        _ = bench.see(49.5, after: .zero)
        #expect(abs(bench.see(49.5, after: .seconds(5)) - 169.2) < 1e-6)
        #expect(abs(bench.see(49.5, after: .seconds(5)) - 186.12) < 1e-6)
    }

    @Test func `a ramp of frequency is followed with the lag of its time constant`() {
        let tau = 5 / log(10.0)
        var bench = Bench(ResponseDynamics(openLoopTime: .seconds(5)))
        _ = bench.see(49.97, after: .zero)
        for index in 1...500 {
            let time = Double(index) * 0.02
            let power = bench.see(49.97 - 0.05 * time, after: .milliseconds(20))
            let slope = 1_000 * 0.05 / 2.5
            #expect(abs(power - slope * (time - tau * (1 - exp(-time / tau)))) < 1e-6)
        }
    }

    @Test func `a sine of frequency comes out smaller and later, as a first-order lag makes it`() {
        // No deadband, so that the response is the sine itself.
        let curve = DroopCurve(
            nominal: Hertz(50), deadbandLowMillihertz: 50_000, deadbandHighMillihertz: 50_000,
            droop: .percent(5))
        let tau = 1 / log(10.0)
        let omega = 2 * Double.pi * 0.2
        var bench = Bench(ResponseDynamics(openLoopTime: .seconds(1)), curve)
        let (gain, phase) = (1 / sqrt(1 + omega * omega * tau * tau), atan(omega * tau))
        var worst = 0.0
        for index in 1...20_000 {
            let time = Double(index) * 0.001
            let power = bench.see(50 - 0.25 * sin(omega * time), after: .milliseconds(1))
            let steady = 100 * gain * sin(omega * time - phase)
            let start = 100 * gain * sin(phase) * exp(-time / tau)
            worst = max(worst, abs(power - steady - start))
        }
        // Straight lines of 1 ms leave (ω·h)²/8 of the amplitude.
        #expect(worst < 100 * pow(omega * 0.001, 2) / 8 * 1.1)
    }

    // swift-format-ignore
    static let delay: [(ms: Int, hertz: Double, kilowatts: Double, why: Comment)] = [
        (100, 50.0,   0, "nothing to do"),
        (100, 49.5,   0, "the delay begins"),
        (400, 49.5,   0, "still waiting"),
        (100, 49.5, 188, "500 ms after leaving"),
        (100, 49.0, 388, "no second delay"),
        (100, 50.5, -188, "also not to the other side"),
        (100, 50.0,   0, "back at once"),
        (100, 49.5,   0, "a new event waits again"),
    ]

    @Test func `the response begins after its delay and then follows`() {
        var bench = Bench(ResponseDynamics(initiationDelay: .milliseconds(500)))
        for row in Self.delay {
            let power = bench.see(row.hertz, after: .milliseconds(row.ms))
            #expect(abs(power - row.kilowatts) < 1e-6, row.why)
        }
    }

    // swift-format-ignore
    static let ramp: [(ms: Int, hertz: Double, kilowatts: Double, why: Comment)] = [
        (100, 49.5,  50,  "1 MW in 2 s: 50 kW in 100 ms"),
        (200, 49.5, 150,  "on the way"),
        (100, 49.5, 188,  "there, not beyond"),
        (100, 49.9, 138,  "down in the event as fast"),
        (100, 50.0, 128,  "back inside: 1 MW in 10 s"),
        (1_000, 50.0, 28, "on the way"),
        (500, 50.0,   0,  "exactly nothing"),
        (100, 50.5, -50,  "the other way"),
    ]

    @Test func `the response ramps up by the activation and back by the recovery`() {
        var bench = Bench(ResponseDynamics(fullActivation: .seconds(2), recovery: .seconds(10)))
        for row in Self.ramp {
            let power = bench.see(row.hertz, after: .milliseconds(row.ms))
            #expect(abs(power - row.kilowatts) < 1e-6, row.why)
        }
    }

    // swift-format-ignore
    static let hold: [(s: Int, hertz: Double, kilowatts: Double, why: Comment)] = [
        (1, 49.5, 188, "begins"),
        (1, 49.7, 188, "does not follow back"),
        (1, 49.0, 388, "but further"),
        (1, 50.0, 388, "inside: the hold begins"),
        (9, 50.0, 388, "9 s inside"),
        (1, 50.0,   0, "10 s inside: it ends"),
        (1, 49.9,  28, "a new event"),
        (5, 50.0,  28, "held"),
        (1, 50.1, -28, "the other side is answered at once"),
    ]

    @Test func `the largest response stays for its hold after the event`() {
        var bench = Bench(ResponseDynamics(hold: .seconds(10)))
        for row in Self.hold {
            let power = bench.see(row.hertz, after: .seconds(row.s))
            #expect(abs(power - row.kilowatts) < 1e-6, row.why)
        }
    }

    @Test func `an event ends although a lag never arrives`() {
        var bench = Bench(ResponseDynamics(openLoopTime: .seconds(1)))
        _ = bench.see(49.5, after: .seconds(10))
        #expect(bench.responder.isEvent(at: Hertz(50)), "the response is not yet back")
        for _ in 0..<1_000 { _ = bench.see(50, after: .milliseconds(20)) }
        #expect(bench.responder.response == .zero && !bench.responder.isEvent(at: Hertz(50)))
        #expect(bench.responder.isEvent(at: Hertz(49.9)) && !bench.responder.isEvent(at: nil))
    }

    @Test func `after a saturation the response follows at once, without a wound-up lag`() {
        var bench = Bench(ResponseDynamics(openLoopTime: .seconds(5)))
        bench.situation.bounds = PowerBounds(charge: .kilowatts(-1_000), discharge: .kilowatts(100))
        for _ in 0..<60 { _ = bench.see(45, after: .seconds(1)) }
        #expect(abs(bench.responder.response.kilowatts - 100) < 1e-6)
        #expect(abs(bench.responder.wanted.kilowatts - 1_988) < 1e-6, "what is asked can still be seen")
        _ = bench.see(50, after: .zero)
        #expect(abs(bench.see(50, after: .seconds(5)) - 10) < 1e-6, "90 % of 100 kW, not of 1988")
    }

    @Test func `without a frequency the response fades by the service's own ramp`() {
        var bench = Bench(ResponseDynamics(fullActivation: .seconds(10)))
        _ = bench.see(49.5, after: .seconds(10))
        #expect(abs(bench.see(nil, after: .seconds(1)) - 188) < 1e-6, "held for 1 s")
        #expect(abs(bench.see(nil, after: .seconds(1)) - 88) < 1e-6, "100 kW/s")
        #expect(bench.see(nil, after: .seconds(1)) == 0)
    }
}
