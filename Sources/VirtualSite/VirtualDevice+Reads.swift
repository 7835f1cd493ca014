import BallastDaemon
import DeviceCodecs
import ModbusBus
import Plant
import Quantities

/// Readings: the scan, and what is read again and again.
extension VirtualDevice {
    private static let ratingInterval = Duration.seconds(10)
    private static let readBackInterval = Duration.seconds(1)
    private static let rescanInterval = Duration.seconds(60)

    /// `nil` where there is nothing to ask any more.
    mutating func request(_ task: Task, at now: MonotonicTime) -> Request? {
        switch task {
        case .write: return writeRequest(at: now)
        case .enable: return enableRequest
        case .inputs: return inputsRequest(at: now)
        case .coils, .coilCheck: return coilsRequest(task, at: now)
        case .scan:
            guard case .read(let address, let count)? = scan?.next else { return drop(task) }
            return Self.read(address, count)
        case .scale:
            guard let power = plan?.power else { return drop(task) }
            return Self.read(power.place, power.model.registerCount)
        case .measurement:
            guard let measurement = plan?.measurement else { return drop(task) }
            due[task] = now + poll
            isLongRead.toggle()
            return Self.read(measurement.place, measurement.kind.registerCount + (isLongRead ? 1 : 0))
        case .dcVoltage:
            guard let voltage = plan?.dcVoltage else { return drop(task) }
            due[task] = now + poll
            return Self.read(voltage.place, voltage.kind.registerCount)
        case .readBack:
            due[task] = now + Self.readBackInterval
            guard let power = plan?.power, control?.written != nil else { return nil }
            return Self.read(power.place, power.model.registerCount)
        case .rating:
            guard let rating = plan?.rating else { return drop(task) }
            due[task] = now + Self.ratingInterval
            return Self.read(rating.place, rating.kind.registerCount)
        }
    }

    private mutating func drop(_ task: Task) -> Request? {
        due[task] = nil
        return nil
    }

    private static func read(_ place: SunSpecModelPlace, _ count: Int) -> Request {
        read(place.start, min(count, Int(place.length) + 2, 125))
    }

    private static func read(_ address: UInt16, _ count: Int) -> Request {
        Request(request: .readHoldingRegisters(at: address, count: count))
    }

    private mutating func inputsRequest(at now: MonotonicTime) -> Request? {
        guard case .module(let map) = role, let range = map.inputRange else { return drop(.inputs) }
        due[.inputs] = now + poll
        return Request(request: .readDiscreteInputs(at: range.lowerBound, count: range.count))
    }

    private mutating func coilsRequest(_ task: Task, at now: MonotonicTime) -> Request? {
        guard case .module(let map) = role, let range = map.coilRange else { return drop(task) }
        if task == .coils { return coilRequest(map, at: now) }
        due[.coilCheck] = now + .milliseconds(500)
        return Request(request: .readCoils(at: range.lowerBound, count: range.count))
    }

    // MARK: Answers

    mutating func accept(
        _ task: Task, _ values: [UInt16], asked: MonotonicTime, at now: MonotonicTime,
        _ events: inout [CoreEvent]
    ) {
        switch task {
        case .write, .enable, .coils: acknowledged(task, at: now, &events)
        case .scan: scanned(values, at: now, &events)
        case .scale: scaled(values, at: now, &events)
        case .measurement: measured(values, asked: asked, at: now, &events)
        case .dcVoltage:
            guard let (place, kind) = plan?.dcVoltage else { return }
            withBlock(values, place, at: now, &events) { device, block in
                device.stagedInverter.dcVoltage = kind.decode(block, at: asked)
            }
        case .rating:
            guard let (place, kind) = plan?.rating else { return }
            withBlock(values, place, at: now, &events) { device, block in
                device.stagedInverter.ratedPower = kind.decode(block, at: asked)
            }
        case .readBack: readBack(values, at: now, &events)
        case .inputs, .coilCheck: break
        }
    }

    mutating func accept(
        _ task: Task, _ levels: [UInt8], asked: MonotonicTime, at now: MonotonicTime,
        _ events: inout [CoreEvent]
    ) {
        guard case .module(let map) = role else { return }
        if task == .coilCheck { return found(levels, map, at: now, &events) }
        levels.withUnsafeBufferPointer { map.decode($0, at: asked, into: &stagedInputs) }
    }

    mutating func refused(
        _ task: Task, code: UInt8, at now: MonotonicTime, _ events: inout [CoreEvent]
    ) {
        switch task {
        case .write, .enable:
            control?.written = nil
            control?.enables = nil
            control?.notBefore = now + .milliseconds(250)
        case .coils: coils.written = nil
        case .scan:
            scan?.refused()
            return finishScan(at: now, &events)
        case .inputs:
            if case .module(let map) = role { map.spoil(.deviceFault, at: now, in: &stagedInputs) }
        case .scale: due[.scale] = now + .milliseconds(500)
        case .rating: due[.rating] = now + .seconds(1)
        case .coilCheck, .measurement, .dcVoltage, .readBack: break
        }
        guard lastException.map({ now - $0 >= .seconds(10) }) ?? true else { return }
        lastException = now
        events.append(
            CoreEvent(
                name: "modbus_exception", unit: unitName, cause: "\(code)",
                text: "refuses with exception \(code)"))
    }

    private mutating func withBlock(
        _ values: [UInt16], _ place: SunSpecModelPlace, at now: MonotonicTime,
        _ events: inout [CoreEvent], _ body: (inout VirtualDevice, SunSpecBlock) -> Void
    ) {
        guard values.count >= 2, values[0] == place.id, values[1] == place.length else {
            return mapChanged(at: now, &events)
        }
        values.withUnsafeBufferPointer { body(&self, SunSpecBlock($0, length: place.length)) }
    }

    private mutating func mapChanged(at now: MonotonicTime, _ events: inout [CoreEvent]) {
        forget(at: now)
        events.append(CoreEvent(name: "map_changed", unit: unitName, text: "its registers lie elsewhere now"))
    }

    // MARK: Scan

    private mutating func scanned(
        _ values: [UInt16], at now: MonotonicTime, _ events: inout [CoreEvent]
    ) {
        values.withUnsafeBufferPointer { scan?.answered($0) }
        finishScan(at: now, &events)
    }

    private mutating func finishScan(at now: MonotonicTime, _ events: inout [CoreEvent]) {
        switch scan?.next {
        case .read, nil: return
        case .notSunSpec: return rescanLater("not_sunspec", at: now, &events)
        case .found(let map):
            var isMeter = false
            if case .meter = role { isMeter = true }
            let found = ModbusDevicePlan(map, isMeter: isMeter)
            scan = nil
            plan = found
            due[.scan] = nil
            if found.measurement == nil { return rescanLater("not_measuring", at: now, &events) }
            if isMeter {
                due[.measurement] = now
            } else if found.power == nil {
                rescanLater("not_controllable", at: now, &events)
            } else {
                due[.scale] = now
                due[.rating] = found.rating == nil ? nil : now
            }
        }
    }

    private mutating func rescanLater(
        _ event: String, at now: MonotonicTime, _ events: inout [CoreEvent]
    ) {
        events.append(CoreEvent(name: event, unit: unitName, text: "it cannot be used as it is"))
        stagedInverter = InverterImage()
        stagedGrid = GridImage()
        forget(at: now + Self.rescanInterval)
    }

    // MARK: Values

    private mutating func scaled(
        _ values: [UInt16], at now: MonotonicTime, _ events: inout [CoreEvent]
    ) {
        due[.scale] = nil
        guard let (place, model) = plan?.power,
            case .inverter(let reversion, let readsDCVoltage, let accepts) = role
        else { return }
        withBlock(values, place, at: now, &events) { device, block in
            // A reversion out of its range leaves the device without its dead-man timer: it is not driven.
            guard let encoding = try? SunSpecPowerControl(model, block, reversion: reversion) else { return }
            guard encoding.reversion == .zero || accepts else { return }
            device.control = Control(place: place, encoding: encoding)
            device.due[.measurement] = now
            if readsDCVoltage, device.plan?.dcVoltage != nil { device.due[.dcVoltage] = now }
        }
        if control == nil, plan != nil { rescanLater("not_controllable", at: now, &events) }
    }

    private mutating func measured(
        _ values: [UInt16], asked: MonotonicTime, at now: MonotonicTime, _ events: inout [CoreEvent]
    ) {
        guard let (place, kind) = plan?.measurement else { return }
        withBlock(values, place, at: now, &events) { device, block in
            if case .meter = device.role {
                kind.decode(block, sign: .generation, at: asked, into: &device.stagedGrid)
                return
            }
            let voltage = device.stagedInverter.dcVoltage
            kind.decode(block, at: asked, into: &device.stagedInverter)
            if device.plan?.dcVoltage != nil { device.stagedInverter.dcVoltage = voltage }
        }
    }

    private mutating func readBack(
        _ values: [UInt16], at now: MonotonicTime, _ events: inout [CoreEvent]
    ) {
        guard let (place, _) = plan?.power, let control, let written = control.written else { return }
        var isScaled = true
        var isFollowed = true
        withBlock(values, place, at: now, &events) { _, block in
            isScaled = control.encoding.isScaled(block)
            isFollowed = control.encoding.isFollowed(block, setpoint: written)
        }
        if !isScaled { return mapChanged(at: now, &events) }
        guard !isFollowed else { return }
        self.control?.written = nil
        events.append(
            CoreEvent(
                name: "setpoint_overridden", unit: unitName, text: "what was written does not stand there"))
    }
}
