import BatteryProfiles
import Scenario

/// What a simulated battery has said, for whoever judges a run: the plant's own evidence, which no decoder of
/// the controller has touched.
extension BatterySample {
    /// The power that the battery can take and give by its own words, W: charge (zero or less) … discharge.
    public var allowed: ClosedRange<Double> {
        let voltage = self[.packVoltage] ?? 0
        func most(_ limit: Double?, _ isAllowed: Bool) -> Double {
            alarms.isEmpty && isAllowed ? max(0, (limit ?? 0) * voltage) : 0
        }
        let charge = most(self[.chargeCurrentLimit], permissions.contains(.charge))
        let discharge = most(self[.dischargeCurrentLimit], permissions.contains(.discharge))
        return -charge...discharge
    }

    /// The same in amperes.
    public var allowedCurrent: ClosedRange<Double> {
        func most(_ limit: Double?, _ isAllowed: Bool) -> Double {
            alarms.isEmpty && isAllowed ? max(0, limit ?? 0) : 0
        }
        let charge = most(self[.chargeCurrentLimit], permissions.contains(.charge))
        let discharge = most(self[.dischargeCurrentLimit], permissions.contains(.discharge))
        return -charge...discharge
    }
}

extension SimulatedUnit {
    /// Whether nobody can take the battery's frames for evidence. Wrong checksums are not among the causes:
    /// what they guard is the profile's choice, often the single cells alone.
    public var isBatterySpoilt: Bool {
        let kinds: [Fault.Kind] = [
            .bmsSilence, .bmsGarbage, .bmsShortFrames, .bmsBusOff, .bmsNotAvailable,
        ]
        return kinds.contains { has($0) }
    }
}
