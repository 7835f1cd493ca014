import DeviceCodecs
import LinuxIO
import Plant
import Quantities

/// What one link (a TCP endpoint or a serial line) says to its devices and makes of their answers, without
/// I/O: it is told what arrived and what time it is, and says what to send and how long to wait. A bus
/// thread drives it over a line (`ModbusLinkOwner`), virtual time over simulated devices.
///
/// Setpoints and coils come first, then readings. It looks at each device's newest actuation when it is
/// woken, and on the grid `epoch + k · period + offset`, writes what changed or is to be refreshed, and then
/// asks what `ModbusSchedule` says, one exchange at a time: a write waits for one exchange at most. A
/// reading's time is the instant just before its request. A failed reading publishes nothing: the last
/// sample ages, and its users find it stale. An expired actuation is written as zero.
public final class ModbusConversation {
    /// Where it is reached and how it keeps time.
    public struct Settings: Sendable, Equatable {
        public var endpoint: ModbusEndpoint
        /// Longest wait for an answer or a connection: 10 ms … 10 s.
        public var timeout: Duration
        /// Of the control cycle: 1 ms … 1 s.
        public var period: Duration
        public var epoch: MonotonicTime
        /// From a cycle's start to the look at its actuations, where nobody wakes us before.
        public var offset: Duration = .milliseconds(2)

        public init(endpoint: ModbusEndpoint, timeout: Duration, period: Duration, epoch: MonotonicTime) {
            self.endpoint = endpoint
            self.timeout = timeout
            self.period = period
            self.epoch = epoch
        }
    }

    /// What whoever drives it does next, before `next(at:)` again.
    public enum Step: Sendable, Equatable {
        /// Open the line, then `opened` or `refused`.
        case open
        case close
        /// Send `request`, then `sent` or `failed`.
        case send
        /// Wait for bytes, at most until then: those that come go to `room`, then `received`.
        case listen(until: MonotonicTime)
        /// Nothing is under way until then, or until there is a fresh actuation (`woken`).
        case rest(until: MonotonicTime)
        /// After `end()`: nothing is left to say.
        case ended
    }

    enum Phase {
        case begin
        /// Each device is told what it is to do.
        case serving(Round)
        /// Then one thing is read.
        case choosing
        case ending(Int)
    }

    /// One look at all actuations.
    struct Round {
        /// When the first of them was fresh.
        let since: MonotonicTime
        let first: Int
        /// A device that failed must not keep the others from what they are told.
        var isOfFailed = false
        var step = 0
    }

    public let status = ModbusLinkStatus()
    /// One reader may take them out.
    public let reports = RingBuffer<ModbusReport>(capacity: 256, filler: .filler)
    /// Where a person's writes come in.
    public let service = ModbusServicePort()
    /// No step waits for longer, whatever the time-out: the heartbeat moves as often.
    private static let longestStep = Duration.milliseconds(200)
    /// One for each device, in the order in which they were added; complete when the first step is asked for.
    public var deviceStatuses: [ModbusDeviceStatus] { devices.map(\.status) }

    public let settings: Settings
    var exchange: ModbusExchange
    var devices: [ModbusDevice] = []
    let registers = UnsafeMutableBufferPointer<UInt16>.allocate(capacity: 125)
    let bits = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 64)

    /// Of the step that is being made.
    var now = MonotonicTime(nanoseconds: 0)
    private var phase = Phase.begin
    var isPrepared = false
    private var isEnding = false
    private var fresh: MonotonicTime?
    let grid: ModbusGrid
    private var nextLook = MonotonicTime(nanoseconds: 0)

    /// What is under way, and with whom.
    var job: ModbusJob?
    var asked = 0
    /// What the answer is to be put into.
    var askedRequest = ModbusRequest.readCoils(at: 0, count: 1)
    /// The request is a repeated one: its answer may be the first one's.
    var isAgain = false
    /// Of the exchange that is over: what its values are as old as.
    var answerTime = MonotonicTime(nanoseconds: 0)
    /// A shorter wait than the configured one, after which it is repeated.
    var isSoft = false
    /// Its answer is waited for only until the next value must be asked for.
    var isPutOff = false
    /// Since when the write that is under way waited.
    var tick = MonotonicTime(nanoseconds: 0)
    /// Its heartbeat comes when its setpoint has been dealt with.
    var owesHeartbeat: Int?
    /// Of the task that is under way: a probe's wait.
    var probeTimeout: Duration?
    var task: ModbusTask?

    private(set) var isOpen = false
    private var mustClose = false
    /// Of any device; and when the line was opened.
    var answeredAt = MonotonicTime(nanoseconds: 0)
    var missesInRow = 0
    var connectNotBefore = MonotonicTime(nanoseconds: 0)
    var connectBackOff = Duration.milliseconds(250)
    /// Against a link that comes and goes.
    var steadiness = ModbusSteadiness()
    private var hasBeenConnected = false
    private var isRS485Told = false
    private static let deafness = Duration.seconds(10)
    /// A setpoint was written while readings were late: one reading comes before the next setpoint that only
    /// changes what a device gives. Zero, an expiry and a refresh never wait for it.
    var owesReading = false
    /// A setpoint waits for that reading.
    var holdsWrite = false
    /// Whose turn it is, so that waiting comes round.
    private var firstServed = 0
    /// The last state that was reported; `nil` before the first.
    var isReportedUp: Bool?

    public init(_ settings: Settings) {
        precondition(settings.period > .zero)
        exchange = ModbusExchange(on: settings.endpoint.line, timeout: settings.timeout)
        grid = ModbusGrid(epoch: settings.epoch, period: settings.period)
        self.settings = settings
        registers.initialize(repeating: 0)
        bits.initialize(repeating: 0)
    }

    deinit {
        registers.deallocate()
        bits.deallocate()
    }

    // MARK: What is told

    /// There has been a fresh actuation since then.
    public func woken(at time: MonotonicTime) { if fresh == nil { fresh = time } }

    /// Writes zero to every inverter that it drives, opens every coil, closes the line, and has ended.
    public func end() { isEnding = true }

    /// The bytes to send.
    public var request: UnsafeBufferPointer<UInt8> { exchange.request }

    /// Where bytes that arrive are to be put.
    public var room: UnsafeMutableBufferPointer<UInt8> { exchange.room }

    public func sent(at now: MonotonicTime) { exchange.sent(at: now) }

    /// So many bytes were put into `room`.
    public func received(_ count: Int, at now: MonotonicTime) { exchange.arrived(count, at: now) }

    /// Sending or receiving has failed.
    public func failed(_ error: ModbusError) { exchange.fail(error) }

    /// The line is open.
    public func opened(_ line: ModbusLineState, at now: MonotonicTime) {
        self.now = now
        beat()
        isOpen = true
        steadiness.opened(at: now)
        exchange.opened(at: now)
        if hasBeenConnected { status.reconnectCount.add(1, ordering: .relaxed) }
        hasBeenConnected = true
        (answeredAt, missesInRow) = (now, 0)
        guard exchange.isSerial else { return }
        status.lowLatency.store(line.isLowLatency, ordering: .relaxed)
        if line.rs485Error != 0, !isRS485Told { report(0, .directionRefused(line.rs485Error)) }
        isRS485Told = line.rs485Error != 0
    }

    /// The line cannot be opened.
    public func refused(_ error: ModbusError, at now: MonotonicTime) {
        self.now = now
        beat()
        count(error)
        connectNotBefore = now + connectBackOff
        connectBackOff = min(connectBackOff * 2, .milliseconds(500))
        for device in devices { device.suspend(at: now) }
        reportDown(error)
    }

    // MARK: What is next

    /// What is to be done now.
    public func next(at now: MonotonicTime) -> Step {
        self.now = now
        if !isPrepared { prepare() }
        beat()
        while true {
            if mustClose {
                mustClose = false
                return .close
            }
            if job != nil {
                switch exchange.next(at: now) {
                case .send: return .send
                case .listen(let end): return .listen(until: min(end, now + Self.longestStep))
                case .over: take()
                }
            } else if let step = turn() {
                return step
            }
        }
    }

    /// - Returns: `nil` where an exchange was begun, or the next turn is to be made at once.
    private func turn() -> Step? {
        if isEnding, !isInEnd { phase = .ending(0) }
        switch phase {
        case .begin: return begin()
        case .serving(var round):
            guard isOpen else {
                phase = .begin
                return nil
            }
            serve(&round)
            return nil
        case .choosing:
            phase = .begin
            return isOpen ? choose() : nil
        case .ending(let step): return end(step)
        }
    }

    private var isInEnd: Bool {
        switch phase {
        case .ending: true
        case .begin, .serving, .choosing: false
        }
    }

    private func begin() -> Step? {
        let woken = fresh
        fresh = nil
        let isLook = now >= nextLook
        let since = woken ?? nextLook
        if isLook {
            nextLook = grid.next(after: now - settings.offset, step: settings.period) + settings.offset
        }
        let start = since == MonotonicTime(nanoseconds: 0) ? now : since
        reopenIfDeaf()
        guard isOpen else {
            guard mayOpen else { return mustClose ? nil : rest(until: nextLook) }
            if isLook || woken != nil { fresh = start }
            return mustClose ? nil : .open
        }
        let isServed = isLook || woken != nil || (holdsWrite && !owesReading)
        if isServed { holdsWrite = false }
        phase = isServed ? .serving(Round(since: start, first: firstServed)) : .choosing
        return nil
    }

    private func rest(until end: MonotonicTime) -> Step {
        .rest(until: min(end, now + Self.longestStep))
    }

    /// Tells the next device of the round what it is to do.
    private func serve(_ round: inout Round) {
        if let index = owesHeartbeat {
            owesHeartbeat = nil
            return beatHeart(devices[index])
        }
        guard let index = nextIndex(&round) else {
            phase = .choosing
            return serveRequest()
        }
        phase = .serving(round)
        let owed = owesReading
        tick = round.since
        serve(devices[index])
        if owesReading != owed { firstServed = index + 1 }
    }

    private func nextIndex(_ round: inout Round) -> Int? {
        while true {
            guard round.step < devices.count else {
                if round.isOfFailed { return nil }
                (round.isOfFailed, round.step) = (true, 0)
                continue
            }
            let index = (round.first + round.step) % devices.count
            round.step += 1
            if (devices[index].failures > 0) == round.isOfFailed { return index }
        }
    }

    private func choose() -> Step? {
        switch ModbusSchedule.next(devices.lazy.map(\.timetable), at: now) {
        case .ask(let index, let task, let timeout):
            (probeTimeout, self.task) = (timeout, task)
            owesReading = false
            perform(task, devices[index])
            if job == nil { (probeTimeout, self.task) = (nil, nil) }
            return nil
        case .idle(let until):
            owesReading = false
            return holdsWrite ? nil : rest(until: min(until, nextLook))
        }
    }

    /// Power goes before the contactors open.
    private func end(_ step: Int) -> Step? {
        guard step < 2 * devices.count else {
            if isOpen {
                close()
                return nil
            }
            status.up.store(false, ordering: .relaxed)
            return .ended
        }
        let device = devices[step % devices.count]
        guard step < devices.count ? device.control != nil : device.isModule else {
            phase = .ending(step + 1)
            return nil
        }
        if !isOpen && mayOpen { return .open }
        phase = .ending(step + 1)
        guard isOpen else { return nil }
        tick = now
        switch device.role {
        case .inverter: writeZero(device)
        case .module(let map): openCoils(device, map)
        case .meter: break
        }
        return nil
    }

    func beat() { status.beats.add(1, ordering: .relaxed) }

    func report(_ unit: UInt8, _ event: ModbusReport.Event) {
        reports.push(ModbusReport(time: now, unit: unit, event: event))
    }

    /// Reports at most once in 10 s what can repeat; what is held back is counted.
    func reportSeldom(
        _ device: ModbusDevice, _ gate: ReferenceWritableKeyPath<ModbusDevice, MonotonicTime>,
        _ event: ModbusReport.Event
    ) {
        guard now >= device[keyPath: gate] else {
            status.suppressed.add(1, ordering: .relaxed)
            return
        }
        device[keyPath: gate] = now + .seconds(10)
        report(device.settings.unitID, event)
    }

    // MARK: Session

    /// It is time, and somebody has something to ask.
    private var mayOpen: Bool {
        now >= connectNotBefore && devices.contains { now >= $0.notBefore }
    }

    func close() {
        if isOpen { mustClose = true }
        isOpen = false
    }

    /// A serial port that is open and hears nobody may hang, or be another one by now: it is opened anew.
    private func reopenIfDeaf() {
        guard exchange.isSerial, isOpen, now - answeredAt >= Self.deafness,
            !devices.contains(where: { $0.timetable.isTrusted })
        else { return }
        status.reopenCount.add(1, ordering: .relaxed)
        close()
        reportDown(.timeout)
    }

    func count(_ error: ModbusError) {
        status.errorCount.add(1, ordering: .relaxed)
        if error == .timeout { status.timeoutCount.add(1, ordering: .relaxed) }
    }
}
