extension InformationValue {
    /// Reads an element.
    ///
    /// - Precondition: as many octets as the type has. Bits that are reserved are not looked at.
    init(_ type: TypeID, _ bytes: [UInt8]) {
        precondition(bytes.count == type.elementLength)
        switch type {
        case .single, .singleTimed: self = .single(bytes[0] & 1 != 0, Self.high(bytes[0]))
        case .double, .doubleTimed: self = .double(Self.point(bytes[0]), Self.high(bytes[0]))
        case .step, .stepTimed:
            // Seven bits with a sign.
            self = .step(
                Int8(bitPattern: bytes[0] << 1) >> 1, isTransient: bytes[0] & 0x80 != 0, Quality(bytes[1]))
        case .bitstring, .bitstringTimed: self = .bitstring(Self.long(bytes), Quality(bytes[4]))
        case .normalised, .normalisedTimed: self = .normalised(Self.short(bytes), Quality(bytes[2]))
        case .scaled, .scaledTimed: self = .scaled(Self.short(bytes), Quality(bytes[2]))
        case .float, .floatTimed: self = .float(Float(bitPattern: Self.long(bytes)), Quality(bytes[4]))
        case .counter, .counterTimed: self = .counter(Int32(bitPattern: Self.long(bytes)), bytes[4])
        case .singleCommand, .singleCommandTimed:
            self = .singleCommand(bytes[0] & 1 != 0, Self.switching(bytes[0]))
        case .doubleCommand, .doubleCommandTimed:
            self = .doubleCommand(Self.point(bytes[0]), Self.switching(bytes[0]))
        case .setpointNormalised, .setpointNormalisedTimed:
            self = .setpointNormalised(Self.short(bytes), Self.setting(bytes[2]))
        case .setpointScaled, .setpointScaledTimed:
            self = .setpointScaled(Self.short(bytes), Self.setting(bytes[2]))
        case .setpointFloat, .setpointFloatTimed:
            self = .setpointFloat(Float(bitPattern: Self.long(bytes)), Self.setting(bytes[4]))
        case .endOfInitialisation, .interrogation, .counterInterrogation, .resetProcess:
            self = .qualifier(bytes[0])
        case .read: self = .nothing
        case .clockSynchronisation: self = .time(CP56Time(bytes[...]))
        case .test, .testTimed: self = .testPattern(UInt16(bitPattern: Self.short(bytes)))
        }
    }

    /// The octets of the element.
    var bytes: [UInt8] {
        switch self {
        case .single(let isOn, let quality): [quality.high | (isOn ? 1 : 0)]
        case .double(let point, let quality): [quality.high | point.rawValue]
        case .step(let position, let isTransient, let quality):
            [UInt8(bitPattern: position) & 0x7F | (isTransient ? 0x80 : 0), quality.octet]
        case .bitstring(let bits, let quality): Self.octets(bits) + [quality.octet]
        case .normalised(let value, let quality), .scaled(let value, let quality):
            Self.octets(value) + [quality.octet]
        case .float(let value, let quality): Self.octets(value.bitPattern) + [quality.octet]
        case .counter(let count, let state): Self.octets(UInt32(bitPattern: count)) + [state]
        case .singleCommand(let isOn, let qualifier): [Self.switching(qualifier) | (isOn ? 1 : 0)]
        case .doubleCommand(let point, let qualifier): [Self.switching(qualifier) | point.rawValue]
        case .setpointNormalised(let value, let qualifier), .setpointScaled(let value, let qualifier):
            Self.octets(value) + [Self.setting(qualifier)]
        case .setpointFloat(let value, let qualifier):
            Self.octets(value.bitPattern) + [Self.setting(qualifier)]
        case .qualifier(let octet): [octet]
        case .nothing: []
        case .time(let time): time.bytes
        case .testPattern(let pattern): Self.octets(Int16(bitPattern: pattern))
        }
    }

    /// Whether an ASDU of this type carries such a value.
    func fits(_ type: TypeID) -> Bool {
        switch self {
        case .single: type == .single || type == .singleTimed
        case .double: type == .double || type == .doubleTimed
        case .step: type == .step || type == .stepTimed
        case .bitstring: type == .bitstring || type == .bitstringTimed
        case .normalised: type == .normalised || type == .normalisedTimed
        case .scaled: type == .scaled || type == .scaledTimed
        case .float: type == .float || type == .floatTimed
        case .counter: type == .counter || type == .counterTimed
        case .singleCommand: type == .singleCommand || type == .singleCommandTimed
        case .doubleCommand: type == .doubleCommand || type == .doubleCommandTimed
        case .setpointNormalised: type == .setpointNormalised || type == .setpointNormalisedTimed
        case .setpointScaled: type == .setpointScaled || type == .setpointScaledTimed
        case .setpointFloat: type == .setpointFloat || type == .setpointFloatTimed
        case .qualifier:
            [.endOfInitialisation, .interrogation, .counterInterrogation, .resetProcess].contains(type)
        case .nothing: type == .read
        case .time: type == .clockSynchronisation
        case .testPattern: type == .test || type == .testTimed
        }
    }

    private static func short(_ bytes: [UInt8]) -> Int16 {
        Int16(bitPattern: UInt16(bytes[0]) | UInt16(bytes[1]) << 8)
    }

    private static func long(_ bytes: [UInt8]) -> UInt32 {
        bytes[0..<4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func octets(_ value: Int16) -> [UInt8] {
        [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
    }

    private static func octets(_ value: UInt32) -> [UInt8] {
        stride(from: 0, to: 32, by: 8).map { UInt8(truncatingIfNeeded: value >> UInt32($0)) }
    }

    /// Of an indication, whose lowest bits are its value.
    private static func high(_ octet: UInt8) -> Quality { Quality(octet & 0xF0) }

    /// Two bits have four values.
    private static func point(_ octet: UInt8) -> DoublePoint { DoublePoint(rawValue: octet & 3) ?? .faulty }

    private static func switching(_ octet: UInt8) -> CommandQualifier {
        CommandQualifier(number: octet >> 2 & 0x1F, isSelect: octet & 0x80 != 0)
    }

    private static func switching(_ qualifier: CommandQualifier) -> UInt8 {
        (qualifier.number & 0x1F) << 2 | (qualifier.isSelect ? 0x80 : 0)
    }

    private static func setting(_ octet: UInt8) -> CommandQualifier {
        CommandQualifier(number: octet & 0x7F, isSelect: octet & 0x80 != 0)
    }

    private static func setting(_ qualifier: CommandQualifier) -> UInt8 {
        qualifier.number & 0x7F | (qualifier.isSelect ? 0x80 : 0)
    }
}
