import Plant

/// A battery as a simulator knows it, in the units of `BatteryQuantity`; `nil` = it does not say.
public struct BatterySample: Sendable {
    private var values = [Double?](repeating: nil, count: BatteryQuantity.allCases.count)
    /// Volts and °C of each; a profile with more cells than these begins again at the first.
    public var cellVoltages: [Double] = []
    public var cellTemperatures: [Double] = []
    public var alarms: BatteryAlarms = []
    public var warnings: BatteryAlarms = []
    public var permissions: BatteryPermissions = [.charge, .discharge]

    public init() {}

    public subscript(_ quantity: BatteryQuantity) -> Double? {
        get { values[quantity.rawValue] }
        set { values[quantity.rawValue] = newValue }
    }
}
