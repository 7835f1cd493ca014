import DeviceCodecs
import LinuxIO
import Plant
import Quantities

/// Setpoints: what is written, and when.
extension ModbusConversation {
    private static let refusalPause = Duration.milliseconds(250)
    private static let zeroPause = Duration.milliseconds(40)
    /// No scale check comes sooner after another.
    private static let scaleInterval = Duration.milliseconds(100)

    /// What the device is to do now: a setpoint, or coils.
    func serve(_ device: ModbusDevice) {
        switch device.role {
        case .inverter: serveSetpoint(device)
        case .module(let map): serveCoils(device, map)
        case .meter: break
        }
    }

    /// Writes the device's setpoint where it changed, expired, or is to be refreshed.
    private func serveSetpoint(_ device: ModbusDevice) {
        guard now >= device.notBefore else { return }
        guard let control = device.control else { return tellZeroBlind(device) }
        if device.actuation.restsInverter(at: now) { return rest(device) }
        if device.isResting {
            device.isResting = false
            device.forgetWritten()
        }
        let wanted = encode(device.setpoint(at: now), control, device)
        switch obedience(device, control, wanted) {
        case .tell: break
        case .readBack: device.setDue(.readBack, now)
        case .leaveAlone: return
        case .over: device.forgetWritten()
        }
        guard isTakenNow(wanted, control) else { return }
        switch device.silence.order(isSame: control.written == wanted, writtenAt: control.writtenAt) {
        case .silent: return
        case .over: device.control?.written = nil
        case .none: break
        }
        if device.heartbeat != nil { owesHeartbeat = devices.firstIndex { $0 === device } }
        guard let written = device.control?.written else { return activate(device, control, wanted) }
        guard isWriteDue(device, control, written: written, wanted: wanted) else { return }
        guard wanted != encode(.zero, control, device), !isRefreshDue(control) else {
            return writeSetpoint(device, control, wanted)
        }
        guard !owesReading else {
            holdsWrite = true
            return
        }
        owesReading = isBehind
        writeSetpoint(device, control, wanted)
    }

    /// One that answers nobody may hear: where no power is wanted of it, it is told so before anything else
    /// is asked.
    private func tellZeroBlind(_ device: ModbusDevice) {
        guard let zero = device.blindZero, zero.isOwed, isOpen, !exchange.isSerial, !device.silence.isAsked,
            device.setpoint(at: now) == .zero, !device.actuation.restsInverter(at: now)
        else { return }
        device.blindZero?.tell()
        for index in 0..<zero.write.count { registers[index] = zero.write.value(index) }
        write(device, zero.write.address, count: zero.write.count, .blindZero)
    }

    func blindlyTold(_ device: ModbusDevice, _ error: ModbusError?) {
        if error == nil { device.blindZero?.isHeard() }
    }

    /// Each write would start its own timer anew; what stands in it is looked at all the same, since power
    /// that somebody else has asked for no timer of ours ends.
    private func rest(_ device: ModbusDevice) {
        guard !device.isResting else { return }
        device.isResting = true
        device.setDue(.readBack, now)
    }

    private func obedience(
        _ device: ModbusDevice, _ control: ModbusControlState, _ wanted: Int32
    ) -> ModbusObedience.Order {
        let isZero = control.encoding.decode(wanted) == .zero && control.written == wanted
        let power = device.inverterImage.activePower.fresh(
            at: now, within: max(device.settings.poll * 3, .seconds(1)))
        let timer = Duration.seconds(control.encoding.reversionSeconds)
        let endsByItself = control.encoding.reversion == .zero && timer > .zero
        return device.obedience?.order(
            standsAtZero: isZero, power: power, reversion: endsByItself ? timer : nil, at: now) ?? .tell
    }

    /// A device that refused a write gets a moment before it is asked again, but less power than it refused
    /// is told at once, and zero is repeated soon.
    private func isTakenNow(_ wanted: Int32, _ control: ModbusControlState) -> Bool {
        guard let (value, time) = control.refused else { return true }
        let (new, old) = (control.encoding.decode(wanted), control.encoding.decode(value))
        if new.magnitude < old.magnitude { return true }
        return now - time >= (new == .zero ? Self.zeroPause : Self.refusalPause)
    }

    /// Whether a value that a cycle waited for has not been read yet.
    private var isBehind: Bool {
        devices.contains { other in
            guard other.timetable.isTrusted, let value = other.timetable.nextValue else { return false }
            return max(value.due, other.notBefore) < now
        }
    }

    private func isRefreshDue(_ control: ModbusControlState) -> Bool {
        now - control.writtenAt >= .seconds(control.encoding.reversionSeconds) / 3
    }

    /// Zero, once, for a device that we drive.
    func writeZero(_ device: ModbusDevice) {
        guard let control = device.control else { return }
        writeSetpoint(device, control, encode(.zero, control, device))
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
        _ device: ModbusDevice, _ control: ModbusControlState, written: Int32, wanted: Int32
    ) -> Bool {
        if isRefreshDue(control) { return true }
        if wanted == written { return false }
        // Less power, or the other direction, is written at once; only a rise may be too small for a write.
        let (new, old) = (control.encoding.decode(wanted), control.encoding.decode(written))
        if new.magnitude < old.magnitude || (new < .zero) != (old < .zero) { return true }
        let change = (new - old).magnitude
        guard let rating = device.rating else { return true }
        return change > rating * 0.0005
    }

    /// What must stand first, the whole block, then the enable: from here on the device's own timer stands
    /// behind us.
    private func activate(_ device: ModbusDevice, _ control: ModbusControlState, _ wanted: Int32) {
        if case .register(let register) = control.encoding, !register.takeover.isEmpty {
            return takeOver(device, register, 0, wanted)
        }
        writeBlock(device, control, wanted)
    }

    private func writeBlock(_ device: ModbusDevice, _ control: ModbusControlState, _ wanted: Int32) {
        let block = UnsafeMutableBufferPointer(rebasing: registers[0..<10])
        let (offset, count) = control.encoding.activation(wanted, into: block)
        write(device, control.place.start &+ UInt16(offset), count: count, .activation(wanted))
    }

    /// The registers that must stand before the first setpoint, one after the other.
    private func takeOver(
        _ device: ModbusDevice, _ control: RegisterPowerControl, _ index: Int, _ wanted: Int32
    ) {
        let (register, bits) = control.takeover[index]
        (registers[0], registers[1]) = register.words(bits)
        write(device, register.address, count: register.type.size, .takeOver(index, wanted))
    }

    func tookOver(_ device: ModbusDevice, _ index: Int, _ wanted: Int32, _ error: ModbusError?) {
        guard let control = device.control, case .register(let register) = control.encoding,
            isTaken(device, wanted, error)
        else { return }
        if index + 1 < register.takeover.count { return takeOver(device, register, index + 1, wanted) }
        writeBlock(device, control, wanted)
    }

    func activated(_ device: ModbusDevice, _ wanted: Int32, _ error: ModbusError?) {
        guard let control = device.control, isTaken(device, wanted, error) else { return }
        guard let enable = control.encoding.enable else { return taken(device, control, wanted) }
        registers[0] = enable.value
        write(device, control.place.start &+ UInt16(enable.offset), count: 1, .enable(wanted))
    }

    func enabled(_ device: ModbusDevice, _ wanted: Int32, _ error: ModbusError?) {
        guard let control = device.control, isTaken(device, wanted, error) else { return }
        taken(device, control, wanted)
    }

    private func taken(_ device: ModbusDevice, _ control: ModbusControlState, _ wanted: Int32) {
        acknowledged(device, wanted)
        device.setDue(.readBack, now + readBackPause(device))
        let zero = zeroWrite(device, control)
        device.status.note(zero, device.powerPlaces)
        device.blindZero = ModbusBlindZero(write: zero)
        report(device.settings.unitID, .controlTaken(zero))
        checkScale(device, wanted)
    }

    /// What takes the device to zero when we are gone: the value alone, its enable and its timer stand.
    private func zeroWrite(_ device: ModbusDevice, _ control: ModbusControlState) -> ModbusZeroWrite {
        let words = control.encoding.words(encode(.zero, control, device))
        let count = control.encoding.setpointCount
        return ModbusZeroWrite(
            address: control.place.start &+ UInt16(control.encoding.setpointOffset),
            words: UInt64(words.0) | (count == 1 ? 0 : UInt64(words.1) << 16), count: count,
            isSingle: count == 1 && device.driver?.map.writesSingly == true)
    }

    private func writeSetpoint(_ device: ModbusDevice, _ control: ModbusControlState, _ wanted: Int32) {
        (registers[0], registers[1]) = control.encoding.words(wanted)
        let (offset, count) = (control.encoding.setpointOffset, control.encoding.setpointCount)
        write(device, control.place.start &+ UInt16(offset), count: count, .setpoint(wanted))
    }

    func setpointWritten(_ device: ModbusDevice, _ wanted: Int32, _ error: ModbusError?) {
        guard isTaken(device, wanted, error) else { return }
        acknowledged(device, wanted)
        if isAgain, exchange.isSerial, let control = device.control, let model = control.encoding.model {
            // The acknowledgement may be the first one's.
            return read(device, control.place, controlCount(of: device, model), .readBack)
        }
        checkScale(device, wanted)
    }

    private func acknowledged(_ device: ModbusDevice, _ value: Int32) {
        device.control?.written = value
        device.control?.writtenAt = now
        countWrite()
        // Of a repeated write the acknowledgement may be the first one's.
        if isAgain, exchange.isSerial { device.setDue(.readBack, now) }
    }

    /// One more acknowledged write, begun in the slot of `tick`.
    func countWrite() {
        status.writeCount.add(1, ordering: .relaxed)
        let delay = (now - tick).nanoseconds
        status.writeLatency.record(delay)
        if delay > status.writeDelay.load(ordering: .relaxed) {
            status.writeDelay.store(delay, ordering: .relaxed)
        }
    }

    /// Writes the first `count` registers of the buffer.
    func write(_ device: ModbusDevice, _ address: UInt16, count: Int, _ job: ModbusJob) {
        let isSingle = count == 1 && device.driver?.map.writesSingly == true
        ask(
            isSingle
                ? .writeRegister(at: address, value: registers[0])
                : .writeRegisters(at: address, count: count), device, job)
    }

    /// Of the exchange that is over.
    var exchangedAddress: UInt16 { askedRequest.address }

    /// Whether a write of the setpoint was acknowledged; where it was refused, it is written again as a
    /// whole.
    private func isTaken(_ device: ModbusDevice, _ wanted: Int32, _ error: ModbusError?) -> Bool {
        guard let error else {
            device.control?.refused = nil
            return true
        }
        guard case .exception(let code) = error else { return false }
        device.control?.written = nil
        device.control?.refused = (wanted, now)
        reportSeldom(device, \.nextExceptionReport, .exception(code: code, address: exchangedAddress))
        return false
    }

    // MARK: Scale

    /// After a write that lets power flow: whether our numbers still mean what they meant. A device whose
    /// power of ten has changed does what nobody asked for, until this or more power than was asked for shows
    /// it; on a slow line checks take a quarter of the time at most.
    private func checkScale(_ device: ModbusDevice, _ wanted: Int32) {
        guard let control = device.control, control.encoding.decode(wanted) != .zero else { return }
        let share = device.scaleCheckTime * (4 * devices.count)
        guard now - control.scaleSeenAt >= max(Self.scaleInterval, share) else { return }
        // Of a device whose answers take long the reading would be too old behind both.
        guard !isBehind else { return device.owesScaleCheck = true }
        askScale(device, control)
    }

    /// The check that has let a reading go first.
    private func checkOwedScale(_ device: ModbusDevice) {
        guard device.owesScaleCheck, job == nil, let control = device.control, control.written != nil else {
            return
        }
        askScale(device, control)
    }

    /// More power than was asked for may be the same number with another power of ten.
    func checkPower(_ device: ModbusDevice) {
        defer { checkOwedScale(device) }
        guard let control = device.control, let written = control.written, !device.silence.isAsked,
            let power = device.inverterImage.activePower.fresh(at: answerTime, within: .zero)
        else { return }
        let margin = max(Watts(500), (device.rating ?? .zero) * 0.05)
        guard power.magnitude > control.encoding.decode(written).magnitude + margin,
            now - control.scaleSeenAt >= Self.scaleInterval
        else { return }
        askScale(device, control)
    }

    private func askScale(_ device: ModbusDevice, _ control: ModbusControlState) {
        device.owesScaleCheck = false
        switch control.encoding {
        case .setpoint:
            let address = control.place.start &+ UInt16(SunSpecSetpointControl.scaleOffset)
            ask(.readHoldingRegisters(at: address, count: 1), device, .scaleCheck)
        case .storage:
            device.control?.scaleSeenAt = now
            let count = controlCount(of: device, control.encoding.model ?? .storage)
            read(device, control.place, count, .readBack)
        // The file says what its registers mean.
        case .register: break
        }
    }

    func scaleChecked(_ device: ModbusDevice, _ error: ModbusError?) {
        guard let control = device.control, case .setpoint(let setpoint) = control.encoding, error == nil
        else { return }
        device.scaleCheckTime = now - device.askedAt
        if SunSpecScale(register: answer[0]) == setpoint.scale {
            device.control?.scaleSeenAt = now
        } else {
            scaleChanged(device, control)
        }
    }

    /// What we wrote means something else now: zero, which means the same, and then everything is looked at
    /// anew.
    private func scaleChanged(_ device: ModbusDevice, _ control: ModbusControlState) {
        device.control?.written = nil
        report(device.settings.unitID, .mapChanged)
        (registers[0], registers[1]) = control.encoding.words(encode(.zero, control, device))
        let (offset, count) = (control.encoding.setpointOffset, control.encoding.setpointCount)
        write(device, control.place.start &+ UInt16(offset), count: count, .zeroBeforeScan)
    }

    // MARK: Read-back

    /// Compares what stands in the device with what we wrote.
    func checkReadBack(_ device: ModbusDevice, _ block: SunSpecBlock) {
        guard let control = device.control, let written = control.written, !device.silence.isAsked
        else { return }
        let isScaled = control.encoding.isScaled(block)
        if isScaled && control.encoding.isFollowed(block, setpoint: written) {
            device.control?.scaleSeenAt = now
            device.rival.stands(at: now)
            return
        }
        let isZero = control.encoding.found(in: block).map { control.encoding.decode($0) == .zero } ?? false
        // Its own timer has ended what we told it.
        if device.isLeftAlone, isScaled, isZero { return }
        status.overrideCount.add(1, ordering: .relaxed)
        device.control?.written = nil
        guard isScaled else { return scaleChanged(device, control) }
        device.control?.scaleSeenAt = now
        noteRival(device)
        let found = control.encoding.found(in: block) ?? 0
        let event = ModbusReport.Event.setpointOverridden(
            expected: control.encoding.decode(written), found: control.encoding.decode(found))
        reportSeldom(device, \.nextOverrideReport, event)
    }

    func noteRival(_ device: ModbusDevice) {
        guard device.rival.isFound(at: now) else { return }
        device.inverterImage.overriddenAt = now
        device.publish()
    }
}
