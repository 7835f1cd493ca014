import FrequencyResponse
import Interlocks
import Plant
import PowerDispatch
import Quantities
import Testing

@testable import Control

/// Conditions that stand together: every combination of them, so that none can be left out or turned round.
@Suite struct GuardTests {
    static let now = MonotonicTime(nanoseconds: 100_000_000_000)
    static let bounds: [(time: Duration, isGranted: Bool)] = [
        (.nanoseconds(-1), false), (.zero, false), (.nanoseconds(1), true), (BasePoint.longestLease, true),
        (BasePoint.longestLease + .nanoseconds(1), false),
    ]

    static func healthy() -> BatteryImage {
        var feed = Feed()
        feed.permissions = [.charge, .discharge]
        var image = UnitImage()
        feed.write(&image, at: now, told: UnitDecision())
        return image.battery
    }

    @Test func `a battery is seen only if all of its ten readings are, or nine where it sends no alarms`() {
        for bits in 0..<1_024 {
            func isSet(_ bit: Int) -> Bool { bits & (1 << bit) != 0 }
            var battery = Self.healthy()
            if !isSet(0) { battery.packVoltage = .neverSeen }
            if !isSet(1) { battery.stateOfCharge = .neverSeen }
            if !isSet(2) { battery.chargeCurrentLimit = .neverSeen }
            if !isSet(3) { battery.dischargeCurrentLimit = .neverSeen }
            if !isSet(4) { battery.cellVoltageMax = .neverSeen }
            if !isSet(5) { battery.cellVoltageMin = .neverSeen }
            if !isSet(6) { battery.cellTemperatureMax = .neverSeen }
            if !isSet(7) { battery.cellTemperatureMin = .neverSeen }
            if !isSet(8) { battery.packCurrent = .neverSeen }
            if !isSet(9) { battery.alarms = .neverSeen }
            for hasAlarms in [true, false] {
                let seen = SeenBattery(battery, at: Self.now, within: .seconds(1), hasAlarms: hasAlarms)
                #expect((seen != nil) == (bits == 1_023 || bits == 511 && !hasAlarms), "\(bits)")
            }
        }
    }

    @Test func `a lowest above the highest spoils both only if both are fresh`() {
        for bits in 0..<8 {
            func isSet(_ bit: Int) -> Bool { bits & (1 << bit) != 0 }
            var battery = Self.healthy()
            let old = Self.now - .seconds(2)
            battery.cellVoltageMin = .good(Volts(isSet(0) ? 3.33 : 3.32), at: isSet(1) ? Self.now : old)
            battery.cellVoltageMax = .good(Volts(3.32), at: isSet(2) ? Self.now : old)
            let image = Plausible.battery(battery, at: Self.now, within: .seconds(1))
            for (reading, isFresh) in [(image.cellVoltageMin, isSet(1)), (image.cellVoltageMax, isSet(2))] {
                let fault = reading.fault(at: Self.now, within: .seconds(1))
                #expect(fault == (bits == 7 ? .implausible : (isFresh ? nil : .stale)), "\(bits)")
            }
        }
    }

    @Test func `a unit is out as soon as any of its three devices is silent`() {
        for bits in 0..<8 {
            var site = Site(units: 1, inputs: [.smoke])
            site.enterService()
            #expect(site.mode(0) == .running)
            site.feeds[0].isBatterySilent = bits & 1 != 0
            site.feeds[0].isInverterSilent = bits & 2 != 0
            site.run(for: .milliseconds(160))
            site.feeds[0].isInputSilent = bits & 4 != 0
            site.run(for: .milliseconds(180))
            #expect(site.mode(0) == (bits == 0 ? .running : .offline), "\(bits)")
        }
    }

    @Test func `of an inverter both power and state must be seen`() {
        for bits in 0..<4 {
            var site = Site(units: 1)
            site.enterService()
            if bits & 1 != 0 { site.images[0].inverter.activePower = .bad(.stale, since: site.now) }
            if bits & 2 != 0 { site.images[0].inverter.state = .bad(.stale, since: site.now) }
            site.step()
            #expect(site.mode(0) == (bits == 0 ? .running : .offline), "\(bits)")
        }
    }

    static let wires: [DigitalInput] = [
        .emergencyStop, .smoke, .gas, .door, .breaker, .mainContactor, .prechargeContactor,
    ]

    @Test func `an input that cannot be read takes its unit out where it is wired, and only there`() {
        for wire in Self.wires {
            for other in Self.wires {
                var site = Site(units: 1, inputs: DigitalInputSet(wire))
                site.feeds[0].isInputSilent = true
                for _ in 0..<155 {
                    for each in Self.wires {
                        site.images[0].inputs[each] = .good(false, at: site.now + Site.period)
                    }
                    site.cycle()
                }
                #expect(site.mode(0) == .running, "\(wire)")
                site.images[0].inputs[other] = .bad(.deviceFault, since: site.now)
                site.step()
                #expect((site.mode(0) == .offline) == (wire == other), "\(wire)")
            }
        }
    }

    // swift-format-ignore
    static let taken: [(state: UnitMode.State.Kind, isSeen: Bool, then: UnitMode.State.Kind, why: Comment)] = [
        (.running,  true,  .stopping,    "power goes first"),
        (.running,  false, .offline,     "its contactors do not wait for a reading"),
        (.stopping, true,  .stopping,    "it still delivers"),
        (.stopping, false, .offline,     "its contactors do not wait for a reading"),
        (.standby,  true,  .maintenance, "it has no power"),
        (.standby,  false, .maintenance, "it has no power"),
    ]

    @Test(arguments: taken)
    func `a unit that is taken for maintenance goes where its power and what is seen let it`(
        row: (state: UnitMode.State.Kind, isSeen: Bool, then: UnitMode.State.Kind, why: Comment)
    ) {
        var site = Site(units: 1, basePoint: .kilowatts(300))
        site.run(for: row.state == .standby ? .seconds(1) : .milliseconds(3_020))
        if row.state != .standby { site.feeds[0].activePower = 100_000 }
        if row.state == .stopping {
            _ = site.order(.stop)
            site.cycle()
        }
        #expect(site.mode(0) == row.state, "the test's own way to the state")
        _ = site.order(.lock(unit: 0, .maintenance, for: .seconds(60)))
        if !row.isSeen { site.images[0].battery.alarms = .bad(.implausible, since: site.now) }
        site.step()
        #expect(site.mode(0) == row.then, row.why)
    }

    // swift-format-ignore
    static let stops: [(order: Controller.Command, power: Double, trips: Bool, why: Comment)] = [
        (.stop,                                           30_000,  true,  "it still delivers"),
        (.stop,                                           10_500,  true,  "above 2 %"),
        (.stop,                                           10_000,  false, "at 2 %"),
        (.stop,                                           -10_000, false, "at 2 %, charging"),
        (.lock(unit: 0, .maintenance, for: .seconds(60)), 30_000,  true,  "the same for maintenance"),
        (.lock(unit: 0, .maintenance, for: .seconds(60)), 10_000,  false, "the same for maintenance"),
    ]

    @Test(arguments: stops) func `a stop ends at zero, or trips with what was asked and what is given`(
        row: (order: Controller.Command, power: Double, trips: Bool, why: Comment)
    ) {
        var site = Site(units: 1, basePoint: .kilowatts(300))
        site.enterService()
        site.feeds[0].activePower = row.power
        _ = site.order(row.order)
        site.cycle()
        #expect(site.mode(0) == .stopping, row.why)
        if row.trips { site.run(for: .seconds(5)) } else { site.cycle() }
        #expect(site.mode(0) != .stopping && (site.mode(0) == .tripped) == row.trips, row.why)
        let told = site.happened.filter { $0.kind == .tripped(.notFollowing) }
        #expect(told.count == (row.trips ? 1 : 0), row.why)
        #expect(told.allSatisfy { $0.asked == .zero && $0.delivered == Watts(row.power) }, row.why)
    }

    @Test func `a stop that is taken back before its end is not told as one`() {
        var site = Site(units: 1, basePoint: .kilowatts(300))
        site.enterService()
        site.feeds[0].activePower = 100_000
        _ = site.order(.stop)
        site.cycle()
        _ = site.order(.resume())
        site.cycle()
        #expect(site.mode(0) == .standby && !site.happened.contains { $0.kind == .stoppedWithPower })
    }

    @Test(arguments: bounds) func `maintenance and overrides have a time above zero and up to a week`(
        row: (time: Duration, isGranted: Bool)
    ) {
        var site = Site(units: 1)
        let kind = site.order(.lock(unit: 0, .maintenance, for: row.time))
        #expect(
            kind == (row.isGranted ? .lockBegun(.maintenance) : .lockRefused(.maintenance)), "\(row.time)")
        #expect((site.order(.unlock(unit: 0)) != nil) == row.isGranted)
        for lock in [UnitLock.Kind.standby, .hold] {
            let kind = site.order(.lock(unit: 0, lock, for: row.time))
            #expect(kind == (row.isGranted ? .lockBegun(lock) : .lockRefused(lock)))
            #expect(site.order(.unlock(unit: 0)) == (row.isGranted ? .lockEnded(lock) : nil))
        }
        let override = site.order(.override(unit: 0, .kilowatts(1), for: row.time))
        #expect(override == (row.isGranted ? .overrideBegun : .overrideRefused))
        #expect(
            site.order(.override(unit: 0, .kilowatts(1), for: nil)) == (row.isGranted ? .overrideEnded : nil))
    }

    @Test func `only a maintained unit of the site can end its maintenance`() {
        for unit in -1...2 {
            for isMaintained in [false, true] {
                var site = Site(units: 2)
                if isMaintained {
                    for each in 0...1 { _ = site.order(.lock(unit: each, .maintenance, for: .seconds(10))) }
                }
                let isOurs = unit >= 0 && unit < 2
                #expect((site.order(.unlock(unit: unit)) != nil) == (isOurs && isMaintained))
                #expect((site.order(.lock(unit: unit, .maintenance, for: .seconds(10))) != nil) == isOurs)
                #expect(site.order(.reset(unit: unit)) == nil, "nothing is latched")
                #expect((site.order(.lock(unit: unit, .standby, for: .seconds(9))) != nil) == isOurs)
            }
        }
    }

    static let contactors = ContactorSettings(
        drive: .own, prechargeLimit: .seconds(1), prechargeCurrentMax: Amperes(20), attempts: 2,
        pause: .seconds(1), zeroCurrent: Amperes(2), openingLimit: .seconds(1), dischargedVoltage: Volts(60),
        dischargeLimit: .seconds(1), feedbackDebounce: .milliseconds(100))

    static func unit(_ contactors: ContactorSettings) -> UnitSettings {
        UnitSettings(
            rating: .kilowatts(100), minStateOfCharge: .percent(10), maxStateOfCharge: .percent(90),
            budget: FreshnessBudget(battery: .seconds(1), inverter: .seconds(1), inputs: .seconds(1)),
            currentFloor: Amperes(2), contactors: contactors)
    }

    /// A unit's contactors, looked at and stepped until they are closed.
    static func closed() -> (control: ContactorControl, image: UnitImage) {
        var control = ContactorControl(unit(contactors))
        var image = UnitImage()
        image.battery = healthy()
        image.inverter.activePower = .good(.zero, at: now)
        for (dcVoltage, isMainClosed) in [(0.0, false), (0, false), (800, false), (800, true)] {
            image.inverter.dcVoltage = .good(Volts(dcVoltage), at: now)
            image.inputs[.mainContactor] = .good(isMainClosed, at: now)
            let budget = FreshnessBudget(battery: .seconds(1), inverter: .seconds(1), inputs: .seconds(1))
            control.look(
                image, at: now, within: budget, areInputsFresh: true, asked: .zero,
                after: .milliseconds(20))
            control.step(isClosingWanted: true, patience: nil, at: now)
        }
        return (control, image)
    }

    @Test func `the error of the DC voltage needs closed contacts of ours, both voltages and a pack`() {
        let (closed, image) = Self.closed()
        #expect(closed.output.closesMain && closed.output.isPermitted)
        let budget = FreshnessBudget(battery: .seconds(1), inverter: .seconds(1), inputs: .seconds(1))
        for isClosed in [false, true] {
            for dcVoltage in [nil, 760] as [Double?] {
                for pack in [nil, 0, 800] as [Double?] {
                    var control = isClosed ? closed : ContactorControl(Self.unit(Self.contactors))
                    var seen = image
                    seen.inverter.dcVoltage = dcVoltage.map { .good(Volts($0), at: Self.now) } ?? .neverSeen
                    seen.battery.packVoltage = pack.map { .good(Volts($0), at: Self.now) } ?? .neverSeen
                    control.look(
                        seen, at: Self.now, within: budget, areInputsFresh: true, asked: .zero,
                        after: .milliseconds(20))
                    let isKnown = dcVoltage != nil && pack == 800
                    let expected: SignalReading =
                        isClosed ? (isKnown ? .value(0.05) : .missing(.stale)) : .notWired
                    #expect(control.dcVoltageError == expected, "\(String(describing: (dcVoltage, pack)))")
                }
            }
        }
        var battery = ContactorControl(Self.unit(.ofBattery))
        battery.look(
            image, at: Self.now, within: budget, areInputsFresh: true, asked: .zero,
            after: .milliseconds(20))
        battery.step(isClosingWanted: true, patience: nil, at: Self.now)
        #expect(battery.output.isPermitted && battery.dcVoltageError == .notWired, "not ours")
    }

    @Test
    func `contactors of ours do nothing before their inputs were seen once, and go on when they are lost`() {
        for (hasSeen, isSeen) in [(false, false), (false, true), (true, false), (true, true)] {
            for settings in [Self.contactors, .ofBattery] {
                var control = ContactorControl(Self.unit(settings))
                var image = UnitImage()
                image.battery = Self.healthy()
                image.inverter.activePower = .good(.zero, at: Self.now)
                image.inverter.dcVoltage = .good(.zero, at: Self.now)
                image.inputs[.mainContactor] = .good(false, at: Self.now)
                let budget = FreshnessBudget(
                    battery: .seconds(1), inverter: .seconds(1), inputs: .seconds(1))
                for isSeen in [hasSeen, isSeen] {
                    control.look(
                        image, at: Self.now, within: budget, areInputsFresh: isSeen, asked: .zero,
                        after: .milliseconds(20))
                }
                control.step(isClosingWanted: true, patience: nil, at: Self.now)
                let isOurs = settings.drive == .own
                let moved = control.sequence.state != ContactorSequence(settings, hasFormerFault: false).state
                #expect(moved == (hasSeen || isSeen || !isOurs), "\(hasSeen) \(isSeen) \(isOurs)")
            }
        }
    }

    // swift-format-ignore
    static let limits: [(end: Double, cause: Cause, setpoint: Double, site: Bool, by: Cause, why: Comment)] = [
        (100, .rating,              100, false, .none,                "all of it"),
        (100, .rating,              120, true,  .none,                "more than its part"),
        (100, .rating,               50, true,  .siteLimit,           "the meter"),
        (  0, .interlock(.smoke),     0, true,  .interlock(.smoke),   "it could not have had any"),
        (100, .rating,               50, false, .sharing,             "others have it"),
        ( 60, .rating,               60, false, .rating,              "all that it has"),
        ( 60, .batteryCurrentLimit,  50, false, .batteryCurrentLimit, "its own limit"),
        ( 60, .batteryCurrentLimit,  60, true,  .siteLimit,           "the meter takes from everybody"),
    ]

    @Test(arguments: limits) func `a unit has less than its part for one cause`(
        row: (end: Double, cause: Cause, setpoint: Double, site: Bool, by: Cause, why: Comment)
    ) {
        for sign in [1.0, -1] {
            var decision = UnitDecision()
            decision.window = .rating(Watts(row.cause == .rating ? row.end : 1_000))
            if sign > 0 {
                decision.window.limitCharge(to: .zero, .stateOfCharge)
                decision.window.limitDischarge(to: Watts(row.end), row.cause)
            } else {
                decision.window.limitDischarge(to: .zero, .stateOfCharge)
                decision.window.limitCharge(to: Watts(row.end), row.cause)
            }
            decision.setpoint = Watts(sign * row.setpoint)
            decision.explain(Watts(sign * 100), isSiteLimited: row.site)
            #expect(decision.limitedBy == row.by, row.why)
            #expect(decision.requested == Watts(sign * 100))
        }
    }
}
