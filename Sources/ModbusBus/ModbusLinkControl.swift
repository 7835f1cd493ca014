import DeviceCodecs
import LinuxIO
import Plant
import Quantities

/// Setpoints: what is written, and when.
extension ModbusLinkOwner {
    /// What the device is to do now: a setpoint, or coils.
    func serve(_ device: ModbusDevice, tick: MonotonicTime) {
        switch device.role {
        case .inverter: serveSetpoint(device, tick: tick)
        case .module(let map): serveCoils(device, map, tick: tick)
        case .meter: break
        }
    }

    /// Writes the device's setpoint where it changed, expired, or is to be refreshed.
    private func serveSetpoint(_ device: ModbusDevice, tick: MonotonicTime) {
        let now = MonotonicTime.now()
        guard let control = device.control, now >= control.notBefore, now >= device.notBefore else { return }
        let wanted = encode(device.setpoint(at: now), control, device)
        switch device.silence.order(isSame: control.written == wanted, writtenAt: control.writtenAt) {
        case .silent: return
        case .over: device.control?.written = nil
        case .none: break
        }
        defer { beatHeart(device) }
        guard let written = device.control?.written else {
            activate(device, control, wanted, tick)
            return
        }
        guard isWriteDue(device, control, written: written, wanted: wanted, at: now) else { return }
        guard wanted != encode(.zero, control, device), !isRefreshDue(control, at: now) else {
            return writeSetpoint(device, control, wanted, tick)
        }
        guard !owesReading else {
            holdsWrite = true
            return
        }
        owesReading = isBehind(at: now)
        writeSetpoint(device, control, wanted, tick)
    }

    /// Whether a value that a cycle waited for has not been read yet.
    private func isBehind(at now: MonotonicTime) -> Bool {
        devices.contains { other in
            guard other.timetable.isTrusted, let value = other.timetable.nextValue else { return false }
            return max(value.due, other.notBefore) < now
        }
    }

    private func isRefreshDue(_ control: ModbusControlState, at now: MonotonicTime) -> Bool {
        now - control.writtenAt >= .seconds(control.encoding.reversionSeconds) / 3
    }

    /// Zero, once, for a device that we drive.
    func writeZero(_ device: ModbusDevice) {
        guard let control = device.control else { return }
        writeSetpoint(device, control, encode(.zero, control, device), MonotonicTime.now())
    }

    private func encode(_ power: Watts, _ control: ModbusControlState, _ device: ModbusDevice) -> Int32 {
        do throws(SunSpecEncodingError) {
            return try control.encoding.encode(power)
        } catch {
            reportSeldom(device, \.nextRefusalReport, .setpointRefused(power))
            // A control that cannot say zero is never made.
            return (try? control.encoding.encode(.zero)) ?? 0
        }
    }

    private func isWriteDue(
        _ device: ModbusDevice, _ control: ModbusControlState, written: Int32, wanted: Int32,
        at now: MonotonicTime
    ) -> Bool {
        if isRefreshDue(control, at: now) { return true }
        if wanted == written { return false }
        // Less power, or the other direction, is written at once; only a rise may be too small for a write.
        let (new, old) = (control.encoding.decode(wanted), control.encoding.decode(written))
        if new.magnitude < old.magnitude || (new < .zero) != (old < .zero) { return true }
        let change = (new - old).magnitude
        guard let rating = device.rating else { return true }
        return change > rating * 0.0005
    }

    /// The whole block, then the enable: from here on the device's own timer stands behind us.
    private func activate(
        _ device: ModbusDevice, _ control: ModbusControlState, _ wanted: Int32, _ tick: MonotonicTime
    ) {
        if case .register(let register) = control.encoding, !takeOver(device, register) { return }
        let block = UnsafeMutableBufferPointer(rebasing: registers[0..<10])
        let (offset, count) = control.encoding.activation(wanted, into: block)
        guard write(device, control, offset, count: count) else { return }
        if let enable = control.encoding.enable {
            registers[0] = enable.value
            guard write(device, control, enable.offset, count: 1) else { return }
        }
        acknowledged(device, wanted, tick)
        device.setDue(.readBack, MonotonicTime.now() + .seconds(1))
        report(device.settings.unitID, .controlTaken(zeroWrite(device, control)))
    }

    /// What takes the device to zero when we are gone: the value alone, its enable and its timer stand.
    private func zeroWrite(_ device: ModbusDevice, _ control: ModbusControlState) -> ModbusZeroWrite {
        let words = control.encoding.words(encode(.zero, control, device))
        let count = control.encoding.setpointCount
        return ModbusZeroWrite(
            address: control.place.start &+ UInt16(control.encoding.setpointOffset),
            values: count == 1 ? [words.0] : [words.0, words.1],
            isSingle: count == 1 && device.driver?.map.writesSingly == true)
    }

    private func writeSetpoint(
        _ device: ModbusDevice, _ control: ModbusControlState, _ wanted: Int32, _ tick: MonotonicTime
    ) {
        (registers[0], registers[1]) = control.encoding.words(wanted)
        let (offset, count) = (control.encoding.setpointOffset, control.encoding.setpointCount)
        guard write(device, control, offset, count: count) else { return }
        acknowledged(device, wanted, tick)
    }

    private func acknowledged(_ device: ModbusDevice, _ value: Int32, _ tick: MonotonicTime) {
        let now = MonotonicTime.now()
        device.control?.written = value
        device.control?.writtenAt = now
        countWrite(since: tick, at: now)
    }

    /// One more acknowledged write, begun in the slot of `tick`.
    func countWrite(since tick: MonotonicTime, at now: MonotonicTime) {
        status.writeCount.add(1, ordering: .relaxed)
        let delay = (now - tick).nanoseconds
        status.writeLatency.record(delay)
        if delay > status.writeDelay.load(ordering: .relaxed) {
            status.writeDelay.store(delay, ordering: .relaxed)
        }
    }

    /// Writes the first `count` registers of the buffer at an offset of the control's model.
    private func write(
        _ device: ModbusDevice, _ control: ModbusControlState, _ offset: Int, count: Int
    ) -> Bool {
        write(device, control.place.start &+ UInt16(offset), count: count)
    }

    /// Writes the first `count` registers of the buffer.
    func write(_ device: ModbusDevice, _ address: UInt16, count: Int) -> Bool {
        let values = UnsafeBufferPointer(rebasing: registers[0..<count])
        let isSingle = count == 1 && device.driver?.map.writesSingly == true
        let result = transact(device) { client throws(ModbusError) in
            if isSingle {
                try client.writeRegister(unit: device.settings.unitID, address: address, values[0])
            } else {
                try client.write(unit: device.settings.unitID, address: address, values)
            }
        }
        switch result {
        case .success: return true
        case .failure(let error):
            refused(device, error, address)
            return false
        }
    }

    /// The value is written again as a whole, but not at once: a busy device needs a moment.
    private func refused(_ device: ModbusDevice, _ error: ModbusError, _ address: UInt16) {
        guard case .exception(let code) = error else { return }
        device.control?.written = nil
        device.control?.notBefore = MonotonicTime.now() + .milliseconds(250)
        reportSeldom(device, \.nextExceptionReport, .exception(code: code, address: address))
    }

    // MARK: Read-back

    /// Compares what stands in the device with what we wrote.
    func checkReadBack(_ device: ModbusDevice, _ block: SunSpecBlock) {
        guard let control = device.control, let written = control.written, !device.silence.isAsked
        else { return }
        let isScaled = control.encoding.isScaled(block)
        if isScaled && control.encoding.isFollowed(block, setpoint: written) { return }
        status.overrideCount.add(1, ordering: .relaxed)
        device.control?.written = nil
        guard isScaled else {
            // The power of ten has changed: what we wrote means something else now.
            device.forget(at: MonotonicTime.now())
            return report(device.settings.unitID, .mapChanged)
        }
        let found = control.encoding.found(in: block) ?? 0
        let event = ModbusReport.Event.setpointOverridden(
            expected: control.encoding.decode(written), found: control.encoding.decode(found))
        reportSeldom(device, \.nextOverrideReport, event)
    }
}
