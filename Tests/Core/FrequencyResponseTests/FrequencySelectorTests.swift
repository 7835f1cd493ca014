import FrequencyResponse
import Quantities
import Testing

/// Two or three meters of one grid on virtual time, 20 ms apart.
private struct Bench {
    static let period = Duration.milliseconds(20)
    var selector: FrequencySelector
    var now = MonotonicTime(nanoseconds: 1_000_000_000)
    var selection = FrequencySelector.Selection()
    /// Largest change of the used frequency between two looks.
    var largestStep = Hertz.zero

    init(count: Int) {
        selector = FrequencySelector(settings: FrequencySelector.Settings(), count: count)
    }

    mutating func look(_ values: [Double?], age: Duration = .zero, ages: [Duration]? = nil) {
        var samples: InlineArray<8, FrequencySelector.Sample?> = InlineArray(repeating: nil)
        for (index, value) in values.enumerated() {
            samples[index] = value.map { FrequencySelector.Sample(Hertz($0), age: ages?[index] ?? age) }
        }
        now = now + Self.period
        let before = selection.used
        selection = selector.select(samples, at: now, after: Self.period)
        if let before, let used = selection.used {
            let step = (used - before).magnitude
            if step > largestStep { largestStep = step }
        }
    }

    mutating func look(_ values: [Double?], for time: Duration) {
        for _ in 0..<(time.nanoseconds / Self.period.nanoseconds) { look(values) }
    }
}

@Suite struct FrequencySelectorTests {
    @Test func `the best source that is there is used`() {
        // swift-format-ignore
        let rows: [(values: [Double?], rank: Int?, why: Comment)] = [
            ([50.01, 50.02, 50.03], 0,   "all are there"),
            ([nil,   50.02, 50.03], 1,   "the best one is not"),
            ([nil,   nil,   50.03], 2,   "only the last one"),
            ([nil,   nil,   nil],   nil, "none"),
        ]
        for row in rows {
            var bench = Bench(count: 3)
            bench.look(row.values)
            #expect(bench.selection.rank == row.rank, row.why)
            #expect(bench.selection.used == row.rank.flatMap { row.values[$0] }.map { Hertz($0) }, row.why)
            #expect(!bench.selection.isDisputed, row.why)
        }
    }

    @Test func `a hand-over changes what is used by no more than its rate`() {
        var bench = Bench(count: 2)
        bench.look([50.1, 49.95], for: .seconds(1))
        #expect(bench.selection.rank == 0)
        bench.look([nil, 49.95])
        #expect(bench.selection.rank == 1)
        #expect(bench.selection.measured == Hertz(49.95))
        #expect(bench.selection.used == Hertz(50.1), "it begins where the other one ended")
        bench.look([nil, 49.95], for: .seconds(4))
        #expect(bench.selection.used == Hertz(49.95))
        #expect(bench.largestStep <= Hertz(0.05 * 0.02 + 1e-9))
    }

    @Test func `a large difference is gone after four seconds all the same`() {
        var bench = Bench(count: 2)
        bench.look([50.0, nil])
        bench.look([nil, 48.0])
        #expect(bench.selection.used == Hertz(50))
        bench.look([nil, 48.0], for: .milliseconds(4_100))
        #expect(bench.selection.used == Hertz(48))
        #expect(bench.largestStep <= Hertz(2.0 / 4 * 0.02 + 1e-9))
    }

    @Test func `after a gap there is nothing to be continued`() {
        var bench = Bench(count: 2)
        bench.look([50.2, nil])
        bench.look([nil, nil], for: .milliseconds(520))
        bench.look([nil, 49.9])
        #expect(bench.selection.used == Hertz(49.9))
    }

    @Test func `the same source after a blink is the truth`() {
        var bench = Bench(count: 1)
        bench.look([50.2])
        bench.look([nil])
        bench.look([49.9])
        #expect(bench.selection.used == Hertz(49.9))
    }

    @Test func `a better source takes over only once it has been good for a second`() {
        var bench = Bench(count: 2)
        bench.look([nil, 50.0])
        bench.look([50.01, 50.0], for: .milliseconds(1_000))
        #expect(bench.selection.rank == 1)
        bench.look([nil, 50.0])
        bench.look([50.01, 50.0], for: .milliseconds(1_000))
        #expect(bench.selection.rank == 1, "a blink lets the second begin anew")
        bench.look([50.01, 50.0])
        #expect(bench.selection.rank == 0)
        bench.look([50.01, nil])
        bench.look([nil, 50.0])
        #expect(bench.selection.rank == 1, "but a source that is gone is left at once")
    }

    // swift-format-ignore
    static let disputes: [(values: [Double?], trusted: Int?, why: Comment)] = [
        ([50.000, 50.200, nil],    0,   "two, at the limit"),
        ([50.000, 50.201, nil],    nil, "two, one step beyond: both are suspect"),
        ([50.000, 49.799, nil],    nil, "the same below"),
        ([50.000, 50.201, 50.202], 1,   "three: the majority is right"),
        ([50.000, 50.000, 51.000], 0,   "three: the last one is wrong"),
        ([50.000, 51.000, 52.000], nil, "three opinions"),
        ([50.000, nil,    51.000], nil, "two of three"),
        ([50.000, nil,    nil],    0,   "nobody to disagree with"),
    ]

    @Test(arguments: disputes)
    func `sources that disagree are suspect`(row: (values: [Double?], trusted: Int?, why: Comment)) {
        var bench = Bench(count: 3)
        bench.look(row.values)
        #expect(bench.selection.rank == row.trusted, row.why)
        #expect(bench.selection.isDisputed == (row.trusted == nil), row.why)
    }

    @Test func `suspects count again once they have agreed for 300 ms`() {
        var bench = Bench(count: 2)
        bench.look([50.0, 50.5])
        bench.look([50.0, 50.0], for: .milliseconds(280))
        #expect(bench.selection.rank == nil)
        bench.look([50.0, 50.0])
        #expect(bench.selection.rank == 0)
        #expect(!bench.selection.isDisputed)
    }

    @Test func `samples of different age may differ by what a grid can do in between`() {
        // swift-format-ignore
        let rows: [(age: Int, difference: Double, isTrusted: Bool)] = [
            (100, 0.499, true), (100, 0.501, false), (0, 0.199, true), (0, 0.201, false),
        ]
        for row in rows {
            var bench = Bench(count: 2)
            bench.look([50, 50 - row.difference], ages: [.zero, .milliseconds(row.age)])
            #expect((bench.selection.rank == 0) == row.isTrusted, "\(row)")
        }
    }

    @Test func `whatever sources come and go, what is used never jumps while one of them is there`() {
        var state: UInt64 = 99
        func random(_ bound: UInt64) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % bound
        }
        var bench = Bench(count: 3)
        var isThere = [true, true, true]
        let bias = [0.0, 0.03, -0.05]
        var last: Hertz?
        for step in 0..<50_000 {
            for index in 0..<3 where random(40) == 0 { isThere[index].toggle() }
            if step % 100 == 0 { isThere[Int(random(3))] = true }
            bench.look((0..<3).map { isThere[$0] ? 50 + bias[$0] : nil })
            if let last, let used = bench.selection.used {
                #expect((used - last).magnitude <= Hertz(0.08 / 4 * 0.02 + 0.05 * 0.02), "step \(step)")
            }
            last = bench.selection.used
        }
    }
}
