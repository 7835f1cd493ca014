import DeviceCodecs
import LinuxIO
import ModbusBus
import Quantities
import Synchronization

/// Writes zero to every device of a plan, all links at once: what is left when the controller has died.
/// A coil opens when its inverter's reversion is over since the last write to it, never earlier: whatever it
/// shows, nobody here hears the battery.
///
/// It shares nothing with the cycle: no configuration, no decision, no state but the plan. It may only run
/// while nobody else drives the devices; who calls it holds the daemon's lock.
public enum SafeOutput {
    /// What came of one link.
    public struct Outcome: Sendable {
        public var endpoint: ModbusEndpoint
        /// Owners of what was acknowledged, in the order of the plan.
        public var written: [String] = []
        public var failed: [(owner: String, device: UInt8, error: ModbusError)] = []
        /// Units whose coils opened, or were open, with the time from the start to that.
        public var opened: [(owner: String, why: Opening, after: Duration)] = []
        /// Units whose coils were left closed: their inverters may have power for longer than we may take.
        public var left: [String] = []
        /// From the start to the first request that went out; `nil` where none did.
        public var firstWrite: Duration?
        /// From the start to the link's end.
        public var elapsed = Duration.zero

        public var isComplete: Bool { failed.isEmpty && left.isEmpty }
    }

    /// Why a unit's coils opened.
    public enum Opening: Sendable, Equatable { case wereOpen, powerSeenAtZero, reversionOver }

    /// The whole of it ends within this, and the service manager lets it: a coil whose inverter may have
    /// power for longer is left to the watchdog of its module, which outlasts the inverter's reversion.
    public static let patience = Duration.seconds(15)

    /// Blocks until every link is through.
    ///
    /// - Parameter start: what the outcomes' times are counted from.
    /// - Returns: one outcome for each link, in the order of the plan.
    public static func run(_ plan: WirePlan, since start: MonotonicTime) -> [Outcome] {
        let results = Results(plan.links.count)
        let sight = PowerSight(plan, start: start)
        var threads: [SystemThread] = []
        var rest: [(Int, WirePlan.Link)] = []
        for (index, link) in plan.links.enumerated() {
            do throws(SystemError) {
                threads.append(
                    try SystemThread(name: "safe-output") {
                        var work = LinkWork(link, sight, start: start)
                        results.put(work.run(), at: index)
                    })
            } catch {
                // No more threads: what is left goes one after the other.
                rest.append((index, link))
            }
        }
        for (index, link) in rest {
            var work = LinkWork(link, sight, start: start)
            results.put(work.run(), at: index)
        }
        for thread in threads { thread.join() }
        return results.all()
    }

    private final class Results: Sendable {
        private let slots: Mutex<[Outcome?]>
        init(_ count: Int) { slots = Mutex(Array(repeating: nil, count: count)) }
        func put(_ outcome: Outcome, at index: Int) { slots.withLock { $0[index] = outcome } }
        func all() -> [Outcome] { slots.withLock { $0.compactMap { $0 } } }
    }
}

/// The work for one link; belongs to its thread.
struct LinkWork {
    private let link: WirePlan.Link
    private let sight: PowerSight
    private let start: MonotonicTime
    private var outcome: SafeOutput.Outcome

    init(_ link: WirePlan.Link, _ sight: PowerSight, start: MonotonicTime) {
        self.link = link
        self.sight = sight
        self.start = start
        outcome = SafeOutput.Outcome(endpoint: link.endpoint)
    }

    mutating func run() -> SafeOutput.Outcome {
        let (power, coils) = (link.writes.filter { !$0.isCoils }, link.writes.filter(\.isCoils))
        do throws(ModbusError) {
            let longest = link.writes.map(\.timeout).max() ?? .milliseconds(50)
            var client = try ModbusClient(link.endpoint, timeout: max(longest, WirePlan.Link.connectLimit))
            outcome.failed = carryOut(power, &client)
            for write in power { sight.isThrough(write.owner) }
            // From here on nobody writes to these inverters any more.
            open(coils, &client)
        } catch {
            for write in power { sight.isThrough(write.owner) }
            for write in coils { sight.isOff(write.owner) }
            outcome.failed = link.writes.map { ($0.owner, $0.device, error) }
        }
        outcome.elapsed = MonotonicTime.now() - start
        return outcome
    }

    /// Opens each unit's coils once its power must have ended, and looks at the inverters of this link as
    /// long as anybody's coils wait for that.
    private mutating func open(_ coils: [WirePlan.Write], _ client: inout ModbusClient) {
        var closed = coils.filter { write in
            if isOn(write, &client) { return true }
            settle(write, .wereOpen, &client)
            return false
        }
        let end = start + SafeOutput.patience
        while !closed.isEmpty || link.looks.contains(where: { sight.isAwaited($0.owner) }) {
            for look in link.looks where sight.isAwaited(look.owner) { see(look, &client) }
            closed = closed.filter { write in
                guard let evidence = sight.evidence(for: write, at: .now()) else { return true }
                settle(write, evidence == .seen ? .powerSeenAtZero : .reversionOver, &client)
                return false
            }
            if MonotonicTime.now() >= end { break }
            (MonotonicTime.now() + .milliseconds(10)).sleep()
        }
        for write in closed { sight.isOff(write.owner) }
        outcome.left = closed.map(\.owner)
    }

    private mutating func settle(
        _ write: WirePlan.Write, _ why: SafeOutput.Opening, _ client: inout ModbusClient
    ) {
        let failed = carryOut([write], &client)
        sight.isOff(write.owner)
        outcome.failed += failed
        if failed.isEmpty { outcome.opened.append((write.owner, why, MonotonicTime.now() - start)) }
    }

    private func see(_ look: WirePlan.Look, _ client: inout ModbusClient) {
        do throws(ModbusError) {
            try connect(&client)
            client.setTimeout(look.timeout)
            let scale = try look.place.scaleAddress.map { (address) throws(ModbusError) in
                try registers(1, look, address, &client)[0]
            }
            let words = try registers(look.place.size, look, look.place.address, &client)
            switch look.place.value(words[0], words.last ?? 0, scale: scale) {
            case .number(let value): sight.saw(look, Watts(decoded: value), at: .now())
            case .absent:
                sight.hasNone(look)
                sight.saw(look, nil, at: .now())
            case .unusable: sight.saw(look, nil, at: .now())
            }
        } catch {
            sight.saw(look, nil, at: .now())
            // The state of a connection is unknown after any failure but a refusal.
            if error.endsSession, case .tcp = link.endpoint { client.disconnect() }
        }
    }

    private func registers(
        _ count: Int, _ look: WirePlan.Look, _ address: UInt16, _ client: inout ModbusClient
    ) throws(ModbusError) -> [UInt16] {
        let buffer = UnsafeMutableBufferPointer<UInt16>.allocate(capacity: count)
        defer { buffer.deallocate() }
        buffer.initialize(repeating: 0)
        try client.read(look.place.table, unit: look.device, address: address, into: buffer)
        return Array(buffer)
    }

    /// Whether a coil may still be on; one that cannot be read may.
    private func isOn(_ write: WirePlan.Write, _ client: inout ModbusClient) -> Bool {
        guard case .coilsOff(let count) = write.values else { return false }
        var levels = [UInt8](repeating: 1, count: count)
        do throws(ModbusError) {
            try connect(&client)
            client.setTimeout(write.timeout)
            try read(write, into: &levels, &client)
        } catch {
            return true
        }
        return levels.contains { $0 != 0 }
    }

    private func read(
        _ write: WirePlan.Write, into levels: inout [UInt8], _ client: inout ModbusClient
    ) throws(ModbusError) {
        let count = levels.count
        let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: count)
        defer { buffer.deallocate() }
        buffer.initialize(repeating: 1)
        try client.read(.coils, unit: write.device, address: write.address, into: buffer)
        levels = Array(buffer)
    }

    /// - Returns: what was not acknowledged in two rounds.
    private mutating func carryOut(
        _ writes: [WirePlan.Write], _ client: inout ModbusClient
    ) -> [(owner: String, device: UInt8, error: ModbusError)] {
        var left = writes
        var errors: [(owner: String, device: UInt8, error: ModbusError)] = []
        for _ in 0..<WirePlan.Link.rounds where !left.isEmpty {
            errors = []
            left = left.filter { write in
                let error = attempt(write, &client)
                if !write.isCoils { sight.wrote(write.owner, isAcknowledged: error == nil, at: .now()) }
                guard let error else {
                    outcome.written.append(write.owner)
                    return false
                }
                errors.append((write.owner, write.device, error))
                return true
            }
        }
        return errors
    }

    /// - Returns: what went wrong; `nil` = acknowledged.
    private mutating func attempt(_ write: WirePlan.Write, _ client: inout ModbusClient) -> ModbusError? {
        do throws(ModbusError) {
            try connect(&client)
            client.setTimeout(write.timeout)
            if outcome.firstWrite == nil { outcome.firstWrite = MonotonicTime.now() - start }
            switch write.values {
            case .registers(let values):
                try withBuffer(values) { (buffer) throws(ModbusError) in
                    try client.write(unit: write.device, address: write.address, buffer)
                }
            case .register(let value):
                try client.writeRegister(unit: write.device, address: write.address, value)
            case .coilsOff(let count):
                try switchOff(count, write, &client)
            }
            return nil
        } catch {
            // The state of a connection is unknown after any failure but a refusal; a serial line is flushed
            // before each request.
            if error.endsSession, case .tcp = link.endpoint { client.disconnect() }
            return error
        }
    }

    /// Together, or, where the module does not know function 15, one after the other.
    private func switchOff(
        _ count: Int, _ write: WirePlan.Write, _ client: inout ModbusClient
    ) throws(ModbusError) {
        do throws(ModbusError) {
            try withBuffer([UInt8](repeating: 0, count: count)) { (buffer) throws(ModbusError) in
                try client.writeCoils(unit: write.device, address: write.address, buffer)
            }
        } catch ModbusError.exception(1) {
            for index in 0..<count {
                try client.writeCoil(
                    unit: write.device, address: write.address &+ UInt16(index), isOn: false)
            }
        }
    }

    private func connect(_ client: inout ModbusClient) throws(ModbusError) {
        var tries = WirePlan.Link.connectTries
        while !client.isConnected {
            tries -= 1
            do throws(ModbusError) {
                try client.connect(within: WirePlan.Link.connectLimit)
            } catch {
                if tries == 0 { throw error }
                (MonotonicTime.now() + WirePlan.Link.connectPause).sleep()
            }
        }
    }

    private func withBuffer<Element>(
        _ values: [Element], _ body: (UnsafeBufferPointer<Element>) throws(ModbusError) -> Void
    ) throws(ModbusError) {
        try values.withUnsafeBufferPointer(body)
    }
}
