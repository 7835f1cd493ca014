import Quantities
import Testing

@testable import Scenario

/// Faults that change what a battery says, or what an inverter makes of what it is told.
@Suite struct `A simulated unit` {
    static func unit(_ fault: Fault?, charge: Double = 60) -> SimulatedUnit {
        var random = SplitMix64(seed: 1)
        let specification = BatterySpecification(
            capacity: WattHours(250_000), maxPower: .kilowatts(100), stateOfCharge: .percent(charge))
        var unit = SimulatedUnit(
            id: "A", battery: BatteryModel(specification, random: &random),
            inverter: InverterModel(ratedPower: .kilowatts(100)))
        if let fault { unit.add(fault) }
        return unit
    }

    @Test func `tells another state of charge than it has, and limits its currents by it`() {
        let unit = Self.unit(.bmsCharge(.percent(0)))
        #expect(unit.battery.shownStateOfCharge == .percent(0))
        #expect((unit.battery.stateOfCharge.percent - 60).magnitude < 1)
        #expect(unit.management.dischargeCurrentLimit(unit.battery) == .zero)
        var back = unit
        back.clear(.bmsCharge)
        #expect(back.battery.shownStateOfCharge == back.battery.stateOfCharge)
        #expect(back.management.dischargeCurrentLimit(back.battery) > Amperes(100))
    }

    @Test func `tells the limits it was given, of whatever sign`() {
        let limits = Fault.bmsLimits(charge: Amperes(5), discharge: Amperes(-7))
        let unit = Self.unit(limits)
        #expect(unit.management.chargeCurrentLimit(unit.battery) == Amperes(5))
        #expect(unit.management.dischargeCurrentLimit(unit.battery) == Amperes(-7))
        let voltage = Self.unit(.bmsChargeVoltage(Volts(1_000)))
        #expect(voltage.management.chargeVoltageLimit(voltage.battery) == Volts(1_000))
        let plain = Self.unit(nil)
        #expect(plain.management.chargeVoltageLimit(plain.battery) == Volts(284))
    }

    @Test func `measures one cell's temperature wrong, and its own protection believes it`() {
        var hot = Self.unit(.cellTemperature(cell: 4, temperature: Celsius(215)))
        #expect(hot.battery.cellTemperatures.max == Celsius(215) && hot.battery.cellTemperatures.maxCell == 4)
        #expect(hot.battery.allCellTemperatures[4] == Celsius(215))
        hot.advance(by: .milliseconds(5))
        #expect(hot.management.protections == [.cellTemperatureHigh])
        let cold = Self.unit(.cellTemperature(cell: 0, temperature: Celsius(-40)))
        #expect(cold.battery.cellTemperatures.min == Celsius(-40))
        #expect(cold.battery.cellTemperatures.max < Celsius(30))
    }

    @Test func `whose inverter is reversed charges where it is to discharge`() {
        var unit = Self.unit(.inverterReversed)
        unit.inverter.setpoint.write(.kilowatts(50))
        unit.inverter.setpoint.enable()
        for _ in 0..<200 { unit.advance(by: .milliseconds(5)) }
        #expect(unit.inverter.activePower == .kilowatts(-50))
    }
}
