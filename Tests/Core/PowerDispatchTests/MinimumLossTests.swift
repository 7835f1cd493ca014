import Plant
import PowerDispatch
import Quantities
import Testing

/// Which units run so that the site loses least.
@Suite struct MinimumLossTests {
    static let way = SharingSettings(mode: .minimumLoss)

    /// 100 kW; losses in kW, %, %.
    static func unit(_ idle: Double, _ linear: Double, _ square: Double, limit: Double = 100) -> UnitShare {
        var window = PermitWindow.rating(.kilowatts(1_000))
        window.limitDischarge(to: .kilowatts(limit), .rating)
        window.limitCharge(to: .kilowatts(limit), .rating)
        return UnitShare(
            window: window,
            losses: UnitLosses(
                idle: .kilowatts(idle), linear: .percent(linear), square: .percent(square),
                at: .kilowatts(100)))
    }

    static func loss(_ powers: [Watts], _ units: [UnitShare]) -> Watts {
        zip(powers, units).reduce(.zero) { $0 + $1.1.losses.loss(at: $1.0) }
    }

    // swift-format-ignore
    static let examples: [(target: Double, units: [UnitShare], powers: [Double], why: Comment)] = [
        (40,  [unit(1, 1, 1), unit(1, 1, 1)],            [40, 0],     "one is enough: the other rests"),
        (190, [unit(1, 1, 1), unit(1, 1, 1)],            [95, 95],    "both are needed: equally, as squares ask"),
        (40,  [unit(1, 2, 1), unit(1, 1, 1)],            [0, 40],     "the better one"),
        (-40, [unit(1, 2, 1), unit(1, 1, 1)],            [0, -40],    "also for a charge"),
        (100, [unit(0, 1, 4), unit(0, 1, 4)],            [50, 50],    "without idle loss both are better"),
        (120, [unit(1, 1, 0), unit(1, 2, 0, limit: 30)], [100, 20],   "a small one helps out"),
        (80,  [unit(0.1, 1, 8), unit(0.1, 1, 8), unit(0.1, 1, 8)], [80 / 3.0, 80 / 3.0, 80 / 3.0],
         "steep squares: all of them"),
        (250, [unit(1, 1, 1), unit(1, 1, 1)],            [100, 100],  "more than all can"),
        (50,  [unit(1, 1, 1, limit: 0), unit(9, 9, 9)],  [0, 50],     "who cannot is not asked"),
        (50,  [unit(0, 0, 0), unit(0, 0, 0)],            [50, 0],     "no losses at all: any will do"),
    ]

    @Test(arguments: examples)
    func `the units that lose least run, and the others rest`(
        row: (target: Double, units: [UnitShare], powers: [Double], why: Comment)
    ) {
        let (_, powers) = PowerSharingTests.shared(.kilowatts(row.target), row.units, Self.way)
        for (power, expected) in zip(powers, row.powers) {
            #expect((power - .kilowatts(expected)).magnitude < Watts(5), row.why)
        }
    }

    /// The least loss in kW that whole kilowatts reach, by trying every split: over the units one by one, for
    /// every power that the first of them may have together.
    static func bestOnGrid(_ target: Int, _ units: [UnitShare]) -> Double {
        var best = [Double](repeating: .infinity, count: target + 1)
        best[0] = 0
        for unit in units {
            let limit = Int(unit.window.discharge.kilowatts.rounded(.down))
            let losses = (0...limit).map { unit.losses.loss(at: .kilowatts(Double($0))).kilowatts }
            var next = [Double](repeating: .infinity, count: target + 1)
            for sum in 0...target {
                var least = Double.infinity
                for power in 0...min(limit, sum) where best[sum - power] + losses[power] < least {
                    least = best[sum - power] + losses[power]
                }
                next[sum] = least
            }
            best = next
        }
        return best[target]
    }

    static func drawn(_ count: Int, _ random: inout SeededNumbers) -> [UnitShare] {
        (0..<count).map { _ in
            func number(_ most: Double) -> Double { Double.random(in: 0...most, using: &random) }
            return unit(
                number(2), number(3), number(4), limit: Double(Int.random(in: 5...100, using: &random)))
        }
    }

    // swift-format-ignore
    static let sizes: [(units: ClosedRange<Int>, cases: Int, worst: Double, mean: Double, why: Comment)] = [
        (1...6,   150, 1e-6, 1e-6,  "every set is tried"),
        (7...8,   20,  1e-6, 1e-6,  "the most of which every set is tried"),
        (9...20,  30,  0.05, 0.005, "a search; more units, smaller gaps"),
    ]

    @Test(arguments: sizes)
    func `is as good as the best of all splits in whole kilowatts`(
        row: (units: ClosedRange<Int>, cases: Int, worst: Double, mean: Double, why: Comment)
    ) {
        var random = SeededNumbers(seed: 77)
        var worst = -Double.infinity
        var sum = 0.0
        for _ in 0..<row.cases {
            let units = Self.drawn(Int.random(in: row.units, using: &random), &random)
            let total = units.reduce(0) { $0 + Int($1.window.discharge.kilowatts) }
            let target = Int.random(in: 1...total, using: &random)
            let (_, powers) = PowerSharingTests.shared(.kilowatts(Double(target)), units, Self.way)
            let gap = Self.loss(powers, units).kilowatts / Self.bestOnGrid(target, units) - 1
            worst = max(worst, gap)
            sum += max(0, gap)
        }
        let mean = sum / Double(row.cases)
        print("minimum loss of \(row.units) units against every split of 1 kW:", terminator: " ")
        print("worst gap \(worst * 100) %, mean \(mean * 100) % of the loss")
        #expect(worst <= row.worst && mean <= row.mean, row.why)
    }

    // swift-format-ignore
    /// More than eight units, of which not every set is tried.
    static let many: [(target: Double, units: [UnitShare], runs: [Int: Double], why: Comment)] = [
        (10, [unit(1, 2, 1, limit: 70), unit(0.2, 1.5, 1, limit: 70), unit(1, 1, 2, limit: 20),
              unit(0.2, 3, 2, limit: 30), unit(1, 0.5, 0.5, limit: 70), unit(0.2, 2, 4), unit(1, 1, 2, limit: 20),
              unit(0.5, 2, 1, limit: 30), unit(1, 1.5, 2), unit(2, 3, 4, limit: 20)],
         [1: 10], "one is exchanged for another: 0.36 kW are lost, the least of all 1023 sets"),
        (50, [UnitShare](repeating: unit(0.0009, 1, 0), count: 9) + [unit(0, 1, 0)],
         [9: 50], "the idle loss counts in the order in which they are tried, down to the last watt"),
        (40, [unit(2, 1, 0), unit(2, 2, 0.5, limit: 70), unit(0.5, 1.5, 0), unit(0.2, 0.5, 2, limit: 30),
              unit(2, 1, 2, limit: 20), unit(0.2, 3, 4, limit: 70), unit(0.5, 1.5, 0.5, limit: 70),
              unit(0.5, 3, 1, limit: 50), unit(1, 0.5, 0.5, limit: 30)],
         [2: 40], "the search is bounded: a fifth exchange would save 30 W of 1.1 kW, and is not made"),
    ]

    @Test(arguments: many)
    func `of many units a bounded search finds those that lose little`(
        row: (target: Double, units: [UnitShare], runs: [Int: Double], why: Comment)
    ) {
        let (_, powers) = PowerSharingTests.shared(.kilowatts(row.target), row.units, Self.way)
        for (index, power) in powers.enumerated() {
            #expect((power - .kilowatts(row.runs[index] ?? 0)).magnitude < Watts(1), row.why)
        }
    }

    @Test(arguments: PowerSharingTests.seeds)
    func `never loses more than sharing in proportion`(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        let units = Self.drawn(Int.random(in: 1...64, using: &random), &random)
        let total = units.reduce(Watts.zero) { $0 + $1.window.discharge }
        let target = total * Double.random(in: 0.001...1, using: &random)
        let least = PowerSharingTests.shared(target, units, Self.way).powers
        let equal = PowerSharingTests.shared(target, units, SharingSettings()).powers
        #expect(Self.loss(least, units) <= Self.loss(equal, units) * (1 + 1e-9), "seed \(seed)")
    }

    @Test(arguments: PowerSharingTests.seeds)
    func `the order of the units does not matter`(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        let units = Self.drawn(Int.random(in: 1...8, using: &random), &random)
        let total = units.reduce(Watts.zero) { $0 + $1.window.discharge }
        let target = total * Double.random(in: 0.001...1, using: &random)
        let order = Array(units.indices).shuffled(using: &random)
        let powers = PowerSharingTests.shared(target, units, Self.way).powers
        let shuffled = PowerSharingTests.shared(target, order.map { units[$0] }, Self.way).powers
        for (place, index) in order.enumerated() {
            #expect((shuffled[place] - powers[index]).magnitude < Watts(1e-3), "seed \(seed)")
        }
    }

    @Test func `who runs goes on running where another choice is hardly better`() {
        var units = [Self.unit(1, 1.00, 1), Self.unit(1, 1.01, 1)]
        var sharing = PowerSharing(Self.way)
        func shared(_ kilowatts: Double) -> [Double] {
            var span = units.mutableSpan
            _ = sharing.share(.kilowatts(kilowatts), over: &span, count: 2)
            return units.map { $0.power.kilowatts.rounded() }
        }
        units[0].window = .closed(.mode)
        #expect(shared(50) == [0, 50], "the first is out")
        units[0].window = .rating(.kilowatts(100))
        #expect(shared(50) == [0, 50], "back, and a little better: not worth a change")
        units[0].losses = UnitLosses(idle: .zero, linear: .percent(1), square: .zero, at: .kilowatts(100))
        #expect(shared(50) == [50, 0], "clearly better")
        #expect(shared(0) == [0, 0])
        #expect(shared(150).allSatisfy { $0 > 0 }, "both are needed in the same call")
        units[1].window = .closed(.interlock(.lostBattery))
        #expect(shared(90) == [90, 0], "the lost unit's part moves in the same call")
    }
}
