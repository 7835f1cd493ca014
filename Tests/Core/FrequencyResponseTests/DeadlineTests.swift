import FrequencyResponse
import Plant
import Quantities
import Testing

/// What a supervisor says of the time that is left, and the way back to the target state of charge.
@Suite struct DeadlineTests {
    static func supervisor() -> GridSupervisor {
        var settings = GridSupervisor.Settings(
            enter: EnterServiceCriteria(
                millihertzLow: 49_500, millihertzHigh: 50_500, voltageLow: .percent(90),
                voltageHigh: .percent(110), delay: .seconds(10), ramp: .zero))
        settings.add(ProtectionElement(.underFrequency(millihertz: 49_000), after: .seconds(3)))
        settings.add(ProtectionElement(.underFrequency(millihertz: 48_000), after: .seconds(1)))
        settings.rateOfChangeMax = HertzPerSecond(1)
        settings.rateOfChangeTime = .milliseconds(500)
        return GridSupervisor(settings: settings)
    }

    static func input(_ frequency: Double, _ rate: Double = 0) -> GridSupervisor.Input {
        GridSupervisor.Input(frequency: Hertz(frequency), rateOfChange: HertzPerSecond(rate))
    }

    // swift-format-ignore
    static let deadlines: [(frequency: Double, rate: Double, left: Duration?, why: Comment)] = [
        (50.0, 0, nil,                 "in service, and no timer runs"),
        (48.9, 0, .milliseconds(2_900), "one element, for a tenth of a second"),
        (47.9, 0, .milliseconds(900),  "two of them: the earlier end"),
        (47.9, 2, .milliseconds(400),  "ROCOF is earlier still"),
        (50.0, 2, .milliseconds(400),  "ROCOF alone"),
    ]

    @Test(arguments: deadlines) func `the next deadline is that of the timer which ends first`(
        row: (frequency: Double, rate: Double, left: Duration?, why: Comment)
    ) {
        var supervisor = Self.supervisor()
        supervisor.beginInService(Self.input(50))
        #expect(supervisor.state == .inService && supervisor.remaining == nil)
        supervisor.step(Self.input(row.frequency, row.rate), after: .milliseconds(100))
        supervisor.step(Self.input(row.frequency, row.rate), after: .milliseconds(100))
        #expect(supervisor.nextDeadline == row.left, row.why)
    }

    @Test func `a timer that is over has no deadline`() {
        var supervisor = Self.supervisor()
        supervisor.beginInService(Self.input(50))
        supervisor.step(Self.input(50, 2), after: .milliseconds(100))
        supervisor.step(Self.input(50, 2), after: .milliseconds(500))
        #expect(supervisor.state == .out(.rateOfChange) && supervisor.nextDeadline == nil)
    }

    @Test func `the delay to enter service counts down and is a deadline`() {
        var supervisor = Self.supervisor()
        #expect(supervisor.remaining == nil && supervisor.nextDeadline == nil, "nothing good was seen")
        supervisor.step(Self.input(50), after: .milliseconds(100))
        #expect(supervisor.remaining == .seconds(10) && supervisor.nextDeadline == .seconds(10))
        supervisor.step(Self.input(50), after: .seconds(4))
        #expect(supervisor.remaining == .seconds(6) && supervisor.nextDeadline == .seconds(6))
    }

    // swift-format-ignore
    static let ways: [(charge: Double?, isResting: Bool, isAllowed: Bool, then: Double, why: Comment)] = [
        (0.56, false, true,   10, "above the band: discharge, whole after the ramp"),
        (0.44, false, true,  -10, "below it: charge"),
        (0.549, false, true,   0, "just inside the band"),
        (0.451, false, true,   0, "just inside its other edge"),
        (nil,  false, true,    0, "nobody knows the charge"),
        (0.56, false, false,   0, "not allowed"),
        (0.56, true,  true,    0, "rests in an event: it begins nothing"),
        (0.56, true,  false,   0, "not allowed, event or not"),
    ]

    @Test(arguments: ways) func `the state of charge is brought back outside its band, slowly`(
        row: (charge: Double?, isResting: Bool, isAllowed: Bool, then: Double, why: Comment)
    ) {
        var energy = EnergyManagement(
            settings: .init(target: .percent(50), band: .percent(5), power: .percent(10)))
        func correction(_ charge: Double?, _ seconds: Double) -> Double {
            energy.correction(
                charge: charge.map { Fraction($0) }, rated: Watts(100), isResting: row.isResting,
                isAllowed: row.isAllowed, after: .seconds(seconds)
            ).value
        }
        #expect(abs(correction(row.charge, 30) - row.then / 2) < 1e-9, row.why)
        #expect(abs(correction(row.charge, 30) - row.then) < 1e-9, row.why)
        #expect(abs(correction(row.charge, 30) - row.then) < 1e-9, row.why)
    }

    // swift-format-ignore
    static let ends: [(start: Double, inside: Double, end: Double, sign: Double)] = [
        (0.56, 0.5001, 0.5, 1), (0.56, 0.51, 0.49, 1), (0.44, 0.4999, 0.5, -1), (0.44, 0.49, 0.51, -1),
    ]

    @Test(arguments: ends) func `it ends at the target and not at the band's edge`(
        row: (start: Double, inside: Double, end: Double, sign: Double)
    ) {
        var energy = EnergyManagement(
            settings: .init(target: .percent(50), band: .percent(5), power: .percent(10)))
        func correction(_ charge: Double) -> Double {
            energy.correction(
                charge: Fraction(charge), rated: Watts(100), isResting: false, isAllowed: true,
                after: .seconds(60)
            ).value
        }
        #expect(correction(row.start) == row.sign * 10)
        #expect(correction(row.inside) == row.sign * 10, "inside the band it goes on")
        #expect(correction(row.end) == 0)
    }
}
