import Control
import Interlocks
import Plant
import Quantities
import Testing

/// Digital inputs and contactors that we drive, through the whole controller.
@Suite struct WiringTests {
    static let wires: DigitalInputSet = [.emergencyStop, .smoke, .mainContactor, .prechargeContactor]

    static func settings() -> ContactorSettings {
        ContactorSettings(
            drive: .own, prechargeLimit: .milliseconds(500), prechargeCurrentMax: Amperes(20), attempts: 2,
            pause: .milliseconds(200), zeroCurrent: Amperes(2), openingLimit: .seconds(1),
            dischargedVoltage: Volts(60), dischargeLimit: .seconds(1),
            feedbackDebounce: .milliseconds(300), hasPrechargeFeedback: true)
    }

    static func site(units: Int = 1, basePoint: Watts = .kilowatts(100)) -> Site {
        Site(units: units, basePoint: basePoint, inputs: wires, contactors: settings())
    }

    /// From the start until every unit runs.
    static func running(units: Int = 1) -> Site {
        var site = site(units: units)
        site.run(for: .milliseconds(3_100))
        #expect(site.mode(0) == .running, "the test's own way to the state")
        return site
    }

    /// What holds in every cycle of every test here.
    static func check(_ site: Site, _ why: @autoclosure () -> Comment) {
        for unit in site.images.indices {
            let decision = site.decision.units[unit]
            let isSafe =
                (decision.setpoint == .zero || decision.contactors == .closed)
                && (decision.latched.isEmpty || decision.setpoint == .zero)
                && (!decision.closesMainContactor || !decision.closesPrechargeContactor)
                && (decision.contactorFault == nil || decision.latched.contains(.contactorFeedback))
            if !isSafe { Issue.record(why()) }
        }
    }

    @Test func `a unit waits its time, precharges, and has power only with closed contactors`() {
        var site = Self.site()
        var modes: [UnitMode.State.Kind] = []
        for _ in 0..<160 {
            site.cycle()
            Self.check(site, "on the way into service")
            if modes.last != site.mode(0) { modes.append(site.mode(0)) }
            let decision = site.decision.units[0]
            if site.mode(0) == .standby {
                #expect(!decision.closesMainContactor && !decision.closesPrechargeContactor)
            }
            if site.mode(0) == .precharge {
                #expect(decision.window == .closed(.contactors) && decision.limitedBy == .contactors)
            }
        }
        #expect(modes == [.standby, .precharge, .running])
        let actuation = site.controller.actuation(of: 0, in: &site.decision)
        #expect(actuation.closesMainContactor && actuation.isContactorPermitted)
        #expect(site.kilowatts(0) == 100)
    }

    @Test func `a stop takes the power first and the contactors after it`() {
        var site = Self.running()
        site.feeds[0].activePower = 50_000
        site.feeds[0].packCurrent = 60
        _ = site.order(.stop)
        site.run(for: .milliseconds(200))
        #expect(site.mode(0) == .stopping && site.kilowatts(0) == 0)
        #expect(site.decision.units[0].closesMainContactor)
        site.feeds[0].activePower = 0
        site.feeds[0].packCurrent = 0
        site.run(for: .milliseconds(60))
        #expect(site.mode(0) == .standby && !site.decision.units[0].closesMainContactor)
    }

    @Test func `a trip takes power at once and opens without current, or at its bound and says so`() {
        for staysLoaded in [false, true] {
            var site = Self.running()
            if staysLoaded {
                site.feeds[0].packCurrent = 60
                site.feeds[0].activePower = 48_000
            }
            site.feeds[0].alarms = .general
            site.cycle()
            #expect(site.mode(0) == .tripped && site.kilowatts(0) == 0)
            #expect(site.decision.units[0].closesMainContactor, "the power of the cycle before still flows")
            site.cycle()
            #expect(site.decision.units[0].closesMainContactor == staysLoaded, "the inverter is at zero")
            site.run(for: .milliseconds(960))
            #expect(site.decision.units[0].closesMainContactor == staysLoaded, "one cycle short")
            site.run(for: .milliseconds(40))
            #expect(!site.decision.units[0].closesMainContactor)
            #expect(site.happened.contains { $0.kind == .openedUnderLoad } == staysLoaded)
        }
    }

    @Test(arguments: [0, 1, 2])
    func `an emergency stop stops every unit in the same cycle, also one that precharges`(origin: Int) {
        var site = Self.running(units: 3)
        let other = (origin + 1) % 3
        _ = site.order(.lock(unit: other, .maintenance, for: .seconds(1)))
        site.run(for: .milliseconds(200))
        _ = site.order(.unlock(unit: other))
        site.feeds[other].dcVoltage = 0
        site.run(for: .milliseconds(3_200))
        #expect(site.mode(other) == .precharge && site.decision.units[other].closesPrechargeContactor)
        site.feeds[origin].emergencyStop = true
        site.cycle()
        for unit in 0..<3 {
            let decision = site.decision.units[unit]
            #expect(site.mode(unit) == .tripped && decision.setpoint == .zero)
            #expect(decision.firstOut == .emergencyStop && decision.latched == InterlockSet(.emergencyStop))
            #expect(!decision.closesPrechargeContactor)
        }
        // The inverters are at zero when the next cycle looks.
        site.cycle()
        for unit in 0..<3 { #expect(!site.decision.units[unit].closesMainContactor, "no current flows") }
        #expect(!site.happened.contains { $0.kind == .openedUnderLoad })
    }

    @Test func `an emergency stop is reset by an operator, once it is released, and starts nothing`() {
        var site = Self.running(units: 2)
        site.feeds[0].emergencyStop = true
        site.cycle()
        #expect(site.order(.reset(unit: 0, role: .service)) == .resetRefused)
        #expect(site.order(.reset(unit: 1, role: .service)) == .resetRefused)
        site.feeds[0].emergencyStop = false
        site.cycle()
        #expect(site.order(.reset(unit: 0)) == .resetDone)
        #expect(site.order(.reset(unit: 1)) == .resetDone)
        site.cycle()
        #expect(site.mode(0) == .standby && site.mode(1) == .standby && site.decision.setpoint == .zero)
        for _ in 0..<500 {
            site.cycle()
            for unit in 0...1 {
                #expect(site.mode(unit) == .standby && !site.decision.units[unit].closesPrechargeContactor)
            }
        }
        _ = site.order(.resume())
        site.run(for: .milliseconds(3_200))
        #expect(site.mode(0) == .standby && site.mode(1) == .standby, "the site's word names no unit")
        for unit in 0...1 { #expect(site.order(.resumeUnit(unit)) == .holdEnded) }
        site.run(for: .milliseconds(3_200))
        #expect(site.mode(0) == .running && site.mode(1) == .running)
    }

    @Test func `inputs that fall silent close the permit after one budget and trip after a second`() {
        var site = Self.running()
        site.feeds[0].isInputSilent = true
        site.run(for: .milliseconds(160))
        #expect(site.mode(0) == .running, "as old as its budget")
        site.cycle()
        #expect(site.mode(0) == .offline && site.kilowatts(0) == 0)
        #expect(site.decision.units[0].latched.isEmpty)
        site.run(for: .milliseconds(800))
        #expect(site.mode(0) == .offline)
        site.cycle()
        #expect(site.mode(0) == .tripped && site.decision.units[0].firstOut == .lostInputs)
        site.run(for: .seconds(30))
        #expect(
            site.decision.units[0].latched == InterlockSet(.lostInputs),
            "contacts that nobody reads are no second trip")
        #expect(!site.decision.units[0].closesMainContactor)
        site.feeds[0].isInputSilent = false
        site.run(for: .seconds(1))
        #expect(site.order(.reset(unit: 0)) == .resetDone, "and need no service")
    }

    @Test
    func `wired inputs that were never seen keep a unit offline, its contactors open, and trip nothing`() {
        var site = Self.site()
        site.feeds[0].isInputSilent = true
        site.run(for: .seconds(10))
        #expect(site.mode(0) == .offline && site.decision.units[0].latched.isEmpty)
        #expect(!site.decision.units[0].isContactorPermitted && !site.decision.units[0].closesMainContactor)
        site.feeds[0].isInputSilent = false
        site.run(for: .milliseconds(3_100))
        #expect(site.mode(0) == .running)
    }

    @Test func `a precharge that does not charge is tried again and then latches, and power never came`() {
        var site = Self.site()
        site.feeds[0].dcVoltage = 0
        var attempts = 0
        var wasClosing = false
        for _ in 0..<300 {
            site.cycle()
            Self.check(site, "without precharge")
            let isClosing = site.decision.units[0].closesPrechargeContactor
            if isClosing && !wasClosing { attempts += 1 }
            wasClosing = isClosing
            #expect(!site.decision.units[0].closesMainContactor)
        }
        #expect(attempts == 2 && site.mode(0) == .tripped)
        #expect(site.decision.units[0].latched == InterlockSet(.contactorFeedback))
        #expect(site.decision.units[0].contactorFault == .prechargeVoltage)
        #expect(site.happened.filter { $0.kind == .contactorFault(.prechargeVoltage) }.count == 1)
        #expect(site.happened.filter { $0.kind == .tripped(.contactorFeedback) }.count == 1)
    }

    // swift-format-ignore
    static let mismatches: [(main: Bool?, precharge: Bool?, why: Comment)] = [
        (false, nil,  "the main contactor has dropped out"),
        (nil,   true, "the precharge contactor has not opened"),
    ]

    @Test(arguments: mismatches)
    func `an auxiliary contact that contradicts its command trips after its debounce, in the same cycle`(
        row: (main: Bool?, precharge: Bool?, why: Comment)
    ) {
        var site = Self.running()
        site.feeds[0].mainFeedback = row.main
        site.feeds[0].prechargeFeedback = row.precharge
        site.run(for: .milliseconds(300))
        #expect(site.mode(0) == .running && site.kilowatts(0) == 100, row.why)
        site.cycle()
        #expect(site.mode(0) == .tripped && site.kilowatts(0) == 0, row.why)
        #expect(site.decision.units[0].firstOut == .contactorFeedback, row.why)
        #expect(site.happened.contains { $0.kind == .contactorFault(.feedback) }, row.why)
        Self.check(site, row.why)
    }

    /// A unit whose contact welds while it stops.
    static func welded() -> Site {
        var site = running()
        site.feeds[0].dcVoltage = 800
        _ = site.order(.stop)
        site.run(for: .milliseconds(1_200))
        return site
    }

    @Test func `a welded contact is found when it opens and latches for the role service`() {
        var site = Self.welded()
        #expect(site.mode(0) == .tripped && site.decision.units[0].contactorFault == .welded)
        #expect(site.happened.contains { $0.kind == .contactorFault(.welded) })
        #expect(site.order(.reset(unit: 0, role: .service)) == .resetRefused, "the voltage is still there")
        site.feeds[0].dcVoltage = nil
        site.cycle()
        #expect(site.order(.reset(unit: 0)) == .resetNeedsService)
        _ = site.order(.resumeUnit(0))
        site.run(for: .seconds(10))
        #expect(
            site.mode(0) == .tripped && !site.decision.units[0].closesPrechargeContactor, "no time heals it")
        #expect(site.order(.reset(unit: 0, role: .service)) == .resetDone)
        site.cycle()
        #expect(site.mode(0) == .standby && site.decision.units[0].contactorFault == nil)
        #expect(
            !site.decision.units[0].closesMainContactor && !site.decision.units[0].closesPrechargeContactor)
        #expect(site.order(.resumeUnit(0)) == .holdEnded)
        #expect(site.order(.resume()) == .resumed, "the stop that it welded in")
        site.run(for: .milliseconds(3_200))
        #expect(site.mode(0) == .running)
    }

    @Test func `a reset without the proof leads back into the fault, and nothing closes meanwhile`() {
        var site = Self.welded()
        site.feeds[0].dcVoltage = 60
        site.cycle()
        #expect(site.order(.reset(unit: 0, role: .service)) == .resetDone)
        _ = site.order(.resumeUnit(0))
        site.feeds[0].dcVoltage = 800
        for _ in 0..<400 {
            site.cycle()
            #expect(!site.decision.units[0].closesMainContactor)
            #expect(!site.decision.units[0].closesPrechargeContactor)
        }
        #expect(site.decision.units[0].contactorFault == .welded && site.mode(0) == .tripped)
    }

    @Test func `a restart with a latched contactor fault closes nothing before it is reset`() {
        var site = Self.site()
        site.controller.restore(InterlockSet(.contactorFeedback), firstOut: .contactorFeedback, unit: 0)
        for _ in 0..<500 {
            site.cycle()
            #expect(site.mode(0) == .tripped)
            #expect(!site.decision.units[0].closesMainContactor)
            #expect(!site.decision.units[0].closesPrechargeContactor)
        }
        #expect(site.decision.units[0].contactorFault == .formerRun)
        #expect(site.decision.units[0].latched == InterlockSet(.contactorFeedback))
        #expect(!site.happened.contains { $0.kind == .tripped(.contactorFeedback) }, "it is no new trip")
        #expect(site.order(.reset(unit: 0, role: .service)) == .resetDone)
        _ = site.order(.resumeUnit(0))
        site.run(for: .milliseconds(3_200))
        #expect(site.mode(0) == .running)
    }

    @Test func `a restart with the DC side live closes nothing until it was seen without voltage`() {
        var site = Self.site()
        site.feeds[0].dcVoltage = 800
        site.run(for: .milliseconds(3_100))
        #expect(
            site.mode(0) == .precharge && "\(site.decision.units[0].contactors?.name ?? "-")" == "proving")
        #expect(!site.decision.units[0].closesPrechargeContactor)
        site.feeds[0].dcVoltage = -51
        site.run(for: .milliseconds(500))
        #expect(site.mode(0) == .precharge, "no DC side has that: it is not believed")
        site.feeds[0].dcVoltage = nil
        site.run(for: .milliseconds(100))
        #expect(site.mode(0) == .running)
    }

    @Test func `a DC side that stays live after the start ends in a named trip, and does not wait for ever`()
    {
        var site = Self.site()
        site.feeds[0].dcVoltage = 800
        for _ in 0..<500 {
            site.cycle()
            #expect(!site.decision.units[0].closesPrechargeContactor)
        }
        #expect(site.mode(0) == .tripped && site.decision.units[0].contactorFault == .notDischarged)
        #expect(site.happened.contains { $0.kind == .contactorFault(.notDischarged) })
        #expect(site.order(.reset(unit: 0, role: .service)) == .resetRefused, "it is still live")
        site.feeds[0].dcVoltage = nil
        site.cycle()
        #expect(site.order(.reset(unit: 0)) == .resetNeedsService)
        #expect(site.order(.reset(unit: 0, role: .service)) == .resetDone)
        _ = site.order(.resumeUnit(0))
        site.run(for: .milliseconds(3_200))
        #expect(site.mode(0) == .running)
    }

    @Test func `a reset of other trips is no reset of the contactors`() {
        var site = Self.welded()
        site.feeds[0].alarms = .general
        site.cycle()
        site.feeds[0].alarms = .none
        site.cycle()
        #expect(site.order(.reset(unit: 0)) == .resetRefused)
        site.cycle()
        #expect(site.decision.units[0].latched == InterlockSet(.contactorFeedback))
        #expect(site.decision.units[0].contactorFault == .welded)
    }

    // swift-format-ignore
    static let carries: [(dcVoltage: Double, isTripped: Bool, why: Comment)] = [
        (800,   false, "the pack's voltage"),
        (681,   false, "one volt short of 15 %"),
        (679,   true,  "one volt past it"),
        (921,   true,  "above is no better"),
    ]

    @Test(arguments: carries)
    func `a DC side away from the pack through closed contacts trips after ten seconds, and can be reset`(
        row: (dcVoltage: Double, isTripped: Bool, why: Comment)
    ) {
        var site = Self.running()
        site.feeds[0].dcVoltage = row.dcVoltage
        site.run(for: .milliseconds(9_980))
        #expect(site.mode(0) == .running, row.why)
        site.run(for: .milliseconds(40))
        #expect((site.mode(0) == .tripped) == row.isTripped, row.why)
        guard row.isTripped else { return }
        #expect(site.decision.units[0].latched == InterlockSet(.contactorVoltage), row.why)
        site.feeds[0].dcVoltage = nil
        site.run(for: .milliseconds(100))
        #expect(site.order(.reset(unit: 0)) == .resetDone, "open contacts have nothing to judge")
    }

    @Test func `a battery that owns its contactors needs no input and waits for nothing`() {
        var site = Site(units: 1, basePoint: .kilowatts(100))
        site.feeds[0].isInputSilent = true
        site.enterService()
        #expect(site.mode(0) == .running && site.kilowatts(0) == 100)
        let decision = site.decision.units[0]
        #expect(decision.contactors == nil && !decision.closesMainContactor && decision.isContactorPermitted)
        let changes = site.happened.compactMap { event -> UnitMode.State.Kind? in
            if case .modeChanged(_, let to) = event.kind { return to.kind }
            return nil
        }
        #expect(changes == [.standby, .running], "no precharge is told")
    }
}
