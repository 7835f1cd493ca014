import DeviceCodecs
import ModbusBus
import Quantities

/// A person's own connection to a Modbus link: one question after the other, each with a bound. It connects
/// when it is asked something, and after an error that leaves the line unclear it begins anew.
public struct CommissioningClient: ~Copyable {
    private var client: ModbusClient
    private let timeout: Duration
    /// Rest between two questions, for devices that need it.
    private let pause: Duration

    public init(
        _ address: ModbusEndpoint, timeout: Duration, pause: Duration = .zero
    ) throws(ModbusError) {
        client = try ModbusClient(address, timeout: timeout)
        self.timeout = timeout
        self.pause = pause
    }

    // MARK: Reading

    /// Registers from `address` on, in requests of at most 125.
    ///
    /// - Parameter count: 1 … 65536; past address 65535 nothing is read.
    public mutating func registers(
        _ table: ModbusRegisterTable, unit: UInt8, address: UInt16, count: Int
    ) throws(ModbusError) -> [UInt16] {
        var all: [UInt16] = []
        let end = min(Int(address) + count, 0x1_0000)
        var next = Int(address)
        while next < end {
            let size = min(125, end - next)
            let start = UInt16(next)
            var part = [UInt16](repeating: 0, count: size)
            try ask { client throws(ModbusError) in
                part = try Self.part(&client, table, unit, start, size)
            }
            all += part
            next += size
        }
        return all
    }

    private static func part(
        _ client: inout ModbusClient, _ table: ModbusRegisterTable, _ unit: UInt8, _ start: UInt16,
        _ size: Int
    ) throws(ModbusError) -> [UInt16] {
        let buffer = UnsafeMutableBufferPointer<UInt16>.allocate(capacity: size)
        defer { buffer.deallocate() }
        buffer.initialize(repeating: 0)
        try client.read(table, unit: unit, address: start, into: buffer)
        return Array(buffer)
    }

    /// Coils or discrete inputs, 1 … 256.
    public mutating func bits(
        _ table: ModbusBitTable, unit: UInt8, address: UInt16, count: Int
    ) throws(ModbusError) -> [Bool] {
        let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: count)
        defer { buffer.deallocate() }
        buffer.initialize(repeating: 0)
        try ask { client throws(ModbusError) in
            try client.read(table, unit: unit, address: address, into: buffer)
        }
        return buffer.map { $0 != 0 }
    }

    // MARK: Writing

    /// Writes registers by function 16, or a single one by function 6 where the device does not know 16.
    public mutating func write(
        unit: UInt8, address: UInt16, _ values: [UInt16]
    ) throws(ModbusError) {
        do throws(ModbusError) {
            try ask { client throws(ModbusError) in try Self.write(&client, unit, address, values) }
        } catch {
            guard error == .exception(1), values.count == 1 else { throw error }
            try ask { client throws(ModbusError) in
                try client.writeRegister(unit: unit, address: address, values[0])
            }
        }
    }

    private static func write(
        _ client: inout ModbusClient, _ unit: UInt8, _ address: UInt16, _ values: [UInt16]
    ) throws(ModbusError) {
        let buffer = UnsafeMutableBufferPointer<UInt16>.allocate(capacity: values.count)
        defer { buffer.deallocate() }
        _ = buffer.initialize(from: values)
        try client.write(unit: unit, address: address, UnsafeBufferPointer(buffer))
    }

    /// Writes coils one by one, with function 5.
    public mutating func writeCoils(
        unit: UInt8, address: UInt16, _ values: [Bool]
    ) throws(ModbusError) {
        for (index, isOn) in values.enumerated() {
            let place = address &+ UInt16(truncatingIfNeeded: index)
            try ask { client throws(ModbusError) in
                try client.writeCoil(unit: unit, address: place, isOn: isOn)
            }
        }
    }

    // MARK: Session

    private mutating func ask(
        _ body: (inout ModbusClient) throws(ModbusError) -> Void
    ) throws(ModbusError) {
        try client.connect()
        if pause > .zero { (MonotonicTime.now() + pause).sleep() }
        do throws(ModbusError) {
            try body(&client)
        } catch {
            if error.endsSession { begin() }
            throw error
        }
    }

    /// A late answer must never be taken for the next one's.
    private mutating func begin() {
        guard client.isSerial else { return client.disconnect() }
        (MonotonicTime.now() + timeout).sleep()
        client.flush()
    }
}
