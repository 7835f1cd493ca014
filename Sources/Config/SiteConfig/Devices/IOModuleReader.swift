import ConfigText
import Plant
import Quantities

/// Reads `io_module` of a unit.
enum IOModuleReader {
    private typealias Keys = SiteKeys.IOModule

    static func module(_ reader: ConfigReader, _ buses: inout BusRegister) -> IOModuleConfig? {
        let modbus = buses.modbus(
            reader, poll: Keys.poll, timeout: Keys.timeout, readsRegisters: false)
        let watchdog = reader.value(Keys.watchdog)
        let inputs = inputs(reader)
        let coils = coils(reader)
        if !reader.has("inputs") && !reader.has("coils") {
            reader.refuse("inputs", "is missing (required: inputs, coils or both)")
        }
        guard let modbus, let inputs, let coils else { return nil }
        checkWatchdog(watchdog, modbus, hasCoils: !coils.isEmpty, reader)
        return IOModuleConfig(modbus: modbus, inputs: inputs, coils: coils, watchdog: watchdog)
    }

    private static func inputs(_ reader: ConfigReader) -> [DigitalInputConfig]? {
        let first = reader.value(Keys.inputAddress)
        var numbers: [Int: String] = [:]
        var names: [DigitalInput: String] = [:]
        let inputs = reader.list("inputs", count: 0...64) { reader, _ -> DigitalInputConfig? in
            let number = reader.value(Keys.inputNumber)
            let name = reader.value(Keys.inputName)
            let isNormallyClosed = reader.value(Keys.normallyClosed) ?? name?.isNormallyClosedByDefault
            if let number, let other = numbers.updateValue(reader.path, forKey: number) {
                reader.refuse("number", "input \(number) is already that of \(other)")
            }
            if let name, let other = names.updateValue(reader.path, forKey: name) {
                reader.refuse("name", "\(name.word) is already the name of \(other)")
            }
            guard let first, let number, let name, let isNormallyClosed else { return nil }
            return DigitalInputConfig(
                name: name, number: number, address: UInt16(first + number - 1),
                isNormallyClosed: isNormallyClosed)
        }
        return first == nil ? nil : inputs.sorted { $0.address < $1.address }
    }

    private static func coils(_ reader: ConfigReader) -> [CoilConfig]? {
        let first = reader.value(Keys.coilAddress)
        var numbers: [Int: String] = [:]
        var purposes: [DigitalOutput: String] = [:]
        let coils = reader.list("coils", count: 0...8) { reader, _ -> CoilConfig? in
            let number = reader.value(Keys.coilNumber)
            let purpose = reader.value(Keys.purpose)
            if let number, let other = numbers.updateValue(reader.path, forKey: number) {
                reader.refuse("number", "coil \(number) is already that of \(other)")
            }
            if let purpose, let other = purposes.updateValue(reader.path, forKey: purpose) {
                reader.refuse("drives", "\(purpose.word) is already driven by \(other)")
            }
            guard let first, let number, let purpose else { return nil }
            return CoilConfig(purpose: purpose, number: number, address: UInt16(first + number - 1))
        }
        return first == nil ? nil : coils.sorted { $0.address < $1.address }
    }

    /// Coils stay on when the gateway dies: only the module itself can open them then. One lost write must
    /// not.
    private static func checkWatchdog(
        _ watchdog: Duration?, _ modbus: ModbusConfig, hasCoils: Bool, _ reader: ConfigReader
    ) {
        let key = Keys.watchdog
        guard let watchdog else {
            if hasCoils && !reader.has(key.name) {
                reader.refuse(key.name, "is missing (required with coils: \(key.allowed))")
            }
            return
        }
        let least = modbus.poll * 2 + modbus.timeout
        if watchdog < least {
            reader.refuse(
                key.name,
                "\(Int(watchdog.milliseconds)) ms is less than two polls and one timeout,"
                    + " \(Int(least.milliseconds)) ms")
        }
    }
}
