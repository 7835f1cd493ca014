import LinuxIO
import ModbusBus
import Quantities
import Synchronization

/// Writes zero to every device of a plan, all links at once: what is left to do when the controller has died.
///
/// It shares nothing with the cycle: no configuration, no decision, no state but the plan. It may only run
/// while nobody else drives the devices; who calls it holds the daemon's lock.
public enum SafeOutput {
    /// What came of one link.
    public struct Outcome: Sendable {
        public var address: ModbusAddress
        /// Owners of what was acknowledged, in the order of the plan.
        public var written: [String] = []
        public var failed: [(owner: String, device: UInt8, error: ModbusError)] = []
        /// From the start to the first request that went out; `nil` where none did.
        public var firstWrite: Duration?
        /// From the start to the link's end.
        public var elapsed = Duration.zero

        public var isComplete: Bool { failed.isEmpty }
    }

    /// Blocks until every link is through.
    ///
    /// - Parameter start: what the outcomes' times are counted from.
    /// - Returns: one outcome for each link, in the order of the plan.
    public static func run(_ plan: WirePlan, since start: MonotonicTime) -> [Outcome] {
        let results = Results(plan.links.count)
        let powers = PowerCount(plan.links.count { link in link.writes.contains { !$0.isCoils } })
        var threads: [SystemThread] = []
        var rest: [(Int, WirePlan.Link)] = []
        for (index, link) in plan.links.enumerated() {
            do throws(SystemError) {
                threads.append(
                    try SystemThread(name: "safe-output") {
                        var work = LinkWork(link, powers: powers, start: start)
                        results.put(work.run(), at: index)
                    })
            } catch {
                // No more threads: what is left goes one after the other.
                rest.append((index, link))
            }
        }
        for (index, link) in rest {
            var work = LinkWork(link, powers: powers, start: start)
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

/// How many links still have power to take away.
final class PowerCount: Sendable {
    private let left: Atomic<Int>
    init(_ count: Int) { left = Atomic(count) }
    func isThrough() { left.subtract(1, ordering: .relaxed) }
    var isZero: Bool { left.load(ordering: .relaxed) <= 0 }
}

/// The work for one link; belongs to its thread.
struct LinkWork {
    private let link: WirePlan.Link
    private let powers: PowerCount
    private let start: MonotonicTime
    private var outcome: SafeOutput.Outcome

    init(_ link: WirePlan.Link, powers: PowerCount, start: MonotonicTime) {
        self.link = link
        self.powers = powers
        self.start = start
        outcome = SafeOutput.Outcome(address: link.address)
    }

    mutating func run() -> SafeOutput.Outcome {
        let (power, coils) = (link.writes.filter { !$0.isCoils }, link.writes.filter(\.isCoils))
        do throws(ModbusError) {
            let longest = link.writes.map(\.timeout).max() ?? .milliseconds(50)
            var client = try ModbusClient(link.address, timeout: max(longest, WirePlan.Link.connectLimit))
            let unwritten = carryOut(power, &client)
            if !power.isEmpty { powers.isThrough() }
            // Contacts must not part a current that is about to end; the power of the other links too.
            let limit = start + WirePlan.Link.coilPatience
            while !coils.isEmpty, !powers.isZero, MonotonicTime.now() < limit {
                (MonotonicTime.now() + .milliseconds(1)).sleep()
            }
            // From here on nobody writes to the inverters any more: each is at zero, by what it was told or
            // by its own reversion.
            let wait = coils.map(\.wait).max() ?? .zero
            if wait > .zero, isAnyOn(coils, &client) { (MonotonicTime.now() + wait).sleep() }
            outcome.failed = unwritten + carryOut(coils, &client)
        } catch {
            if !power.isEmpty { powers.isThrough() }
            outcome.failed = link.writes.map { ($0.owner, $0.device, error) }
        }
        outcome.elapsed = MonotonicTime.now() - start
        return outcome
    }

    /// Whether a coil may still be on; one that cannot be read may.
    private func isAnyOn(_ coils: [WirePlan.Write], _ client: inout ModbusClient) -> Bool {
        for write in coils {
            guard case .coilsOff(let count) = write.values else { continue }
            var levels = [UInt8](repeating: 1, count: count)
            do throws(ModbusError) {
                try connect(&client)
                client.setTimeout(write.timeout)
                try read(write, into: &levels, &client)
            } catch {
                return true
            }
            if levels.contains(where: { $0 != 0 }) { return true }
        }
        return false
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
                guard let error = attempt(write, &client) else {
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
            if error.endsSession, case .tcp = link.address { client.disconnect() }
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
