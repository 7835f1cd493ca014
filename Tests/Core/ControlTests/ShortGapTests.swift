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
