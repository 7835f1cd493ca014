import Quantities

// Units that only the simulated battery needs.

/// Resistance, Ω.
public struct Ohms: Quantity {
    public let value: Double
    public init(_ value: Double) {
        precondition(value.isFinite)
        self.value = value
    }
}

/// Charge, Ah.
public struct AmpereHours: Quantity {
    public let value: Double
    public init(_ value: Double) {
        precondition(value.isFinite)
        self.value = value
    }
}

/// Rate of heating, K/s.
public struct KelvinPerSecond: Quantity {
    public let value: Double
    public init(_ value: Double) {
        precondition(value.isFinite)
        self.value = value
    }
}

/// Heat that warms a body by one kelvin, J/K.
public struct JoulesPerKelvin: Quantity {
    public let value: Double
    public init(_ value: Double) {
        precondition(value.isFinite)
        self.value = value
    }
}
