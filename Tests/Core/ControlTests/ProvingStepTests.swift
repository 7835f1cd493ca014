import Control
import Plant
import PowerDispatch
import Quantities
import Testing

/// Two units of 500 kW behind limits that leave nothing, in the worst case, before the meter is proven.
@Suite struct ProvingStepTests {
    struct Bench {
        var site: Site
        var load: Double
        /// What the meter makes of the power at the point of connection, in kW.
        var meter: (Double) -> Double = { $0 }
        /// The units' powers, and for how long the most of them flowed in one piece beyond 1 % of the rating.
        var (least, most) = (0.0, 0.0)
        var (flowed, longest) = (0.0, 0.0)

        init(imports: Double, exports: Double, loadMax: Double, load: Double) {
            site = Site(
                limits: SiteLimits(
                    imports: .kilowatts(imports), exports: .kilowatts(exports), loadMax: .kilowatts(loadMax)))
            self.load = load
        }

        var own: Double { site.decision.setpoint.kilowatts }

        mutating func run(for seconds: Double) {
            for cycle in 0..<Int(seconds * 50) {
                site.meter = meter(own - load) + Double(cycle % 2) * 1e-4
                site.cycle()
                (least, most) = (min(least, own), max(most, own))
                flowed = abs(own) > 10 ? flowed + 0.02 : 0
                longest = max(longest, flowed)
            }
        }

        mutating func ask(_ kilowatts: Double, _ unit: Int? = nil) {
            let command: Controller.Command =
                unit.map { .override(unit: $0, .kilowatts(kilowatts), for: .seconds(900)) }
                ?? .setBasePoint(.operator, .kilowatts(kilowatts), for: .seconds(900))
            site.controller.handle(command, at: site.now, into: &site.decision)
        }

        func isTold(_ verdict: MeterCheck.Verdict) -> Bool {
            site.happened.contains { $0.kind == .meterJudged(verdict) }
        }

        var begun: Int {
            site.happened.count {
                if case .meterProving(.begun) = $0.kind { true } else { false }
            }
        }
    }

    @Test func `a site that may feed nothing in proves its meter by a small charge, and gives its load`() {
        var bench = Bench(imports: 300, exports: 0, loadMax: 200, load: 150)
        bench.run(for: 10)
        #expect(bench.begun == 0 && bench.most == 0 && bench.least == 0, "nobody asks for anything")
        bench.ask(100)
        bench.run(for: 6)
        #expect(bench.isTold(.proven) && bench.begun == 1)
        #expect(abs(bench.own - 100) < 1 && bench.least >= -65.1 && bench.least <= -50)
    }

    @Test func `its meter the wrong way round, nothing flows out and the meter is named`() {
        var bench = Bench(imports: 300, exports: 0, loadMax: 200, load: 150)
        bench.meter = { -$0 }
        bench.run(for: 5)
        bench.ask(100)
        bench.run(for: 60)
        #expect(bench.isTold(.reversed) && !bench.isTold(.proven) && bench.most == 0)
        let begun = bench.begun
        bench.run(for: 500)
        #expect(bench.begun == begun, "ten minutes")
        bench.meter = { $0 }
        bench.run(for: 130)
        #expect(bench.isTold(.proven) && abs(bench.own - 100) < 1, "it was mended: it comes by itself")
    }

    @Test func `without room in the worst case the limits hold whichever way round the meter is`() {
        for meter in [{ $0 }, { -$0 }] as [(Double) -> Double] {
            var bench = Bench(imports: 200, exports: 150, loadMax: 500, load: 100)
            bench.meter = meter
            bench.run(for: 5)
            bench.ask(150)
            bench.run(for: 60)
            #expect(bench.isTold(meter(1) > 0 ? .proven : .reversed))
            #expect(bench.least - 100 >= -200 && bench.most - 100 <= 150)
            #expect(abs(bench.own - (meter(1) > 0 ? 150 : 0)) < 1)
        }
    }

    @Test func `where no step is safe both ways a meter that lies costs a step's power for four seconds`() {
        var bench = Bench(imports: 200, exports: 150, loadMax: 500, load: -300)
        bench.meter = { -$0 }
        bench.run(for: 5)
        bench.ask(150)
        bench.run(for: 900)
        #expect(bench.isTold(.reversed) && bench.begun == 2)
        #expect(bench.most <= 65.1 && bench.most >= 50 && bench.longest <= 4, "\(bench.longest)")
    }

    @Test func `that no step has room is told once`() {
        var bench = Bench(imports: 40, exports: 30, loadMax: 100, load: 0)
        bench.run(for: 5)
        bench.ask(20)
        bench.run(for: 30)
        #expect(bench.begun == 0 && bench.own == 0)
        #expect(bench.site.happened.count { $0.kind == .meterProving(.noRoom) } == 1)
    }

    @Test func `a unit that a person holds at zero takes no part in it`() {
        var bench = Bench(imports: 300, exports: 0, loadMax: 200, load: 150)
        bench.run(for: 5)
        bench.ask(0, 0)
        bench.ask(100)
        var least = 0.0
        for _ in 0..<300 {
            bench.run(for: 0.02)
            least = min(least, bench.site.kilowatts(0))
        }
        #expect(least == 0 && bench.isTold(.proven))
    }
}
