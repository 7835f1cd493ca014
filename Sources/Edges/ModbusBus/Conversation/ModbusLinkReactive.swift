import DeviceCodecs
import LinuxIO
import Quantities

/// Reactive power: written once, one transaction at a time so that setpoints do not wait, and looked after.
extension ModbusConversation {
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
            device.setDue(.reactive, now)
        } catch {
            reportSeldom(device, \.nextReactiveReport, .reactiveUnsupported)
        }
    }

    func stepReactive(_ device: ModbusDevice) {
        guard !device.isLeftAlone else { return device.setDue(.reactive, now + .seconds(1)) }
        device.setDue(.reactive, nil)
        guard let place = device.plan?.controls, let state = device.reactive else { return }
        let room = UnsafeMutableBufferPointer(rebasing: registers[0..<SunSpecReactiveControl.longestWrite])
        guard let (offset, count) = state.control.write(state.step, into: room) else {
            device.reactive?.isWritten = true
            return report(device.settings.unitID, .reactiveTaken)
        }
        // What was made lies at the buffer's start.
        ask(.writeRegisters(at: place.start &+ UInt16(offset), count: count), device, .reactive)
    }

    func reactiveWritten(_ device: ModbusDevice, _ error: ModbusError?) {
        switch error {
        case nil:
            device.reactive?.step += 1
            device.setDue(.reactive, now)
        case .exception(let code):
            device.reactive?.step = 0
            device.setDue(.reactive, now + Self.patience)
            let event = ModbusReport.Event.reactiveRefused(code: code, address: exchangedAddress)
            reportSeldom(device, \.nextReactiveReport, event)
        case .timeout, .badAnswer, .disconnected, .unusableAddress, .tooManyDescriptors, .system:
            // Unless the device was forgotten with its session: then it is prepared anew.
            guard device.reactive != nil else { return }
            device.reactive?.step = 0
            device.setDue(.reactive, now + .seconds(1))
        }
    }

    /// Compares what the device does with what it was told.
    func checkReactive(_ device: ModbusDevice, _ block: SunSpecBlock) {
        guard let state = device.reactive, state.isWritten, !state.control.isFollowed(block) else { return }
        if let last = state.correctedAt, now - last < Self.patience { return }
        device.reactive?.correctedAt = now
        device.reactive?.step = 0
        device.reactive?.isWritten = false
        device.setDue(.reactive, now)
        reportSeldom(device, \.nextReactiveReport, .reactiveOverridden)
    }
}
