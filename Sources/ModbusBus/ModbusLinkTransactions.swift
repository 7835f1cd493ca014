import DeviceCodecs
import LinuxIO
import Quantities

/// What an exchange is for: its answer is taken by that, and what follows from it is asked next.
enum ModbusJob {
    /// A register that must stand before the first setpoint, by its place in the driver's list.
    case takeOver(Int, Int32)
    case activation(Int32)
    case enable(Int32)
    case setpoint(Int32)
    case heartbeat
    /// Whether contacts that we hold are still held, before they are written again.
    case coilLook(asked: UInt64)
    case coils(UInt64)
    /// One by one: what is to open goes first.
    case coil(UInt64, index: Int, isOn: Bool)
    case hushBegin, hushLook
    case inputs, coilCheck
    case scan, nameplate
    case scale(largest: Watts?)
    case measurement, dcVoltage, readBack, rating, identity
    case reactive
    case capReference, capLook, capDisable, capWrite
    /// A driver's block, by its place in the list.
    case fast(Int), slow(Int)
    /// A driver's registers beside what was written.
    case compareSetpoint(Int32)
    case compareTakeover(Int, Int32)
    case service(ModbusServiceWrite)
}

/// One exchange at a time, and the books that are kept on it.
extension ModbusConversation {
    var canTransact: Bool { isOpen }

    /// Begins an exchange with a device; `registers` and `bits` hold what is written. Does nothing where the
    /// line is closed.
    func ask(_ request: ModbusRequest, _ device: ModbusDevice, _ job: ModbusJob) {
        guard isOpen, let index = devices.firstIndex(where: { $0 === device }) else { return }
        precondition(self.job == nil)
        exchange.setTimeout(probeTimeout ?? device.timetable.pace.timeout)
        exchange.setGap(device.timetable.pace.gap)
        if !device.timetable.isTrusted { status.probeCount.add(1, ordering: .relaxed) }
        device.askedAt = now
        (asked, askedRequest, self.job) = (index, request, job)
        exchange.ask(
            request, unit: device.settings.unitID, registers: values(request), bits: levels(request),
            at: now)
    }

    private func values(_ request: ModbusRequest) -> UnsafeBufferPointer<UInt16> {
        switch request {
        case .writeRegisters(_, let count): UnsafeBufferPointer(rebasing: registers[0..<count])
        case .readCoils, .readDiscreteInputs, .readHoldingRegisters, .readInputRegisters, .writeCoil,
            .writeRegister, .writeCoils:
            UnsafeBufferPointer(rebasing: registers[0..<0])
        }
    }

    private func levels(_ request: ModbusRequest) -> UnsafeBufferPointer<UInt8> {
        switch request {
        case .writeCoils(_, let count): UnsafeBufferPointer(rebasing: bits[0..<count])
        case .readCoils, .readDiscreteInputs, .readHoldingRegisters, .readInputRegisters, .writeCoil,
            .writeRegister, .writeRegisters:
            UnsafeBufferPointer(rebasing: bits[0..<0])
        }
    }

    /// The exchange is over: books, and what follows.
    func take() {
        guard let job else { return }
        self.job = nil
        let (device, error) = (devices[asked], exchange.failure)
        book(device, error)
        if error == nil { unpack() }
        take(job, device, error)
        if self.job == nil { (probeTimeout, task) = (nil, nil) }
    }

    private func unpack() {
        switch askedRequest {
        case .readHoldingRegisters(_, let count), .readInputRegisters(_, let count):
            exchange.copy(to: UnsafeMutableBufferPointer(rebasing: registers[0..<count]))
        case .readCoils(_, let count), .readDiscreteInputs(_, let count):
            exchange.copy(bitsTo: UnsafeMutableBufferPointer(rebasing: bits[0..<count]))
        case .writeCoil, .writeRegister, .writeCoils, .writeRegisters: break
        }
    }

    /// The registers of the answer.
    var answer: UnsafeBufferPointer<UInt16> {
        switch askedRequest {
        case .readHoldingRegisters(_, let count), .readInputRegisters(_, let count):
            UnsafeBufferPointer(rebasing: registers[0..<count])
        case .readCoils, .readDiscreteInputs, .writeCoil, .writeRegister, .writeCoils, .writeRegisters:
            UnsafeBufferPointer(rebasing: registers[0..<0])
        }
    }

    /// - Parameter error: `nil` where the answer came.
    private func take(_ job: ModbusJob, _ device: ModbusDevice, _ error: ModbusError?) {
        switch job {
        case .takeOver(let index, let wanted): tookOver(device, index, wanted, error)
        case .activation(let wanted): activated(device, wanted, error)
        case .enable(let wanted): enabled(device, wanted, error)
        case .setpoint(let wanted): setpointWritten(device, wanted, error)
        case .heartbeat: heartBeaten(device, error)
        case .coilLook(let asked): coilsSeen(device, asked, error)
        case .coils(let wanted): coilsWritten(device, wanted, error)
        case .coil(let wanted, let index, let isOn): coilWritten(device, wanted, index, isOn, error)
        case .hushBegin: hushBegan(device, error)
        case .hushLook: hushEnded(device, error)
        case .inputs: inputsRead(device, error)
        case .coilCheck: coilsRead(device, error)
        case .scan: scanned(device, error)
        case .nameplate: nameplateRead(device, error)
        case .scale(let largest): scaleRead(device, largest, error)
        case .measurement: measured(device, error)
        case .dcVoltage: dcVoltageRead(device, error)
        case .readBack: readBack(device, error)
        case .rating: ratingRead(device, error)
        case .identity: identityRead(device, error)
        case .reactive: reactiveWritten(device, error)
        case .capReference: capReferenceRead(device, error)
        case .capLook: capSeen(device, error)
        case .capDisable: capDisabled(device, error)
        case .capWrite: capWritten(device, error)
        case .fast(let index): fastRead(device, index, error)
        case .slow(let index): slowRead(device, index, error)
        case .compareSetpoint(let written): setpointCompared(device, written, error)
        case .compareTakeover(let index, let written): takeoverCompared(device, index, written, error)
        case .service(let write): served(write, error)
        }
    }

    // MARK: Books

    private func book(_ device: ModbusDevice, _ error: ModbusError?) {
        beat()
        device.timetable.spent(now - device.askedAt, on: task, at: now)
        if let error {
            count(error)
            if error.endsSession {
                unanswered(device, error)
            } else {
                linkAnswered(device)
                if error.isAbsence {
                    deviceFailed(device, error, quiet: .zero)
                } else {
                    deviceAnswered(device)
                }
            }
        } else {
            linkAnswered(device)
            deviceAnswered(device)
        }
        device.publishStatus()
        noteStranger()
    }

    private func linkAnswered(_ device: ModbusDevice) {
        status.transactionCount.add(1, ordering: .relaxed)
        status.roundTrip.store((now - device.askedAt).nanoseconds, ordering: .relaxed)
        status.up.store(true, ordering: .relaxed)
        connectBackOff = .milliseconds(250)
        (answeredAt, missesInRow) = (now, 0)
        if isReportedUp != true { report(0, .linkUp) }
        isReportedUp = true
    }

    private func deviceAnswered(_ device: ModbusDevice) {
        if device.answered(in: exchange.turnaround) { report(device.settings.unitID, .deviceBack) }
    }

    private func deviceFailed(_ device: ModbusDevice, _ error: ModbusError, quiet: Duration) {
        if device.failed(at: now, quiet: quiet) { report(device.settings.unitID, .deviceSilent(error)) }
    }

    /// A unit that is counted silent has sent a whole frame after its time: the next wait is long enough
    /// for it.
    private func noteStranger() {
        if let unit = exchange.stranger {
            exchange.stranger = nil
            for device in devices where device.settings.unitID == unit && !device.timetable.isTrusted {
                device.timetable.pace.heardLate(after: now - device.askedAt)
            }
        }
        status.store(exchange.mismatches)
    }

    /// A late answer may still come, or nobody knows where the next one begins.
    ///
    /// A serial line goes on with the others: a late answer names its unit, and is skipped. The same
    /// device gets no request for one more time-out, since its late answer would be taken for the next
    /// one's. TCP numbers its answers; it is closed where nothing else is known to work over it, and where
    /// its bytes make no sense.
    private func unanswered(_ device: ModbusDevice, _ error: ModbusError) {
        missesInRow += 1
        if case .badAnswer(let mismatch) = error { tell(device, mismatch) }
        if error.forgetsDevice {
            close()
            for other in devices { other.suspend(at: now) }
            connectNotBefore = now + .milliseconds(250)
            reportDown(error)
            return deviceFailed(device, error, quiet: .zero)
        }
        device.forgetWritten()
        guard !exchange.isSerial else {
            // What was garbled has come: nothing of it is still to come.
            let isOver = error == .badAnswer(.checksum)
            return deviceFailed(device, error, quiet: isOver ? .zero : device.timetable.pace.timeout)
        }
        if devices.count == 1 || error != .timeout || missesInRow >= 3 {
            close()
            for other in devices { other.forgetWritten() }
            missesInRow = 0
            if devices.count == 1 { reportDown(error) }
        }
        deviceFailed(device, error, quiet: .zero)
    }

    /// Once for each kind, until the device has been silent and is back.
    private func tell(_ device: ModbusDevice, _ mismatch: ModbusMismatch) {
        let bit = UInt16(1) << UInt16(mismatch.rawValue)
        guard device.toldMismatches & bit == 0 else { return }
        device.toldMismatches |= bit
        report(device.settings.unitID, .answerRejected(mismatch))
    }
}
