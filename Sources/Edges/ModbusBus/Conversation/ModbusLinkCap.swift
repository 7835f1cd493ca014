import DeviceCodecs
import LinuxIO
import Quantities

/// Where we are with a device's own limit of its output.
struct ModbusCapState {
    enum Step { case reference, look, disable, write }

    var step = Step.reference
    /// The device's `WMax`, where model 121 tells it.
    var reference: Watts?
    var cap: SunSpecOutputCap?
    /// It stood as it was asked for.
    var isTaken = false
}

/// The device's own limit (SunSpec 123), one transaction at a time so that setpoints do not wait; then looked
/// after.
extension ModbusConversation {
    private static let patience = Duration.seconds(60)
    private static let interval = Duration.seconds(10)

    func prepareCap(_ device: ModbusDevice) {
        guard device.outputCap != nil else { return }
        guard device.plan?.immediate != nil else { return capFailed(device, .capUnsupported) }
        device.cap.step = device.plan?.settings == nil ? .look : .reference
        device.setDue(.cap, now)
    }

    func stepCap(_ device: ModbusDevice) {
        device.setDue(.cap, nil)
        guard device.outputCap != nil, let plan = device.plan, let place = plan.immediate else { return }
        switch device.cap.step {
        case .reference:
            guard let settings = plan.settings else { return next(device, .look) }
            read(device, settings, SunSpecSettings.registerCount, .capReference)
        case .look:
            guard device.cap.reference ?? device.rating != nil else {
                return next(device, .look, after: .seconds(1))
            }
            read(device, place, SunSpecOutputCap.registerCount, .capLook)
        case .disable:
            registers[0] = 0
            write(device, place.start &+ UInt16(SunSpecOutputCap.enableOffset), count: 1, .capDisable)
        case .write:
            guard let cap = device.cap.cap else { return next(device, .look) }
            let count = SunSpecOutputCap.longestWrite
            cap.activation(into: UnsafeMutableBufferPointer(rebasing: registers[0..<count]))
            write(device, place.start &+ UInt16(SunSpecOutputCap.limitOffset), count: count, .capWrite)
        }
    }

    func capDisabled(_ device: ModbusDevice, _ error: ModbusError?) {
        if isWritten(device, error) { next(device, .write) }
    }

    func capWritten(_ device: ModbusDevice, _ error: ModbusError?) {
        if isWritten(device, error) { next(device, .look) }
    }

    private func next(_ device: ModbusDevice, _ step: ModbusCapState.Step, after time: Duration = .zero) {
        device.cap.step = step
        device.setDue(.cap, now + time)
    }

    /// The device refuses or bends it: it is not asked more often.
    private func capFailed(_ device: ModbusDevice, _ event: ModbusReport.Event) {
        reportSeldom(device, \.nextCapReport, event)
        device.cap.cap = nil
        if device.plan?.immediate != nil { next(device, .look, after: Self.patience) }
    }

    func capReferenceRead(_ device: ModbusDevice, _ error: ModbusError?) {
        guard let place = device.plan?.settings else { return }
        guard let block = block(device, place, error) else {
            if device.plan != nil { next(device, .reference, after: .seconds(1)) }
            return
        }
        device.cap.reference = block.value(SunSpecSettings.maximumPower).number.flatMap(Watts.init(decoded:))
        next(device, .look)
    }

    func capSeen(_ device: ModbusDevice, _ error: ModbusError?) {
        guard let place = device.plan?.immediate, let limit = device.outputCap else { return }
        guard let block = block(device, place, error) else {
            if device.plan != nil { next(device, .look, after: .seconds(1)) }
            return
        }
        guard let reference = device.cap.reference ?? device.rating else {
            return next(device, .look, after: .seconds(1))
        }
        // Unusable points: the device says so itself, and so do we.
        guard let cap = try? SunSpecOutputCap(limit, of: reference, in: block) else {
            return capFailed(device, .capUnsupported)
        }
        let isOurs = device.cap.cap == cap
        device.cap.cap = cap
        if cap.isFollowed(block) {
            if !device.cap.isTaken {
                device.cap.isTaken = true
                report(device.settings.unitID, .capTaken(percent: cap.percent))
            }
            return next(device, .look, after: Self.interval)
        }
        if isOurs {
            status.overrideCount.add(1, ordering: .relaxed)
            guard device.cap.isTaken else { return capFailed(device, .capOverridden) }
            device.cap.isTaken = false
            reportSeldom(device, \.nextCapReport, .capOverridden)
        }
        // Some take a new share only with a new enable.
        next(device, SunSpecOutputCap.isEnabled(block) ? .disable : .write)
    }

    private func isWritten(_ device: ModbusDevice, _ error: ModbusError?) -> Bool {
        guard let error else { return true }
        if case .exception(let code) = error {
            capFailed(device, .capRefused(code: code, address: exchangedAddress))
        } else if device.control != nil {
            // Unless the device was forgotten with its session: then it is prepared anew.
            next(device, .look, after: .seconds(1))
        }
        return false
    }
}
