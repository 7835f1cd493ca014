import DeviceCodecs
import Glibc
import LinuxIO
import ModbusBus
import Plant
import Quantities
import Synchronization

/// Inverters behind one real owner of a link, on a pseudo-terminal that takes as long as a serial line, or
/// over TCP: how old their readings are when a cycle begins while some of them are dead, and how long a
/// setpoint takes while all are read.
public struct LineBench: Sendable {
    public struct Settings: Sendable {
        /// Of the line, 8N1; `nil` = TCP.
        public var baud: Int?
        /// 1 … 30.
        public var devices: Int
        public var poll: Duration
        public var period: Duration
        public var timeout: Duration
        /// From a request to its answer, without the time on the wire.
        public var turnaround: Duration

        public init(
            baud: Int?, devices: Int, poll: Duration, period: Duration, timeout: Duration,
            turnaround: Duration
        ) {
            (self.baud, self.devices, self.poll) = (baud, devices, poll)
            (self.period, self.timeout, self.turnaround) = (period, timeout, turnaround)
        }
    }

    /// What the cycles saw of the live devices.
    public struct Ages: Sendable {
        public var dead: Int
        public var samples: Int
        public var mean: Duration
        public var p99: Duration
        public var maximum: Duration
        public var probes: UInt64
    }

    /// From a fresh setpoint to its acknowledgement.
    public struct Writes: Sendable {
        public var count: Int
        public var p50: Duration
        public var p99: Duration
        public var maximum: Duration
        public var transactions: UInt64
    }

    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    private let settings: Settings

    public init(_ settings: Settings) { self.settings = settings }

    /// - Parameter path: where the pseudo-terminal's link stands meanwhile.
    public func ages(dead counts: [Int], for time: Duration, path: String) throws -> [Ages] {
        try withRig(path) { rig in
            try counts.map { dead in
                try rig.kill(dead)
                let probes = rig.status.probes
                var ages = rig.watch(until: .now() + time, live: settings.devices - dead) { _ in }
                ages.sort()
                guard !ages.isEmpty else { throw Failure(description: "nobody was read") }
                return Ages(
                    dead: dead, samples: ages.count,
                    mean: .nanoseconds(ages.reduce(0, +) / Int64(ages.count)),
                    p99: .nanoseconds(ages[(ages.count - 1) * 99 / 100]),
                    maximum: .nanoseconds(ages[ages.count - 1]), probes: rig.status.probes - probes)
            }
        }
    }

    /// One setpoint changes at a time, by turns up and down, in every tenth cycle.
    public func writes(for time: Duration, path: String) throws -> Writes {
        try withRig(path) { rig in
            let before = rig.status.transactions
            let counted = rig.status.writeLatency.count
            _ = rig.watch(until: .now() + time, live: settings.devices) { cycle in
                guard cycle % 10 == 0 else { return }
                let (round, device) = (cycle / 10).quotientAndRemainder(dividingBy: settings.devices)
                rig.move(device, to: Watts(round % 2 == 0 ? 5_000 : 4_000))
            }
            let latency = rig.status.writeLatency
            func quantile(_ share: Double) -> Duration { .nanoseconds(latency.quantile(share) ?? 0) }
            return Writes(
                count: Int(latency.count - counted), p50: quantile(0.5), p99: quantile(0.99),
                maximum: .nanoseconds(latency.maximum), transactions: rig.status.transactions - before)
        }
    }

    private func withRig<Result>(_ path: String, _ body: (LineRig) throws -> Result) throws -> Result {
        let rig = try LineRig(settings, path: path)
        defer { rig.end() }
        try rig.start()
        return try body(rig)
    }
}

/// How many of the last devices keep silent.
private final class DeadCount: Sendable { let count = Atomic<Int>(0) }

/// The two ends of the line, each on a thread, and the cycle's view of them.
final class LineRig {
    private struct Inverter {
        let actuations = TripleBuffer<Actuation>(.safe)
        let images = TripleBuffer<InverterImage>(InverterImage())
    }

    let status: ModbusLinkStatus
    private let settings: LineBench.Settings
    private let stop = StopFlag()
    private let dead = DeadCount()
    private let wake: WakeUp
    private let inverters: [Inverter]
    private let writers: FixedList<TripleBufferWriter<Actuation>>
    private let readers: FixedList<TripleBufferReader<InverterImage>>
    private let owner: Handover<ModbusLinkOwner>
    private let server: Handover<ModbusServer>
    private var threads: [SystemThread] = []
    private let link: String?
    private let terminal: FileDescriptor?

    init(_ settings: LineBench.Settings, path: String) throws {
        self.settings = settings
        wake = try WakeUp()
        let endpoint: ModbusEndpoint
        var server: ModbusServer
        if let baud = settings.baud {
            let pair = try PseudoTerminal.make(linkedAt: path)
            server = try ModbusServer(serial: pair.controller)
            terminal = consume pair.device
            server.pace = ModbusServerPace(
                timing: SerialLine(baud: baud).timing, turnaround: settings.turnaround)
            endpoint = .serial(device: path, line: SerialLine(baud: baud))
            link = path
        } else {
            server = try ModbusServer(port: 0)
            endpoint = .tcp(host: "127.0.0.1", port: server.port)
            link = nil
            terminal = nil
        }
        for unit in 1...settings.devices {
            server.addBlock(unit: UInt8(unit), start: 40_000, registers: Self.device(UInt8(unit)))
        }
        self.server = Handover(server)
        let talk = ModbusConversation(
            ModbusConversation.Settings(
                endpoint: endpoint, timeout: settings.timeout, period: settings.period, epoch: .now()))
        status = talk.status
        let inverters = (0..<settings.devices).map { _ in Inverter() }
        writers = FixedList(capacity: settings.devices)
        readers = FixedList(capacity: settings.devices)
        for (index, inverter) in inverters.enumerated() {
            talk.addInverter(
                ModbusDeviceSettings(unitID: UInt8(index + 1), poll: settings.poll), reversion: .seconds(60),
                setpoints: inverter.actuations.reader(), images: inverter.images.writer())
            writers.append(inverter.actuations.writer())
            readers.append(inverter.images.reader())
        }
        self.inverters = inverters
        owner = Handover(try ModbusLinkOwner(talk, wake: wake, stop: stop))
    }

    /// 1, 701, 702 and 704 with steps of 10 W, rated 50 kW.
    private static func device(_ unit: UInt8) -> [UInt16] {
        var registers = sunSpecMarker + commonModel(model: "Bench", serial: "\(unit)", unitID: unit)
        let points: [(UInt16, [(String, Int)], [(String, Double)])] = [
            (
                701, [("W_SF", 1), ("Hz_SF", -3), ("Var_SF", 1), ("V_SF", -1)],
                [("W", 0), ("Var", 0), ("Hz", 50), ("InvSt", 3), ("Alrm", 0), ("LNV", 230)]
            ),
            (702, [("W_SF", 1)], [("WMaxRtg", 50_000)]),
            (
                704, [("WSet_SF", 1)],
                [
                    ("WSetEna", 0), ("WSetMod", 0), ("WSet", 0), ("WSetRvrt", 0), ("WSetEnaRvrt", 0),
                    ("WSetRvrtTms", 0),
                ]
            ),
        ]
        for (id, scales, values) in points {
            guard let definition = SunSpecDefinition(id) else { continue }
            var image = SunSpecImage(definition)
            for (name, exponent) in scales { image.setScale(name, exponent) }
            for (name, value) in values { image.set(name, value) }
            registers += image.registers
        }
        return registers + sunSpecEnd
    }

    func start() throws {
        let (server, owner, stop) = (server, owner, stop)
        let (dead, devices) = (dead, settings.devices)
        threads.append(
            try SystemThread(name: "devices") {
                _ = RealTime.enter(priority: 40, cpu: nil, locksMemory: false)
                guard var server = server.take() else { return }
                while !stop.isRaised {
                    for unit in 1...devices {
                        server.setBehaviour(
                            unit > devices - dead.count.load(ordering: .relaxed) ? .silent : .answers,
                            unit: UInt8(unit))
                    }
                    server.poll(timeout: .milliseconds(2)) { _ in nil }
                }
            })
        threads.append(
            try SystemThread(name: "modbus") {
                _ = RealTime.enter(priority: 49, cpu: nil, locksMemory: false)
                owner.take()?.run()
            })
        for index in 0..<settings.devices { move(index, to: Watts(1_000)) }
        try wait("every device is driven and read") {
            (0..<settings.devices).allSatisfy { age($0, at: .now()).map { $0 < .seconds(30) } ?? false }
                && status.writes >= UInt64(settings.devices)
        }
        // Their pace is learnt, their identity read.
        _ = watch(until: .now() + .seconds(5), live: settings.devices) { _ in }
    }

    func end() {
        stop.raise()
        for thread in threads { thread.join() }
        if let link { unlinkSymbolicLink(link) }
    }

    private func wait(_ what: String, _ condition: () -> Bool) throws {
        let limit = MonotonicTime.now() + .seconds(120)
        while !condition() {
            guard MonotonicTime.now() < limit else { throw LineBench.Failure(description: "not so: \(what)") }
            (MonotonicTime.now() + .milliseconds(20)).sleep()
        }
    }

    /// The last ones die, and the link has had the time to notice.
    func kill(_ count: Int) throws {
        dead.count.store(count, ordering: .relaxed)
        guard count > 0 else { return }
        let old = settings.poll * 10 + settings.timeout * 6
        try wait("the dead are old") {
            ((settings.devices - count)..<settings.devices).allSatisfy { age($0, at: .now()) ?? old >= old }
        }
    }

    private func age(_ index: Int, at now: MonotonicTime) -> Duration? {
        readers[index].pointee.update()
        return readers[index].pointee.latest.pointee.activePower.age(at: now)
    }

    func move(_ index: Int, to power: Watts) {
        let now = MonotonicTime.now()
        writers[index].pointee.publish(
            Actuation(setpoint: power, expires: now + .seconds(3_600), isContactorPermitted: true, cycle: 1))
        wake.signal(at: now)
    }

    /// The ages that each cycle sees of the first `live` devices, in nanoseconds.
    func watch(until end: MonotonicTime, live: Int, _ each: (Int) -> Void) -> [Int64] {
        _ = RealTime.enter(priority: 50, cpu: nil, locksMemory: false)
        var ages: [Int64] = []
        ages.reserveCapacity(Int((end - .now()).seconds / settings.period.seconds + 1) * live)
        var (next, cycle) = (MonotonicTime.now() + settings.period, 0)
        while next < end {
            next.sleep()
            let now = MonotonicTime.now()
            for index in 0..<live { if let age = age(index, at: now) { ages.append(age.nanoseconds) } }
            each(cycle)
            cycle += 1
            next = next + settings.period
        }
        RealTime.leave()
        return ages
    }
}
