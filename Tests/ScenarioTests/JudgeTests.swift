import Quantities
import Testing

import struct Scenario.Expectation

@testable import Scenario

/// Runs that never were: one unit, ten samples a second, and whatever a test says of it.
struct MadeUpRun {
    static let period = 0.1

    /// - Parameter unit: the unit at a time, s.
    static func history(
        seconds: Double = 10, contactors: Duration? = nil, isVirtualTime: Bool = true,
        _ change: (Double, inout RunSample) -> Void
    ) -> RunHistory {
        var history = RunHistory(
            units: [
                RunHistory.Unit(
                    id: "A", rating: .kilowatts(100), evidenceBudget: .milliseconds(600),
                    response: .seconds(2), reversion: .seconds(10), openUnderLoad: contactors)
            ],
            reaction: .milliseconds(100), recovery: .seconds(5), isVirtualTime: isVirtualTime)
        for step in 0...Int(seconds / period) {
            let time = Double(step) * period
            var sample = RunSample(
                time: .milliseconds(Int64(step) * 100), frequency: Hertz(50), units: [well])
            change(time, &sample)
            history.samples.append(sample)
        }
        return history
    }

    /// A unit in service at 50 kW, and its evidence is fresh.
    static var well: UnitSample {
        var unit = UnitSample()
        unit.mode = "running"
        unit.delivered = .kilowatts(50)
        unit.setpoint = .kilowatts(50)
        unit.written = .kilowatts(50)
        unit.writtenAge = .zero
        unit.allowed = -100_000...100_000
        unit.evidenceAge = .milliseconds(100)
        unit.mainCoil = true
        unit.current = Amperes(150)
        unit.inverter = "running"
        return unit
    }
}

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

@Suite struct InvariantTests {
    @Test func `a quiet run violates nothing, and says what it could not see`() {
        let history = MadeUpRun.history { _, _ in }
        for invariant in Invariant.allCases {
            #expect(!invariant.judged(on: history).isFailed, "\(invariant)")
        }
        #expect(Invariant.deadlines.judged(on: history) != .passed, "virtual time has no deadlines")
        #expect(Invariant.telemetry.judged(on: history) != .passed, "nothing was delivered")
        #expect(Invariant.nothingBlocks.judged(on: history) != .passed, "nobody traced")
        #expect(Invariant.contactorsNotOpenedUnderLoad.judged(on: history) != .passed, "not ours")
    }

    /// One unit goes wrong from three seconds on.
    struct Case: Sendable, CustomTestStringConvertible {
        let invariant: Invariant
        let why: Comment
        let change: @Sendable (Double, inout UnitSample) -> Void

        init(
            _ invariant: Invariant, _ why: Comment,
            _ change: @escaping @Sendable (Double, inout UnitSample) -> Void
        ) {
            self.invariant = invariant
            self.why = why
            self.change = change
        }

        var testDescription: String { "\(invariant): \(why)" }

        func history() -> RunHistory {
            MadeUpRun.history(contactors: .seconds(3)) { time, sample in
                if time > 3 { change(time, &sample.units[0]) }
            }
        }
    }

    static let violations: [Case] = [
        Case(.setpointWithinLimits, "50 kW stay though 40 kW are allowed") { $1.allowed = -100_000...40_000 },
        Case(.setpointWithinLimits, "more than the rating") {
            $1.written = .kilowatts(101)
            $1.allowed = -200_000...200_000
        },
        Case(.noPowerOnStaleEvidence, "older than budget and reaction") {
            $1.evidenceAge = .milliseconds(701)
        },
        Case(.setpointsExpire, "the device's timer does not run") { $1.isExpiring = false },
        Case(.setpointsExpire, "older than the device's timer") { $1.writtenAge = .seconds(12) },
        Case(.setpointsExpire, "nobody wrote it") { $1.writtenAge = nil },
        Case(.powerFollowsSign, "charges where it is to discharge") { $1.delivered = .kilowatts(-50) },
        Case(.contactorsNotOpenedUnderLoad, "opened at 150 A") { $1.mainCoil = false },
        Case(.contactorsNotOpenedUnderLoad, "a second before its time") {
            $1.mode = "tripped"
            $1.mainCoil = $0 < 5
        },
        Case(.tripStaysUntilReset, "ends by itself") { $1.trips = $0 < 5 ? ["smoke"] : [] },
        Case(.tripStaysUntilReset, "ends with a restart") {
            $1.trips = $0 < 5 ? ["smoke"] : []
            if $0 > 4, $0 < 6 { $1.mode = nil }
        },
        Case(.recovers, "lingers without a reason") { $1.mode = "standby" },
    ]

    @Test(arguments: violations)
    func `an invariant that is violated is found`(row: Case) {
        #expect(row.invariant.judged(on: row.history()).isFailed, row.why)
    }

    @Test func `cycles that are missed all the time are found, a few are not`() {
        func judged(_ overruns: (Double) -> Int) -> Judgement {
            Invariant.deadlines.judged(
                on: MadeUpRun.history(isVirtualTime: false) { $1.overruns = overruns($0) })
        }
        #expect(judged { Int($0 * 10) }.isFailed)
        #expect(judged { $0 > 5 ? 3 : 0 } == .passed)
    }

    @Test func `a tripped unit that keeps its power is found once the device should have ended it`() {
        let history = MadeUpRun.history(seconds: 20) { if $0 > 3 { $1.units[0].mode = "tripped" } }
        #expect(Invariant.trippedUnitIsAtZero.judged(on: history).isFailed)
        let short = MadeUpRun.history(seconds: 15) { if $0 > 3 { $1.units[0].mode = "tripped" } }
        #expect(!Invariant.trippedUnitIsAtZero.judged(on: short).isFailed, "its reversion may still run")
    }

    static let allowed: [Case] = [
        Case(.setpointWithinLimits, "one reaction later") {
            $1.allowed = -100_000...40_000
            if $0 > 3.1 { $1.written = .kilowatts(40) }
        },
        Case(.noPowerOnStaleEvidence, "zero may always be written") {
            $1.evidenceAge = .seconds(5)
            $1.written = .zero
        },
        Case(.noPowerOnStaleEvidence, "as old as it may be") { $1.evidenceAge = .milliseconds(700) },
        Case(.powerFollowsSign, "the response takes its time") {
            if $0 < 5.5 { $1.delivered = .kilowatts(-50) }
        },
        Case(.contactorsNotOpenedUnderLoad, "its time has run out") {
            $1.mode = "tripped"
            $1.mainCoil = $0 < 6.1
        },
        Case(.contactorsNotOpenedUnderLoad, "no current flows") {
            $1.mainCoil = false
            $1.current = Amperes(1)
        },
        Case(.recovers, "it says what holds it") {
            $1.mode = "standby"
            $1.holds = ["after_reset"]
        },
        Case(.recovers, "it is not well") {
            $1.mode = "standby"
            $1.faults = [.bmsSilence]
        },
    ]

    @Test(arguments: allowed)
    func `what an invariant allows is not taken for a violation`(row: Case) {
        let judgement = row.invariant.judged(on: row.history())
        #expect(!judgement.isFailed, "\(row.why): \(judgement)")
    }

    @Test func `a reset ends a trip`() {
        var history = MadeUpRun.history { time, sample in
            sample.units[0].trips = time < 5 ? ["smoke"] : []
        }
        history.events = [RunEvent(time: .milliseconds(4_950), name: "reset", unit: "A")]
        #expect(Invariant.tripStaysUntilReset.judged(on: history) == .passed)
    }

    @Test func `numbers of acknowledged records rise, and what is left out is declared`() {
        func judged(_ records: [AckedRecord]) -> Judgement {
            var history = MadeUpRun.history { _, _ in }
            history.acked = records
            return Invariant.telemetry.judged(on: history)
        }
        #expect(judged([1, 2, 3].map { AckedRecord(number: $0) }) == .passed)
        #expect(
            judged([AckedRecord(number: 1), AckedRecord(number: 9, isGap: true), AckedRecord(number: 10)])
                == .passed)
        #expect(judged([1, 2, 2].map { AckedRecord(number: $0) }).isFailed, "twice")
        #expect(judged([1, 3].map { AckedRecord(number: $0) }).isFailed, "a hole")
    }

    @Test func `a call that blocks is named`() {
        var history = MadeUpRun.history { _, _ in }
        history.blockingCalls = []
        #expect(Invariant.nothingBlocks.judged(on: history) == .passed)
        history.blockingCalls = ["futex"]
        #expect(Invariant.nothingBlocks.judged(on: history) == .failed("futex"))
    }
}
