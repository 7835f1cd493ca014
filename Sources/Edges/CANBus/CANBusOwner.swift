import DeviceCodecs
import LinuxIO
import Quantities

/// One thread's work for one CAN bus: it opens its transport, hands over what arrives, sends what
/// `CANConversation` says, and decides nothing.
public final class CANBusOwner {
    /// Longest stay in the kernel; the heartbeat's bound is twice this.
    public static let turnLimit = Duration.milliseconds(50)
    /// Between two looks at the interface's carrier.
    static let lookPeriod = Duration.seconds(1)
    /// A peer that sends more than a bus can carry waits in its own queue meanwhile.
    static let floodPause = Duration.milliseconds(2)

    public let conversation: CANConversation
    private let address: CANAddress
    private let settings: CANLinkSettings
    private var transport: CANTransport?
    private var backOff = BackOff()
    private var nextLook = MonotonicTime(nanoseconds: 0)

    /// Nothing is opened yet.
    public init(
        _ conversation: CANConversation, address: CANAddress, settings: CANLinkSettings = CANLinkSettings()
    ) {
        self.conversation = conversation
        self.address = address
        self.settings = settings
    }

    /// Goes round until `stop` is raised, then closes the link; returns within 100 ms of it.
    public func run(until stop: StopFlag) {
        while !stop.isRaised { turn() }
        transport = nil
        conversation.status.setLink(up: false)
    }

    /// Goes round once: opens, or receives and sends; stays in the kernel at most `limit`.
    public func turn(waitingAtMost limit: Duration = CANBusOwner.turnLimit) {
        conversation.status.beat()
        switch transport.take() {
        case .none: openOrWait(limit)
        case .some(var link):
            do throws(CANError) {
                try serve(&link, limit)
            } catch {
                conversation.lost(error, at: MonotonicTime.now())
            }
            conversation.counted(link.counts, at: MonotonicTime.now())
            if link.isBroken {
                backOff.schedule(after: MonotonicTime.now())
            } else {
                transport = consume link
            }
        }
        conversation.publish(at: MonotonicTime.now())
    }

    private func openOrWait(_ limit: Duration) {
        let now = MonotonicTime.now()
        guard now >= backOff.next else { return min(backOff.next, now + limit).sleep() }
        do throws(CANError) {
            transport = try CANTransport.open(address, settings)
            conversation.beginCounting()
        } catch {
            backOff.schedule(after: now)
            conversation.lost(error, at: MonotonicTime.now())
        }
    }

    private func serve(_ link: inout CANTransport, _ limit: Duration) throws(CANError) {
        noteLink(link)
        if conversation.isFlooded { (MonotonicTime.now() + Self.floodPause).sleep() }
        let wait = conversation.wait(from: MonotonicTime.now()).map { min(limit, $0) } ?? limit
        try link.receiveArrivals(timeout: wait) { if conversation.received($0) { backOff.reset() } }
        noteLink(link)
        guard link.isUp else { return }
        look(at: link)
        try send(&link)
    }

    private func noteLink(_ link: borrowing CANTransport) {
        let now = MonotonicTime.now()
        if link.isUp {
            conversation.opened(hasCarrier: link.hasCarrier, at: now)
        } else {
            conversation.closed(at: now)
        }
    }

    private func look(at link: borrowing CANTransport) {
        let now = MonotonicTime.now()
        conversation.tick(at: now)
        guard now >= nextLook else { return }
        nextLook = now + Self.lookPeriod
        if let hasCarrier = link.hasCarrier { conversation.carrier(hasCarrier, at: now) }
    }

    private func send(_ link: inout CANTransport) throws(CANError) {
        let now = MonotonicTime.now()
        while let frame = conversation.next(at: now, wallSeconds: WallClock.nowMilliseconds() / 1_000) {
            do throws(CANError) {
                try link.send(frame)
                conversation.sent(frame, at: now)
            } catch {
                if error.endsSession { throw error }
                conversation.refused(error, at: now)
            }
        }
    }
}
