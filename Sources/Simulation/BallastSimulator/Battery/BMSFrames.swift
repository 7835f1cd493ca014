import BatteryProfiles
import DeviceCodecs
import Plant
import Quantities

/// What a Pylontech-style BMS (protocol V1.2, little endian) puts on its bus in one period. Written from the
/// table of frames, not from the controller's decoder, so that each checks the other.
struct BMSFrames {
    /// Of pack voltage in frame 0x356, per bit.
    var packVoltageResolution: Volts

    /// - Parameter sample: what the battery says of itself; it has every quantity of these frames.
    func all(_ sample: BatterySample) -> [CANFrame] {
        [
            limits(sample), charge(sample), measurement(sample), alarms(sample), requests(sample), maker,
            extremes(sample),
        ].compactMap { $0 }
    }

    private func frame(_ identifier: UInt32, _ words: [Int]) -> CANFrame? {
        CANFrame(identifier, bytes: words.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8 & 0xFF)] })
    }

    private func unsigned(_ value: Double, per step: Double) -> Int {
        Int(UInt16(clamping: Int64((value / step).rounded())))
    }

    private func signed(_ value: Double, per step: Double) -> Int {
        Int(Int16(clamping: Int64((value / step).rounded())))
    }

    private func limits(_ sample: BatterySample) -> CANFrame? {
        frame(
            0x351,
            [
                unsigned(sample[.chargeVoltageLimit] ?? 0, per: 0.1),
                signed(sample[.chargeCurrentLimit] ?? 0, per: 0.1),
                signed(sample[.dischargeCurrentLimit] ?? 0, per: 0.1),
                unsigned(sample[.dischargeVoltageLimit] ?? 0, per: 0.1),
            ])
    }

    /// Whole percent and health; then the fine charge that SMA and Victron read.
    private func charge(_ sample: BatterySample) -> CANFrame? {
        let percent = sample[.stateOfCharge] ?? 0
        return frame(0x355, [unsigned(percent, per: 1), 100, unsigned(percent, per: 0.01)])
    }

    /// Current on this bus is positive while charging.
    private func measurement(_ sample: BatterySample) -> CANFrame? {
        frame(
            0x356,
            [
                signed(sample[.packVoltage] ?? 0, per: packVoltageResolution.value),
                signed(-(sample[.packCurrent] ?? 0), per: 0.1),
                signed(sample[.cellTemperatureMin] ?? 0, per: 0.1),
            ])
    }

    private func alarms(_ sample: BatterySample) -> CANFrame? {
        var protection: [UInt8] = [0, 0]
        if sample.alarms.contains(.voltageHigh) { protection[0] |= 1 << 1 }
        if sample.alarms.contains(.voltageLow) { protection[0] |= 1 << 2 }
        if sample.alarms.contains(.temperatureHigh) { protection[0] |= 1 << 3 }
        if sample.alarms.contains(.internalFault) { protection[1] |= 1 << 3 }
        let warning: UInt8 = sample.warnings.contains(.temperatureHigh) ? 1 << 3 : 0
        return CANFrame(0x359, bytes: protection + [warning, 0, 1, UInt8(ascii: "P"), UInt8(ascii: "N")])
    }

    private func requests(_ sample: BatterySample) -> CANFrame? {
        let charge = sample.permissions.contains(.charge)
        let discharge = sample.permissions.contains(.discharge)
        return CANFrame(0x35C, bytes: [(charge ? 0x80 : 0) | (discharge ? 0x40 : 0), 0])
    }

    private var maker: CANFrame? { CANFrame(0x35E, bytes: Array("PYLON   ".utf8)) }

    /// Millivolts, and whole kelvin.
    private func extremes(_ sample: BatterySample) -> CANFrame? {
        frame(
            0x373,
            [
                unsigned(sample[.cellVoltageMin] ?? 0, per: 0.001),
                unsigned(sample[.cellVoltageMax] ?? 0, per: 0.001),
                unsigned((sample[.cellTemperatureMin] ?? 0) + 273.15, per: 1),
                unsigned((sample[.cellTemperatureMax] ?? 0) + 273.15, per: 1),
            ])
    }

    /// Frames with nonsense in them: truncated, out of range, unknown, remote.
    static let garbage: [CANFrame] = [
        CANFrame(0x351, bytes: [0xFF]), CANFrame(0x356, bytes: [0xFF, 0x7F, 0xFF, 0x7F, 0xFF, 0x7F, 1, 2]),
        CANFrame(0x373, bytes: [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0xFF, 0xFF]), CANFrame(0x7FF, bytes: [1]),
        CANFrame(0x355, kind: .remote), CANFrame(0x1FFF_FFFF, isExtended: true, bytes: [0xAA, 0x55]),
    ].compactMap { $0 }
}
