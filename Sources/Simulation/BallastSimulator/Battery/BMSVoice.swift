import BatteryProfiles
import DeviceCodecs
import Plant
import Quantities
import Scenario
import SiteConfig

/// What a simulated BMS puts on its bus and when, with what goes wrong on the way. It reads no clock, so that
/// a wire and a recording sound alike.
public struct BMSVoice: Sendable {
    private enum Source {
        /// the built-in battery: all frames at once, every period.
        case builtIn(BMSFrames, period: Duration, next: MonotonicTime?)
        /// With whoever else speaks in its name, who has a counter of its own.
        case profile(ProfileEncoder, twin: ProfileEncoder?)
    }

    /// Frames that are late are lost when more than these wait.
    private static let queueLimit = 10_000
    /// Current sensors of racks are no better than this; it is what tells a living battery from a frozen one.
    private static let currentNoise = 0.4

    private var source: Source
    private var random: SplitMix64
    /// As it was when its values stopped.
    private var held: (unit: SimulatedUnit, noise: Amperes)?
    private var late: [(due: MonotonicTime, frame: CANFrame)] = []
    private var wasBusOff = false
    /// Frames are on their way that say what was true some time ago.
    public var hasFramesToCome: Bool { !late.isEmpty }
    /// The sample before, whose cells stay where their board repeats itself.
    private var stuckCells: BatterySample?
    private var periods = 0
    private var floodDue: MonotonicTime?
    private var isFlooding = false
    /// What it must hear to speak; empty: it speaks always.
    public let keepAlives: Set<UInt32>
    /// What its last frames said, before anything went wrong on the wire; `nil` before the first.
    public private(set) var said: BatterySample?

    /// The battery of a unit: by its profile, else the built-in one's.
    public init(_ unit: UnitConfig, _ profile: BatteryProfile?, seed: UInt64) {
        if let profile {
            self.init(profile, seed: seed)
        } else {
            let frames = BMSFrames(packVoltageResolution: unit.battery.packVoltageResolution)
            self.init(frames, period: unit.battery.period, seed: seed)
        }
    }

    init(_ frames: BMSFrames, period: Duration, seed: UInt64) {
        source = .builtIn(frames, period: period, next: nil)
        random = SplitMix64(seed: seed)
        keepAlives = [0x305]
    }

    init(_ profile: BatteryProfile, seed: UInt64) {
        source = .profile(ProfileEncoder(profile), twin: nil)
        random = SplitMix64(seed: seed)
        keepAlives = Set(profile.sends.map { Self.key($0.frame) })
    }

    public static func key(_ frame: CANFrame) -> UInt32 {
        frame.isExtended ? frame.identifier | 0x8000_0000 : frame.identifier
    }

    /// When there may be something to send.
    public var next: MonotonicTime? {
        let due: MonotonicTime? =
            switch source {
            case .builtIn(_, _, let next): next
            case .profile(let encoder, _): encoder.next
            }
        let others = late.map(\.due) + (isFlooding ? [floodDue].compactMap { $0 } : [])
        guard let first = others.min() else { return due }
        return due.map { min($0, first) } ?? first
    }

    /// The frames that go out at `now`.
    public mutating func frames(_ unit: SimulatedUnit, at now: MonotonicTime) -> [CANFrame] {
        let frames = spoken(unit, at: now)
        if unit.has(.bmsBusOff) {
            late = []
            defer { wasBusOff = true }
            return wasBusOff ? [] : [CANFrame(0x40, kind: .error)]
        }
        wasBusOff = false
        if unit.has(.bmsSilence) { return [] }
        return delayed(frames.map { Self.cut($0, unit) }, unit, at: now) + flood(unit, at: now)
    }

    /// As much as half a megabit a second carries.
    private mutating func flood(_ unit: SimulatedUnit, at now: MonotonicTime) -> [CANFrame] {
        isFlooding = unit.has(.bmsFlood)
        guard isFlooding, now >= floodDue ?? now else { return [] }
        floodDue = now + .milliseconds(10)
        let frame = CANFrame(0x7EF, bytes: [1, 2, 3, 4, 5, 6, 7, 8])
        return frame.map { Array(repeating: $0, count: 40) } ?? []
    }

    /// With every byte 0xFF, where the battery has no values.
    private static func blank(_ frames: [CANFrame], _ unit: SimulatedUnit) -> [CANFrame] {
        guard unit.has(.bmsNotAvailable) else { return frames }
        return frames.map { frame in
            let bytes = [UInt8](repeating: 0xFF, count: frame.length)
            return CANFrame(frame.identifier, isExtended: frame.isExtended, bytes: bytes) ?? frame
        }
    }

    private mutating func spoken(_ unit: SimulatedUnit, at now: MonotonicTime) -> [CANFrame] {
        var noise = Amperes(0)
        if unit.battery.current.magnitude > Amperes(1) {
            noise = Amperes(Self.currentNoise * random.nextSpread())
        }
        if !unit.has(.bmsFrozen) && !unit.has(.bmsStuck) {
            held = nil
        } else if held == nil {
            held = (unit, noise)
        }
        let seen = held ?? (unit, noise)
        switch source {
        case .builtIn(let frames, let period, let next):
            let due = next ?? now
            guard now >= due else { return [] }
            let later = due + period
            source = .builtIn(frames, period: period, next: later > now ? later : now + period)
            if unit.has(.bmsGarbage) { return BMSFrames.garbage }
            let sample = say(seen)
            let twin = unit.has(.bmsSecondSender) ? frames.all(sample.whitewashed) : []
            return Self.blank(frames.all(sample), unit) + twin
        case .profile(var encoder, var twin):
            encoder.areCountersStopped = unit.has(.bmsFrozen)
            encoder.spoilsChecksums = unit.has(.bmsBadChecksum)
            if unit.has(.bmsSecondSender) { twin = twin ?? encoder } else { twin = nil }
            let sample = say(seen)
            let frames = encoder.frames(at: now, sample)
            let others = twin?.frames(at: now, sample.whitewashed) ?? []
            source = .profile(encoder, twin: twin)
            if unit.has(.bmsGarbage) { return frames.map { garbage($0) } }
            return Self.blank(frames, unit) + others
        }
    }

    private mutating func say(_ seen: (unit: SimulatedUnit, noise: Amperes)) -> BatterySample {
        var sample = BatterySample(seen.unit, noise: seen.noise)
        periods += 1
        sample.lie(seen.unit.faults, period: periods)
        if seen.unit.has(.bmsCellsStuck) { sample.takeCells(of: stuckCells ?? sample) }
        stuckCells = sample
        said = sample
        return sample
    }

    /// The same message with nonsense in it, or a part of one.
    private mutating func garbage(_ frame: CANFrame) -> CANFrame {
        var result = CANFrame(frame.identifier, isExtended: frame.isExtended)
        let length = Int(random.next() % 9)
        for _ in 0..<length { result.append(UInt8(truncatingIfNeeded: random.next())) }
        return result
    }

    private static func cut(_ frame: CANFrame, _ unit: SimulatedUnit) -> CANFrame {
        var frame = frame
        for fault in unit.faults {
            if case .bmsShortFrames(let length) = fault { frame.length = min(frame.length, length) }
        }
        return frame
    }

    private mutating func delayed(
        _ frames: [CANFrame], _ unit: SimulatedUnit, at now: MonotonicTime
    ) -> [CANFrame] {
        var jitter = Duration.zero
        for fault in unit.faults { if case .bmsJitter(let time) = fault { jitter = time } }
        guard jitter > .zero || !late.isEmpty else { return frames }
        for frame in frames where late.count < Self.queueLimit {
            let share = (random.nextSpread() + 1) / 2
            late.append((now + .nanoseconds(Int64(jitter.seconds * share * 1e9)), frame))
        }
        let due = late.filter { $0.due <= now }
        late.removeAll { $0.due <= now }
        return due.map(\.frame)
    }
}

extension BatterySample {
    /// What the BMS of a simulated unit knows of its battery.
    ///
    /// - Parameter noise: of the current's sensor.
    init(_ unit: SimulatedUnit, noise: Amperes) {
        self.init()
        let (battery, management) = (unit.battery, unit.management)
        let (voltages, temperatures) = (battery.cellVoltages, battery.cellTemperatures)
        let percent = battery.shownStateOfCharge.clamped(.zero, Fraction(1)).percent
        self[.cellVoltageMax] = voltages.max.value
        self[.cellVoltageMin] = voltages.min.value
        self[.cellTemperatureMax] = temperatures.max.value
        self[.cellTemperatureMin] = temperatures.min.value
        self[.packVoltage] = battery.packVoltage.value
        self[.packCurrent] = battery.current.value + noise.value
        self[.stateOfCharge] = percent
        self[.stateOfHealth] = 100
        self[.chargeCurrentLimit] = management.chargeCurrentLimit(battery).value
        self[.dischargeCurrentLimit] = management.dischargeCurrentLimit(battery).value
        self[.chargeVoltageLimit] = management.chargeVoltageLimit(battery).value
        self[.dischargeVoltageLimit] = management.dischargeVoltageLimit(battery).value
        self[.insulation] = 2_000_000
        self[.contactors] = battery.isContactorClosed ? 1 : 0
        self[.packTemperature] = temperatures.min.value
        cellVoltages = battery.allCellVoltages.map(\.value)
        cellTemperatures = battery.allCellTemperatures.map(\.value)
        for cause in management.protections {
            switch cause {
            case .cellVoltageHigh: alarms.insert(.voltageHigh)
            case .cellVoltageLow: alarms.insert(.voltageLow)
            case .cellTemperatureHigh: alarms.insert(.temperatureHigh)
            case .systemError: alarms.insert(.internalFault)
            }
        }
        if management.isTemperatureWarning { warnings.insert(.temperatureHigh) }
        let isAllowed = management.protections.isEmpty
        permissions = []
        if isAllowed && self[.chargeCurrentLimit] ?? 0 > 0 { permissions.insert(.charge) }
        if isAllowed && self[.dischargeCurrentLimit] ?? 0 > 0 { permissions.insert(.discharge) }
    }
}
