import DeviceCodecs
import Quantities

/// What the devices of one Modbus link ask of its time at worst, while all of them answer; and what one
/// that does not costs the others.
public struct BusLoad: Sendable, Equatable {
    /// One device's part of it.
    public struct Device: Sendable, Equatable {
        /// `bess_units[0]`, `bess_units[0].io_module`, `grid_meter`: what the messages name.
        public var path: String
        public var poll: Duration
        /// A reading of its values, once per poll.
        public var read: Duration
        /// A write of its setpoint or coils, counted once per poll; zero where nothing is written.
        public var write: Duration
        /// The read-back of what was written, heartbeats, and what is read seldom, in each second.
        public var readBack: Duration
        /// The longest of its transactions while it answers.
        public var transaction: Duration
        /// Request, longest wait and answer of one transaction: how long the device can hold the line.
        public var longest: Duration
    }

    public var endpoint: ModbusEndpoint
    public var devices: [Device]
    /// Of the control cycle.
    public var period: Duration

    /// The part of the link's time that is asked for; above 1 it cannot be had.
    public var share: Double {
        devices.reduce(0) {
            $0 + ($1.read + $1.write).seconds / $1.poll.seconds + $1.readBack.seconds
                / max(1, $1.poll.seconds)
        }
    }
    /// The shortest poll on the link: what the slack is counted in.
    public var poll: Duration { devices.map(\.poll).min() ?? .seconds(1) }
    /// What is left of the shortest poll; below zero the configuration is refused.
    public var slack: Duration { .nanoseconds(Int64((poll.seconds * (1 - share) * 1e9).rounded(.down))) }
    /// Longest wait of a write for the one transaction in flight, while all devices answer.
    public var writeWait: Duration { devices.map(\.transaction).max() ?? .zero }
    /// The same where that one is never answered.
    public var longestWriteWait: Duration { devices.map(\.longest).max() ?? .zero }
    /// From one device's silence to everybody's next reading: its time-out, and the others' turn.
    public var lostAnswer: Duration { devices.reduce(longestWriteWait) { $0 + $1.read + $1.write } }
    /// Longest time until zero, or another coil, stands in every driven device, while all devices answer:
    /// these go before everything else but the transaction in flight.
    public var allSafe: Duration {
        let driven = devices.filter { $0.write > .zero }
        return driven.isEmpty ? .zero : driven.reduce(writeWait) { $0 + $1.write }
    }
    /// The same of setpoints that all change at once, on a line that is behind with its readings: one reading
    /// lies between two of them then, so that neither starves the other.
    public var allWrites: Duration {
        let driven = devices.filter { $0.write > .zero }
        return driven.reduce(.zero) { $0 + $1.write + writeWait }
    }
    /// How old the readings of the device that is polled fastest may be.
    public var freshness: Duration { poll * 3 + period }
    /// Longest time to tell every driven device of the link to be safe, one after the other, where each
    /// takes its whole time-out; from an open line on.
    public var safeWrite: Duration { devices.filter { $0.write > .zero }.reduce(.zero) { $0 + $1.longest } }
}

/// What one transaction costs on a link.
public struct BusTransaction: Sendable, Equatable {
    /// `nil` over TCP, where bytes cost nothing next to the device.
    public var timing: SerialTiming?
    /// Silence before each request.
    public var gap: Duration
    /// From the end of a request to the start of its answer.
    public var turnaround: Duration

    public init(_ device: ModbusConfig) {
        turnaround = device.turnaround
        timing = device.endpoint.line?.timing
        gap = device.endpoint.line?.requestGap ?? .zero
    }

    /// Request and answer with function code and what follows it, without address and check sum.
    public func time(request: Int, answer: Int, waiting: Duration? = nil) -> Duration {
        let wire = timing.map { $0.time(ofBytes: request + answer + 6) } ?? .zero
        return gap * (timing == nil ? 0 : 2) + wire + (waiting ?? turnaround)
    }

    public func reading(registers: Int) -> Duration { time(request: 5, answer: 2 + 2 * registers) }
    public func writing(registers: Int) -> Duration { time(request: 6 + 2 * registers, answer: 5) }
    public func reading(bits: Int) -> Duration { time(request: 5, answer: 2 + (bits + 7) / 8) }
    public func writing(bits: Int) -> Duration { time(request: 6 + (bits + 7) / 8, answer: 5) }
}

extension SiteConfig {
    /// Every Modbus link, in the order of the file.
    public var busLoads: [BusLoad] {
        var loads: [BusLoad] = []
        func add(_ device: ModbusConfig, _ make: (BusTransaction) -> BusLoad.Device) {
            let made = make(BusTransaction(device))
            if let index = loads.firstIndex(where: { $0.endpoint == device.endpoint }) {
                loads[index].devices.append(made)
            } else {
                loads.append(BusLoad(endpoint: device.endpoint, devices: [made], period: control.period))
            }
        }
        for (index, unit) in units.enumerated() {
            add(unit.inverter) { Self.inverter(unit.inverter, $0, "bess_units[\(index)]") }
            guard let module = unit.ioModule else { continue }
            add(module.modbus) { Self.module(module, $0, "bess_units[\(index)].io_module") }
        }
        if let meter = gridMeter {
            add(meter.modbus) { Self.device(meter.modbus, $0, "grid_meter", write: .zero, readBack: .zero) }
        }
        return loads
    }

    /// A setpoint is two registers; what stands is looked at in model 704, whole. With a driver the setpoint
    /// is looked at, and one more register; heartbeats are a write each second at most.
    private static func inverter(
        _ config: ModbusConfig, _ cost: BusTransaction, _ path: String
    ) -> BusLoad.Device {
        guard let load = config.driverLoad else {
            return device(
                config, cost, path, write: cost.writing(registers: 2),
                readBack: cost.reading(registers: 67) + cost.writing(registers: 2))
        }
        guard load.setpoint > 0 else { return device(config, cost, path, write: .zero, readBack: .zero) }
        let beats = load.heartbeat.map { cost.writing(registers: 2) / max(0.02, $0.seconds) } ?? .zero
        return device(
            config, cost, path, write: cost.writing(registers: load.setpoint),
            readBack: cost.reading(registers: load.setpoint) + cost.reading(registers: 2) + beats)
    }

    private static func module(
        _ module: IOModuleConfig, _ cost: BusTransaction, _ path: String
    ) -> BusLoad.Device {
        let write = module.coils.isEmpty ? .zero : cost.writing(bits: 64)
        return BusLoad.Device(
            path: path, poll: module.modbus.poll,
            read: module.inputs.isEmpty ? .zero : cost.reading(bits: 64), write: write,
            // Twice a second.
            readBack: module.coils.isEmpty ? .zero : cost.reading(bits: 64) * 2,
            transaction: max(cost.reading(bits: 64), write),
            longest: cost.time(request: 14, answer: 10, waiting: module.modbus.timeout))
    }

    private static func device(
        _ config: ModbusConfig, _ cost: BusTransaction, _ path: String, write: Duration, readBack: Duration
    ) -> BusLoad.Device {
        let reads = config.driverLoad?.reads ?? [config.readRegisters]
        let slow = config.driverLoad?.slowReads ?? []
        // The longest of a single request: model 704 is looked at whole.
        let most = (reads + slow + [config.driverLoad == nil && readBack > .zero ? 67 : 1]).max() ?? 1
        return BusLoad.Device(
            path: path, poll: config.poll,
            read: reads.reduce(.zero) { $0 + cost.reading(registers: $1) }, write: write,
            readBack: slow.reduce(readBack) { $0 + cost.reading(registers: $1) / 10 },
            transaction: max(cost.reading(registers: most), write),
            longest: cost.time(request: 5, answer: 2 + 2 * most, waiting: config.timeout))
    }
}

extension BusLoad {
    /// Why the link cannot do what is asked of it, with what to change; `nil` where it can.
    public var refusal: String? {
        guard slack < .zero else { return nil }
        func whole(_ time: Duration) -> String { "\(Int(time.milliseconds)) ms" }
        return "Modbus link \(endpoint): its devices need \(whole(poll - slack)) of every"
            + " \(whole(poll)), slack \(whole(slack)): poll more slowly\(pollThatFits), raise the speed, or use"
            + " another line (\(explanation))"
    }

    /// ` (poll_ms: 180 would do)`; nothing where no poll helps.
    private var pollThatFits: String {
        let seldom = devices.reduce(0) { $0 + $1.readBack.seconds / max(1, $1.poll.seconds) }
        guard seldom < 0.95 else { return "" }
        let factor = (share - seldom) / (1 - seldom)
        guard Set(devices.map(\.poll)).count == 1 else {
            return " (\(Double((factor * 100).rounded(.up)) / 100) times each poll_ms would do)"
        }
        // A step more than the bare least: what is reckoned is rounded too.
        return " (poll_ms: \(Int((poll.milliseconds * factor).rounded(.up)) + 1) would do)"
    }

    /// What each device needs per poll: `bess_units[0] 31 + 10 of 100 ms`.
    public var explanation: String {
        devices.map { device in
            let parts = [device.read, device.write].filter { $0 > .zero }.map { BusLoad.rounded($0) }
            return "\(device.path) \(parts.joined(separator: " + ")) of \(Int(device.poll.milliseconds)) ms"
        }.joined(separator: ", ")
    }

    static func rounded(_ time: Duration) -> String { String(Int(time.milliseconds.rounded(.up))) }
}
