import DeviceCodecs
import ModbusBus

/// One register of a driver file, as the device has it.
public struct DriverValue: Sendable, Equatable {
    public var address: UInt16
    public var name: String
    /// `-12.4 W`; `-` where the device has no value.
    public var value: String?
    /// Why it was not read.
    public var refusal: String?

    /// `13021 active_power -12.4 W`.
    public var text: String { "\(address) \(name)" + (value.map { " \($0)" } ?? ": \(refusal ?? "")") }
}

extension CommissioningClient {
    /// Every value of a device by its driver. What the device refuses says so.
    public mutating func read(unit: UInt8, _ map: RegisterMap) throws(ModbusError) -> [DriverValue] {
        var lines: [DriverValue] = []
        for register in map.registers where register.isReadable {
            do throws(ModbusError) {
                let table: ModbusRegisterTable =
                    switch register.table {
                    case .holding: .holding
                    case .input: .input
                    }
                let words = try registers(
                    table, unit: unit, address: register.address, count: register.type.size)
                let bits = words.withUnsafeBufferPointer { register.bits($0, from: register.address) }
                lines.append(
                    DriverValue(address: register.address, name: register.name, value: register.text(bits)))
            } catch {
                guard case .exception = error else { throw error }
                lines.append(
                    DriverValue(address: register.address, name: register.name, refusal: "\(error)"))
            }
        }
        return lines
    }
}

extension RegisterDefinition {
    /// `-12.4 W`, `3 running`, `-` where the device has no value.
    func text(_ bits: UInt32?) -> String {
        guard let bits, let value = value(bits) else { return "-" }
        if let name = texts[bits] { return "\(bits) \(name)" }
        var digits = 0
        var step = scale.magnitude
        while step < 0.999_999, digits < 6 { (step, digits) = (step * 10, digits + 1) }
        let shown = type == .float32 ? "\(value)" : SunSpecReading.decimal(value, digits)
        return unit.isEmpty ? shown : "\(shown) \(unit)"
    }
}
