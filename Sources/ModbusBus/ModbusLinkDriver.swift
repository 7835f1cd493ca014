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
extension ModbusLinkOwner {
    private static let slowInterval = Duration.seconds(10)
    private static let readBackInterval = Duration.seconds(1)

    func perform(_ task: ModbusTask, _ device: ModbusDevice, _ driver: ModbusDriver) {
        switch task {
        case .scale: begin(device, driver)
        case .measurement: readFast(device, driver)
        case .rating: readSlow(device, driver)
        case .readBack: compare(device, driver)
        case .inputs, .coils, .scan, .dcVoltage, .identity, .reactive, .cap: device.setDue(task, nil)
        }
    }

    private func begin(_ device: ModbusDevice, _ driver: ModbusDriver) {
        let now = MonotonicTime.now()
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
        device.publishNotImplemented(at: MonotonicTime.now())
        device.forget(at: MonotonicTime.now() + .seconds(60))
    }

    // MARK: Reading

    private func readFast(_ device: ModbusDevice, _ driver: ModbusDriver) {
        let block = driver.fast.blocks[driver.fastCursor]
        let isLast = driver.fastCursor + 1 == driver.fast.blocks.count
        device.driver?.fastCursor = isLast ? 0 : driver.fastCursor + 1
        device.timetable.setParts(
            .measurement, isLast ? driver.fast.blocks.count : driver.fast.blocks.count - driver.fastCursor - 1
        )
        // The blocks of one round follow each other; the round keeps its own time.
        if isLast { device.repeatTask(.measurement, every: device.settings.poll, at: MonotonicTime.now()) }
        if take(block, device, driver), isLast { device.publish() }
    }

    private func readSlow(_ device: ModbusDevice, _ driver: ModbusDriver) {
        let block = driver.slow.blocks[driver.slowCursor]
        let isLast = driver.slowCursor + 1 == driver.slow.blocks.count
        device.driver?.slowCursor = isLast ? 0 : driver.slowCursor + 1
        if isLast { device.repeatTask(.rating, every: Self.slowInterval, at: MonotonicTime.now()) }
        _ = take(block, device, driver)
    }

    /// - Returns: whether the block was read.
    private func take(
        _ block: RegisterReads.Block, _ device: ModbusDevice, _ driver: ModbusDriver
    ) -> Bool {
        guard let (answer, time) = readTable(device, block.table, block.first, block.count) else {
            return false
        }
        switch device.role {
        case .inverter:
            driver.map.decode(block, answer, at: time, into: &device.inverterImage)
            device.rating = device.inverterImage.ratedPower.fresh(at: time, within: .seconds(60))
        case .meter: driver.map.decode(block, answer, at: time, into: &device.gridImage)
        case .module: return false
        }
        return true
    }

    private func readTable(
        _ device: ModbusDevice, _ table: RegisterMap.Table, _ address: UInt16, _ count: Int
    ) -> (UnsafeBufferPointer<UInt16>, MonotonicTime)? {
        let buffer = UnsafeMutableBufferPointer(rebasing: registers[0..<min(count, registers.count)])
        let result = transact(device) { client throws(ModbusError) in
            switch table {
            case .holding:
                try client.read(.holding, unit: device.settings.unitID, address: address, into: buffer)
            case .input: try client.read(.input, unit: device.settings.unitID, address: address, into: buffer)
            }
        }
        switch result {
        case .success(let time): return (UnsafeBufferPointer(buffer), time)
        case .failure(.exception(let code)):
            reportSeldom(device, \.nextExceptionReport, .exception(code: code, address: address))
            if code == 2, device.driver?.readsHoles == true {
                device.driver?.avoidHoles()
                device.timetable.setParts(.measurement, device.driver?.fast.blocks.count ?? 1)
            }
            return nil
        case .failure: return nil
        }
    }

    // MARK: Read-back

    /// What was written at takeover comes round one register at a time, the setpoint each time.
    private func compare(_ device: ModbusDevice, _ driver: ModbusDriver) {
        device.repeatTask(.readBack, every: Self.readBackInterval, at: MonotonicTime.now())
        guard let state = device.control, case .register(let control) = state.encoding,
            let written = state.written
        else { return }
        let bits = control.setpoint.words(UInt32(bitPattern: written))
        let takeover = control.takeover
        if !isFollowed(device, control.setpoint, bits) { return overridden(device, state, written) }
        guard !takeover.isEmpty, canTransact else { return }
        let (register, fixed) = takeover[driver.compared % takeover.count]
        device.driver?.compared = (driver.compared + 1) % takeover.count
        if !isFollowed(device, register, register.words(fixed)) { overridden(device, state, written) }
    }

    private func overridden(_ device: ModbusDevice, _ state: ModbusControlState, _ written: Int32) {
        status.overrideCount.add(1, ordering: .relaxed)
        device.control?.written = nil
        let expected = state.encoding.decode(written)
        reportSeldom(
            device, \.nextOverrideReport, .setpointOverridden(expected: expected, found: device.found))
    }

    /// A register that cannot be read is taken as it was written.
    private func isFollowed(
        _ device: ModbusDevice, _ register: RegisterDefinition, _ words: (UInt16, UInt16)
    ) -> Bool {
        guard register.table == .holding, register.isReadable,
            let (answer, _) = readTable(device, .holding, register.address, register.type.size)
        else { return true }
        if let bits = register.bits(answer, from: register.address), let value = register.value(bits) {
            device.found = Watts(decoded: value) ?? .zero
        }
        return answer[0] == words.0 && (register.type.size == 1 || answer[1] == words.1)
    }

    // MARK: Writing

    /// The registers that must stand before the first setpoint.
    func takeOver(_ device: ModbusDevice, _ control: RegisterPowerControl) -> Bool {
        for (register, bits) in control.takeover {
            (registers[0], registers[1]) = register.words(bits)
            guard write(device, register.address, count: register.type.size) else { return false }
        }
        return true
    }

    func beatHeart(_ device: ModbusDevice) {
        let now = MonotonicTime.now()
        guard var heartbeat = device.heartbeat, device.control?.written != nil, canTransact,
            now >= heartbeat.next
        else { return }
        heartbeat.count = heartbeat.isLong ? heartbeat.count &+ 1 : (heartbeat.count &+ 1) & 0xFFFF
        heartbeat.next = now + heartbeat.interval
        let (high, low) = (UInt16(heartbeat.count >> 16), UInt16(heartbeat.count & 0xFFFF))
        (registers[0], registers[1]) =
            heartbeat.isLong && !heartbeat.isLowWordFirst ? (high, low) : (low, high)
        let address = heartbeat.address
        let count = heartbeat.isLong ? 2 : 1
        let values = UnsafeBufferPointer(rebasing: registers[0..<count])
        let isSingle = count == 1 && device.driver?.map.writesSingly == true
        let result = transact(device) { client throws(ModbusError) in
            if isSingle {
                try client.writeRegister(unit: device.settings.unitID, address: address, values[0])
            } else {
                try client.write(unit: device.settings.unitID, address: address, values)
            }
        }
        device.heartbeat = heartbeat
        if case .failure(.exception(let code)) = result {
            // It is not offered after all.
            device.heartbeat = nil
            reportSeldom(device, \.nextExceptionReport, .exception(code: code, address: address))
        }
    }
}
