/// What one request asks of a device. The values of writes travel beside it.
public enum ModbusRequest: Sendable, Equatable, BitwiseCopyable {
    /// Functions 1 and 2; 1 … 2000 bits.
    case readCoils(at: UInt16, count: Int)
    case readDiscreteInputs(at: UInt16, count: Int)
    /// Functions 3 and 4; 1 … 125 registers.
    case readHoldingRegisters(at: UInt16, count: Int)
    case readInputRegisters(at: UInt16, count: Int)
    /// Function 5.
    case writeCoil(at: UInt16, isOn: Bool)
    /// Function 6.
    case writeRegister(at: UInt16, value: UInt16)
    /// Function 15; 1 … 1968 bits.
    case writeCoils(at: UInt16, count: Int)
    /// Function 16; 1 … 123 registers.
    case writeRegisters(at: UInt16, count: Int)

    public var function: UInt8 {
        switch self {
        case .readCoils: 1
        case .readDiscreteInputs: 2
        case .readHoldingRegisters: 3
        case .readInputRegisters: 4
        case .writeCoil: 5
        case .writeRegister: 6
        case .writeCoils: 15
        case .writeRegisters: 16
        }
    }

    public var address: UInt16 {
        switch self {
        case .readCoils(let at, _), .readDiscreteInputs(let at, _), .readHoldingRegisters(let at, _),
            .readInputRegisters(let at, _), .writeCoil(let at, _), .writeRegister(let at, _),
            .writeCoils(let at, _), .writeRegisters(let at, _):
            at
        }
    }

    /// Whether the book allows this many.
    public var isAllowed: Bool {
        switch self {
        case .readCoils(_, let count), .readDiscreteInputs(_, let count): (1...2_000).contains(count)
        case .readHoldingRegisters(_, let count), .readInputRegisters(_, let count):
            (1...125).contains(count)
        case .writeCoil, .writeRegister: true
        case .writeCoils(_, let count): (1...1_968).contains(count)
        case .writeRegisters(_, let count): (1...123).contains(count)
        }
    }

    /// Bytes of the request from the function code on.
    public var requestLength: Int {
        switch self {
        case .readCoils, .readDiscreteInputs, .readHoldingRegisters, .readInputRegisters, .writeCoil,
            .writeRegister:
            5
        case .writeCoils(_, let count): 6 + (count + 7) / 8
        case .writeRegisters(_, let count): 6 + 2 * count
        }
    }

    /// Bytes of the answer from the function code on, if it is no exception.
    public var answerLength: Int {
        switch self {
        case .readCoils(_, let count), .readDiscreteInputs(_, let count): 2 + (count + 7) / 8
        case .readHoldingRegisters(_, let count), .readInputRegisters(_, let count): 2 + 2 * count
        case .writeCoil, .writeRegister, .writeCoils, .writeRegisters: 5
        }
    }

    /// Whether an answer to one could be taken for an answer to the other, where answers have no number
    /// (RTU).
    public func sharesAnswers(with other: ModbusRequest) -> Bool {
        guard function == other.function else { return false }
        if isRead { return answerLength == other.answerLength }
        // Functions 5 and 6 may give back what the device made of the value.
        return address == other.address && (function == 5 || function == 6 || operand == other.operand)
    }

    /// The third and fourth byte behind the function code.
    fileprivate var operand: UInt16 {
        switch self {
        case .readCoils(_, let count), .readDiscreteInputs(_, let count),
            .readHoldingRegisters(_, let count), .readInputRegisters(_, let count),
            .writeCoils(_, let count), .writeRegisters(_, let count):
            UInt16(truncatingIfNeeded: count)
        case .writeCoil(_, let isOn): isOn ? 0xFF00 : 0
        case .writeRegister(_, let value): value
        }
    }

    /// Whether it reads.
    public var isRead: Bool { function <= 4 }
}

/// How a Modbus frame is wrapped.
public enum ModbusFraming: Sendable, Equatable, BitwiseCopyable {
    /// With an MBAP header.
    case tcp
    /// With the unit's address in front and a CRC behind.
    case rtu

    /// The longest frame.
    public static let limit = 260

    fileprivate var head: Int { self == .tcp ? 7 : 1 }

    /// Bytes that travel for a request, or an answer, of `length` bytes from the function code on.
    public func frameLength(_ length: Int) -> Int { self == .tcp ? length + 7 : length + 3 }

    /// Writes a whole request.
    ///
    /// - Parameters:
    ///   - registers: the values of `writeRegisters`.
    ///   - bits: those of `writeCoils`, one byte each; any byte but 0 is on.
    ///   - frame: at least `limit` bytes.
    /// - Returns: how many bytes it takes.
    public func encode(
        _ request: ModbusRequest, unit: UInt8, transaction: UInt16,
        registers: UnsafeBufferPointer<UInt16>, bits: UnsafeBufferPointer<UInt8>,
        into frame: UnsafeMutableBufferPointer<UInt8>
    ) -> Int {
        precondition(request.isAllowed && frame.count >= Self.limit)
        func put(_ value: UInt16, _ index: Int) {
            frame[index] = UInt8(value >> 8)
            frame[index + 1] = UInt8(value & 0xFF)
        }
        let length = request.requestLength
        frame[head - 1] = unit
        frame[head] = request.function
        put(request.address, head + 1)
        put(request.operand, head + 3)
        if length > 5 { frame[head + 5] = UInt8(length - 6) }
        switch request {
        case .writeRegisters(_, let count):
            precondition(registers.count == count)
            for index in 0..<count { put(registers[index], head + 6 + 2 * index) }
        case .writeCoils(_, let count):
            precondition(bits.count == count)
            for index in 0..<(count + 7) / 8 { frame[head + 6 + index] = 0 }
            for index in 0..<count where bits[index] != 0 { frame[head + 6 + index / 8] |= 1 << (index % 8) }
        case .readCoils, .readDiscreteInputs, .readHoldingRegisters, .readInputRegisters, .writeCoil,
            .writeRegister:
            break
        }
        if self == .tcp {
            put(transaction, 0)
            put(0, 2)
            put(UInt16(length + 1), 4)
        } else {
            let sum = ModbusCRC.of(UnsafeBufferPointer(rebasing: frame[0..<(length + 1)]))
            frame[length + 1] = UInt8(sum & 0xFF)
            frame[length + 2] = UInt8(sum >> 8)
        }
        return frameLength(length)
    }
}

/// Why received bytes do not answer what was asked.
public enum ModbusMismatch: UInt8, Sendable, Equatable, BitwiseCopyable, CaseIterable {
    /// RTU: the check sum does not fit the bytes.
    case checksum
    /// Another device's answer, or one to somebody else's question.
    case unit
    /// TCP: the answer to an earlier request, or to none of ours.
    case transaction
    case function
    /// The lengths in the answer contradict each other, the request, or the book.
    case length
    /// TCP: another protocol's bytes.
    case protocolID
    /// Our own request came back: the line's adapter echoes, and the line's settings do not say so; or
    /// they say so, and it does not.
    case echo
    /// A write is acknowledged for another address or count.
    case acknowledgement
}

extension ModbusMismatch: CustomStringConvertible {
    /// In words a person understands.
    public var description: String {
        switch self {
        case .checksum: "wrong checksum"
        case .unit: "another unit"
        case .transaction: "another transaction"
        case .function: "another function"
        case .length: "wrong length"
        case .protocolID: "bytes that are no Modbus"
        case .echo: "our own request came back, or did not: see echo of the line"
        case .acknowledgement: "another address or count"
        }
    }
}

/// What the first bytes of a connection's input are, with respect to one request. Total: any bytes in, a
/// verdict out.
public enum ModbusAnswer: Sendable, Equatable, BitwiseCopyable {
    /// No whole frame yet; never more than `ModbusFraming.limit` bytes.
    case incomplete
    /// It answers the request: where its values lie, behind function code and byte count.
    case values(at: Int, count: Int)
    /// The device refused; the code as it came, 1 … 11 by the book.
    case exception(UInt8)
    /// A whole frame of this many bytes that answers something else: what follows may be ours.
    case stranger(ModbusMismatch, length: Int)
    /// Nobody knows where the next frame begins.
    case broken(ModbusMismatch)

    public init(
        _ bytes: UnsafeBufferPointer<UInt8>, to request: ModbusRequest, unit: UInt8, transaction: UInt16,
        framing: ModbusFraming
    ) {
        switch framing {
        case .tcp: self = Self.tcp(bytes, request, unit, transaction)
        case .rtu: self = Self.rtu(bytes, request, unit)
        }
    }

    private static func tcp(
        _ bytes: UnsafeBufferPointer<UInt8>, _ request: ModbusRequest, _ unit: UInt8, _ transaction: UInt16
    ) -> ModbusAnswer {
        guard bytes.count >= 7 else { return .incomplete }
        if word(bytes, 2) != 0 { return .broken(.protocolID) }
        let length = Int(word(bytes, 4))
        // Unit and function at least; the longest frame has 253 bytes from the function code on.
        guard (2...254).contains(length) else { return .broken(.length) }
        guard bytes.count >= 6 + length else { return .incomplete }
        if word(bytes, 0) != transaction { return .stranger(.transaction, length: 6 + length) }
        if bytes[6] != unit { return .stranger(.unit, length: 6 + length) }
        let answer = UnsafeBufferPointer(rebasing: bytes[7..<(6 + length)])
        // Some servers refuse with a bare 0x80.
        if answer[0] == 0x80, answer.count == 2 { return .exception(answer[1]) }
        return check(answer, request, head: 7, frame: 6 + length)
    }

    private static func rtu(
        _ bytes: UnsafeBufferPointer<UInt8>, _ request: ModbusRequest, _ unit: UInt8
    ) -> ModbusAnswer {
        guard bytes.count >= 3 else { return .incomplete }
        let length: Int
        switch bytes[1] {
        case 1...4: length = 5 + Int(bytes[2])
        case 5, 6, 15, 16: length = 8
        case 0x80...0xFF: length = 5
        // No function that we use: where such a frame ends nobody knows.
        default: return .broken(.function)
        }
        guard length <= 256 else { return .broken(.length) }
        guard bytes.count >= length else { return .incomplete }
        let body = UnsafeBufferPointer(rebasing: bytes[0..<(length - 2)])
        let sum = UInt16(bytes[length - 2]) | UInt16(bytes[length - 1]) << 8
        if ModbusCRC.of(body) != sum { return .broken(.checksum) }
        if bytes[0] != unit { return .stranger(.unit, length: length) }
        return check(UnsafeBufferPointer(rebasing: body[1...]), request, head: 1, frame: length)
    }

    /// - Parameters:
    ///   - answer: from the function code on; not empty.
    ///   - head: bytes before it.
    ///   - frame: bytes of the whole frame.
    private static func check(
        _ answer: UnsafeBufferPointer<UInt8>, _ request: ModbusRequest, head: Int, frame: Int
    ) -> ModbusAnswer {
        if answer[0] == request.function | 0x80 {
            return answer.count == 2 ? .exception(answer[1]) : .stranger(.length, length: frame)
        }
        guard answer[0] == request.function else { return .stranger(.function, length: frame) }
        guard answer.count == request.answerLength else { return .stranger(.length, length: frame) }
        if request.isRead {
            guard Int(answer[1]) == answer.count - 2 else { return .stranger(.length, length: frame) }
            return .values(at: head + 2, count: answer.count - 2)
        }
        guard word(answer, 1) == request.address else {
            return .stranger(.acknowledgement, length: frame)
        }
        // Function 6 may give back what the device made of the value.
        if request.function != 6, word(answer, 3) != request.operand {
            return .stranger(.acknowledgement, length: frame)
        }
        return .values(at: head + 3, count: 2)
    }

    private static func word(_ bytes: UnsafeBufferPointer<UInt8>, _ index: Int) -> UInt16 {
        UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1])
    }
}

/// CRC-16 of Modbus RTU: polynomial 0xA001 reflected, first 0xFFFF; sent low byte first.
public enum ModbusCRC {
    private static let table: [UInt16] = (0..<256).map { index in
        var value = UInt16(index)
        for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0xA001 : value >> 1 }
        return value
    }

    public static func of(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt16 {
        var sum: UInt16 = 0xFFFF
        for byte in bytes { sum = sum >> 8 ^ table[Int((sum ^ UInt16(byte)) & 0xFF)] }
        return sum
    }
}
