import BatteryProfiles
import DeviceCodecs
import Plant
import Quantities

extension ProfiledBattery {
    /// All frames that concern it, its own and ours; what a receive filter lets through.
    public var allIdentifiers: [CANIdentifier] {
        identifiers + sends.map { CANIdentifier($0.frame) }.filter { !identifiers.contains($0) }
    }

    /// How often it says a word.
    func period(of word: SecondSender.Word) -> Duration {
        switch word {
        case .chargeCurrentLimit: profile.period(of: .chargeCurrentLimit)
        case .dischargeCurrentLimit: profile.period(of: .dischargeCurrentLimit)
        case .chargeVoltageLimit: profile.period(of: .chargeVoltageLimit)
        case .dischargeVoltageLimit: profile.period(of: .dischargeVoltageLimit)
        case .cellVoltageMax: profile.period(of: .cellVoltageMax)
        case .cellVoltageMin: profile.period(of: .cellVoltageMin)
        case .cellTemperatureMax: profile.period(of: .cellTemperatureMax)
        case .cellTemperatureMin: profile.period(of: .cellTemperatureMin)
        case .packCurrent: profile.period(of: .packCurrent)
        case .permissions, .alarms, .warnings: profile.slowestPeriod
        }
    }
}

/// When each frame is sent next: on a fixed rhythm, so that a battery that judges our spacing is content.
struct SendSchedule: Sendable {
    private let sends: [ProfileSend]
    private var next: [MonotonicTime]
    /// How often each was sent.
    private var counts: [UInt64]

    init(_ sends: [ProfileSend]) {
        self.sends = sends
        next = [MonotonicTime](repeating: MonotonicTime(nanoseconds: 0), count: sends.count)
        counts = [UInt64](repeating: 0, count: sends.count)
    }

    var count: Int { sends.count }

    /// Whether we send frames of this identity.
    func contains(_ identifier: CANIdentifier) -> Bool {
        for send in sends where CANIdentifier(send.frame) == identifier { return true }
        return false
    }

    /// Begins anew: all are due.
    mutating func restart(at now: MonotonicTime) {
        for index in next.indices { next[index] = now }
    }

    /// How long nothing is due.
    func wait(from now: MonotonicTime) -> Duration? {
        var earliest: MonotonicTime?
        for time in next where earliest.map({ time < $0 }) ?? true { earliest = time }
        return earliest.map { $0 > now ? $0 - now : .zero }
    }

    /// The frame if it is to be sent now. Whether it is sent or not, its time moves on: frames that exclude
    /// each other keep one rhythm.
    mutating func take(
        _ index: Int, _ actuation: Actuation, at now: MonotonicTime, wallSeconds: Int64
    ) -> CANFrame? {
        guard now >= next[index] else { return nil }
        let send = sends[index]
        next[index] = next[index] + send.period
        // Missed by a whole period or more: no burst.
        if next[index] <= now { next[index] = now + send.period }
        guard send.isDue(actuation, at: now) else { return nil }
        counts[index] &+= 1
        return send.frame(actuation, at: now, wallSeconds: wallSeconds, count: counts[index] &- 1)
    }
}
