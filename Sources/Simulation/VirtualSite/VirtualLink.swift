import BallastDaemon
import BallastSimulator
import DeviceCodecs
import ModbusBus
import Quantities
import SiteConfig

/// One Modbus link in virtual time: what the daemon's conversation sends goes to the simulated devices as
/// bytes, and their answers come back when the wire and they have taken their time.
///
/// The link has a clock of its own; it stands where the conversation has nothing to do before the end of
/// the time that is let pass.
struct VirtualLink {
    /// A device is never quicker.
    private static let leastTurnaround = Duration.microseconds(500)
    /// To open a line.
    private static let opening = Duration.milliseconds(1)
    /// What a step takes at least where it asks for none: time goes on.
    private static let leastRest = Duration.microseconds(50)
    /// An orderly end has this long.
    private static let endLimit = Duration.seconds(10)

    private struct Wait {
        var until: MonotonicTime
        var isListening: Bool
    }

    /// An answer on its way.
    private struct Arrival {
        var at: MonotonicTime
        var answer: FarLink.Answer
        var asked: MonotonicTime
        var request: Int
    }

    private let talk: ModbusConversation
    private let timing: SerialTiming?
    /// By unit identifier.
    private let turnarounds: [UInt8: Duration]
    private var clock: MonotonicTime
    private var wait: Wait?
    private var arrivals: [Arrival] = []
    private var requests = 0

    init(_ link: CoreLinks.Link, _ config: SiteConfig, at now: MonotonicTime) {
        talk = link.conversation
        timing = talk.settings.endpoint.line?.timing
        clock = now
        var turnarounds: [UInt8: Duration] = [:]
        let devices =
            config.units.flatMap { [$0.inverter, $0.ioModule?.modbus] } + [config.gridMeter?.modbus]
        for case let device? in devices where device.endpoint == link.endpoint {
            turnarounds[device.unitID] = device.turnaround
        }
        self.turnarounds = turnarounds
    }

    /// Lets time pass on the link, from `start` where it has stood still.
    mutating func advance(
        to end: MonotonicTime, from start: MonotonicTime, _ far: inout FarLink, _ plant: inout FarPlant
    ) {
        if clock < start { clock = start }
        // A fresh actuation ends a rest.
        if let rest = wait, !rest.isListening { wait?.until = min(rest.until, clock) }
        while passes(to: end) {
            if !step(&far, &plant) { return }
        }
    }

    /// Says what is said at an orderly end; the plant stands still meanwhile.
    mutating func finish(_ far: inout FarLink, _ plant: inout FarPlant) {
        talk.end()
        let end = clock + Self.endLimit
        while passes(to: end) {
            if !step(&far, &plant) { return }
        }
    }

    /// - Returns: `false` where what is waited for does not come before `end`.
    private mutating func passes(to end: MonotonicTime) -> Bool {
        guard let wait else { return clock <= end }
        let next = wait.isListening ? arrivals.first?.at : nil
        let time = max(clock, min(wait.until, next ?? wait.until))
        guard time <= end else { return false }
        clock = time
        self.wait = nil
        if wait.isListening { deliver() }
        return true
    }

    private mutating func deliver() {
        while let arrival = arrivals.first, arrival.at <= clock {
            arrivals.removeFirst()
            let room = talk.room
            let bytes = arrival.answer.bytes.prefix(room.count)
            for (index, byte) in bytes.enumerated() { room[index] = byte }
            talk.received(bytes.count, at: clock)
            if arrival.request == requests { delivered = arrival }
        }
    }

    /// An answer to the last request.
    private var delivered: Arrival?

    /// - Returns: `false` where nothing is left to say.
    private mutating func step(_ far: inout FarLink, _ plant: inout FarPlant) -> Bool {
        if let arrival = delivered { plant.note(arrival.answer, arrival.asked) }
        delivered = nil
        switch talk.next(at: clock) {
        case .open:
            clock = clock + Self.opening
            arrivals = []
            talk.opened(ModbusLineState(), at: clock)
        case .close: if timing == nil { arrivals = [] }
        case .send: send(&far, &plant)
        case .listen(let end): wait = Wait(until: end, isListening: true)
        case .rest(let end):
            wait = Wait(until: max(end, clock + Self.leastRest), isListening: false)
        case .ended: return false
        }
        return true
    }

    private mutating func send(_ far: inout FarLink, _ plant: inout FarPlant) {
        let bytes = Array(talk.request)
        requests += 1
        talk.sent(at: clock)
        let unit = bytes[timing == nil ? 6 : 0]
        guard let answer = far.answer(bytes, unit: unit, of: &plant, at: clock) else { return }
        let turnaround = turnarounds[unit] ?? .zero
        let time =
            clock + wire(bytes.count) + max(Self.leastTurnaround, turnaround + answer.delay)
            + wire(answer.bytes.count)
        let index = arrivals.firstIndex { $0.at > time } ?? arrivals.count
        arrivals.insert(Arrival(at: time, answer: answer, asked: clock, request: requests), at: index)
    }

    private func wire(_ bytes: Int) -> Duration { timing?.time(ofBytes: bytes) ?? .zero }
}
