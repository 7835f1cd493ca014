import DeviceCodecs
import ModbusBus

extension CommissioningClient {
    /// Every value of a device by its driver, one line each. What the device refuses says so.
    public mutating func read(unit: UInt8, _ map: RegisterMap) throws(ModbusError) -> [String] {
        var lines: [String] = []
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
                lines.append("\(register.address) \(register.name) \(register.text(bits))")
            } catch {
                guard case .exception = error else { throw error }
                lines.append("\(register.address) \(register.name): \(error)")
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
