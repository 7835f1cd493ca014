/// What a served unit does with the next requests.
public enum ModbusServedBehaviour: Sendable, Equatable {
    case answers
    /// Requests are read and dropped, as by a device without power.
    case silent
    /// Every request is refused with this exception code.
    case exception(UInt8)
}

/// A write that a client asked for; nothing is stored yet when the hook sees it.
public struct ModbusWrite: Sendable, Equatable {
    public let unit: UInt8
    /// Protocol address of the first register (zero-based).
    public let address: UInt16
    /// 1 … 123 registers.
    public let values: [UInt16]
}

/// The registers of one unit and how it answers a request (a protocol data unit: function code and data).
struct ModbusServedUnit {
    struct Block {
        let start: Int
        var registers: [UInt16]

        func offset(of address: Int, count: Int) -> Int? {
            let offset = address - start
            return offset >= 0 && offset + count <= registers.count ? offset : nil
        }
    }

    let id: UInt8
    var blocks: [Block] = []
    var behaviour = ModbusServedBehaviour.answers

    /// Where `count` registers from `address` lie; `nil` where any of them is in a gap.
    func place(_ address: Int, _ count: Int) -> (block: Int, offset: Int)? {
        for (index, block) in blocks.enumerated() {
            if let offset = block.offset(of: address, count: count) { return (index, offset) }
        }
        return nil
    }

    /// The answer to `request`, or `nil` for silence.
    ///
    /// - Parameter refuses: asked before a write is stored; an exception code refuses it.
    mutating func answer(_ request: [UInt8], refuses: (ModbusWrite) -> UInt8?) -> [UInt8]? {
        guard let function = request.first else { return nil }
        switch behaviour {
        case .silent: return nil
        case .exception(let code): return [function | 0x80, code]
        case .answers: break
        }
        switch function {
        case 3, 4: return read(request)
        case 6: return writeOne(request, refuses)
        case 16: return writeMany(request, refuses)
        // Every other number is an unknown function.
        default: return [function | 0x80, 1]
        }
    }

    private func read(_ request: [UInt8]) -> [UInt8] {
        guard request.count == 5 else { return [request[0] | 0x80, 3] }
        let count = word(request, 3)
        guard (1...125).contains(count) else { return [request[0] | 0x80, 3] }
        guard let (block, offset) = place(word(request, 1), count) else { return [request[0] | 0x80, 2] }
        var answer: [UInt8] = [request[0], UInt8(2 * count)]
        for register in blocks[block].registers[offset..<(offset + count)] {
            answer.append(UInt8(register >> 8))
            answer.append(UInt8(register & 0xFF))
        }
        return answer
    }

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

    private mutating func store(
        _ values: [UInt16], at address: Int, _ refuses: (ModbusWrite) -> UInt8?
    ) -> UInt8? {
        guard let (block, offset) = place(address, values.count) else { return 2 }
        let write = ModbusWrite(unit: id, address: UInt16(address), values: values)
        if let code = refuses(write) { return code }
        blocks[block].registers.replaceSubrange(offset..<(offset + values.count), with: values)
        return nil
    }
}

func word(_ bytes: [UInt8], _ index: Int) -> Int { Int(bytes[index]) << 8 | Int(bytes[index + 1]) }
