import BallastDaemon
import DeviceCodecs
import ModbusBus
import Plant
import Quantities
import SiteConfig

/// What we know of one Modbus device and ask of it: the production scan, plan and codecs, in virtual time.
struct VirtualDevice {
    enum Role {
        case inverter(reversion: Duration, readsDCVoltage: Bool, acceptsUnprovenReversion: Bool)
        case meter
        case module(ModbusIOMap)
    }

    enum Task: Int, CaseIterable {
        case write, enable, inputs, coils, coilCheck
        case scan, scale, measurement, dcVoltage, readBack, rating
    }

    /// When each task is due; `nil` = never.
    struct Timetable {
        private var times = [MonotonicTime?](repeating: nil, count: Task.allCases.count)

        subscript(task: Task) -> MonotonicTime? {
            get { times[task.rawValue] }
            set { times[task.rawValue] = newValue }
        }
    }

    /// What goes over the wire.
    struct Request {
        var request: ModbusRequest
        var registers: [UInt16] = []
        var bits: [UInt8] = []
    }

    let unitID: UInt8
    /// `nil` of the meter.
    let unit: Int?
    let unitName: String?
    let role: Role
    let timeout: Duration
    let turnaround: Duration
    let poll: Duration
    var actuation = Actuation.safe

    var due = Timetable()
    var notBefore = MonotonicTime(nanoseconds: 0)
    var failures = 0
    var isSilent = false

    // What is read: `staged` by the transaction, seen by the cycle when it has ended.
    var stagedInverter = InverterImage()
    var stagedGrid = GridImage()
    var stagedInputs = DigitalInputImage()
    private(set) var inverterImage = InverterImage()
    private(set) var gridImage = GridImage()
    private(set) var inputImage = DigitalInputImage()

    var scan: SunSpecScan? = SunSpecScan()
    var plan: ModbusDevicePlan?
    var isLongRead = false
    var control: Control?
    var coils = Coils()
    var lastException: MonotonicTime?

    /// What an inverter was told.
    struct Control {
        let place: SunSpecModelPlace
        let encoding: SunSpecPowerControl
        /// What stands in it as far as we know.
        var written: Int32?
        var writtenAt = MonotonicTime(nanoseconds: 0)
        /// The block is written, the enable is still to come.
        var enables: Int32?
        var asked: Int32 = 0
        var notBefore = MonotonicTime(nanoseconds: 0)
    }

    /// What a module's coils were told.
    struct Coils {
        var written: UInt64?
        var told: UInt64 = 0
        var writtenAt = MonotonicTime(nanoseconds: 0)
        var asked: UInt64 = 0
        /// It dropped contactors by itself: they close only after they have been asked to open.
        var isHeldOff = false
        /// It was looked at since the last write.
        var isChecked = false
    }

    init(
        _ settings: ModbusConfig, _ role: Role, unit: Int?, unitName: String?, at now: MonotonicTime
    ) {
        unitID = settings.unitID
        timeout = settings.timeout
        turnaround = settings.turnaround
        poll = settings.poll
        self.role = role
        self.unit = unit
        self.unitName = unitName
        switch role {
        case .inverter, .meter: due[.scan] = now
        case .module: due[.inputs] = now
        }
    }

    mutating func publish() {
        inverterImage = stagedInverter
        gridImage = stagedGrid
        inputImage = stagedInputs
    }

    // MARK: What stands and what does not

    /// What we knew of the device no longer counts.
    mutating func forget(at time: MonotonicTime) {
        due = Timetable()
        coils.written = nil
        guard case .module = role else {
            control = nil
            plan = nil
            scan = SunSpecScan()
            due[.scan] = time
            return
        }
        due[.inputs] = time
    }

    /// It may have been restarted meanwhile: one look at its map comes before anything is written.
    mutating func suspend(at time: MonotonicTime) {
        guard let plan else { return forget(at: time) }
        due = Timetable()
        control = nil
        coils.written = nil
        switch role {
        case .inverter: due[plan.power == nil ? .scan : .scale] = time
        case .meter: due[.measurement] = time
        case .module: due[.inputs] = time
        }
        if plan.rating != nil, case .inverter = role { due[.rating] = time }
    }

    /// An answer did not come: what stands in the device is not known.
    mutating func missed(at now: MonotonicTime) {
        control?.written = nil
        control?.enables = nil
        coils.written = nil
        // A silent device is asked seldom.
        notBefore = isSilent ? now + .milliseconds(250) : now
    }
}

// MARK: Setpoints and coils

extension VirtualDevice {
    private static let coilCheckInterval = Duration.milliseconds(500)

    /// What is to be written now, before anything is read.
    func writing(at now: MonotonicTime) -> Task? {
        guard now >= notBefore else { return nil }
        switch role {
        case .meter: return nil
        case .inverter:
            guard let control, now >= control.notBefore else { return nil }
            if control.enables != nil { return .enable }
            guard let wanted = wanted(control, at: now) else { return nil }
            guard let written = control.written else { return .write }
            return isDue(control, written: written, wanted: wanted, at: now) ? .write : nil
        case .module(let map):
            guard map.coilRange != nil else { return nil }
            let asked = asked(map, at: now)
            guard coils.written != asked || now - coils.writtenAt >= poll else { return nil }
            let held = asked & coils.told & map.contactorMask
            return coils.written != nil && held != 0 && !coils.isChecked ? .coilCheck : .coils
        }
    }

    /// When a write comes that nobody asks for anew: a refresh, or the end of what was asked.
    var nextWrite: MonotonicTime? {
        switch role {
        case .meter: return nil
        case .inverter:
            guard let control, control.written != nil else { return nil }
            let refresh = control.writtenAt + .nanoseconds(control.refresh.nanoseconds)
            return actuation.setpoint == .zero
                ? refresh : min(refresh, max(actuation.expires + .nanoseconds(1), control.writtenAt))
        case .module(let map): return map.coilRange == nil ? nil : coils.writtenAt + poll
        }
    }

    private func wanted(_ control: Control, at now: MonotonicTime) -> Int32? {
        let power = actuation.setpoint(at: now)
        // What cannot be said becomes zero, which can.
        return (try? control.encoding.encode(power)) ?? (try? control.encoding.encode(.zero))
    }

    private func isDue(
        _ control: Control, written: Int32, wanted: Int32, at now: MonotonicTime
    ) -> Bool {
        if now - control.writtenAt >= control.refresh { return true }
        if wanted == written { return false }
        let (new, old) = (control.encoding.decode(wanted), control.encoding.decode(written))
        if new.magnitude < old.magnitude || (new < .zero) != (old < .zero) { return true }
        guard let rating = stagedInverter.ratedPower.fresh(at: now, within: .seconds(60)) else { return true }
        return (new - old).magnitude > rating * 0.0005
    }

    private func asked(_ map: ModbusIOMap, at now: MonotonicTime) -> UInt64 {
        let levels = map.levels(actuation, at: now)
        return coils.isHeldOff ? levels & ~map.contactorMask : levels
    }

    mutating func writeRequest(at now: MonotonicTime) -> Request? {
        guard var control, let wanted = wanted(control, at: now) else { return nil }
        control.asked = wanted
        self.control = control
        if control.written != nil {
            let words = control.encoding.words(wanted)
            return Self.write(
                [words.0, words.1], at: control.place.start &+ UInt16(control.encoding.setpointOffset))
        }
        var block = [UInt16](repeating: 0, count: 10)
        let (offset, count) = block.withUnsafeMutableBufferPointer {
            control.encoding.activation(wanted, into: $0)
        }
        return Self.write(Array(block.prefix(count)), at: control.place.start &+ UInt16(offset))
    }

    var enableRequest: Request? {
        guard let control, let enable = control.encoding.enable else { return nil }
        return Self.write([enable.value], at: control.place.start &+ UInt16(enable.offset))
    }

    mutating func coilRequest(_ map: ModbusIOMap, at now: MonotonicTime) -> Request? {
        guard let range = map.coilRange else { return nil }
        if map.levels(actuation, at: now) & map.contactorMask == 0 { coils.isHeldOff = false }
        coils.asked = asked(map, at: now)
        let bits = (0..<range.count).map { UInt8(coils.asked >> UInt64($0) & 1) }
        return Request(request: .writeCoils(at: range.lowerBound, count: range.count), bits: bits)
    }

    private static func write(_ values: [UInt16], at address: UInt16) -> Request {
        Request(request: .writeRegisters(at: address, count: values.count), registers: values)
    }

    mutating func acknowledged(_ task: Task, at now: MonotonicTime, _ events: inout [CoreEvent]) {
        switch task {
        case .write:
            guard var control else { return }
            if control.written == nil, control.encoding.enable != nil {
                control.enables = control.asked
            } else {
                if control.written == nil { taken(now, &events) }
                control.written = control.asked
                control.writtenAt = now
            }
            self.control = control
        case .enable:
            let enabled = control?.enables
            control?.written = enabled
            control?.enables = nil
            control?.writtenAt = now
            taken(now, &events)
        case .coils:
            coils.written = coils.asked
            coils.told = coils.asked
            coils.writtenAt = now
            coils.isChecked = false
            if due[.coilCheck] == nil { due[.coilCheck] = now }
        case .inputs, .coilCheck, .scan, .scale, .measurement, .dcVoltage, .readBack, .rating: break
        }
    }

    private mutating func taken(_ now: MonotonicTime, _ events: inout [CoreEvent]) {
        due[.readBack] = now + .seconds(1)
        events.append(
            CoreEvent(name: "control_taken", unit: unitName, text: "its setpoint is written and enabled"))
    }

    /// What stands in the module's coils.
    mutating func found(
        _ levels: [UInt8], _ map: ModbusIOMap, at now: MonotonicTime, _ events: inout [CoreEvent]
    ) {
        due[.coilCheck] = now + Self.coilCheckInterval
        coils.isChecked = true
        var found: UInt64 = 0
        for (index, level) in levels.enumerated() where level != 0 { found |= 1 << UInt64(index) }
        guard let written = coils.written, found != written else { return }
        coils.written = nil
        if written & ~found & map.contactorMask != 0 { coils.isHeldOff = true }
        events.append(
            CoreEvent(name: "coils_overridden", unit: unitName, text: "coils do not stand as written"))
    }
}

extension VirtualDevice.Control {
    var refresh: Duration { .nanoseconds(encoding.reversionSeconds * 1_000_000_000 / 3) }
}
