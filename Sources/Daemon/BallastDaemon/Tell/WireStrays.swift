import CANBus
import Plant
import Quantities

/// What comes on the wires of batteries that say nothing, in words.
struct WireStrays: Sendable {
    private let buses: [String: CANBusStatus]

    /// - Parameter buses: by the unit's name.
    init(_ buses: [String: CANBusStatus] = [:]) { self.buses = buses }

    /// `nil` where the device is no silent battery, and where its wire is silent too.
    func text(_ missing: MissingReading?, of unit: String?, at now: MonotonicTime = .now()) -> String? {
        guard let missing, missing.device == .battery, missing.isSilent, let unit,
            let strays = buses[unit]?.strays(at: now)
        else { return nil }
        return Self.text(strays)
    }

    static func text(_ strays: CANStrays) -> String {
        let kinds: [(UInt64, one: String, many: String)] = [
            (strays.refused, "frame of it that was refused", "frames of it that were refused"),
            (strays.foreign, "frame that is not its own", "frames that are not its own"),
            (strays.rubbish, "time bytes that are no frame", "times bytes that are no frames"),
        ]
        let parts = kinds.filter { $0.0 > 0 }.map { "\($0.0) \($0.0 == 1 ? $0.one : $0.many)" }
        return "since its last word its wire brought \(parts.joined(separator: ", ")), the last"
            + " \(Names.rounded(strays.age.seconds)) s ago"
    }
}
