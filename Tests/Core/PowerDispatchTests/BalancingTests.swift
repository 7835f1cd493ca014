import Plant
import PowerDispatch
import Quantities
import Testing

/// The balance of charge between the units of a site.
@Suite struct BalancingTests {
    static func unit(_ percent: Double?, _ kilowatts: Double = 100) -> UnitShare {
        UnitShare(
            window: .rating(.kilowatts(kilowatts)), stateOfCharge: percent.map { .percent($0) },
            losses: UnitLosses(
                idle: .kilowatts(0.3), linear: .percent(1), square: .percent(1), at: .kilowatts(kilowatts)))
    }

    // swift-format-ignore
    static let examples: [(target: Double, charges: [Double?], gain: Double, powers: [Double], why: Comment)] = [
        (90,   [60, 40],      10, [72, 18],     "10 points above the mean: twice the part; 10 below: half"),
        (-90,  [60, 40],      10, [-18, -72],   "the emptier one charges more"),
        (90,   [60, 40],      0,  [45, 45],     "no gain: charge does not count"),
        (90,   [50, 50],      10, [45, 45],     "equally full"),
        (90,   [nil, nil],    10, [45, 45],     "nobody knows how full they are"),
        (90,   [nil, 50],     10, [45, 45],     "one that nobody knows stands for itself at the mean"),
        (150,  [60, 40],      10, [100, 50],    "the fuller one is at its window; the rest goes to the other"),
        (199,  [100, 0],      10, [100, 99],    "a window is a window"),
        (0.5,  [60, 40],      10, [0.4, 0.1],   "also of a small power"),
        (90,   [90],          10, [90],         "a site of one"),
        (90,   [60, 40, 50],  10, [51.428571428571, 12.857142857143, 25.714285714286], "2 : 1/2 : 1"),
    ]

    @Test(arguments: examples)
    func `fuller units discharge more and charge less`(
        row: (target: Double, charges: [Double?], gain: Double, powers: [Double], why: Comment)
    ) {
        let units = row.charges.map { Self.unit($0) }
        let way = SharingSettings(balancing: row.gain)
        let (_, powers) = PowerSharingTests.shared(.kilowatts(row.target), units, way)
        for (power, expected) in zip(powers, row.powers) {
            #expect((power - .kilowatts(expected)).magnitude < Watts(1e-6), row.why)
        }
    }

    @Test(arguments: PowerSharingTests.seeds)
    func `who is fuller never gets the smaller part of a discharge`(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        let units = (0..<Int.random(in: 2...64, using: &random)).map { _ in
            Self.unit(Double.random(in: 0...100, using: &random))
        }
        let target = Watts.kilowatts(Double.random(in: 0...100, using: &random) * Double(units.count))
        let way = SharingSettings(balancing: 10)
        let powers = PowerSharingTests.shared(target, units, way).powers
        let charging = PowerSharingTests.shared(-target, units, way).powers
        for one in units.indices {
            for other in units.indices {
                guard let a = units[one].stateOfCharge, let b = units[other].stateOfCharge, a > b else {
                    continue
                }
                #expect(powers[one] >= powers[other] && charging[one] >= charging[other], "seed \(seed)")
            }
        }
    }

    @Test(arguments: PowerSharingTests.seeds)
    func `the order of the units does not matter`(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        let units = PowerSharingTests.units(PowerSharingTests.windows(&random), &random)
        let target = PowerSharingTests.target(&random)
        let order = Array(units.indices).shuffled(using: &random)
        let way = SharingSettings(balancing: 10)
        let powers = PowerSharingTests.shared(target, units, way).powers
        let shuffled = PowerSharingTests.shared(target, order.map { units[$0] }, way).powers
        for (place, index) in order.enumerated() {
            #expect(
                (shuffled[place] - powers[index]).magnitude <= target.magnitude * 1e-9 + Watts(1e-9),
                "seed \(seed)")
        }
    }

    /// A day of charging and discharging; returns the spread of charge at its begin and end, in points.
    static func spread(after hours: Double, _ way: SharingSettings, capacities: [Double]) -> Double {
        var charges = capacities.indices.map { 30 + 40 * Double($0) / Double(capacities.count - 1) }
        var sharing = PowerSharing(way)
        let step = 10.0
        for second in stride(from: 0, to: hours * 3_600, by: step) {
            // Two hours each way, at 40 % of the site's power.
            let isDischarge = Int(second / 7_200) % 2 == 0
            let target = Watts.kilowatts((isDischarge ? 40 : -40) * Double(capacities.count))
            var units = charges.map { unit($0) }
            var span = units.mutableSpan
            _ = sharing.share(target, over: &span, count: capacities.count)
            for index in charges.indices {
                charges[index] -= units[index].power.kilowatts * step / 3_600 / capacities[index] * 100
            }
        }
        return (charges.max() ?? 0) - (charges.min() ?? 0)
    }

    // swift-format-ignore
    static let days: [(way: SharingSettings, capacities: [Double], most: Double, why: Comment)] = [
        (SharingSettings(balancing: 10), [250, 250, 250, 250], 1, "equal batteries come together"),
        (SharingSettings(balancing: 10), [250, 300, 400, 200], 8,
         "batteries of other size at the same power drift apart; the gain holds them together"),
        (SharingSettings(balancing: 3),  [250, 250, 250, 250], 6, "a smaller gain takes longer"),
        (SharingSettings(mode: .minimumLoss, balancing: 10), [250, 250, 250, 250], 20,
         "minimum loss lets units differ as long as that is cheaper"),
    ]

    @Test(arguments: days)
    func `the spread of charge falls over a day of use`(
        row: (way: SharingSettings, capacities: [Double], most: Double, why: Comment)
    ) {
        let end = Self.spread(after: 24, row.way, capacities: row.capacities)
        print("spread of charge: 40 points, after a day \(end) (\(row.why))")
        #expect(end <= row.most, row.why)
    }

    @Test func `without gain equal batteries keep their distance`() {
        let end = Self.spread(after: 24, SharingSettings(), capacities: [250, 250, 250, 250])
        #expect(abs(end - 40) < 1e-6)
    }
}
