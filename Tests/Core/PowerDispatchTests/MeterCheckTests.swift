import PowerDispatch
import Quantities
import Testing

/// What a step of the units' own power says of the meter. The plant here is a sum; the meter lies about it.
@Suite struct MeterCheckTests {
    struct Bench {
        var check = MeterCheck(rated: .kilowatts(200), settling: .milliseconds(1_300))
        var now = MonotonicTime(nanoseconds: 100_000_000_000)
        var loadMax: Watts?
        /// What the meter makes of the power at the point of connection, in kW.
        var meter: (Double) -> Double? = { $0 }
        var own = 0.0
        /// What everything else draws.
        var load = 0.0
        /// What its last digit moves by, in each look.
        var flutter = 1e-5

        mutating func run(to target: Double? = nil, rate: Double = 1_000, for seconds: Double) {
            for _ in 0..<Int(seconds * 50) {
                if let target { own += Swift.min(Swift.max(target - own, -rate / 50), rate / 50) }
                now = now + .milliseconds(20)
                flutter = -flutter
                check.look(
                    meter: meter(own - load + flutter).map { .kilowatts($0) }, own: .kilowatts(own),
                    loadMax: loadMax,
                    at: now)
            }
        }

        /// What the others draw is smoothed: to 100 W.
        func shows(_ least: Double, _ most: Double) -> Bool {
            abs(others.0 - least) < 0.1 && abs(others.1 - most) < 0.1
        }

        var others: (Double, Double) {
            let others = check.others(
                meter: meter(own - load).map { .kilowatts($0) }, own: .kilowatts(own), loadMax: loadMax)
            return (others.least.kilowatts, others.most.kilowatts)
        }
    }

    // swift-format-ignore
    static let rows: [(
        meter: @Sendable (Double) -> Double?, to: Double, load: Double, then: MeterCheck.Verdict, why: Comment
    )] = [
        ({ $0 },        50,   0, .proven,   "it follows"),
        ({ $0 },       -50,   0, .proven,   "charging too"),
        ({ $0 },        50,  80, .proven,   "whatever else draws"),
        ({ $0 * 0.97 }, 50,   0, .proven,   "a class is no fault"),
        ({ -$0 },       50,   0, .reversed, "the current transformers are the wrong way round"),
        ({ -$0 },      -50,   0, .reversed, "charging too"),
        ({ -$0 },       50,  80, .reversed, "beside a load"),
        ({ _ in 7 },    50,   0, .frozen,   "it shows the same for ever"),
        ({ $0 },         9,   0, .unproven, "a twentieth of 200 kW is a step, and 9 kW are none"),
        ({ $0 },        11,   0, .proven,   "11 kW are one"),
        ({ _ in nil },  50,   0, .unproven, "nobody reads it"),
    ]

    @Test(arguments: rows) func `a step of the units' own power proves the meter, or names what it does`(
        row: (
            meter: @Sendable (Double) -> Double?, to: Double, load: Double, then: MeterCheck.Verdict,
            why: Comment
        )
    ) {
        var bench = Bench()
        (bench.meter, bench.load) = (row.meter, row.load)
        bench.run(for: 5)
        #expect(bench.check.verdict == .unproven, "nothing has moved")
        bench.run(to: row.to, for: 2)
        #expect(bench.check.verdict == row.then, row.why)
    }

    @Test func `one that moves again after standing still is not called reversed for what it has missed`() {
        var bench = Bench()
        bench.run(for: 5)
        bench.run(to: 30, for: 3)
        bench.meter = { _ in 30 }
        bench.flutter = 0
        bench.run(for: 1)
        bench.run(to: 50, for: 5)
        #expect(bench.check.verdict == .frozen)
        (bench.meter, bench.flutter) = ({ $0 }, 1e-5)
        // Mended just as the units take a step towards zero to prove it.
        bench.run(for: 0.1)
        bench.run(to: 37, for: 1.4)
        #expect(bench.check.verdict == .frozen, "what it shows now it has missed before")
        bench.run(for: 2)
        bench.run(to: 50, for: 2)
        #expect(bench.check.verdict == .proven)
    }

    @Test func `one that is disbelieved narrows a limit as any other, and widens none`() {
        var bench = Bench()
        bench.meter = { -$0 }
        bench.run(for: 5)
        bench.run(to: 50, for: 2)
        #expect(bench.check.verdict == .reversed)
        #expect(bench.shows(0, 100), "it shows 50 kW taken beside 50 kW given")
        bench.loadMax = .kilowatts(20)
        #expect(bench.shows(-20, 100))
    }

    @Test func `it is trusted to widen only once it is proven, and not between a step and its verdict`() {
        var bench = Bench()
        (bench.load, bench.loadMax) = (60, .kilowatts(120))
        bench.run(for: 2)
        #expect(bench.others == (-120, 120), "unproven: the worse of what it says and of what may be")
        bench.run(to: 50, for: 3)
        #expect(bench.shows(60, 60))
        bench.meter = { -10 + ($0 + 10) / 100 }
        bench.run(to: 58, for: 3)
        #expect(
            abs(bench.others.0 - 60) < 0.2 && abs(bench.others.1 - 68) < 0.2,
            "8 kW are no step: whether the load or the meter has moved, nobody knows")
        bench.meter = { _ in -10 }
        // Its last digit changes before the step: what changes in the same moment may be the step itself.
        bench.run(for: 1)
        bench.run(to: 100, for: 0.5)
        #expect(abs(bench.others.0 - 60) < 10.1, "what it said before the step")
        bench.run(for: 2.5)
        #expect(bench.check.verdict == .frozen && bench.others == (-120, 120))
        bench.meter = { $0 }
        // Its way back looks like a load's step, which has to be over.
        bench.run(for: 4)
        bench.run(to: 20, for: 3)
        #expect(bench.check.verdict == .proven && bench.shows(60, 60), "a step that it shows heals it")
    }

    @Test func `what it shows beyond all that anything else can draw or give widens nothing`() {
        var bench = Bench()
        (bench.load, bench.loadMax) = (10, .kilowatts(20))
        bench.run(for: 2)
        bench.run(to: 50, for: 5)
        #expect(bench.check.verdict == .proven && bench.shows(10, 10))
        bench.meter = { -$0 }
        bench.run(for: 5)
        #expect(bench.shows(-20, 90), "turned while power rests: 90 kW of load are 70 too many")
        bench.meter = { $0 }
        bench.load = 60
        bench.run(for: 5)
        #expect(bench.shows(-20, 60), "more load than was said narrows as any other")
    }

    @Test func `where nothing else is said to draw, a meter that turned widens no limit for a moment`() {
        var bench = Bench()
        bench.loadMax = .zero
        bench.run(for: 2)
        bench.run(to: -50, for: 5)
        #expect(bench.check.verdict == .proven && bench.shows(0, 0))
        bench.meter = { -$0 }
        for _ in 0..<100 {
            bench.run(for: 0.02)
            #expect(bench.others.1 >= 0 && bench.others.0 <= 0, "it shows 100 kW that nobody gives")
        }
    }

    @Test func `one that turns while power rests widens nothing by less than a step for good`() {
        var bench = Bench()
        bench.run(for: 2)
        bench.run(to: -50, for: 5)
        bench.meter = { -$0 }
        bench.run(for: 0.4)
        // A quarter of a step is 2.5 kW.
        bench.run(to: -55, for: 5)
        #expect(bench.check.verdict == .reversed, "nobody has said what else draws")
        bench.meter = { $0 }
        bench.run(for: 3)
        bench.run(to: -20, for: 5)
        #expect(bench.check.verdict == .proven, "the next step shows it right")
    }

    @Test func `beside a load that may have done it, the same is doubted first`() {
        var bench = Bench()
        bench.loadMax = .kilowatts(200)
        bench.run(for: 2)
        bench.run(to: -50, for: 5)
        bench.meter = { -$0 }
        bench.run(for: 0.4)
        bench.run(to: -55, for: 5)
        #expect(bench.check.verdict == .unproven)
        bench.run(to: -50, for: 5)
        #expect(bench.check.verdict == .reversed)
    }

    @Test func `a load that makes the opposite of what was shown is a load, as our next change tells`() {
        var bench = Bench()
        bench.run(for: 2)
        bench.run(to: 50, for: 5)
        bench.load = 100
        bench.run(for: 5)
        #expect(bench.check.verdict == .proven && bench.shows(100, 100))
        bench.run(to: 55, for: 5)
        #expect(bench.check.verdict == .proven)
    }

    @Test func `one that turns while power rests is named by the very step that it allows`() {
        var bench = Bench()
        bench.run(for: 2)
        bench.run(to: -50, for: 5)
        #expect(bench.check.verdict == .proven)
        bench.meter = { -$0 }
        bench.run(to: -60, rate: 200, for: 0.05)
        // Units that take all that a limit of 50 kW leaves them beside what the meter shows.
        for _ in 0..<500 { bench.run(to: Swift.max(-160, bench.others.1 - 50), rate: 200, for: 0.02) }
        #expect(bench.check.verdict == .reversed, "nobody has said what else draws, so it is seen by a step")
    }

    @Test func `a load that steps against the units is not taken for a meter that is reversed`() {
        var bench = Bench()
        bench.loadMax = .kilowatts(100)
        bench.run(for: 2)
        bench.run(to: 50, for: 3)
        bench.load = 60
        bench.run(to: 80, for: 3)
        #expect(bench.check.verdict == .proven, "30 up and 60 down: a load of 100 may do that")
        bench.run(to: 20, for: 3)
        #expect(bench.check.verdict == .proven)
    }

    @Test func `one that moves as it likes is astray after three steps`() {
        var bench = Bench()
        var noise = 0.0
        bench.meter = { _ in noise }
        for (index, target) in [50.0, 0, 50, 0].enumerated() {
            noise = Double(index % 2) * 0.3 + Double(index) * 0.01
            bench.run(to: target, for: 1)
            noise += 0.1
            bench.run(for: 2)
        }
        #expect(bench.check.verdict == .astray)
    }

    @Test func `what a meter shows late, as units leave, is no load of anybody's`() {
        var bench = Bench()
        bench.loadMax = .zero
        bench.run(for: 2)
        bench.run(to: -110, for: 5)
        #expect(bench.check.verdict == .proven)
        // Stopped units count no more; the meter shows for a moment what they took.
        (bench.own, bench.meter) = (0, { _ in -110 })
        bench.check.regroup(own: .zero)
        bench.run(for: 0.2)
        bench.meter = { $0 }
        bench.run(for: 6)
        bench.run(to: 1.5, for: 1)
        #expect(bench.shows(0, 0), "\(bench.others)")
    }

    @Test func `a load that moves while the units creep is followed`() {
        var bench = Bench()
        bench.run(for: 2)
        bench.run(to: 50, for: 5)
        bench.load = 30
        bench.run(to: 50.4, rate: 0.3, for: 6)
        bench.run(to: 51.5, for: 1)
        #expect(bench.shows(30, 30), "\(bench.others)")
    }

    /// A step that a reversed meter shows, and a load that comes behind it: whom to believe a step tells.
    static func atOdds() -> Bench {
        var bench = Bench()
        bench.loadMax = .kilowatts(200)
        bench.run(for: 2)
        bench.run(to: 50, for: 5)
        bench.meter = { 100 - $0 }
        bench.run(to: 80, for: 2)
        bench.meter = { $0 }
        bench.load = 60
        return bench
    }

    @Test func `one that shows for long what it is not trusted with gets one step to prove it`() throws {
        var bench = Self.atOdds()
        bench.run(for: 3)
        #expect(bench.check.verdict == .proven && bench.check.stepToProve == nil)
        #expect(bench.others.0 < 1, "what is not trusted widens nothing")
        bench.run(for: 3)
        let step = try #require(bench.check.stepToProve)
        #expect(abs(step.others.kilowatts - 60) < 0.1)
        #expect(abs(step.lowest.kilowatts - 67) < 0.1 && abs(step.highest.kilowatts - 93) < 0.1)
        bench.run(to: 93, for: 3)
        #expect(bench.check.verdict == .proven && bench.check.stepToProve == nil)
        #expect(bench.shows(60, 60), "\(bench.others)")
    }

    @Test func `a step that it does not show closes that again`() {
        var bench = Self.atOdds()
        bench.run(for: 6)
        #expect(bench.check.stepToProve != nil)
        bench.meter = { 40 - $0 }
        bench.run(to: 93, for: 1.4)
        #expect(bench.check.stepToProve == nil && bench.check.verdict == .reversed)
    }

    /// No step is needed: 200 kW of units rest beside 60 kW of load, 100 at the most.
    @Test func `one whose digits stand still widens less and less, and has it all back when one moves`() {
        var bench = Bench()
        (bench.load, bench.loadMax) = (60, .kilowatts(100))
        bench.run(for: 2)
        bench.run(to: 50, for: 5)
        #expect(bench.shows(60, 60))
        bench.meter = { _ in -10 }
        bench.run(for: 2.5)
        #expect(bench.shows(60, 60), "two seconds and a half are no sign of anything")
        bench.run(for: 3.1)
        #expect(bench.others.0 < 30 && bench.others.1 > 90, "\(bench.others)")
        bench.run(for: 6)
        #expect(bench.others == (-100, 100) && bench.check.verdict == .proven, "nothing that it says widens")
        bench.meter = { $0 }
        bench.run(for: 0.5)
        #expect(bench.shows(60, 60))
    }

    /// A register of whole kilowatts, at the limit: the units go with what it leaves them.
    @Test func `a coarse display that lives costs a few per cent at the most`() {
        var bench = Bench()
        (bench.load, bench.loadMax) = (60.3, .kilowatts(100))
        bench.meter = { ($0).rounded() }
        bench.run(for: 2)
        bench.run(to: 170, for: 5)
        var least = 1_000.0
        for _ in 0..<1_500 {
            bench.run(to: 110 + bench.others.0, rate: 200, for: 0.02)
            least = Swift.min(least, bench.own)
        }
        #expect(bench.check.verdict == .proven && least > 164, "\(least) of 170")
    }
}
