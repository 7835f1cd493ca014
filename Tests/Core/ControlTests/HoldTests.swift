import Control
import Interlocks
import Plant
import Quantities
import Testing

/// A unit that is well and does not start by itself: after a trip, a crash, or work on it.
@Suite struct HoldTests {
    static func tripped(units: Int = 2) -> Site {
        var site = Site(units: units, basePoint: .kilowatts(100))
        site.enterService()
        site.feeds[0].alarms = .general
        site.cycle()
        site.feeds[0].alarms = .none
        site.cycle()
        return site
    }

    @Test func `a trip holds its unit from the trip on, and only its unit`() {
        let site = Self.tripped()
        #expect(site.decision.units[0].hold == .afterReset && site.mode(0) == .tripped)
        #expect(site.decision.units[1].hold.isEmpty && site.mode(1) == .running)
    }

    @Test func `a resume before the reset is refused, and does not count later`() {
        var site = Self.tripped()
        #expect(site.order(.resumeUnit(0)) == .resumeRefused)
        _ = site.order(.resume())
        #expect(site.happened.contains { $0.kind == .resumeRefused && $0.unit == 0 })
        #expect(site.order(.reset(unit: 0)) == .resetDone)
        site.run(for: .seconds(30))
        #expect(site.mode(0) == .standby && site.decision.units[0].hold == .afterReset)
        #expect(!site.decision.units[0].isContactorPermitted && site.kilowatts(0) == 0)
    }

    @Test func `a site's resume ends the stop and what only a restart holds, and tells each`() {
        var site = Site(units: 3, basePoint: .kilowatts(100))
        site.controller.restore(.none, firstOut: nil, hold: .afterRestart, unit: 0)
        site.controller.restore(.none, firstOut: nil, hold: .afterReset.union(.afterRestart), unit: 1)
        _ = site.order(.stop)
        site.run(for: .seconds(1))
        site.happened = []
        _ = site.order(.resume())
        #expect(site.happened.last?.kind == .resumed, "the site's own answer after those of its units")
        #expect(site.happened.filter { $0.kind == .holdEnded }.map(\.unit) == [0])
        #expect(site.happened.contains { $0.kind == .held(.afterReset.union(.afterRestart)) && $0.unit == 1 })
        site.enterService()
        #expect((0..<3).map { site.mode($0) } == [.running, .standby, .running])
        #expect(site.order(.resumeUnit(1)) == .holdEnded)
        site.enterService()
        #expect(site.mode(1) == .running)
    }

    // swift-format-ignore
    static let resumes: [(by: Person, resumed: Person, ends: Bool, why: Comment)] = [
        (.user(1), .user(1), true,  "who has reset it knows of the trip"),
        (.user(1), .user(2), false, "somebody else"),
        (.user(1), .unknown, false, "somebody without a name"),
        (.unknown, .unknown, false, "two without a name are not the same person"),
        (.unknown, .user(1), false, "a record that does not tell who it was"),
    ]

    @Test(arguments: resumes, [false, true])
    func `the site's resume starts what the same person has reset, over a restart too`(
        row: (by: Person, resumed: Person, ends: Bool, why: Comment), isRestarted: Bool
    ) {
        var site = Self.tripped()
        #expect(site.order(.reset(unit: 0, by: row.by)) == .resetDone)
        site.cycle()
        let kept = site.decision.units[0]
        if isRestarted {
            site = Site(units: 2, basePoint: .kilowatts(100))
            site.controller.restore(
                kept.latched, firstOut: kept.firstOut, hold: kept.hold.union(.afterRestart),
                resetBy: kept.resetBy, unit: 0)
        }
        _ = site.order(.resume(by: row.resumed))
        site.run(for: .seconds(10))
        #expect((site.mode(0) == .running) == row.ends, row.why)
    }

    @Test func `a new trip forgets who has reset the former one`() {
        var site = Self.tripped()
        _ = site.order(.reset(unit: 0, by: .user(1)))
        site.feeds[0].alarms = .general
        site.cycle()
        site.feeds[0].alarms = .none
        site.cycle()
        #expect(site.mode(0) == .tripped && site.decision.units[0].resetBy == nil)
        _ = site.order(.reset(unit: 0, by: .user(2)))
        _ = site.order(.resume(by: .user(1)))
        site.run(for: .seconds(10))
        #expect(site.mode(0) == .standby, "the second trip was reset by another person")
    }

    // swift-format-ignore
    static let words: [(word: Controller.Command, ends: Bool, why: Comment)] = [
        (.unlock(unit: 0, of: .user(1)),  true,  "the person"),
        (.unlock(unit: 0, of: .user(2)),  false, "another person"),
        (.unlock(unit: 0),                false, "somebody without a name"),
        (.unlock(unit: 1, of: .user(1)),  false, "another unit"),
        (.resume(by: .user(1)),           false, "the site's word"),
        (.resumeUnit(0),                  false, "a lock is no hold after a trip"),
        (.reset(unit: 0, role: .service), false, "nothing is latched"),
        (.reenter(unit: 0, for: .seconds(1)), false, "the machine was suspended"),
    ]

    @Test(arguments: words, [UnitLock.Kind.maintenance, .standby, .hold])
    func `a lock ends by its person and by nobody else`(
        row: (word: Controller.Command, ends: Bool, why: Comment), kind: UnitLock.Kind
    ) {
        var site = Site(basePoint: .kilowatts(200))
        site.enterService()
        #expect(site.order(.lock(unit: 0, kind, for: .seconds(3_600), by: .user(1))) == .lockBegun(kind))
        site.run(for: .seconds(1))
        _ = site.order(row.word)
        site.run(for: .seconds(10))
        #expect((site.mode(0) == .running) == row.ends, row.why)
        #expect(site.decision.units[0].isContactorPermitted == (row.ends || kind == .standby), row.why)
    }

    @Test func `of two persons at one unit the second keeps it out`() {
        var site = Site(basePoint: .kilowatts(200))
        site.enterService()
        _ = site.order(.lock(unit: 0, .maintenance, for: .seconds(600), by: .user(1)))
        _ = site.order(.lock(unit: 0, .maintenance, for: .seconds(600), by: .user(2)))
        _ = site.order(.lock(unit: 0, .hold, for: nil, by: .user(1)))
        _ = site.order(.unlock(unit: 0, of: .user(1)))
        site.run(for: .seconds(10))
        #expect(site.mode(0) == .maintenance)
        for person in UInt32(3)..<8 {
            _ = site.order(.lock(unit: 0, .standby, for: .seconds(60), by: .user(person)))
        }
        #expect(site.order(.lock(unit: 0, .hold, for: nil, by: .user(9))) == .lockRefused(.hold), "no room")
        #expect(
            site.order(.lock(unit: 0, .maintenance, for: nil, by: .user(2))) == .lockRefused(.maintenance))
    }

    @Test func `a suspension takes a running unit through standby, and leaves a lock its time`() {
        var site = Site(basePoint: .kilowatts(200))
        site.enterService()
        _ = site.order(.lock(unit: 1, .standby, for: .seconds(7_200), by: .user(1)))
        site.run(for: .seconds(1))
        for unit in 0...1 { _ = site.order(.reenter(unit: unit, for: .seconds(10))) }
        site.run(for: .seconds(5))
        #expect(site.mode(0) == .standby && site.kilowatts(0) == 0)
        site.run(for: .seconds(10))
        #expect(site.mode(0) == .running, "nobody had taken it out")
        #expect(site.mode(1) == .standby)
        site.run(for: .seconds(60))
        #expect(site.mode(1) == .standby, "its two hours are not over")
    }

    @Test func `the resume of one unit leaves the site's stop and the other holds`() {
        var site = Site(basePoint: .kilowatts(100))
        for unit in 0...1 {
            site.controller.restore(.none, firstOut: nil, hold: .afterRestart, unit: unit)
        }
        _ = site.order(.stop)
        #expect(site.order(.resumeUnit(1)) == .holdEnded)
        site.run(for: .seconds(5))
        #expect(site.mode(1) == .standby && site.decision.units[1].hold.isEmpty, "the site is stopped")
        _ = site.order(.stop)
        #expect(site.decision.units[0].hold == .afterRestart)
    }

    @Test func `a row that only stops its direction holds nothing`() {
        var table = InterlockTable()
        table.add(
            InterlockRow(
                .cellOvervoltage, .cellVoltageMax, .high, .both, trip: 3.65, for: .zero, action: .stop))
        var site = Site(units: 1, basePoint: .kilowatts(100), interlocks: table)
        site.enterService()
        site.feeds[0].cellVoltageMax = 3.7
        site.cycle()
        #expect(site.kilowatts(0) == 0 && site.decision.units[0].hold.isEmpty)
        site.feeds[0].cellVoltageMax = 3.3
        site.run(for: .seconds(1))
        #expect(site.kilowatts(0) == 100, "its cause is gone, and that is all it waits for")
    }

    // swift-format-ignore
    static let restored: [(trips: InterlockSet, hold: UnitHold, expected: UnitHold, why: Comment)] = [
        (.none,                       .none,             .none,             "nothing stands: it starts"),
        (.none,                       .afterReset,       .afterReset,       "a restart is no resume"),
        (.none,                       .afterRestart,     .afterRestart,     "after a crash"),
        (.none,                       .repeatedRestarts, .repeatedRestarts, "after the third one"),
        (InterlockSet(.batteryAlarm), .none,             .afterReset,       "a record from before holds were kept"),
    ]

    @Test(arguments: restored)
    func `what holds a unit on disk holds it after the start, until it is resumed`(
        row: (trips: InterlockSet, hold: UnitHold, expected: UnitHold, why: Comment)
    ) {
        var site = Site(units: 1, basePoint: .kilowatts(100))
        site.controller.restore(row.trips, firstOut: nil, hold: row.hold, unit: 0)
        site.cycle()
        #expect(site.decision.units[0].hold == row.expected, row.why)
        _ = site.order(.reset(unit: 0, role: .service))
        site.run(for: .seconds(10))
        #expect((site.mode(0) == .running) == row.expected.isEmpty, row.why)
        #expect(site.decision.units[0].isContactorPermitted == row.expected.isEmpty, row.why)
        #expect(site.order(.resumeUnit(0)) == .holdEnded, row.why)
        site.enterService()
        #expect(site.mode(0) == .running, row.why)
    }

    @Test func `the time to enter service runs from the resume on`() {
        var site = Self.tripped(units: 1)
        _ = site.order(.reset(unit: 0))
        site.run(for: .seconds(60))
        _ = site.order(.resumeUnit(0))
        site.run(for: .milliseconds(2_980))
        #expect(site.mode(0) == .standby && site.decision.units[0].isContactorPermitted)
        site.run(for: .milliseconds(60))
        #expect(site.mode(0) == .running)
    }

    // swift-format-ignore
    static let ends: [(takesOut: Controller.Command, fromPower: Bool, isHeld: Bool, why: Comment)] = [
        (.lock(unit: 0, .maintenance, for: .seconds(10)),           true,  true,  "somebody may still stand in the container"),
        (.lock(unit: 0, .maintenance, for: .seconds(10)),           false, true,  "the same"),
        (.lock(unit: 0, .standby, for: .seconds(10)),     true,  true,  "who had asked for it may still be there"),
        (.lock(unit: 0, .hold, for: .seconds(10)),        true,  true,  "the same"),
        (.lock(unit: 0, .standby, for: .seconds(10)), false, true,  "it was not in service before"),
        (.override(unit: 0, .kilowatts(50), for: .seconds(10)), true,  false, "it never left service"),
        (.override(unit: 0, .kilowatts(50), for: .seconds(10)), false, false, "a power takes nothing out"),
    ]

    @Test(arguments: ends)
    func `the end of a lock by its time starts nothing`(
        row: (takesOut: Controller.Command, fromPower: Bool, isHeld: Bool, why: Comment)
    ) {
        var site = Site(basePoint: .kilowatts(200))
        if row.fromPower { site.enterService() } else { site.run(for: .seconds(1)) }
        _ = site.order(row.takesOut)
        // Asked for again while it lasts: it is the same one, and longer.
        site.run(for: .seconds(1))
        _ = site.order(row.takesOut)
        site.run(for: .seconds(20))
        let unit = site.decision.units[0]
        #expect((unit.hold == .afterOverride) == row.isHeld, row.why)
        #expect((site.mode(0) == .running) == !row.isHeld, row.why)
        #expect(
            site.happened.contains { $0.unit == 0 && $0.kind == .held(.afterOverride) } == row.isHeld, row.why
        )
        #expect(site.order(.resumeUnit(0)) == .holdEnded, row.why)
        site.enterService()
        #expect(site.mode(0) == .running, row.why)
    }

    @Test func `all of them are the ones that have a name`() {
        let named = [UnitHold.afterReset, .afterRestart, .repeatedRestarts, .afterOverride, .afterInterlock]
        #expect(named.reduce(UnitHold.none) { $0.union($1) } == .all)
        #expect(Set(named.map(\.rawValue)).count == 5)
    }

    @Test func `a person who gives a unit back needs no resume`() {
        var site = Site(basePoint: .kilowatts(200))
        site.enterService()
        _ = site.order(.lock(unit: 0, .maintenance, for: .seconds(600)))
        site.run(for: .seconds(5))
        _ = site.order(.unlock(unit: 0))
        site.enterService()
        #expect(site.mode(0) == .running)
    }

    @Test func `maintenance that ends while the unit still stops keeps its permit until the power is gone`() {
        var site = Site(units: 1, basePoint: .kilowatts(200))
        site.enterService()
        site.feeds[0].activePower = 100_000
        _ = site.order(.lock(unit: 0, .maintenance, for: .seconds(1)))
        site.run(for: .seconds(2))
        #expect(site.mode(0) == .stopping && site.decision.units[0].isContactorPermitted)
        #expect(site.decision.units[0].hold == .afterOverride && site.kilowatts(0) == 0)
        site.feeds[0].activePower = 0
        site.cycle()
        #expect(site.mode(0) == .standby && !site.decision.units[0].isContactorPermitted)
    }

    // swift-format-ignore
    static let wishes: [(wish: Controller.Command, mode: UnitMode.State.Kind, why: Comment)] = [
        (.lock(unit: 0, .maintenance, for: .seconds(600)),        .maintenance, "a lock outlasts a trip"),
        (.lock(unit: 0, .standby, for: .seconds(600)),            .standby,     "a lock outlasts a trip"),
        (.lock(unit: 0, .hold, for: nil),                         .standby,     "a lock outlasts a trip"),
        (.override(unit: 0, .kilowatts(-50), for: .seconds(600)), .running,     "a power does not"),
    ]

    @Test(arguments: wishes, [true, false])
    func `a trip ends the power that somebody wanted of the unit, and nobody's lock`(
        row: (wish: Controller.Command, mode: UnitMode.State.Kind, why: Comment), isOwn: Bool
    ) {
        var site = Site(basePoint: .kilowatts(200), interlocks: EmergencyTests.table)
        site.enterService()
        _ = site.order(row.wish)
        site.run(for: .seconds(1))
        site.feeds[isOwn ? 0 : 1].alarms = .general
        site.run(for: .seconds(1))
        #expect(site.mode(0) == .tripped && site.decision.units[0].override == nil)
        #expect(site.happened.filter { $0.kind == .overrideEnded }.count == (row.mode == .running ? 1 : 0))
        #expect(site.order(.override(unit: 0, .kilowatts(-50), for: .seconds(600))) == .overrideOfTripped)
        site.feeds[isOwn ? 0 : 1].alarms = .none
        site.cycle()
        for unit in 0...1 { _ = site.order(.reset(unit: unit, role: .service)) }
        for unit in 0...1 { _ = site.order(.resumeUnit(unit)) }
        site.enterService()
        site.run(for: .seconds(1))
        #expect(site.mode(0) == row.mode && site.kilowatts(0) == (row.mode == .running ? 100 : 0), row.why)
    }

    @Test func `a unit that was tripped before may be taken for maintenance`() {
        var site = Self.tripped()
        _ = site.order(.lock(unit: 0, .maintenance, for: .seconds(60)))
        site.run(for: .seconds(1))
        _ = site.order(.reset(unit: 0))
        site.cycle()
        #expect(site.mode(0) == .maintenance && site.decision.units[0].hold == .afterReset)
    }
}
