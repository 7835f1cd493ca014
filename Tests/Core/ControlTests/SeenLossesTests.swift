import PowerDispatch
import Quantities
import Testing

@testable import Control

/// Limits of a battery beside a file whose losses are not the real ones; 100 kW.
@Suite struct SeenLossesTests {
    static let said = UnitLosses(
        idle: .kilowatts(5), linear: Fraction(0), square: Fraction(0), at: .kilowatts(100))

    /// As the plant has it: 0.3 kW, and a hundredth of the power.
    static func lost(at power: Double) -> Double { 0.3 + abs(power) * 0.01 }

    static func seen(at power: Double, for time: Duration, swinging swing: Double = 0) -> SeenLosses {
        var losses = SeenLosses()
        let sight = SeenLosses.Sight(
            drawn: .kilowatts(power + lost(at: power)), delivered: .kilowatts(power),
            lowest: .kilowatts(power - swing), highest: .kilowatts(power + swing))
        for _ in 0..<(time.nanoseconds / 20_000_000) {
            losses.look(
                sight, rating: .kilowatts(100), patience: .milliseconds(500), after: .milliseconds(20))
        }
        return losses
    }

    // swift-format-ignore
    static let charges: [(seen: SeenLosses, limit: Double, most: Double, why: Comment)] = [
        (SeenLosses(), 10, 10,    "nothing was seen: no loss is counted on"),
        (seen(at: -100, for: .milliseconds(480)), 10, 10,    "a sample may be older than that"),
        (seen(at: -100, for: .seconds(5), swinging: 5), 10, 10,    "power that moves shows no loss"),
        (seen(at: -10, for: .seconds(5)), 10, 10.4,  "what is lost there"),
        (seen(at: -100, for: .seconds(5)), 10, 10.02, "at more power: what it is at least here"),
        (seen(at: -10, for: .seconds(5)), 90, 90.4,  "at less power: no more is known"),
    ]

    @Test(arguments: charges) func `a charge counts on no loss that was not seen`(
        row: (seen: SeenLosses, limit: Double, most: Double, why: Comment)
    ) {
        let power = row.seen.absorbed(into: .kilowatts(row.limit), Self.said)
        #expect(abs(power.kilowatts - row.most) < 0.011, row.why)
        #expect(power.kilowatts - Self.lost(at: power.kilowatts) <= row.limit, row.why)
    }

    @Test func `nor on more than the file says`() {
        let none = Self.seen(at: -10, for: .seconds(5)).absorbed(into: .kilowatts(10), .none)
        #expect(none == .kilowatts(10))
    }

    @Test(arguments: [10.0, 50, 100]) func `a discharge reckons with all that was seen`(limit: Double) {
        let losses = Self.seen(at: 100, for: .seconds(5))
        let power = losses.injected(from: .kilowatts(limit), .none).kilowatts
        #expect(power + Self.lost(at: power) <= limit + 0.001)
        #expect(power > limit - 1.31)
        let bySaid = losses.injected(from: .kilowatts(limit), Self.said)
        #expect(bySaid == Self.said.injected(from: .kilowatts(limit)), "and with no less than the file's")
    }

    @Test func `a sensor that says what no inverter loses takes a third at the most`() {
        var losses = SeenLosses()
        let sight = SeenLosses.Sight(
            drawn: .kilowatts(200), delivered: .kilowatts(100), lowest: .kilowatts(100),
            highest: .kilowatts(100))
        for _ in 0..<500 {
            losses.look(
                sight, rating: .kilowatts(100), patience: .milliseconds(500), after: .milliseconds(20))
        }
        #expect(losses.injected(from: .kilowatts(100), .none).kilowatts > 69)
    }
}
