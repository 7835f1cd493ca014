import Plant
import Quantities

/// How the two-bit pairs of frame 0x35A are read. 1 = active and 2 = cleared in each; 3 says nothing.
public enum AlarmPairRule: Sendable, Equatable {
    /// 0 = nothing to report. Frames that are all zero (Pylontech V1.3) read as "no alarm"; an active item
    /// clears after more than `zerosToClear` zeros in a row, for senders that never send "cleared".
    case pylontech(zerosToClear: UInt8)
    /// 0 = no change, for ever. Alarms are unknown until the sender has said 1 or 2 of any item.
    case sma
}

extension BatteryAlarms {
    /// Two bytes of frame 0x359, low byte first. Any bit raises at least `general`: senders disagree on the
    /// bits.
    init(protectionBits bits: UInt16) {
        self = bits == 0 ? [] : .general
        if bits & 0x0002 != 0 { insert(.voltageHigh) }
        if bits & 0x0004 != 0 { insert(.voltageLow) }
        if bits & 0x0008 != 0 { insert(.temperatureHigh) }
        if bits & 0x0010 != 0 { insert(.temperatureLow) }
        if bits & 0x0080 != 0 { insert(.dischargeCurrentHigh) }
        if bits & 0x0100 != 0 { insert(.chargeCurrentHigh) }
        if bits & 0x0800 != 0 { insert(.internalFault) }
    }

    /// Item `index` of frame 0x35A; none for the reserved ones (byte 7 of Victron says on-line or off-line
    /// there).
    static func pairItem(_ index: Int) -> BatteryAlarms {
        switch index {
        case 0: .general
        case 1: .voltageHigh
        case 2: .voltageLow
        case 3, 5: .temperatureHigh
        case 4, 6: .temperatureLow
        case 7: .dischargeCurrentHigh
        case 8: .chargeCurrentHigh
        case 9: .contactor
        case 10: .shortCircuit
        case 11: .internalFault
        case 12: .imbalance
        default: []
        }
    }
}

/// The items of one half of frame 0x35A.
struct AlarmPairs: Sendable {
    static let itemCount = 13

    private var isActive = InlineArray<13, Bool>(repeating: false)
    private var zeros = InlineArray<13, UInt8>(repeating: 0)
    /// The sender has said "active" or "cleared" of some item.
    private(set) var hasSpoken = false

    mutating func accept(_ bits: UInt32, _ rule: AlarmPairRule) {
        for item in 0..<Self.itemCount {
            switch bits >> UInt32(2 * item) & 3 {
            case 1: set(item, active: true)
            case 2: set(item, active: false)
            case 0: countZero(item, rule)
            default: break
            }
        }
    }

    private mutating func set(_ item: Int, active: Bool) {
        isActive[item] = active
        zeros[item] = 0
        hasSpoken = true
    }

    private mutating func countZero(_ item: Int, _ rule: AlarmPairRule) {
        switch rule {
        case .sma: return
        case .pylontech(let limit):
            guard zeros[item] < limit else {
                isActive[item] = false
                return
            }
            zeros[item] += 1
        }
    }

    var alarms: BatteryAlarms {
        var alarms: BatteryAlarms = []
        for item in 0..<Self.itemCount where isActive[item] { alarms.insert(.pairItem(item)) }
        return alarms
    }
}

/// Alarms (or warnings) from the two frames that carry them. What either raises stands; where 0x359 is sent,
/// its age is the age of both, because 0x35A beside it may be nothing but zeros.
struct AlarmSources: Sendable {
    private var bits: BatteryAlarms?
    private var bitsTime = MonotonicTime(nanoseconds: 0)
    private var pairs = AlarmPairs()
    private var pairsTime: MonotonicTime?

    mutating func acceptBits(_ alarms: BatteryAlarms, at time: MonotonicTime) {
        bits = alarms
        bitsTime = time
    }

    mutating func acceptPairs(_ word: UInt32, _ rule: AlarmPairRule, at time: MonotonicTime) {
        pairs.accept(word, rule)
        pairsTime = time
    }

    func reading(_ rule: AlarmPairRule) -> Reading<BatteryAlarms> {
        if let bits { return .good(bits.union(pairs.alarms), at: bitsTime) }
        guard let pairsTime else { return .neverSeen }
        if rule == .sma && !pairs.hasSpoken { return .bad(.notImplemented, since: pairsTime) }
        return .good(pairs.alarms, at: pairsTime)
    }
}
