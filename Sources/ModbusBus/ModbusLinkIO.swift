import LinuxIO
import Plant
import Quantities

/// I/O modules: coils are written, then read back; discrete inputs are read.
extension ModbusLinkOwner {
    /// Modules are compared with what we wrote as often, and after each change.
    private static let readBackInterval = Duration.milliseconds(500)

    /// Writes the coils where they changed or expired, and again each poll: the module's own watchdog waits
    /// for it.
    func serveCoils(_ device: ModbusDevice, _ map: ModbusIOMap, tick: MonotonicTime) {
        let now = MonotonicTime.now()
        guard map.coilRange != nil, !isHushed(device, map, at: now), now >= device.coils.notBefore,
            now >= device.notBefore
        else { return }
        let asked = map.levels(device.actuation, at: now)
        if asked & map.contactorMask == 0 { device.coils.isHeldOff = false }
        let slack = Duration.nanoseconds(settings.period.nanoseconds / 2)
        let isDue = now - device.coils.writtenAt >= device.settings.poll - slack
        guard device.coils.written != wanted(device, map, asked) || isDue else { return }
        let isRepeated = device.coils.written.map { $0 == asked } ?? true
        let held = asked & device.coils.told & map.contactorMask
        if isRepeated && held != 0 && !device.coils.isHeldOff {
            guard let found = readLevels(device, map) else { return }
            if held & ~found != 0 { droppedByItself(device, map, found) }
        }
        writeCoils(device, map, wanted(device, map, asked), tick)
    }

    /// While its watchdog is being tested the module hears nothing of us: no write and no request.
    private func isHushed(_ device: ModbusDevice, _ map: ModbusIOMap, at now: MonotonicTime) -> Bool {
        switch device.hush.order(at: now) {
        case .none: return false
        case .quiet: return true
        case .begin:
            guard canTransact, device.timetable.isTrusted else {
                device.hush.failed()
                return false
            }
            guard let found = readLevels(device, map) else {
                device.hush.failed()
                return false
            }
            let until = device.hush.began(with: found, at: MonotonicTime.now())
            device.timetable.keepQuiet(until: until)
            return true
        case .look:
            // Before anything is written: what stands there now is the module's own doing.
            device.timetable.keepQuiet(until: now)
            if let found = readLevels(device, map) {
                device.hush.ended(with: found, at: MonotonicTime.now())
            } else {
                device.hush.failed()
            }
            device.coils.written = nil
            return false
        case .over:
            device.timetable.keepQuiet(until: now)
            device.coils.written = nil
            return false
        }
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

    /// Everything off, once, at our own end.
    func openCoils(_ device: ModbusDevice, _ map: ModbusIOMap) {
        if map.coilRange != nil { writeCoils(device, map, 0, MonotonicTime.now()) }
    }

    private func writeCoils(
        _ device: ModbusDevice, _ map: ModbusIOMap, _ wanted: UInt64, _ tick: MonotonicTime
    ) {
        guard let range = map.coilRange else { return }
        let hasChanged = device.coils.written != wanted
        let isWritten =
            device.coils.isOneByOne
            ? writeOneByOne(device, range, wanted) : writeAtOnce(device, range, wanted)
        guard isWritten else { return }
        let now = MonotonicTime.now()
        device.coils.written = wanted
        device.coils.told = wanted
        device.coils.writtenAt = now
        if hasChanged {
            countWrite(since: tick, at: now)
            device.setDue(.coils, now)
        }
    }

    private func writeAtOnce(
        _ device: ModbusDevice, _ range: ClosedRange<UInt16>, _ wanted: UInt64
    ) -> Bool {
        for index in 0..<range.count { bits[index] = UInt8(wanted >> UInt64(index) & 1) }
        let values = UnsafeBufferPointer(rebasing: bits[0..<range.count])
        let result = transact(device) { client throws(ModbusError) in
            try client.writeCoils(unit: device.settings.unitID, address: range.lowerBound, values)
        }
        switch result {
        case .success: return true
        case .failure(.exception(1)):
            device.coils.isOneByOne = true
            report(device.settings.unitID, .coilsOneByOne)
            return false
        case .failure(let error):
            coilsRefused(device, error, range.lowerBound)
            return false
        }
    }

    /// With function 5; what is to open comes first.
    private func writeOneByOne(
        _ device: ModbusDevice, _ range: ClosedRange<UInt16>, _ wanted: UInt64
    ) -> Bool {
        for isOn in [false, true] {
            for index in 0..<range.count where (wanted >> UInt64(index) & 1 == 1) == isOn {
                let address = range.lowerBound + UInt16(index)
                let result = transact(device) { client throws(ModbusError) in
                    try client.writeCoil(unit: device.settings.unitID, address: address, isOn: isOn)
                }
                if case .failure(let error) = result {
                    coilsRefused(device, error, address)
                    return false
                }
            }
        }
        return true
    }

    private func coilsRefused(_ device: ModbusDevice, _ error: ModbusError, _ address: UInt16) {
        device.coils.written = nil
        guard case .exception(let code) = error else { return }
        device.coils.notBefore = MonotonicTime.now() + .milliseconds(100)
        reportSeldom(device, \.nextExceptionReport, .exception(code: code, address: address))
    }

    // MARK: Reading

    func readInputs(_ device: ModbusDevice) {
        device.repeatTask(.inputs, every: device.settings.poll, at: MonotonicTime.now())
        guard case .module(let map) = device.role, let range = map.inputRange else {
            return device.setDue(.inputs, nil)
        }
        switch readBits(.discreteInputs, device, range) {
        case .success(let (answer, time)):
            map.decode(answer, at: time, into: &device.inputImage)
            device.publish()
        case .failure(let error):
            guard let reason = reason(of: error, device) else { return }
            map.spoil(reason, at: MonotonicTime.now(), in: &device.inputImage)
            device.publish()
        }
    }

    /// Why an input cannot be read; `nil` leaves it to the age of the last sample: one lost frame is no
    /// evidence.
    private func reason(of error: ModbusError, _ device: ModbusDevice) -> ReadingFault? {
        switch error {
        case .exception(5), .exception(6), .exception(10), .exception(11): nil
        case .exception: error.isRefusal ? .notImplemented : .deviceFault
        case .badAnswer: device.isSilent ? .implausible : nil
        case .timeout, .disconnected, .unusableAddress, .tooManyDescriptors, .system: nil
        }
    }

    /// Compares what stands in the module with what we wrote.
    func readCoils(_ device: ModbusDevice) {
        let now = MonotonicTime.now()
        device.repeatTask(.coils, every: Self.readBackInterval, at: now)
        guard case .module(let map) = device.role, map.coilRange != nil else {
            return device.setDue(.coils, nil)
        }
        guard let written = device.coils.written, let found = readLevels(device, map), found != written
        else { return }
        device.coils.written = nil
        if written & ~found & map.contactorMask != 0 {
            droppedByItself(device, map, found)
        } else {
            reportOverride(device, map, found)
        }
    }

    private func readLevels(_ device: ModbusDevice, _ map: ModbusIOMap) -> UInt64? {
        guard let range = map.coilRange, case .success(let (answer, _)) = readBits(.coils, device, range)
        else { return nil }
        var found: UInt64 = 0
        for (index, bit) in answer.enumerated() where bit != 0 { found |= 1 << UInt64(index) }
        return found
    }

    private func readBits(
        _ table: ModbusBitTable, _ device: ModbusDevice, _ range: ClosedRange<UInt16>
    ) -> Result<(UnsafeBufferPointer<UInt8>, MonotonicTime), ModbusError> {
        let buffer = UnsafeMutableBufferPointer(rebasing: bits[0..<range.count])
        let result = transact(device) { client throws(ModbusError) in
            try client.read(table, unit: device.settings.unitID, address: range.lowerBound, into: buffer)
        }
        switch result {
        case .success(let time): return .success((UnsafeBufferPointer(buffer), time))
        case .failure(let error):
            if case .exception(let code) = error {
                let event = ModbusReport.Event.exception(code: code, address: range.lowerBound)
                reportSeldom(device, \.nextExceptionReport, event)
            }
            return .failure(error)
        }
    }
}
