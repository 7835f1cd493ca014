import DeviceCodecs
import Quantities

/// The grid meter as SunSpec models 1, 213 (three-phase wye, float) and 203 (the same in integers).
///
/// Sign convention: `W` is positive while the site injects into the grid, so that it has the sign of 701 `W`;
/// energy injected counts as exported.
struct MeterRegisters {
    var frequency: Hertz
    var power: Watts
    /// Share of nominal.
    var voltage = Fraction(1)
    /// Every measured value is "not a number".
    var isBlind = false

    static let phaseVoltage = 230.9

    func image(unitID: UInt8) -> [UInt16] {
        var meter = SimulatedModel(213, length: 124)
        for offset in stride(from: 2, to: 124, by: 2) { meter.set(offset, long: 0x7FC0_0000) }
        if isBlind { return head(unitID) + meter.registers + sunSpecEnd }
        let current = power.value / (3 * Self.phaseVoltage)
        meter.set(2, float: current)
        for offset in [4, 6, 8] { meter.set(offset, float: current / 3) }
        for offset in [10, 12, 14, 16] { meter.set(offset, float: Self.phaseVoltage * voltage.value) }
        for offset in [18, 20, 22, 24] { meter.set(offset, float: 400 * voltage.value) }
        meter.set(26, float: frequency.value)
        meter.set(28, float: power.value)
        for offset in [30, 32, 34] { meter.set(offset, float: power.value / 3) }
        meter.set(36, float: power.value.magnitude)
        meter.set(44, float: 0)
        meter.set(52, float: 1)
        meter.set(60, float: 0)
        meter.set(68, float: 0)
        meter.set(124, long: 0)
        return head(unitID) + meter.registers + integers + sunSpecEnd
    }

    private func head(_ unitID: UInt8) -> [UInt16] {
        sunSpecMarker + commonModel(model: "Simulated meter", serial: "METER", unitID: unitID)
    }

    private static let empty203 = SunSpecDefinition(203).map { SunSpecImage($0) }

    private var integers: [UInt16] {
        guard var image = Self.empty203 else { return [] }
        let exponent = scale(for: max(power.value.magnitude, 1))
        for (name, digits) in [("A_SF", -1), ("V_SF", -1), ("Hz_SF", -2), ("PF_SF", 0)] {
            image.setScale(name, digits)
        }
        for name in ["W_SF", "VA_SF", "VAR_SF"] { image.setScale(name, exponent) }
        let current = power.value / (3 * Self.phaseVoltage)
        image.set("A", current)
        let phase = Self.phaseVoltage * voltage.value
        let values: [(String, Double)] = [
            ("PhV", phase), ("PhVphA", phase), ("PhVphB", phase), ("PhVphC", phase),
            ("PPV", 400 * voltage.value), ("Hz", frequency.value), ("W", power.value),
            ("WphA", power.value / 3), ("WphB", power.value / 3), ("WphC", power.value / 3),
            ("VA", power.value.magnitude), ("VAR", 0), ("PF", 100), ("Evt", 0),
        ]
        for (name, value) in values { image.set(name, value) }
        return image.registers
    }
}
