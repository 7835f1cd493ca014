import Quantities
import Testing

@testable import Scenario

@Suite struct BatteryModelTests {
    static let specification = BatterySpecification(
        capacity: .kilowattHours(250), maxPower: .kilowatts(100), stateOfCharge: Fraction(0.6))

    static func battery(_ specification: BatterySpecification = specification, seed: UInt64 = 1)
        -> BatteryModel
    {
        var random = SplitMix64(seed: seed)
        return BatteryModel(specification, random: &random)
    }

    @Test(arguments: [Watts.kilowatts(100), .kilowatts(-100), .kilowatts(7)])
    func `what leaves the terminals and the losses come out of the stored energy`(power: Watts) {
        var battery = Self.battery()
        let charge = battery.stateOfCharge
        let time = Duration.seconds(360)
        for _ in 0..<3_600 { battery.advance(power: power, by: .milliseconds(100)) }
        let delivered = power * time
        #expect((battery.energyDelivered - delivered).magnitude < delivered.magnitude * 1e-4, "terminals")
        // On the flat part one cell gives 3.31 V at 60 % and 3.30 V at 50 %: the mean voltage is known to 0.3 %.
        let chemical = battery.energyDelivered + battery.energyLost
        let drawn = battery.specification.capacity * ((charge - battery.stateOfCharge).value * 3.31 / 3.2)
        #expect((drawn - chemical).magnitude < chemical.magnitude * 0.005, "\(drawn) and \(chemical)")
        #expect(battery.energyLost > .zero)
    }

    @Test func `a current warms every cell towards its closed-form end`() {
        var battery = Self.battery()
        let start = battery.cells[0]
        for _ in 0..<600 { battery.advance(power: .kilowatts(100), by: .seconds(1)) }
        // T(t) = Ta + (I²R·τ/C)(1 − e^(−t/τ)); for t = τ/5 the bracket is 0.1813. The current drifts by under 1 %.
        let current = battery.current.value
        let tau = BatteryModel.coolingTimeConstant.seconds
        let rise = current * current * start.resistanceOhm * tau / battery.cellHeatCapacity.value * 0.181_27
        let measured = battery.cells[0].temperature - 25
        #expect((measured - rise).magnitude < rise * 0.02, "\(measured) K, expected \(rise) K")
    }

    @Test
    func `one cell that heats at 5 kelvin a second reaches 60 degrees in 7 seconds and stands out alone`() {
        var battery = Self.battery()
        battery.heating = (cell: 16, rate: KelvinPerSecond(5))
        for _ in 0..<1_380 { battery.advance(power: .zero, by: .milliseconds(5)) }
        #expect(battery.cellTemperatures.max < Celsius(60), "6.9 s")
        for _ in 0..<40 { battery.advance(power: .zero, by: .milliseconds(5)) }
        #expect(battery.cellTemperatures.max > Celsius(60), "7.1 s")
        #expect(battery.cellTemperatures.maxCell == 16)
        #expect((battery.cellTemperatures.min - Celsius(25)).magnitude < Celsius(0.1))
    }

    @Test func `an open contactor carries no current whatever is asked for`() {
        var battery = Self.battery()
        battery.isContactorClosed = false
        battery.advance(power: .kilowatts(100), by: .seconds(1))
        #expect(battery.current == .zero)
        #expect(battery.energyDelivered == .zero)
    }

    @Test func `more power than the string can give is cut to its maximum-power point`() {
        var battery = Self.battery()
        battery.advance(power: .kilowatts(1e6), by: .milliseconds(1))
        #expect(battery.packVoltage.value.isFinite)
        #expect(battery.packVoltage > .zero)
    }

    @Test func `the same seed gives the same cells, another seed others`() {
        let voltages = { (seed: UInt64) in
            var battery = Self.battery(seed: seed)
            battery.advance(power: .kilowatts(50), by: .seconds(1))
            return battery.cellVoltages
        }
        #expect(voltages(7) == voltages(7))
        #expect(voltages(7) != voltages(8))
        #expect(voltages(7).max - voltages(7).min < Volts(0.02), "small differences")
    }

    // swift-format-ignore
    static let limits: [(charge: Double, chargeShare: Double, dischargeShare: Double, why: Comment)] = [
        (0.00, 1.00, 0.000, "empty: no discharge"),
        (0.02, 1.00, 0.000, "where the discharge taper begins"),
        (0.06, 1.00, 0.500, "half-way up the taper"),
        (0.11, 1.00, 1.000, "beyond the taper"),
        (0.89, 1.00, 1.000, "before the charge taper"),
        (0.945, 0.5, 1.000, "half-way down the taper"),
        (0.995, 0.0, 1.000, "full: no charge"),
    ]

    @Test(arguments: limits)
    func `the current limits taper to nothing at the ends of charge`(
        charge: Double, chargeShare: Double, dischargeShare: Double, why: Comment
    ) {
        var specification = Self.specification
        specification.stateOfCharge = Fraction(charge)
        let battery = Self.battery(specification)
        let full = 1.25 * 100_000 / (80 * 3.2)
        let management = BatteryManagement()
        // The mean of the cells differs a little from what was asked for.
        #expect(
            (management.chargeCurrentLimit(battery).value - full * chargeShare).magnitude < full * 0.02, why)
        #expect(
            (management.dischargeCurrentLimit(battery).value - full * dischargeShare).magnitude < full * 0.02,
            why)
    }
}
