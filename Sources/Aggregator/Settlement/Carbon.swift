import Contracts
import ExactAmounts

/// What a kWh of each origin costs the air, and who says so.
public struct CarbonTable: Equatable, Sendable {
    /// Where energy comes from, as far as it can be told.
    public enum Origin: String, CaseIterable, Sendable {
        case grid, pv, wind, battery
        /// Of a party that has several kinds of resources, or a meter behind which nobody sees.
        case mixed
    }

    public var source: String
    public var mark: TariffMark
    /// Grams of CO₂ for each kWh; an origin that is not there is not known, which is not 0.
    public var grams: [Origin: Int64]

    public init(source: String, mark: TariffMark, grams: [Origin: Int64]) {
        self.source = source
        self.mark = mark
        self.grams = grams
    }

    /// Milligrams of CO₂, exactly; `nil` where the origin's figure is not known.
    public func milligrams(_ energy: WattHours, from origin: Origin) -> Int128? {
        grams[origin].map { Int128($0) * Int128(energy.count) }
    }
}

extension Resource.Kind {
    /// What its export is made of.
    public var origin: CarbonTable.Origin {
        switch self {
        case .pv: .pv
        case .wind: .wind
        case .battery: .battery
        case .load, .meter: .mixed
        case .gridConnection: .grid
        }
    }
}
