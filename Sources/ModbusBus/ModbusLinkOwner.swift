import DeviceCodecs
import LinuxIO
import Plant
import Quantities

/// One thread's work for one link (a TCP endpoint or a serial line) and its devices: setpoints and coils
/// first, then readings.
///
/// It wakes on the grid `epoch + k · period + offset`, looks at each device's newest actuation, writes what
/// changed or is to be refreshed, and then reads what is due, one transaction at a time; a write waits for
/// one transaction at most. A reading's time is the instant just before its request. A failed reading
/// publishes nothing: the last sample ages, and its users find it stale. An expired actuation is written as
/// zero.
public final class ModbusLinkOwner {
    /// Where it is reached and how it keeps time.
    public struct Settings: Sendable, Equatable {
        public var address: ModbusAddress
        /// Longest wait for an answer or a connection: 10 ms … 10 s.
        public var timeout: Duration
        /// Of the control cycle: 1 ms … 1 s.
        public var period: Duration
        public var epoch: MonotonicTime
        /// From a cycle's start to the look at its actuations: the time the control step takes.
        public var offset: Duration = .milliseconds(2)

        public init(address: ModbusAddress, timeout: Duration, period: Duration, epoch: MonotonicTime) {
            self.address = address
            self.timeout = timeout
            self.period = period
            self.epoch = epoch
        }
    }

    public let status = ModbusLinkStatus()
    /// One reader may take them out.
    public let reports = RingBuffer<ModbusReport>(capacity: 256, filler: .filler)
    /// Longest time that the heartbeat may stand still while the thread goes round.
    public var heartbeatBound: Duration { max(.milliseconds(500), client.timeout + .milliseconds(500)) }

    let settings: Settings
    private let stop: StopFlag
    var client: ModbusClient
    var devices: [ModbusDevice] = []
    let registers = UnsafeMutableBufferPointer<UInt16>.allocate(capacity: 125)
    let bits = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 64)

    private var nextTick = MonotonicTime(nanoseconds: 0)
    /// Serial: nothing is sent before; a late answer may still come.
    private var quietUntil: MonotonicTime?
    private var connectNotBefore = MonotonicTime(nanoseconds: 0)
    private var connectBackOff = Duration.milliseconds(250)
    private var hasBeenConnected = false
    /// The last state that was reported; `nil` before the first.
    private var isReportedUp: Bool?

    /// - Throws: `unusableAddress`; nothing is opened yet.
    public init(_ settings: Settings, stop: StopFlag) throws(ModbusError) {
        precondition(settings.period > .zero)
        client = try ModbusClient(settings.address, timeout: settings.timeout)
        self.settings = settings
        self.stop = stop
        registers.initialize(repeating: 0)
        bits.initialize(repeating: 0)
    }

    deinit {
        registers.deallocate()
        bits.deallocate()
    }

    /// Adds an inverter; before `run`.
    ///
    /// - Parameter reversion: after this time without a rewrite the device goes to zero by itself; whole
    ///   seconds.
    /// - Parameter readsDCVoltage: also where it costs a reading of its own; who drives contactors needs it.
    /// - Parameter reactive: what it is told about reactive power; `nil` = nothing, its own setting holds.
    public func addInverter(
        _ device: ModbusDeviceSettings, reversion: Duration, readsDCVoltage: Bool = false,
        reactive: SunSpecReactiveControl.Setting? = nil,
        setpoints: consuming TripleBufferReader<Actuation>,
        images: consuming TripleBufferWriter<InverterImage>
    ) {
        devices.append(
            ModbusDevice(
                device, reversion: reversion, readsDCVoltage: readsDCVoltage, reactive: reactive,
                setpoints: setpoints, images: images))
    }

    /// Adds a meter, or an inverter that serves as one; before `run`.
    public func addMeter(
        _ device: ModbusDeviceSettings, sign: SunSpecMeterSign,
        images: consuming TripleBufferWriter<GridImage>
    ) {
        devices.append(ModbusDevice(device, sign: sign, images: images))
    }

    /// Adds an I/O module; before `run`. Its coils are written each `poll`: its own watchdog is to open them
    /// when that ends.
    public func addModule(
        _ device: ModbusDeviceSettings, map: ModbusIOMap,
        actuations: consuming TripleBufferReader<Actuation>,
        images: consuming TripleBufferWriter<DigitalInputImage>
    ) {
        devices.append(ModbusDevice(device, map: map, actuations: actuations, images: images))
    }

    // MARK: The thread's loop

    /// Works until the stop flag is raised; then writes zero to every inverter it drives, opens every coil,
    /// and closes.
    public func run() {
        while !stop.isRaised {
            sleepUntilTick()
            let now = MonotonicTime.now()
            let tick = latestTick(at: now)
            nextTick = tick + settings.period
            work(tick: tick)
        }
        shutDown()
    }

    private func latestTick(at now: MonotonicTime) -> MonotonicTime {
        let first = settings.epoch + settings.offset
        guard now > first else { return first }
        let past = (now - first).nanoseconds
        return now - .nanoseconds(past % settings.period.nanoseconds)
    }

    private func sleepUntilTick() {
        while !stop.isRaised {
            beat()
            let now = MonotonicTime.now()
            if now >= nextTick { return }
            min(nextTick, now + .milliseconds(200)).sleep()
        }
    }

    /// One slot of the grid.
    private func work(tick: MonotonicTime) {
        guard isSessionReady(at: MonotonicTime.now()) else { return }
        // A device that failed must not keep the others from what they are told.
        for hasFailed in [false, true] {
            for device in devices where (device.failures > 0) == hasFailed {
                serve(device, tick: tick)
                if !canTransact { return }
            }
        }
        // What falls due within half a slot is due: a wake-up's jitter must not move a reading to the next.
        let slack = Duration.nanoseconds(settings.period.nanoseconds / 2)
        while canTransact, let (device, task) = nextRead(at: MonotonicTime.now() + slack) {
            perform(task, device)
            // The next slot has begun: its writes go first.
            if MonotonicTime.now() >= nextTick || stop.isRaised { return }
        }
    }

    private func nextRead(at now: MonotonicTime) -> (ModbusDevice, ModbusTask)? {
        var best: (device: ModbusDevice, task: ModbusTask, due: MonotonicTime)?
        for device in devices {
            guard let (task, due) = device.nextTask(at: now) else { continue }
            if best.map({ due < $0.due }) ?? true { best = (device, task, due) }
        }
        return best.map { ($0.device, $0.task) }
    }

    private func shutDown() {
        // Power goes before the contactors open.
        for device in devices where device.control != nil { atEnd(device) }
        for device in devices where device.isModule { atEnd(device) }
        client.disconnect()
        status.up.store(false, ordering: .relaxed)
    }

    private func atEnd(_ device: ModbusDevice) {
        if let until = quietUntil { until.sleep() }
        if isSessionReady(at: MonotonicTime.now()) {
            switch device.role {
            case .inverter: writeZero(device)
            case .module(let map): openCoils(device, map)
            case .meter: break
            }
        }
        beat()
    }

    func beat() { status.beats.add(1, ordering: .relaxed) }

    func report(_ unit: UInt8, _ event: ModbusReport.Event) {
        reports.push(ModbusReport(time: MonotonicTime.now(), unit: unit, event: event))
    }

    /// Reports at most once in 10 s what can repeat; what is held back is counted.
    func reportSeldom(
        _ device: ModbusDevice, _ gate: ReferenceWritableKeyPath<ModbusDevice, MonotonicTime>,
        _ event: ModbusReport.Event
    ) {
        let now = MonotonicTime.now()
        guard now >= device[keyPath: gate] else {
            status.suppressed.add(1, ordering: .relaxed)
            return
        }
        device[keyPath: gate] = now + .seconds(10)
        report(device.settings.unitID, event)
    }

    // MARK: Session

    var canTransact: Bool { client.isConnected && quietUntil == nil }

    /// Ends the quiet time, or opens the link, where it is time and somebody has something to ask.
    private func isSessionReady(at now: MonotonicTime) -> Bool {
        if let until = quietUntil {
            guard now >= until else { return false }
            client.flush()
            quietUntil = nil
        }
        if client.isConnected { return true }
        guard now >= connectNotBefore, devices.contains(where: { now >= $0.notBefore }) else { return false }
        do throws(ModbusError) {
            try client.connect()
        } catch {
            beat()
            connectionFailed(error)
            return false
        }
        beat()
        if hasBeenConnected { status.reconnectCount.add(1, ordering: .relaxed) }
        hasBeenConnected = true
        return true
    }

    private func connectionFailed(_ error: ModbusError) {
        count(error)
        let now = MonotonicTime.now()
        connectNotBefore = now + connectBackOff
        connectBackOff = min(connectBackOff * 2, .seconds(10))
        for device in devices { device.forget(at: now) }
        reportDown(error)
    }

    private func reportDown(_ error: ModbusError) {
        status.up.store(false, ordering: .relaxed)
        if isReportedUp != false { report(0, .linkDown(error)) }
        isReportedUp = false
    }

    private func count(_ error: ModbusError) {
        status.errorCount.add(1, ordering: .relaxed)
        if error == .timeout { status.timeoutCount.add(1, ordering: .relaxed) }
    }

    // MARK: Transactions

    /// Runs one transaction with a device and keeps the books on it.
    ///
    /// - Returns: the instant just before the request, or what went wrong.
    func transact(
        _ device: ModbusDevice, _ body: (inout ModbusClient) throws(ModbusError) -> Void
    ) -> Result<MonotonicTime, ModbusError> {
        let timeout = device.timeout(client.timeout, isShared: devices.count > 1)
        client.setTimeout(timeout)
        let start = MonotonicTime.now()
        do throws(ModbusError) {
            try body(&client)
        } catch {
            beat()
            count(error)
            if error.endsSession {
                sessionFailed(device, error, timeout)
            } else {
                linkAnswered(start)
                if error.isAbsence { deviceFailed(device, error) } else { deviceAnswered(device) }
            }
            return .failure(error)
        }
        beat()
        linkAnswered(start)
        deviceAnswered(device)
        return .success(start)
    }

    private func linkAnswered(_ start: MonotonicTime) {
        status.transactionCount.add(1, ordering: .relaxed)
        status.roundTrip.store((MonotonicTime.now() - start).nanoseconds, ordering: .relaxed)
        status.up.store(true, ordering: .relaxed)
        connectBackOff = .milliseconds(250)
        if isReportedUp != true { report(0, .linkUp) }
        isReportedUp = true
    }

    private func deviceAnswered(_ device: ModbusDevice) {
        if device.answered() { report(device.settings.unitID, .deviceBack) }
    }

    private func deviceFailed(_ device: ModbusDevice, _ error: ModbusError) {
        if device.failed(at: MonotonicTime.now()) { report(device.settings.unitID, .deviceSilent(error)) }
    }

    /// The state of the line is unknown now. TCP closes and connects anew; a serial line keeps quiet for one
    /// more answer time-out, since a late answer must never be taken for the next one's.
    private func sessionFailed(_ device: ModbusDevice, _ error: ModbusError, _ timeout: Duration) {
        let now = MonotonicTime.now()
        if client.isSerial && !error.forgetsDevice {
            quietUntil = now + timeout
            device.forgetWritten()
        } else {
            client.disconnect()
            for other in devices {
                other.forgetWritten()
                if error.forgetsDevice { other.forget(at: now) }
            }
            if error.forgetsDevice { connectNotBefore = now + .milliseconds(250) }
            if devices.count == 1 || error.forgetsDevice { reportDown(error) }
        }
        deviceFailed(device, error)
    }
}
