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
    /// Whether our numbers still mean what they meant.
    case scaleCheck
    /// They do not: zero means zero whatever the power of ten.
    case zeroBeforeScan
    /// It answers nobody, and no power is wanted of it.
    case blindZero
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

    /// A value that the cycle waits for, or what a device is to do: it is repeated while its first answer may
    /// still come.
    var isUrgent: Bool {
        switch self {
        case .setpoint, .coils, .inputs, .measurement, .dcVoltage, .fast: true
        case .takeOver, .activation, .enable, .heartbeat, .scaleCheck, .zeroBeforeScan, .blindZero, .coilLook,
            .coil,
            .hushBegin, .hushLook, .coilCheck, .scan, .nameplate, .scale, .readBack, .rating, .identity,
            .reactive, .capReference, .capLook, .capDisable, .capWrite, .slow, .compareSetpoint,
            .compareTakeover, .service:
            false
        }
    }

    /// A look from time to time, which nothing waits for: it may be put off.
    var canBePutOff: Bool {
        switch self {
        case .readBack, .rating, .slow, .coilCheck: true
        case .setpoint, .coils, .inputs, .measurement, .dcVoltage, .fast, .takeOver, .activation, .enable,
            .heartbeat, .scaleCheck, .zeroBeforeScan, .blindZero, .coilLook, .coil, .hushBegin, .hushLook,
            .scan,
            .nameplate, .scale, .identity, .reactive, .capReference, .capLook, .capDisable, .capWrite,
            .compareSetpoint, .compareTakeover, .service:
            false
        }
    }
}

/// One exchange at a time, and the books that are kept on it.
extension ModbusConversation {
    var canTransact: Bool { isOpen }

    /// Begins an exchange with a device; `registers` and `bits` hold what is written. Does nothing where the
    /// line is closed.
    func ask(_ request: ModbusRequest, _ device: ModbusDevice, _ job: ModbusJob) {
        guard isOpen, let index = devices.firstIndex(where: { $0 === device }) else { return }
        precondition(self.job == nil)
        if let late = device.late, now >= late.until { device.late = nil }
        let late = device.late
        let isShared = late.map { $0.request.sharesAnswers(with: request) } ?? false
        // A write says something new each time, and is acknowledged in the same words.
        isAgain = isShared && (late?.request == request || !request.isRead)
        setWait(device, job)
        exchange.setGap(device.timetable.pace.gap)
        if !device.timetable.isTrusted { status.probeCount.add(1, ordering: .relaxed) }
        device.askedAt = now
        (asked, askedRequest, self.job) = (index, request, job)
        exchange.ask(
            request, unit: device.settings.unitID, registers: values(request), bits: levels(request),
            notBefore: exchange.isSerial && isShared && !isAgain ? late?.until : nil,
            earlier: isAgain && request.isRead ? late?.transaction : nil, at: now)
    }

    /// Over a serial line the configured time-out; over TCP, where an answer names its request, what is
    /// urgent is repeated before that, once, and what can be put off does not keep the next value waiting.
    private func setWait(_ device: ModbusDevice, _ job: ModbusJob) {
        let pace = device.timetable.pace
        isPutOff = false
        if let room = room(for: job, device) {
            (isPutOff, isSoft) = (true, false)
            return exchange.setTimeout(room)
        }
        isSoft = !exchange.isSerial && job.isUrgent && device.timetable.isTrusted && probeTimeout == nil
        guard isSoft else { return exchange.setTimeout(probeTimeout ?? pace.timeout) }
        guard let since = device.unansweredSince else {
            return exchange.setTimeout(pace.repeatTime(poll: device.settings.poll))
        }
        exchange.setTimeout(max(ModbusPace.shortestRepeat, since + pace.timeout - now))
    }

    /// How long an answer that can be put off is waited for: until the next value must be asked for, where it
    /// was begun because it fits before that. `nil` = as long as the time-out.
    private func room(for job: ModbusJob, _ device: ModbusDevice) -> Duration? {
        guard !exchange.isSerial, job.canBePutOff, device.timetable.isTrusted, probeTimeout == nil, let task,
            let next = devices.lazy.map(\.timetable).compactMap(Self.start).min()
        else { return nil }
        let room = max(next - now, ModbusPace.shortestRepeat)
        return device.timetable.need(task) <= room && room < device.timetable.pace.timeout ? room : nil
    }

    /// When a device's next value must be asked for.
    private static func start(_ timetable: ModbusTimetable) -> MonotonicTime? {
        guard timetable.isTrusted, let value = timetable.nextValue else { return nil }
        return value.due - timetable.need(value.task)
    }

    /// The instant that the values of the answer are as old as, at most: just before the request, or before
    /// the first one where it may be that one's answer.
    var readingTime: MonotonicTime {
        let device = devices[asked]
        guard isAgain, let late = device.late else { return device.askedAt }
        return exchange.isSerial || exchange.isEarlier ? late.asked : device.askedAt
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
        answerTime = readingTime
        book(device, job, error)
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
        case .scaleCheck: scaleChecked(device, error)
        case .zeroBeforeScan: device.forget(at: now)
        case .blindZero: blindlyTold(device, error)
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

    private func book(_ device: ModbusDevice, _ job: ModbusJob, _ error: ModbusError?) {
        beat()
        // What was not answered says nothing of what an answer costs.
        device.timetable.spent(now - device.askedAt, on: error == nil ? task : nil, at: now)
        if error == .timeout, isPutOff {
            // It has heard the question; next time it gets the room that it may need.
            if let task { device.timetable.putOff(task) }
            status.putOffCount.add(1, ordering: .relaxed)
            return
        }
        if error == .timeout, isRepeated(device, job) { return }
        device.unansweredSince = nil
        if let error {
            count(error)
            if error.endsSession {
                unanswered(device, job, error)
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

    /// Whether a request that was not answered is repeated before its time is over.
    private func isRepeated(_ device: ModbusDevice, _ job: ModbusJob) -> Bool {
        let since = device.unansweredSince ?? device.askedAt
        guard isSoft, now < since + device.timetable.pace.timeout else { return false }
        device.unansweredSince = since
        device.late = ModbusLate(
            request: askedRequest, transaction: exchange.transaction, asked: device.askedAt,
            until: since + device.timetable.pace.timeout)
        status.repeatCount.add(1, ordering: .relaxed)
        askAgain(device, job)
        return true
    }

    /// What did not come is asked for again; what may not have been heard is said again, as it is wanted
    /// then.
    private func askAgain(_ device: ModbusDevice, _ job: ModbusJob) {
        if let task, task.isValue { return device.timetable.repeatAtOnce(task, at: now) }
        guard job.isUrgent else { return }
        device.forgetWritten()
        woken(at: now)
    }

    private func linkAnswered(_ device: ModbusDevice) {
        status.transactionCount.add(1, ordering: .relaxed)
        status.roundTrip.store((now - device.askedAt).nanoseconds, ordering: .relaxed)
        status.up.store(true, ordering: .relaxed)
        connectBackOff = .milliseconds(250)
        (answeredAt, missesInRow) = (now, 0)
        steadiness.answered(at: now)
        reportUp()
    }

    private func deviceAnswered(_ device: ModbusDevice) {
        let took = exchange.isEarlier ? now - readingTime : exchange.turnaround
        if device.answered(in: took) { report(device.settings.unitID, .deviceBack) }
        if case .inverter = device.role {
            device.inverterImage.answeredAt = now
            device.publish()
        }
        guard isAgain, let late = device.late else { return }
        guard exchange.isSerial else {
            device.late = nil
            return
        }
        // One of two answers has come.
        device.late = ModbusLate(
            request: askedRequest, transaction: 0, asked: device.askedAt,
            until: late.isHalf ? late.until : device.askedAt + device.timetable.pace.timeout, isHalf: true)
    }

    private func deviceFailed(_ device: ModbusDevice, _ error: ModbusError, quiet: Duration) {
        if device.failed(at: now, quiet: quiet) { report(device.settings.unitID, .deviceSilent(error)) }
    }

    /// A unit has sent a whole frame after its time: the next wait is long enough for it.
    private func noteStranger() {
        if let unit = exchange.stranger {
            exchange.stranger = nil
            for device in devices
            where device.settings.unitID == unit && (!device.timetable.isTrusted || !exchange.isSerial) {
                device.timetable.pace.heardLate(after: now - device.askedAt)
            }
        }
        status.store(exchange.mismatches)
    }

    /// A late answer may still come, or nobody knows where the next one begins.
    ///
    /// A serial line goes on: a late answer of another device names its unit, and is skipped. One of the same
    /// device can only be taken for the answer to the same request, whose values then count as old as the
    /// first asking; another request whose answer would look alike waits until none can come any more. A
    /// device that is not known to answer gets no request for one more time-out. TCP numbers its answers;
    /// it is closed where nothing else is known to work over it, and where its bytes make no sense.
    private func unanswered(_ device: ModbusDevice, _ job: ModbusJob, _ error: ModbusError) {
        missesInRow += 1
        if case .badAnswer(let mismatch) = error { tell(device, mismatch) }
        if error.forgetsDevice {
            close()
            for other in devices { other.suspend(at: now) }
            connectNotBefore = now + .milliseconds(250)
            reportDown(error)
            return deviceFailed(device, error, quiet: .zero)
        }
        // That one question was not answered says nothing of what stands in the device.
        if !askedRequest.isRead || device.failures > 0 { device.forgetWritten() }
        guard !exchange.isSerial else {
            // What was garbled has come: nothing of it is still to come.
            let isOver = error == .badAnswer(.checksum)
            let (time, isTrusted) = (device.timetable.pace.timeout, device.timetable.isTrusted)
            if !isOver {
                device.late = ModbusLate(
                    request: askedRequest, transaction: 0, asked: answerTime, until: now + time)
            }
            deviceFailed(device, error, quiet: isOver || isTrusted ? .zero : time)
            if device.timetable.isTrusted { askAgain(device, job) }
            return
        }
        if devices.count == 1 || error != .timeout || missesInRow >= 3 {
            close()
            if case .badAnswer = error {
                connectNotBefore = max(connectNotBefore, now + steadiness.rubbish(at: now))
            }
            for other in devices { other.forgetWritten() }
            missesInRow = 0
            if devices.count == 1 { reportDown(error) }
            // Who answers behind the next connection may be another one.
            if device.plan != nil { device.suspend(at: now) }
        }
        device.late = nil
        deviceFailed(device, error, quiet: .zero)
        if device.timetable.isTrusted, device.isIdentified || device.plan == nil { askAgain(device, job) }
    }

    /// Once for each kind, until the device has been silent and is back.
    private func tell(_ device: ModbusDevice, _ mismatch: ModbusMismatch) {
        let bit = UInt16(1) << UInt16(mismatch.rawValue)
        guard device.toldMismatches & bit == 0 else { return }
        device.toldMismatches |= bit
        report(device.settings.unitID, .answerRejected(mismatch))
    }
}
