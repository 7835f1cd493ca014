import Plant
import Quantities

/// The requests that read a register map, worked out once.
public struct RegisterReads: Sendable, Equatable {
    public struct Block: Sendable, Equatable {
        public let table: RegisterMap.Table
        public let first: UInt16
        public let count: Int
        /// Indices of the definitions in it.
        public let members: [Int]
    }

    public let blocks: [Block]

    /// - Parameters:
    ///   - poll: the registers that are read that often.
    ///   - overhead: what one more request costs, in bytes of bus time (`ModbusBlocks`); 1 = no hole is read.
    public init(_ map: RegisterMap, _ poll: RegisterMap.Poll, overhead: Int = ModbusBlocks.overheadOnTCP) {
        var blocks: [Block] = []
        for table in RegisterMap.Table.allCases {
            let members = map.registers.indices
                .filter { map.registers[$0].table == table && map.registers[$0].poll == poll }
                .sorted { map.registers[$0].address < map.registers[$1].address }
            let reads = ModbusBlocks.merge(
                members.map { map.registers[$0].range }, forbidden: map.forbidden, limit: map.longestRead,
                overhead: overhead)
            for read in reads {
                blocks.append(
                    Block(
                        table: table, first: read.lowerBound, count: read.count,
                        members: members.filter { read.contains(map.registers[$0].address) }))
            }
        }
        self.blocks = blocks
    }
}

extension RegisterMap {
    /// Fills the fields of `image` that stand in a block; the others stay.
    ///
    /// - Parameter time: the instant just before the registers were asked for.
    public func decode(
        _ block: RegisterReads.Block, _ registers: UnsafeBufferPointer<UInt16>, at time: MonotonicTime,
        into image: inout InverterImage
    ) {
        for index in block.members {
            let register = self.registers[index]
            let bits = register.bits(registers, from: block.first)
            switch Quantity(rawValue: register.name) {
            case .activePower: image.activePower = reading(register, bits, time, -1e9...1e9)
            case .reactivePower: image.reactivePower = reading(register, bits, time, -1e9...1e9)
            case .frequency: image.frequency = reading(register, bits, time, 10...100)
            case .dcVoltage: image.dcVoltage = reading(register, bits, time, 0...10_000)
            case .ratedPower: image.ratedPower = reading(register, bits, time, 1...1e9)
            case .state: image.state = state(register, bits, time)
            case .events:
                image.events = bits.map { .good($0, at: time) } ?? .bad(.notImplemented, since: time)
            case .voltage, nil: continue
            }
        }
        if let ratedPower { image.ratedPower = .good(ratedPower, at: time) }
    }

    /// The same for the meter at the point of connection.
    public func decode(
        _ block: RegisterReads.Block, _ registers: UnsafeBufferPointer<UInt16>, at time: MonotonicTime,
        into image: inout GridImage
    ) {
        for index in block.members {
            let register = self.registers[index]
            let bits = register.bits(registers, from: block.first)
            switch Quantity(rawValue: register.name) {
            case .activePower: image.activePower = reading(register, bits, time, -1e9...1e9)
            case .frequency: image.frequency = reading(register, bits, time, 10...100)
            case .voltage: image.voltage = reading(register, bits, time, 0...1e6)
            case .reactivePower, .dcVoltage, .ratedPower, .state, .events, nil: continue
            }
        }
    }

    private func reading<Value: Quantities.Quantity>(
        _ register: RegisterDefinition, _ bits: UInt32?, _ time: MonotonicTime,
        _ range: ClosedRange<Double>
    ) -> Reading<Value> {
        guard let bits, let number = register.value(bits) else { return .bad(.notImplemented, since: time) }
        guard range.contains(number), let value = Value(decoded: number) else {
            return .bad(.implausible, since: time)
        }
        return .good(value, at: time)
    }

    private func state(
        _ register: RegisterDefinition, _ bits: UInt32?, _ time: MonotonicTime
    ) -> Reading<InverterState> {
        guard let bits, !register.absent.contains(bits) else { return .bad(.notImplemented, since: time) }
        guard let text = register.texts[bits], let state = InverterState(word: text) else {
            return .bad(.implausible, since: time)
        }
        return .good(state, at: time)
    }
}

extension InverterState {
    /// As driver files write them.
    public static let words = [
        "off", "sleeping", "starting", "running", "throttled", "shutting_down", "fault", "standby",
    ]

    public init?(word: String) {
        guard let index = Self.words.firstIndex(of: word) else { return nil }
        self.init(rawValue: UInt8(index))
    }
}
