import Quantities
import Scenario

/// Reactive power as SunSpec 704 asks for it. The reversion timers of these points are stored and do nothing.
struct InverterReactive {
    /// Offsets from the ID register of 704.
    static let flags = [2, 3, 8, 9, 35, 44, 60, 62, 64, 66]
    static let reversionLeft = [6, 12, 47]
    /// PF and its side: for injection, its reversion, absorption, its reversion.
    static let factors = [59, 61, 63, 65]
    static let factorScale = -3

    /// The device's own setting: power factor 1, nothing enabled.
    static func prepare(_ model: inout SimulatedModel) {
        for offset in flags { model.set(offset, 0) }
        for offset in [4, 10, 38, 40, 45] + reversionLeft { model.set(offset, long: 0) }
        for offset in [37, 42, 43] { model.set(offset, 0) }
        model.set(36, 4)
        for offset in factors { model.set(offset, 1_000) }
        model.set(53, scale: factorScale)
        model.set(57, scale: 0)
        model.set(58, scale: -2)
    }

    /// Whether a register may hold `value`.
    static func accepts(_ value: UInt16, at offset: Int) -> Bool {
        if flags.contains(offset) { return value <= 1 }
        if factors.contains(offset) { return value <= 1_000 }
        return offset == 36 ? value <= 4 : (offset == 37 ? value <= 2 : true)
    }

    /// What the inverter gives at an active power, inside what its apparent power leaves.
    static func power(_ controls: [UInt16], at active: Watts, rated: Watts) -> VoltAmperesReactive {
        let room = (rated.value * rated.value - active.value * active.value).clamped(to: 0...(.infinity))
        let most = room.squareRoot()
        return VoltAmperesReactive(wanted(controls, active, rated, most).clamped(to: -most...most))
    }

    private static func wanted(
        _ controls: [UInt16], _ active: Watts, _ rated: Watts, _ most: Double
    ) -> Double {
        if controls[35] == 1 {
            if controls[36] == 4 {
                return Double(Int32(bitPattern: UInt32(controls[38]) << 16 | UInt32(controls[39])))
            }
            return Double(Int16(bitPattern: controls[42])) / 10_000 * (controls[36] == 2 ? most : rated.value)
        }
        let (enable, factor) = active < .zero ? (8, 63) : (2, 59)
        guard controls[enable] == 1 else { return 0 }
        let cosine = Double(controls[factor]) * BallastSimulator.power(factorScale)
        guard cosine > 0 else { return controls[factor + 1] == 0 ? most : -most }
        let magnitude = active.value.magnitude * (1 - cosine * cosine).squareRoot() / cosine
        return controls[factor + 1] == 0 ? magnitude : -magnitude
    }
}

extension Double {
    fileprivate func clamped(to range: ClosedRange<Double>) -> Double {
        Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
    }
}
