import PowerDispatch
import Quantities

/// What the running units give together as far as anybody on site knows: by their inverters, and where a
/// battery says that more flows than was asked for or is shown, by that battery.
///
/// Where the meter is blind nobody else sees it, and a limit that holds on a sum in which a display lies is
/// none.
struct BatteryFlow: Sendable, BitwiseCopyable {
    /// More than any inverter loses.
    static let lossyShare = 1.1

    private var power = Watts.zero
    /// One bit for each unit whose battery contradicts its inverter.
    private(set) var contradicted: UInt64 = 0

    /// - Parameter drawn: what the battery of a unit says that contradicts its inverter; `nil` = none does.
    mutating func add(_ index: Int, shown: Watts, drawn: Watts?) {
        guard let drawn else { return power += shown }
        contradicted |= 1 << UInt64(index)
        power += Self.power(atGridOf: drawn)
    }

    /// What is lost on the way into the battery comes from the grid besides.
    static func power(atGridOf drawn: Watts) -> Watts { drawn < .zero ? drawn * lossyShare : drawn }

    /// It is more than is agreed at the meter, whatever else may draw or give besides.
    func isExceeded(_ limits: SiteLimits, room: Watts) -> Bool {
        let others = limits.loadMax ?? .zero
        return limits.isExceeded(at: power > .zero ? power + others : power - others, room: room)
    }
}
