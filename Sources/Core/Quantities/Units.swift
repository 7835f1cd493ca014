// The units of the controller. Signs are said here once: positive power and positive battery current mean
// discharge, that is, injection into the grid.

/// Active power, W. Positive = discharge = injected into the grid (the sign of SunSpec 701 `W`).
public struct Watts: Quantity {
    public let value: Double
    public init(_ value: Double) {
        precondition(value.isFinite)
        self.value = value
    }
    public static func kilowatts(_ kilowatts: Double) -> Watts { Watts(kilowatts * 1_000) }
    public var kilowatts: Double { value / 1_000 }
}

/// Reactive power, var. Positive = injected (over-excited).
public struct VoltAmperesReactive: Quantity {
    public let value: Double
    public init(_ value: Double) {
        precondition(value.isFinite)
        self.value = value
    }
}

/// Electric potential, V.
public struct Volts: Quantity {
    public let value: Double
    public init(_ value: Double) {
        precondition(value.isFinite)
        self.value = value
    }
}

/// Electric current, A. Positive = the battery discharges; limits are magnitudes, zero or more.
public struct Amperes: Quantity {
    public let value: Double
    public init(_ value: Double) {
        precondition(value.isFinite)
        self.value = value
    }
}

/// Resistance, Ω; zero or more.
public struct Ohms: Quantity {
    public let value: Double
    public init(_ value: Double) {
        precondition(value.isFinite)
        self.value = value
    }
}

/// Frequency, Hz.
public struct Hertz: Quantity {
    public let value: Double
    public init(_ value: Double) {
        precondition(value.isFinite)
        self.value = value
    }
}

/// Rate of change of frequency (ROCOF), Hz/s.
public struct HertzPerSecond: Quantity {
    public let value: Double
    public init(_ value: Double) {
        precondition(value.isFinite)
        self.value = value
    }
}

/// Temperature, °C.
public struct Celsius: Quantity {
    public let value: Double
    public init(_ value: Double) {
        precondition(value.isFinite)
        self.value = value
    }
}

/// Energy, Wh. Positive = discharged.
public struct WattHours: Quantity {
    public let value: Double
    public init(_ value: Double) {
        precondition(value.isFinite)
        self.value = value
    }
    public static func kilowattHours(_ kilowattHours: Double) -> WattHours {
        WattHours(kilowattHours * 1_000)
    }
}

/// A share of a whole: 1 = all of it (state of charge, droop, ramp share).
public struct Fraction: Quantity {
    public let value: Double
    public init(_ value: Double) {
        precondition(value.isFinite)
        self.value = value
    }
    public static func percent(_ percent: Double) -> Fraction { Fraction(percent / 100) }
    public var percent: Double { value * 100 }
}

/// Ramp rate of active power, W/s; a magnitude, zero or more.
public struct WattsPerSecond: Quantity {
    public let value: Double
    public init(_ value: Double) {
        precondition(value.isFinite)
        self.value = value
    }
}

public func * (potential: Volts, current: Amperes) -> Watts { Watts(potential.value * current.value) }
/// The potential is not zero.
public func / (power: Watts, potential: Volts) -> Amperes { Amperes(power.value / potential.value) }
public func * (power: Watts, share: Fraction) -> Watts { Watts(power.value * share.value) }
public func * (rate: WattsPerSecond, time: Duration) -> Watts { Watts(rate.value * time.seconds) }
public func * (power: Watts, time: Duration) -> WattHours { WattHours(power.value * time.seconds / 3_600) }
