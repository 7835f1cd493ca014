import Interlocks
import Plant
import PowerDispatch
import Quantities

/// Whether contacts would part a current, by what battery and inverter say of it together.
///
/// One side alone is no evidence of no load: a sensor that stands at zero, a battery whose every byte is
/// 0xFF,
/// an inverter that shows zeros. So a current counts only with a pack voltage that the DC side confirms, only
/// where the inverter's power agrees, and only from a sensor that has followed the power while there was
/// any. And an inverter that shows no power where it was asked for power shows none of its own.
struct LoadWatch: Sendable, BitwiseCopyable {
    enum Finding: Sendable, BitwiseCopyable, Equatable {
        /// Both sides say so.
        case none
        /// At least one side sees it.
        case flows
        case unknown
    }

    /// What one cycle sees; `nil` = not fresh.
    struct Sight: Sendable, BitwiseCopyable {
        var current: Amperes?
        var packVoltage: Volts?
        var dcVoltage: Volts?
        var power: Watts?
        /// What was asked of the inverter last.
        var asked = Watts.zero
    }

    /// Power above this share of the rating must show in the current.
    private static let loadedShare = 0.1
    /// The two are sampled at different instants, and losses lie between them.
    private static let allowedShare = 0.5
    /// DC side and pack, where contacts join them.
    private static let voltageShare = 0.15

    /// Power was asked of the inverter, and it has not shown any since: zero there is no evidence.
    private(set) var isPowerDoubted = false
    /// How long current and power have contradicted each other; only a load that both see ends it.
    private(set) var contradictedFor = Duration.zero
    private let rating: Watts
    private let zeroPower: Watts
    private let zeroCurrent: Amperes
    /// What the inverter draws without any power.
    private let idle: Watts
    private let patience: Duration

    init(_ settings: UnitSettings) {
        rating = settings.rating
        zeroPower = settings.zeroPower
        zeroCurrent = settings.contactors.zeroCurrent
        idle = settings.directCurrentLosses.idle
        patience = settings.budget.battery + settings.inverterResponse
    }

    mutating func look(_ seen: Sight, after elapsed: Duration) -> Finding {
        compare(seen, after: elapsed)
        doubt(seen)
        if let power = seen.power, power.magnitude > zeroPower { return .flows }
        guard let current = seen.current, let pack = seen.packVoltage, pack > .zero else { return .unknown }
        // Whatever the DC side shows: a current that somebody sees is not parted as none.
        if isLoaded(current, pack) == true { return .flows }
        if let dcVoltage = seen.dcVoltage, (dcVoltage - pack).magnitude > pack * Self.voltageShare {
            return .unknown
        }
        return seen.power != nil && contradictedFor < patience && !isPowerDoubted ? .none : .unknown
    }

    /// Whether the battery shows more than the inverter draws without any power; `nil` = it does not tell.
    func isLoaded(_ current: Amperes?, _ pack: Volts?) -> Bool? {
        guard let current, let pack, pack > .zero else { return nil }
        return current.magnitude > zeroCurrent + idle / pack
    }

    /// The contacts are seen open: what was doubted of a load is over.
    mutating func forget() { (isPowerDoubted, contradictedFor) = (false, .zero) }

    private mutating func doubt(_ seen: Sight) {
        // One that tells no power in this cycle shows nothing, neither zero nor power.
        guard let power = seen.power else { return }
        if power.magnitude > zeroPower {
            isPowerDoubted = false
        } else if seen.asked.magnitude > zeroPower * 2 {
            isPowerDoubted = true
        }
    }

    private mutating func compare(_ seen: Sight, after elapsed: Duration) {
        guard let power = seen.power, let current = seen.current, let pack = seen.packVoltage,
            power.magnitude > rating * Self.loadedShare
        else { return }
        let difference = (pack * current - power).magnitude
        contradictedFor =
            difference > power.magnitude * Self.allowedShare
            ? min(patience, contradictedFor + elapsed) : .zero
    }
}
