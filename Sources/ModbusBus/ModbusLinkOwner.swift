import DeviceCodecs
import LinuxIO
import Plant
import Quantities

/// One thread's work for one link (a TCP endpoint or a serial line) and its devices: setpoints and coils
/// first, then readings.
///
/// It looks at each device's newest actuation when it is woken, and on the grid `epoch + k · period +
/// offset`, writes what changed or is to be refreshed, and then asks what `ModbusSchedule` says, one
/// transaction at a time: a write waits for one transaction at most. A reading's time is the instant just
/// before its request. A failed reading publishes nothing: the last sample ages, and its users find it
/// stale. An expired actuation is written as zero.
public final class ModbusLinkOwner {
    /// Where it is reached and how it keeps time.
    public struct Settings: Sendable, Equatable {
        public var address: ModbusAddress
        /// Longest wait for an answer or a connection: 10 ms … 10 s.
        public var timeout: Duration
        /// Of the control cycle: 1 ms … 1 s.
        public var period: Duration
        public var epoch: MonotonicTime
        /// From a cycle's start to the look at its actuations, where nobody wakes us before.
        public var offset: Duration = .milliseconds(2)
        public var options = ModbusLineOptions()

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
    /// Where a person's writes come in.
    public let service = ModbusServicePort()
    /// Longest time that the heartbeat may stand still while the thread goes round.
    public var heartbeatBound: Duration {
        client.timeout + .seconds(1) + (client.timing?.time(ofBytes: 2 * ModbusFraming.limit) ?? .zero)
    }
    /// One for each device, in the order in which they were added; complete when `run` begins.
    public var deviceStatuses: [ModbusDeviceStatus] { devices.map(\.status) }

    let settings: Settings
    private let stop: StopFlag
    var client: ModbusClient
    var devices: [ModbusDevice] = []
    let registers = UnsafeMutableBufferPointer<UInt16>.allocate(capacity: 125)
    let bits = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 64)

    private let wake: WakeUp?
    let grid: ModbusGrid
    private var nextLook = MonotonicTime(nanoseconds: 0)
    /// Of the task that is under way: a probe's wait.
    var probeTimeout: Duration?
    var task: ModbusTask?
    /// Of any device; and when the line was opened.
    var answeredAt = MonotonicTime(nanoseconds: 0)
    var missesInRow = 0
    var connectNotBefore = MonotonicTime(nanoseconds: 0)
    var connectBackOff = Duration.milliseconds(250)
    private var hasBeenConnected = false
    private var isRS485Told = false
    private static let deafness = Duration.seconds(10)
    /// A setpoint was written while readings were late: one reading comes before the next setpoint that only
    /// changes what a device gives. Zero, an expiry and a refresh never wait for it.
    var owesReading = false
    /// A setpoint waits for that reading.
    var holdsWrite = false
    /// Whose turn it is, so that waiting comes round.
    var firstServed = 0
    /// The last state that was reported; `nil` before the first.
    var isReportedUp: Bool?

    /// - Parameter wake: signalled when there is a fresh actuation; without it they are looked for once a
    ///   period.
    /// - Throws: `unusableAddress`; nothing is opened yet.
    public init(_ settings: Settings, wake: WakeUp? = nil, stop: StopFlag) throws(ModbusError) {
        precondition(settings.period > .zero)
        client = try ModbusClient(settings.address, timeout: settings.timeout, options: settings.options)
        grid = ModbusGrid(epoch: settings.epoch, period: settings.period)
        self.wake = wake
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
    /// - Parameter acceptsUnprovenReversion: drives it also where what it does after silence is not known to
    ///   be
    ///   zero power (SunSpec 124); else it gets no setpoints.
    /// - Parameter driver: its registers, where it has no SunSpec.
    /// - Parameter reactive: what it is told about reactive power; `nil` = nothing, its own setting holds.
    /// - Parameter outputCap: what it is told to limit its own output to, by SunSpec 123; `nil` = nothing.
    /// - Returns: what keeps it from being told its setpoint again.
    @discardableResult
    public func addInverter(
        _ device: ModbusDeviceSettings, reversion: Duration, readsDCVoltage: Bool = false,
        acceptsUnprovenReversion: Bool = false, driver: RegisterMap? = nil,
        reactive: SunSpecReactiveControl.Setting? = nil, outputCap: Watts? = nil,
        setpoints: consuming TripleBufferReader<Actuation>,
        images: consuming TripleBufferWriter<InverterImage>
    ) -> ModbusSilence {
        let inverter = ModbusDevice(
            device, reversion: reversion, readsDCVoltage: readsDCVoltage,
            acceptsUnprovenReversion: acceptsUnprovenReversion, driver: driver, reactive: reactive,
            outputCap: outputCap, setpoints: setpoints, images: images)
        devices.append(inverter)
        return inverter.silence
    }

    /// Adds a meter, or an inverter that serves as one; before `run`.
    public func addMeter(
        _ device: ModbusDeviceSettings, sign: SunSpecMeterSign, driver: RegisterMap? = nil,
        images: consuming TripleBufferWriter<GridImage>
    ) {
        devices.append(ModbusDevice(device, sign: sign, driver: driver, images: images))
    }

    /// Adds an I/O module; before `run`. Its coils are written each `poll`: its own watchdog is to open them
    /// when that ends.
    ///
    /// - Parameter writesSingly: the module does not know function 15; else that is found out.
    /// - Returns: what keeps us from talking to it at all.
    @discardableResult
    public func addModule(
        _ device: ModbusDeviceSettings, map: ModbusIOMap, writesSingly: Bool = false,
        actuations: consuming TripleBufferReader<Actuation>,
        images: consuming TripleBufferWriter<DigitalInputImage>
    ) -> ModbusHush {
        let module = ModbusDevice(device, map: map, actuations: actuations, images: images)
        module.coils.isOneByOne = writesSingly
        devices.append(module)
        return module.hush
    }

    // MARK: The thread's loop

    /// Works until the stop flag is raised; then writes zero to every inverter it drives, opens every coil,
    /// and closes.
    public func run() {
        prepare()
        while !stop.isRaised { turn() }
        shutDown()
    }

    private func prepare() {
        // A device's own time to answer is not known yet.
        let overhead = client.timing.map { ModbusBlocks.overhead($0, turnaround: .milliseconds(5)) }
        for (index, device) in devices.enumerated() {
            if let map = device.driver?.map, let overhead {
                device.driver = ModbusDriver(map, overhead: overhead)
            }
            device.timetable = ModbusTimetable(
                device.settings, device.role, hasDriver: device.driver != nil, grid: grid, index: index,
                deviceCount: devices.count,
                limit: client.timeout,
                leastGap: client.timing.map { settings.options.gap ?? $0.frameGap } ?? .zero,
                isLearning: client.isSerial || devices.count > 1)
            device.publishStatus()
        }
    }

    /// Writes where there may be something new, and then one transaction, or a wait.
    private func turn() {
        beat()
        let now = MonotonicTime.now()
        let woken = wake?.take()
        let isLook = now >= nextLook
        let since = woken ?? nextLook
        if isLook {
            nextLook = grid.next(after: now - settings.offset, step: settings.period) + settings.offset
        }
        reopenIfDeaf(at: now)
        guard isSessionReady(at: now) else { return wait(until: nextLook) }
        if isLook || woken != nil || (holdsWrite && !owesReading) {
            serveAll(since: since == MonotonicTime(nanoseconds: 0) ? now : since)
        }
        guard canTransact, !stop.isRaised else { return }
        switch ModbusSchedule.next(devices.lazy.map(\.timetable), at: MonotonicTime.now()) {
        case .ask(let index, let task, let timeout):
            (probeTimeout, self.task) = (timeout, task)
            owesReading = false
            perform(task, devices[index])
            (probeTimeout, self.task) = (nil, nil)
        case .idle(let until):
            owesReading = false
            wait(until: holdsWrite ? now : min(until, nextLook))
        }
    }

    private func wait(until end: MonotonicTime) {
        let end = min(end, MonotonicTime.now() + .milliseconds(200))
        if let wake { wake.wait(until: end) } else { end.sleep() }
    }

    private func serveAll(since: MonotonicTime) {
        holdsWrite = false
        // A device that failed must not keep the others from what they are told.
        let first = firstServed
        for hasFailed in [false, true] {
            for step in devices.indices {
                let index = (first + step) % devices.count
                guard (devices[index].failures > 0) == hasFailed else { continue }
                let owed = owesReading
                serve(devices[index], tick: since)
                if owesReading != owed { firstServed = index + 1 }
                if !canTransact { return }
            }
        }
        serveRequest()
    }

    private func shutDown() {
        // Power goes before the contactors open.
        for device in devices where device.control != nil { atEnd(device) }
        for device in devices where device.isModule { atEnd(device) }
        client.disconnect()
        status.up.store(false, ordering: .relaxed)
    }

    private func atEnd(_ device: ModbusDevice) {
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

    var canTransact: Bool { client.isConnected }

    /// Opens the link where it is time and somebody has something to ask.
    private func isSessionReady(at now: MonotonicTime) -> Bool {
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
        (answeredAt, missesInRow) = (MonotonicTime.now(), 0)
        reportLineOptions()
        return true
    }

    private func reportLineOptions() {
        guard client.isSerial else { return }
        let isLow = settings.options.isLowLatency && client.lowLatencyError == 0
        status.lowLatency.store(isLow, ordering: .relaxed)
        if client.rs485Error != 0, !isRS485Told { report(0, .directionRefused(client.rs485Error)) }
        isRS485Told = client.rs485Error != 0
    }

    /// A serial port that is open and hears nobody may hang, or be another one by now: it is opened anew.
    private func reopenIfDeaf(at now: MonotonicTime) {
        guard client.isSerial, client.isConnected, now - answeredAt >= Self.deafness,
            !devices.contains(where: { $0.timetable.isTrusted })
        else { return }
        status.reopenCount.add(1, ordering: .relaxed)
        client.disconnect()
        reportDown(.timeout)
    }

    private func connectionFailed(_ error: ModbusError) {
        count(error)
        let now = MonotonicTime.now()
        connectNotBefore = now + connectBackOff
        connectBackOff = min(connectBackOff * 2, .seconds(10))
        for device in devices { device.suspend(at: now) }
        reportDown(error)
    }

    func reportDown(_ error: ModbusError) {
        status.up.store(false, ordering: .relaxed)
        if isReportedUp != false { report(0, .linkDown(error)) }
        isReportedUp = false
    }

    func count(_ error: ModbusError) {
        status.errorCount.add(1, ordering: .relaxed)
        if error == .timeout { status.timeoutCount.add(1, ordering: .relaxed) }
    }
}
