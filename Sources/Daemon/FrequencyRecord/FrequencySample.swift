import Quantities

/// What the site was asked for by the grid and what it delivered, at one instant.
public struct FrequencySample: Sendable, Equatable {
    /// Which direction the state of charge closes or narrows.
    public enum ChargeLimit: String, Sendable, CaseIterable {
        case none, charge, discharge, both
    }

    /// Wall time of the decision, ms since 1970-01-01 00:00 UTC.
    public var milliseconds: Int64
    /// The frequency that was used; `nil` where nobody measured it.
    public var frequency: Hertz?
    /// What the droop curve in force asks for at this frequency, on the nameplate; positive = inject.
    public var expected: Watts?
    /// What the controller made of it, dynamics included.
    public var response: Watts
    /// The power without frequency response.
    public var basePoint: Watts
    /// Sum of the units' setpoints.
    public var setpoint: Watts
    /// Sum of what the inverters measure; `nil` where the reading of one of them is too old.
    public var delivered: Watts?
    /// Weighted by rating; `nil` where one of the units does not tell.
    public var stateOfCharge: Fraction?
    /// The nameplate of the whole site, a magnitude.
    public var rated: Watts
    /// The nameplate of the units in service.
    public var inService: Watts
    public var chargeLimit: ChargeLimit
    /// The frequency was simulated, for a test: it is not the grid's.
    public var isSimulated: Bool

    public init(
        milliseconds: Int64, frequency: Hertz?, expected: Watts?, response: Watts = .zero,
        basePoint: Watts = .zero, setpoint: Watts = .zero, delivered: Watts?, stateOfCharge: Fraction? = nil,
        rated: Watts, inService: Watts? = nil, chargeLimit: ChargeLimit = .none,
        isSimulated: Bool = false
    ) {
        self.isSimulated = isSimulated
        self.milliseconds = milliseconds
        self.frequency = frequency
        self.expected = expected
        self.response = response
        self.basePoint = basePoint
        self.setpoint = setpoint
        self.delivered = delivered
        self.stateOfCharge = stateOfCharge
        self.rated = rated
        self.inService = inService ?? rated
        self.chargeLimit = chargeLimit
    }

    /// Whether the frequency is outside the deadband; `nil` where it is not known.
    public var isOutside: Bool? { expected.map { $0 != .zero } }

    /// Expected total: base point and response, bounded by the nameplate.
    var target: Watts? {
        guard let expected else { return nil }
        return (base + expected).clamped(-rated, rated)
    }

    /// The base point inside the nameplate.
    var base: Watts { basePoint.clamped(-rated, rated) }

    /// The part of `expected` that the nameplate has room for beside the base point.
    var expectedChange: Watts? { target.map { $0 - base } }

    /// What was delivered beside the base point.
    var deliveredChange: Watts? { delivered.map { $0 - base } }
}
