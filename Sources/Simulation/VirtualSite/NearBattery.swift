import BallastDaemon
import BatteryProfiles
import CANBus
import DeviceCodecs
import Plant
import Quantities
import SiteConfig

/// Our end of a battery's bus in virtual time: the production decoder and supervision of `CANBusOwner`,
/// without socket and thread.
struct NearBattery {
    private let unit: String
    private let rates: CANBitRates
    private var battery: CANBattery
    private var supervision = CANSupervision()
    private var due: [MonotonicTime]
    private var counts: [UInt64]
    private(set) var image = BatteryImage()
    /// Kinds of trouble told, each once until frames are good again.
    private var told: Set<String> = []

    init(_ unit: UnitConfig, _ profile: BatteryProfile?, at now: MonotonicTime) {
        self.unit = unit.id
        rates = CANBitRates(nominal: unit.battery.bitRate)
        battery = ControlSettings.battery(of: unit, profile)
        due = battery.sends.map { _ in now }
        counts = battery.sends.map { _ in 0 }
        _ = supervision.handle(.opened(hasCarrier: nil), at: now)
    }

    // MARK: In

    mutating func accept(_ frames: [CANFrame], at now: MonotonicTime) -> [CoreEvent] {
        var events: [CoreEvent] = []
        for frame in frames { accept(frame, at: now, &events) }
        note(.tick, at: now, &events)
        guard !frames.isEmpty else { return events }
        let limit = supervision.state == .busOff ? now + .nanoseconds(1) : supervision.voidBefore
        image = battery.image(at: now).withheld(.busOff, before: limit)
        return events
    }

    private mutating func accept(_ frame: CANFrame, at now: MonotonicTime, _ events: inout [CoreEvent]) {
        if let report = CANErrorFrame(frame) { return note(.error(report), at: now, &events) }
        note(.frame(busTime: rates.nanoseconds(of: frame), isLocal: false), at: now, &events)
        let isOurs = battery.sends.contains { CANIdentifier($0.frame) == CANIdentifier(frame) }
        if frame.kind == .data && isOurs {
            return tell("identifier_conflict", "somebody else says what only we may say", &events)
        }
        switch battery.accept(frame, at: now) {
        case .used: told.remove("frame_rejected")
        case .rejected(let reason): tell("frame_rejected", "\(reason)", &events)
        case .ignored: break
        }
    }

    private mutating func note(
        _ event: CANSupervision.Event, at now: MonotonicTime, _ events: inout [CoreEvent]
    ) {
        switch supervision.handle(event, at: now) {
        case .nothing, .stalled, .moving: return
        case .state(from: .unknown, to: .active): return
        case .state(_, let state):
            events.append(
                CoreEvent(name: "bus_state", unit: unit, cause: "\(state)", text: "the bus is \(state)"))
        case .loadHigh(let load):
            events.append(
                CoreEvent(name: "bus_load_high", unit: unit, text: "the bus carries \(load / 10) %"))
        case .loadNormal:
            events.append(CoreEvent(name: "bus_load_normal", unit: unit, text: "the bus has room again"))
        }
    }

    private mutating func tell(_ name: String, _ text: String, _ events: inout [CoreEvent]) {
        guard told.insert(name).inserted else { return }
        events.append(CoreEvent(name: name, unit: unit, text: text))
    }

    // MARK: Out

    /// The frames that are due now and that the actuation lets out.
    mutating func sent(
        _ actuation: Actuation, wallSeconds: Int64, at now: MonotonicTime
    ) -> [CANFrame] {
        var frames: [CANFrame] = []
        for (index, send) in battery.sends.enumerated() where now >= due[index] {
            due[index] = max(due[index] + send.period, now)
            guard send.isDue(actuation, at: now), supervision.maySend(at: now) else { continue }
            frames.append(send.frame(actuation, at: now, wallSeconds: wallSeconds, count: counts[index]))
            counts[index] &+= 1
        }
        return frames
    }
}
