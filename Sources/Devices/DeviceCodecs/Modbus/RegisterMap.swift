import Quantities

/// A Modbus device without SunSpec, by its registers: what a driver file says.
public struct RegisterMap: Sendable, Equatable {
    public enum Kind: String, Sendable, Equatable, CaseIterable {
        case inverter, meter
        case ioModule = "io_module"
    }

    public enum Table: String, Sendable, Equatable, CaseIterable {
        /// Read by function 3, written by 6 and 16.
        case holding
        /// Read by function 4.
        case input
    }

    /// What we make of a register.
    public enum Quantity: String, Sendable, Equatable, CaseIterable {
        case activePower = "active_power"
        case reactivePower = "reactive_power"
        case frequency
        /// Of an inverter's direct-current side.
        case dcVoltage = "dc_voltage"
        /// A meter's voltage.
        case voltage
        case state, events
        case ratedPower = "rated_power"

        /// In which its value is wanted, after its scale; `nil` = a number or word without one.
        public var unit: String? {
            switch self {
            case .activePower, .ratedPower: "W"
            case .reactivePower: "var"
            case .frequency: "Hz"
            case .dcVoltage, .voltage: "V"
            case .state, .events: nil
            }
        }
    }

    /// How often it is read.
    public enum Poll: String, Sendable, Equatable, CaseIterable {
        /// Each `poll_ms` of the site's file.
        case fast
        /// Each ten seconds.
        case slow
        /// Only when a person asks.
        case never
    }

    public var name: String
    public var kind: Kind
    public var registers: [RegisterDefinition]
    /// Never read and never written, not even to bridge a hole.
    public var forbidden: [ClosedRange<UInt16>] = []
    /// Most registers in one request, 1 … 125.
    public var longestRead = 125
    /// Writes one register at a time with function 6: the device does not know 16.
    public var writesSingly = false
    /// `nil` = it is not driven.
    public var control: Control?
    /// Where the device has no register for it.
    public var ratedPower: Watts?
    public var io: DigitalIO?

    public init(name: String, kind: Kind, registers: [RegisterDefinition]) {
        self.name = name
        self.kind = kind
        self.registers = registers
    }

    /// How an inverter is asked for a power. Registers by their index.
    public struct Control: Sendable, Equatable {
        public var setpoint: Int
        /// Written in this order before the first setpoint, and whenever one of them is found changed.
        public var takeover: [Fixed] = []
        /// Takes the site's `reversion_s`; `nil` where the device's own time cannot be set.
        public var reversionTime: Int?
        /// The device's own time, where it cannot be set.
        public var hold: Duration?
        /// What it does after that time of silence.
        public var reversion: DeviceReversion
        /// Counts up by one.
        public var heartbeat: (register: Int, interval: Duration)? {
            heartbeatRegister.map { ($0, heartbeatInterval) }
        }
        public var heartbeatRegister: Int?
        public var heartbeatInterval = Duration.seconds(1)

        public init(setpoint: Int, reversion: DeviceReversion) {
            self.setpoint = setpoint
            self.reversion = reversion
        }
    }

    /// A register and what is written there.
    public struct Fixed: Sendable, Equatable {
        public var register: Int
        /// In the register's unit.
        public var value: Double

        public init(register: Int, value: Double) {
            self.register = register
            self.value = value
        }
    }

    /// Inputs and outputs of an I/O module.
    public struct DigitalIO: Sendable, Equatable {
        /// Protocol address of input 1, read by function 2.
        public var firstInput: UInt16
        public var inputCount: Int
        /// Protocol address of coil 1, written by functions 5 and 15.
        public var firstCoil: UInt16
        public var coilCount: Int
        /// Coils only by function 5.
        public var writesSingly: Bool

        public init(
            firstInput: UInt16, inputCount: Int, firstCoil: UInt16, coilCount: Int, writesSingly: Bool
        ) {
            self.firstInput = firstInput
            self.inputCount = inputCount
            self.firstCoil = firstCoil
            self.coilCount = coilCount
            self.writesSingly = writesSingly
        }
    }

    public func index(of quantity: Quantity) -> Int? {
        registers.firstIndex { $0.name == quantity.rawValue }
    }

    /// The registers that the driver itself writes.
    public var driven: [Int] {
        guard let control else { return [] }
        return [control.setpoint] + control.takeover.map(\.register)
            + [control.reversionTime, control.heartbeatRegister].compactMap { $0 }
    }

    /// Whether a person may not write there, whatever the mode: protection, or a forbidden range.
    public func isProtected(_ range: ClosedRange<UInt16>) -> Bool {
        forbidden.contains { $0.overlaps(range) }
            || registers.contains { $0.isProtection && $0.range.overlaps(range) }
    }

    public func isDriven(_ range: ClosedRange<UInt16>) -> Bool {
        driven.contains { registers[$0].range.overlaps(range) }
    }
}

/// One value of a device: where it stands, and what its bits mean.
public struct RegisterDefinition: Sendable, Equatable {
    public enum Number: String, Sendable, Equatable, CaseIterable {
        case int16, uint16, int32, uint32, float32

        public var size: Int {
            switch self {
            case .int16, .uint16: 1
            case .int32, .uint32, .float32: 2
            }
        }
    }

    public var name: String
    public var table: RegisterMap.Table
    /// Protocol address (zero-based) of the first register.
    public var address: UInt16
    public var type: Number
    /// Of two registers the first holds the low word.
    public var isLowWordFirst = false
    /// value = raw · scale + offset, in `unit`.
    public var scale = 1.0
    public var offset = 0.0
    public var unit = ""
    /// Raw values that mean "no value".
    public var absent: [UInt32] = []
    public var isReadable = true
    public var isWritable = false
    public var poll = RegisterMap.Poll.never
    /// Kept in memory that wears out: never written in a cycle.
    public var isNonVolatile = false
    /// Protects the device: never written by us, and by a person only without the daemon.
    public var isProtection = false
    /// Names of raw values.
    public var texts: [UInt32: String] = [:]

    public init(name: String, table: RegisterMap.Table = .holding, address: UInt16, type: Number) {
        self.name = name
        self.table = table
        self.address = address
        self.type = type
    }

    public var range: ClosedRange<UInt16> { address...(address &+ UInt16(type.size - 1)) }

    /// The bits that stand in its registers, high word first; `nil` where they are not all there.
    public func bits(_ registers: UnsafeBufferPointer<UInt16>, from first: UInt16) -> UInt32? {
        let index = Int(address) - Int(first)
        guard index >= 0, index + type.size <= registers.count else { return nil }
        guard type.size == 2 else { return UInt32(registers[index]) }
        let (one, two) = (UInt32(registers[index]), UInt32(registers[index + 1]))
        return isLowWordFirst ? two << 16 | one : one << 16 | two
    }

    /// The value in `unit`; `nil` where the device says that there is none.
    public func value(_ bits: UInt32) -> Double? {
        if absent.contains(bits) { return nil }
        let raw: Double =
            switch type {
            case .int16: Double(Int16(truncatingIfNeeded: bits))
            case .uint16: Double(bits & 0xFFFF)
            case .int32: Double(Int32(bitPattern: bits))
            case .uint32: Double(bits)
            case .float32: Double(Float(bitPattern: bits))
            }
        return raw.isFinite ? raw * scale + offset : nil
    }

    /// The bits of a value, rounded toward zero; `nil` where the type cannot hold it or it would say "no
    /// value".
    public func bits(of value: Double) -> UInt32? {
        let raw = (value - offset) / scale
        guard raw.isFinite else { return nil }
        let whole = raw.rounded(.towardZero)
        let bits: UInt32? =
            switch type {
            case .int16: Int16(exactly: whole).map { UInt32(UInt16(bitPattern: $0)) }
            case .uint16: UInt16(exactly: whole).map { UInt32($0) }
            case .int32: Int32(exactly: whole).map { UInt32(bitPattern: $0) }
            case .uint32: UInt32(exactly: whole)
            case .float32: Float(raw).isFinite ? Float(raw).bitPattern : nil
            }
        return bits.flatMap { absent.contains($0) ? nil : $0 }
    }

    /// The registers of `bits` in the device's order; the second means nothing where the type has one.
    public func words(_ bits: UInt32) -> (UInt16, UInt16) {
        guard type.size == 2 else { return (UInt16(truncatingIfNeeded: bits), 0) }
        let (high, low) = (UInt16(bits >> 16), UInt16(bits & 0xFFFF))
        return isLowWordFirst ? (low, high) : (high, low)
    }
}
