import LinuxIO
import Plant
import Quantities

/// I/O modules: coils are written, then read back; discrete inputs are read.
extension ModbusConversation {
    /// Modules are compared with what we wrote as often, and after each change.
    private static let readBackInterval = Duration.milliseconds(500)

    /// Writes the coils where they changed or expired, and again each poll: the module's own watchdog waits
    /// for it.
    func serveCoils(_ device: ModbusDevice, _ map: ModbusIOMap) {
        guard map.coilRange != nil else { return }
        switch device.hush.order(at: now) {
        case .none: repeatCoils(device, map)
        // While its watchdog is being tested the module hears nothing of us: no write and no request.
        case .quiet: return
        case .begin:
            guard device.timetable.isTrusted else {
                device.hush.failed()
                return repeatCoils(device, map)
            }
            readLevels(device, map, .hushBegin)
        case .look:
            // Before anything is written: what stands there now is the module's own doing.
            device.timetable.keepQuiet(until: now)
            readLevels(device, map, .hushLook)
        case .over:
            device.timetable.keepQuiet(until: now)
            device.coils.written = nil
            repeatCoils(device, map)
        }
    }

    func hushBegan(_ device: ModbusDevice, _ error: ModbusError?) {
        guard case .module(let map) = device.role else { return }
        if let found = levels(device, error) {
            device.timetable.keepQuiet(until: device.hush.began(with: found, at: now))
        } else {
            device.hush.failed()
            repeatCoils(device, map)
        }
    }

    func hushEnded(_ device: ModbusDevice, _ error: ModbusError?) {
        guard case .module(let map) = device.role else { return }
        if let found = levels(device, error) {
            device.hush.ended(with: found, at: now)
        } else {
            device.hush.failed()
        }
        device.coils.written = nil
        repeatCoils(device, map)
    }

    private func repeatCoils(_ device: ModbusDevice, _ map: ModbusIOMap) {
        guard now >= device.coils.notBefore, now >= device.notBefore else { return }
        // Nobody knows yet what they do: the module's own watchdog goes on.
        let actuation = device.actuation
        if actuation.leavesContactors { return }
        let asked = map.levels(actuation, at: now)
        if asked & map.contactorMask == 0 { device.coils.isHeldOff = false }
        let slack = Duration.nanoseconds(settings.period.nanoseconds / 2)
        let isDue = now - device.coils.writtenAt >= device.settings.poll - slack
        guard device.coils.written != wanted(device, map, asked) || isDue else { return }
        let isRepeated = device.coils.written.map { $0 == asked } ?? true
        let held = asked & device.coils.told & map.contactorMask
        if isRepeated && held != 0 && !device.coils.isHeldOff {
            return readLevels(device, map, .coilLook(asked: asked))
        }
        writeCoils(device, map, wanted(device, map, asked))
    }

    func coilsSeen(_ device: ModbusDevice, _ asked: UInt64, _ error: ModbusError?) {
        guard case .module(let map) = device.role, let found = levels(device, error) else { return }
        if asked & device.coils.told & map.contactorMask & ~found != 0 {
            droppedByItself(device, map, found)
        }
        writeCoils(device, map, wanted(device, map, asked))
    }

    private func wanted(_ device: ModbusDevice, _ map: ModbusIOMap, _ asked: UInt64) -> UInt64 {
        device.coils.isHeldOff ? asked & ~map.contactorMask : asked
    }

    /// Written again, the contactor would close on whatever the DC side has become meanwhile.
    private func droppedByItself(_ device: ModbusDevice, _ map: ModbusIOMap, _ found: UInt64) {
        device.coils.isHeldOff = true
        reportOverride(device, map, found)
    }

    private func reportOverride(_ device: ModbusDevice, _ map: ModbusIOMap, _ found: UInt64) {
        status.overrideCount.add(1, ordering: .relaxed)
        reportSeldom(
            device, \.nextOverrideReport,
            .coilsOverridden(
                first: map.coilRange?.lowerBound ?? 0, expected: device.coils.told, found: found))
    }

    /// Everything off, once, at our own end; but what is still to carry a current is left to the module's own
    /// watchdog, which outlasts the inverter's reversion.
    func openCoils(_ device: ModbusDevice, _ map: ModbusIOMap) {
        let actuation = device.actuation
        guard map.coilRange != nil, !actuation.leavesContactors else { return }
        if map.levels(actuation, at: now) == 0 { writeCoils(device, map, 0) }
    }

    private func writeCoils(_ device: ModbusDevice, _ map: ModbusIOMap, _ wanted: UInt64) {
        guard let range = map.coilRange else { return }
        if device.coils.isOneByOne { return writeNext(device, range, wanted, from: 0, isOn: false) }
        for index in 0..<range.count { bits[index] = UInt8(wanted >> UInt64(index) & 1) }
        ask(.writeCoils(at: range.lowerBound, count: range.count), device, .coils(wanted))
    }

    func coilsWritten(_ device: ModbusDevice, _ wanted: UInt64, _ error: ModbusError?) {
        switch error {
        case nil: told(device, wanted)
        case .exception(1):
            device.coils.isOneByOne = true
            report(device.settings.unitID, .coilsOneByOne)
        case let error?: coilsRefused(device, error, exchangedAddress)
        }
    }

    /// With function 5; what is to open comes first.
    private func writeNext(
        _ device: ModbusDevice, _ range: ClosedRange<UInt16>, _ wanted: UInt64, from first: Int, isOn: Bool
    ) {
        for index in first..<max(first, range.count) where (wanted >> UInt64(index) & 1 == 1) == isOn {
            let address = range.lowerBound + UInt16(index)
            return ask(
                .writeCoil(at: address, isOn: isOn), device, .coil(wanted, index: index, isOn: isOn))
        }
        if isOn { told(device, wanted) } else { writeNext(device, range, wanted, from: 0, isOn: true) }
    }

    func coilWritten(
        _ device: ModbusDevice, _ wanted: UInt64, _ index: Int, _ isOn: Bool, _ error: ModbusError?
    ) {
        guard case .module(let map) = device.role, let range = map.coilRange else { return }
        if let error { return coilsRefused(device, error, exchangedAddress) }
        writeNext(device, range, wanted, from: index + 1, isOn: isOn)
    }

    /// The coils stand as they were asked for.
    private func told(_ device: ModbusDevice, _ wanted: UInt64) {
        let hasChanged = device.coils.written != wanted
        device.coils.written = wanted
        device.coils.told = wanted
        device.coils.writtenAt = now
        if hasChanged { countWrite() }
        // Of a repeated write the acknowledgement may be the first one's.
        if hasChanged || (isAgain && exchange.isSerial) { device.setDue(.coils, now) }
    }

    private func coilsRefused(_ device: ModbusDevice, _ error: ModbusError, _ address: UInt16) {
        device.coils.written = nil
        guard case .exception(let code) = error else { return }
        device.coils.notBefore = now + .milliseconds(100)
        reportSeldom(device, \.nextExceptionReport, .exception(code: code, address: address))
    }

    // MARK: Reading

    func readInputs(_ device: ModbusDevice) {
        device.repeatTask(.inputs, every: device.settings.poll, at: now)
        guard case .module(let map) = device.role, let range = map.inputRange else {
            return device.setDue(.inputs, nil)
        }
        ask(.readDiscreteInputs(at: range.lowerBound, count: range.count), device, .inputs)
    }

    func inputsRead(_ device: ModbusDevice, _ error: ModbusError?) {
        guard case .module(let map) = device.role else { return }
        if let found = answeredBits(device, error) {
            map.decode(found, at: answerTime, into: &device.inputImage)
        } else {
            guard let error, let reason = reason(of: error, device), reason != .busy else { return }
            map.spoil(reason, at: now, in: &device.inputImage)
        }
        device.publish()
    }

    /// Why a device cannot be read; `nil` leaves it to the age of the last sample: one lost frame is no
    /// evidence.
    func reason(of error: ModbusError, _ device: ModbusDevice) -> ReadingFault? {
        switch error {
        case .exception(5), .exception(6): .busy
        // A gateway says that the device behind it does not answer.
        case .exception(10), .exception(11): nil
        case .exception: error.isRefusal ? .notImplemented : .deviceFault
        case .badAnswer: device.isSilent ? .implausible : nil
        case .timeout, .disconnected, .unusableAddress, .tooManyDescriptors, .system: nil
        }
    }

    /// Compares what stands in the module with what we wrote.
    func readCoils(_ device: ModbusDevice) {
        device.repeatTask(.coils, every: Self.readBackInterval, at: now)
        guard case .module(let map) = device.role, map.coilRange != nil else {
            return device.setDue(.coils, nil)
        }
        if device.coils.written != nil { readLevels(device, map, .coilCheck) }
    }

    func coilsRead(_ device: ModbusDevice, _ error: ModbusError?) {
        guard case .module(let map) = device.role, let written = device.coils.written,
            let found = levels(device, error), found != written
        else { return }
        device.coils.written = nil
        if written & ~found & map.contactorMask != 0 {
            droppedByItself(device, map, found)
        } else {
            reportOverride(device, map, found)
        }
    }

    private func readLevels(_ device: ModbusDevice, _ map: ModbusIOMap, _ job: ModbusJob) {
        guard let range = map.coilRange else { return }
        ask(.readCoils(at: range.lowerBound, count: range.count), device, job)
    }

    /// The levels that were read; bit 0 = the lowest coil.
    private func levels(_ device: ModbusDevice, _ error: ModbusError?) -> UInt64? {
        guard let answer = answeredBits(device, error) else { return nil }
        var found: UInt64 = 0
        for (index, bit) in answer.enumerated() where bit != 0 { found |= 1 << UInt64(index) }
        return found
    }

    private func answeredBits(_ device: ModbusDevice, _ error: ModbusError?) -> UnsafeBufferPointer<UInt8>? {
        if case .exception(let code)? = error {
            let event = ModbusReport.Event.exception(code: code, address: exchangedAddress)
            reportSeldom(device, \.nextExceptionReport, event)
        }
        guard error == nil else { return nil }
        switch askedRequest {
        case .readCoils(_, let count), .readDiscreteInputs(_, let count):
            return UnsafeBufferPointer(rebasing: bits[0..<count])
        case .readHoldingRegisters, .readInputRegisters, .writeCoil, .writeRegister, .writeCoils,
            .writeRegisters:
            return nil
        }
    }
}
