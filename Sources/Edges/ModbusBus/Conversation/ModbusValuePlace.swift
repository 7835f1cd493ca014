import DeviceCodecs
import Quantities

/// Where a device tells one number of its own: enough to read it without knowing the device.
public struct ModbusValuePlace: Sendable, BitwiseCopyable, Equatable {
    public enum Number: UInt8, Sendable, BitwiseCopyable, CaseIterable {
        case int16, uint16, int32, uint32, float32
    }

    public enum Value: Sendable, BitwiseCopyable, Equatable {
        case number(Double)
        /// The mark of its type that says "there is none".
        case absent
        /// The power of ten that it needs means nothing.
        case unusable
    }

    public var table: ModbusRegisterTable
    /// Protocol address (zero-based) of its first register.
    public var address: UInt16
    public var number: Number
    /// Of two registers the first holds the low word.
    public var isLowWordFirst: Bool
    /// value = raw · factor, and by the power of ten where there is one.
    public var factor: Double
    /// Protocol address of its power of ten; `nil` = it has none.
    public var scaleAddress: UInt16?

    public init(
        _ table: ModbusRegisterTable, _ address: UInt16, _ number: Number, isLowWordFirst: Bool = false,
        factor: Double = 1, scaleAddress: UInt16? = nil
    ) {
        self.table = table
        self.address = address
        self.number = number
        self.isLowWordFirst = isLowWordFirst
        self.factor = factor
        self.scaleAddress = scaleAddress
    }

    /// How many registers it takes.
    public var size: Int {
        switch number {
        case .int16, .uint16: 1
        case .int32, .uint32, .float32: 2
        }
    }

    /// What its registers say.
    ///
    /// - Parameter second: the second register; means nothing where it takes one.
    /// - Parameter scale: the register of its power of ten, −10 … 10.
    public func value(_ first: UInt16, _ second: UInt16, scale: UInt16?) -> Value {
        let (high, low) = isLowWordFirst ? (second, first) : (first, second)
        let bits = UInt32(high) << 16 | UInt32(low)
        let raw: Double
        switch number {
        case .int16:
            if first == 0x8000 { return .absent }
            raw = Double(Int16(bitPattern: first))
        case .uint16:
            if first == 0xFFFF { return .absent }
            raw = Double(first)
        case .int32:
            if bits == 0x8000_0000 { return .absent }
            raw = Double(Int32(bitPattern: bits))
        case .uint32:
            if bits == 0xFFFF_FFFF { return .absent }
            raw = Double(bits)
        case .float32:
            let float = Float(bitPattern: bits)
            if float.isNaN { return .absent }
            raw = Double(float)
        }
        guard let power = tenfold(scale) else { return .unusable }
        let value = raw * factor * power
        return value.isFinite ? .number(value) : .unusable
    }

    private func tenfold(_ scale: UInt16?) -> Double? {
        guard scaleAddress != nil else { return 1 }
        guard let scale else { return nil }
        let exponent = Int(Int16(bitPattern: scale))
        guard (-10...10).contains(exponent) else { return nil }
        var power = 1.0
        for _ in 0..<exponent.magnitude { power *= 10 }
        return exponent < 0 ? 1 / power : power
    }
}

extension ModbusValuePlace {
    /// A point of a SunSpec model; `nil` for a type that holds no number, or beyond the model's length.
    init?(_ point: SunSpecPoint, in place: SunSpecModelPlace) {
        let number: Number
        switch point.type {
        case .int16: number = .int16
        case .uint16: number = .uint16
        case .int32: number = .int32
        case .uint32: number = .uint32
        case .float32: number = .float32
        case .uint64, .acc32, .acc64, .enum16, .bitfield16, .bitfield32, .count, .scaleFactor, .string, .pad:
            return nil
        }
        let last = max(point.offset + point.type.size - 1, point.scale ?? 0)
        guard last < Int(place.length) + 2 else { return nil }
        self.init(
            .holding, place.start &+ UInt16(point.offset), number,
            scaleAddress: point.scale.map { place.start &+ UInt16($0) })
    }

    /// A register of a driver's device; `nil` where its number cannot be told by type and factor alone.
    init?(_ register: RegisterDefinition) {
        let number: Number
        switch register.type {
        case .int16: number = .int16
        case .uint16: number = .uint16
        case .int32: number = .int32
        case .uint32: number = .uint32
        case .float32: number = .float32
        }
        // A mark for "no value" that would read as little power must not be taken for that.
        let isPlain = register.absent.allSatisfy { mark in
            guard let value = RegisterDefinition.plain(register).value(mark) else { return true }
            return value.magnitude >= 1e6
        }
        guard register.isReadable, register.offset == 0, isPlain else { return nil }
        self.init(
            register.table == .holding ? .holding : .input, register.address, number,
            isLowWordFirst: register.isLowWordFirst, factor: register.scale)
    }
}

extension RegisterDefinition {
    /// The same register without its marks for "no value".
    fileprivate static func plain(_ register: RegisterDefinition) -> RegisterDefinition {
        var plain = register
        plain.absent = []
        return plain
    }
}

/// Where an inverter tells what flows through it, for those who must know without us.
public struct ModbusPowerPlaces: Sendable, BitwiseCopyable, Equatable {
    /// Active power at its terminals, in watts.
    public var activePower: ModbusValuePlace?
    /// Power of its direct-current side, in watts; `nil` = it tells none.
    public var dcPower: ModbusValuePlace?

    public init(activePower: ModbusValuePlace? = nil, dcPower: ModbusValuePlace? = nil) {
        self.activePower = activePower
        self.dcPower = dcPower
    }
}

// As two numbers each, so that any thread may see them without a lock.
extension ModbusValuePlace {
    static let none: (head: UInt64, factor: UInt64) = (0, 0)

    var packed: (head: UInt64, factor: UInt64) {
        var head = UInt64(address) | UInt64(scaleAddress ?? 0) << 16 | UInt64(number.rawValue) << 32 | 1 << 40
        if scaleAddress != nil { head |= 1 << 41 }
        if isLowWordFirst { head |= 1 << 42 }
        if table == .input { head |= 1 << 43 }
        return (head, factor.bitPattern)
    }

    init?(packed: (head: UInt64, factor: UInt64)) {
        let head = packed.head
        guard head & 1 << 40 != 0, let number = Number(rawValue: UInt8(truncatingIfNeeded: head >> 32))
        else { return nil }
        self.init(
            head & 1 << 43 != 0 ? .input : .holding, UInt16(truncatingIfNeeded: head), number,
            isLowWordFirst: head & 1 << 42 != 0, factor: Double(bitPattern: packed.factor),
            scaleAddress: head & 1 << 41 != 0 ? UInt16(truncatingIfNeeded: head >> 16) : nil)
    }
}
