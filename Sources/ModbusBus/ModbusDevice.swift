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

    public init(unitID: UInt8, poll: Duration) {
        self.unitID = unitID
        self.poll = poll
    }
}

/// What the owner of a link asks a device for, in the order of rank where several are due at once.
enum ModbusTask: Int, CaseIterable {
    /// Of an I/O module: its discrete inputs, and its coils as they stand.
    case inputs, coils
    case scan, scale, measurement, dcVoltage, readBack, rating, identity, reactive
}

/// Where a device's values are, after the scan.
struct ModbusDevicePlan {
    var measurement: (place: SunSpecModelPlace, kind: SunSpecMeasurement)?
    var rating: (place: SunSpecModelPlace, kind: SunSpecRating)?
    /// Where the measurement does not carry it.
    var dcVoltage: (place: SunSpecModelPlace, kind: SunSpecDCVoltage)?
    var controls: SunSpecModelPlace?
    var common: SunSpecModelPlace?

    init(_ map: SunSpecMap, isMeter: Bool) {
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
        rating = map.first { $0 == 702 ? .capacity : nil } ?? map.first(SunSpecRating.init(modelID:))
        controls = map.first(704).flatMap {
            Int($0.length) + 2 > SunSpecSetpointControl.scaleOffset ? $0 : nil
        }
        common = map.first(1)
    }
}

/// What we have told a device to do.
struct ModbusControlState {
    let place: SunSpecModelPlace
    let encoding: SunSpecSetpointControl
    /// The value that stands in the device as far as we know; `nil` before the block was written and enabled.
    var written: Int32?
    var writtenAt = MonotonicTime(nanoseconds: 0)
    /// After a refused write.
    var notBefore = MonotonicTime(nanoseconds: 0)
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
        case inverter(reversion: Duration, readsDCVoltage: Bool)
        case meter(SunSpecMeterSign)
        case module(ModbusIOMap)
    }

    let settings: ModbusDeviceSettings
    let role: Role
    /// `nil` = the device's own.
    let reactiveSetting: SunSpecReactiveControl.Setting?
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
    var control: ModbusControlState?
    var coils = ModbusCoilState()
    var reactive: ModbusReactiveState?
    var rating: Watts?
    /// Adjacent readings differ in length, so that a late answer to one never fits the next.
    var isLongRead = false
    private var due: [MonotonicTime?]

    private(set) var failures = 0
    private(set) var isSilent = false
    private var backOff = Duration.seconds(1)
    private var probes = 0
    private(set) var notBefore = MonotonicTime(nanoseconds: 0)
    /// Earliest next report of a kind that can repeat.
    var nextExceptionReport = MonotonicTime(nanoseconds: 0)
    var nextOverrideReport = MonotonicTime(nanoseconds: 0)
    var nextRefusalReport = MonotonicTime(nanoseconds: 0)
    var nextReactiveReport = MonotonicTime(nanoseconds: 0)
    /// What the last scan said; it is told again only when it changes.
    var lastModelsReported: [SunSpecModelPlace]?

    init(
        _ settings: ModbusDeviceSettings, reversion: Duration, readsDCVoltage: Bool,
        reactive: SunSpecReactiveControl.Setting?,
        setpoints: consuming TripleBufferReader<Actuation>,
        images: consuming TripleBufferWriter<InverterImage>
    ) {
        self.settings = settings
        role = .inverter(reversion: reversion, readsDCVoltage: readsDCVoltage)
        reactiveSetting = reactive
        self.setpoints = consume setpoints
        inverterImages = consume images
        due = Self.firstTasks(role, at: MonotonicTime(nanoseconds: 0))
    }

    init(
        _ settings: ModbusDeviceSettings, sign: SunSpecMeterSign,
        images: consuming TripleBufferWriter<GridImage>
    ) {
        self.settings = settings
        role = .meter(sign)
        reactiveSetting = nil
        gridImages = consume images
        due = Self.firstTasks(role, at: MonotonicTime(nanoseconds: 0))
    }

    init(
        _ settings: ModbusDeviceSettings, map: ModbusIOMap,
        actuations: consuming TripleBufferReader<Actuation>,
        images: consuming TripleBufferWriter<DigitalInputImage>
    ) {
        self.settings = settings
        role = .module(map)
        reactiveSetting = nil
        scan = nil
        setpoints = consume actuations
        inputImages = consume images
        due = Self.firstTasks(role, at: MonotonicTime(nanoseconds: 0))
    }

    /// A module needs no scan.
    private static func firstTasks(_ role: Role, at time: MonotonicTime) -> [MonotonicTime?] {
        ModbusTask.allCases.map { task in
            switch (role, task) {
            case (.module, .inputs), (.module, .coils), (.inverter, .scan), (.meter, .scan): time
            case (.module, _), (.inverter, _), (.meter, _): nil
            }
        }
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

    // MARK: Values in and out

    /// The power that is asked for now: the newest actuation's, or zero once it has expired.
    func setpoint(at now: MonotonicTime) -> Watts {
        actuation.setpoint(at: now)
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

    /// The task that is due longest, if any is due at `now`.
    func nextTask(at now: MonotonicTime) -> (task: ModbusTask, due: MonotonicTime)? {
        guard now >= notBefore else { return nil }
        var best: (task: ModbusTask, due: MonotonicTime)?
        for task in ModbusTask.allCases {
            guard let time = due[task.rawValue], time <= now else { continue }
            if best.map({ time < $0.due }) ?? true { best = (task, time) }
        }
        return best
    }

    func setDue(_ task: ModbusTask, _ time: MonotonicTime?) { due[task.rawValue] = time }

    /// Puts a repeated task one interval on, in step with its earlier times where it is not more than one
    /// behind.
    func repeatTask(_ task: ModbusTask, every interval: Duration, at now: MonotonicTime) {
        let next = (due[task.rawValue] ?? now) + interval
        due[task.rawValue] = next + interval < now ? now + interval : next
    }

    /// What we knew of the device no longer counts: scan it, before anything else.
    func forget(at time: MonotonicTime) {
        due = Self.firstTasks(role, at: time)
        forgetWritten()
        if case .module = role { return }
        scan = SunSpecScan()
        isScanDoubtful = false
        plan = nil
        control = nil
        reactive = nil
    }

    /// What stands in the device is not known any more: it is written anew.
    func forgetWritten() {
        control?.written = nil
        coils.written = nil
    }

    // MARK: Health

    /// Answer time-out for the next request: short for most probes of a silent device that shares its line.
    func timeout(_ full: Duration, isShared: Bool) -> Duration {
        isSilent && isShared && probes % 4 != 3 ? min(full, .milliseconds(100)) : full
    }

    /// - Returns: whether the device had been silent.
    func answered() -> Bool {
        let wasSilent = isSilent
        failures = 0
        isSilent = false
        backOff = .seconds(1)
        notBefore = MonotonicTime(nanoseconds: 0)
        return wasSilent
    }

    /// - Returns: whether the device has become silent by this failure.
    func failed(at now: MonotonicTime) -> Bool {
        failures += 1
        guard failures >= 3 else { return false }
        let becameSilent = !isSilent
        isSilent = true
        probes += 1
        notBefore = now + backOff
        backOff = min(backOff * 2, .seconds(10))
        if plan != nil { forget(at: now) }
        return becameSilent
    }
}
