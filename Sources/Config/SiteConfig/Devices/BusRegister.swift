import ConfigText
import DeviceCodecs

/// Reads how devices are reached, and remembers who uses which line, so that no two want the same.
struct BusRegister {
    private struct DeviceAddress: Hashable {
        var endpoint: ModbusEndpoint
        var unitID: UInt8
    }
    private struct SerialUse {
        var line: SerialLine
        var path: String
    }

    private var addresses: [DeviceAddress: String] = [:]
    private var transports: [CANAddress: String] = [:]
    private var modbusLines: [String: SerialUse] = [:]
    private var canLines: [String: String] = [:]

    /// The keys `modbus`, `poll_ms`, `timeout_ms`, `driver` and those of the load, of a unit, a meter or an
    /// I/O module.
    mutating func modbus(
        _ reader: ConfigReader, poll: ConfigKey<Duration> = SiteKeys.Bus.poll,
        timeout: ConfigKey<Duration> = SiteKeys.Bus.timeout, readsRegisters: Bool = true
    ) -> ModbusConfig? {
        let poll = reader.value(poll)
        let timeout = reader.value(timeout)
        let driver = reader.value(SiteKeys.Bus.driver)
        let turnaround = reader.value(SiteKeys.Bus.turnaround)
        let registers = readsRegisters ? reader.value(SiteKeys.Bus.readRegisters) : 1
        guard reader.has("modbus") else {
            reader.refuse("modbus", "is missing (required: host, or device and unit_id)")
            return nil
        }
        let address = reader.section("modbus") { self.address($0) }
        guard let address, let poll, let timeout, let registers else { return nil }
        var config = ModbusConfig(
            endpoint: address.endpoint, unitID: address.unitID, poll: poll, timeout: timeout, driver: driver)
        if case .tcp = address.endpoint { config.turnaround = .milliseconds(2) }
        config.turnaround = turnaround ?? config.turnaround
        config.readRegisters = registers
        return config
    }

    /// Notes that the battery read by `reader` uses `transport`.
    mutating func claim(_ transport: CANAddress, in reader: ConfigReader, key: String) {
        if let other = transports.updateValue(reader.path, forKey: transport) {
            reader.refuse(key, "\(transport) is already used by \(other)")
            return
        }
        guard case .slcan(let device) = transport else { return }
        canLines[device] = reader.path
        if let other = modbusLines[device] {
            reader.refuse(key, "\(device) is already the Modbus line of \(other.path)")
        }
    }

    private mutating func address(_ reader: ConfigReader) -> DeviceAddress? {
        let (isTCP, isSerial) = (reader.has("host"), reader.has("device"))
        if isTCP == isSerial {
            let what = isTCP ? "has both host and device" : "has neither host nor device"
            reader.refuse(isTCP ? "device" : "host", "\(what) (allowed: one of them)")
        }
        let address = isSerial ? serial(reader) : tcp(reader)
        guard let address else { return nil }
        if let other = addresses.updateValue(reader.path, forKey: address) {
            reader.refuse("unit_id", "device \(address.unitID) on this line is already that of \(other)")
        }
        return address
    }

    private func tcp(_ reader: ConfigReader) -> DeviceAddress? {
        for name in ["baud", "parity", "stop_bits", "rs485", "echo", "low_latency", "gap_ms"]
        where reader.has(name) {
            reader.refuse(name, "stands only with device (Modbus RTU)")
        }
        let host = reader.value(SiteKeys.Bus.host)
        let port = reader.value(SiteKeys.Bus.port)
        let unitID = reader.value(SiteKeys.Bus.unitIDOnTCP)
        guard let host, let port, let unitID else { return nil }
        return DeviceAddress(endpoint: .tcp(host: host.lowercased(), port: port), unitID: unitID)
    }

    private mutating func serial(_ reader: ConfigReader) -> DeviceAddress? {
        if reader.has("port") { reader.refuse("port", "stands only with host (Modbus TCP)") }
        let device = reader.value(SiteKeys.Bus.device)
        let baud = reader.value(SiteKeys.Bus.baud)
        let parity = reader.value(SiteKeys.Bus.parity)
        let stopBits = reader.value(SiteKeys.Bus.stopBits)
        let unitID = reader.value(SiteKeys.Bus.unitIDOnSerial)
        let options = lineOptions(reader)
        guard let device, let baud, let parity, let stopBits, let unitID, let options else { return nil }
        var line = SerialLine(baud: baud, parity: parity, stopBits: stopBits)
        (line.isRS485, line.echoes, line.isLowLatency, line.gap) = options
        if let other = modbusLines[device], other.line != line {
            reader.refuse("device", "\(device) has other line settings in \(other.path)")
        }
        if let other = canLines[device] {
            reader.refuse("device", "\(device) is already the CAN line of \(other)")
        }
        modbusLines[device] = SerialUse(line: line, path: reader.path)
        return DeviceAddress(endpoint: .serial(device: device, line: line), unitID: unitID)
    }

    private typealias LineOptions = (isRS485: Bool, echoes: Bool, isLowLatency: Bool, gap: Duration?)

    private func lineOptions(_ reader: ConfigReader) -> LineOptions? {
        let rs485 = reader.value(SiteKeys.Bus.rs485)
        let echo = reader.value(SiteKeys.Bus.echo)
        let lowLatency = reader.value(SiteKeys.Bus.lowLatency)
        let gap = reader.value(SiteKeys.Bus.gap)
        guard let rs485, let echo, let lowLatency else { return nil }
        return (rs485, echo, lowLatency, gap)
    }
}
