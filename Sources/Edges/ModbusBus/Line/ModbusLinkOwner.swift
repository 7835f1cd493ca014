import DeviceCodecs
import LinuxIO
import Plant
import Quantities

/// One thread's work for one link: it does on the line what its `ModbusConversation` says, and decides
/// nothing.
public final class ModbusLinkOwner {
    public let conversation: ModbusConversation
    private var line: ModbusLine
    private let wake: WakeUp?
    private let stop: StopFlag

    /// - Parameter wake: signalled when there is a fresh actuation; without it they are looked for once a
    ///   period.
    /// - Throws: `unusableAddress`; nothing is opened yet.
    public init(
        _ conversation: ModbusConversation, wake: WakeUp? = nil, stop: StopFlag
    ) throws(ModbusError) {
        line = try ModbusLine(conversation.settings.endpoint)
        self.conversation = conversation
        self.wake = wake
        self.stop = stop
    }

    /// Works until the stop flag is raised; then writes zero to every inverter it drives, opens every coil,
    /// and closes.
    public func run() {
        var isOver = false
        while !isOver {
            if stop.isRaised { conversation.end() }
            if let time = wake?.take() { conversation.woken(at: time) }
            switch conversation.next(at: MonotonicTime.now()) {
            case .open: open()
            case .close: line.disconnect()
            case .send: send()
            case .listen(let end): listen(until: end)
            case .rest(let end): if let wake { wake.wait(until: end) } else { end.sleep() }
            case .ended: isOver = true
            }
        }
    }

    private func open() {
        let limit = min(max(conversation.settings.timeout, .milliseconds(10)), .seconds(10))
        do throws(ModbusError) {
            try line.connect(within: limit, patience: max(.seconds(1), limit * 2)) { conversation.beat() }
            conversation.opened(line.state, at: MonotonicTime.now())
        } catch {
            conversation.refused(error, at: MonotonicTime.now())
        }
    }

    private func send() {
        do throws(ModbusError) {
            try line.send(conversation.request)
            conversation.sent(at: MonotonicTime.now())
        } catch {
            conversation.failed(error)
        }
    }

    private func listen(until end: MonotonicTime) {
        do throws(ModbusError) {
            let count = try line.receive(into: conversation.room, until: end)
            if count > 0 { conversation.received(count, at: MonotonicTime.now()) }
        } catch {
            conversation.failed(error)
        }
    }
}
