import LinuxIO
import Synchronization

/// A write that a person asks the owner of a link for.
public struct ModbusServiceWrite: Sendable, BitwiseCopyable {
    public static let longest = 16

    public let unit: UInt8
    public let isCoils: Bool
    /// Protocol address (zero-based).
    public let address: UInt16
    public let count: Int
    private var values = InlineArray<16, UInt16>(repeating: 0)
    /// Finds the answer again.
    public let ticket: UInt64

    /// `nil` where there are none, or more than `longest`, or they pass address 65535.
    public init?(unit: UInt8, isCoils: Bool, address: UInt16, values: [UInt16], ticket: UInt64) {
        guard (1...Self.longest).contains(values.count), Int(address) + values.count <= 0x1_0000 else {
            return nil
        }
        self.unit = unit
        self.isCoils = isCoils
        self.address = address
        self.ticket = ticket
        count = values.count
        for (index, value) in values.enumerated() { self.values[index] = value }
    }

    subscript(_ index: Int) -> UInt16 { values[index] }

    var range: Range<Int> { Int(address)..<(Int(address) + count) }

    static let filler = ModbusServiceWrite()

    private init() {
        (unit, isCoils, address, count, ticket) = (0, false, 0, 0, 0)
    }
}

/// What came of a person's write.
public enum ModbusServiceOutcome: Sendable, BitwiseCopyable, Equatable {
    case written
    case failed(ModbusError)
    /// No device of that number is on this link.
    case noSuchDevice
    /// The device's models are not known yet.
    case notScanned
    /// The driver drives it: a coil of ours, or a register of the driver file.
    case driven
    /// It belongs to a standard model, where what can be written drives or protects the device.
    case standardModel(UInt16)
    /// The driver file forbids it: protection, or a range that must not be touched.
    case protected
}

/// Where a link's owner takes a person's writes and leaves what came of them. One thread asks.
public final class ModbusServicePort: Sendable {
    struct Answer: BitwiseCopyable, Sendable {
        var ticket: UInt64
        var outcome: ModbusServiceOutcome
    }

    private let requests = RingBuffer<ModbusServiceWrite>(capacity: 8, filler: .filler)
    private let answers = RingBuffer<Answer>(
        capacity: 8, filler: Answer(ticket: 0, outcome: .noSuchDevice))

    public init() {}

    /// - Returns: `false` where too many wait.
    public func ask(_ write: ModbusServiceWrite) -> Bool { requests.push(write) }

    /// What came of the write with that ticket; `nil` while nothing has. Answers to others are dropped.
    public func outcome(of ticket: UInt64) -> ModbusServiceOutcome? {
        while let answer = answers.pop() {
            if answer.ticket == ticket { return answer.outcome }
        }
        return nil
    }

    func next() -> ModbusServiceWrite? { requests.pop() }

    func answer(_ write: ModbusServiceWrite, _ outcome: ModbusServiceOutcome) {
        answers.push(Answer(ticket: write.ticket, outcome: outcome))
    }
}

/// What a person asks for, between two cycles' work: one write at a time, never before a setpoint.
extension ModbusConversation {
    func serveRequest() {
        guard canTransact, let write = service.next() else { return }
        guard let device = devices.first(where: { $0.settings.unitID == write.unit }) else {
            return service.answer(write, .noSuchDevice)
        }
        if let refusal = refusal(of: write, device) { return service.answer(write, refusal) }
        for index in 0..<write.count {
            if write.isCoils {
                bits[index] = write[index] == 0 ? 0 : 1
            } else {
                registers[index] = write[index]
            }
        }
        ask(
            write.isCoils
                ? .writeCoils(at: write.address, count: write.count)
                : .writeRegisters(at: write.address, count: write.count), device, .service(write))
    }

    func served(_ write: ModbusServiceWrite, _ error: ModbusError?) {
        service.answer(write, error.map { .failed($0) } ?? .written)
    }

    /// What the driver drives, and what protects the device, is not for people while we run.
    private func refusal(
        of write: ModbusServiceWrite, _ device: ModbusDevice
    ) -> ModbusServiceOutcome? {
        switch device.role {
        case .module(let map):
            let ours = map.coilRange.map { Int($0.lowerBound)..<(Int($0.upperBound) + 1) } ?? 0..<0
            return !write.isCoils || ours.overlaps(write.range) ? .driven : nil
        case .inverter, .meter:
            if let map = device.driver?.map {
                let range = write.address...UInt16(clamping: write.range.upperBound - 1)
                if write.isCoils { return nil }
                return map.isProtected(range) ? .protected : (map.isDriven(range) ? .driven : nil)
            }
            guard !device.models.isEmpty else { return .notScanned }
            for place in device.models where (100..<900).contains(place.id) {
                let model = Int(place.start)..<(Int(place.start) + 2 + Int(place.length))
                if !write.isCoils && model.overlaps(write.range) { return .standardModel(place.id) }
            }
            return nil
        }
    }
}
