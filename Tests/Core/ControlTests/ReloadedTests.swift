import Control
import PowerDispatch
import Quantities
import Testing

/// What a new configuration may change between two cycles.
@Suite struct ReloadedTests {
    @Test func `a new default power is asked for from the next cycle on, and says nothing of its own`() {
        var site = Site(units: 1, basePoint: .kilowatts(10))
        site.enterService()
        site.cycle()
        #expect(abs(site.kilowatts(0) - 10) < 1e-9)
        #expect(site.order(.setStandingPower(.kilowatts(60))) == nil, "the supervisor tells of the reload")
        site.run(for: .seconds(1))
        #expect(abs(site.kilowatts(0) - 60) < 1e-9)
    }

    @Test func `a narrower limit of the site holds in the next cycle, and a wider one never`() {
        var site = Site(units: 1, basePoint: .kilowatts(300), limits: SiteLimits(exports: .kilowatts(400)))
        site.enterService()
        site.cycle()
        #expect(abs(site.kilowatts(0) - 300) < 1e-9)
        #expect(site.order(.narrow(SiteLimits(exports: .kilowatts(100)))) == nil)
        site.cycle()
        #expect(abs(site.kilowatts(0) - 100) < 1e-9)
        #expect(site.order(.narrow(SiteLimits(exports: .kilowatts(350)))) == nil)
        site.run(for: .seconds(1))
        #expect(abs(site.kilowatts(0) - 100) < 1e-9)
    }
}
