import Interlocks
import Plant
import PowerDispatch
import Quantities
import Testing

@testable import Control

/// What counts as no load; 100 kW, 800 V, 2 A count as none.
@Suite struct LoadWatchTests {
    static let settings: UnitSettings = {
        var contactors = ContactorSettings.ofBattery
        contactors.zeroCurrent = Amperes(2)
        return UnitSettings(
            rating: .kilowatts(100), minStateOfCharge: .percent(10), maxStateOfCharge: .percent(90),
            budget: FreshnessBudget(battery: .seconds(1), inverter: .seconds(1)), currentFloor: Amperes(2),
            contactors: contactors)
    }()

    static func sight(_ current: Double?, _ pack: Double?, _ dc: Double?, _ power: Double?) -> LoadWatch.Sight
    {
        LoadWatch.Sight(
            current: current.map { Amperes($0) }, packVoltage: pack.map { Volts($0) },
            dcVoltage: dc.map { Volts($0) }, power: power.map { .kilowatts($0) })
    }

    // swift-format-ignore
    static let rows: [(sight: LoadWatch.Sight, finding: LoadWatch.Finding, why: Comment)] = [
        (sight(0.1, 800,  800, 0),   .none,    "both sides say so"),
        (sight(2.1, 800,  800, 0),   .flows,   "the battery's sensor sees it"),
        (sight(0.1, 800,  800, 2.1), .flows,   "the inverter sees it"),
        (sight(0.1, 800,  800, nil), .unknown, "the battery alone"),
        (sight(nil, 800,  800, 0),   .unknown, "the inverter alone"),
        (sight(0.1, nil,  800, 0),   .unknown, "a current without a voltage beside it"),
        (sight(0.1, 655,  800, 0),   .unknown, "0xFFFF: the pack's voltage is not the DC side's"),
        (sight(0.1, 800,  nil, 0),   .none,    "an inverter that tells no DC voltage"),
        (sight(nil, nil,  nil, nil), .unknown, "nobody"),
    ]

    @Test(arguments: rows)
    func `no load is what both sides say`(
        row: (sight: LoadWatch.Sight, finding: LoadWatch.Finding, why: Comment)
    ) {
        var watch = LoadWatch(Self.settings)
        #expect(watch.look(row.sight, after: .milliseconds(20)) == row.finding, row.why)
    }

    @Test func `a sensor that has not followed the power is no evidence before it does`() {
        var watch = LoadWatch(Self.settings)
        for _ in 0..<200 { _ = watch.look(Self.sight(0, 800, 800, 87), after: .milliseconds(20)) }
        #expect(watch.look(Self.sight(0, 800, 800, 0), after: .milliseconds(20)) == .unknown)
        _ = watch.look(Self.sight(110, 800, 800, 87), after: .milliseconds(20))
        #expect(watch.look(Self.sight(0, 800, 800, 0), after: .milliseconds(20)) == .none)
    }

    @Test func `what the inverter draws for itself is no load`() {
        var settings = Self.settings
        settings.directCurrentLosses = UnitLosses(
            idle: .kilowatts(4), linear: Fraction(0), square: Fraction(0), at: .kilowatts(100))
        var watch = LoadWatch(settings)
        #expect(watch.look(Self.sight(6.9, 800, 800, 0), after: .zero) == .none)
        #expect(watch.look(Self.sight(7.1, 800, 800, 0), after: .zero) == .flows)
    }
}

/// A battery's power and that of the terminals.
@Suite struct DirectCurrentTests {
    static let losses = UnitLosses(
        idle: .kilowatts(0.3), linear: .percent(1), square: .percent(1), at: .kilowatts(100))

    @Test(arguments: [0, 0.2, 0.3, 1, 2.64, 50, 100])
    func `a discharge and its losses are no more than the battery may give`(limit: Double) {
        let power = Self.losses.injected(from: .kilowatts(limit))
        #expect(power >= .zero)
        let drawn = power + Self.losses.loss(at: power)
        #expect(drawn <= .kilowatts(limit) + Watts(1e-6))
        #expect(power == .zero ? limit <= 0.3 : drawn > .kilowatts(limit) - Watts(1e-6))
    }

    @Test(arguments: [0, 1, 2.64, 50, 100])
    func `what reaches the battery of a charge is no more than it may take`(limit: Double) {
        let power = Self.losses.absorbed(into: .kilowatts(limit))
        #expect(power - Self.losses.loss(at: power) <= .kilowatts(limit) + Watts(1e-6))
        #expect(power >= .kilowatts(limit))
    }

    @Test func `the lowest voltage of the last seconds counts and is forgotten`() {
        var voltage = LowestVoltage()
        func at(_ seconds: Int64) -> MonotonicTime {
            MonotonicTime(nanoseconds: (100 + seconds) * 1_000_000_000)
        }
        #expect(voltage.add(Volts(800), at: at(0)) == Volts(800))
        #expect(voltage.add(Volts(760), at: at(1)) == Volts(760))
        #expect(voltage.add(Volts(800), at: at(9)) == Volts(760))
        #expect(voltage.add(Volts(800), at: at(12)) == Volts(760))
        #expect(voltage.add(Volts(800), at: at(25)) == Volts(800))
    }
}
