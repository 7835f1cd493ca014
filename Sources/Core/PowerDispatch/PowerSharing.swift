import Plant
import Quantities

/// What one unit may do and what it is given.
public struct UnitShare: Sendable, BitwiseCopyable {
    public var window: PermitWindow
    /// What a unit that is on its way into service will have at its end; its part is measured by that, so
    /// that it comes to it on the ramp and no slower. `nil` = the window.
    public var full: PermitWindow?
    /// `nil` = unknown: the unit is neither preferred nor spared.
    public var stateOfCharge: Fraction?
    /// Only `SharingSettings.Mode.minimumLoss` looks at it.
    public var losses: UnitLosses
    /// Filled by `PowerSharing.share`.
    public var power: Watts = .zero

    public init(window: PermitWindow, stateOfCharge: Fraction? = nil, losses: UnitLosses = .none) {
        self.window = window
        self.stateOfCharge = stateOfCharge
        self.losses = losses
    }
}

/// How a site's power is shared over its units.
public struct SharingSettings: Sendable, BitwiseCopyable, Equatable {
    public enum Mode: UInt8, Sendable, BitwiseCopyable, Equatable {
        /// Every unit takes part, in proportion to what its window allows.
        case proportional
        /// As few units as lose least in sum; the others rest.
        case minimumLoss
    }

    public var mode: Mode
    /// Proportional: a unit that is 1 ÷ gain fuller than the mean gets twice its part of a discharge and half
    /// its part of a charge. Minimum loss: for each 1 ÷ gain that it is fuller, a unit may lose 1 % more of
    /// its power before another one is preferred. Zero = state of charge does not count.
    public var balancing: Double

    public init(mode: Mode = .proportional, balancing: Double = 0) {
        precondition(balancing >= 0 && balancing.isFinite)
        self.mode = mode
        self.balancing = balancing
    }
}

/// Shares a site's power over its units.
///
/// A unit never gets more than its window; together they get the target, or all they can. Whoever drops out
/// leaves its part to the others in the same call. No unit ever discharges while another one charges.
public struct PowerSharing: Sendable, BitwiseCopyable {
    private let settings: SharingSettings
    /// Minimum loss: the units that were given power last, one bit each. They stay until others lose clearly
    /// less.
    private var running: UInt64 = 0

    public init(_ settings: SharingSettings = SharingSettings()) { self.settings = settings }

    /// Gives each of the first `count` units its part of `target`.
    ///
    /// The result depends on nothing but the arguments and, for minimum loss, on who ran before. In the
    /// proportional mode a larger target never gives any unit less.
    ///
    /// - Returns: the sum of what was given.
    public mutating func share(
        _ target: Watts, over units: inout MutableSpan<UnitShare>, count: Int
    ) -> Watts {
        var limits = InlineArray<64, Watts>(repeating: .zero)
        var available = Watts.zero
        for index in 0..<count {
            units[index].power = .zero
            limits[index] = limit(of: units[index].window, toward: target)
            available += limits[index]
        }
        if target == .zero || available == .zero { return .zero }
        if target.magnitude >= available {
            for index in 0..<count {
                units[index].power = target < .zero ? -limits[index] : limits[index]
            }
        } else {
            switch settings.mode {
            case .proportional: shareByHeadroom(target, limits.span, &units, count)
            case .minimumLoss: shareByLoss(target, limits.span, &units, count)
            }
        }
        var given = Watts.zero
        for index in 0..<count { given += units[index].power }
        return given
    }

    /// A magnitude.
    private func limit(of window: PermitWindow, toward target: Watts) -> Watts {
        (target < .zero ? window.charge : window.discharge).magnitude
    }

    /// Fills the units like vessels of different width: who is full leaves the rest to the others.
    private func shareByHeadroom(
        _ target: Watts, _ limits: Span<Watts>, _ units: inout MutableSpan<UnitShare>, _ count: Int
    ) {
        var widths = InlineArray<64, Watts>(repeating: .zero)
        let mean = meanCharge(limits, units, count)
        for index in 0..<count {
            let full = units[index].full.map { limit(of: $0, toward: target) }
            let width = max(full ?? .zero, limits[index])
            widths[index] = width * favour(advantage(of: units[index], over: mean, target))
        }
        // At the last level everybody is full; rounding must not ask for more.
        let highest = 1 + settings.balancing
        var isFull = InlineArray<64, Bool>(repeating: false)
        var left = target.magnitude
        var level = 0.0
        var hasFilled = true
        while hasFilled {
            hasFilled = false
            var width = Watts.zero
            for index in 0..<count where !isFull[index] { width += widths[index] }
            level = width > .zero ? min(left / width, highest) : 0
            for index in 0..<count where !isFull[index] {
                guard widths[index] * level >= limits[index] else { continue }
                isFull[index] = true
                left -= limits[index]
                hasFilled = true
            }
        }
        for index in 0..<count {
            let power = isFull[index] ? limits[index] : (widths[index] * level).clamped(.zero, limits[index])
            units[index].power = target < .zero ? -power : power
        }
    }

    private mutating func shareByLoss(
        _ target: Watts, _ limits: Span<Watts>, _ units: inout MutableSpan<UnitShare>, _ count: Int
    ) {
        var search = MinimumLoss(target: target.magnitude)
        let mean = meanCharge(limits, units, count)
        for index in 0..<count {
            search.add(
                index, limit: limits[index], units[index].losses,
                bonus: 0.01 * advantage(of: units[index], over: mean, target))
        }
        running = search.solve(before: running)
        for index in 0..<count {
            let power = search.power(of: index)
            units[index].power = target < .zero ? -power : power
        }
    }

    /// Of the units that can take part, weighted by what they can.
    private func meanCharge(
        _ limits: Span<Watts>, _ units: borrowing MutableSpan<UnitShare>, _ count: Int
    ) -> Fraction? {
        guard settings.balancing > 0 else { return nil }
        var sum = 0.0
        var weight = Watts.zero
        for index in 0..<count {
            guard let charge = units[index].stateOfCharge else { continue }
            sum += charge.clamped(.zero, Fraction(1)).value * limits[index].value
            weight += limits[index]
        }
        return weight > .zero ? Fraction(sum / weight.value) : nil
    }

    /// Gain times how much fuller (for a charge: emptier) than the mean.
    private func advantage(of unit: UnitShare, over mean: Fraction?, _ target: Watts) -> Double {
        guard let mean, let charge = unit.stateOfCharge else { return 0 }
        let lead = settings.balancing * (charge.clamped(.zero, Fraction(1)) - mean).value
        return target < .zero ? -lead : lead
    }

    /// 2 at 1, ½ at −1, always above zero.
    private func favour(_ advantage: Double) -> Double {
        advantage < 0 ? 1 / (1 - advantage) : 1 + advantage
    }
}
