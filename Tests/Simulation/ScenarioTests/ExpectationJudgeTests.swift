import Quantities
import Testing

import struct Scenario.Expectation

@testable import Scenario

@Suite struct ExpectationJudgeTests {
    /// Power falls from 50 to 0 kW at 3.4 s, and is back for an instant at 6 s.
    static let falling = MadeUpRun.history { time, sample in
        sample.units[0].delivered = .kilowatts(time < 3.35 || (time > 5.95 && time < 6.05) ? 50 : 0)
    }

    private static func zero(
        from: Double, within: Double = 0, _ hold: Expectation.Hold = .none, unit: String? = "A"
    ) -> Expectation {
        Expectation(
            .power(-1...1), unit: unit, from: ScenarioKeys.seconds(from),
            within: ScenarioKeys.seconds(within),
            hold: hold)
    }

    typealias Row = (expectation: Expectation, measured: Double?, isPassed: Bool, why: Comment)

    static let rows: [Row] = {
        let never = Expectation(.power(60...70), unit: "A", within: .seconds(9))
        var rows: [Row] = []
        rows.append((zero(from: 3, within: 0.4), 0.4, true, "just in time"))
        rows.append((zero(from: 3, within: 0.3), 0.4, false, "a tenth late"))
        rows.append((zero(from: 3, within: 1, .for_(.seconds(2))), 0.4, true, "and stays"))
        rows.append((zero(from: 3, within: 1, .for_(.seconds(3))), 3.1, false, "it was back meanwhile"))
        rows.append((zero(from: 3, within: 1, .until(.seconds(5))), 0.4, true, "up to a time"))
        rows.append((zero(from: 7, .toTheEnd), 0, true, "throughout"))
        rows.append((zero(from: 2, .for_(.seconds(1))), 1.4, false, "not from the first"))
        rows.append((never, nil, false, "never"))
        rows.append((zero(from: 0, within: 4, unit: nil), 3.4, true, "of the site"))
        rows.append((zero(from: 0, within: 4, unit: "B"), nil, false, "no such unit"))
        rows.append((Expectation(.mode(["running"]), hold: .toTheEnd), 0, true, "of every unit"))
        rows.append((Expectation(.trip("none"), hold: .toTheEnd), 0, true, "nothing is latched"))
        rows.append((Expectation(.trip("any"), within: .seconds(5)), nil, false, "nothing is latched"))
        rows.append((Expectation(.daemon(isRunning: false), within: .seconds(5)), nil, false, "it runs"))
        rows.append((Expectation(.frequencySource("none")), 0, true, "nobody says whose"))
        return rows
    }()

    @Test(arguments: rows)
    func `an expectation is met when its time and its stretch are`(
        expectation: Expectation, measured: Double?, isPassed: Bool, why: Comment
    ) {
        let verdict = expectation.judged(on: Self.falling)
        #expect((verdict.judgement == .passed) == isPassed, why)
        #expect(verdict.measured == measured.map { ScenarioKeys.seconds($0) }, why)
    }

    static let told: RunHistory = {
        var history = MadeUpRun.history { _, _ in }
        history.events = [
            RunEvent(time: .seconds(2), name: "trip", unit: "A", cause: "lost_bms"),
            RunEvent(time: .seconds(4), name: "trip", unit: "A", cause: "smoke"),
        ]
        return history
    }()

    private static func trip(_ cause: String?, from: Int = 0, within: Int) -> Expectation {
        Expectation(.event("trip", cause: cause), from: .seconds(from), within: .seconds(within))
    }

    private static func none(_ cause: String?, _ hold: Expectation.Hold) -> Expectation {
        Expectation(.noEvent("trip", cause: cause), hold: hold)
    }

    // swift-format-ignore
    static let events: [(expectation: Expectation, isPassed: Bool, why: Comment)] = [
        (trip(nil, within: 2), true, "the first of them"),
        (trip("smoke", within: 3), false, "this cause comes late"),
        (trip("smoke", from: 3, within: 1), true, "counted from a time"),
        (trip("gas", within: 9), false, "never"),
        (none(nil, .for_(.seconds(1))), true, "it comes after"),
        (none(nil, .toTheEnd), false, "it comes"),
        (none("gas", .toTheEnd), true, "others come"),
    ]

    @Test(arguments: events)
    func `an event comes in its time, or does not come at all`(
        expectation: Expectation, isPassed: Bool, why: Comment
    ) {
        #expect((expectation.judged(on: Self.told).judgement == .passed) == isPassed, why)
    }

    @Test func `an allowance for a tier's own delays widens every bound and nothing else`() {
        let late = Expectation(.power(-1...1), unit: "A", from: .seconds(3), within: .milliseconds(300))
        #expect(late.judged(on: Self.falling).judgement != .passed)
        #expect(late.judged(on: Self.falling, allowance: .milliseconds(100)).judgement == .passed)
    }
}
