import DeviceCodecs
import LinuxIO
import Quantities

/// One transaction at a time, and the books that are kept on it.
extension ModbusLinkOwner {
    /// Runs one transaction with a device.
    ///
    /// - Returns: the instant just before the request, or what went wrong.
    func transact(
        _ device: ModbusDevice, _ body: (inout ModbusClient) throws(ModbusError) -> Void
    ) -> Result<MonotonicTime, ModbusError> {
        client.setTimeout(probeTimeout ?? device.timetable.pace.timeout)
        client.setGap(device.timetable.pace.gap)
        if !device.timetable.isTrusted { status.probeCount.add(1, ordering: .relaxed) }
        let start = MonotonicTime.now()
        device.askedAt = start
        var failure: ModbusError?
        do throws(ModbusError) { try body(&client) } catch { failure = error }
        beat()
        let now = MonotonicTime.now()
        device.timetable.spent(now - start, on: task, at: now)
        if let failure {
            count(failure)
            if failure.endsSession {
                unanswered(device, failure, at: now)
            } else {
                linkAnswered(start, now)
                if failure.isAbsence {
                    deviceFailed(device, failure, quiet: .zero)
                } else {
                    deviceAnswered(device)
                }
            }
        } else {
            linkAnswered(start, now)
            deviceAnswered(device)
        }
        device.publishStatus()
        noteStranger(at: now)
        return failure.map { .failure($0) } ?? .success(start)
    }

    private func linkAnswered(_ start: MonotonicTime, _ now: MonotonicTime) {
        status.transactionCount.add(1, ordering: .relaxed)
        status.roundTrip.store((now - start).nanoseconds, ordering: .relaxed)
        status.up.store(true, ordering: .relaxed)
        connectBackOff = .milliseconds(250)
        (answeredAt, missesInRow) = (now, 0)
        if isReportedUp != true { report(0, .linkUp) }
        isReportedUp = true
    }

    private func deviceAnswered(_ device: ModbusDevice) {
        if device.answered(in: client.turnaround) { report(device.settings.unitID, .deviceBack) }
    }

    private func deviceFailed(_ device: ModbusDevice, _ error: ModbusError, quiet: Duration) {
        if device.failed(at: MonotonicTime.now(), quiet: quiet) {
            report(device.settings.unitID, .deviceSilent(error))
        }
    }

    /// A unit that is counted silent has sent a whole frame after its time: the next wait is long enough
    /// for it.
    private func noteStranger(at now: MonotonicTime) {
        if let unit = client.stranger {
            client.stranger = nil
            for device in devices where device.settings.unitID == unit && !device.timetable.isTrusted {
                device.timetable.pace.heardLate(after: now - device.askedAt)
            }
        }
        status.store(client.mismatches)
    }

    /// A late answer may still come, or nobody knows where the next one begins.
    ///
    /// A serial line goes on with the others: a late answer names its unit, and is skipped. The same
    /// device gets no request for one more time-out, since its late answer would be taken for the next
    /// one's. TCP numbers its answers; it is closed where nothing else is known to work over it, and where
    /// its bytes make no sense.
    private func unanswered(_ device: ModbusDevice, _ error: ModbusError, at now: MonotonicTime) {
        missesInRow += 1
        if case .badAnswer(let mismatch) = error { tell(device, mismatch) }
        if error.forgetsDevice {
            client.disconnect()
            for other in devices { other.suspend(at: now) }
            connectNotBefore = now + .milliseconds(250)
            reportDown(error)
            return deviceFailed(device, error, quiet: .zero)
        }
        device.forgetWritten()
        guard !client.isSerial else {
            // What was garbled has come: nothing of it is still to come.
            let isOver = error == .badAnswer(.checksum)
            return deviceFailed(device, error, quiet: isOver ? .zero : device.timetable.pace.timeout)
        }
        if devices.count == 1 || error != .timeout || missesInRow >= 3 {
            client.disconnect()
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
