import FrequencyResponse
import Quantities
import Testing

/// What may flow bounds the total, never the increment; and the ends of the state of charge.
@Suite struct BoundsTests {
    struct Row: Sendable {
        var base: Double
        var asked: Double
        var charge: Double
        var discharge: Double
        var lowest: Double?
        var total: Double
        var why: Comment

        init(
            _ base: Double, _ asked: Double, _ charge: Double, _ discharge: Double, _ lowest: Double?,
            _ total: Double, _ why: Comment
        ) {
            (self.base, self.asked, self.charge) = (base, asked, charge)
            (self.discharge, self.lowest, self.total, self.why) = (discharge, lowest, total, why)
        }
    }

    // swift-format-ignore
    static let rows: [Row] = [
        Row( 660,   -3, 1000, 1000, nil,  657, "plain"),
        Row(   0,  -28,  500,  500, nil,  -28, "derated: the increment stays on nameplate"),
        Row( 900,  188, 1000, 1000, nil, 1000, "the total is bounded"),
        Row( 900, -188, 1000,  500, nil,  312, "P_pre is bounded before the increment"),
        Row(-500,  388, 1000,    0, nil, -112, "empty while charging: less charging"),
        Row(-500,  788, 1000,    0, nil,    0, "but never discharging"),
        Row( 500, -388,    0, 1000, nil,  112, "full while discharging: less discharging"),
        Row( 500, -788,    0, 1000, nil,    0, "but never charging"),
        Row( 660, -983, 1000, 1000,   0,    0, "a programmed lower bound"),
        Row( 300,  100, 1000,  200, 500,  200, "which widens nothing"),
        Row(   0,  500,    0,    0, nil,    0, "nothing may flow"),
    ]

    @Test(arguments: rows)
    func `the total is inside what may flow, whatever is asked`(row: Row) {
        let bounds = PowerBounds(charge: .kilowatts(-row.charge), discharge: .kilowatts(row.discharge))
        let base = bounds.clamp(.kilowatts(row.base))
        let allowed = bounds.allowed(.kilowatts(row.asked), on: base)
        let lowest = row.lowest.map { Watts.kilowatts($0) }
        let total = bounds.total(base, allowed, lowest: lowest)
        #expect((total - .kilowatts(row.total)).magnitude < Watts(1e-6), row.why)
        let unbounded = bounds.total(base, .kilowatts(row.asked), lowest: lowest)
        #expect((total - unbounded).magnitude < Watts(1e-6), "what fits is what is cut off")
    }

    // swift-format-ignore
    static let walls: [(charge: Double, taper: Double, down: Double, up: Double, why: Comment)] = [
        (0.50,  0.05, 1,   1,   "in the middle"),
        (0.10,  0.05, 0,   1,   "at the lower wall"),
        (0.05,  0.05, 0,   1,   "below it"),
        (0.125, 0.05, 0.5, 1,   "half of the taper"),
        (0.15,  0.05, 1,   1,   "its end"),
        (0.89,  0.05, 1,   0.2, "a fifth of the upper taper"),
        (0.90,  0.05, 1,   0,   "at the upper wall"),
        (1.00,  0.05, 1,   0,   "beyond it"),
        (0.1001, 0,   1,   1,   "no taper"),
        (0.10,  0,    0,   1,   "no taper, at the wall"),
    ]

    @Test(arguments: walls)
    func `power fades towards the ends of the state of charge`(
        row: (charge: Double, taper: Double, down: Double, up: Double, why: Comment)
    ) {
        let walls = ChargeWalls(low: Fraction(0.1), high: Fraction(0.9), taper: Fraction(row.taper))
        #expect(abs(walls.dischargeShare(at: Fraction(row.charge)) - row.down) < 1e-9, row.why)
        #expect(abs(walls.chargeShare(at: Fraction(row.charge)) - row.up) < 1e-9, row.why)
    }

    @Test(arguments: [UInt64(1), 2, 3])
    func `for all inputs the response stays inside the bounds and keeps its sign`(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        func number(_ range: ClosedRange<Double>) -> Double { Double.random(in: range, using: &random) }
        for _ in 0..<20_000 {
            guard let code = GridCode(rawValue: UInt8.random(in: 0..<GridCode.count, using: &random)) else {
                continue
            }
            let curve = code.preset.curve
            let bounds = PowerBounds(charge: Watts(number(-1e6...0)), discharge: Watts(number(0...1e6)))
            let base = bounds.clamp(Watts(number(-1e6...1e6)))
            var responder = FrequencyResponder(curve: curve, hold: .zero, ramp: WattsPerSecond(0))
            let frequency = Hertz(number(39...71))
            let response = responder.respond(
                to: frequency,
                in: FrequencyResponder.Situation(rated: Watts(1e6), bounds: bounds, base: base),
                at: MonotonicTime(nanoseconds: 0), after: .zero)
            let total = base + response
            let tolerance = Watts(1e-6)
            #expect(total >= bounds.charge - tolerance && total <= bounds.discharge + tolerance)
            #expect(frequency < curve.nominal ? response >= .zero : response <= .zero)
            #expect(bounds.total(base, response) == bounds.clamp(total))
        }
    }
}
