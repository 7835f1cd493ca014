/// How a SunSpec point's registers are read; all are big-endian, high word first.
public enum SunSpecType: Sendable, BitwiseCopyable, Equatable {
    case int16, uint16, int32, uint32, uint64, float32
    /// Accumulated value; zero says "not implemented".
    case acc32, acc64
    case enum16, bitfield16, bitfield32
    /// How often a group stands in the model.
    case count
    /// Power of ten for other points: −10 … 10.
    case scaleFactor
    /// Text in that many registers, padded with zeros.
    case string(Int)
    /// A register without meaning.
    case pad

    /// Number of registers.
    public var size: Int {
        switch self {
        case .int16, .uint16, .enum16, .bitfield16, .count, .scaleFactor, .pad: 1
        case .int32, .uint32, .float32, .acc32, .bitfield32: 2
        case .uint64, .acc64: 4
        case .string(let count): count
        }
    }
}

/// One point of a SunSpec model. Offsets count from the model's ID register, which has offset 0.
public struct SunSpecPoint: Sendable, BitwiseCopyable {
    /// The point's name in the SunSpec model definition.
    public let name: StaticString
    public let offset: Int
    public let type: SunSpecType
    /// Offset of the point's scale factor; `nil` where it has none.
    public let scale: Int?
    /// As the model definition writes it; empty where there is none.
    public let unit: StaticString

    public init(
        _ name: StaticString, _ offset: Int, _ type: SunSpecType, scale: Int? = nil, unit: StaticString = ""
    ) {
        self.name = name
        self.offset = offset
        self.type = type
        self.scale = scale
        self.unit = unit
    }
}

/// What stands in a point.
public enum SunSpecValue: Sendable, BitwiseCopyable, Equatable {
    /// Scaled; always finite.
    case number(Double)
    /// The "not implemented" mark of the type, or a point beyond the model's own length or outside what was
    /// read.
    case notImplemented
    /// The scale factor is not implemented or outside −10 … 10: the value means nothing.
    case unusableScale

    public var number: Double? {
        switch self {
        case .number(let value): value
        case .notImplemented, .unusableScale: nil
        }
    }
}

/// Registers of one model as they were read. It borrows them: use it inside the call that lent the buffer.
public struct SunSpecBlock {
    private let registers: UnsafeBufferPointer<UInt16>
    private let firstOffset: Int
    private let end: Int

    /// - Parameters:
    ///   - firstOffset: offset of the first register of `registers` from the model's ID register.
    ///   - length: the L that the device states; points beyond it are absent.
    public init(_ registers: UnsafeBufferPointer<UInt16>, firstOffset: Int = 0, length: UInt16) {
        self.registers = registers
        self.firstOffset = firstOffset
        end = Int(length) + 2
    }

    /// The register at an offset from the model's ID register; `nil` where it does not exist or was not read.
    public func register(_ offset: Int) -> UInt16? {
        let index = offset &- firstOffset
        guard offset >= 0, offset < end, index >= 0, index < registers.count else { return nil }
        return registers[index]
    }

    /// The point's number with its scale factor. Text points have none.
    public func value(_ point: SunSpecPoint) -> SunSpecValue {
        guard let number = unscaled(point) else { return .notImplemented }
        guard let scale = point.scale else { return .number(number) }
        guard let exponent = register(scale).flatMap(SunSpecScale.init(register:)) else {
            return .unusableScale
        }
        return .number(exponent.apply(number))
    }

    /// The bits of a point of one or two registers; `nil` where it is not implemented.
    public func bits(_ point: SunSpecPoint) -> UInt32? {
        switch point.type {
        case .int16, .scaleFactor: single(point, absent: 0x8000)
        case .uint16, .enum16, .bitfield16, .count: single(point, absent: 0xFFFF)
        case .int32: double(point, absent: 0x8000_0000)
        case .uint32, .bitfield32: double(point, absent: 0xFFFF_FFFF)
        case .acc32: double(point, absent: 0)
        case .float32: pair(point.offset).flatMap { Float(bitPattern: $0).isFinite ? $0 : nil }
        case .uint64, .acc64, .string, .pad: nil
        }
    }

    private func unscaled(_ point: SunSpecPoint) -> Double? {
        switch point.type {
        case .int16, .scaleFactor: bits(point).map { Double(Int16(truncatingIfNeeded: $0)) }
        case .int32: bits(point).map { Double(Int32(bitPattern: $0)) }
        case .uint16, .enum16, .bitfield16, .count, .uint32, .bitfield32, .acc32:
            bits(point).map { Double($0) }
        case .float32: bits(point).map { Double(Float(bitPattern: $0)) }
        case .uint64: quad(point.offset).flatMap { $0 == .max ? nil : Double($0) }
        case .acc64: quad(point.offset).flatMap { $0 == 0 ? nil : Double($0) }
        case .string, .pad: nil
        }
    }

    private func single(_ point: SunSpecPoint, absent: UInt16) -> UInt32? {
        register(point.offset).flatMap { $0 == absent ? nil : UInt32($0) }
    }

    private func double(_ point: SunSpecPoint, absent: UInt32) -> UInt32? {
        pair(point.offset).flatMap { $0 == absent ? nil : $0 }
    }

    private func pair(_ offset: Int) -> UInt32? {
        guard let high = register(offset), let low = register(offset + 1) else { return nil }
        return UInt32(high) << 16 | UInt32(low)
    }

    private func quad(_ offset: Int) -> UInt64? {
        guard let high = pair(offset), let low = pair(offset + 2) else { return nil }
        return UInt64(high) << 32 | UInt64(low)
    }

    /// The bytes of a text point up to its first zero; empty where it is not implemented. Not checked to be
    /// ASCII.
    public func text(_ point: SunSpecPoint) -> SunSpecText {
        var text = SunSpecText()
        for index in 0..<point.type.size {
            guard let register = register(point.offset + index) else { return text }
            if register >> 8 == 0 { return text }
            text.append(UInt8(register >> 8))
            if register & 0xFF == 0 { return text }
            text.append(UInt8(register & 0xFF))
        }
        return text
    }
}

/// A valid scale factor: a power of ten from −10 to 10.
public struct SunSpecScale: Sendable, BitwiseCopyable, Equatable {
    public let exponent: Int

    /// `nil` for the "not implemented" mark and for exponents outside −10 … 10.
    public init?(register: UInt16) {
        let number = Int(Int16(bitPattern: register))
        guard (-10...10).contains(number) else { return nil }
        exponent = number
    }

    public func apply(_ number: Double) -> Double {
        exponent < 0 ? number / Self.powerOfTen(-exponent) : number * Self.powerOfTen(exponent)
    }

    /// The inverse of `apply`.
    public func remove(_ number: Double) -> Double {
        exponent < 0 ? number * Self.powerOfTen(-exponent) : number / Self.powerOfTen(exponent)
    }

    /// Exact up to 10²².
    private static func powerOfTen(_ exponent: Int) -> Double {
        var power = 1.0
        for _ in 0..<exponent { power *= 10 }
        return power
    }
}

/// Up to 32 bytes of a device's text (manufacturer, model, serial number), of fixed size so that it can
/// travel in a record.
public struct SunSpecText: Sendable, BitwiseCopyable {
    public private(set) var count = 0
    private var bytes = InlineArray<32, UInt8>(repeating: 0)

    public init() {}

    mutating func append(_ byte: UInt8) {
        guard count < 32 else { return }
        bytes[count] = byte
        count += 1
    }

    /// A number that is the same for the same texts in the same order, and hardly ever for others; zero alone
    /// where all of them are empty.
    public func mixed(into number: UInt64) -> UInt64 {
        guard number != 0 || count > 0 else { return 0 }
        var mixed = number == 0 ? 0xcbf2_9ce4_8422_2325 : number
        for index in 0..<count { mixed = (mixed ^ UInt64(bytes[index])) &* 0x100_0000_01b3 }
        // Where one text ends and the next begins counts too.
        return (mixed ^ 0xff) &* 0x100_0000_01b3
    }

    /// Printable ASCII; every other byte shows as `?`.
    public var string: String {
        var text = ""
        for index in 0..<count {
            let byte = bytes[index]
            text.unicodeScalars.append((32..<127).contains(byte) ? Unicode.Scalar(byte) : "?")
        }
        return text
    }
}
