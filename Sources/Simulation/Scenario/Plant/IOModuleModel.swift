import Plant
import Quantities
import SiteConfig

/// The digital I/O module of a unit: contacts on its inputs, coils on its outputs, and the watchdog that
/// drops them when nobody writes.
public struct IOModuleModel: Sendable {
    public let settings: IOModuleConfig
    /// Coils that are on.
    public private(set) var energised: [DigitalOutput] = []
    /// How often the watchdog has dropped coils.
    public private(set) var dropCount = 0
    /// An input whose wire is cut.
    var cutWire: DigitalInput?
    private var left: Duration?

    public init(_ settings: IOModuleConfig) { self.settings = settings }

    public func isOn(_ purpose: DigitalOutput) -> Bool { energised.contains(purpose) }

    // MARK: Inputs

    /// First protocol address of the module's inputs, and their levels: eight, or more where more are mapped.
    public func inputs(_ isThere: (DigitalInput) -> Bool) -> (first: UInt16, levels: [Bool]) {
        let (first, count) = Self.range(settings.inputs.map(\.address))
        var levels = [Bool](repeating: false, count: count)
        for input in settings.inputs {
            // No current flows through a cut wire, whatever is at its end.
            levels[Int(input.address - first)] =
                input.name != cutWire && isThere(input.name) != input.isNormallyClosed
        }
        return (first, levels)
    }

    private static func range(_ addresses: [UInt16]) -> (first: UInt16, count: Int) {
        guard let low = addresses.min(), let high = addresses.max() else { return (0, 8) }
        return (low, max(8, Int(high - low) + 1))
    }

    // MARK: Coils

    /// First protocol address of the module's coils, and their levels.
    public var coils: (first: UInt16, levels: [Bool]) {
        let (first, count) = Self.range(settings.coils.map(\.address))
        var levels = [Bool](repeating: false, count: count)
        for coil in settings.coils { levels[Int(coil.address - first)] = isOn(coil.purpose) }
        return (first, levels)
    }

    /// Somebody has written coils from `address` on.
    public mutating func write(_ levels: [Bool], at address: UInt16) {
        left = settings.watchdog
        for coil in settings.coils {
            let index = Int(coil.address) - Int(address)
            guard levels.indices.contains(index) else { continue }
            energised.removeAll { $0 == coil.purpose }
            if levels[index] { energised.append(coil.purpose) }
        }
    }

    mutating func advance(by step: Duration) {
        guard let before = left else { return }
        let rest = before - step
        left = rest > .zero ? rest : nil
        guard rest <= .zero, !energised.isEmpty else { return }
        energised = []
        dropCount += 1
    }
}
