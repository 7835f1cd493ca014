import Quantities

/// Why a device that a unit needs does not count as heard: it is silent, or which of its readings is missing.
public struct MissingReading: Sendable, BitwiseCopyable, Equatable {
    public enum Device: UInt8, Sendable, BitwiseCopyable {
        case battery, inverter

        public var name: StaticString {
            switch self {
            case .battery: "battery"
            case .inverter: "inverter"
            }
        }
    }

    /// A reading without which a unit has no power.
    public enum Name: UInt8, Sendable, BitwiseCopyable {
        case packVoltage, packCurrent, stateOfCharge, chargeCurrentLimit, dischargeCurrentLimit
        case cellVoltageMax, cellVoltageMin, cellTemperatureMax, cellTemperatureMin, alarms
        case activePower, state

        public var name: StaticString {
            switch self {
            case .packVoltage: "pack_voltage"
            case .packCurrent: "pack_current"
            case .stateOfCharge: "state_of_charge"
            case .chargeCurrentLimit: "charge_current_limit"
            case .dischargeCurrentLimit: "discharge_current_limit"
            case .cellVoltageMax: "cell_voltage_max"
            case .cellVoltageMin: "cell_voltage_min"
            case .cellTemperatureMax: "cell_temperature_max"
            case .cellTemperatureMin: "cell_temperature_min"
            case .alarms: "alarms"
            case .activePower: "active_power"
            case .state: "state"
            }
        }
    }

    public var device: Device
    /// The first that is missing.
    public var name: Name
    public var fault: ReadingFault
    /// For how long it has been missing: since its last sample where it is stale, else since it was first
    /// refused; `nil` where it was never good.
    public var lasting: Duration?
    /// Since the device said anything of what it must say; `nil` where it never did.
    public var heard: Duration?
    /// Nothing that it must say is fresh, and nothing is refused: there is no word from it at all, since its
    /// first reading went missing.
    public var isSilent: Bool
}

extension MissingReading {
    /// Looks through a device's readings one by one, in the order in which people are told of them.
    public struct Search: Sendable, BitwiseCopyable {
        private let device: Device
        @usableFromInline let now: MonotonicTime
        @usableFromInline let limit: Duration
        @usableFromInline let lasting: Duration?
        @usableFromInline var name: Name?
        @usableFromInline var fault = ReadingFault.neverSeen
        @usableFromInline var age: Duration?
        @usableFromInline var heard: Duration?
        @usableFromInline var isSilent = true

        /// - Parameter lasting: since when not all of them are good; `nil` where they never were.
        public init(
            _ device: Device, at now: MonotonicTime, within limit: Duration, lasting: Duration?
        ) {
            self.device = device
            self.now = now
            self.limit = limit
            self.lasting = lasting
        }

        // As of `Reading`: every user gets code of its own type.
        @inlinable public mutating func look<Value>(_ reading: Reading<Value>, _ name: Name) {
            hear(reading)
            switch reading.fault(at: now, within: limit) {
            case nil: isSilent = false
            case .stale, .neverSeen, .busOff, .fromTheFuture: note(reading, name)
            case .notImplemented, .implausible, .deviceFault, .frozen, .disagrees, .unread, .busy:
                // What it refuses is more to the point than what is old besides.
                if isSilent { self.name = nil }
                isSilent = false
                note(reading, name)
            }
        }

        /// A reading that nobody requires: it shows that the device speaks.
        @inlinable public mutating func hear<Value>(_ reading: Reading<Value>) {
            guard let told = reading.told(at: now), heard.map({ told < $0 }) ?? true else { return }
            heard = told
        }

        /// When the device answered anything last, whatever it was about.
        public mutating func hear(at time: MonotonicTime?) {
            guard let age = time.map({ now - $0 }), age >= .zero else { return }
            heard = heard.map { min($0, age) } ?? age
            if age <= limit { isSilent = false }
        }

        @inlinable mutating func note<Value>(_ reading: Reading<Value>, _ name: Name) {
            guard self.name == nil, let fault = reading.fault(at: now, within: limit) else { return }
            self.name = name
            self.fault = fault
            age = fault == .stale ? reading.age(at: now) ?? reading.told(at: now) : lasting
        }

        private var isHeardSince: Bool {
            guard let heard, let age else { return false }
            return heard + limit / 2 < age
        }

        /// `nil` where none is missing.
        public var result: MissingReading? {
            guard let name else { return nil }
            // What has said something since its reading went missing is not silent for as long.
            let isSilent = isSilent && !isHeardSince
            return MissingReading(
                device: device, name: name, fault: fault, lasting: age, heard: heard, isSilent: isSilent)
        }
    }
}
