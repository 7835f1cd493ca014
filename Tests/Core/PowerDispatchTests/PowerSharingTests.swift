import Plant
import PowerDispatch
import Quantities
import Testing

/// What must hold for every way of sharing, tried on many drawn sites of 1 … 64 units.
@Suite struct PowerSharingTests {
    static let seeds: [UInt64] = Array(1...40)
    static let ways: [SharingSettings] = [
        SharingSettings(), SharingSettings(balancing: 10), SharingSettings(balancing: 1_000),
        SharingSettings(mode: .minimumLoss), SharingSettings(mode: .minimumLoss, balancing: 10),
    ]

    static func way(_ random: inout SeededNumbers) -> SharingSettings {
        ways[Int.random(in: 0..<ways.count, using: &random)]
    }

    static func units(_ windows: [PermitWindow], _ random: inout SeededNumbers) -> [UnitShare] {
        windows.map { window in
            let charge = Double.random(in: -0.2...1.2, using: &random)
            let isKnown = Int.random(in: 0..<5, using: &random) > 0
            return UnitShare(
                window: window, stateOfCharge: isKnown ? Fraction(charge) : nil, losses: losses(&random))
        }
    }

    static func losses(_ random: inout SeededNumbers) -> UnitLosses {
        func share(_ most: Double) -> Fraction {
            Bool.random(using: &random) ? .zero : Fraction(Double.random(in: 0...most, using: &random))
        }
        return UnitLosses(
            idle: .kilowatts(5_000) * share(0.02), linear: share(0.03), square: share(0.05),
            at: .kilowatts(5_000))
    }

    /// A drawn window: sometimes closed on a side, sometimes tiny, up to 5 MW.
    static func window(_ random: inout SeededNumbers) -> PermitWindow {
        var window = PermitWindow.rating(.kilowatts(5_000))
        func magnitude() -> Watts {
            switch Int.random(in: 0..<6, using: &random) {
            case 0: .zero
            case 1: Watts(Double.random(in: 0...1e-9, using: &random))
            default: Watts(Double.random(in: 0...5e6, using: &random))
            }
        }
        window.limitCharge(to: magnitude(), .batteryCurrentLimit)
        window.limitDischarge(to: magnitude(), .batteryCurrentLimit)
        return window
    }

    static func windows(_ random: inout SeededNumbers) -> [PermitWindow] {
        let counts = [1, 2, 64, Int.random(in: 1...64, using: &random)]
        let count = counts[Int.random(in: 0..<counts.count, using: &random)]
        return (0..<count).map { _ in window(&random) }
    }

    static func target(_ random: inout SeededNumbers) -> Watts {
        switch Int.random(in: 0..<5, using: &random) {
        case 0: .zero
        case 1: Watts(Double.random(in: -1e-6...1e-6, using: &random))
        case 2: Watts(Double.random(in: -1e9...1e9, using: &random))
        default: Watts(Double.random(in: -5e6...5e6, using: &random))
        }
    }

    static func shared(
        _ target: Watts, _ units: [UnitShare], _ way: SharingSettings
    ) -> (given: Watts, powers: [Watts]) {
        var sharing = PowerSharing(way)
        var units = units
        let count = units.count
        for index in units.indices { units[index].power = Watts(123) }
        var span = units.mutableSpan
        let given = sharing.share(target, over: &span, count: count)
        return (given, units.map(\.power))
    }

    static func available(_ windows: [PermitWindow], toward target: Watts) -> Watts {
        windows.reduce(.zero) { $0 + (target < .zero ? $1.charge : $1.discharge) }
    }

    @Test(arguments: seeds)
    func `no unit leaves its window and together they give the target or all they can`(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        for _ in 0..<50 {
            let windows = Self.windows(&random)
            let target = Self.target(&random)
            let (given, powers) = Self.shared(target, Self.units(windows, &random), Self.way(&random))
            for (power, window) in zip(powers, windows) {
                #expect(window.charge <= power && power <= window.discharge, "seed \(seed), target \(target)")
                #expect(power.value * target.value >= 0, "no unit works against the others")
            }
            let available = Self.available(windows, toward: target)
            let wanted = target.magnitude < available.magnitude ? target : available
            // One rounding for each unit, and one for each that is full.
            let rounding = wanted.value.ulp * Double(2 * windows.count + 8)
            #expect((given - wanted).magnitude.value <= rounding, "seed \(seed), target \(target)")
            #expect(powers.reduce(.zero, +) == given, "seed \(seed): what is told is what is given")
        }
    }

    @Test(arguments: seeds)
    func `the same arguments give the same bits`(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        for _ in 0..<20 {
            let units = Self.units(Self.windows(&random), &random)
            let target = Self.target(&random)
            let way = Self.way(&random)
            let (one, two) = (Self.shared(target, units, way), Self.shared(target, units, way))
            #expect(one.powers.map(\.value.bitPattern) == two.powers.map(\.value.bitPattern))
        }
    }

    @Test(arguments: seeds)
    func `no target gives nothing to anybody`(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        for _ in 0..<20 {
            let units = Self.units(Self.windows(&random), &random)
            let (given, powers) = Self.shared(.zero, units, Self.way(&random))
            #expect(given == .zero && powers.allSatisfy { $0 == .zero })
        }
    }

    @Test(arguments: seeds)
    func `who drops out leaves its part to the others in the same call`(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        for _ in 0..<20 {
            var windows = Self.windows(&random)
            let target = Self.target(&random)
            windows[Int.random(in: 0..<windows.count, using: &random)] = .closed(.interlock(.lostBattery))
            let (given, powers) = Self.shared(target, Self.units(windows, &random), Self.way(&random))
            let left = Self.available(windows, toward: target)
            let wanted = target.magnitude < left.magnitude ? target : left
            #expect((given - wanted).magnitude <= wanted.magnitude * 1e-9, "seed \(seed)")
            for (power, window) in zip(powers, windows) where window == .closed(.interlock(.lostBattery)) {
                #expect(power == .zero)
            }
        }
    }

    @Test(arguments: seeds)
    func `a larger target never gives any unit less`(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        for _ in 0..<20 {
            let units = Self.units(Self.windows(&random), &random)
            let way = SharingSettings(balancing: Double(seed % 4) * 5)
            let (a, b) = (Self.target(&random), Self.target(&random))
            let low = Self.shared(a < b ? a : b, units, way)
            let high = Self.shared(a < b ? b : a, units, way)
            for (less, more) in zip(low.powers, high.powers) {
                // The level carries a rounding for each unit that is full.
                let rounding = max(a.magnitude, b.magnitude).value.ulp * Double(units.count)
                #expect(less.value <= more.value + rounding, "seed \(seed), \(a), \(b)")
            }
        }
    }

    // swift-format-ignore
    static let examples: [(target: Double, discharge: [Double], powers: [Double], why: Comment)] = [
        (100, [100, 100],    [50, 50],    "equal units share equally"),
        (90,  [100, 50],     [60, 30],    "in proportion to what each can"),
        (300, [100, 50],     [100, 50],   "more than all: all they can"),
        (80,  [0, 100],      [0, 80],     "a closed unit leaves all to the other"),
        (80,  [0, 0],        [0, 0],      "nobody can"),
        (80,  [100],         [80],        "a site of one"),
    ]

    @Test(arguments: examples)
    func `power is shared in proportion to what each unit can give`(
        row: (target: Double, discharge: [Double], powers: [Double], why: Comment)
    ) {
        let windows = row.discharge.map { limit in
            var window = PermitWindow.rating(.kilowatts(1_000))
            window.limitDischarge(to: .kilowatts(limit), .stateOfCharge)
            return window
        }
        let units = windows.map { UnitShare(window: $0) }
        let (_, powers) = Self.shared(.kilowatts(row.target), units, SharingSettings())
        for (power, expected) in zip(powers, row.powers) {
            #expect((power - .kilowatts(expected)).magnitude < Watts(1e-6), row.why)
        }
        let (_, charging) = Self.shared(.kilowatts(-100), units, SharingSettings())
        for power in charging {
            #expect((power + .kilowatts(100 / Double(windows.count))).magnitude < Watts(1e-6), row.why)
        }
    }
}
