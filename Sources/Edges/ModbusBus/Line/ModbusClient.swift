import DeviceCodecs
import LinuxIO
import Quantities

/// The two tables of single bits of a Modbus device.
public enum ModbusBitTable: Sendable, Equatable, BitwiseCopyable {
    /// Read by function 1; written by 5 and 15.
    case coils
    /// Read by function 2.
    case discreteInputs
}

/// The two tables of registers.
public enum ModbusRegisterTable: Sendable, Equatable, BitwiseCopyable {
    /// Read by function 3; written by 6 and 16.
    case holding
    /// Read by function 4.
    case input
}

/// One Modbus connection, TCP or RTU, for those who may wait: every call is bounded. The owners of links
/// drive `ModbusExchange` themselves.
public struct ModbusClient: ~Copyable {
    private var line: ModbusLine
    private var exchange: ModbusExchange

    public var isConnected: Bool { line.isConnected }
    public var isSerial: Bool { exchange.isSerial }
    /// How often received bytes did not fit, by `ModbusMismatch`.
    public var mismatches: ModbusMismatchCounts { exchange.mismatches }

    /// - Parameter timeout: longest wait for an answer to begin, or for a connection: 10 ms … 10 s; clamped.
    public init(
        _ endpoint: ModbusEndpoint, timeout: Duration
    ) throws(ModbusError) {
        line = try ModbusLine(endpoint)
        exchange = ModbusExchange(on: endpoint.line, timeout: timeout)
    }

    /// Opens the line or the connection; does nothing where it is open.
    ///
    /// - Parameter limit: longest wait for the connection; `nil` = the answer time-out.
    public mutating func connect(within limit: Duration? = nil) throws(ModbusError) {
        if line.isConnected { return }
        try line.connect(
            within: limit ?? exchange.timeout, patience: max(.seconds(1), exchange.timeout * 2))
        exchange.opened(at: MonotonicTime.now())
    }

    public mutating func disconnect() { line.disconnect() }

    /// Drops what has arrived.
    public mutating func flush() {
        line.flush()
        exchange.opened(at: MonotonicTime.now())
    }

    /// Sets the answer time-out of the next transactions; clamped to 1 ms … `timeout`.
    public mutating func setTimeout(_ wanted: Duration) { exchange.setTimeout(wanted) }

    /// Asks and waits. For a write the values are given, for a read they stay in the exchange.
    private mutating func transact(
        _ request: ModbusRequest, unit: UInt8,
        registers: UnsafeBufferPointer<UInt16> = UnsafeBufferPointer(start: nil, count: 0),
        bits: UnsafeBufferPointer<UInt8> = UnsafeBufferPointer(start: nil, count: 0)
    ) throws(ModbusError) {
        guard line.isConnected else { throw .disconnected }
        exchange.ask(request, unit: unit, registers: registers, bits: bits, at: MonotonicTime.now())
        var isOver = false
        while !isOver {
            switch exchange.next(at: MonotonicTime.now()) {
            case .send:
                try line.send(exchange.request)
                exchange.sent(at: MonotonicTime.now())
            case .listen(let end):
                let count = try line.receive(into: exchange.room, until: end)
                if count > 0 { exchange.arrived(count, at: MonotonicTime.now()) }
            case .over: isOver = true
            }
        }
        if let failure = exchange.failure { throw failure }
    }

    // MARK: Values

    /// Most bits of one request of ours; the book allows 2000 to read and 1968 to write.
    public static let maximumBitCount = 256

    /// Reads `registers.count` (1 … 125) registers. The buffer is untouched after an error.
    public mutating func read(
        _ table: ModbusRegisterTable = .holding, unit: UInt8, address: UInt16,
        into registers: UnsafeMutableBufferPointer<UInt16>
    ) throws(ModbusError) {
        let count = registers.count
        switch table {
        case .holding: try transact(.readHoldingRegisters(at: address, count: count), unit: unit)
        case .input: try transact(.readInputRegisters(at: address, count: count), unit: unit)
        }
        exchange.copy(to: registers)
    }

    /// Writes `registers.count` (1 … 123) registers in one request (function 16).
    public mutating func write(
        unit: UInt8, address: UInt16, _ registers: UnsafeBufferPointer<UInt16>
    ) throws(ModbusError) {
        try transact(
            .writeRegisters(at: address, count: registers.count), unit: unit, registers: registers)
    }

    /// Writes one register (function 6).
    public mutating func writeRegister(unit: UInt8, address: UInt16, _ value: UInt16) throws(ModbusError) {
        try transact(.writeRegister(at: address, value: value), unit: unit)
    }

    /// Reads `bits.count` (1 … 256) coils or discrete inputs, one byte each: 0 or 1. The buffer is untouched
    /// after an error.
    public mutating func read(
        _ table: ModbusBitTable, unit: UInt8, address: UInt16, into bits: UnsafeMutableBufferPointer<UInt8>
    ) throws(ModbusError) {
        let count = bits.count
        precondition((1...Self.maximumBitCount).contains(count))
        switch table {
        case .coils: try transact(.readCoils(at: address, count: count), unit: unit)
        case .discreteInputs: try transact(.readDiscreteInputs(at: address, count: count), unit: unit)
        }
        exchange.copy(bitsTo: bits)
    }

    /// Writes `bits.count` (1 … 256) coils in one request (function 15); any byte but 0 is on.
    public mutating func writeCoils(
        unit: UInt8, address: UInt16, _ bits: UnsafeBufferPointer<UInt8>
    ) throws(ModbusError) {
        precondition((1...Self.maximumBitCount).contains(bits.count))
        try transact(.writeCoils(at: address, count: bits.count), unit: unit, bits: bits)
    }

    /// Writes one coil (function 5).
    public mutating func writeCoil(unit: UInt8, address: UInt16, isOn: Bool) throws(ModbusError) {
        try transact(.writeCoil(at: address, isOn: isOn), unit: unit)
    }
}
