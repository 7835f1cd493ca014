import Interlocks
import Quantities
import Testing

@testable import Control

/// A battery's current beyond its own limit; 100 kW of rating, no idle draw.
@Suite struct UnaskedCurrentTests {
    static let settings = UnitSettings(
        rating: .kilowatts(100), minStateOfCharge: .percent(10), maxStateOfCharge: .percent(90),
        budget: FreshnessBudget(battery: .milliseconds(600), inverter: .milliseconds(300)),
        currentFloor: Amperes(2), inverterResponse: .seconds(2))

    static func sight(_ drawn: Double, _ asked: Double, _ shown: Double, _ ratio: Double)
        -> UnaskedCurrent.Sight
    {
        UnaskedCurrent.Sight(
            drawn: .kilowatts(drawn), asked: .kilowatts(asked), shown: .kilowatts(shown), ratio: ratio)
    }

    // swift-format-ignore
    static let rows: [(sight: UnaskedCurrent.Sight, after: Double?, why: Comment)] = [
        (sight(50,    5.5, 0.5, 9),    0.02, "ten times what was asked for, and shown as asked"),
        (sight(50,   30,   5,   1.2),  0.02, "and cut off at its nameplate"),
        (sight(50,   30,   5,   1.09), nil,  "the battery allows it"),
        (sight(16.5,  5.5, 0.5, 2),    nil,  "inside what sensors and losses are: both see it, and it stays"),
        (sight(100, 100, 100,   5),    nil,  "a limit that has just fallen: the inverter gets its time"),
        (sight(50,    5, 100,   9),    nil,  "somebody else's write, which the inverter shows"),
        (sight(4.9,   0,   0,   3),    nil,  "next to nothing is the rows' affair"),
    ]

    @Test(arguments: rows) func `power is taken back at once where nothing explains the current`(
        row: (sight: UnaskedCurrent.Sight, after: Double?, why: Comment)
    ) {
        var watch = UnaskedCurrent(Self.settings)
        var now = MonotonicTime(nanoseconds: 0)
        var began: Double?
        for cycle in 1...250 where began == nil {
            now = now + .milliseconds(20)
            if watch.look(row.sight, at: now) == .began {
                began = Double(cycle) * 0.02
            }
        }
        #expect(began == row.after || abs((began ?? 0) - (row.after ?? 9)) < 0.011, row.why)
        #expect((watch.end(at: now) != nil) == (row.after != nil), row.why)
    }

    @Test func `it comes back after ten seconds, and once more is a trip`() {
        var watch = UnaskedCurrent(Self.settings)
        let begin = MonotonicTime(nanoseconds: 100_000_000_000)
        let wrong = Self.sight(50, 5, 0.5, 9)
        #expect(watch.look(wrong, at: begin) == .began)
        #expect(watch.look(wrong, at: begin + .seconds(5)) == .none)
        #expect(watch.end(at: begin + .seconds(9.5)) == begin + .seconds(10))
        #expect(watch.end(at: begin + .seconds(10)) == nil)
        #expect(watch.look(nil, at: begin + .seconds(11)) == .none)
        #expect(watch.look(wrong, at: begin + .seconds(12)) == .again)
        #expect(
            watch.look(wrong, at: begin + .seconds(900)) == .began,
            "not for ever")
    }

    @Test func `at once where the inverter's nameplate has become another one as well`() {
        var watch = UnaskedCurrent(Self.settings)
        let now = MonotonicTime(nanoseconds: 0)
        let allowed = Self.sight(50, 5, 0.5, 0.9)
        #expect(watch.look(allowed, isRescaled: true, at: now) == .none)
        let wrong = Self.sight(50, 5, 0.5, 9)
        #expect(watch.look(wrong, isRescaled: true, at: now) == .again)
    }

    @Test func `a display stands still once it was asked for something else and shows the same digits`() {
        var shown = ShownPower()
        var now = MonotonicTime(nanoseconds: 0)
        func look(_ power: Double, asked: Double, for seconds: Double) {
            for _ in 0..<Int(seconds * 10) {
                now = now + .milliseconds(100)
                shown.look(
                    .kilowatts(power), age: .milliseconds(20), asked: .kilowatts(asked),
                    rating: .kilowatts(100), response: .seconds(2), at: now)
            }
        }
        look(30, asked: 30, for: 60)
        #expect(!shown.isStill, "nothing else was asked for")
        look(30, asked: 31.9, for: 60)
        #expect(!shown.isStill, "less than a fiftieth of the rating")
        look(30, asked: 55, for: 0.5)
        #expect(!shown.isStill, "a device has a dead time")
        look(30, asked: 55, for: 0.2)
        #expect(shown.isStill)
        look(31, asked: 55, for: 0.1)
        #expect(!shown.isStill, "it moves")
    }
}
