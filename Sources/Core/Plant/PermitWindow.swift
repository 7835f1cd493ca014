import Quantities

/// The power that is allowed now, from charge to discharge. It is made wide once and can only be narrowed.
public struct PermitWindow: Sendable, BitwiseCopyable, Equatable {
    /// Zero or less: the most the unit may charge.
    public private(set) var charge: Watts
    /// Zero or more: the most the unit may discharge.
    public private(set) var discharge: Watts
    /// What holds each end where it is.
    public private(set) var chargeCause: Cause
    public private(set) var dischargeCause: Cause

    /// Nothing is allowed, because of `cause`.
    public static func closed(_ cause: Cause) -> PermitWindow {
        PermitWindow(charge: .zero, discharge: .zero, chargeCause: cause, dischargeCause: cause)
    }

    /// ±`power`, a magnitude.
    public static func rating(_ power: Watts) -> PermitWindow {
        PermitWindow(charge: -power, discharge: power, chargeCause: .rating, dischargeCause: .rating)
    }

    private init(charge: Watts, discharge: Watts, chargeCause: Cause, dischargeCause: Cause) {
        precondition(charge <= .zero && discharge >= .zero)
        self.charge = charge
        self.discharge = discharge
        self.chargeCause = chargeCause
        self.dischargeCause = dischargeCause
    }

    /// Allows at most `magnitude` of charging. A wider limit changes nothing.
    public mutating func limitCharge(to magnitude: Watts, _ cause: Cause) {
        let limit = -(magnitude < .zero ? .zero : magnitude)
        guard limit > charge else { return }
        charge = limit
        chargeCause = cause
    }

    /// Allows at most `magnitude` of discharging. A wider limit changes nothing.
    public mutating func limitDischarge(to magnitude: Watts, _ cause: Cause) {
        let limit = magnitude < .zero ? .zero : magnitude
        guard limit < discharge else { return }
        discharge = limit
        dischargeCause = cause
    }

    public mutating func close(_ cause: Cause) {
        limitCharge(to: .zero, cause)
        limitDischarge(to: .zero, cause)
    }

    public func clamp(_ power: Watts) -> Watts { power.clamped(charge, discharge) }
}
