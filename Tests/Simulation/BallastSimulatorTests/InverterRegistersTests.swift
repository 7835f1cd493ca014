import BatteryProfiles
import Quantities
import Testing

@testable import BallastSimulator
@testable import Scenario

func simulatedUnit(_ power: Watts = .kilowatts(100)) -> SimulatedUnit {
    var random = SplitMix64(seed: 1)
    let specification = BatterySpecification(capacity: .kilowattHours(250), maxPower: power)
    return SimulatedUnit(
        id: "BESS_01", battery: BatteryModel(specification, random: &random),
        inverter: InverterModel(ratedPower: power))
}

@Suite struct InverterRegistersTests {
    /// Of model 704 from the marker.
    static let base = InverterRegisters.controlsOffset

    @Test func `the chain of models ends where its lengths say`() {
        let unit = simulatedUnit()
        let image = InverterRegisters(unitID: 1, unit: unit).image(unit, frequency: Hertz(50))
        var position = 2
        var models: [UInt16] = []
        while position + 1 < image.count, image[position] != 0xFFFF {
            models.append(image[position])
            if image[position] == 704 { #expect(position == Self.base) }
            position += 2 + Int(image[position + 1])
        }
        #expect(models == [1, 103, 120, 701, 702, 704, 713, 121, 122, 123, 124, 703, 715, 802])
        #expect(position == image.count - 2, "nothing after the end model")
        #expect(image.count <= 1_000)
    }

    @Test func `a block write takes settings before the value and the enable`() {
        var inverter = InverterModel(ratedPower: .kilowatts(100))
        var registers = InverterRegisters(unitID: 1, unit: simulatedUnit())
        // WSetEna, WSetMod, WSet −20 kW, WSetRvrt 0, WSetPct, WSetPctRvrt, WSetEnaRvrt 1, WSetRvrtTms 10.
        let block: [UInt16] = [1, 1, 0xFFFF, 0xB1E0, 0, 0, 0x8000, 0x8000, 1, 0, 10]
        let result = registers.write(block, at: Self.base + 22, to: &inverter)
        #expect(result == .stored(setpointWritten: true))
        #expect(inverter.target == .kilowatts(-20))
        #expect(inverter.setpoint.remaining == .seconds(10))
        #expect(inverter.setpoint.isEnabledAfterReversion)
    }

    // swift-format-ignore
    static let refused: [(offset: Int, values: [UInt16], exception: UInt8, why: Comment)] = [
        (  0, [704],     2, "the identifier is read-only"),
        ( -1, [1, 2],    2, "the model before"),
        ( 66, [1, 1],    2, "beyond the end"),
        ( 33, [0, 0],    2, "WSetRvrtRem is read-only"),
        ( 31, [0, 5, 0], 2, "a block that runs into a read-only point"),
        ( 55, [0],       2, "scale factors are read-only"),
        ( 22, [2],       3, "WSetEna knows 0 and 1"),
        ( 23, [7],       3, "no such mode"),
    ]

    @Test(arguments: refused)
    func `a write that the device does not take changes nothing`(
        offset: Int, values: [UInt16], exception: UInt8, why: Comment
    ) {
        var inverter = InverterModel(ratedPower: .kilowatts(100))
        var registers = InverterRegisters(unitID: 1, unit: simulatedUnit())
        let result = registers.write(values, at: Self.base + offset, to: &inverter)
        #expect(result == .refused(exception: exception), why)
        #expect(!inverter.setpoint.isEnabled)
    }

    @Test func `in percent mode the setpoint is a share of the rating`() {
        var inverter = InverterModel(ratedPower: .kilowatts(200))
        var registers = InverterRegisters(unitID: 1, unit: simulatedUnit(.kilowatts(200)))
        _ = registers.write([0], at: Self.base + 23, to: &inverter)
        // 25.00 %.
        #expect(registers.write([2_500], at: Self.base + 28, to: &inverter) == .stored(setpointWritten: true))
        _ = registers.write([1], at: Self.base + 22, to: &inverter)
        #expect((inverter.target - .kilowatts(50)).magnitude < Watts(1e-6))
    }
}

@Suite struct BMSFramesTests {
    static func bytes(_ identifier: UInt32, _ unit: SimulatedUnit, per resolution: Double = 0.01) -> [UInt8]?
    {
        let frames = BMSFrames(packVoltageResolution: Volts(resolution)).all(
            BatterySample(unit, noise: .zero))
        guard let frame = frames.first(where: { $0.identifier == identifier }) else { return nil }
        return (0..<frame.length).map { frame.data[$0] }
    }

    @Test func `limits, charge and requests stand in the bytes that the table of frames gives them`() {
        let unit = simulatedUnit()
        // 284.0 V, 488.3 A, 488.3 A, 224.0 V.
        #expect(Self.bytes(0x351, unit) == [0x18, 0x0B, 0x13, 0x13, 0x13, 0x13, 0xC0, 0x08])
        #expect(Self.bytes(0x355, unit)?.prefix(4) == [60, 0, 100, 0])
        #expect(Self.bytes(0x35C, unit) == [0xC0, 0])
        #expect(Self.bytes(0x35E, unit) == Array("PYLON   ".utf8))
        #expect(Self.bytes(0x359, unit) == [0, 0, 0, 0, 1, 0x50, 0x4E])
    }

    @Test func `the bus's current is positive while charging and its voltage has the configured resolution`()
    {
        var unit = simulatedUnit()
        unit.battery.advance(power: .kilowatts(26), by: .milliseconds(5))
        let fine = Self.bytes(0x356, unit) ?? []
        let current = Int16(bitPattern: UInt16(fine[2]) | UInt16(fine[3]) << 8)
        #expect(current < -950 && current > -1_050, "discharging 26 kW at 264 V")
        let coarse = Self.bytes(0x356, unit, per: 0.1) ?? []
        let volts = { (bytes: [UInt8]) in Int(bytes[0]) | Int(bytes[1]) << 8 }
        #expect((volts(fine) - 10 * volts(coarse)).magnitude <= 5)
    }

    // swift-format-ignore
    static let alarms: [(fault: Fault, byte: Int, bits: UInt8, why: Comment)] = [
        (.cellOvervoltage(cell: 0, voltage: Volts(3.9)),  0, 0x02, "cell over-voltage"),
        (.cellUndervoltage(cell: 0, voltage: Volts(2.0)), 0, 0x04, "cell under-voltage"),
        (.bmsAlarm,                                       1, 0x08, "system error"),
    ]

    @Test(arguments: alarms)
    func `what opened the contactors stands in frame 359 and closes both directions`(
        fault: Fault, byte: Int, bits: UInt8, why: Comment
    ) {
        var unit = simulatedUnit()
        unit.add(fault)
        unit.advance(by: .milliseconds(5))
        #expect(Self.bytes(0x359, unit)?[byte] == bits, why)
        #expect(Self.bytes(0x35C, unit)?[0] == 0)
        #expect(Self.bytes(0x351, unit)?[2...5] == [0, 0, 0, 0])
    }
}
