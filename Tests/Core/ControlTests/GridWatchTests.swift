import FrequencyResponse
import Plant
import PowerDispatch
import Quantities
import Testing

@testable import Control

/// The site's eye on the grid alone: which readings count, and what is told of the grid's state.
@Suite struct GridWatchTests {
    /// A watch on a meter, two inverters and four PMUs; all is good until a test says otherwise.
    struct Bench {
        var watch: GridWatch
        var grid = GridImage()
        var images = [UnitImage](repeating: UnitImage(), count: 2)
        var decision = Decision()
        var now = MonotonicTime(nanoseconds: 100_000_000_000)
        var frequency: Double? = 50
        /// Hz/s
        var slope = 0.0
        var voltage = 400.0
        /// Its last digit moves in each look, but where everything stands still.
        var isAlive = true
        private var looked = 0
        var breaker: Bool? = true
        var permit: Bool? = true
        var used = Fraction(0.4)
        var ramp = 0.2

        /// - Parameter inverters: how many inverters see the grid too.
        init(_ settings: GridSettings, inverters: Int = 0) {
            let budgets = [Duration](repeating: .milliseconds(300), count: inverters)
            watch = GridWatch(settings, inverterBudgets: budgets.span)
        }

        /// One look, 20 ms after the last.
        ///
        /// - Returns: what it tells.
        mutating func look() -> [Event] {
            now = now + .milliseconds(20)
            frequency = frequency.map { $0 + slope * 0.02 }
            if let frequency { grid.frequency = .good(Hertz(frequency), at: now) }
            looked += isAlive ? 1 : 0
            grid.voltage = .good(Volts(voltage + Double(looked % 2) * 1e-6), at: now)
            if let breaker { grid.breaker = .good(breaker, at: now) }
            if let permit { grid.servicePermit = .good(permit, at: now) }
            return again()
        }

        /// The same with the images as they stand.
        mutating func again() -> [Event] {
            decision.events.removeAll()
            let images = images
            watch.look(
                grid, images.span,
                GridWatch.Look(
                    meterBudget: .milliseconds(300), now: now, elapsed: .milliseconds(20), used: used,
                    ramp: ramp), &decision)
            var events: [Event] = []
            decision.events.forEach { events.append($0) }
            return events
        }

        mutating func looks(for time: Duration) -> [Event] {
            var events: [Event] = []
            for _ in 0..<(time.nanoseconds / 20_000_000) { events += look() }
            return events
        }
    }

    static func settings(_ sources: FrequencySource.Kind...) -> GridSettings {
        var settings = GridSettings(nominalFrequency: Hertz(50))
        for source in sources { settings.add(FrequencySource(source, budget: .milliseconds(100))) }
        return settings
    }

    // swift-format-ignore
    static let sources: [(kind: FrequencySource.Kind, at: Int, hertz: Double, seen: Double?, why: Comment)] = [
        (.meter,              0, 49.9, 49.9, "fresh"),
        (.meter,            100, 49.9, 49.9, "at its budget"),
        (.meter,            101, 49.9, nil,  "one step past its budget"),
        (.meter,             -1, 49.9, nil,  "from the future"),
        (.meter,              0, 9.9,  nil,  "no grid has that"),
        (.meter,              0, 99.9, nil,  "nor that"),
        (.inverter(unit: 0),  0, 49.9, 49.8, "the first unit's"),
        (.inverter(unit: 1),  0, 49.9, 49.7, "the last unit's"),
        (.inverter(unit: -1), 0, 49.9, nil,  "the site has no such unit"),
        (.inverter(unit: 2),  0, 49.9, nil,  "nor this one"),
        (.phasor(0),          0, 49.9, 49.6, "the first PMU's"),
        (.phasor(3),          0, 49.9, 49.5, "the last PMU's"),
        (.phasor(-1),         0, 49.9, nil,  "no site has such a PMU"),
        (.phasor(4),          0, 49.9, nil,  "nor this one"),
        (.simulated,        999, 9.9,  50,   "nobody measures"),
    ]

    @Test(arguments: sources)
    func `a source counts while its reading is fresh, possible, and of a device that the site has`(
        row: (kind: FrequencySource.Kind, at: Int, hertz: Double, seen: Double?, why: Comment)
    ) {
        var bench = Bench(Self.settings(row.kind))
        let time = bench.now - .milliseconds(row.at)
        bench.grid.frequency = .good(Hertz(row.hertz), at: time)
        bench.images[0].inverter.frequency = .good(Hertz(49.8), at: time)
        bench.images[1].inverter.frequency = .good(Hertz(49.7), at: time)
        bench.grid.phasors[0].frequency = .good(Hertz(49.6), at: time)
        bench.grid.phasors[3].frequency = .good(Hertz(49.5), at: time)
        _ = bench.again()
        #expect(bench.decision.frequency == row.seen.map { Hertz($0) }, row.why)
        #expect(bench.decision.grid.measured == bench.decision.frequency, row.why)
        #expect(bench.decision.grid.source == (row.seen == nil ? nil : row.kind), row.why)
    }

    @Test func `a hand-over is told once with what the new source measures, and a first source not at all`() {
        var bench = Bench(Self.settings(.phasor(1), .meter))
        bench.grid.phasors[1].frequency = .good(Hertz(50.01), at: bench.now + .milliseconds(20))
        #expect(bench.look().isEmpty)
        #expect(bench.decision.grid.source == .phasor(1))
        let events = bench.looks(for: .seconds(1))
        #expect(events.map(\.kind) == [.frequencyHandedOver(to: .meter)] && events.first?.value == 50)
    }

    @Test func `sources that disagree are told once, and once when they agree again`() {
        var bench = Bench(Self.settings(.inverter(unit: 0), .meter))
        func cycle(_ other: Double) -> [Event.Kind] {
            bench.images[0].inverter.frequency = .good(Hertz(other), at: bench.now + .milliseconds(20))
            return bench.look().map(\.kind)
        }
        #expect(cycle(50) == [])
        #expect(cycle(48) == [.frequencyDisputed])
        #expect(bench.decision.grid.isDisputed && bench.decision.frequency == nil)
        #expect(cycle(48) == [])
        var events: [Event.Kind] = []
        for _ in 0..<50 { events += cycle(50) }
        #expect(events == [.frequencySettled])
        #expect(!bench.decision.grid.isDisputed && bench.decision.frequency == Hertz(50))
    }

    @Test(arguments: [true, false])
    func `no source for five seconds is told once, also where there never was one`(hasSeen: Bool) {
        var bench = Bench(Self.settings(.meter))
        if hasSeen { #expect(bench.look().isEmpty) }
        bench.frequency = nil
        // From the first look on, or from the last one at which the reading was in its budget of 100 ms.
        let first = bench.looks(for: hasSeen ? .milliseconds(5_080) : .milliseconds(5_000))
        #expect(first.isEmpty && !bench.decision.grid.isFrequencyMissing)
        #expect(bench.look().map(\.kind) == [.frequencyMissing])
        #expect(bench.looks(for: .seconds(6)).isEmpty && bench.decision.grid.isFrequencyMissing)
        bench.frequency = 50
        _ = bench.look()
        #expect(!bench.decision.grid.isFrequencyMissing)
        bench.frequency = nil
        #expect(bench.looks(for: .seconds(6)).map(\.kind) == [.frequencyMissing], "and again")
    }

    @Test func `ROCOF begins anew with another source`() throws {
        var bench = Bench(Self.settings(.phasor(0), .meter))
        bench.slope = 0.5
        for _ in 0..<100 {
            let next = (bench.frequency ?? 0) + 0.01
            bench.grid.phasors[0].frequency = .good(Hertz(next), at: bench.now + .milliseconds(20))
            _ = bench.look()
        }
        let rate = try #require(bench.decision.grid.rateOfChange)
        #expect(abs(rate.value - 0.5) < 1e-6)
        bench.grid.phasors[0].frequency = .neverSeen
        _ = bench.look()
        #expect(bench.decision.grid.source == .meter && bench.decision.grid.rateOfChange == nil)
    }

    static let enter = EnterServiceCriteria(
        millihertzLow: 49_500, millihertzHigh: 50_500, voltageLow: .percent(90), voltageHigh: .percent(110),
        delay: .seconds(1), ramp: .seconds(1))

    static func supervised(delay: Duration = .seconds(1), ramp: Duration = .seconds(1)) -> GridSettings {
        var settings = settings(.meter)
        settings.nominalVoltage = Volts(400)
        var supervision = GridSupervisor.Settings(
            enter: EnterServiceCriteria(
                millihertzLow: 49_500, millihertzHigh: 50_500, voltageLow: .percent(90),
                voltageHigh: .percent(110), delay: delay, ramp: ramp))
        supervision.add(ProtectionElement(.underFrequency(millihertz: 49_500), after: .zero))
        supervision.add(ProtectionElement(.overFrequency(millihertz: 50_500), after: .zero))
        supervision.add(ProtectionElement(.undervoltage(.percent(90)), after: .zero))
        supervision.add(ProtectionElement(.overvoltage(.percent(110)), after: .zero))
        supervision.rateOfChangeMax = HertzPerSecond(0.8)
        supervision.isVoltageSupervised = true
        supervision.needsBreaker = true
        supervision.needsPermit = true
        settings.supervision = supervision
        return settings
    }

    typealias Spoil = @Sendable (inout Bench) -> Void

    // swift-format-ignore
    static let causes: [(cause: GridCause, spoil: Spoil, value: Double?, why: Comment)] = [
        (.underFrequency, { $0.frequency = 49.4 }, 49.4, "the frequency that was measured"),
        (.overFrequency,  { $0.frequency = 50.6 }, 50.6, "the same above"),
        (.undervoltage,   { $0.voltage = 320 },     0.8, "the voltage as a share"),
        (.overvoltage,    { $0.voltage = 480 },     1.2, "the same above"),
        (.breaker,        { $0.breaker = false },   nil, "a breaker has no value"),
        (.permit,         { $0.permit = false },    nil, "a permit has none"),
    ]

    @Test(arguments: causes)
    func `the grid's state is told with its cause and value, out of service and while waiting`(
        row: (cause: GridCause, spoil: Spoil, value: Double?, why: Comment)
    ) {
        for (time, kind) in [
            (Duration.milliseconds(500), Event.Kind.gridNotReady(row.cause)),
            (.seconds(3), .gridLost(row.cause)),
            (.milliseconds(1_500), .gridLost(row.cause)),
        ] {
            var bench = Bench(Self.supervised())
            let entered = bench.looks(for: time).map(\.kind)
            #expect(entered == (time < .seconds(1) ? [.gridGood] : [.gridGood, .gridEntered]))
            row.spoil(&bench)
            let events = bench.look()
            #expect(events.map(\.kind) == [kind], row.why)
            #expect(events.first?.value?.rounded(to: 6) == row.value, row.why)
            #expect(bench.decision.grid.outage == row.cause && bench.decision.grid.share == .zero)
            #expect(bench.decision.grid.state == .out(row.cause))
            #expect(bench.look().isEmpty, "told once")
        }
    }

    @Test func `a frequency that changes too fast is told with its rate`() throws {
        var bench = Bench(Self.supervised())
        _ = bench.looks(for: .seconds(3))
        (bench.frequency, bench.slope) = (49.6, 1)
        let events = bench.looks(for: .milliseconds(800))
        #expect(events.map(\.kind) == [.gridLost(.rateOfChange)])
        let rate = try #require(events.first?.value)
        #expect(rate > 0.8)
    }

    // swift-format-ignore
    static let entries: [(delay: Duration, ramp: Duration, kinds: [Event.Kind], why: Comment)] = [
        (.seconds(1), .seconds(1), [.gridGood, .gridEntered], "waits, then over the ramp"),
        (.seconds(1), .zero,       [.gridGood, .gridEntered], "waits, then at once"),
        (.zero,       .seconds(1), [.gridGood, .gridEntered], "no wait but for a digit that moves, over the ramp"),
        (.zero,       .zero,       [.gridGood, .gridEntered], "and at once"),
    ]

    @Test(arguments: entries) func `service is entered once, by every way`(
        row: (delay: Duration, ramp: Duration, kinds: [Event.Kind], why: Comment)
    ) {
        var bench = Bench(Self.supervised(delay: row.delay, ramp: row.ramp))
        #expect(bench.looks(for: .seconds(4)).map(\.kind) == row.kinds, row.why)
        #expect(bench.decision.grid.state == .inService && bench.decision.grid.outage == nil)
        #expect(bench.decision.grid.share == Fraction(1))
    }

    @Test func `breaker and permit are the site's own inputs, or those of the PMU that is named`() {
        for (breaker, permit) in [(nil, nil), (1, nil), (nil, 2), (1, 2)] as [(Int?, Int?)] {
            for bits in 0..<16 {
                var settings = Self.supervised(delay: .zero, ramp: .zero)
                (settings.breakerPhasor, settings.permitPhasor) = (breaker, permit)
                var bench = Bench(settings)
                let next = bench.now + .milliseconds(20)
                bench.breaker = bits & 1 != 0
                bench.permit = bits & 2 != 0
                bench.grid.phasors[1].breaker = .good(bits & 4 != 0, at: next)
                bench.grid.phasors[2].permit = .good(bits & 8 != 0, at: next)
                // In the second one the meter is seen to move.
                for _ in 0..<2 { _ = bench.look() }
                let isClosed = bits & (breaker == nil ? 1 : 4) != 0
                let isPermitted = bits & (permit == nil ? 2 : 8) != 0
                #expect((bench.decision.grid.state == .inService) == (isClosed && isPermitted), "\(bits)")
            }
        }
    }

    @Test func `an old breaker or permit is none`() {
        for spoil: Spoil in [{ $0.breaker = nil }, { $0.permit = nil }] {
            var bench = Bench(Self.supervised(delay: .zero, ramp: .zero))
            for _ in 0..<2 { _ = bench.look() }
            spoil(&bench)
            #expect(bench.looks(for: .seconds(1)).isEmpty, "in its budget")
            #expect(bench.look().count == 1 && bench.decision.grid.outage != nil)
        }
    }

    @Test func `a voltage counts by the meter's budget, and without a nominal one nobody looks`() {
        var settings = Self.supervised(delay: .zero, ramp: .zero)
        settings.meterResolution = Hertz(0.01)
        for (nominal, age, isGood) in [
            (400, 300, true), (400, 301, false), (nil, 0, false),
        ] as [(Double?, Int, Bool)] {
            settings.nominalVoltage = nominal.map { Volts($0) }
            var bench = Bench(settings)
            bench.now = bench.now + .milliseconds(20)
            bench.grid.frequency = .good(Hertz(50), at: bench.now)
            bench.grid.breaker = .good(true, at: bench.now)
            bench.grid.servicePermit = .good(true, at: bench.now)
            bench.grid.voltage = .good(Volts(400), at: bench.now - .milliseconds(age))
            _ = bench.again()
            #expect((bench.decision.grid.state == .inService) == isGood, "\(age)")
        }
    }

    // swift-format-ignore
    static let windows: [(outage: GridCause?, share: Double, left: Double, cause: Cause, why: Comment)] = [
        (nil,      1,   100, .rating,         "in service"),
        (nil,      0.4,  40, .grid(.ramp),    "on the ramp"),
        (nil,      0,     0, .grid(.ramp),    "the ramp begins"),
        (.breaker, 0,     0, .grid(.breaker), "out of service"),
        (.breaker, 1,     0, .grid(.breaker), "an outage counts, whatever the share says"),
    ]

    @Test(arguments: windows) func `the grid's state narrows a unit's window in both directions`(
        row: (outage: GridCause?, share: Double, left: Double, cause: Cause, why: Comment)
    ) {
        var grid = GridDecision()
        (grid.outage, grid.share) = (row.outage, Fraction(row.share))
        var window = PermitWindow.rating(Watts(100))
        window.limit(by: grid, rating: Watts(100))
        #expect(window.charge == Watts(-row.left) && window.discharge == Watts(row.left), row.why)
        #expect(window.chargeCause == row.cause && window.dischargeCause == row.cause, row.why)
    }
}

extension Double {
    func rounded(to digits: Int) -> Double {
        let scale = (0..<digits).reduce(1.0) { one, _ in one * 10 }
        return (self * scale).rounded() / scale
    }
}
