import Quantities

/// What a BMS reports as severe; it opens its contactors on any of them.
public enum BatteryProtection: String, Sendable, CaseIterable {
    case cellVoltageHigh = "cell_voltage_high"
    case cellVoltageLow = "cell_voltage_low"
    case cellTemperatureHigh = "cell_temperature_high"
    case systemError = "system_error"
}

/// The battery's own electronics: it limits the currents near the ends of charge and opens the contactors as
/// its last resort. Its protection limits lie beyond those of the site's controller, as a battery maker's do.
public struct BatteryManagement: Sendable {
    public static let cellVoltageHigh = Volts(3.80)
    public static let cellVoltageLow = Volts(2.30)
    public static let cellTemperatureHigh = Celsius(68)
    static let warningTemperature = Celsius(50)

    /// What has opened the contactors; stays until `clear()`.
    public private(set) var protections: [BatteryProtection] = []
    /// Warnings that stand now.
    public private(set) var isTemperatureWarning = false
    /// A fault makes the BMS report a system error of its own.
    var isSystemErrorForced = false
    /// Faults make the BMS tell these.
    var forcedLimits: (charge: Amperes, discharge: Amperes)?
    var forcedChargeVoltage: Volts?
    /// A fault holds the battery's own contactors open; it says nothing of it.
    var keepsContactorsOpen = false
    /// Whether somebody lets its contactors be closed, by a wire or by a message; `nil` = it asks nobody.
    /// Withdrawn, they open at once, whatever flows.
    public var isPermitted: Bool?

    public init() {}

    mutating func watch(_ battery: inout BatteryModel) {
        let voltages = battery.cellVoltages
        let temperatures = battery.cellTemperatures
        isTemperatureWarning = temperatures.max > Self.warningTemperature
        if voltages.max > Self.cellVoltageHigh { latch(.cellVoltageHigh) }
        if voltages.min < Self.cellVoltageLow { latch(.cellVoltageLow) }
        if temperatures.max > Self.cellTemperatureHigh { latch(.cellTemperatureHigh) }
        if isSystemErrorForced { latch(.systemError) }
        battery.isContactorClosed =
            protections.isEmpty && !keepsContactorsOpen && isPermitted ?? true
    }

    private mutating func latch(_ protection: BatteryProtection) {
        if !protections.contains(protection) { protections.append(protection) }
    }

    /// A person at the battery resets it; what still stands latches again in the next step.
    public mutating func clear() { protections = [] }

    /// Magnitude; full up to 90 % charge, then a line to zero at 99 %.
    public func chargeCurrentLimit(_ battery: BatteryModel) -> Amperes {
        forcedLimits?.charge ?? limit(battery, share: (0.99 - battery.shownStateOfCharge.value) / 0.09)
    }

    /// Magnitude; full down to 10 % charge, then a line to zero at 2 %.
    public func dischargeCurrentLimit(_ battery: BatteryModel) -> Amperes {
        forcedLimits?.discharge ?? limit(battery, share: (battery.shownStateOfCharge.value - 0.02) / 0.08)
    }

    /// The rated power with a quarter to spare for losses and a low voltage.
    private func limit(_ battery: BatteryModel, share: Double) -> Amperes {
        guard protections.isEmpty else { return .zero }
        let specification = battery.specification
        let nominal = Double(specification.cellCount) * BatteryModel.nominalCellVoltage
        return Amperes(1.25 * specification.maxPower.value / nominal)
            * Fraction(share).clamped(.zero, Fraction(1)).value
    }

    /// Most the string may be charged to, 3.55 V per cell.
    public func chargeVoltageLimit(_ battery: BatteryModel) -> Volts {
        forcedChargeVoltage ?? Volts(3.55 * Double(battery.specification.cellCount))
    }

    /// Least the string may be discharged to, 2.8 V per cell.
    public func dischargeVoltageLimit(_ battery: BatteryModel) -> Volts {
        Volts(2.8 * Double(battery.specification.cellCount))
    }
}
