import Plant
import Quantities

/// The low-voltage battery frames that Pylontech, Victron CAN-bms and SMA Sunny Island share, as one running
/// picture.
///
/// 11-bit identifiers, little endian; frames carry + = charging, the picture + = discharging: the sign turns
/// here and nowhere else. A field that a frame is too short for keeps its earlier sample and ages.
/// Any frame may be fed. Source: can-bms facts §1 (vendor documents and public captures).
public struct PylontechLowVoltage: Sendable {
    /// What differs between the makers of this family.
    public struct Dialect: Sendable, Equatable {
        /// Unit of the pack voltage in frame 0x356.
        public enum PackVoltageResolution: Sendable, Equatable {
            /// 0.01 V: Pylontech, Victron, SMA.
            case centivolt
            /// 0.1 V: Sol-Ark V1.3, "CAN Hybrid V1.0", Luxpower-HV.
            case decivolt
        }

        public var packVoltageResolution: PackVoltageResolution
        public var alarmPairs: AlarmPairRule

        public init(
            packVoltageResolution: PackVoltageResolution = .centivolt,
            alarmPairs: AlarmPairRule = .pylontech(zerosToClear: 10)
        ) {
            self.packVoltageResolution = packVoltageResolution
            self.alarmPairs = alarmPairs
        }
    }

    /// The frames that are read.
    public static let identifiers: [UInt32] = [
        0x351, 0x355, 0x356, 0x359, 0x35A, 0x35C, 0x35E, 0x35F, 0x373,
    ]

    /// What the battery wants of the system (frame 0x35C); shown, not acted on.
    public struct Requests: OptionSet, Sendable, BitwiseCopyable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        public static let fullCharge = Requests(rawValue: 1 << 3)
        public static let forcedChargeSecond = Requests(rawValue: 1 << 4)
        public static let forcedChargeFirst = Requests(rawValue: 1 << 5)
    }

    /// Everything received so far, each with the time its frame came.
    public private(set) var image = BatteryImage()
    /// Of frame 0x356; a pack's own sensor, which need not be its hottest cell.
    public private(set) var packTemperature: Reading<Celsius> = .neverSeen
    public private(set) var requests: Reading<Requests> = .neverSeen
    /// Modules the BMS counts in frame 0x359.
    public private(set) var moduleCount: UInt8?
    public private(set) var identity: Identity?

    let dialect: Dialect
    private var alarms = AlarmSources()
    private var warnings = AlarmSources()
    private var maker = CANFrame(0)
    private var chargeVoltageLimit: Volts?

    public init(dialect: Dialect = Dialect()) { self.dialect = dialect }

    /// Chemistry, version and capacity as the sender put them; makers disagree on their meaning, so for
    /// display only.
    public struct Identity: Sendable, Equatable, BitwiseCopyable {
        public var chemistry: UInt16
        public var version: UInt16
        /// Ah; total, available or remaining.
        public var capacity: UInt16
    }

    /// Text of frame 0x35E without its padding; bytes that are not printable ASCII show as `?`.
    public var makerName: String {
        var name = ""
        for index in 0..<maker.validLength where maker.data[index] != 0 {
            let byte = maker.data[index]
            name.unicodeScalars.append(byte >= 0x20 && byte < 0x7F ? Unicode.Scalar(byte) : "?")
        }
        while name.hasSuffix(" ") { name.removeLast() }
        return name
    }

    /// The frame an inverter sends every second so that the BMS goes on talking: 0x305, eight zero bytes.
    public static func keepAlive() -> CANFrame {
        var frame = CANFrame(0x305)
        frame.length = 8
        return frame
    }

    public mutating func accept(_ frame: CANFrame, at time: MonotonicTime) -> BatteryFrameOutcome {
        switch frame.kind {
        case .remote: return .ignored(.remote)
        case .error: return .ignored(.errorFrame)
        case .data: break
        }
        if frame.isExtended { return .ignored(.extendedIdentifier) }
        switch frame.identifier {
        case 0x351: return acceptLimits(frame, time)
        case 0x355: return acceptStateOfCharge(frame, time)
        case 0x356: return acceptMeasurements(frame, time)
        case 0x359: return acceptProtection(frame, time)
        case 0x35A: return acceptAlarmPairs(frame, time)
        case 0x35C: return acceptRequests(frame, time)
        case 0x35E: return acceptMaker(frame)
        case 0x35F: return acceptIdentity(frame)
        case 0x373: return acceptCellExtremes(frame, time)
        default: return .ignored(.unknownIdentifier)
        }
    }
}

// MARK: Measurements and limits

extension PylontechLowVoltage {
    /// 0x351. A charge voltage limit of zero is no limit but an error: some inverters would discharge towards
    /// it.
    private mutating func acceptLimits(_ frame: CANFrame, _ time: MonotonicTime) -> BatteryFrameOutcome {
        var tally = FieldTally(time: time)
        var high = FieldValue<Volts>(frame.word(0)) { raw in
            raw == 0xFFFF ? .notImplemented : (raw == 0 ? .wrong(.outOfRange) : .value(Volts(tenths: raw)))
        }
        var low = FieldValue<Volts>(frame.word(6)) { raw in
            raw == 0xFFFF || raw == 0 ? .notImplemented : .value(Volts(tenths: raw))
        }
        if case .value(let top) = high, case .value(let bottom) = low, top < bottom {
            (high, low) = (.wrong(.contradictory), .wrong(.contradictory))
        }
        if case .value(let limit) = high { chargeVoltageLimit = limit }
        tally.store(high, in: &image.chargeVoltageLimit)
        tally.store(low, in: &image.dischargeVoltageLimit)
        // A negative charge limit has no documented meaning; forbidding to charge is the safe one.
        tally.store(
            Self.currentLimit(frame.word(2)) { raw in raw < 0 ? nil : raw }, in: &image.chargeCurrentLimit)
        // Senders differ in the sign of the discharge limit, never in its magnitude.
        tally.store(
            Self.currentLimit(frame.word(4)) { raw in raw < 0 ? -raw : raw }, in: &image.dischargeCurrentLimit
        )
        return tally.outcome
    }

    /// Both markers count: senders treat these fields as signed or unsigned.
    private static func currentLimit(_ word: UInt16?, _ magnitude: (Int) -> Int?) -> FieldValue<Amperes> {
        FieldValue(word) { raw in
            if raw == 0x8000 || raw == 0xFFFF { return .notImplemented }
            guard let tenths = magnitude(Int(Int16(bitPattern: raw))) else { return .wrong(.outOfRange) }
            return .value(Amperes(Double(tenths) / 10))
        }
    }

    /// 0x355. The fine state of charge is other makers' cell voltage or zeros: it counts only if it agrees.
    private mutating func acceptStateOfCharge(_ frame: CANFrame, _ time: MonotonicTime) -> BatteryFrameOutcome
    {
        var tally = FieldTally(time: time)
        var charge = FieldValue<Fraction>(frame.word(0), Self.percent)
        if case .value(let coarse) = charge, let fine = frame.word(4), fine > 0, fine <= 10_000 {
            let precise = Fraction(Double(fine) / 10_000)
            if (precise - coarse).magnitude <= Fraction(0.010_000_1) { charge = .value(precise) }
        }
        tally.store(charge, in: &image.stateOfCharge)
        tally.store(FieldValue(frame.word(2), Self.percent), in: &image.stateOfHealth)
        return tally.outcome
    }

    /// Gauges are seen to run a little past full: 101 … 105 % count as 100 %, more is nonsense.
    private static func percent(_ raw: UInt16) -> FieldValue<Fraction> {
        switch raw {
        case 0...100: .value(.percent(Double(raw)))
        case 101...105: .value(.percent(100))
        case 0xFFFF: .notImplemented
        default: .wrong(.outOfRange)
        }
    }

    /// 0x356.
    private mutating func acceptMeasurements(_ frame: CANFrame, _ time: MonotonicTime) -> BatteryFrameOutcome
    {
        var tally = FieldTally(time: time)
        // All bits of all bytes: 0.1 A would be a value.
        let isBlank = frame.isBlank
        tally.store(FieldValue(frame.word(0), packVoltage), in: &image.packVoltage)
        tally.store(
            FieldValue(frame.word(2)) { raw in
                if raw == 0x8000 || isBlank { return .notImplemented }
                return .value(Amperes(Double(-Int(Int16(bitPattern: raw))) / 10))
            }, in: &image.packCurrent)
        tally.store(
            FieldValue(frame.word(4)) { raw in
                if raw == 0x8000 || isBlank { return .notImplemented }
                return Self.temperature(Double(Int16(bitPattern: raw)) / 10)
            }, in: &packTemperature)
        return tally.outcome
    }

    private func packVoltage(_ raw: UInt16) -> FieldValue<Volts> {
        if raw == 0x8000 || raw == 0xFFFF { return .notImplemented }
        guard raw < 0x8000 else { return .wrong(.outOfRange) }
        let voltage: Volts
        switch dialect.packVoltageResolution {
        case .centivolt: voltage = Volts(Double(raw) / 100)
        case .decivolt: voltage = Volts(Double(raw) / 10)
        }
        if let limit = chargeVoltageLimit {
            let ratio = voltage / limit
            // Real packs stand at 0.6 … 1.1 of their limit, or near zero with open contactors.
            if ratio > 5 || ratio > 0.05 && ratio < 0.2 { return .wrong(.voltageScale) }
        }
        return .value(voltage)
    }

    /// 0x373: cell extremes in millivolts and whole kelvins. Senders add 273, so 273 is taken away.
    private mutating func acceptCellExtremes(_ frame: CANFrame, _ time: MonotonicTime) -> BatteryFrameOutcome
    {
        var tally = FieldTally(time: time)
        var low = FieldValue<Volts>(frame.word(0), Self.cellVoltage)
        var high = FieldValue<Volts>(frame.word(2), Self.cellVoltage)
        if case .value(let bottom) = low, case .value(let top) = high, bottom > top {
            (low, high) = (.wrong(.contradictory), .wrong(.contradictory))
        }
        tally.store(low, in: &image.cellVoltageMin)
        tally.store(high, in: &image.cellVoltageMax)
        var cold = FieldValue<Celsius>(frame.word(4), Self.cellTemperature)
        var hot = FieldValue<Celsius>(frame.word(6), Self.cellTemperature)
        if case .value(let bottom) = cold, case .value(let top) = hot, bottom > top {
            (cold, hot) = (.wrong(.contradictory), .wrong(.contradictory))
        }
        tally.store(cold, in: &image.cellTemperatureMin)
        tally.store(hot, in: &image.cellTemperatureMax)
        return tally.outcome
    }

    /// A cell at 0 V and a field the sender leaves empty look alike; neither is usable. No chemistry reaches
    /// 5 V.
    private static func cellVoltage(_ raw: UInt16) -> FieldValue<Volts> {
        switch raw {
        case 0xFFFF: .notImplemented
        case 1...5_000: .value(Volts(Double(raw) / 1_000))
        default: .wrong(.outOfRange)
        }
    }

    private static func cellTemperature(_ raw: UInt16) -> FieldValue<Celsius> {
        raw == 0xFFFF ? .notImplemented : temperature(Double(raw) - 273)
    }

    /// Wider than any sensor in a battery, so that a burning cell still shows as hot.
    private static func temperature(_ degrees: Double) -> FieldValue<Celsius> {
        degrees >= -60 && degrees <= 200 ? .value(Celsius(degrees)) : .wrong(.outOfRange)
    }
}

// MARK: Alarms, requests, identity

extension PylontechLowVoltage {
    /// 0x359: bytes 0-1 protection (severe), bytes 2-3 warning.
    private mutating func acceptProtection(_ frame: CANFrame, _ time: MonotonicTime) -> BatteryFrameOutcome {
        guard let severe = frame.word(0) else { return .rejected(.tooShort) }
        guard !frame.isBlank else { return acceptBlank(time) }
        alarms.acceptBits(BatteryAlarms(protectionBits: severe), at: time)
        image.alarms = alarms.reading(dialect.alarmPairs)
        if let warning = frame.word(2) {
            warnings.acceptBits(BatteryAlarms(protectionBits: warning), at: time)
            image.warnings = warnings.reading(dialect.alarmPairs)
        }
        if let modules = frame.byte(4) { moduleCount = modules }
        return .used
    }

    /// A BMS that has no value sets all bits of all bytes: that is no alarm, and no word that there is none.
    private mutating func acceptBlank(_ time: MonotonicTime) -> BatteryFrameOutcome {
        image.alarms = .bad(.notImplemented, since: time)
        return .used
    }

    /// 0x35A: bytes 0-3 alarms, bytes 4-7 warnings, two bits per item.
    private mutating func acceptAlarmPairs(_ frame: CANFrame, _ time: MonotonicTime) -> BatteryFrameOutcome {
        guard let severe = frame.doubleWord(0) else { return .rejected(.tooShort) }
        guard !frame.isBlank else { return acceptBlank(time) }
        alarms.acceptPairs(severe, dialect.alarmPairs, at: time)
        image.alarms = alarms.reading(dialect.alarmPairs)
        if let warning = frame.doubleWord(4) {
            warnings.acceptPairs(warning, dialect.alarmPairs, at: time)
            image.warnings = warnings.reading(dialect.alarmPairs)
        }
        return .used
    }

    /// 0x35C. A BMS that never sends it forbids nothing: the reading stays `neverSeen`.
    private mutating func acceptRequests(_ frame: CANFrame, _ time: MonotonicTime) -> BatteryFrameOutcome {
        guard let bits = frame.byte(0) else { return .rejected(.tooShort) }
        var permissions: BatteryPermissions = []
        if bits & 0x80 != 0 { permissions.insert(.charge) }
        if bits & 0x40 != 0 { permissions.insert(.discharge) }
        image.permissions = .good(permissions, at: time)
        requests = .good(Requests(rawValue: bits & 0x38), at: time)
        return .used
    }

    /// 0x35E.
    private mutating func acceptMaker(_ frame: CANFrame) -> BatteryFrameOutcome {
        guard frame.validLength > 0 else { return .rejected(.tooShort) }
        maker = frame
        return .used
    }

    /// 0x35F.
    private mutating func acceptIdentity(_ frame: CANFrame) -> BatteryFrameOutcome {
        guard let chemistry = frame.word(0), let version = frame.word(2), let capacity = frame.word(4)
        else { return .rejected(.tooShort) }
        identity = Identity(chemistry: chemistry, version: version, capacity: capacity)
        return .used
    }
}
