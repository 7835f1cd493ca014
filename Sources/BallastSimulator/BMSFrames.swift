import DeviceCodecs
import Quantities
import Scenario

/// What a Pylontech-style BMS (protocol V1.2, little endian) puts on its bus in one period. Written from the
/// table of frames, not from the controller's decoder, so that each checks the other.
struct BMSFrames {
    /// Of pack voltage in frame 0x356, per bit.
    var packVoltageResolution: Volts
    /// Of the current's sensor at this moment.
    var noise = Amperes.zero

    func all(_ unit: SimulatedUnit) -> [CANFrame] {
        [
            limits(unit), charge(unit.battery), measurement(unit.battery), alarms(unit),
            requests(unit), maker, extremes(unit.battery),
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

    private func limits(_ unit: SimulatedUnit) -> CANFrame? {
        let management = unit.management
        return frame(
            0x351,
            [
                unsigned(management.chargeVoltageLimit(unit.battery).value, per: 0.1),
                signed(management.chargeCurrentLimit(unit.battery).value, per: 0.1),
                signed(management.dischargeCurrentLimit(unit.battery).value, per: 0.1),
                unsigned(management.dischargeVoltageLimit(unit.battery).value, per: 0.1),
            ])
    }

    /// Whole percent and health; then the fine charge that SMA and Victron read.
    private func charge(_ battery: BatteryModel) -> CANFrame? {
        let percent = battery.stateOfCharge.clamped(.zero, Fraction(1)).percent
        return frame(0x355, [unsigned(percent, per: 1), 100, unsigned(percent, per: 0.01)])
    }

    /// Current on this bus is positive while charging.
    private func measurement(_ battery: BatteryModel) -> CANFrame? {
        let temperatures = battery.cellTemperatures
        return frame(
            0x356,
            [
                signed(battery.packVoltage.value, per: packVoltageResolution.value),
                signed(-battery.current.value - noise.value, per: 0.1),
                signed(temperatures.min.value, per: 0.1),
            ])
    }

    private func alarms(_ unit: SimulatedUnit) -> CANFrame? {
        var protection: [UInt8] = [0, 0]
        for cause in unit.management.protections {
            switch cause {
            case .cellVoltageHigh: protection[0] |= 1 << 1
            case .cellVoltageLow: protection[0] |= 1 << 2
            case .cellTemperatureHigh: protection[0] |= 1 << 3
            case .systemError: protection[1] |= 1 << 3
            }
        }
        let warning: UInt8 = unit.management.isTemperatureWarning ? 1 << 3 : 0
        return CANFrame(0x359, bytes: protection + [warning, 0, 1, UInt8(ascii: "P"), UInt8(ascii: "N")])
    }

    private func requests(_ unit: SimulatedUnit) -> CANFrame? {
        let isAllowed = unit.management.protections.isEmpty
        let charge = isAllowed && unit.management.chargeCurrentLimit(unit.battery) > .zero
        let discharge = isAllowed && unit.management.dischargeCurrentLimit(unit.battery) > .zero
        return CANFrame(0x35C, bytes: [(charge ? 0x80 : 0) | (discharge ? 0x40 : 0), 0])
    }

    private var maker: CANFrame? { CANFrame(0x35E, bytes: Array("PYLON   ".utf8)) }

    /// Millivolts, and whole kelvin.
    private func extremes(_ battery: BatteryModel) -> CANFrame? {
        let voltages = battery.cellVoltages
        let temperatures = battery.cellTemperatures
        return frame(
            0x373,
            [
                unsigned(voltages.min.value, per: 0.001), unsigned(voltages.max.value, per: 0.001),
                unsigned(temperatures.min.value + 273.15, per: 1),
                unsigned(temperatures.max.value + 273.15, per: 1),
            ])
    }

    /// Frames with nonsense in them: truncated, out of range, unknown, remote.
    static let garbage: [CANFrame] = [
        CANFrame(0x351, bytes: [0xFF]), CANFrame(0x356, bytes: [0xFF, 0x7F, 0xFF, 0x7F, 0xFF, 0x7F, 1, 2]),
        CANFrame(0x373, bytes: [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0xFF, 0xFF]), CANFrame(0x7FF, bytes: [1]),
        CANFrame(0x355, kind: .remote), CANFrame(0x1FFF_FFFF, isExtended: true, bytes: [0xAA, 0x55]),
    ].compactMap { $0 }
}
