import Control
import FrequencyResponse
import Plant
import PowerDispatch
import Quantities
import Testing

/// A frequency that nobody measures, shown to the response of a real battery for a time.
@Suite struct `A test with a simulated frequency` {
    private static func site(allowsTest: Bool = true) -> Site {
        var grid = GridSettings(nominalFrequency: Hertz(50), meterBudget: Site.budget)
        grid.allowsTest = allowsTest
        var site = Site(units: 1, grid: grid)
        site.enterService()
        site.run(for: .seconds(1))
        return site
    }

    private static func power(at frequency: Double) -> Double {
        var site = site()
        site.frequency = frequency
        site.run(for: .seconds(2))
        return site.kilowatts(0)
    }

    @Test func `is answered as a grid with that frequency would be, for its time alone`() {
        let expected = Self.power(at: 49.72)
        #expect(expected > 40, "\(expected) kW")
        var site = Self.site()
        _ = site.order(.testFrequency(Hertz(49.72), for: .seconds(5)))
        site.run(for: .seconds(3))
        #expect(abs(site.kilowatts(0) - expected) < 1e-6)
        #expect(site.decision.grid.source == .simulated && site.decision.grid.measured == Hertz(50))
        site.run(for: .seconds(4))
        #expect(site.kilowatts(0) == 0 && site.decision.grid.source == .meter)
    }

    @Test func `ends where somebody ends it, and with a stop`() {
        for command in [Controller.Command.testFrequency(nil, for: .zero), .stop] {
            var site = Self.site()
            _ = site.order(.testFrequency(Hertz(49.72), for: .seconds(600)))
            site.run(for: .seconds(1))
            #expect(site.decision.grid.source == .simulated)
            _ = site.order(command)
            site.cycle()
            #expect(site.decision.grid.source == .meter && site.decision.frequency == Hertz(50))
        }
    }

    @Test func `a grid that needs the site, or that nobody measures, ends it and gets its answer`() {
        var site = Self.site()
        _ = site.order(.testFrequency(Hertz(49.72), for: .seconds(600)))
        site.run(for: .seconds(1))
        site.frequency = 50.28
        site.run(for: .seconds(2))
        #expect(abs(site.kilowatts(0) - Self.power(at: 50.28)) < 1e-6, "the real grid's answer")
        site.frequency = 50
        site.run(for: .seconds(2))
        #expect(site.decision.grid.source == .meter, "and it does not begin again by itself")
        _ = site.order(.testFrequency(Hertz(49.72), for: .seconds(600)))
        site.run(for: .seconds(1))
        site.frequency = nil
        site.run(for: .seconds(3))
        #expect(site.decision.grid.source == nil)
        site.frequency = 50
        site.run(for: .seconds(2))
        #expect(site.decision.grid.source == .meter)
    }

    // swift-format-ignore
    static let refused: [(frequency: Double, time: Duration, allows: Bool, why: Comment)] = [
        (49.72, .seconds(60),    false, "the mode does not allow it"),
        (53.01, .seconds(60),    true,  "farther than 3 Hz"),
        (46.99, .seconds(60),    true,  "farther than 3 Hz"),
        (49.72, .seconds(1_801), true,  "longer than half an hour"),
        (49.72, .zero,           true,  "no time"),
    ]

    @Test(arguments: refused) func `beyond its bounds is none`(
        frequency: Double, time: Duration, allows: Bool, why: Comment
    ) {
        var site = Self.site(allowsTest: allows)
        _ = site.order(.testFrequency(Hertz(frequency), for: time))
        site.run(for: .seconds(1))
        #expect(site.kilowatts(0) == 0 && site.decision.grid.source == .meter, why)
    }
}
