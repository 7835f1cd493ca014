import Interlocks
import Plant
import Quantities
import Testing

/// Rows on wires: which are judged, and what a wire that says nothing means.
@Suite struct DigitalInputTests {
    typealias Change = @Sendable (inout UnitImage, MonotonicTime) -> Void

    struct Row: Sendable {
        var change: Change
        var share: Double
        var cause: Cause
        var why: Comment
    }

    // swift-format-ignore
    static let silent: [Row] = [
        Row(change: { image, _ in image.inputs[.smoke] = .neverSeen }, share: 0, cause: .reading(.smokeInput),
            why: "wired and never seen"),
        Row(change: { $0.inputs[.smoke] = .good(false, at: $1 - .milliseconds(171)) }, share: 0,
            cause: .reading(.smokeInput), why: "one step past its budget"),
        Row(change: { $0.inputs[.smoke] = .good(false, at: $1 - .milliseconds(170)) }, share: 1, cause: .none,
            why: "at its budget"),
        Row(change: { $0.inputs[.smoke] = .good(false, at: $1 + .milliseconds(1)) }, share: 0,
            cause: .reading(.smokeInput), why: "from the future"),
        Row(change: { $0.inputs[.door] = .bad(.deviceFault, since: $1) }, share: 0, cause: .reading(.doorInput),
            why: "a broken module"),
        Row(change: { image, _ in image.inputs[.prechargeContactor] = .neverSeen }, share: 1, cause: .none,
            why: "not wired"),
    ]

    @Test(arguments: silent)
    func `a wired input that is not fresh closes both directions and trips nothing`(row: Row) {
        var bench = Bench()
        let verdict = bench.step(row.change)
        #expect(verdict.charge.share == row.share && verdict.discharge.share == row.share, row.why)
        #expect(verdict.charge.cause == row.cause && verdict.discharge.cause == row.cause, row.why)
        #expect(bench.bank.latched.isEmpty, row.why)
    }

    @Test func `a row whose input is not wired is not judged, whatever its reading says`() {
        var bench = Bench()
        bench.wired = .none
        bench.inputsSilence = nil
        for _ in 0..<200 {
            let verdict = bench.step { image, now in
                image.inputs = DigitalInputImage()
                image.inputs[.gas] = .good(true, at: now)
            }
            #expect(verdict.charge.share == 1 && verdict.discharge.share == 1)
        }
        #expect(bench.bank.latched.isEmpty && bench.bank.warnings.isEmpty)
    }

    @Test func `a trip of an input that is no longer wired can be reset`() {
        var bench = Bench()
        bench.wired = .none
        bench.bank.restore(InterlockSet(.smoke), firstOut: .smoke)
        _ = bench.step()
        let byOperator = bench.bank.reset(by: .operator)
        #expect(byOperator == .roleNeeded)
        let byService = bench.bank.reset(by: .service)
        #expect(byService == .done)
    }

    @Test func `inputs that were never seen are not lost, and close both directions`() {
        var bench = Bench()
        bench.inputsSilence = nil
        let verdict = bench.step()
        #expect(verdict.charge.share == 0 && verdict.discharge.cause == .reading(.inputsSilence))
        #expect(bench.bank.latched.isEmpty)
    }

    @Test func `an open breaker trips after its debounce, and stays tripped when it is closed again`() {
        var bench = Bench()
        _ = bench.hold(.breakerInput, 1, for: .milliseconds(180))
        #expect(bench.bank.latched.isEmpty)
        _ = bench.step(.breakerInput, 1)
        #expect(bench.bank.latched.contains(.breaker))
        _ = bench.hold(.breakerInput, 0, for: .milliseconds(2_000))
        #expect(bench.bank.latched.contains(.breaker))
        let outcome = bench.bank.reset(by: .operator)
        #expect(outcome == .done)
    }

    @Test func `an open door stops power, warns, and lets go by itself`() {
        var bench = Bench()
        _ = bench.hold(.doorInput, 1, for: .milliseconds(980))
        #expect(bench.bank.warnings.isEmpty, "one cycle short of its debounce")
        let open = bench.step(.doorInput, 1)
        #expect(open.charge.share == 0 && open.discharge.cause == .interlock(.door))
        #expect(bench.bank.warnings.contains(.door) && bench.bank.latched.isEmpty)
        _ = bench.hold(.doorInput, 0, for: .milliseconds(2_000))
        #expect(bench.step(.doorInput, 0).charge.share == 1)
    }

    // swift-format-ignore
    static let debounces: [(signal: Signal, after: Duration, id: InterlockID, why: Comment)] = [
        (.emergencyStopInput, .milliseconds(20),    .emergencyStop,     "at once"),
        (.smokeInput,         .milliseconds(1_000), .smoke,             "one second"),
        (.gasInput,           .milliseconds(1_000), .gas,               "one second"),
        (.contactorFeedback,  .milliseconds(20),    .contactorFeedback, "the sequence has its own debounce"),
        (.inputsSilence,      .milliseconds(20),    .lostInputs,        "the silence is its debounce"),
    ]

    @Test(arguments: debounces)
    func `a wire trips after its debounce and not one cycle before`(
        row: (signal: Signal, after: Duration, id: InterlockID, why: Comment)
    ) {
        var bench = Bench()
        let value = row.signal == .inputsSilence ? 2.0 : 1.0
        let early = bench.hold(row.signal, value, for: row.after - Bench.period)
        #expect(!early, row.why)
        #expect(bench.step(row.signal, value).tripped.contains(row.id), row.why)
    }

    @Test func `of two rows that stop the site the stricter one says who may reset`() {
        var bench = Bench()
        bench.table = InterlockTable()
        for reset in [Role.operator, .service, .operator] {
            bench.table.add(
                InterlockRow(
                    .smoke, .smokeInput, .high, .both, trip: 1, for: .zero, action: .emergencyStop,
                    reset: reset))
        }
        #expect(bench.step(.smokeInput, 1).emergency == .service)
        #expect(bench.step(.smokeInput, 0).emergency == nil)
    }
}
