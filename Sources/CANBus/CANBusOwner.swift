import DeviceCodecs
import LinuxIO
import Plant
import Quantities

/// One CAN bus with one battery on it: receives, decodes, publishes, keeps the BMS awake, reconnects.
///
/// Belongs to one thread. While the link is down nothing is published, so that every reading ages by its own
/// sample time; the BMS hears our keep-alive only while the control cycle's actuation holds.
public struct CANBusOwner: ~Copyable, Sendable {
    /// Longest stay in the kernel; the heartbeat's bound is twice this.
    public static let turnLimit = Duration.milliseconds(50)

    /// Readable from any thread.
    public let status: CANBusStatus

    private let address: CANAddress
    private var battery: CANBattery
    private var images: TripleBufferWriter<BatteryImage>
    private var actuations: TripleBufferReader<Actuation>
    private var reporter: CANBusReporter
    private var transport: CANTransport?
    private var backOff = BackOff()
    private var isLinkUp = false
    private var schedule: SendSchedule
    private var seen = Tallies()

    /// What the transport had counted when we last looked.
    private struct Tallies {
        var garbageBytes: UInt64 = 0
        var refusedPeers: UInt64 = 0
    }

    public init(
        address: CANAddress, battery: CANBattery,
        images: consuming TripleBufferWriter<BatteryImage>,
        actuations: consuming TripleBufferReader<Actuation>,
        report: RingBuffer<CANBusReport>, status: CANBusStatus = CANBusStatus()
    ) {
        self.address = address
        self.battery = battery
        schedule = SendSchedule(battery.sends)
        self.images = images
        self.actuations = actuations
        self.status = status
        reporter = CANBusReporter(report)
    }

    /// Goes round until `stop` is raised, then closes the link; returns within 100 ms of it.
    public mutating func run(until stop: StopFlag) {
        while !stop.isRaised { turn() }
        transport = nil
        status.setLink(up: false)
    }

    /// Goes round once: opens, or receives and sends; stays in the kernel at most `limit`.
    public mutating func turn(waitingAtMost limit: Duration = CANBusOwner.turnLimit) {
        status.beat()
        switch transport.take() {
        case .none: openOrWait(limit)
        case .some(var link):
            do throws(CANError) {
                try serve(&link, limit)
            } catch {
                lose(error)
            }
            countGarbage(link)
            if link.isBroken {
                backOff.schedule(after: MonotonicTime.now())
            } else {
                transport = consume link
            }
        }
    }

    private mutating func openOrWait(_ limit: Duration) {
        let now = MonotonicTime.now()
        guard now >= backOff.next else { return min(backOff.next, now + limit).sleep() }
        do throws(CANError) {
            transport = try CANTransport.open(address)
            seen = Tallies()
        } catch {
            backOff.schedule(after: now)
            lose(error)
        }
    }

    private mutating func serve(_ link: inout CANTransport, _ limit: Duration) throws(CANError) {
        noteLink(link.isUp)
        var isNew = false
        // The link may fail after frames have come; what came is published all the same.
        defer { if isNew { images.publish(battery.image(at: MonotonicTime.now())) } }
        try link.receive(timeout: untilNextSend(limit)) { frame in if accept(frame) { isNew = true } }
        noteLink(link.isUp)
        if link.isUp { try keepAlive(&link) }
    }

    /// Whether the frame changed the picture.
    private mutating func accept(_ frame: CANFrame) -> Bool {
        let now = MonotonicTime.now()
        status.addFrame()
        switch battery.accept(frame, at: now) {
        case .used:
            backOff.reset()
            return true
        case .rejected(let reason):
            status.addRejected()
            reporter.report(.rejectedFrame(identifier: frame.identifier, reason), at: now)
            // Its good fields were taken, and its bad ones are now marked so.
            return true
        case .ignored(.errorFrame):
            status.addBusError()
            reporter.report(.busError(class: frame.identifier), at: now)
        case .ignored(.unknownIdentifier), .ignored(.extendedIdentifier), .ignored(.remote):
            status.addIgnored()
            reporter.report(
                .unknownFrame(identifier: frame.identifier, isExtended: frame.isExtended), at: now)
        }
        return false
    }

    /// Not longer than until a frame of ours is due.
    private func untilNextSend(_ limit: Duration) -> Duration {
        guard isLinkUp, let wait = schedule.wait(from: MonotonicTime.now()) else { return limit }
        return min(limit, wait)
    }

    private mutating func keepAlive(_ link: inout CANTransport) throws(CANError) {
        let now = MonotonicTime.now()
        actuations.update()
        let actuation = actuations.latest.pointee
        for index in 0..<schedule.count {
            guard let frame = schedule.take(index, actuation, at: now) else { continue }
            do throws(CANError) {
                try link.send(frame)
                status.addKeepAlive()
            } catch {
                if error.endsSession { throw error }
                reporter.report(.keepAliveNotSent(error), at: now)
            }
        }
    }

    private mutating func noteLink(_ isUp: Bool) {
        guard isUp != isLinkUp else { return }
        isLinkUp = isUp
        status.setLink(up: isUp)
        if isUp {
            let now = MonotonicTime.now()
            schedule.restart(at: now)
            reporter.report(.linkUp, at: now)
        }
    }

    private mutating func lose(_ error: CANError) {
        status.addLinkLoss()
        noteLink(false)
        reporter.report(.linkDown(error), at: MonotonicTime.now())
    }

    private mutating func countGarbage(_ link: borrowing CANTransport) {
        let garbage = link.garbageBytes &- seen.garbageBytes
        if garbage > 0 {
            status.addGarbage(garbage)
            reporter.report(.garbage(bytes: garbage), at: MonotonicTime.now())
        }
        if link.refusedPeers != seen.refusedPeers { reporter.report(.refusedPeer, at: MonotonicTime.now()) }
        seen = Tallies(garbageBytes: link.garbageBytes, refusedPeers: link.refusedPeers)
    }
}

/// When to try again: 0.1 s, doubling to 5 s, and back to 0.1 s once a frame has been used.
struct BackOff: Sendable {
    static let first = Duration.milliseconds(100)
    static let longest = Duration.seconds(5)

    private var delay = BackOff.first
    private(set) var next = MonotonicTime(nanoseconds: 0)

    mutating func schedule(after now: MonotonicTime) {
        next = now + delay
        delay = min(delay * 2, Self.longest)
    }

    mutating func reset() { delay = Self.first }
}
