import Interlocks
import Quantities
import Testing

/// The rise of the hottest cell and the signs of thermal runaway.
@Suite struct ThermalWatchTests {
    static let start = MonotonicTime(nanoseconds: 7_000_000_000)
    static let heat = ThermalWatch.Heat(suspect: Celsius(60))

    /// A reading every `period`; temperatures are rounded to `resolution`, as a BMS does.
    static func watch(
        resolution: Double = 0.1, period: Duration = .milliseconds(100), for duration: Duration,
        voltage: (Double) -> Double? = { _ in 3.3 }, _ temperature: (Double) -> Double
    ) -> ThermalWatch {
        var watch = ThermalWatch(resolution: Celsius(resolution), heat: heat)
        var passed = Duration.zero
        while passed <= duration {
            let warmth = (temperature(passed.seconds) / resolution).rounded() * resolution
            watch.add(Celsius(warmth), voltage(passed.seconds).map { Volts($0) }, at: start + passed)
            passed += period
        }
        return watch
    }

    // swift-format-ignore
    static let rises: [(resolution: Double, period: Int, rise: Double, why: Comment)] = [
        (0.1,   100, 0.00, "steady"),
        (0.1,   100, 0.15, "warming"),
        (0.1,   100, -0.2, "cooling"),
        (0.1, 1_000, 1.20, "one sample a second"),
        (0.1, 4_000, 0.15, "five samples take longer than ten seconds"),
        (1.0,   100, 0.15, "a coarse sensor"),
    ]

    @Test(arguments: rises)
    func `the slope is the rise of the temperature`(
        row: (resolution: Double, period: Int, rise: Double, why: Comment)
    ) {
        let watch = Self.watch(
            resolution: row.resolution, period: .milliseconds(row.period), for: .seconds(40)
        ) { 30 + row.rise * $0 }
        let bound = row.resolution >= 1 ? 0.05 : 0.02
        #expect(watch.slow.map { abs($0 - row.rise) < bound } == true, row.why)
        #expect(watch.fast.map { abs($0 - row.rise) < 2 * bound } == true, row.why)
    }

    @Test func `nothing is said before ten seconds and five samples`() {
        #expect(Self.watch(for: .milliseconds(9_500)) { 30 + 5 * $0 }.fast == nil)
        #expect(Self.watch(for: .milliseconds(10_500)) { 30 + 5 * $0 }.fast != nil)
        #expect(Self.watch(period: .seconds(4), for: .seconds(12)) { 30 + $0 }.fast == nil, "four samples")
        #expect(Self.watch(period: .seconds(4), for: .seconds(16)) { 30 + $0 }.fast != nil, "five")
    }

    @Test func `a coarse sensor needs a longer window for the small limit`() {
        let early = Self.watch(resolution: 1, for: .seconds(18)) { 30 + 0.15 * $0 }
        #expect(early.slow == nil && early.fast != nil, "1 K over 18 s is more than half of 0.1 K/s")
        let later = Self.watch(resolution: 1, for: .seconds(22)) { 30 + 0.15 * $0 }
        #expect(later.slow != nil)
    }

    @Test func `one step of a coarse sensor at the end does not warn`() {
        let watch = Self.watch(resolution: 1, for: .seconds(60)) { $0 < 59 ? 30 : 31 }
        #expect(watch.slow.map { $0 < 0.1 } == true)
    }

    @Test func `a gap begins anew, and a sample that is not newer changes nothing`() {
        var watch = Self.watch(for: .seconds(20)) { _ in 30 }
        #expect(watch.fast == 0)
        watch.add(Celsius(90), nil, at: Self.start + .seconds(20))
        #expect(watch.fast == 0)
        watch.add(Celsius(90), nil, at: Self.start + .seconds(50))
        #expect(watch.slow == nil && watch.fast == nil)
        watch.add(Celsius(90), nil, at: Self.start)
        #expect(watch.fast == nil, "a clock that goes back does not trap")
    }

    // swift-format-ignore
    static let runaways: [(hottest: Double, weakest: Double?, rise: Double, runs: Bool, why: Comment)] = [
        (59.9, 3.30, 2.0, false, "fast, but neither hot nor falling"),
        (60.1, 3.30, 2.0, true,  "hot and fast"),
        (60.1, 3.30, 0.9, false, "hot and not fast"),
        (30.0, 2.48, 2.0, false, "a fall of a little less than a quarter"),
        (30.0, 2.47, 2.0, true,  "a fall of more than a quarter, and fast"),
        (30.0, 2.47, 0.9, false, "a fall alone"),
        (30.0, nil,  2.0, true,  "an unknown voltage counts as fallen"),
        (65.0, 3.30, 0.0, true,  "so hot that it needs no other sign"),
        (64.9, 3.30, 0.0, false, "just below"),
    ]

    @Test(arguments: runaways)
    func `a runaway needs a fast rise together with heat or a falling cell`(
        row: (hottest: Double, weakest: Double?, rise: Double, runs: Bool, why: Comment)
    ) {
        var watch = Self.watch(for: .seconds(12), voltage: { _ in 3.3 }) { 20 + row.rise * $0 }
        let runs = watch.isRunaway(Celsius(row.hottest), row.weakest.map { Volts($0) })
        #expect(runs == row.runs, row.why)
    }

    @Test func `without a slope no cell is judged, but one that is too hot`() {
        var watch = ThermalWatch(resolution: Celsius(1), heat: Self.heat)
        #expect(watch.isRunaway(Celsius(61), Volts(3.3)) == nil)
        #expect(watch.isRunaway(Celsius(30), Volts(3.3)) == nil, "nobody knows whether it warms or falls")
        #expect(watch.isRunaway(Celsius(66), Volts(3.3)) == true)
    }

    @Test func `a voltage that nobody knew before counts as fallen`() {
        var watch = Self.watch(for: .seconds(12), voltage: { _ in nil }) { 20 + 2 * $0 }
        #expect(watch.isRunaway(Celsius(44), Volts(3.3)) == true)
        var slow = Self.watch(for: .seconds(12), voltage: { _ in nil }) { 20 + 0.5 * $0 }
        #expect(slow.isRunaway(Celsius(26), Volts(3.3)) == false, "it does not warm fast")
    }

    // swift-format-ignore
    static let chemistries: [(trips: [Double], suspect: Double, why: Comment)] = [
        ([55, 60], 60, "the highest that the table allows"),
        ([60, 55], 60, "in any order"),
        ([50],     50, "a site or a chemistry that allows less"),
        ([],       60, "no row says"),
    ]

    @Test(arguments: chemistries)
    func `what is hot stands in the table`(row: (trips: [Double], suspect: Double, why: Comment)) {
        var table = InterlockTable()
        for (index, trip) in row.trips.enumerated() {
            table.add(
                InterlockRow(
                    index == 0 ? .cellOvertemperatureCharge : .cellOvertemperatureDischarge,
                    .cellTemperatureMax, .high, .both, trip: trip, for: .zero))
        }
        // None of these is a highest temperature.
        table.add(InterlockRow(.cellOvervoltage, .cellVoltageMax, .high, .both, trip: 90, for: .zero))
        table.add(InterlockRow(.cellSpread, .cellTemperatureMax, .low, .both, trip: 90, for: .zero))
        table.add(InterlockRow(.smoke, .cellTemperatureMax, .high, .both, trip: nil, for: .zero))
        table.add(
            InterlockRow(.gas, .cellTemperatureMax, .high, .both, trip: 90, for: .zero, action: .stop))
        #expect(table.heat.suspect == Celsius(row.suspect), row.why)
        #expect(table.heat.alone == Celsius(row.suspect + 5), row.why)
    }
}
