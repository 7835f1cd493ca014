import DeviceCodecs
import LinuxIO
import Plant
import Quantities

/// One device on a link.
public struct ModbusDeviceSettings: Sendable, Equatable {
    /// 1 … 247; on TCP also 255.
    public var unitID: UInt8
    /// Nominal time between two readings of the device's values.
    public var poll: Duration
    /// Longest wait for its answer, at most the link's; `nil` = the link's.
    public var timeout: Duration?

    public init(unitID: UInt8, poll: Duration, timeout: Duration? = nil) {
        self.unitID = unitID
        self.poll = poll
        self.timeout = timeout
    }
}

/// What the owner of a link asks a device for, in the order of rank where several are due at once.
enum ModbusTask: Int, CaseIterable {
    /// Of an I/O module: its discrete inputs, and its coils as they stand.
    case inputs, coils
    case scan, scale, measurement, dcVoltage, readBack, rating, identity, reactive, cap

    /// What the cycle waits for: read just before it begins. The rest is done where there is time.
    var isValue: Bool {
        switch self {
        case .inputs, .measurement, .dcVoltage: true
        case .coils, .scan, .scale, .readBack, .rating, .identity, .reactive, .cap: false
        }
    }
}

/// Where a device's values are, after the scan.
public struct ModbusDevicePlan {
    public private(set) var measurement: (place: SunSpecModelPlace, kind: SunSpecMeasurement)?
    public private(set) var rating: (place: SunSpecModelPlace, kind: SunSpecRating)?
    /// Where the measurement does not carry it.
    public private(set) var dcVoltage: (place: SunSpecModelPlace, kind: SunSpecDCVoltage)?
    /// 704, which also holds reactive power.
    public private(set) var controls: SunSpecModelPlace?
    /// What active power is asked for by.
    public private(set) var power: (place: SunSpecModelPlace, model: SunSpecPowerControl.Model)?
    public private(set) var common: SunSpecModelPlace?
    /// 120, where it is long enough to tell the largest discharge power.
    private(set) var nameplate: SunSpecModelPlace?
    /// 123, and 121 for what its shares are of.
    private(set) var immediate: SunSpecModelPlace?
    private(set) var settings: SunSpecModelPlace?
    /// Where it shows what flows through it.
    private(set) var powerPlaces = ModbusPowerPlaces()
    /// 715 `ControllerHb`, else 802 `CtrlHb`: one more each second.
    var heartbeat: ModbusHeartbeat?

    public init(_ map: SunSpecMap, isMeter: Bool) {
        let der = map.first { $0 == 701 ? SunSpecMeasurement.der : nil }
        let meter = map.first { id -> SunSpecMeasurement? in
            SunSpecMeasurement(modelID: id).flatMap { $0 == .meter || $0 == .meterFloat ? $0 : nil }
        }
        let inverter = map.first { id -> SunSpecMeasurement? in
            SunSpecMeasurement(modelID: id).flatMap { $0 == .meter || $0 == .meterFloat ? nil : $0 }
        }
        measurement = isMeter ? meter ?? der ?? inverter : der ?? inverter
        if measurement?.kind == .der, !isMeter {
            dcVoltage =
                map.first { $0 == 714 ? .dcMeasurement : nil } ?? map.first(SunSpecDCVoltage.init(modelID:))
        }
        powerPlaces = ModbusPowerPlaces(
            activePower: measurement.flatMap { ModbusValuePlace($0.kind.activePower, in: $0.place) },
            dcPower: map.first(SunSpecDCPower.init(modelID:)).flatMap { ModbusValuePlace($1.point, in: $0) })
        rating = map.first { $0 == 702 ? .capacity : nil } ?? map.first(SunSpecRating.init(modelID:))
        controls = map.first(704).flatMap {
            Int($0.length) + 2 > SunSpecSetpointControl.scaleOffset ? $0 : nil
        }
        power =
            controls.map { ($0, .acControls) }
            ?? map.first(124).flatMap {
                Int($0.length) + 2 >= SunSpecStorageControl.registerCount ? ($0, .storage) : nil
            }
        common = map.first(1)
        nameplate = map.first(120).flatMap { $0.length >= 25 ? $0 : nil }
        immediate = map.first(123).flatMap {
            Int($0.length) + 2 >= SunSpecOutputCap.registerCount ? $0 : nil
        }
        settings = map.first(121).flatMap {
            Int($0.length) + 2 >= SunSpecSettings.registerCount ? $0 : nil
        }
        if let place = map.first(715), place.length >= 5 {
            heartbeat = ModbusHeartbeat(
                address: place.start &+ 5, isLong: true, isLowWordFirst: false, interval: .seconds(1))
        } else if let place = map.first(802), place.length >= 18 {
            heartbeat = ModbusHeartbeat(
                address: place.start &+ 19, isLong: false, isLowWordFirst: false, interval: .seconds(1))
        }
    }
}

/// What we have told a device to do.
struct ModbusControlState {
    let place: SunSpecModelPlace
    let encoding: SunSpecPowerControl
    /// The value that stands in the device as far as we know; `nil` before the block was written and enabled.
    var written: Int32?
    var writtenAt = MonotonicTime(nanoseconds: 0)
    /// What was refused last, and when.
    var refused: (value: Int32, at: MonotonicTime)?
    /// When the power of ten was last seen to be the one that our numbers are made with.
    var scaleSeenAt = MonotonicTime(nanoseconds: 0)
}

/// A request that has not been answered, and may still be.
struct ModbusLate {
    let request: ModbusRequest
    /// TCP: its number.
    let transaction: UInt16
    /// First.
    let asked: MonotonicTime
    /// No answer comes later.
    let until: MonotonicTime
    /// It was repeated, and one of the two answers has come.
    var isHalf = false
}

/// What we have told a device about reactive power.
struct ModbusReactiveState {
    let control: SunSpecReactiveControl
    /// The next write.
    var step = 0
    var isWritten = false
    /// The last time that the setting had to be put right.
    var correctedAt: MonotonicTime?
}

/// The state of one device; lives on the link's thread.
final class ModbusDevice {
    enum Role {
        case inverter(reversion: Duration, readsDCVoltage: Bool, acceptsUnprovenReversion: Bool)
        case meter(SunSpecMeterSign)
        case module(ModbusIOMap)
    }

    let settings: ModbusDeviceSettings
    let role: Role
    /// `nil` = the device's own.
    let reactiveSetting: SunSpecReactiveControl.Setting?
    /// What the device itself is to limit its output to; `nil` = nothing is written.
    let outputCap: Watts?
    /// Of an inverter; `nil` = it is told zero whatever it does.
    var obedience: ModbusObedience?
    /// The controller wants it left alone, so that its own timer ends its power.
    var isResting = false
    /// Nothing is written to it: each write would start its own timer anew.
    var isLeftAlone: Bool { isResting || obedience?.isLeftAlone == true }
    private var setpoints: TripleBufferReader<Actuation>?
    private var inverterImages: TripleBufferWriter<InverterImage>?
    private var gridImages: TripleBufferWriter<GridImage>?
    private var inputImages: TripleBufferWriter<DigitalInputImage>?
    var inverterImage = InverterImage()
    var gridImage = GridImage()
    var inputImage = DigitalInputImage()

    var scan: SunSpecScan? = SunSpecScan()
    /// A base address was passed over because no answer came: the marker may be there all the same.
    var isScanDoubtful = false
    var plan: ModbusDevicePlan?
    /// What the last complete scan found; it stays while the device is looked at anew.
    var models: [SunSpecModelPlace] = []
    var control: ModbusControlState?
    /// It has said who it is, or cannot, since it was found or missing; how often we waited to ask.
    var (isIdentified, identityWaits) = (false, 0)
    /// Whose behaviour after silence was proven; `nil` = nobody's, or of one that does not say who it is.
    var provenIdentity: UInt64?
    var coils = ModbusCoilState()
    /// Of an inverter.
    let silence = ModbusSilence()
    /// Of an I/O module.
    let hush = ModbusHush()
    /// A device without SunSpec.
    var driver: ModbusDriver?
    var heartbeat: ModbusHeartbeat?
    /// What the last read-back of a driver's device showed.
    var found = Watts.zero
    var reactive: ModbusReactiveState?
    var cap = ModbusCapState()
    var rating: Watts?
    /// Adjacent readings differ in length, so that a late answer to one never fits the next.
    var isLongRead = false
    /// Made anew when the link's thread starts.
    var timetable: ModbusTimetable
    let status: ModbusDeviceStatus
    /// Its last request.
    var askedAt = MonotonicTime(nanoseconds: 0)
    var late: ModbusLate?
    /// TCP: since when a repeated request has not been answered; `nil` where nothing is owed.
    var unansweredSince: MonotonicTime?
    /// What the last scale check took.
    var scaleCheckTime = Duration.milliseconds(5)
    /// Its scale is to be looked at as soon as it has been read.
    var owesScaleCheck = false
    /// Kinds of bad answers that were reported, by `ModbusMismatch`; each once until the device is back.
    var toldMismatches: UInt16 = 0
    /// Earliest next report of a kind that can repeat.
    var nextExceptionReport = MonotonicTime(nanoseconds: 0)
    var rival = ModbusRival()
    /// What takes it to zero, for the time in which it answers nobody and may hear all the same.
    var blindZero: ModbusBlindZero?
    var nextOverrideReport = MonotonicTime(nanoseconds: 0)
    var nextRefusalReport = MonotonicTime(nanoseconds: 0)
    var nextReactiveReport = MonotonicTime(nanoseconds: 0)
    var nextCapReport = MonotonicTime(nanoseconds: 0)
    /// What the last scan said; it is told again only when it changes.
    var lastModelsReported: [SunSpecModelPlace]?

    init(
        _ settings: ModbusDeviceSettings, reversion: Duration, readsDCVoltage: Bool,
        acceptsUnprovenReversion: Bool, driver: RegisterMap?,
        reactive: SunSpecReactiveControl.Setting?, outputCap: Watts?,
        setpoints: consuming TripleBufferReader<Actuation>,
        images: consuming TripleBufferWriter<InverterImage>
    ) {
        self.settings = settings
        role = .inverter(
            reversion: reversion, readsDCVoltage: readsDCVoltage,
            acceptsUnprovenReversion: acceptsUnprovenReversion)
        reactiveSetting = reactive
        self.outputCap = outputCap
        self.setpoints = consume setpoints
        inverterImages = consume images
        self.driver = driver.map { ModbusDriver($0) }
        if driver != nil { scan = nil }
        status = ModbusDeviceStatus(unit: settings.unitID)
        timetable = ModbusTimetable(settings, role, hasDriver: driver != nil)
    }

    init(
        _ settings: ModbusDeviceSettings, sign: SunSpecMeterSign, driver: RegisterMap?,
        images: consuming TripleBufferWriter<GridImage>
    ) {
        self.settings = settings
        role = .meter(sign)
        reactiveSetting = nil
        outputCap = nil
        gridImages = consume images
        self.driver = driver.map { ModbusDriver($0) }
        if driver != nil { scan = nil }
        status = ModbusDeviceStatus(unit: settings.unitID)
        timetable = ModbusTimetable(settings, role, hasDriver: driver != nil)
    }

    init(
        _ settings: ModbusDeviceSettings, map: ModbusIOMap,
        actuations: consuming TripleBufferReader<Actuation>,
        images: consuming TripleBufferWriter<DigitalInputImage>
    ) {
        self.settings = settings
        role = .module(map)
        reactiveSetting = nil
        outputCap = nil
        scan = nil
        setpoints = consume actuations
        inputImages = consume images
        status = ModbusDeviceStatus(unit: settings.unitID)
        timetable = ModbusTimetable(settings, role)
    }

    var isMeter: Bool {
        switch role {
        case .inverter, .module: false
        case .meter: true
        }
    }

    var isModule: Bool {
        switch role {
        case .inverter, .meter: false
        case .module: true
        }
    }

    /// Where it shows what flows through it.
    var powerPlaces: ModbusPowerPlaces {
        guard let driver else { return plan?.powerPlaces ?? ModbusPowerPlaces() }
        let index = driver.map.index(of: .activePower)
        return ModbusPowerPlaces(activePower: index.flatMap { ModbusValuePlace(driver.map.registers[$0]) })
    }

    // MARK: Values in and out

    /// What is asked for now: the newest actuation's, or zero: once it has expired, of one that nobody knows.
    func setpoint(at now: MonotonicTime) -> Watts {
        plan == nil || isIdentified ? actuation.setpoint(at: now) : .zero
    }

    /// The newest, which may have expired.
    var actuation: Actuation {
        setpoints?.update()
        return setpoints?.latest.pointee ?? .safe
    }

    func publish() {
        inverterImages?.publish(inverterImage)
        gridImages?.publish(gridImage)
        inputImages?.publish(inputImage)
    }

    func publishStatus() { status.store(timetable) }

    /// Says that the device cannot give what is needed of it.
    func publishNotImplemented(at now: MonotonicTime) {
        let block = SunSpecBlock(UnsafeBufferPointer(start: nil, count: 0), length: 0)
        inverterImage = InverterImage()
        inverterImage.ratedPower = .bad(.notImplemented, since: now)
        SunSpecMeasurement.der.decode(block, at: now, into: &inverterImage)
        SunSpecMeasurement.der.decode(block, sign: .generation, at: now, into: &gridImage)
        publish()
    }

    // MARK: Schedule

    func setDue(_ task: ModbusTask, _ time: MonotonicTime?) { timetable.setDue(task, time) }

    func repeatTask(_ task: ModbusTask, every interval: Duration, at now: MonotonicTime) {
        timetable.repeatTask(task, every: interval, at: now)
    }

    /// What we knew of the device no longer counts: scan it, before anything else.
    func forget(at time: MonotonicTime) {
        timetable.restart(at: time)
        forgetWritten()
        if case .module = role { return }
        control = nil
        heartbeat = nil
        if driver != nil { return }
        blindZero = nil
        scan = SunSpecScan()
        isScanDoubtful = false
        plan = nil
        reactive = nil
        cap = ModbusCapState()
    }

    /// The device may have been restarted or exchanged meanwhile. Where its models lie is kept, but one
    /// look at them comes before anything is written, and then everything is: a walk along the chain would
    /// leave an inverter undriven for seconds.
    func suspend(at time: MonotonicTime) {
        guard let plan, let first = firstLook else { return forget(at: time) }
        if control != nil { blindZero?.begin() }
        timetable.clear()
        forgetWritten()
        control = nil
        heartbeat = nil
        reactive = nil
        cap = ModbusCapState()
        (isIdentified, identityWaits) = (plan.common == nil || isMeter, 0)
        timetable.setDue(first, time)
        if plan.rating != nil, !isMeter { timetable.setDue(.rating, time) }
        if plan.common != nil, isMeter { timetable.setDue(.identity, time) }
    }

    /// The task that shows whether the map is still the same.
    private var firstLook: ModbusTask? {
        switch role {
        case .inverter: plan?.power == nil ? nil : .scale
        case .meter: plan?.measurement == nil ? nil : .measurement
        case .module: nil
        }
    }

    /// What stands in the device is not known any more: it is written anew.
    func forgetWritten() {
        control?.written = nil
        coils.written = nil
    }

    // MARK: Health

    var notBefore: MonotonicTime { timetable.notBefore }
    var failures: Int { timetable.failures }
    var isSilent: Bool { timetable.health == .silent }

    /// - Returns: whether the device had been silent.
    func answered(in turnaround: Duration) -> Bool {
        timetable.pace.answered(in: turnaround)
        let isBack = timetable.answered()
        if isBack { toldMismatches = 0 }
        return isBack
    }

    /// - Parameter quiet: it gets no request for so long.
    /// - Returns: whether the device has become silent by this failure.
    func failed(at now: MonotonicTime, quiet: Duration) -> Bool {
        timetable.pace.missed()
        let becameSilent = timetable.failed(at: now, quiet: quiet)
        if becameSilent && (plan != nil || driver != nil) { suspend(at: now) }
        return becameSilent
    }
}
