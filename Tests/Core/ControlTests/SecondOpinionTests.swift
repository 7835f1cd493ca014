import Control
import Quantities
import Testing

/// A battery whose sensors are compared with each other and with the inverter.
@Suite struct SecondOpinionTests {
    typealias Change = @Sendable (inout Feed) -> Void

    // swift-format-ignore
    static let rows: [(change: Change, doubt: Doubt?, why: Comment)] = [
        ({ _ in },                                          nil,            "a battery that is well"),
        ({ $0.packCurrent = 425 },                          .current,       "300 A more than 100 kW make"),
        ({ $0.packCurrent = 170 },                          nil,            "36 kW of 500 may be losses and time"),
        ({ $0.packVoltage = 725 },                          .packVoltage,   "a tenth below its cells"),
        ({ $0.packVoltage = 760 },                          nil,            "two cells stand for all of them"),
        ({ $0.stateOfCharge = 0.56 },                       .stateOfCharge, "six percent at once"),
        ({ $0.stateOfCharge = 0.54 },                       nil,            "a BMS may correct itself a little"),
    ]

    @Test(arguments: rows) func `what another measurement contradicts is told once, and what agrees is not`(
        row: (change: Change, doubt: Doubt?, why: Comment)
    ) {
        var site = Site(units: 1, basePoint: .kilowatts(100))
        site.enterService()
        site.run(for: .seconds(5))
        row.change(&site.feeds[0])
        site.run(for: .seconds(20))
        let told = site.happened.map(\.kind).filter { if case .doubted = $0 { true } else { false } }
        #expect(told == row.doubt.map { [Event.Kind.doubted($0)] } ?? [], row.why)
    }

    // swift-format-ignore
    static let shares: [(share: Double, isTold: Bool, why: Comment)] = [
        (0.60, true,  "shows three fifths of the truth"),
        (0.88, true,  "an eighth below it"),
        (0.92, false, "sensors and losses"),
        (1.08, false, "the same"),
        (1.12, true,  "an eighth above it"),
    ]

    @Test(arguments: shares) func `a current sensor that shows a share of the truth is told in minutes`(
        row: (share: Double, isTold: Bool, why: Comment)
    ) {
        for power in [-400.0, 400] {
            var site = Site(units: 1, basePoint: .kilowatts(power))
            site.enterService()
            site.run(for: .seconds(5))
            site.feeds[0].packCurrent = power * 1_000 / 800 * row.share
            site.run(for: .seconds(240))
            #expect(site.happened.contains { $0.kind == .doubted(.current) } == row.isTold, row.why)
        }
    }

    @Test(arguments: [0.5, 3, 40, 300])
    func `power that goes to and fro beside a current that comes a second later is no doubt`(half: Double) {
        var site = Site(units: 1, basePoint: .kilowatts(400))
        site.enterService()
        var late = [Double](repeating: 500, count: 50)
        for cycle in 0..<20_000 {
            let power = Int(Double(cycle) * 0.02 / half) % 2 == 0 ? 400_000.0 : -400_000
            site.feeds[0].activePower = power
            late.append(power / 800)
            site.feeds[0].packCurrent = late.removeFirst()
            site.cycle()
        }
        #expect(!site.happened.contains { $0.kind == .doubted(.current) })
    }

    @Test(arguments: [(0.05, true), (-0.05, false)])
    func `a charge that creeps is told where no current explains it`(step: (Double, Bool)) {
        var site = Site(units: 1, basePoint: .kilowatts(100))
        site.enterService()
        site.run(for: .seconds(5))
        let before = site.feeds[0].stateOfCharge
        for part in 1...10 {
            site.feeds[0].stateOfCharge = before + step.0 * Double(part) / 10
            site.run(for: .seconds(5))
        }
        #expect(site.happened.contains { $0.kind == .doubted(.stateOfCharge) } == step.1)
    }

    @Test func `what agrees again is told, and both only after they have lasted`() {
        var site = Site(units: 1, basePoint: .kilowatts(100))
        site.enterService()
        for _ in 0..<20 {
            site.feeds[0].packCurrent = 425
            site.run(for: .seconds(2))
            site.feeds[0].packCurrent = nil
            site.run(for: .seconds(1))
        }
        #expect(!site.happened.contains { $0.kind == .doubted(.current) })
        site.feeds[0].packCurrent = 425
        site.run(for: .seconds(4))
        #expect(
            site.happened.contains { $0.kind == .doubted(.current) && $0.value == 425 && $0.limit == 125 })
        site.feeds[0].packCurrent = nil
        site.run(for: .seconds(4))
        #expect(site.happened.contains { $0.kind == .believed(.current) })
    }
}
