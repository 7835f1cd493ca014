import BatteryProfiles
import DeviceCodecs
import LinuxIO
import Plant
import Quantities

/// What is heard and said on the CAN bus of one battery, without I/O: it is told what arrived and what time
/// it is, and says which frames are to leave and for how long nothing is due. A bus thread drives it over a
/// transport (`CANBusOwner`), virtual time with the bytes of a simulated battery.
///
/// While the link is down nothing is published, so that every reading ages by its own sample time; once the
/// bus is off, no reading counts until its frame has come anew. The BMS hears our keep-alive only while the
/// control cycle's actuation holds.
public final class CANConversation {
    /// Readable from any thread.
    public let status: CANBusStatus
    /// One reader may take them out.
    public let reports: RingBuffer<CANBusReport>
    /// The battery's single cells, each second, for one reader; `nil` = it tells none.
    public let cells: TripleBuffer<CellImage>?

    private static let cellPeriod = Duration.seconds(1)
    private var cellWriter: TripleBufferWriter<CellImage>?
    private var cellsDue = MonotonicTime(nanoseconds: 0)
    private let rates: CANBitRates
    private var battery: ProfiledBattery
    private var images: TripleBufferWriter<BatteryImage>
    private var actuations: TripleBufferReader<Actuation>
    private var reporter: ReportGate<CANBusEvent>
    private var isLinkUp = false
    private var schedule: SendSchedule
    private var supervision = CANSupervision()
    private var isImageNew = false
    private var seen = CANTransportCounts()
    /// `nil` = nobody says how often its frames come.
    private var rhythm: FrameRhythm?
    private var others: SecondSender

    /// - Parameter period: between two samples of the battery, as it should be.
    public init(
        battery: ProfiledBattery, rates: CANBitRates, period: Duration? = nil,
        images: consuming TripleBufferWriter<BatteryImage>,
        actuations: consuming TripleBufferReader<Actuation>
    ) {
        let queue = RingBuffer(capacity: 256, filler: CANBusReport.filler)
        status = CANBusStatus()
        reports = queue
        reporter = ReportGate(queue)
        self.rates = rates
        let cells = battery.hasCells ? TripleBuffer(CellImage()) : nil
        self.cells = cells
        cellWriter = cells?.writer()
        self.battery = battery
        schedule = SendSchedule(battery.sends)
        rhythm = period.map { FrameRhythm(period: $0) }
        others = SecondSender { battery.period(of: $0) }
        self.images = images
        self.actuations = actuations
    }

    // MARK: The link

    /// Frames can flow from now on; said again while they do, it changes nothing.
    ///
    /// - Parameter hasCarrier: of the interface; `nil` where nobody tells.
    public func opened(hasCarrier: Bool?, at now: MonotonicTime) {
        guard !isLinkUp else { return }
        isLinkUp = true
        status.setLink(up: true)
        schedule.restart(at: now)
        rhythm?.restart()
        reporter.report(.linkUp, at: now)
        note(.opened(hasCarrier: hasCarrier), at: now)
    }

    /// No frames flow, and nobody is to blame: a peer is waited for, or we end.
    public func closed(at now: MonotonicTime) {
        guard isLinkUp else { return }
        isLinkUp = false
        status.setLink(up: false)
        note(.closed, at: now)
    }

    /// The link failed, or could not be opened.
    public func lost(_ error: CANError, at now: MonotonicTime) {
        status.addLinkLoss()
        if case .desynchronised = error { status.addStray(.rubbish, at: now) }
        closed(at: now)
        reporter.report(.linkDown(error), at: now)
    }

    /// A new transport counts from zero.
    public func beginCounting() { seen = CANTransportCounts() }

    /// What the transport has counted so far.
    public func counted(_ counts: CANTransportCounts, at now: MonotonicTime) {
        let garbage = counts.garbageBytes &- seen.garbageBytes
        if garbage > 0 {
            status.addGarbage(garbage)
            status.addStray(.rubbish, at: now)
            reporter.report(.garbage(bytes: garbage), at: now)
        }
        if counts.refusedPeers != seen.refusedPeers { reporter.report(.refusedPeer, at: now) }
        let dropped = counts.droppedFrames &- seen.droppedFrames
        if dropped > 0 {
            status.addDropped(dropped)
            reporter.report(.framesDropped(dropped), at: now)
        }
        status.addUnusable(counts.unusableFrames &- seen.unusableFrames)
        seen = counts
        status.show(supervision)
    }

    // MARK: The bus

    /// More comes than a bus can carry: whoever sends it may wait in its own queue.
    public var isFlooded: Bool { supervision.isFlooded }

    /// Time has passed, whether or not anything was heard.
    public func tick(at now: MonotonicTime) { note(.tick, at: now) }

    /// Whether the interface has a carrier, which it loses in bus-off.
    public func carrier(_ hasCarrier: Bool, at now: MonotonicTime) { note(.carrier(hasCarrier), at: now) }

    private func note(_ event: CANSupervision.Event, at now: MonotonicTime) {
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

    // MARK: In

    /// A frame came.
    ///
    /// - Returns: whether the battery has said something that counts.
    @discardableResult
    public func received(_ arrival: CANArrival) -> Bool {
        let frame = arrival.frame
        status.addFrame()
        if let report = CANErrorFrame(frame) {
            status.addBusError()
            reporter.report(.busError(class: frame.identifier), at: arrival.time)
            note(.error(report), at: arrival.time)
            return false
        }
        let busTime = rates.nanoseconds(of: frame)
        note(.frame(busTime: busTime, isLocal: arrival.isLocal), at: arrival.time)
        // Somebody else says what only we may say. A request for it is none.
        guard frame.kind != .data || !schedule.contains(CANIdentifier(frame)) else {
            status.addConflict()
            let event = CANBusEvent.identifierConflict(
                identifier: frame.identifier, isExtended: frame.isExtended)
            reporter.report(event, at: arrival.time)
            return false
        }
        return decode(frame, at: arrival.time)
    }

    private func decode(_ frame: CANFrame, at time: MonotonicTime) -> Bool {
        switch battery.accept(frame, at: time) {
        case .used:
            isImageNew = true
            status.clearStrays()
            rhythm?.frame()
            if let each = battery.rhythm(of: CANIdentifier(frame)) {
                others.note(frame, each: each, at: time)
            }
            others.keep(battery.image(at: time), at: time)
            return true
        case .rejected(let reason):
            status.addRejected(reason)
            status.addStray(.refused, at: time)
            reporter.report(.rejectedFrame(identifier: frame.identifier, reason), at: time)
            // Its good fields were taken, and its bad ones are now marked so.
            isImageNew = true
            others.keep(battery.image(at: time), at: time)
            return false
        case .ignored(.unknownIdentifier), .ignored(.extendedIdentifier), .ignored(.remote),
            .ignored(.errorFrame):
            status.addIgnored()
            status.addStray(.foreign, at: time)
            reporter.report(
                .unknownFrame(identifier: frame.identifier, isExtended: frame.isExtended), at: time)
            return false
        }
    }

    /// Publishes what is new. The link may fail after frames have come; what came is published all the same.
    public func publish(at now: MonotonicTime) {
        if cellWriter != nil, now >= cellsDue { publishCells(at: now) }
        guard isImageNew else { return }
        isImageNew = false
        let isOff = supervision.state == .busOff
        let limit = isOff ? now + .nanoseconds(1) : supervision.voidBefore
        let said = battery.image(at: now)
        let image = others.strictest(said, at: now).withheld(.busOff, before: limit)
        images.publish(image)
        switch rhythm?.look(sample: image.packCurrent.age(at: now).map { now - $0 }, at: now) {
        case .missing(let percent): reporter.report(.framesMissing(percent), at: now)
        case .whole: reporter.report(.framesWhole, at: now)
        case nil: break
        }
    }

    /// Also while nothing comes: what was seen last is not known for ever.
    private func publishCells(at now: MonotonicTime) {
        cellsDue = now + Self.cellPeriod
        guard var writer = cellWriter.take() else { return }
        battery.look(at: now, into: &writer.pending.pointee)
        writer.commit()
        cellWriter = consume writer
    }

    // MARK: Out

    /// For how long nothing of ours is due; `nil` = for ever, or until the link is up.
    public func wait(from now: MonotonicTime) -> Duration? { isLinkUp ? schedule.wait(from: now) : nil }

    /// The next frame that is to leave now, to be followed by `sent` or `refused`; `nil` = none is due.
    ///
    /// - Parameter wallSeconds: UTC, for batteries that want to be told the time.
    public func next(at now: MonotonicTime, wallSeconds: Int64) -> CANFrame? {
        guard isLinkUp else { return nil }
        actuations.update()
        let actuation = actuations.latest.pointee
        for index in 0..<schedule.count {
            // Its time moves on also while nothing may be sent.
            let frame = schedule.take(index, actuation, at: now, wallSeconds: wallSeconds)
            if let frame, supervision.maySend(at: now) { return frame }
        }
        return nil
    }

    public func sent(_ frame: CANFrame, at now: MonotonicTime) {
        status.addKeepAlive()
        note(.sent(busTime: rates.nanoseconds(of: frame)), at: now)
    }

    /// It found no room to leave.
    public func refused(_ error: CANError, at now: MonotonicTime) {
        status.addRefusal()
        reporter.report(.keepAliveNotSent(error), at: now)
        note(.refused, at: now)
    }
}

/// What a transport has counted since it was opened.
public struct CANTransportCounts: Sendable, Equatable {
    /// Bytes that belonged to no frame.
    public var garbageBytes: UInt64 = 0
    /// Peers turned away because one was there already.
    public var refusedPeers: UInt64 = 0
    /// Frames that found no room in the socket's queue.
    public var droppedFrames: UInt64 = 0
    /// What the kernel delivered and is no frame.
    public var unusableFrames: UInt64 = 0

    public init() {}
}
