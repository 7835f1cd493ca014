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
        var truth = UnitTruth()
        truth.obedient = .kilowatts(50)
        truth.allowedCurrent = -200...200
        truth.packVoltage = Volts(333)
        truth.batterySilence = .milliseconds(100)
        unit.truth = truth
        return unit
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

        func history(seconds: Double = 10) -> RunHistory {
            MadeUpRun.history(seconds: seconds, contactors: .seconds(3)) { time, sample in
                if time > 3 { change(time, &sample.units[0]) }
                sample.isDaemonRunning = sample.units[0].mode != nil
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
        Case(.setpointsExpire, "older than its refresh and the device's timer, whatever heartbeat came") {
            $1.writtenAge = .seconds(15)
            $1.timerAge = .seconds(2)
        },
        Case(.setpointsExpire, "a heartbeat that is older than the device's timer") {
            $1.writtenAge = .seconds(12)
            $1.timerAge = .seconds(11.5)
        },
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
        Case(.currentWithinLimits, "150 A flow though 140 A are allowed") {
            $1.truth?.allowedCurrent = -200...140
        },
        Case(.currentWithinLimits, "the same where the device's scale has changed") {
            $1.truth?.allowedCurrent = -200...140
            $1.faults = [.inverterScale]
        },
        Case(.currentWithinLimits, "a charge that is not allowed") {
            $1.current = Amperes(-150)
            $1.truth?.allowedCurrent = -140...200
        },
        Case(.currentWithinLimits, "the program stood still, and goes on a second later as before") {
            $1.truth?.allowedCurrent = $0 < 5 ? -200...200 : -200...140
            if $0 > 4.9, $0 < 5.8 { $1.mode = nil }
        },
        Case(.powerFollowsOrIsTold, "45 kW less than asked for") { $1.delivered = .kilowatts(5) },
        Case(.powerFollowsOrIsTold, "turned round half of the time") {
            $1.delivered = .kilowatts(Int($0 * 2) % 2 == 0 ? 50 : -50)
        },
        Case(.outOfServiceIsZero, "enters service with power that nobody asked for") {
            $1.mode = $0 < 5 ? "standby" : "running"
        },
        Case(.latchesOutliveRuns, "a trip ends with a restart") {
            $1.trips = $0 < 5.05 ? ["smoke"] : []
            if $0 > 5.05, $0 < 6 { $1.mode = nil }
        },
        Case(.latchesOutliveRuns, "a hold ends with a restart") {
            $1.holds = $0 < 5.05 ? ["after_reset"] : []
            if $0 > 5.05, $0 < 6 { $1.mode = nil }
        },
        Case(.noContactPartsLoad, "our coil goes off at 150 A") {
            if $0 > 5.05, $0 < 5.15 { $1.truth?.partings = [Parting(current: Amperes(150), cause: .coil)] }
        },
        Case(.noContactPartsLoad, "a permit is withdrawn at 150 A") {
            if $0 > 5.05, $0 < 5.15 { $1.truth?.partings = [Parting(current: Amperes(-150), cause: .permit)] }
        },
    ]

    @Test(arguments: violations)
    func `an invariant that is violated is found`(row: Case) {
        #expect(row.invariant.judged(on: row.history(seconds: 30)).isFailed, row.why)
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
        Case(.currentWithinLimits, "what its resolution hides") {
            $1.current = Amperes(0.4)
            $1.truth?.allowedCurrent = -200...0
            $1.delivered = .zero
        },
        Case(.currentWithinLimits, "the program stands still as the battery narrows it") {
            $1.truth?.allowedCurrent = $0 < 5 || $0 > 5.8 ? -200...200 : -200...140
            if $0 > 4.9, $0 < 5.8 { $1.mode = nil }
        },
        Case(.powerFollowsOrIsTold, "it is told") {
            $1.delivered = .zero
            if $0 > 6 { $1.trips = ["not_following"] }
        },
        Case(.noContactPartsLoad, "the emergency stop is pressed") {
            $1.truth?.partings = [Parting(current: Amperes(150), cause: .coil)]
            $1.truth?.hasEmergency = true
        },
        Case(.noContactPartsLoad, "the battery's own protection") {
            $1.truth?.partings = [Parting(current: Amperes(150), cause: .protection)]
        },
        Case(.latchesOutliveRuns, "held for another reason") {
            $1.holds = $0 < 5 ? ["after_reset"] : ["after_restart"]
            if $0 > 5, $0 < 6 { $1.mode = nil }
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

    @Test func `more than agreed at the point of connection is found, either way, whatever a meter says`() {
        func judged(_ kilowatts: Double, _ faults: [Fault.Kind] = []) -> Judgement {
            var history = MadeUpRun.history { time, sample in
                sample.units[0].delivered = .kilowatts(time > 2 ? kilowatts : 0)
                sample.siteFaults = faults
            }
            (history.importLimit, history.exportLimit) = (.kilowatts(40), .kilowatts(60))
            return Invariant.siteLimits.judged(on: history)
        }
        #expect(!judged(55).isFailed)
        #expect(judged(65).isFailed)
        #expect(judged(-45).isFailed)
        #expect(judged(65, [.meterReversed]).isFailed, "it has some seconds more, and no more")
    }

    @Test func `power outside the grid code's window is found on the grid as it is`() {
        func judged(_ hertz: Double, until end: Double) -> Judgement {
            var history = MadeUpRun.history { time, sample in
                sample.frequency = Hertz(time > 2 ? hertz : 50)
                if time > end { sample.units[0].delivered = .zero }
            }
            history.gridLimits = [GridLimit(.below(Hertz(47.5)), clearing: .milliseconds(200))]
            return Invariant.gridWindow.judged(on: history)
        }
        #expect(!judged(47.5, until: 10).isFailed, "the limit belongs to the inside")
        #expect(judged(47.4, until: 10).isFailed)
        #expect(!judged(47.4, until: 2.5).isFailed)
    }

    @Test func `who booked a unit keeps it until they, its name or its time ends it`() throws {
        func judged(_ words: [(at: Double, words: String)], from start: Double) throws -> Judgement {
            var history = MadeUpRun.history(seconds: 60) { time, sample in
                sample.units[0].delivered = .kilowatts(time > start ? 50 : 0)
            }
            history.commands = try words.map {
                let command = try OperatorCommand($0.words)
                return RunWish(time: ScenarioKeys.seconds($0.at), wish: command.wish, person: command.person)
            }
            return Invariant.staysWhereItIsPut.judged(on: history)
        }
        let booked = (at: 1.0, words: "mode A maintenance --for 1h --by 1001")
        #expect(
            try judged([booked, (20, "reset A --by 1002"), (22, "resume A --by 1002")], from: 25).isFailed)
        #expect(try !judged([booked, (20, "mode A auto --by 1001")], from: 25).isFailed)
        let short = (at: 1.0, words: "mode A standby --for 10s --by 1001")
        #expect(try judged([short], from: 25).isFailed, "the end of its time starts nothing")
        #expect(try !judged([short, (20, "resume A")], from: 25).isFailed)
    }

    @Test func `what is said in the instant of the program's end counts where it was told`() throws {
        func judged(_ events: [RunEvent]) throws -> Judgement {
            var history = MadeUpRun.history(seconds: 60) { time, sample in
                sample.isDaemonRunning = time < 1.05 || time > 3
                if !sample.isDaemonRunning { sample.units[0].mode = nil }
                sample.units[0].delivered = .kilowatts(time > 25 ? 50 : 0)
            }
            let wish = try OperatorCommand("mode A maintenance --for 1h --by 1001").wish
            history.commands = [RunWish(time: .seconds(1), wish: wish, person: "1001")]
            history.events = events
            return Invariant.staysWhereItIsPut.judged(on: history)
        }
        let told = RunEvent(time: .milliseconds(1_020), name: "maintenance", unit: "A")
        #expect(try !judged([]).isFailed, "nobody was told that it is taken")
        #expect(try judged([told]).isFailed)
    }

    @Test func `a unit that a person holds lingers for that reason, and after its end for none`() {
        func judged(_ end: [RunEvent]) -> Judgement {
            var history = MadeUpRun.history(seconds: 60) { $1.units[0].mode = "standby" }
            history.events =
                [RunEvent(time: .seconds(1), name: "override", unit: "A", cause: "hold")] + end
            return Invariant.recovers.judged(on: history)
        }
        #expect(!judged([]).isFailed)
        let end = RunEvent(time: .seconds(9), name: "override_end", unit: "A", cause: "hold")
        #expect(judged([end]).isFailed)
    }

    @Test func `who is called silent has said nothing for that long`() {
        func judged(_ text: String) -> Judgement {
            var history = MadeUpRun.history { _, _ in }
            history.events = [
                RunEvent(time: .seconds(5), name: "trip", unit: "A", cause: "lost_bms", text: text)
            ]
            return Invariant.toldIsTrue.judged(on: history)
        }
        #expect(judged("TRIP lost_bms: battery silent for 1.84 s, limit 1.2 s").isFailed)
        #expect(!judged("TRIP lost_bms: battery silent for 0.3 s, limit 0.2 s").isFailed)
        #expect(!judged("TRIP lost_bms: no pack current for 1.84 s, limit 1.2 s").isFailed)
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
