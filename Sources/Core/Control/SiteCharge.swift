import FrequencyResponse
import Quantities

/// The state of charge of the units that run, and what the base point may use of it.
struct SiteCharge {
    private var weighted = 0.0
    private var known = 0.0
    /// What the base point may have without touching what is kept for the response.
    private(set) var bounds = PowerBounds(charge: .zero, discharge: .zero)

    /// Weighted by rating; `nil` where no unit's is known.
    var mean: Fraction? { known > 0 ? Fraction(weighted / known) : nil }

    mutating func add(_ charge: Fraction, of unit: UnitSettings, _ service: ServiceSettings) {
        weighted += unit.rating.value * charge.value
        known += unit.rating.value
        let walls = ChargeWalls(
            low: unit.minStateOfCharge + service.reserve, high: unit.maxStateOfCharge - service.headroom,
            taper: ChargeWalls.standardTaper)
        bounds = PowerBounds(
            charge: bounds.charge - unit.rating * walls.chargeShare(at: charge),
            discharge: bounds.discharge + unit.rating * walls.dischargeShare(at: charge))
    }
}
