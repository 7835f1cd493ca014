import CModbus
import Glibc

/// The two tables of single bits of a Modbus device.
public enum ModbusBitTable: Sendable, Equatable, BitwiseCopyable {
    /// Read by function 1; written by 5 and 15.
    case coils
    /// Read by function 2.
    case discreteInputs
}

extension ModbusClient {
    /// Most bits of one request of ours; the book allows 2000 to read and 1968 to write.
    public static let maximumBitCount = 256

    /// Reads `bits.count` (1 … 256) coils or discrete inputs, one byte each: 0 or 1. The buffer's contents
    /// mean nothing after an error.
    public mutating func read(
        _ table: ModbusBitTable, unit: UInt8, address: UInt16, into bits: UnsafeMutableBufferPointer<UInt8>
    ) throws(ModbusError) {
        precondition((1...Self.maximumBitCount).contains(bits.count))
        try select(unit)
        let count = CInt(bits.count)
        let result =
            switch table {
            case .coils: modbus_read_bits(context, CInt(address), count, bits.baseAddress)
            case .discreteInputs: modbus_read_input_bits(context, CInt(address), count, bits.baseAddress)
            }
        if result == -1 { throw ModbusError(errno: errno) }
        if result != count { throw .badAnswer }
    }

    /// Writes `bits.count` (1 … 256) coils in one request (function 15); any byte but 0 is on.
    public mutating func writeCoils(
        unit: UInt8, address: UInt16, _ bits: UnsafeBufferPointer<UInt8>
    ) throws(ModbusError) {
        precondition((1...Self.maximumBitCount).contains(bits.count))
        try select(unit)
        let count = CInt(bits.count)
        let result = modbus_write_bits(context, CInt(address), count, bits.baseAddress)
        if result == -1 { throw ModbusError(errno: errno) }
        if result != count { throw .badAnswer }
    }

    /// Writes one coil (function 5).
    public mutating func writeCoil(unit: UInt8, address: UInt16, isOn: Bool) throws(ModbusError) {
        try select(unit)
        let result = modbus_write_bit(context, CInt(address), isOn ? 1 : 0)
        if result == -1 { throw ModbusError(errno: errno) }
        if result != 1 { throw .badAnswer }
    }
}
