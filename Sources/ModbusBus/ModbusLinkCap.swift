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
extension ModbusLinkOwner {
    private static let patience = Duration.seconds(60)
    private static let interval = Duration.seconds(10)

    func prepareCap(_ device: ModbusDevice) {
        guard device.outputCap != nil else { return }
        guard device.plan?.immediate != nil else { return capFailed(device, .capUnsupported) }
        device.cap.step = device.plan?.settings == nil ? .look : .reference
        device.setDue(.cap, MonotonicTime.now())
    }

    func stepCap(_ device: ModbusDevice) {
        device.setDue(.cap, nil)
        guard let limit = device.outputCap, let plan = device.plan, let place = plan.immediate else { return }
        switch device.cap.step {
        case .reference: readReference(device, plan.settings)
        case .look: look(device, place, limit)
        case .disable:
            registers[0] = 0
            guard write(device, place, SunSpecOutputCap.enableOffset, 1) else { return }
            next(device, .write)
        case .write:
            guard let cap = device.cap.cap else { return next(device, .look) }
            let count = SunSpecOutputCap.longestWrite
            cap.activation(into: UnsafeMutableBufferPointer(rebasing: registers[0..<count]))
            guard write(device, place, SunSpecOutputCap.limitOffset, count) else { return }
            next(device, .look)
        }
    }

    private func next(_ device: ModbusDevice, _ step: ModbusCapState.Step, after time: Duration = .zero) {
        device.cap.step = step
        device.setDue(.cap, MonotonicTime.now() + time)
    }

    /// The device refuses or bends it: it is not asked more often.
    private func capFailed(_ device: ModbusDevice, _ event: ModbusReport.Event) {
        reportSeldom(device, \.nextCapReport, event)
        device.cap.cap = nil
        if device.plan?.immediate != nil { next(device, .look, after: Self.patience) }
    }

    private func readReference(_ device: ModbusDevice, _ place: SunSpecModelPlace?) {
        guard let place else { return next(device, .look) }
        guard let (block, _) = readModel(device, place, SunSpecSettings.registerCount) else {
            if device.plan != nil { next(device, .reference, after: .seconds(1)) }
            return
        }
        device.cap.reference = block.value(SunSpecSettings.maximumPower).number.flatMap(Watts.init(decoded:))
        next(device, .look)
    }

    private func look(_ device: ModbusDevice, _ place: SunSpecModelPlace, _ limit: Watts) {
        guard let reference = device.cap.reference ?? device.rating else {
            return next(device, .look, after: .seconds(1))
        }
        guard let (block, _) = readModel(device, place, SunSpecOutputCap.registerCount) else {
            if device.plan != nil { next(device, .look, after: .seconds(1)) }
            return
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

    private func write(
        _ device: ModbusDevice, _ place: SunSpecModelPlace, _ offset: Int, _ count: Int
    ) -> Bool {
        let address = place.start &+ UInt16(offset)
        let values = UnsafeBufferPointer(rebasing: registers[0..<count])
        let result = transact(device) { client throws(ModbusError) in
            try client.write(unit: device.settings.unitID, address: address, values)
        }
        switch result {
        case .success: return true
        case .failure(.exception(let code)):
            capFailed(device, .capRefused(code: code, address: address))
        case .failure:
            // Unless the device was forgotten with its session: then it is prepared anew.
            if device.control != nil { next(device, .look, after: .seconds(1)) }
        }
        return false
    }
}
