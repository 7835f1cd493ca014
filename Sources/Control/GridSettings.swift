import FrequencyResponse
import Quantities

/// Something that measures the grid's frequency.
public struct FrequencySource: Sendable, BitwiseCopyable, Equatable {
    public enum Kind: Sendable, BitwiseCopyable, Equatable {
        case meter
        /// By its index in the site's list of units.
        case inverter(unit: Int)
        /// By its index in the site's list of PMUs.
        case phasor(Int)
        /// Nominal frequency for ever; for sites that nobody measures, in simulation only.
        case simulated
    }

    public var kind: Kind
    /// How old its reading may be.
    public var budget: Duration

    public init(_ kind: Kind, budget: Duration) {
        self.kind = kind
        self.budget = budget
    }
}

/// How the site looks at the grid: its frequency sources by rank, and what it demands of the grid.
public struct GridSettings: Sendable, BitwiseCopyable {
    public private(set) var sources: InlineArray<8, FrequencySource>
    public private(set) var sourceCount = 0
    public var selector = FrequencySelector.Settings()
    public var nominalFrequency: Hertz
    /// Of the meter's voltage; `nil` = voltage is not supervised.
    public var nominalVoltage: Volts?
    /// Over which ROCOF is computed.
    public var rateOfChangeWindow = Duration.milliseconds(500)
    /// Without any frequency for so long the site's health is degraded.
    public var missingLimit = Duration.seconds(5)
    /// `nil` = the grid's state does not keep the site from service.
    public var supervision: GridSupervisor.Settings?
    /// The PMU that tells of the breaker, instead of an input of the site.
    public var breakerPhasor: Int?
    /// The same for the permit.
    public var permitPhasor: Int?
    /// How old breaker and permit may be; an older one is none.
    public var permissiveBudget = Duration.seconds(1)

    public init(nominalFrequency: Hertz) {
        self.nominalFrequency = nominalFrequency
        sources = InlineArray(repeating: FrequencySource(.simulated, budget: .zero))
    }

    /// The meter alone.
    public init(nominalFrequency: Hertz, meterBudget: Duration) {
        self.init(nominalFrequency: nominalFrequency)
        add(FrequencySource(.meter, budget: meterBudget))
    }

    /// Adds the source of the next lower rank; at most 8.
    public mutating func add(_ source: FrequencySource) {
        precondition(sourceCount < FrequencySelector.maximumCount)
        sources[sourceCount] = source
        sourceCount += 1
    }
}
