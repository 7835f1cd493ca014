import DeviceCodecs
import LinuxIO
import Plant
import Quantities

/// One CAN bus with one battery on it: receives, decodes, publishes, keeps the BMS awake, reconnects.
///
/// Belongs to one thread. While the link is down nothing is published, so that every reading ages by its own
/// sample time; once the bus is off, no reading counts until its frame has come anew. The BMS hears our
/// keep-alive only while the control cycle's actuation holds.
public struct CANBusOwner: ~Copyable, Sendable {
    /// Longest stay in the kernel; the heartbeat's bound is twice this.
    public static let turnLimit = Duration.milliseconds(50)
    /// Between two looks at the interface's carrier.
    static let lookPeriod = Duration.seconds(1)
    /// A peer that sends more than a bus can carry waits in its own queue meanwhile.
    static let floodPause = Duration.milliseconds(2)

    /// Readable from any thread.
    public let status: CANBusStatus

    private let address: CANAddress
    private let settings: CANLinkSettings
    private var battery: CANBattery
    private var images: TripleBufferWriter<BatteryImage>
    private var actuations: TripleBufferReader<Actuation>
    private var reporter: ReportGate<CANBusEvent>
    private var transport: CANTransport?
    private var backOff = BackOff()
    private var isLinkUp = false
    private var schedule: SendSchedule
    private var supervision = CANSupervision()
    private var nextLook = MonotonicTime(nanoseconds: 0)
    private var isImageNew = false
    private var seen = Tallies()

    /// What the transport had counted when we last looked.
    private struct Tallies {
        var garbageBytes: UInt64 = 0
        var refusedPeers: UInt64 = 0
        var droppedFrames: UInt64 = 0
        var unusableFrames: UInt64 = 0
    }

    public init(
        address: CANAddress, battery: CANBattery,
        images: consuming TripleBufferWriter<BatteryImage>,
        actuations: consuming TripleBufferReader<Actuation>,
        report: RingBuffer<CANBusReport>, status: CANBusStatus = CANBusStatus(),
        settings: CANLinkSettings = CANLinkSettings()
    ) {
        self.address = address
        self.settings = settings
        self.battery = battery
        schedule = SendSchedule(battery.sends)
        self.images = images
        self.actuations = actuations
        self.status = status
        reporter = ReportGate(report)
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
            count(link)
            if link.isBroken {
                backOff.schedule(after: MonotonicTime.now())
            } else {
                transport = consume link
            }
        }
        publish()
    }

    private mutating func openOrWait(_ limit: Duration) {
        let now = MonotonicTime.now()
        guard now >= backOff.next else { return min(backOff.next, now + limit).sleep() }
        do throws(CANError) {
            transport = try CANTransport.open(address, settings)
            seen = Tallies()
        } catch {
            backOff.schedule(after: now)
            lose(error)
        }
    }

    private mutating func serve(_ link: inout CANTransport, _ limit: Duration) throws(CANError) {
        noteLink(link)
        if supervision.isFlooded { (MonotonicTime.now() + Self.floodPause).sleep() }
        try link.receiveArrivals(timeout: untilNextSend(limit)) { accept($0) }
        noteLink(link)
        guard link.isUp else { return }
        look(at: link)
        try keepAlive(&link)
    }

    private mutating func accept(_ arrival: CANArrival) {
        let frame = arrival.frame
        status.addFrame()
        if let report = CANErrorFrame(frame) {
            status.addBusError()
            reporter.report(.busError(class: frame.identifier), at: arrival.time)
            return note(.error(report), at: arrival.time)
        }
        let busTime = settings.rates.nanoseconds(of: frame)
        note(.frame(busTime: busTime, isLocal: arrival.isLocal), at: arrival.time)
        guard !isOurs(frame) else {
            status.addConflict()
            let event = CANBusEvent.identifierConflict(
                identifier: frame.identifier, isExtended: frame.isExtended)
            return reporter.report(event, at: arrival.time)
        }
        decode(frame, at: arrival.time)
    }

    /// Somebody else says what only we may say. A request for it is none.
    private func isOurs(_ frame: CANFrame) -> Bool {
        frame.kind == .data && schedule.contains(CANIdentifier(frame))
    }

    private mutating func decode(_ frame: CANFrame, at time: MonotonicTime) {
        switch battery.accept(frame, at: time) {
        case .used:
            backOff.reset()
            isImageNew = true
        case .rejected(let reason):
            status.addRejected(reason)
            reporter.report(.rejectedFrame(identifier: frame.identifier, reason), at: time)
            // Its good fields were taken, and its bad ones are now marked so.
            isImageNew = true
        case .ignored(.unknownIdentifier), .ignored(.extendedIdentifier), .ignored(.remote),
            .ignored(.errorFrame):
            status.addIgnored()
            reporter.report(
                .unknownFrame(identifier: frame.identifier, isExtended: frame.isExtended), at: time)
        }
    }

    /// The link may fail after frames have come; what came is published all the same.
    private mutating func publish() {
        guard isImageNew else { return }
        isImageNew = false
        let now = MonotonicTime.now()
        let isOff = supervision.state == .busOff
        let limit = isOff ? now + .nanoseconds(1) : supervision.voidBefore
        images.publish(battery.image(at: now).withheld(.busOff, before: limit))
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
            // Its time moves on also while nothing may be sent.
            guard let frame = schedule.take(index, actuation, at: now), supervision.maySend(at: now) else {
                continue
            }
            do throws(CANError) {
                try link.send(frame)
                status.addKeepAlive()
                note(.sent(busTime: settings.rates.nanoseconds(of: frame)), at: now)
            } catch {
                if error.endsSession { throw error }
                status.addRefusal()
                reporter.report(.keepAliveNotSent(error), at: now)
                note(.refused, at: now)
            }
        }
    }
}

// MARK: The bus and the link

extension CANBusOwner {
    private mutating func look(at link: borrowing CANTransport) {
        let now = MonotonicTime.now()
        note(.tick, at: now)
        guard now >= nextLook else { return }
        nextLook = now + Self.lookPeriod
        if let hasCarrier = link.hasCarrier { note(.carrier(hasCarrier), at: now) }
    }

    private mutating func note(_ event: CANSupervision.Event, at now: MonotonicTime) {
        switch supervision.handle(event, at: now) {
        case .nothing: return
        case .state(let from, let to):
            if from == .busOff || to == .busOff { isImageNew = true }
            // That a bus begins to live, or its link goes, is told as the link's own event.
            if from == .unknown && to == .active || to == .unknown && from != .busOff { return }
            let (transmit, receive) = (supervision.transmitErrors, supervision.receiveErrors)
            reporter.report(
                .state(from: from, to: to, transmitErrors: transmit, receiveErrors: receive), at: now)
        case .stalled: reporter.report(.transmitStalled, at: now)
        case .moving: reporter.report(.transmitResumed, at: now)
        case .loadHigh(let load): reporter.report(.loadHigh(load), at: now)
        case .loadNormal(let load): reporter.report(.loadNormal(load), at: now)
        }
    }

    private mutating func noteLink(_ link: borrowing CANTransport) {
        guard link.isUp else { return noteDown() }
        guard !isLinkUp else { return }
        isLinkUp = true
        status.setLink(up: true)
        let now = MonotonicTime.now()
        schedule.restart(at: now)
        reporter.report(.linkUp, at: now)
        note(.opened(hasCarrier: link.hasCarrier), at: now)
    }

    private mutating func noteDown() {
        guard isLinkUp else { return }
        isLinkUp = false
        status.setLink(up: false)
        note(.closed, at: MonotonicTime.now())
    }

    private mutating func lose(_ error: CANError) {
        status.addLinkLoss()
        noteDown()
        reporter.report(.linkDown(error), at: MonotonicTime.now())
    }

    private mutating func count(_ link: borrowing CANTransport) {
        let now = MonotonicTime.now()
        let garbage = link.garbageBytes &- seen.garbageBytes
        if garbage > 0 {
            status.addGarbage(garbage)
            reporter.report(.garbage(bytes: garbage), at: now)
        }
        if link.refusedPeers != seen.refusedPeers { reporter.report(.refusedPeer, at: now) }
        let dropped = link.droppedFrames &- seen.droppedFrames
        if dropped > 0 {
            status.addDropped(dropped)
            reporter.report(.framesDropped(dropped), at: now)
        }
        status.addUnusable(link.unusableFrames &- seen.unusableFrames)
        seen = Tallies(
            garbageBytes: link.garbageBytes, refusedPeers: link.refusedPeers,
            droppedFrames: link.droppedFrames, unusableFrames: link.unusableFrames)
        status.show(supervision)
    }
}
