import Plant
import Quantities
import Testing

@testable import Interlocks

/// Whole sequences: what is seen becomes an event, the state becomes commands.
@Suite struct ContactorSequencePlantTests {
    typealias State = ContactorSequence.State

    /// A sequence and a plant that obeys until a test says otherwise.
    struct Rig {
        var sequence: ContactorSequence
        var now = MonotonicTime(nanoseconds: 1_000_000_000)
        var seen = ContactorReading(
            isClosingWanted: false, isMainClosed: false, current: Amperes(0), packVoltage: Volts(800),
            dcVoltage: Volts(0))
        var output = ContactorSequence.Output()

        init(_ drive: ContactorSettings.Drive = .own, hasFormerFault: Bool = false) {
            sequence = ContactorSequence(
                ContactorSequenceTests.settings(drive), hasFormerFault: hasFormerFault)
        }

        /// 20 ms pass; contacts follow their commands unless `change` says otherwise.
        mutating func step(_ change: (inout ContactorReading) -> Void = { _ in }) {
            now = now + .milliseconds(20)
            seen.isMainClosed = output.closesMain
            change(&seen)
            seen.isUnloaded = seen.current.map { $0.magnitude <= Amperes(2) } ?? false
            output = sequence.step(seen, at: now)
            seen.isReset = false
        }

        mutating func run(_ cycles: Int, _ change: (inout ContactorReading) -> Void = { _ in }) {
            for _ in 0..<cycles { step(change) }
        }

        /// From the start to closed.
        mutating func close() {
            step()
            step { $0.isClosingWanted = true }
            step { $0.dcVoltage = Volts(760) }
            step()
        }
    }

    @Test func `contactors close through a precharge and power is permitted only then`() {
        var rig = Rig()
        #expect(rig.sequence.state == .unchecked)
        rig.step()
        #expect(rig.sequence.state == .open && rig.output == ContactorSequence.Output())
        rig.step { $0.isClosingWanted = true }
        #expect(rig.output.closesPrecharge && !rig.output.closesMain && !rig.output.isPermitted)
        rig.step { $0.dcVoltage = Volts(760) }
        #expect(rig.output.closesMain && !rig.output.isPermitted && !rig.output.closesPrecharge)
        rig.run(20)
        #expect(rig.sequence.state == .closed && rig.output.isPermitted, "seen closed")
    }

    // swift-format-ignore
    static let precharges: [(dc: Double?, pack: Double?, current: Double?, isClosed: Bool, isTried: Bool, why: Comment)] = [
        (760,   800, 20,    true,  true,  "95 % and at the current's bound"),
        (759.9, 800, 0,     false, true,  "one step below 95 %"),
        (760,   800, 20.1,  false, false, "one step above the bound"),
        (760,   800, -20.1, false, false, "either way"),
        (760,   800, nil,   false, false, "nobody knows the current"),
        (nil,   800, 0,     false, true,  "nobody knows the DC side"),
        (760,   nil, 0,     false, true,  "nobody knows the battery"),
        (0,     0,   0,     false, true,  "a battery without voltage is not believed"),
    ]

    @Test(arguments: precharges)
    func `a precharge is judged by voltage and current`(
        row: (dc: Double?, pack: Double?, current: Double?, isClosed: Bool, isTried: Bool, why: Comment)
    ) {
        var rig = Rig()
        rig.step()
        rig.step { $0.isClosingWanted = true }
        rig.step {
            $0.dcVoltage = row.dc.map { Volts($0) }
            $0.packVoltage = row.pack.map { Volts($0) }
            $0.current = row.current.map { Amperes($0) }
        }
        #expect((rig.sequence.state == .closed) == row.isClosed, row.why)
        #expect(rig.output.closesPrecharge == (row.isTried && !row.isClosed), row.why)
    }

    @Test func `a DC side that does not charge is tried twice and then a fault`() {
        var rig = Rig()
        rig.step()
        rig.seen.isClosingWanted = true
        var hasPaused = false
        for _ in 0..<200 where !rig.sequence.isFaulted {
            rig.step()
            if case .pausing = rig.sequence.state { hasPaused = true }
            #expect(!rig.output.closesMain)
        }
        #expect(hasPaused && rig.sequence.state == .faulted(.prechargeVoltage))
        rig.run(500)
        #expect(rig.sequence.state == .faulted(.prechargeVoltage), "no time heals a fault")
    }

    @Test func `contactors open without current, and prove it`() {
        var rig = Rig()
        rig.close()
        rig.step {
            $0.isClosingWanted = false
            $0.current = Amperes(2.1)
        }
        #expect(rig.output.closesMain && !rig.output.isPermitted, "power ends first")
        rig.step { $0.current = Amperes(-2) }
        #expect(!rig.output.closesMain && !rig.output.opensUnderLoad)
        rig.step { $0.dcVoltage = Volts(60.1) }
        #expect(rig.sequence.state != .open)
        rig.step { $0.dcVoltage = Volts(60) }
        #expect(rig.sequence.state == .open)
    }

    @Test(arguments: [Amperes(100), nil])
    func `a current that does not end, or that nobody knows, delays opening no longer than the bound`(
        current: Amperes?
    ) {
        var rig = Rig()
        rig.close()
        rig.seen.isClosingWanted = false
        rig.seen.current = current
        var cycles = 0
        repeat {
            rig.step()
            cycles += 1
        } while rig.output.closesMain && cycles < 200
        #expect(cycles == 51 && rig.output.opensUnderLoad, "1 s after the cycle that asked")
        rig.step()
        #expect(!rig.output.opensUnderLoad, "it is told once")
    }

    @Test func `a contact that has welded is found and stays a fault until somebody resets it`() {
        var rig = Rig()
        rig.close()
        rig.run(52) { $0.isClosingWanted = false }
        #expect(rig.sequence.state == .welded && rig.sequence.isFaulted)
        rig.run(100) {
            $0.isClosingWanted = true
            $0.dcVoltage = Volts(0)
        }
        #expect(rig.sequence.state == .welded, "a late fall is no reset")
        rig.step { $0.isReset = true }
        rig.run(2)
        #expect(rig.output.closesPrecharge, "reset, seen discharged, precharging again")
    }

    @Test func `a reset without the proof leads back to the fault and closes nothing`() {
        var rig = Rig()
        rig.close()
        rig.run(52) { $0.isClosingWanted = false }
        rig.seen.isClosingWanted = true
        rig.seen.isReset = true
        for _ in 0..<60 {
            rig.step()
            #expect(!rig.output.closesMain && !rig.output.closesPrecharge)
        }
        #expect(rig.sequence.state == .welded)
    }

    // swift-format-ignore
    static let feedbacks: [(says: Bool?, cycles: Int, isOpening: Bool, why: Comment)] = [
        (false, 5, false, "80 ms: the contact's own travel"),
        (false, 6, true,  "100 ms after it was seen first"),
        (true,  50, false, "as commanded"),
    ]

    @Test(arguments: feedbacks)
    func `feedback that differs from the command for its debounce is a fault`(
        row: (says: Bool?, cycles: Int, isOpening: Bool, why: Comment)
    ) {
        var rig = Rig()
        rig.close()
        rig.run(row.cycles) { $0.isMainClosed = row.says }
        #expect(rig.sequence.isFaulted == row.isOpening && rig.output.isPermitted != row.isOpening, row.why)
    }

    @Test func `contacts that nobody can read open, and are no second fault`() {
        var rig = Rig()
        rig.close()
        rig.seen.current = Amperes(50)
        rig.run(5) { $0.isMainClosed = nil }
        #expect(rig.output.closesMain && rig.output.isPermitted, "80 ms: the debounce")
        rig.step { $0.isMainClosed = nil }
        #expect(rig.output.closesMain && !rig.output.isPermitted, "power ends first")
        rig.seen.current = Amperes(0)
        rig.step { $0.isMainClosed = nil }
        #expect(!rig.output.closesMain)
        rig.run(50) { ($0.isMainClosed, $0.dcVoltage) = (nil, Volts(0)) }
        #expect(rig.sequence.state == .open && rig.sequence.fault == nil, "wanted closed, and not tried")
        rig.run(3) { $0.dcVoltage = Volts(0) }
        #expect(rig.output.closesPrecharge, "seen again")
        rig.step { $0.isMainClosed = nil }
        #expect(!rig.output.closesPrecharge)
    }

    @Test func `a contact that cannot be read heals no contradiction, and has its debounce anew once`() {
        var rig = Rig()
        rig.close()
        rig.run(3) { $0.isMainClosed = false }
        (rig.seen.isClosingWanted, rig.seen.current) = (false, Amperes(50))
        rig.run(3) { $0.isMainClosed = nil }
        rig.run(3) { $0.isMainClosed = false }
        #expect(rig.sequence.fault == nil)
        rig.run(3) { $0.isMainClosed = nil }
        rig.step { $0.isMainClosed = false }
        #expect(rig.sequence.fault == .feedback, "100 ms after it could be read again for the first time")
    }

    @Test func `feedback that differs now and then is no fault`() {
        var rig = Rig()
        rig.close()
        for cycle in 0..<2_000 { rig.step { $0.isMainClosed = cycle % 5 != 0 } }
        #expect(rig.sequence.state == .closed, "one odd sample each time")
    }

    @Test func `a fault of a former run stands`() {
        var rig = Rig(hasFormerFault: true)
        rig.run(100) { $0.isClosingWanted = true }
        #expect(rig.sequence.state == .faulted(.formerRun) && !rig.output.closesPrecharge)
    }

    @Test func `after a start nothing closes before the DC side was seen discharged`() {
        var rig = Rig()
        rig.run(100) { $0.dcVoltage = Volts(800) }
        #expect(rig.sequence.state == .unchecked, "nobody wants it closed")
        rig.run(50) {
            $0.isClosingWanted = true
            $0.dcVoltage = nil
        }
        #expect(rig.sequence.state.name.description == "proving" && rig.sequence.fault == nil)
        rig.step { $0.dcVoltage = Volts(800) }
        #expect(rig.sequence.fault == .notDischarged, "it does not wait for ever")
        rig.run(200) { $0.dcVoltage = Volts(0) }
        #expect(rig.sequence.fault == .notDischarged, "no time heals it")
    }

    @Test func `for a battery that owns its contactors the sequence is a permit`() {
        var rig = Rig(.battery)
        rig.seen.isMainClosed = nil
        rig.step {
            $0.isMainClosed = nil
            $0.isClosingWanted = true
        }
        #expect(rig.output.isPermitted && !rig.output.closesMain && !rig.output.closesPrecharge)
        let unwanted: (inout ContactorReading) -> Void = {
            $0.isMainClosed = nil
            $0.isClosingWanted = false
        }
        rig.seen.current = nil
        rig.run(10, unwanted)
        #expect(!rig.output.isPermitted && rig.output.isOpening, "no permit is taken from what may flow")
        rig.step {
            $0.isMainClosed = nil
            $0.isClosingWanted = true
        }
        #expect(rig.sequence.state == .closed, "nobody has opened anything yet")
        rig.step(unwanted)
        rig.seen.current = Amperes(0)
        rig.step(unwanted)
        #expect(rig.sequence.state == .open && !rig.output.isOpening)
    }

    // swift-format-ignore
    static let patiences: [(patience: Duration?, cycles: Int, why: Comment)] = [
        (nil,                51, "as the settings say"),
        (.seconds(9),        51, "no cause waits longer than the settings say"),
        (.milliseconds(200), 11, "a cause that is more urgent"),
        (.zero,              2,  "at once: the first cycle asks, the second opens"),
    ]

    @Test(arguments: patiences)
    func `the cause of an opening may let it wait less`(
        row: (patience: Duration?, cycles: Int, why: Comment)
    ) {
        var rig = Rig()
        rig.close()
        rig.seen.isClosingWanted = false
        rig.seen.current = Amperes(100)
        rig.seen.patience = row.patience
        var cycles = 0
        repeat {
            rig.step()
            cycles += 1
        } while rig.output.closesMain && cycles < 200
        #expect(cycles == row.cycles && rig.output.opensUnderLoad, row.why)
    }

    // swift-format-ignore
    static let late: [(causes: [(at: Int, patience: Duration)], cycles: Int, why: Comment)] = [
        ([(0, .milliseconds(200))],                           11, "it stood when the opening began"),
        ([(30, .milliseconds(200))],                          41, "it showed itself later, and waits from then on"),
        ([(45, .milliseconds(200))],                          51, "no cause waits longer than the settings say"),
        ([(20, .milliseconds(400)), (25, .milliseconds(60))], 29, "a worse one behind it"),
        ([(20, .milliseconds(200)), (25, .milliseconds(180))], 31, "a later one widens nothing"),
    ]

    @Test(arguments: late)
    func `a cause lets an opening wait from when it shows itself`(
        row: (causes: [(at: Int, patience: Duration)], cycles: Int, why: Comment)
    ) {
        var rig = Rig()
        rig.close()
        rig.seen.isClosingWanted = false
        rig.seen.current = Amperes(100)
        var cycles = 0
        repeat {
            for cause in row.causes where cause.at == cycles { rig.seen.patience = cause.patience }
            rig.step()
            cycles += 1
        } while rig.output.closesMain && cycles < 200
        #expect(cycles == row.cycles && rig.output.opensUnderLoad, row.why)
    }

    @Test func `contacts that a former run has left closed are kept until their current has ended`() {
        for hasFault in [false, true] {
            var rig = Rig(hasFormerFault: hasFault)
            rig.sequence.adopt(at: rig.now)
            rig.run(10) {
                $0.isMainClosed = true
                $0.current = Amperes(300)
            }
            #expect(rig.output.closesMain && rig.output.isOpening && !rig.output.isPermitted)
            rig.step { $0.current = Amperes(0) }
            #expect(!rig.output.closesMain && rig.sequence.isFaulted == hasFault)
        }
    }

    @Test func `a battery that says its contactor is open while permitted is a fault, reset by hand`() {
        var rig = Rig(.battery)
        rig.seen.isClosingWanted = true
        rig.run(8) { $0.isMainClosed = false }
        #expect(rig.sequence.isFaulted && !rig.output.isPermitted)
        rig.run(8) {
            $0.isMainClosed = false; $0.isClosingWanted = false
        }
        #expect(rig.sequence.state == .faulted(.feedback))
        rig.step { $0.isReset = true }
        #expect(rig.sequence.state == .open && !rig.output.isPermitted)
    }

    // swift-format-ignore
    static let prechargeFeedbacks: [(says: Bool?, inPrecharge: Bool, isFault: Bool, why: Comment)] = [
        (true,  true,  false, "as commanded"),
        (false, true,  true,  "it does not close"),
        (nil,   true,  false, "nobody can read it: it opens, and is no second fault"),
        (false, false, false, "as commanded"),
        (true,  false, true,  "it does not open"),
        (nil,   false, false, "the same"),
    ]

    @Test(arguments: prechargeFeedbacks)
    func `the precharge contactor's own contact is judged where it is wired`(
        row: (says: Bool?, inPrecharge: Bool, isFault: Bool, why: Comment)
    ) {
        for isWired in [true, false] {
            var settings = ContactorSequenceTests.settings()
            settings.hasPrechargeFeedback = isWired
            var rig = Rig()
            rig.sequence = ContactorSequence(settings, hasFormerFault: false)
            let obey: (inout ContactorReading) -> Void = { [rig] in
                $0.isPrechargeClosed = rig.output.closesPrecharge
            }
            rig.step(obey)
            rig.seen.isClosingWanted = true
            rig.step { $0.isPrechargeClosed = false }
            if !row.inPrecharge {
                rig.step {
                    $0.isPrechargeClosed = true
                    $0.dcVoltage = Volts(760)
                }
                #expect(rig.sequence.state == .closed, "the test's own way to the state")
            }
            rig.run(8) { $0.isPrechargeClosed = row.says }
            #expect(rig.sequence.isFaulted == (row.isFault && isWired), row.why)
        }
    }

    struct Sight: Sendable {
        var fault: ContactorSequence.Fault
        var isMainClosed: Bool?
        var dcVoltage: Double?
        var isShown: Bool
        var why: Comment
    }

    // swift-format-ignore
    static let sights: [Sight] = [
        Sight(fault: .feedback, isMainClosed: true, dcVoltage: 0, isShown: true, why: "the contact still says closed"),
        Sight(fault: .feedback, isMainClosed: nil, dcVoltage: 0, isShown: true, why: "nobody can see it"),
        Sight(fault: .feedback, isMainClosed: false, dcVoltage: 800, isShown: false, why: "it has opened"),
        Sight(fault: .welded, isMainClosed: false, dcVoltage: 60, isShown: false, why: "discharged at last"),
        Sight(fault: .welded, isMainClosed: false, dcVoltage: 60.1, isShown: true, why: "one step above"),
        Sight(fault: .welded, isMainClosed: false, dcVoltage: nil, isShown: true, why: "nobody can see it"),
        Sight(fault: .welded, isMainClosed: true, dcVoltage: 0, isShown: true, why: "the contact still says closed"),
        Sight(fault: .notDischarged, isMainClosed: false, dcVoltage: 60, isShown: false, why: "discharged at last"),
        Sight(fault: .notDischarged, isMainClosed: false, dcVoltage: 61, isShown: true, why: "one step above"),
        Sight(fault: .notDischarged, isMainClosed: nil, dcVoltage: 0, isShown: true, why: "nobody can see it"),
    ]

    @Test(arguments: sights)
    func `a fault is shown until all that is seen speaks against it`(row: Sight) {
        var rig = Rig()
        if row.fault == .welded {
            rig.close()
            rig.run(52) { $0.isClosingWanted = false }
        } else if row.fault == .notDischarged {
            rig.run(60) {
                $0.isClosingWanted = true
                $0.dcVoltage = Volts(800)
            }
        } else {
            rig.run(8) { $0.isMainClosed = true }
        }
        #expect(rig.sequence.fault == row.fault, "the test's own way to the state")
        rig.seen.isMainClosed = row.isMainClosed
        rig.seen.dcVoltage = row.dcVoltage.map { Volts($0) }
        #expect(rig.sequence.showsFault(rig.seen) == row.isShown, row.why)
    }

    @Test func `what has not failed shows no fault, and what opens with one does`() {
        var rig = Rig()
        rig.step()
        #expect(!rig.sequence.showsFault(rig.seen) && rig.sequence.fault == nil)
        rig.close()
        rig.seen.current = Amperes(50)
        rig.run(8) { $0.isMainClosed = false }
        #expect(rig.sequence.fault == .feedback && rig.sequence.showsFault(rig.seen))
    }

    @Test func `a fault opens as soon as the current has ended, though somebody still wants it closed`() {
        var rig = Rig()
        rig.close()
        rig.seen.current = Amperes(50)
        rig.run(10) { $0.isMainClosed = false }
        #expect(rig.output.closesMain && !rig.output.isPermitted)
        rig.run(1) {
            $0.isMainClosed = nil
            $0.current = Amperes(0)
        }
        #expect(!rig.output.closesMain && rig.sequence.state == .faulted(.feedback))
    }
}
