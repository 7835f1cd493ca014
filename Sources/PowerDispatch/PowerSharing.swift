import Plant
import Quantities

/// What one unit may do and what it is given.
public struct UnitShare: Sendable, BitwiseCopyable {
    public var window: PermitWindow
    /// Filled by `PowerSharing.share`.
    public var power: Watts = .zero

    public init(window: PermitWindow) { self.window = window }
}

/// Shares a site's power over its units.
public enum PowerSharing {
    /// Gives each of the first `count` units its part of `target`, in proportion to what its window allows in
    /// that direction.
    ///
    /// A unit never gets more than its window; together they get `target`, or all they can. Whoever drops out
    /// leaves its part to the others in the same call. The result depends on nothing but the arguments.
    ///
    /// - Returns: the sum of what was given.
    public static func share(_ target: Watts, over units: inout MutableSpan<UnitShare>, count: Int) -> Watts {
        var available = Watts.zero
        for index in 0..<count {
            units[index].power = .zero
            available += limit(of: units[index].window, toward: target)
        }
        guard available.magnitude > .zero else { return .zero }
        let part = target / available
        let factor = part > 1 ? 1 : part
        var given = Watts.zero
        for index in 0..<count {
            let power = limit(of: units[index].window, toward: target) * factor
            units[index].power = power
            given += power
        }
        return given
    }

    private static func limit(of window: PermitWindow, toward target: Watts) -> Watts {
        target < .zero ? window.charge : window.discharge
    }
}
