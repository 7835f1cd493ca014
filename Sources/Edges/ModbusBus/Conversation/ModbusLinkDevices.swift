import DeviceCodecs
import LinuxIO
import Plant
import Quantities

/// Who is spoken to on a link.
extension ModbusConversation {
    /// Adds an inverter; before the first step.
    ///
    /// - Parameter reversion: after this time without a rewrite the device goes to zero by itself; whole
    ///   seconds.
    /// - Parameter readsDCVoltage: also where it costs a reading of its own; who drives contactors needs it.
    /// - Parameter acceptsUnprovenReversion: drives it also where what it does after silence is not known to
    ///   be
    ///   zero power (SunSpec 124); else it gets no setpoints.
    /// - Parameter driver: its registers, where it has no SunSpec.
    /// - Parameter reactive: what it is told about reactive power; `nil` = nothing, its own setting holds.
    /// - Parameter outputCap: what it is told to limit its own output to, by SunSpec 123; `nil` = nothing.
    /// - Parameter obedience: when it is left alone because it does not end its power; `nil` = never.
    /// - Parameter provenIdentity: which device's behaviour after silence was proven, as its image says;
    ///   another one gets no setpoints. `nil` = nobody's.
    /// - Returns: what keeps it from being told its setpoint again.
    @discardableResult
    public func addInverter(
        _ device: ModbusDeviceSettings, reversion: Duration, readsDCVoltage: Bool = false,
        acceptsUnprovenReversion: Bool = false, driver: RegisterMap? = nil,
        reactive: SunSpecReactiveControl.Setting? = nil, outputCap: Watts? = nil,
        obedience: ModbusObedience? = nil, provenIdentity: UInt64? = nil,
        setpoints: consuming TripleBufferReader<Actuation>,
        images: consuming TripleBufferWriter<InverterImage>
    ) -> ModbusSilence {
        let inverter = ModbusDevice(
            device, reversion: reversion, readsDCVoltage: readsDCVoltage,
            acceptsUnprovenReversion: acceptsUnprovenReversion, driver: driver, reactive: reactive,
            outputCap: outputCap, setpoints: setpoints, images: images)
        inverter.obedience = obedience
        inverter.provenIdentity = provenIdentity
        devices.append(inverter)
        return inverter.silence
    }

    /// Adds a meter, or an inverter that serves as one; before the first step.
    public func addMeter(
        _ device: ModbusDeviceSettings, sign: SunSpecMeterSign, driver: RegisterMap? = nil,
        images: consuming TripleBufferWriter<GridImage>
    ) {
        devices.append(ModbusDevice(device, sign: sign, driver: driver, images: images))
    }

    /// Adds an I/O module; before the first step. Its coils are written each `poll`: its own watchdog is to
    /// open them when that ends.
    ///
    /// - Parameter writesSingly: the module does not know function 15; else that is found out.
    /// - Returns: what keeps us from talking to it at all.
    @discardableResult
    public func addModule(
        _ device: ModbusDeviceSettings, map: ModbusIOMap, writesSingly: Bool = false,
        actuations: consuming TripleBufferReader<Actuation>,
        images: consuming TripleBufferWriter<DigitalInputImage>
    ) -> ModbusHush {
        let module = ModbusDevice(device, map: map, actuations: actuations, images: images)
        module.coils.isOneByOne = writesSingly
        devices.append(module)
        return module.hush
    }

    func prepare() {
        isPrepared = true
        // A device's own time to answer is not known yet.
        let overhead = exchange.timing.map { ModbusBlocks.overhead($0, turnaround: .milliseconds(5)) }
        for (index, device) in devices.enumerated() {
            if let map = device.driver?.map, let overhead {
                device.driver = ModbusDriver(map, overhead: overhead)
            }
            device.timetable = ModbusTimetable(
                device.settings, device.role, hasDriver: device.driver != nil, grid: grid, index: index,
                deviceCount: devices.count,
                limit: exchange.timeout,
                leastGap: settings.endpoint.line?.requestGap ?? .zero)
            device.publishStatus()
        }
    }
}
