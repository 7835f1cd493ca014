import Plant
import Quantities

/// Most rows one table may have.
public let maximumInterlockCount = 48

/// One rule: signal, limits, debounce, reset. Limits are in the signal's own unit (V, °C, ratio).
public struct InterlockRow: Sendable, BitwiseCopyable {
    public enum Side: UInt8, Sendable, BitwiseCopyable { case high, low }

    /// What the row derates, and which directions close while its signal cannot be read.
    public enum Direction: UInt8, Sendable, BitwiseCopyable { case charge, discharge, both }

    /// When the trip limit counts. Warning and derating always do.
    public enum Condition: UInt8, Sendable, BitwiseCopyable { case always, charging, discharging }

    public var id: InterlockID
    public var signal: Signal
    public var side: Side
    public var direction: Direction
    public var warn: Double?
    /// Full power at `from`, none at `to`.
    public var derate: Range?
    public var trip: Double?
    public var condition: Condition
    /// How long the trip limit must be passed.
    public var debounce: Duration
    /// What passing the trip limit does.
    public var action: Action
    /// Who may clear what `action` has latched.
    public var reset: Reset
    /// The process safety time: from cause to hazard. Detection and reaction must take less than half of it;
    /// `nil` for rows that protect nothing in time.
    public var processSafetyTime: Duration?
    /// Whether every unit has the signal.
    public var presence: Presence
    /// How far the signal must come back from `warn`, and from the end of `derate`, before the row lets go.
    public var hysteresis: Double
    /// After its trip contactors wait no longer for the current to end: half of the process safety time, less
    /// what passes before and after; for fire, gas and the emergency stop only what a zero needs to arrive.
    /// `nil` = as the contactors' own settings say.
    public var patience: Duration?

    /// The sum of time beyond the trip limit that trips too, however it is cut up; zero = none. The sum
    /// leaks at a twentieth, so that what is rare is forgotten.
    public var exposure = Duration.zero
    /// How often the limit may be passed anew within `countWindow` before that trips too; zero = not counted.
    /// Of a silence each drop-out counts.
    public var count: UInt8 = 0
    public var countWindow = Duration.zero

    public enum Presence: UInt8, Sendable, BitwiseCopyable {
        /// Power stays closed until the signal is seen, and whenever it is missing.
        case required
        /// Not every device sends it: nothing closes until it was seen once; from then on it is required.
        case ifSeen
    }

    /// From the mildest to the strongest.
    public enum Action: UInt8, Sendable, BitwiseCopyable {
        /// Nothing latches: power goes to zero in the row's direction while the limit is passed.
        case stop
        /// The same, and the unit leaves service: zero power, then contactors open, and it is held until a
        /// person resumes it.
        case hold
        /// The unit leaves service until it is reset.
        case trip
        /// Every unit of the site leaves service until it is reset.
        case emergencyStop
    }

    /// The least role that may reset, and only from the local socket.
    public typealias Reset = Role

    public struct Range: Sendable, BitwiseCopyable, Equatable {
        public var from: Double
        public var to: Double
        public init(from: Double, to: Double) {
            self.from = from
            self.to = to
        }

        /// The share of power that is left at `value`, 0 … 1.
        func share(at value: Double) -> Double {
            let share = (to - value) / (to - from)
            // In this order, so that an undefined share (a range without width) is none.
            return share >= 1 ? 1 : (share > 0 ? share : 0)
        }
    }

    public init(
        _ id: InterlockID, _ signal: Signal, _ side: Side, _ direction: Direction, warn: Double? = nil,
        derate: Range? = nil, trip: Double?, while condition: Condition = .always, for debounce: Duration,
        action: Action = .trip, reset: Reset = .operator, processSafetyTime: Duration? = nil,
        presence: Presence = .required, hysteresis: Double? = nil
    ) {
        self.id = id
        self.signal = signal
        self.side = side
        self.direction = direction
        self.warn = warn
        self.derate = derate
        self.trip = trip
        self.condition = condition
        self.debounce = debounce
        self.action = action
        self.reset = reset
        self.processSafetyTime = processSafetyTime
        self.presence = presence
        self.hysteresis = hysteresis ?? signal.hysteresis
    }

    /// Whether `value` is what `count` counts: a device that is not heard, long before that trips, a contact
    /// that contradicts for less than its debounce; of all else the trip limit.
    func isCounted(_ value: Double) -> Bool {
        switch signal {
        case .batterySilence, .inverterSilence, .inputsSilence: value >= 1
        case .contactorFeedback: value >= 0.5
        case _: trip.map { isPassed($0, by: value) } ?? false
        }
    }

    /// Whether it counts what is no trip by itself.
    public var countsEarly: Bool {
        switch signal {
        case .batterySilence, .inverterSilence, .inputsSilence, .contactorFeedback: count > 0
        case _: false
        }
    }

    /// A row that only warns guards nothing, so that a missing signal closes nothing.
    var closesWhenMissing: Bool { trip != nil || derate != nil }

    /// Whether `value` has passed `limit` on this row's side; the limit itself is passed.
    func isPassed(_ limit: Double, by value: Double) -> Bool {
        switch side {
        case .high: value >= limit
        case .low: value <= limit
        }
    }

    /// Whether `value` still holds a row that has passed `limit`.
    func isHeld(_ limit: Double, by value: Double) -> Bool {
        switch side {
        case .high: value >= limit - hysteresis
        case .low: value <= limit + hysteresis
        }
    }
}

extension Signal {
    /// What a row has that says nothing of its hysteresis: 3 K for a cell's temperature, none for all else.
    public var hysteresis: Double {
        switch self {
        case .cellTemperatureMax, .cellTemperatureMin: 3
        case .cellVoltageMax, .cellVoltageMin, .chargeCurrentRatio, .dischargeCurrentRatio, .batteryAlarm,
            .batterySilence, .inverterSilence, .inverterFault, .packVoltage, .stateOfCharge, .currentLimits,
            .permissions, .cellVoltageSpread, .chargeLoad, .dischargeLoad, .actuationError,
            .chargeVoltageRatio, .dischargeVoltageRatio, .batteryWarning, .inverterEvent, .insulation,
            .dcVoltage, .acVoltage, .temperatureRise, .temperatureRiseFast, .thermalRunaway,
            .emergencyStopInput, .smokeInput, .gasInput, .doorInput, .breakerInput, .contactorFeedback,
            .inputsSilence, .dcVoltageError:
            0
        }
    }
}

/// The rows of one chemistry, at most `maximumInterlockCount`.
public struct InterlockTable: Sendable, BitwiseCopyable {
    public private(set) var rows: InlineArray<48, InterlockRow>
    public private(set) var count: Int

    public init() {
        rows = InlineArray(
            repeating: InterlockRow(.lostBattery, .batterySilence, .high, .both, trip: 2, for: .zero))
        count = 0
    }

    /// Where heat becomes a sign of runaway: at the highest temperature that the table allows a cell, the
    /// trip of its over-temperature rows; 60 °C where it has none.
    public var heat: ThermalWatch.Heat {
        var highest: Double?
        for index in 0..<count {
            let row = rows[index]
            guard row.signal == .cellTemperatureMax, row.side == .high, row.action != .stop,
                let trip = row.trip
            else { continue }
            if highest.map({ trip > $0 }) ?? true { highest = trip }
        }
        return ThermalWatch.Heat(suspect: Celsius(highest ?? 60))
    }

    /// Adds a row; a full table refuses it.
    public mutating func add(_ row: InterlockRow) {
        precondition(count < maximumInterlockCount)
        rows[count] = row
        count += 1
    }
}
