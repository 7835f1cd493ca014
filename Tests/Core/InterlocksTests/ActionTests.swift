import Interlocks
import Plant
import Quantities
import Testing

/// What a row does when its limit is passed, and who may undo it.
@Suite struct ActionTests {
    static func bench(_ action: InterlockRow.Action, reset: Role = .operator) -> Bench {
        var bench = Bench()
        bench.table = InterlockTable()
        bench.table.add(
            InterlockRow(
                .cellOvervoltage, .cellVoltageMax, .high, .charge, trip: 3.65, for: .milliseconds(100),
                action: action, reset: reset))
        return bench
    }

    @Test func `a stop closes its direction after its debounce, latches nothing and opens again by itself`() {
        var bench = Self.bench(.stop)
        for _ in 0..<4 {
            let early = bench.step(.cellVoltageMax, 3.7)
            #expect(early.charge.share == 1 && bench.bank.warnings.isEmpty)
        }
        let reached = bench.step(.cellVoltageMax, 3.7)
        #expect(reached.charge.share == 0 && reached.charge.cause == .interlock(.cellOvervoltage))
        #expect(reached.discharge.share == 1 && reached.tripped.isEmpty)
        #expect(bench.bank.latched.isEmpty && bench.bank.warnings.contains(.cellOvervoltage))
        for _ in 0..<9 {
            let healing = bench.step(.cellVoltageMax, 3.3)
            #expect(healing.charge.share == 0, "it heals for twice its debounce")
        }
        let healed = bench.step(.cellVoltageMax, 3.3)
        #expect(healed.charge.share == 1 && bench.bank.warnings.isEmpty)
    }

    @Test func `a stop stays in force while its signal is missing`() {
        var bench = Self.bench(.stop)
        _ = bench.hold(.cellVoltageMax, 3.7, for: .milliseconds(100))
        for _ in 0..<100 {
            let blind = bench.step { $0.battery.cellVoltageMax = .bad(.implausible, since: $1) }
            #expect(blind.charge.share == 0)
        }
        let back = bench.step(.cellVoltageMax, 3.3)
        #expect(back.charge.cause == .interlock(.cellOvervoltage), "and after it, until it has healed")
    }

    @Test(arguments: [InterlockRow.Action.trip, .emergencyStop])
    func `a trip and an emergency stop latch; only the second is for the whole site`(
        action: InterlockRow.Action
    ) {
        var bench = Self.bench(action)
        _ = bench.hold(.cellVoltageMax, 3.7, for: .milliseconds(80))
        let reached = bench.step(.cellVoltageMax, 3.7)
        #expect(reached.tripped.contains(.cellOvervoltage))
        #expect((reached.emergency == .operator) == (action == .emergencyStop))
        let later = bench.step(.cellVoltageMax, 3.7)
        #expect(
            later.tripped.isEmpty && (later.emergency == .operator) == (action == .emergencyStop),
            "while present")
        let gone = bench.step(.cellVoltageMax, 3.3)
        #expect(gone.emergency == nil && bench.bank.latched.contains(.cellOvervoltage))
    }

    // swift-format-ignore
    static let resets: [(row: Role, by: Role, isGone: Bool, outcome: InterlockBank.ResetOutcome, why: Comment)] = [
        (.operator, .operator, false, .causePresent, "the cause is present"),
        (.operator, .operator, true,  .done,         "gone, and the operator may"),
        (.operator, .service,  true,  .done,         "service may what the operator may"),
        (.operator, .service,  false, .causePresent, "nobody resets a cause that is present"),
        (.service,  .operator, true,  .roleNeeded,   "gone, but the operator may not"),
        (.service,  .operator, false, .causePresent, "the cause comes before the role"),
        (.service,  .service,  false, .causePresent, "nobody resets a cause that is present"),
        (.service,  .service,  true,  .done,         "gone, and service may"),
    ]

    @Test(arguments: resets)
    func `a reset needs the cause gone and the role of the row`(
        row: (row: Role, by: Role, isGone: Bool, outcome: InterlockBank.ResetOutcome, why: Comment)
    ) {
        var bench = Self.bench(.trip, reset: row.row)
        _ = bench.hold(.cellVoltageMax, 3.7, for: .milliseconds(100))
        _ = bench.step(.cellVoltageMax, row.isGone ? 3.3 : 3.7)
        let outcome = bench.bank.reset(by: row.by)
        #expect(outcome == row.outcome, row.why)
        #expect(bench.bank.latched.isEmpty == (row.outcome == .done), row.why)
        #expect(bench.bank.firstOut == (row.outcome == .done ? nil : .cellOvervoltage), row.why)
    }

    @Test func `an operator clears what is his and leaves what needs service`() {
        var bench = Bench()
        bench.bank.restore(
            InterlockSet(.cellOvervoltage).union(InterlockSet(.latchRecord)), firstOut: .cellOvervoltage)
        _ = bench.step()
        let outcome = bench.bank.reset(by: .operator)
        #expect(outcome == .roleNeeded && bench.bank.latched == InterlockSet(.latchRecord))
        #expect(bench.bank.firstOut == .latchRecord)
    }

    @Test func `a trip of a row that the table no longer has needs service`() {
        var bench = Self.bench(.trip)
        bench.bank.restore(InterlockSet(.stateOfChargeHigh), firstOut: .stateOfChargeHigh)
        _ = bench.step()
        let byOperator = bench.bank.reset(by: .operator)
        #expect(byOperator == .roleNeeded)
        let byService = bench.bank.reset(by: .service)
        #expect(byService == .done)
    }

    // swift-format-ignore
    static let siteStops: [(id: InterlockID, byOperator: InterlockBank.ResetOutcome, why: Comment)] = [
        (.emergencyStop, .done,       "the row of the same name names the operator"),
        (.siteStop,      .roleNeeded, "what stands in no table needs service"),
    ]

    @Test(arguments: siteStops)
    func `a unit that stops with its site latches once and cannot be reset while the cause is told`(
        row: (id: InterlockID, byOperator: InterlockBank.ResetOutcome, why: Comment)
    ) {
        var bench = Bench()
        _ = bench.step()
        let first = bench.bank.stopWithSite(row.id)
        #expect(first && bench.bank.firstOut == row.id)
        _ = bench.step()
        let second = bench.bank.stopWithSite(row.id)
        #expect(!second)
        #expect(bench.bank.reset(by: .service) == .causePresent)
        _ = bench.step()
        let byOperator = bench.bank.reset(by: .operator)
        #expect(byOperator == row.byOperator, row.why)
        let byService = bench.bank.reset(by: .service)
        #expect(byService == .done)
    }

    // swift-format-ignore
    static let presences: [(presence: InterlockRow.Presence, wasSeen: Bool, share: Double, why: Comment)] = [
        (.required, false, 0, "required and never seen"),
        (.required, true,  0, "required and lost"),
        (.ifSeen,   false, 1, "optional and never seen: this device has none"),
        (.ifSeen,   true,  0, "optional, seen once and lost"),
    ]

    @Test(arguments: presences)
    func `an optional signal closes nothing until it was seen once`(
        row: (presence: InterlockRow.Presence, wasSeen: Bool, share: Double, why: Comment)
    ) {
        var bench = Bench()
        bench.table = InterlockTable()
        bench.table.add(
            InterlockRow(
                .cellOvervoltage, .cellVoltageMax, .high, .charge, trip: 3.65, for: .zero,
                presence: row.presence))
        if row.wasSeen { _ = bench.step() }
        let verdict = bench.step { image, _ in image.battery.cellVoltageMax = .neverSeen }
        #expect(verdict.charge.share == row.share, row.why)
    }

    @Test func `a row that only warns closes nothing when its signal is missing`() {
        var bench = Bench()
        bench.table = InterlockTable()
        bench.table.add(
            InterlockRow(.cellOvervoltage, .cellVoltageMax, .high, .charge, warn: 3.5, trip: nil, for: .zero))
        let verdict = bench.step { image, _ in image.battery.cellVoltageMax = .neverSeen }
        #expect(verdict.charge.share == 1)
    }
}
