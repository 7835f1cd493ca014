import ModbusBus
import Quantities
import Synchronization

/// What is known of the power behind each unit's contacts while the safe output runs: the threads of all
/// links write it and ask it.
final class PowerSight: Sendable {
    /// What is known of a unit whose coils may open: its inverter's own reversion is over.
    enum Evidence: Sendable, Equatable {
        /// It was told zero, said yes, and shows that it is there.
        case seen
        /// Whatever it was told, and whatever it shows.
        case reversion
    }

    private struct Unit {
        /// Links that have still to tell its inverter zero.
        var untold = 0
        /// Nobody has written to its inverter after that; before our start the daemon may have.
        var lastWrite: MonotonicTime
        var isAcknowledged = false
        /// Since when each side was near zero in every look.
        var restsSince: [WirePlan.Look.Side: MonotonicTime] = [:]
        var seen: [WirePlan.Look.Side: MonotonicTime] = [:]
        /// The sides that count: one that tells nothing at all is none.
        var sides: Set<WirePlan.Look.Side> = []
        var closedCoils = 0
    }

    private let units: Mutex<[String: Unit]>
    /// So long every look must have shown no power: an inverter may show its power late.
    static let steady = Duration.milliseconds(400)
    /// What was seen longer ago says nothing of now.
    static let freshness = Duration.milliseconds(500)

    init(_ plan: WirePlan, start: MonotonicTime) {
        var units: [String: Unit] = [:]
        for link in plan.links {
            for write in link.writes {
                var unit = units[write.owner] ?? Unit(lastWrite: start)
                if write.isCoils { unit.closedCoils += 1 } else { unit.untold += 1 }
                units[write.owner] = unit
            }
            for look in link.looks { units[look.owner]?.sides.insert(look.side) }
        }
        self.units = Mutex(units)
    }

    /// A request that may have started its inverter's timer anew.
    func wrote(_ owner: String, isAcknowledged: Bool, at now: MonotonicTime) {
        units.withLock {
            $0[owner]?.lastWrite = now
            if isAcknowledged { $0[owner]?.isAcknowledged = true }
        }
    }

    /// Nobody writes to its inverter any more.
    func isThrough(_ owner: String) { units.withLock { $0[owner]?.untold -= 1 } }

    /// - Parameter power: `nil` = it is not known.
    func saw(_ look: WirePlan.Look, _ power: Watts?, at now: MonotonicTime) {
        units.withLock {
            guard let power, power.magnitude <= look.nearZero else {
                $0[look.owner]?.restsSince[look.side] = nil
                return
            }
            if $0[look.owner]?.restsSince[look.side] == nil { $0[look.owner]?.restsSince[look.side] = now }
            $0[look.owner]?.seen[look.side] = now
        }
    }

    /// It tells nothing there.
    func hasNone(_ look: WirePlan.Look) {
        guard look.side == .dc else { return }
        units.withLock { _ = $0[look.owner]?.sides.remove(look.side) }
    }

    /// Its coils are off, or given up.
    func isOff(_ owner: String) { units.withLock { $0[owner]?.closedCoils -= 1 } }

    /// Whether somebody waits for its power to end.
    func isAwaited(_ owner: String) -> Bool {
        units.withLock { units in units[owner].map { $0.closedCoils > 0 && $0.untold <= 0 } ?? false }
    }

    /// Why the coils of a write may open now; `nil` = they may not.
    func evidence(for write: WirePlan.Write, at now: MonotonicTime) -> Evidence? {
        units.withLock { units in
            guard let unit = units[write.owner], unit.untold <= 0 else { return nil }
            // Nobody here hears the battery, and an inverter's word alone parts no contacts: one that shows a
            // zero which is none had 370 A parted. Without power nothing is lost by the wait.
            guard now - unit.lastWrite >= write.wait else { return nil }
            let isSeen =
                unit.isAcknowledged && unit.sides.contains(.ac)
                && unit.sides.allSatisfy { side in
                    guard let since = unit.restsSince[side], let seen = unit.seen[side] else { return false }
                    return seen - since >= Self.steady && now - seen <= Self.freshness
                }
            return isSeen ? .seen : .reversion
        }
    }
}
