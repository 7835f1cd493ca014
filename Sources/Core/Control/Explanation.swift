import Plant
import PowerDispatch
import Quantities

/// Why a unit has the power it has: who asked, what was added, who limited, what came of it.
public struct Explanation: Sendable, BitwiseCopyable {
    /// Who asked the site, and for what.
    public var source: BasePointSource
    public var basePoint: Watts
    /// What the energy management and the latch of an event added to it.
    public var correction: Watts
    /// What the grid's frequency added.
    public var response: Watts
    /// What the ramps let through of all three.
    public var target: Watts
    /// The unit's part of the target by its rating, or what an operator asks of it alone.
    public var requested: Watts
    /// What limited the unit, and the power it left; `none` where nothing did.
    public var cause: Cause
    public var limit: Watts
    public var setpoint: Watts
    /// For how much longer its power is taken back; `nil` where it is not (`UnitDecision.restsUntil`).
    public var rest: Duration?

    /// - Parameter unit: its index in the decision.
    public init(of unit: Int, in decision: borrowing Decision) {
        source = decision.units[unit].override == nil ? decision.basePointSource : .operator
        basePoint = decision.basePoint
        correction = decision.correction
        response = decision.response
        target = decision.wanted
        let own = decision.units[unit]
        requested = own.requested
        cause = own.limitedBy
        setpoint = own.setpoint
        let now = decision.at
        rest = own.restsUntil.flatMap { $0 > now ? $0 - now : nil }
        switch own.limitedBy {
        case .siteLimit, .sharing, .entry, .none: limit = own.setpoint
        case .rating, .batteryCurrentLimit, .batteryPermission, .stateOfCharge, .reading, .interlock, .mode,
            .grid, .contactors:
            limit = own.requested < .zero ? own.window.charge : own.window.discharge
        }
    }

    /// The ramp still holds the site away from what is asked.
    public var isRamping: Bool {
        // Sums that differ by rounding alone are equal.
        let asked = basePoint + correction + response
        return (target - asked).magnitude > asked.magnitude * 1e-9 + Watts(1e-6)
    }
}

extension UnitDecision {
    /// Finds what kept the setpoint below the unit's part of the target.
    mutating func explain(_ part: Watts, isSiteLimited: Bool) {
        requested = part
        let isCharge = part < .zero
        let end = isCharge ? window.charge : window.discharge
        let cause = isCharge ? window.chargeCause : window.dischargeCause
        // Parts that differ by rounding alone are equal.
        let tolerance = part.magnitude * 1e-9
        let isAgainst = setpoint != .zero && part != .zero && (setpoint < .zero) != isCharge
        if setpoint.magnitude >= part.magnitude - tolerance && !isAgainst {
            limitedBy = .none
        } else if isSiteLimited && end.magnitude > .zero {
            limitedBy = .siteLimit
        } else if cause == .rating && setpoint.magnitude < end.magnitude - tolerance {
            limitedBy = isEntering ? .entry : .sharing
        } else {
            limitedBy = cause
        }
    }
}
