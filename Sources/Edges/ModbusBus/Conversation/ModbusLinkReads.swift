import DeviceCodecs
import LinuxIO
import Plant
import Quantities

/// Readings: the scan, and what is read again and again.
extension ModbusConversation {
    private static let ratingInterval = Duration.seconds(10)
    private static let rescanInterval = Duration.seconds(60)
    private static let readBackOfSlow = Duration.milliseconds(250)

    func perform(_ task: ModbusTask, _ device: ModbusDevice) {
        if let driver = device.driver { return perform(task, device, driver) }
        switch task {
        case .inputs: readInputs(device)
        case .coils: readCoils(device)
        case .scan: stepScan(device)
        case .scale: readScale(device)
        case .measurement: readMeasurement(device)
        case .dcVoltage: readDCVoltage(device)
        case .readBack: readBack(device)
        case .rating: readRating(device)
        case .identity: readIdentity(device)
        case .reactive: stepReactive(device)
        case .cap: stepCap(device)
        }
    }

    /// Asks for registers of a model from its ID register on.
    func read(_ device: ModbusDevice, _ place: SunSpecModelPlace, _ wanted: Int, _ job: ModbusJob) {
        let count = min(wanted, Int(place.length) + 2, registers.count)
        ask(.readHoldingRegisters(at: place.start, count: count), device, job)
    }

    /// What was asked for, checked to be that model's; `nil` where it is not, or did not come.
    func block(
        _ device: ModbusDevice, _ place: SunSpecModelPlace, _ error: ModbusError?
    ) -> SunSpecBlock? {
        if case .exception(let code)? = error {
            reportSeldom(device, \.nextExceptionReport, .exception(code: code, address: place.start))
        }
        guard error == nil else { return nil }
        let answer = answer
        guard answer.count >= 2, answer[0] == place.id, answer[1] == place.length else {
            device.forget(at: now)
            report(device.settings.unitID, .mapChanged)
            return nil
        }
        return SunSpecBlock(answer, length: place.length)
    }

    // MARK: Scan

    private func stepScan(_ device: ModbusDevice) {
        guard case .read(let address, let count)? = device.scan?.next else { return finishScan(device) }
        ask(.readHoldingRegisters(at: address, count: min(count, registers.count)), device, .scan)
    }

    func scanned(_ device: ModbusDevice, _ error: ModbusError?) {
        if let error {
            if error.isRefusal { device.scan?.refused() } else { return noAnswerInScan(device, error) }
        } else {
            device.scan?.answered(answer)
            tell(device, .unread)
        }
        switch device.scan?.next {
        case .read: break
        case .found, .notSunSpec, nil: finishScan(device)
        }
    }

    /// Some devices keep silent at a wrong base address, so the next try is at the next one.
    private func noAnswerInScan(_ device: ModbusDevice, _ error: ModbusError) {
        if error == .timeout { tellSilence(device) }
        device.setDue(.scan, now + .milliseconds(error == .timeout ? 0 : 500))
        if case .exception(let code) = error, case .read(let address, _)? = device.scan?.next {
            reportSeldom(device, \.nextExceptionReport, .exception(code: code, address: address))
        }
        guard error == .timeout, case .read(let address, _)? = device.scan?.next,
            SunSpecScan.bases.contains(address)
        else { return }
        device.scan?.refused()
        device.isScanDoubtful = true
        if case .notSunSpec? = device.scan?.next { device.forget(at: now) }
    }

    private func finishScan(_ device: ModbusDevice) {
        guard case .found(let map)? = device.scan?.next else {
            if device.isScanDoubtful { return device.forget(at: now) }
            if device.lastModelsReported != [] { report(device.settings.unitID, .notSunSpec) }
            device.lastModelsReported = []
            return rescanLater(device, now)
        }
        if device.lastModelsReported != map.models {
            report(device.settings.unitID, .scanned(ModbusModelList(map)))
            device.lastModelsReported = map.models
        }
        device.scan = nil
        device.models = map.models
        let plan = ModbusDevicePlan(map, isMeter: device.isMeter)
        device.plan = plan
        device.setDue(.scan, nil)
        device.setDue(.identity, plan.common == nil || !device.isMeter ? nil : now)
        device.isIdentified = plan.common == nil
        device.identityWaits = 0
        device.setDue(.rating, plan.rating == nil || device.isMeter ? nil : now)
        if plan.measurement == nil {
            report(device.settings.unitID, .notMeasuring)
            return rescanLater(device, now)
        }
        if !device.isMeter && plan.power == nil { return notControllable(device, now) }
        device.setDue(device.isMeter ? .measurement : .scale, now)
    }

    private func notControllable(_ device: ModbusDevice, _ now: MonotonicTime) {
        report(device.settings.unitID, .notControllable)
        rescanLater(device, now)
    }

    /// The device cannot give what is needed of it now; a change of its set-up shows at the next scan.
    private func rescanLater(_ device: ModbusDevice, _ now: MonotonicTime) {
        device.publishNotImplemented(at: now)
        device.scan = SunSpecScan()
        device.forget(at: now + Self.rescanInterval)
    }

    // MARK: Values

    /// `WSet_SF`; with it the device can be driven, and only then is it read.
    private func readScale(_ device: ModbusDevice) {
        guard let (place, model) = device.plan?.power else { return device.setDue(.scale, nil) }
        if model == .storage, let nameplate = device.plan?.nameplate {
            // Without it the rates of 124 could mean more power than we reckon with.
            return read(device, nameplate, 27, .nameplate)
        }
        read(device, place, controlCount(of: device, model), .scale(largest: nil))
    }

    func nameplateRead(_ device: ModbusDevice, _ error: ModbusError?) {
        guard let nameplate = device.plan?.nameplate, let (place, model) = device.plan?.power else { return }
        guard let block = block(device, nameplate, error) else {
            if device.plan != nil { device.setDue(.scale, now + .milliseconds(500)) }
            return
        }
        let largest = block.value(SunSpecNameplate.ratedDischargePower).number
            .flatMap(Watts.init(decoded:))
        read(device, place, controlCount(of: device, model), .scale(largest: largest))
    }

    func scaleRead(_ device: ModbusDevice, _ largest: Watts?, _ error: ModbusError?) {
        guard let (place, model) = device.plan?.power else { return }
        let answer = block(device, place, error)
        guard device.plan != nil else { return }
        guard let block = answer else { return device.setDue(.scale, now + .milliseconds(500)) }
        device.setDue(.scale, nil)
        guard let encoding = encoding(device, model, block, largest) else {
            return notControllable(device, now)
        }
        if encoding.reversion != .zero, !acceptsUnprovenReversion(device) {
            report(device.settings.unitID, .reversionUnproven(encoding.reversion))
            return rescanLater(device, now)
        }
        device.control = ModbusControlState(place: place, encoding: encoding, scaleSeenAt: now)
        device.heartbeat = device.plan?.heartbeat
        if model == .acControls { prepareReactive(device, block) }
        prepareCap(device)
        device.setDue(device.isIdentified ? .measurement : .identity, now)
        if case .inverter(_, readsDCVoltage: true, _) = device.role, device.plan?.dcVoltage != nil {
            device.setDue(.dcVoltage, now)
        }
    }

    private func acceptsUnprovenReversion(_ device: ModbusDevice) -> Bool {
        switch device.role {
        case .inverter(_, _, let accepts): accepts
        case .meter, .module: false
        }
    }

    private func encoding(
        _ device: ModbusDevice, _ model: SunSpecPowerControl.Model, _ block: SunSpecBlock,
        _ largestDischarge: Watts?
    ) -> SunSpecPowerControl? {
        switch device.role {
        case .meter, .module: return nil
        case .inverter(let reversion, _, _):
            // A reversion out of its range leaves the device without its dead-man timer: then it is not
            // driven.
            return try? SunSpecPowerControl(
                model, block, reversion: reversion, largestDischarge: largestDischarge)
        }
    }

    private func readMeasurement(_ device: ModbusDevice) {
        guard let (place, kind) = device.plan?.measurement else { return device.setDue(.measurement, nil) }
        device.repeatTask(.measurement, every: device.settings.poll, at: now)
        // What is asked for again is asked for in the same words.
        if device.failures == 0, device.unansweredSince == nil { device.isLongRead.toggle() }
        read(device, place, kind.registerCount + (device.isLongRead ? 1 : 0), .measurement)
    }

    func measured(_ device: ModbusDevice, _ error: ModbusError?) {
        guard let (place, kind) = device.plan?.measurement else { return }
        guard let block = block(device, place, error) else { return refused(device, error) }
        let time = answerTime
        switch device.role {
        case .inverter:
            let dcVoltage = device.inverterImage.dcVoltage
            kind.decode(block, at: time, into: &device.inverterImage)
            if device.plan?.dcVoltage != nil { device.inverterImage.dcVoltage = dcVoltage }
            checkPower(device)
        case .meter(let sign): kind.decode(block, sign: sign, at: time, into: &device.gridImage)
        case .module: return
        }
        device.publish()
    }

    /// An inverter that goes on refusing is not silent: once its last sample is too old, its readings say why
    /// there is none. One refusal is a hiccup.
    private func refused(_ device: ModbusDevice, _ error: ModbusError?) {
        if error == .timeout { tellSilence(device) }
        guard let error, let fault = reason(of: error, device) else { return }
        tell(device, fault)
    }

    /// The inverter answers, and says nothing of its power.
    private func tell(_ device: ModbusDevice, _ fault: ReadingFault) {
        guard case .inverter = device.role else { return }
        let told = device.inverterImage.activePower.fault(at: now, within: device.settings.poll * 3)
        // Said once more, it was heard just now.
        if told == .stale || told == .unread || told == fault { set(device, fault) }
    }

    /// What answered a moment ago without a word of its power does not answer any more.
    private func tellSilence(_ device: ModbusDevice) {
        guard case .inverter = device.role else { return }
        let fault = device.inverterImage.activePower.fault(at: now, within: device.settings.poll * 3)
        if fault == .unread || fault == .busy { set(device, .stale) }
    }

    private func set(_ device: ModbusDevice, _ fault: ReadingFault) {
        device.inverterImage.activePower = .bad(fault, since: now)
        device.inverterImage.state = .bad(fault, since: now)
        device.publish()
    }

    private func readDCVoltage(_ device: ModbusDevice) {
        guard let (place, kind) = device.plan?.dcVoltage else { return device.setDue(.dcVoltage, nil) }
        device.repeatTask(.dcVoltage, every: device.settings.poll, at: now)
        read(device, place, kind.registerCount, .dcVoltage)
    }

    func dcVoltageRead(_ device: ModbusDevice, _ error: ModbusError?) {
        guard let (place, kind) = device.plan?.dcVoltage, let block = block(device, place, error)
        else { return }
        device.inverterImage.dcVoltage = kind.decode(block, at: answerTime)
        device.publish()
    }

    private func readBack(_ device: ModbusDevice) {
        device.repeatTask(.readBack, every: readBackPause(device), at: now)
        guard let control = device.control, control.written != nil else { return }
        let count = controlCount(of: device, control.encoding.model ?? .acControls)
        read(device, control.place, count, .readBack)
    }

    /// A device that is polled slowly shows by its measurements only then that its numbers mean something
    /// else by now: over TCP, where looks cost nobody anything, it is looked at in between.
    func readBackPause(_ device: ModbusDevice) -> Duration {
        let pause = device.rival.pause(at: now)
        let isSlow = !exchange.isSerial && device.settings.poll > Self.readBackOfSlow
        return isSlow ? min(pause, Self.readBackOfSlow) : pause
    }

    func readBack(_ device: ModbusDevice, _ error: ModbusError?) {
        guard let control = device.control, let block = block(device, control.place, error) else { return }
        checkReadBack(device, block)
        checkReactive(device, block)
    }

    /// The nameplate hardly changes, but its reading has an age like every other.
    private func readRating(_ device: ModbusDevice) {
        device.repeatTask(.rating, every: Self.ratingInterval, at: now)
        guard let (place, kind) = device.plan?.rating else { return device.setDue(.rating, nil) }
        read(device, place, kind.registerCount, .rating)
    }

    func ratingRead(_ device: ModbusDevice, _ error: ModbusError?) {
        guard let (place, kind) = device.plan?.rating else { return }
        guard let block = block(device, place, error) else {
            // Without it no setpoint is judged: one lost answer must not cost ten seconds.
            if device.plan != nil { device.setDue(.rating, now + .seconds(1)) }
            return
        }
        device.inverterImage.ratedPower = kind.decode(block, at: answerTime)
        device.rating = device.inverterImage.ratedPower.fresh(at: answerTime, within: .zero)
    }

    private func readIdentity(_ device: ModbusDevice) {
        device.setDue(.identity, nil)
        guard let place = device.plan?.common else { return }
        if waitsForZero(device) {
            device.identityWaits += 1
            return device.setDue(.identity, now + min(settings.period, .milliseconds(100)))
        }
        read(device, place, 66, .identity)
    }

    /// Zero first: to one that is not who it should be nothing is written any more, and what stands in it may
    /// be somebody's setpoint. Not for ever, since it may refuse to be written to.
    private func waitsForZero(_ device: ModbusDevice) -> Bool {
        guard let control = device.control, !device.isIdentified else { return false }
        return control.written == nil && control.refused == nil && device.identityWaits < 25
    }

    func identityRead(_ device: ModbusDevice, _ error: ModbusError?) {
        guard let place = device.plan?.common else { return }
        let answer = block(device, place, error)
        guard device.plan != nil else { return }
        guard let block = answer else {
            // Whoever refuses to say who it is has no name; whoever did not answer is asked again.
            if error?.isRefusal == true { return identified(device, 0) }
            return device.setDue(.identity, now + .milliseconds(500))
        }
        let manufacturer = block.text(SunSpecCommon.manufacturer)
        let model = block.text(SunSpecCommon.model)
        let serialNumber = block.text(SunSpecCommon.serialNumber)
        report(
            device.settings.unitID,
            .identified(manufacturer: manufacturer, model: model, serialNumber: serialNumber))
        let identity = serialNumber.mixed(into: model.mixed(into: manufacturer.mixed(into: 0)))
        let former = device.inverterImage.identity
        if former != 0, former != identity {
            report(device.settings.unitID, .otherDevice(serialNumber: serialNumber))
        }
        identified(device, identity)
    }

    /// An inverter is told zero as soon as it can be, and asked for power only after it has said who it is:
    /// it may have been exchanged while it was missing, and what was proven was proven of another.
    private func identified(_ device: ModbusDevice, _ identity: UInt64) {
        device.inverterImage.identity = identity
        guard !device.isIdentified else { return }
        device.isIdentified = true
        guard !device.isMeter else { return }
        if let proven = device.provenIdentity, proven != identity {
            report(device.settings.unitID, .otherDeviceProven)
            return rescanLater(device, now)
        }
        device.setDue(.measurement, now)
    }
}
