import DeviceCodecs
import LinuxIO
import Quantities

/// Reactive power: written once, one transaction at a time so that setpoints do not wait, and looked after.
extension ModbusLinkOwner {
    /// A device that refuses or bends the setting is not asked more often.
    private static let patience = Duration.seconds(60)

    /// How much of the model says what the device was told.
    func controlCount(of device: ModbusDevice, _ model: SunSpecPowerControl.Model) -> Int {
        device.reactiveSetting == nil || model == .storage
            ? model.registerCount : SunSpecReactiveControl.registerCount
    }

    func prepareReactive(_ device: ModbusDevice, _ block: SunSpecBlock) {
        guard let setting = device.reactiveSetting else { return }
        do throws(SunSpecEncodingError) {
            device.reactive = ModbusReactiveState(control: try SunSpecReactiveControl(setting, in: block))
            device.setDue(.reactive, MonotonicTime.now())
        } catch {
            reportSeldom(device, \.nextReactiveReport, .reactiveUnsupported)
        }
    }

    func stepReactive(_ device: ModbusDevice) {
        device.setDue(.reactive, nil)
        guard let place = device.plan?.controls, let state = device.reactive else { return }
        let room = UnsafeMutableBufferPointer(rebasing: registers[0..<SunSpecReactiveControl.longestWrite])
        guard let (offset, count) = state.control.write(state.step, into: room) else {
            device.reactive?.isWritten = true
            return report(device.settings.unitID, .reactiveTaken)
        }
        let address = place.start &+ UInt16(offset)
        let values = UnsafeBufferPointer(rebasing: room[0..<count])
        let result = transact(device) { client throws(ModbusError) in
            try client.write(unit: device.settings.unitID, address: address, values)
        }
        let now = MonotonicTime.now()
        switch result {
        case .success:
            device.reactive?.step += 1
            device.setDue(.reactive, now)
        case .failure(.exception(let code)):
            device.reactive?.step = 0
            device.setDue(.reactive, now + Self.patience)
            reportSeldom(device, \.nextReactiveReport, .reactiveRefused(code: code, address: address))
        case .failure:
            // Unless the device was forgotten with its session: then it is prepared anew.
            guard device.reactive != nil else { return }
            device.reactive?.step = 0
            device.setDue(.reactive, now + .seconds(1))
        }
    }

    /// Compares what the device does with what it was told.
    func checkReactive(_ device: ModbusDevice, _ block: SunSpecBlock) {
        guard let state = device.reactive, state.isWritten, !state.control.isFollowed(block) else { return }
        let now = MonotonicTime.now()
        if let last = state.correctedAt, now - last < Self.patience { return }
        device.reactive?.correctedAt = now
        device.reactive?.step = 0
        device.reactive?.isWritten = false
        device.setDue(.reactive, now)
        reportSeldom(device, \.nextReactiveReport, .reactiveOverridden)
    }
}
