import BatteryProfiles
import DeviceCodecs
import Plant
import Quantities

/// The battery on a bus: what reads its frames, and what it wants to hear.
public enum CANBattery: Sendable {
    /// The decoder that is built in.
    case pylontech(PylontechLowVoltage)
    case profile(ProfiledBattery)

    public mutating func accept(
        _ frame: CANFrame, at time: MonotonicTime
    ) -> BatteryFrameOutcome {
        switch consume self {
        case .pylontech(var battery):
            let outcome = battery.accept(frame, at: time)
            self = .pylontech(battery)
            return outcome
        case .profile(var battery):
            let outcome = battery.accept(frame, at: time)
            self = .profile(battery)
            return outcome
        }
    }

    /// What it says, as far as it is known now.
    public func image(at now: MonotonicTime) -> BatteryImage {
        switch self {
        case .pylontech(let battery): battery.image
        case .profile(let battery): battery.image(at: now)
        }
    }

    /// Whether it tells single cells, and not their extremes alone.
    var hasCells: Bool {
        switch self {
        case .pylontech: false
        case .profile(let battery): battery.hasCells
        }
    }

    func look(at now: MonotonicTime, into cells: inout CellImage) {
        switch self {
        case .pylontech: break
        case .profile(let battery): battery.look(at: now, into: &cells)
        }
    }

    /// How often the message of `frame` comes, where two of them are two words for the same: not of one that
    /// takes turns by a switch or by the number of a cell.
    ///
    /// - Parameter period: what the site says of a battery that tells none of each message.
    func rhythm(of frame: CANFrame, _ period: Duration) -> Duration? {
        switch self {
        case .pylontech: period
        case .profile(let battery): battery.rhythm(of: CANIdentifier(frame))
        }
    }

    /// How often it says a word.
    func period(of word: SecondSender.Word, _ period: Duration) -> Duration {
        guard case .profile(let battery) = self else { return period }
        let profile = battery.profile
        return switch word {
        case .chargeCurrentLimit: profile.period(of: .chargeCurrentLimit)
        case .dischargeCurrentLimit: profile.period(of: .dischargeCurrentLimit)
        case .chargeVoltageLimit: profile.period(of: .chargeVoltageLimit)
        case .dischargeVoltageLimit: profile.period(of: .dischargeVoltageLimit)
        case .cellVoltageMax: profile.period(of: .cellVoltageMax)
        case .cellVoltageMin: profile.period(of: .cellVoltageMin)
        case .cellTemperatureMax: profile.period(of: .cellTemperatureMax)
        case .cellTemperatureMin: profile.period(of: .cellTemperatureMin)
        case .packCurrent: profile.period(of: .packCurrent)
        case .permissions, .alarms, .warnings: max(period, profile.slowestPeriod)
        }
    }

    /// All frames that concern it, its own and ours; what a receive filter lets through.
    public var identifiers: [CANIdentifier] {
        let own: [CANIdentifier] =
            switch self {
            case .pylontech: PylontechLowVoltage.identifiers.map { CANIdentifier($0) }
            case .profile(let battery): battery.identifiers
            }
        return own + sends.map { CANIdentifier($0.frame) }.filter { !own.contains($0) }
    }

    /// Frames that keep it awake and tell it what it may do.
    public var sends: [ProfileSend] {
        switch self {
        case .pylontech:
            [ProfileSend(frame: PylontechLowVoltage.keepAlive(), period: .seconds(1), condition: .alive)]
        case .profile(let battery): battery.sends
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
