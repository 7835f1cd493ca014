import Quantities

/// What a served unit does with the next requests.
public enum ModbusServedBehaviour: Sendable, Equatable {
    case answers
    /// Requests are read and dropped, as by a device without power.
    case silent
    /// Every request is refused with this exception code.
    case exception(UInt8)
    /// Answers, that much later.
    case slow(Duration)
    /// Half of each answer is sent.
    case half
    /// Answers in the name of the next unit.
    case wrongUnit
}

/// How long a serial line and the device behind it take: a pseudo-terminal has no speed of its own.
public struct ModbusServerPace: Sendable, Equatable {
    public var timing: SerialTiming
    /// From the end of a request to the start of its answer.
    public var turnaround: Duration

    public init(timing: SerialTiming, turnaround: Duration) {
        self.timing = timing
        self.turnaround = turnaround
    }
}

/// A write that a client asked for; nothing is stored yet when the hook sees it.
public struct ModbusWrite: Sendable, Equatable {
    public enum Table: Sendable, Equatable { case registers, coils }

    public let unit: UInt8
    public let table: Table
    /// Protocol address of the first register or coil (zero-based).
    public let address: UInt16
    /// 1 … 123 registers, or 1 … 1968 coils of 0 or 1.
    public let values: [UInt16]
    /// The client's address in digits; empty on a serial line.
    public internal(set) var client = ""
}

/// The registers and bits of one unit and how it answers a request (a protocol data unit: function code and
/// data).
struct ModbusServedUnit {
    /// A run of registers or of bits.
    struct Block<Value> {
        let start: Int
        var values: [Value]

        func offset(of address: Int, count: Int) -> Int? {
            let offset = address - start
            return offset >= 0 && offset + count <= values.count ? offset : nil
        }
    }

    let id: UInt8
    var blocks: [Block<UInt16>] = []
    /// What function 4 reads; `nil` = the same as function 3.
    var inputBlocks: [Block<UInt16>]?
    var coils: [Block<Bool>] = []
    var discreteInputs: [Block<Bool>] = []
    var behaviour = ModbusServedBehaviour.answers

    init(id: UInt8) { self.id = id }

    mutating func setTables(
        holding: [(start: UInt16, values: [UInt16])], input: [(start: UInt16, values: [UInt16])]
    ) {
        blocks = holding.map { Block(start: Int($0.start), values: $0.values) }
        inputBlocks = input.map { Block(start: Int($0.start), values: $0.values) }
    }

    /// Where `count` values from `address` lie; `nil` where any of them is in a gap.
    static func place<Value>(
        _ blocks: [Block<Value>], _ address: Int, _ count: Int
    ) -> (block: Int, offset: Int)? {
        for (index, block) in blocks.enumerated() {
            if let offset = block.offset(of: address, count: count) { return (index, offset) }
        }
        return nil
    }

    /// Puts values into a block.
    ///
    /// - Returns: `false` where they do not all lie in one; then nothing is changed.
    static func put<Value>(_ values: [Value], at address: Int, in blocks: inout [Block<Value>]) -> Bool {
        guard let (block, offset) = place(blocks, address, values.count) else { return false }
        blocks[block].values.replaceSubrange(offset..<(offset + values.count), with: values)
        return true
    }

    static func get<Value>(_ blocks: [Block<Value>], at address: Int, count: Int) -> [Value]? {
        guard let (block, offset) = place(blocks, address, count) else { return nil }
        return Array(blocks[block].values[offset..<(offset + count)])
    }

    /// The answer to `request`, or `nil` for silence.
    ///
    /// - Parameter refuses: asked before a write is stored; an exception code refuses it.
    mutating func answer(_ request: [UInt8], refuses: (ModbusWrite) -> UInt8?) -> [UInt8]? {
        guard let function = request.first else { return nil }
        switch behaviour {
        case .silent: return nil
        case .exception(let code): return [function | 0x80, code]
        case .answers, .slow, .half, .wrongUnit: break
        }
        switch function {
        case 1 where !coils.isEmpty: return readBits(request, coils)
        case 2 where !discreteInputs.isEmpty: return readBits(request, discreteInputs)
        case 3, 4: return read(request)
        case 5 where !coils.isEmpty: return writeCoil(request, refuses)
        case 6: return writeOne(request, refuses)
        case 15 where !coils.isEmpty: return writeCoils(request, refuses)
        case 16: return writeMany(request, refuses)
        // Every other number is an unknown function, and so is one for a table that the unit does not have.
        default: return [function | 0x80, 1]
        }
    }

    private func read(_ request: [UInt8]) -> [UInt8] {
        guard request.count == 5 else { return [request[0] | 0x80, 3] }
        let count = word(request, 3)
        guard (1...125).contains(count) else { return [request[0] | 0x80, 3] }
        let table = request[0] == 4 ? inputBlocks ?? blocks : blocks
        guard let registers = Self.get(table, at: word(request, 1), count: count) else {
            return [request[0] | 0x80, 2]
        }
        var answer: [UInt8] = [request[0], UInt8(2 * count)]
        for register in registers {
            answer.append(UInt8(register >> 8))
            answer.append(UInt8(register & 0xFF))
        }
        return answer
    }

    private func readBits(_ request: [UInt8], _ blocks: [Block<Bool>]) -> [UInt8] {
        guard request.count == 5 else { return [request[0] | 0x80, 3] }
        let count = word(request, 3)
        guard (1...2_000).contains(count) else { return [request[0] | 0x80, 3] }
        guard let bits = Self.get(blocks, at: word(request, 1), count: count) else {
            return [request[0] | 0x80, 2]
        }
        var bytes = [UInt8](repeating: 0, count: (count + 7) / 8)
        for (index, bit) in bits.enumerated() where bit { bytes[index / 8] |= UInt8(1) << UInt8(index % 8) }
        return [request[0], UInt8(bytes.count)] + bytes
    }

    // MARK: Writes

    private mutating func writeOne(_ request: [UInt8], _ refuses: (ModbusWrite) -> UInt8?) -> [UInt8] {
        guard request.count == 5 else { return [0x86, 3] }
        let code = store([UInt16(word(request, 3))], at: word(request, 1), refuses)
        return code.map { [0x86, $0] } ?? request
    }

    private mutating func writeMany(_ request: [UInt8], _ refuses: (ModbusWrite) -> UInt8?) -> [UInt8] {
        guard request.count >= 6 else { return [0x90, 3] }
        let count = word(request, 3)
        guard (1...123).contains(count), Int(request[5]) == 2 * count, request.count == 6 + 2 * count
        else { return [0x90, 3] }
        let values = (0..<count).map { UInt16(word(request, 6 + 2 * $0)) }
        let code = store(values, at: word(request, 1), refuses)
        return code.map { [0x90, $0] } ?? Array(request[0..<5])
    }

    private mutating func writeCoil(_ request: [UInt8], _ refuses: (ModbusWrite) -> UInt8?) -> [UInt8] {
        guard request.count == 5, [0, 0xFF00].contains(word(request, 3)) else { return [0x85, 3] }
        let code = storeCoils([word(request, 3) != 0], at: word(request, 1), refuses)
        return code.map { [0x85, $0] } ?? request
    }

    private mutating func writeCoils(_ request: [UInt8], _ refuses: (ModbusWrite) -> UInt8?) -> [UInt8] {
        guard request.count >= 6 else { return [0x8F, 3] }
        let count = word(request, 3)
        let byteCount = (count + 7) / 8
        guard (1...1_968).contains(count), Int(request[5]) == byteCount, request.count == 6 + byteCount
        else { return [0x8F, 3] }
        let bits: [Bool] = (0..<count).map { index in
            let byte = request[6 + index / 8]
            return byte & (UInt8(1) << UInt8(index % 8)) != 0
        }
        let code = storeCoils(bits, at: word(request, 1), refuses)
        return code.map { [0x8F, $0] } ?? Array(request[0..<5])
    }

    private mutating func store(
        _ values: [UInt16], at address: Int, _ refuses: (ModbusWrite) -> UInt8?
    ) -> UInt8? {
        guard Self.place(blocks, address, values.count) != nil else { return 2 }
        let write = ModbusWrite(unit: id, table: .registers, address: UInt16(address), values: values)
        if let code = refuses(write) { return code }
        return Self.put(values, at: address, in: &blocks) ? nil : 2
    }

    private mutating func storeCoils(
        _ bits: [Bool], at address: Int, _ refuses: (ModbusWrite) -> UInt8?
    ) -> UInt8? {
        guard Self.place(coils, address, bits.count) != nil else { return 2 }
        let values = bits.map { UInt16($0 ? 1 : 0) }
        let write = ModbusWrite(unit: id, table: .coils, address: UInt16(address), values: values)
        if let code = refuses(write) { return code }
        return Self.put(bits, at: address, in: &coils) ? nil : 2
    }
}

func word(_ bytes: [UInt8], _ index: Int) -> Int { Int(bytes[index]) << 8 | Int(bytes[index + 1]) }
