import Interlocks
import Plant
import Quantities
import Testing

/// Power at any size that is not what was asked for; 100 kW of rating, 2 kW of it count as none.
@Suite struct WrongPowerTests {
    struct Row: Sendable {
        var lowest: Double
        var highest: Double
        var delivered: Double
        /// Seconds until it is told; `nil` = never.
        var after: Double?
        var why: Comment
    }

    // swift-format-ignore
    static let rows: [Row] = [
        Row(lowest: 0,   highest: 0,   delivered: 2,     after: nil, why: "what counts as none"),
        Row(lowest: 0,   highest: 0,   delivered: 2.1,   after: 2,   why: "one step above"),
        Row(lowest: 0,   highest: 0,   delivered: -9,    after: 2,   why: "a tripped unit that charges on"),
        Row(lowest: 4.5, highest: 4.5, delivered: -4.5,  after: 0.5, why: "reversed at a few kilowatts"),
        Row(lowest: 0,   highest: 4.5, delivered: -4.5,  after: 0.5, why: "from the first moment on"),
        Row(lowest: -50, highest: -5,  delivered: 2.1,   after: 0.5, why: "the other way"),
        Row(lowest: 4.5, highest: 4.5, delivered: -2,    after: nil, why: "a little is no direction"),
        Row(lowest: 4.5, highest: 4.5, delivered: 0,     after: nil, why: "how far it lies is the row's affair"),
    ]

    @Test(arguments: rows)
    func `power that is wrong at any size is told after its time`(row: Row) {
        var watch = WrongPower()
        var told: Double?
        for cycle in 1...500 where told == nil {
            let sight = WrongPower.Sight(
                lowest: .kilowatts(row.lowest), highest: .kilowatts(row.highest),
                asked: .kilowatts(row.highest), delivered: .kilowatts(row.delivered), age: .zero,
                zero: .kilowatts(2))
            if watch.look(sight, after: .milliseconds(20)) { told = Double(cycle) * 0.02 }
        }
        #expect(told == row.after || (told ?? 0) - (row.after ?? -9) < 0.011, row.why)
    }

    // swift-format-ignore
    static let little: [(lowest: Double, highest: Double, delivered: Double, isTold: Bool, why: Comment)] = [
        (-0.3, -0.3, -3.7, true,  "next to nothing is asked for, and more flows than counts as none"),
        (-0.3, -0.3, -2.2, false, "what counts as none beside it"),
        (-1.9,  1.9,  4.0, true,  "though it turns"),
        (-1.9,  2.1,  5.0, false, "power was asked for: how far it lies is the row's affair"),
    ]

    @Test(arguments: little)
    func `a little that does not obey is a warning`(
        row: (lowest: Double, highest: Double, delivered: Double, isTold: Bool, why: Comment)
    ) {
        var watch = WrongPower()
        let sight = WrongPower.Sight(
            lowest: .kilowatts(row.lowest), highest: .kilowatts(row.highest),
            asked: .kilowatts(row.highest), delivered: .kilowatts(row.delivered), age: .zero,
            zero: .kilowatts(2))
        for _ in 0..<99 { _ = watch.look(sight, after: .milliseconds(20)) }
        #expect(!watch.isBeside, "not before its time")
        for _ in 0..<2 {
            let isTrip = watch.look(sight, after: .milliseconds(20))
            #expect(!isTrip, row.why)
        }
        #expect(watch.isBeside == row.isTold, row.why)
    }

    // swift-format-ignore
    static let turning: [(gain: Double, delay: Int, isTold: Bool, why: Comment)] = [
        (1,  0,  false, "it follows at once"),
        (1,  15, false, "it follows after 0.3 s"),
        (0,  0,  false, "it gives nothing: the row's affair"),
        (-1, 0,  true,  "it goes the other way at once"),
        (-1, 15, true,  "it goes the other way after 0.3 s"),
    ]

    @Test(arguments: turning)
    func `the direction is judged also where the setpoint turns each second`(
        row: (gain: Double, delay: Int, isTold: Bool, why: Comment)
    ) {
        var watch = WrongPower()
        var isTold = false
        func asked(_ cycle: Int) -> Double { cycle / 50 % 2 == 0 ? 20 : -20 }
        for cycle in 100..<1_600 {
            let sight = WrongPower.Sight(
                lowest: .kilowatts(-20), highest: .kilowatts(20), asked: .kilowatts(asked(cycle)),
                delivered: .kilowatts(row.gain * asked(cycle - row.delay)), age: .milliseconds(50),
                zero: .kilowatts(2))
            isTold = watch.look(sight, after: .milliseconds(20)) || isTold
        }
        if row.gain < 0, row.delay > 0 {
            withKnownIssue(
                "dead time of a third of the half period hides the direction where it turns each second"
            ) {
                #expect(isTold == row.isTold, row.why)
            }
        } else {
            #expect(isTold == row.isTold, row.why)
        }
    }
}
