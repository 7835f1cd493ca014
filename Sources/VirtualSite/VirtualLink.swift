import BallastDaemon
import BallastSimulator
import DeviceCodecs
import ModbusBus
import Plant
import Quantities
import Scenario

/// One Modbus link in virtual time: requests and answers are the production codec's bytes, one transaction at
/// a time, each takes its time.
///
/// What is asked for when is a plain version of `ModbusLinkOwner`: writes before reads, whole plans per
/// device, a device that does not answer costs its time-out. The owner itself, its slack and its back-off are
/// tried on real wires (tiers host and rig, `ModbusBusTests`).
struct VirtualLink {
    /// A silent device costs the others no more than this.
    private static let probe = Duration.milliseconds(20)
    /// So many failures in a row, and a device counts as silent.
    private static let patience = 3

    private let framing: ModbusFraming
    private let timeout: Duration
    var devices: [VirtualDevice]
    /// Until when the transaction under way lasts.
    private var clock: MonotonicTime
    private var transaction: UInt16 = 0
    private var isStaged = false
    private(set) var events: [CoreEvent] = []

    init(_ devices: [VirtualDevice], isSerial: Bool, at now: MonotonicTime) {
        framing = isSerial ? .rtu : .tcp
        timeout = devices.map(\.timeout).max() ?? .milliseconds(250)
        self.devices = devices
        clock = now
    }

    mutating func takeEvents() -> [CoreEvent] {
        defer { events = [] }
        return events
    }

    /// Lets time pass on the link.
    mutating func advance(
        to end: MonotonicTime, from start: MonotonicTime, _ far: inout FarLink, _ plant: inout FarPlant
    ) {
        if clock < start { clock = start }
        while clock <= end {
            // The transaction before has ended by now.
            if isStaged {
                for index in devices.indices { devices[index].publish() }
                isStaged = false
            }
            guard clock < end else { return }
            guard let job = nextJob() else { return }
            guard job.due <= end else { return }
            if job.due > clock { clock = job.due }
            perform(job, &far, &plant)
            isStaged = true
        }
    }

    // MARK: What is next

    private struct Job {
        var device: Int
        var task: VirtualDevice.Task
        var due: MonotonicTime
    }

    /// What changes power comes first, then what has waited longest.
    private func nextJob() -> Job? {
        var best: Job?
        for (index, device) in devices.enumerated() {
            if let task = device.writing(at: clock) {
                return Job(device: index, task: task, due: max(clock, device.notBefore))
            }
            for task in VirtualDevice.Task.allCases {
                guard let wanted = device.due[task] else { continue }
                let due = max(wanted, device.notBefore)
                if best.map({ due < $0.due }) ?? true { best = Job(device: index, task: task, due: due) }
            }
            if let due = device.nextWrite, best.map({ due < $0.due }) ?? true {
                best = Job(device: index, task: .write, due: max(due, device.notBefore))
            }
        }
        return best
    }

    private mutating func perform(_ job: Job, _ far: inout FarLink, _ plant: inout FarPlant) {
        let asked = clock
        guard let request = devices[job.device].request(job.task, at: clock) else { return }
        let (answer, took) = transact(request, devices[job.device], &far, &plant)
        clock = clock + took
        switch answer {
        case .silence, .rejected, .busy: failed(job.device, answer)
        case .exception(let code):
            answered(job.device)
            devices[job.device].refused(job.task, code: code, at: clock, &events)
        case .registers(let values):
            answered(job.device)
            devices[job.device].accept(job.task, values, asked: asked, at: clock, &events)
        case .bits(let levels):
            answered(job.device)
            devices[job.device].accept(job.task, levels, asked: asked, at: clock, &events)
        }
    }

    private mutating func answered(_ index: Int) {
        if devices[index].isSilent { tell("device_back", index, "answers again") }
        devices[index].isSilent = false
        devices[index].failures = 0
    }

    private mutating func failed(_ index: Int, _ answer: Answer) {
        devices[index].failures += 1
        devices[index].missed(at: clock)
        if case .rejected(let mismatch) = answer, devices[index].failures == 1 {
            tell("answer_rejected", index, "\(mismatch)")
        }
        guard devices[index].failures >= Self.patience, !devices[index].isSilent else { return }
        devices[index].isSilent = true
        devices[index].suspend(at: clock)
        tell("device_silent", index, "does not answer")
    }

    private mutating func tell(_ name: String, _ index: Int, _ text: String) {
        events.append(CoreEvent(name: name, unit: devices[index].unitName, text: text))
    }

    // MARK: Bytes

    enum Answer {
        case registers([UInt16])
        case bits([UInt8])
        case exception(UInt8)
        /// It would come later.
        case busy
        case rejected(ModbusMismatch)
        case silence
    }

    private mutating func transact(
        _ request: VirtualDevice.Request, _ device: VirtualDevice, _ far: inout FarLink,
        _ plant: inout FarPlant
    ) -> (Answer, took: Duration) {
        transaction &+= 1
        let limit = device.isSilent ? min(timeout, Self.probe) : min(timeout, device.timeout)
        let bytes = encode(request, unit: device.unitID)
        let found = far.answer(bytes, unit: device.unitID, of: &plant, at: clock, within: limit)
        guard let (answer, delay) = found else { return (.silence, limit) }
        let took = max(.microseconds(500), device.turnaround + delay)
        guard took <= limit else { return (.silence, limit) }
        let read = answer.withUnsafeBufferPointer {
            ModbusAnswer(
                $0, to: request.request, unit: device.unitID, transaction: transaction, framing: framing)
        }
        switch read {
        case .incomplete: return (.silence, limit)
        case .stranger(let mismatch, _): return (.rejected(mismatch), limit)
        case .broken(let mismatch): return (.rejected(mismatch), took)
        case .exception(let code) where [5, 6, 10, 11].contains(code): return (.busy, took)
        case .exception(let code): return (.exception(code), took)
        case .values(let start, let count):
            return (Self.values(answer, start, count, request.request), took)
        }
    }

    private static func values(
        _ answer: [UInt8], _ start: Int, _ count: Int, _ request: ModbusRequest
    ) -> Answer {
        switch request {
        case .readHoldingRegisters, .readInputRegisters:
            return .registers(
                stride(from: start, to: start + count - 1, by: 2).map {
                    UInt16(answer[$0]) << 8 | UInt16(answer[$0 + 1])
                })
        case .readCoils(_, let bits), .readDiscreteInputs(_, let bits):
            return .bits((0..<bits).map { answer[start + $0 / 8] >> UInt8($0 % 8) & 1 })
        case .writeCoil, .writeRegister, .writeCoils, .writeRegisters: return .registers([])
        }
    }

    private func encode(_ request: VirtualDevice.Request, unit: UInt8) -> [UInt8] {
        var frame = [UInt8](repeating: 0, count: ModbusFraming.limit)
        let length = frame.withUnsafeMutableBufferPointer { frame in
            request.registers.withUnsafeBufferPointer { registers in
                request.bits.withUnsafeBufferPointer { bits in
                    framing.encode(
                        request.request, unit: unit, transaction: transaction, registers: registers,
                        bits: bits, into: frame)
                }
            }
        }
        return Array(frame.prefix(length))
    }
}
