import Control
import Plant
import PowerDispatch
import Quantities
import Testing

/// Two units of 500 kW behind a limit of 300 kW, beside a load of up to 200 kW, on virtual time.
@Suite struct ConnectionPointTests {
    struct Bench {
        var site = Site(
            limits: SiteLimits(imports: .kilowatts(300), exports: .kilowatts(300), loadMax: .kilowatts(200)))
        var load = 0.0
        var isFrozen = false
        var isLiving = true
        var isTurned = false

        /// What flows out at the point of connection, in kW.
        var power: Double { site.decision.setpoint.kilowatts - load }

        mutating func run(for seconds: Double) {
            for cycle in 0..<Int(seconds * 50) {
                let shown = isTurned ? -power : power
                if !isFrozen { site.meter = shown + (isLiving ? Double(cycle % 2) * 1e-4 : 0) }
                site.cycle()
            }
        }

        mutating func ask(_ kilowatts: Double) {
            site.controller.handle(
                .setBasePoint(.operator, .kilowatts(kilowatts), for: .seconds(900)), at: site.now,
                into: &site.decision)
        }

        var suspected: Int {
            site.happened.count {
                if case .meterProving(.suspected) = $0.kind { true } else { false }
            }
        }

        func isTold(_ verdict: MeterCheck.Verdict) -> Bool {
            site.happened.contains { $0.kind == .meterJudged(verdict) }
        }
    }

    /// In service, with a meter that nobody trusts: the load has stepped with the units.
    private static func doubted() -> Bench {
        var bench = Bench()
        bench.run(for: 6)
        bench.load = 150
        bench.run(for: 0.3)
        bench.ask(900)
        bench.run(for: 1)
        return bench
    }

    /// Found here: 100 kW for good, where 450 are allowed.
    @Test func `a meter that nobody trusts at an even power is proven by a small step towards zero`() {
        var bench = Self.doubted()
        #expect(abs(bench.site.decision.setpoint.kilowatts - 100) < 1, "300 less all that anything may give")
        var (most, least) = (0.0, 1_000.0)
        for _ in 0..<12 {
            bench.run(for: 1)
            most = max(most, bench.power)
            least = min(least, bench.site.decision.setpoint.kilowatts)
        }
        #expect(bench.isTold(.proven) && least > 30, "a step is 50 kW: \(least)")
        #expect(abs(bench.power - 300) < 2 && most < 302, "\(bench.power)")
    }

    @Test func `one that freezes while nothing moves is named, and the load that goes breaks no limit`() {
        var bench = Self.doubted()
        bench.run(for: 12)
        bench.isFrozen = true
        bench.run(for: 12)
        #expect(bench.isTold(.frozen))
        bench.load = 0
        bench.run(for: 1)
        #expect(bench.power <= 301, "\(bench.power)")
    }

    @Test func `one that stands still at rest costs nothing once it is seen to move`() {
        var bench = Self.doubted()
        bench.run(for: 12)
        bench.ask(0)
        bench.run(for: 5)
        bench.isLiving = false
        bench.run(for: 30)
        bench.ask(900)
        bench.run(for: 3)
        #expect(abs(bench.power - 300) < 2, "\(bench.power)")
    }

    /// Behind limits that nobody has said a load beside.
    private static func unbounded(imports: Double, load: Double, asked: Double) -> Bench {
        var bench = Bench()
        bench.site = Site(limits: SiteLimits(imports: .kilowatts(imports), exports: .kilowatts(300)))
        bench.load = load
        bench.run(for: 6)
        bench.ask(asked)
        bench.run(for: 6)
        return bench
    }

    /// Found by an attacker: beyond the limit for good, and nobody told.
    @Test func `one that is turned at an even power is named by a small step once the load goes`() {
        var bench = Self.unbounded(imports: 300, load: 200, asked: 450)
        #expect(abs(bench.power - 250) < 2, "\(bench.power)")
        bench.isTurned = true
        bench.run(for: 20)
        #expect(bench.suspected == 0, "turned, it passes no limit")
        bench.load = 0
        bench.run(for: 5)
        #expect(bench.isTold(.reversed) && bench.suspected == 1 && bench.power <= 301, "\(bench.power)")
    }

    @Test func `a load that comes again and again costs a meter that is right one small step`() {
        var bench = Self.unbounded(imports: 900, load: 0, asked: 200)
        for _ in 0..<10 {
            bench.load = 600
            bench.run(for: 15)
            bench.load = 0
            bench.run(for: 15)
        }
        #expect(bench.suspected == 1 && !bench.isTold(.reversed) && abs(bench.power - 200) < 2)
        bench.run(for: 400)
        bench.ask(200)
        bench.run(for: 200)
        bench.load = 600
        bench.run(for: 15)
        #expect(bench.suspected == 2, "ten minutes later it may have been turned")
    }
}
