import Quantities
import Testing

@testable import BallastDaemon
@testable import SiteConfig

@Suite struct AGCRulesTests {
    static func rules(perMinute: Int = 60, step: Double = 60) -> AGCRules {
        AGCRules(
            ControlCentreConfig(
                charge: .kilowatts(40), discharge: .kilowatts(50), step: .kilowatts(step),
                longest: .seconds(30), perMinute: perMinute))
    }

    static let start = MonotonicTime(nanoseconds: 1_000_000_000)

    // swift-format-ignore
    static let rows: [(kilowatts: Double, seconds: Double, before: Double?, isTaken: Bool, why: Comment)] = [
        (  50.0, 30,    nil, true,  "both at their limit"),
        (  50.1, 30,    nil, false, "above the largest discharge"),
        ( -40.0, 30,    nil, true,  "the largest charge"),
        ( -40.1, 30,    nil, false, "beyond it"),
        (  10.0, 30.1,  nil, false, "too long"),
        (  10.0,  0,    nil, false, "for no time"),
        (  50.0, 30,  -10.0, true,  "a step of 60 kW"),
        (  50.0, 30,  -10.1, false, "a larger one"),
    ]

    @Test(arguments: rows)
    func `a setpoint stays inside the site's bounds`(
        row: (kilowatts: Double, seconds: Double, before: Double?, isTaken: Bool, why: Comment)
    ) {
        var rules = Self.rules()
        if let before = row.before { rules.note(.kilowatts(before), for: .seconds(9), at: Self.start) }
        let refusal = rules.refusal(
            .kilowatts(row.kilowatts), for: .milliseconds(Int64(row.seconds * 1_000)), at: Self.start)
        #expect((refusal == nil) == row.isTaken, row.why)
    }

    @Test func `a step counts from zero once the one before has ended`() {
        var rules = Self.rules(step: 45)
        rules.note(.kilowatts(-40), for: .seconds(9), at: Self.start)
        #expect(rules.refusal(.kilowatts(40), for: .seconds(9), at: Self.start) != nil)
        #expect(rules.refusal(.kilowatts(40), for: .seconds(9), at: Self.start + .seconds(9)) == nil)
    }

    @Test func `so many a minute, and no more`() {
        var rules = Self.rules(perMinute: 6)
        var taken = 0
        for second in 0..<60 {
            let now = Self.start + .seconds(Int64(second))
            if rules.refusal(.zero, for: .seconds(9), at: now) == nil { taken += 1 }
        }
        #expect(taken == 11, "six at once, and one each ten seconds")
    }
}
