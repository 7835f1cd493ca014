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
    /// Of the meter's voltage; `nil` = it is not supervised.
    public var nominalVoltage: Volts?
    /// What the inverters measure at nominal voltage; `nil` = theirs is not looked at.
    public var inverterVoltage: Volts?
    /// The step in which the meter reports frequency; `nil` = nobody has said.
    public var meterResolution: Hertz?
    /// One bit for each PMU that measures at the point of connection.
    public var localPhasors: UInt8 = 0
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
    /// Whether the response may be shown on a frequency that nobody measures, for a time.
    public var allowsTest = false
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

    /// Whether a source stands on site. A stream from elsewhere says nothing of this point of connection.
    func isLocal(_ source: FrequencySource.Kind) -> Bool {
        switch source {
        case .meter, .inverter, .simulated: true
        case .phasor(let index): index >= 0 && index < 8 && localPhasors & 1 << UInt8(index) != 0
        }
    }

    /// How old the readings of a PMU on site may be; `nil` for one elsewhere, or none.
    func localPhasorBudget(_ index: Int) -> Duration? {
        guard isLocal(.phasor(index)) else { return nil }
        for rank in 0..<sourceCount where sources[rank].kind == .phasor(index) { return sources[rank].budget }
        return nil
    }

    /// Nobody measures, by the site's own will.
    var hasSimulatedSource: Bool {
        for rank in 0..<sourceCount where sources[rank].kind == .simulated { return true }
        return false
    }

    /// The longest that a meter of this resolution shows the same frequency on a living grid; `nil` = it is
    /// too coarse to tell.
    ///
    /// Frequency wanders: how long it stays inside a step grows with the square of the step. On a large grid,
    /// with 20 mHz of standard deviation and minutes of memory, it stays inside 10 mHz for 300 s about never;
    /// below 3 mHz noise alone moves it.
    public static func longestStand(of resolution: Hertz) -> Duration? {
        let step = resolution.value * 1_000
        guard step > 0, step <= 20.000_001 else { return nil }
        return .milliseconds(Int64(max(30.0, 3.0 * step * step) * 1_000))
    }
}
