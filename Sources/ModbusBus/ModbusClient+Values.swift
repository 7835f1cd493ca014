import DeviceCodecs

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

extension ModbusClient {
    /// Most bits of one request of ours; the book allows 2000 to read and 1968 to write.
    public static let maximumBitCount = 256

    /// Reads `registers.count` (1 … 125) registers. The buffer is untouched after an error.
    public mutating func read(
        _ table: ModbusRegisterTable = .holding, unit: UInt8, address: UInt16,
        into registers: UnsafeMutableBufferPointer<UInt16>
    ) throws(ModbusError) {
        let count = registers.count
        let values =
            switch table {
            case .holding: try exchange(.readHoldingRegisters(at: address, count: count), unit: unit)
            case .input: try exchange(.readInputRegisters(at: address, count: count), unit: unit)
            }
        for index in 0..<count {
            registers[index] = UInt16(values[2 * index]) << 8 | UInt16(values[2 * index + 1])
        }
    }

    /// Writes `registers.count` (1 … 123) registers in one request (function 16).
    public mutating func write(
        unit: UInt8, address: UInt16, _ registers: UnsafeBufferPointer<UInt16>
    ) throws(ModbusError) {
        _ = try exchange(
            .writeRegisters(at: address, count: registers.count), unit: unit, registers: registers)
    }

    /// Writes one register (function 6).
    public mutating func writeRegister(unit: UInt8, address: UInt16, _ value: UInt16) throws(ModbusError) {
        _ = try exchange(.writeRegister(at: address, value: value), unit: unit)
    }

    /// Reads `bits.count` (1 … 256) coils or discrete inputs, one byte each: 0 or 1. The buffer is untouched
    /// after an error.
    public mutating func read(
        _ table: ModbusBitTable, unit: UInt8, address: UInt16, into bits: UnsafeMutableBufferPointer<UInt8>
    ) throws(ModbusError) {
        let count = bits.count
        precondition((1...Self.maximumBitCount).contains(count))
        let values =
            switch table {
            case .coils: try exchange(.readCoils(at: address, count: count), unit: unit)
            case .discreteInputs: try exchange(.readDiscreteInputs(at: address, count: count), unit: unit)
            }
        for index in 0..<count { bits[index] = values[index / 8] >> UInt8(index % 8) & 1 }
    }

    /// Writes `bits.count` (1 … 256) coils in one request (function 15); any byte but 0 is on.
    public mutating func writeCoils(
        unit: UInt8, address: UInt16, _ bits: UnsafeBufferPointer<UInt8>
    ) throws(ModbusError) {
        precondition((1...Self.maximumBitCount).contains(bits.count))
        _ = try exchange(.writeCoils(at: address, count: bits.count), unit: unit, bits: bits)
    }

    /// Writes one coil (function 5).
    public mutating func writeCoil(unit: UInt8, address: UInt16, isOn: Bool) throws(ModbusError) {
        _ = try exchange(.writeCoil(at: address, isOn: isOn), unit: unit)
    }
}
