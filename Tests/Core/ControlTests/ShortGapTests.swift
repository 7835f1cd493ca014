import Control
import Plant
import Quantities
import Testing

/// A device that is missing for a moment, on a site that lets a unit enter service in 3 s.
@Suite struct ShortGapTests {
    static func running(_ longest: Duration = .seconds(5)) -> Site {
        var site = Site(units: 1, basePoint: .kilowatts(100), shortGap: longest)
        site.enterService()
        site.run(for: .seconds(1))
        return site
    }

    /// Silent for `time`, then for 1 s there again.
    static func gap(_ time: Duration, in site: inout Site) {
        site.feeds[0].isInverterSilent = true
        site.run(for: time)
        site.feeds[0].isInverterSilent = false
        site.run(for: .seconds(1))
    }

    // swift-format-ignore
    static let gaps: [(time: Int, longest: Int, isBack: Bool, why: Comment)] = [
        (300,   5, true,  "shorter than its budget: nothing happens"),
        (500,   5, true,  "longer than its budget, shorter than two"),
        (500,   0, false, "the site wants the whole time after every gap"),
        (1_000, 5, false, "it has tripped"),
    ]

    @Test(arguments: gaps) func `a short gap costs no time to enter service`(
        row: (time: Int, longest: Int, isBack: Bool, why: Comment)
    ) {
        var site = Self.running(.seconds(row.longest))
        Self.gap(.milliseconds(row.time), in: &site)
        #expect((site.mode(0) == .running && site.kilowatts(0) == 100) == row.isBack, row.why)
        let told = site.happened.filter { $0.kind == .shortGap }
        #expect(told.count == (row.isBack && row.time > 320 ? 1 : 0), row.why)
    }

    /// Without values for `time`, or silent; then for 1 s as before.
    static func batteryGap(_ time: Duration, _ fault: ReadingFault?, in site: inout Site) {
        site.feeds[0].batteryFault = fault
        site.feeds[0].isBatterySilent = true
        site.run(for: time)
        site.feeds[0].batteryFault = nil
        site.feeds[0].isBatterySilent = false
        site.run(for: .seconds(1))
    }

    @Test(arguments: [40, 240, 320, 360, 500, 620, 660, 700, 1_000])
    func `a battery that has no values for a moment costs what one that says nothing costs`(time: Int) {
        var (silent, blank) = (Self.running(), Self.running())
        Self.batteryGap(.milliseconds(time), nil, in: &silent)
        Self.batteryGap(.milliseconds(time), .notImplemented, in: &blank)
        #expect(blank.mode(0) == silent.mode(0))
        #expect((silent.mode(0) == .running) == (time < 640))
        #expect(blank.kilowatts(0) == silent.kilowatts(0))
    }

    @Test func `a battery without values has no power from the first frame that says so`() {
        var site = Self.running()
        site.feeds[0].batteryFault = .notImplemented
        site.cycle()
        #expect(site.kilowatts(0) == 0 && site.mode(0) == .offline)
    }

    @Test func `such gaps are counted with the others, and the fourth of an hour costs the whole time`() {
        var site = Self.running()
        for _ in 0..<2 { Self.batteryGap(.milliseconds(200), .notImplemented, in: &site) }
        Self.gap(.milliseconds(500), in: &site)
        #expect(site.mode(0) == .running)
        #expect(site.happened.count { $0.kind == .shortGap } == 3)
        Self.batteryGap(.milliseconds(200), .notImplemented, in: &site)
        #expect(site.mode(0) == .standby)
    }

    @Test(arguments: [ReadingFault.implausible, .deviceFault, .disagrees])
    func `a battery that says what cannot be enters service anew`(fault: ReadingFault) {
        var site = Self.running()
        Self.batteryGap(.milliseconds(200), fault, in: &site)
        #expect(site.mode(0) == .standby)
    }

    // swift-format-ignore
    static let others: [(change: Change, why: Comment)] = [
        ({ $0.feeds[0].stateOfCharge = 0.56 }, "another charge"),
        ({ $0.feeds[0].packVoltage = 700 },    "another voltage"),
    ]

    @Test(arguments: others) func `another battery behind the gap makes it a loss`(
        row: (change: Change, why: Comment)
    ) {
        for fault in [nil, ReadingFault.notImplemented] {
            var site = Self.running()
            site.feeds[0].batteryFault = fault
            site.feeds[0].isBatterySilent = true
            site.run(for: .milliseconds(400))
            row.change(&site)
            Self.batteryGap(.milliseconds(60), fault, in: &site)
            #expect(site.mode(0) != .running, row.why)
        }
    }

    @Test func `the fourth gap of an hour costs it, and an hour later none does`() {
        var site = Self.running()
        for _ in 0..<3 {
            Self.gap(.milliseconds(500), in: &site)
            #expect(site.mode(0) == .running)
        }
        Self.gap(.milliseconds(500), in: &site)
        #expect(site.mode(0) == .standby)
        site.run(for: .seconds(3_600))
        Self.gap(.milliseconds(500), in: &site)
        #expect(site.mode(0) == .running)
    }

    typealias Change = @Sendable (inout Site) -> Void

    // swift-format-ignore
    static let changes: [(change: Change, why: Comment)] = [
        ({ $0.feeds[0].state = .standby },                                      "the inverter has left the grid meanwhile"),
        ({ _ = $0.order(.stop); $0.cycle(); _ = $0.order(.resume()) },            "somebody has stopped the site meanwhile"),
        ({ _ = $0.order(.lock(unit: 0, .standby, for: .seconds(60), by: .user(1))); $0.cycle()
           _ = $0.order(.unlock(unit: 0, of: .user(1))) },                      "somebody had the unit meanwhile"),
    ]

    @Test(arguments: changes) func `what happens meanwhile makes it a loss`(
        row: (change: Change, why: Comment)
    ) {
        var site = Self.running()
        site.feeds[0].isInverterSilent = true
        site.run(for: .milliseconds(400))
        row.change(&site)
        Self.gap(.milliseconds(100), in: &site)
        #expect(site.mode(0) != .running, row.why)
    }

    @Test func `a battery that repeated itself was not well for longer than that, and enters service anew`() {
        var site = Site(units: 1, frozenSamples: 250, shortGap: .seconds(5))
        for cycle in 0..<300 {
            site.feeds[0].packCurrent = Double(cycle % 2)
            site.cycle()
        }
        site.run(for: .milliseconds(5_040))
        #expect(site.mode(0) == .offline)
        site.feeds[0].packCurrent = 7
        site.run(for: .seconds(1))
        #expect(site.mode(0) == .standby && !site.happened.contains { $0.kind == .shortGap })
    }

    @Test func `contactors that we drive stay closed over it, without power`() {
        var site = Site(
            units: 1, basePoint: .kilowatts(100), inputs: WiringTests.wires,
            contactors: WiringTests.settings(),
            shortGap: .seconds(5))
        site.run(for: .seconds(5))
        #expect(site.mode(0) == .running)
        site.feeds[0].isBatterySilent = true
        for _ in 0..<25 {
            site.cycle()
            #expect(site.decision.units[0].closesMainContactor)
            if site.mode(0) == .offline { #expect(site.kilowatts(0) == 0) }
        }
        #expect(site.mode(0) == .offline)
        site.feeds[0].isBatterySilent = false
        site.run(for: .milliseconds(500))
        #expect(site.mode(0) == .running && site.kilowatts(0) == 100)
        site.feeds[0].isBatterySilent = true
        site.run(for: .seconds(20))
        #expect(!site.decision.units[0].closesMainContactor, "a loss opens them")
    }
}
