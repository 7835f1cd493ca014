import DeviceCodecs
import LinuxIO
import Plant
import Quantities

/// Readings: the scan, and what is read again and again.
extension ModbusLinkOwner {
    private static let ratingInterval = Duration.seconds(10)
    private static let readBackInterval = Duration.seconds(1)
    private static let rescanInterval = Duration.seconds(60)

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

    func read(
        _ device: ModbusDevice, _ address: UInt16, _ count: Int
    ) -> Result<(UnsafeBufferPointer<UInt16>, MonotonicTime), ModbusError> {
        let buffer = UnsafeMutableBufferPointer(rebasing: registers[0..<min(count, registers.count)])
        let result = transact(device) { client throws(ModbusError) in
            try client.read(unit: device.settings.unitID, address: address, into: buffer)
        }
        switch result {
        case .success(let time): return .success((UnsafeBufferPointer(buffer), time))
        case .failure(let error):
            if case .exception(let code) = error, device.scan == nil {
                reportSeldom(device, \.nextExceptionReport, .exception(code: code, address: address))
            }
            return .failure(error)
        }
    }

    /// Registers of a model from its ID register on, checked to be that model's.
    func readModel(
        _ device: ModbusDevice, _ place: SunSpecModelPlace, _ wanted: Int
    ) -> (SunSpecBlock, MonotonicTime)? {
        let count = min(wanted, Int(place.length) + 2, registers.count)
        guard case .success(let (answer, time)) = read(device, place.start, count) else { return nil }
        guard answer.count >= 2, answer[0] == place.id, answer[1] == place.length else {
            device.forget(at: MonotonicTime.now())
            report(device.settings.unitID, .mapChanged)
            return nil
        }
        return (SunSpecBlock(answer, length: place.length), time)
    }

    // MARK: Scan

    private func stepScan(_ device: ModbusDevice) {
        guard case .read(let address, let count)? = device.scan?.next else { return finishScan(device) }
        switch read(device, address, count) {
        case .success(let (answer, _)): device.scan?.answered(answer)
        case .failure(let error):
            if error.isRefusal { device.scan?.refused() } else { return noAnswerInScan(device, error) }
        }
        switch device.scan?.next {
        case .read: break
        case .found, .notSunSpec, nil: finishScan(device)
        }
    }

    /// Some devices keep silent at a wrong base address, so the next try is at the next one.
    private func noAnswerInScan(_ device: ModbusDevice, _ error: ModbusError) {
        device.setDue(.scan, MonotonicTime.now() + .milliseconds(error == .timeout ? 0 : 500))
        if case .exception(let code) = error, case .read(let address, _)? = device.scan?.next {
            reportSeldom(device, \.nextExceptionReport, .exception(code: code, address: address))
        }
        guard error == .timeout, case .read(let address, _)? = device.scan?.next,
            SunSpecScan.bases.contains(address)
        else { return }
        device.scan?.refused()
        device.isScanDoubtful = true
        if case .notSunSpec? = device.scan?.next { device.forget(at: MonotonicTime.now()) }
    }

    private func finishScan(_ device: ModbusDevice) {
        let now = MonotonicTime.now()
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
        device.setDue(.identity, plan.common == nil ? nil : now)
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
        var largest: Watts?
        if model == .storage, let nameplate = device.plan?.nameplate {
            // Without it the rates of 124 could mean more power than we reckon with.
            guard let (block, _) = readModel(device, nameplate, 27) else {
                if device.plan != nil { device.setDue(.scale, MonotonicTime.now() + .milliseconds(500)) }
                return
            }
            largest = block.value(SunSpecNameplate.ratedDischargePower).number.flatMap(Watts.init(decoded:))
        }
        let answer = readModel(device, place, controlCount(of: device, model))
        let now = MonotonicTime.now()
        guard device.plan != nil else { return }
        guard let (block, _) = answer else { return device.setDue(.scale, now + .milliseconds(500)) }
        device.setDue(.scale, nil)
        guard let encoding = encoding(device, model, block, largest) else {
            return notControllable(device, now)
        }
        if encoding.reversion != .zero, !acceptsUnprovenReversion(device) {
            report(device.settings.unitID, .reversionUnproven(encoding.reversion))
            return rescanLater(device, now)
        }
        device.control = ModbusControlState(place: place, encoding: encoding)
        device.heartbeat = device.plan?.heartbeat
        if model == .acControls { prepareReactive(device, block) }
        prepareCap(device)
        device.setDue(.measurement, now)
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
        let now = MonotonicTime.now()
        guard let (place, kind) = device.plan?.measurement else { return device.setDue(.measurement, nil) }
        device.repeatTask(.measurement, every: device.settings.poll, at: now)
        device.isLongRead.toggle()
        let count = kind.registerCount + (device.isLongRead ? 1 : 0)
        guard let (block, time) = readModel(device, place, count) else { return }
        switch device.role {
        case .inverter:
            let dcVoltage = device.inverterImage.dcVoltage
            kind.decode(block, at: time, into: &device.inverterImage)
            if device.plan?.dcVoltage != nil { device.inverterImage.dcVoltage = dcVoltage }
        case .meter(let sign): kind.decode(block, sign: sign, at: time, into: &device.gridImage)
        case .module: return
        }
        device.publish()
    }

    private func readDCVoltage(_ device: ModbusDevice) {
        guard let (place, kind) = device.plan?.dcVoltage else { return device.setDue(.dcVoltage, nil) }
        device.repeatTask(.dcVoltage, every: device.settings.poll, at: MonotonicTime.now())
        guard let (block, time) = readModel(device, place, kind.registerCount) else { return }
        device.inverterImage.dcVoltage = kind.decode(block, at: time)
        device.publish()
    }

    private func readBack(_ device: ModbusDevice) {
        device.repeatTask(.readBack, every: Self.readBackInterval, at: MonotonicTime.now())
        guard let control = device.control, control.written != nil else { return }
        guard
            let (block, _) = readModel(
                device, control.place, controlCount(of: device, control.encoding.model ?? .acControls))
        else { return }
        checkReadBack(device, block)
        checkReactive(device, block)
    }

    /// The nameplate hardly changes, but its reading has an age like every other.
    private func readRating(_ device: ModbusDevice) {
        device.repeatTask(.rating, every: Self.ratingInterval, at: MonotonicTime.now())
        guard let (place, kind) = device.plan?.rating else { return device.setDue(.rating, nil) }
        guard let (block, time) = readModel(device, place, kind.registerCount) else {
            // Without it no setpoint is judged: one lost answer must not cost ten seconds.
            if device.plan != nil { device.setDue(.rating, MonotonicTime.now() + .seconds(1)) }
            return
        }
        device.inverterImage.ratedPower = kind.decode(block, at: time)
        device.rating = device.inverterImage.ratedPower.fresh(at: time, within: .zero)
    }

    private func readIdentity(_ device: ModbusDevice) {
        device.setDue(.identity, nil)
        guard let place = device.plan?.common, let (block, _) = readModel(device, place, 66) else { return }
        report(
            device.settings.unitID,
            .identified(
                manufacturer: block.text(SunSpecCommon.manufacturer), model: block.text(SunSpecCommon.model),
                serialNumber: block.text(SunSpecCommon.serialNumber)))
    }
}
