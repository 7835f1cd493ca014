import ModbusBus
import Quantities
import Synchronization

/// What is known of the power behind each unit's contacts while the safe output runs: the threads of all
/// links write it and ask it.
final class PowerSight: Sendable {
    /// Why a unit's coils may open.
    enum Evidence: Sendable, Equatable {
        /// Its inverter was told zero, said yes, and was seen to come there.
        case seen
        /// Whatever it was told, its own reversion is over.
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
        /// Since it is told zero its inverter has shown power: what it shows moves.
        var hasShownPower = false
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
                if power != nil, look.side == .ac { $0[look.owner]?.hasShownPower = true }
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
            if now - unit.lastWrite >= write.wait { return .reversion }
            // One that has shown nothing else may show zeros whatever flows: an inverter without power loses
            // nothing by the wait, and one with power must not be believed.
            guard unit.isAcknowledged, unit.hasShownPower, unit.sides.contains(.ac) else { return nil }
            let isSeen = unit.sides.allSatisfy { side in
                guard let since = unit.restsSince[side], let seen = unit.seen[side] else { return false }
                return seen - since >= Self.steady && now - seen <= Self.freshness
            }
            return isSeen ? .seen : nil
        }
    }
}
