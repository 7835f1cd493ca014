import DeviceCodecs
import LinuxIO
import Plant
import Quantities

/// A device by its driver file: what is read when.
struct ModbusDriver {
    let map: RegisterMap
    private(set) var fast: RegisterReads
    private(set) var slow: RegisterReads
    /// Holes between registers are read where that costs less.
    private(set) var readsHoles = true
    /// The next block of each.
    var fastCursor = 0
    var slowCursor = 0
    /// Of the registers that were written at takeover, the next one to compare.
    var compared = 0

    /// - Parameter overhead: what one more request costs on the link, in bytes of bus time.
    init(_ map: RegisterMap, overhead: Int = ModbusBlocks.overheadOnTCP) {
        self.map = map
        fast = RegisterReads(map, .fast, overhead: overhead)
        slow = RegisterReads(map, .slow, overhead: overhead)
    }

    /// The device refuses registers that it does not have: from now on only its own are read.
    mutating func avoidHoles() {
        self = ModbusDriver(map, overhead: 1)
        readsHoles = false
    }
}

/// Counted up for a device that wants to see its controller alive.
struct ModbusHeartbeat {
    let address: UInt16
    let isLong: Bool
    let isLowWordFirst: Bool
    let interval: Duration
    var count: UInt32 = 0
    var next = MonotonicTime(nanoseconds: 0)
}

/// Devices without SunSpec: one block of registers at a time, so that a setpoint waits for no more.
extension ModbusConversation {
    private static let slowInterval = Duration.seconds(10)

    func perform(_ task: ModbusTask, _ device: ModbusDevice, _ driver: ModbusDriver) {
        switch task {
        case .scale: begin(device, driver)
        case .measurement: readFast(device, driver)
        case .rating: readSlow(device, driver)
        case .readBack: compare(device)
        case .inputs, .coils, .scan, .dcVoltage, .identity, .reactive, .cap: device.setDue(task, nil)
        }
    }

    private func begin(_ device: ModbusDevice, _ driver: ModbusDriver) {
        device.setDue(.scale, nil)
        device.setDue(.measurement, driver.fast.blocks.isEmpty ? nil : now)
        device.timetable.setParts(.measurement, driver.fast.blocks.count)
        device.setDue(.rating, driver.slow.blocks.isEmpty ? nil : now)
        guard case .inverter(let reversion, _, let accepts) = device.role else { return }
        // A time that the device cannot be told leaves it without its dead-man timer: then it is not driven.
        let control = try? RegisterPowerControl(driver.map, reversion: reversion)
        guard let control else { return notDriven(device, .notControllable) }
        if control.reversion != .zero && !accepts {
            return notDriven(device, .reversionUnproven(control.reversion))
        }
        device.control = ModbusControlState(
            place: SunSpecModelPlace(id: 0, start: 0, length: 0), encoding: .register(control))
        device.heartbeat = control.heartbeat.map {
            ModbusHeartbeat(
                address: $0.register.address, isLong: $0.register.type.size == 2,
                isLowWordFirst: $0.register.isLowWordFirst, interval: $0.interval)
        }
    }

    private func notDriven(_ device: ModbusDevice, _ event: ModbusReport.Event) {
        report(device.settings.unitID, event)
        device.publishNotImplemented(at: now)
        device.forget(at: now + .seconds(60))
    }

    // MARK: Reading

    private func readFast(_ device: ModbusDevice, _ driver: ModbusDriver) {
        let index = driver.fastCursor
        let isLast = index + 1 == driver.fast.blocks.count
        device.driver?.fastCursor = isLast ? 0 : index + 1
        device.timetable.setParts(
            .measurement, isLast ? driver.fast.blocks.count : driver.fast.blocks.count - index - 1)
        // The blocks of one round follow each other; the round keeps its own time.
        if isLast { device.repeatTask(.measurement, every: device.settings.poll, at: now) }
        read(driver.fast.blocks[index], device, .fast(index))
    }

    private func readSlow(_ device: ModbusDevice, _ driver: ModbusDriver) {
        let index = driver.slowCursor
        let isLast = index + 1 == driver.slow.blocks.count
        device.driver?.slowCursor = isLast ? 0 : index + 1
        if isLast { device.repeatTask(.rating, every: Self.slowInterval, at: now) }
        read(driver.slow.blocks[index], device, .slow(index))
    }

    private func read(_ block: RegisterReads.Block, _ device: ModbusDevice, _ job: ModbusJob) {
        ask(request(block.table, block.first, block.count), device, job)
    }

    private func request(_ table: RegisterMap.Table, _ address: UInt16, _ count: Int) -> ModbusRequest {
        let count = min(count, registers.count)
        return switch table {
        case .holding: .readHoldingRegisters(at: address, count: count)
        case .input: .readInputRegisters(at: address, count: count)
        }
    }

    func fastRead(_ device: ModbusDevice, _ index: Int, _ error: ModbusError?) {
        guard let blocks = device.driver?.fast.blocks, isRead(device, error) else {
            // What is asked for again is the same block.
            if error == .timeout { device.driver?.fastCursor = index }
            return
        }
        if take(blocks[index], device), index + 1 == blocks.count { device.publish() }
    }

    func slowRead(_ device: ModbusDevice, _ index: Int, _ error: ModbusError?) {
        guard let blocks = device.driver?.slow.blocks, isRead(device, error) else { return }
        _ = take(blocks[index], device)
    }

    private func take(_ block: RegisterReads.Block, _ device: ModbusDevice) -> Bool {
        guard let map = device.driver?.map else { return false }
        let (answer, time) = (answer, answerTime)
        switch device.role {
        case .inverter:
            map.decode(block, answer, at: time, into: &device.inverterImage)
            device.rating = device.inverterImage.ratedPower.fresh(at: time, within: .seconds(60))
        case .meter: map.decode(block, answer, at: time, into: &device.gridImage)
        case .module: return false
        }
        return true
    }

    private func isRead(_ device: ModbusDevice, _ error: ModbusError?) -> Bool {
        guard case .exception(let code)? = error else { return error == nil }
        reportSeldom(
            device, \.nextExceptionReport, .exception(code: code, address: exchangedAddress))
        if code == 2, device.driver?.readsHoles == true {
            device.driver?.avoidHoles()
            device.timetable.setParts(.measurement, device.driver?.fast.blocks.count ?? 1)
        }
        return false
    }

    // MARK: Read-back

    /// What was written at takeover comes round one register at a time, the setpoint each time.
    private func compare(_ device: ModbusDevice) {
        device.repeatTask(.readBack, every: device.rival.pause(at: now), at: now)
        guard let state = device.control, case .register(let control) = state.encoding,
            let written = state.written
        else { return }
        if !look(device, control.setpoint, .compareSetpoint(written)) {
            compareTakeover(device, control, written)
        }
    }

    func setpointCompared(_ device: ModbusDevice, _ written: Int32, _ error: ModbusError?) {
        guard let state = device.control, case .register(let control) = state.encoding else { return }
        let words = control.setpoint.words(UInt32(bitPattern: written))
        guard isFollowed(device, control.setpoint, words, error) else {
            if device.isLeftAlone, device.found == .zero { return }
            noteRival(device)
            return overridden(device, state, written)
        }
        device.rival.stands(at: now)
        compareTakeover(device, control, written)
    }

    private func compareTakeover(
        _ device: ModbusDevice, _ control: RegisterPowerControl, _ written: Int32
    ) {
        let takeover = control.takeover
        guard !takeover.isEmpty, let driver = device.driver, !device.isLeftAlone
        else { return }
        let index = driver.compared % takeover.count
        device.driver?.compared = (index + 1) % takeover.count
        _ = look(device, takeover[index].register, .compareTakeover(index, written))
    }

    func takeoverCompared(
        _ device: ModbusDevice, _ index: Int, _ written: Int32, _ error: ModbusError?
    ) {
        guard let state = device.control, case .register(let control) = state.encoding else { return }
        let (register, fixed) = control.takeover[index]
        if !isFollowed(device, register, register.words(fixed), error) {
            overridden(device, state, written)
        }
    }

    private func overridden(_ device: ModbusDevice, _ state: ModbusControlState, _ written: Int32) {
        status.overrideCount.add(1, ordering: .relaxed)
        device.control?.written = nil
        let expected = state.encoding.decode(written)
        reportSeldom(
            device, \.nextOverrideReport, .setpointOverridden(expected: expected, found: device.found))
    }

    /// - Returns: whether it was asked for; a register that cannot be read is taken as it was written.
    private func look(_ device: ModbusDevice, _ register: RegisterDefinition, _ job: ModbusJob) -> Bool {
        guard register.table == .holding, register.isReadable else { return false }
        ask(request(.holding, register.address, register.type.size), device, job)
        return true
    }

    private func isFollowed(
        _ device: ModbusDevice, _ register: RegisterDefinition, _ words: (UInt16, UInt16),
        _ error: ModbusError?
    ) -> Bool {
        guard isRead(device, error) else { return true }
        let answer = answer
        if let bits = register.bits(answer, from: register.address), let value = register.value(bits) {
            device.found = Watts(decoded: value) ?? .zero
        }
        return answer[0] == words.0 && (register.type.size == 1 || answer[1] == words.1)
    }

    // MARK: Heartbeat

    func beatHeart(_ device: ModbusDevice) {
        guard var heartbeat = device.heartbeat, device.control?.written != nil, !device.isLeftAlone,
            now >= heartbeat.next
        else { return }
        heartbeat.count = heartbeat.isLong ? heartbeat.count &+ 1 : (heartbeat.count &+ 1) & 0xFFFF
        heartbeat.next = now + heartbeat.interval
        let (high, low) = (UInt16(heartbeat.count >> 16), UInt16(heartbeat.count & 0xFFFF))
        (registers[0], registers[1]) =
            heartbeat.isLong && !heartbeat.isLowWordFirst ? (high, low) : (low, high)
        device.heartbeat = heartbeat
        write(device, heartbeat.address, count: heartbeat.isLong ? 2 : 1, .heartbeat)
    }

    func heartBeaten(_ device: ModbusDevice, _ error: ModbusError?) {
        guard case .exception(let code)? = error else { return }
        // It is not offered after all.
        device.heartbeat = nil
        reportSeldom(
            device, \.nextExceptionReport, .exception(code: code, address: exchangedAddress))
    }
}
