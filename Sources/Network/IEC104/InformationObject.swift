/// The types of ASDU that are spoken here (IEC 60870-5-101 and -104).
public enum TypeID: UInt8, Sendable, CaseIterable {
    case single = 1
    case double = 3
    case step = 5
    case bitstring = 7
    case normalised = 9
    case scaled = 11
    case float = 13
    case counter = 15
    case singleTimed = 30
    case doubleTimed = 31
    case stepTimed = 32
    case bitstringTimed = 33
    case normalisedTimed = 34
    case scaledTimed = 35
    case floatTimed = 36
    case counterTimed = 37
    case singleCommand = 45
    case doubleCommand = 46
    case setpointNormalised = 48
    case setpointScaled = 49
    case setpointFloat = 50
    case singleCommandTimed = 58
    case doubleCommandTimed = 59
    case setpointNormalisedTimed = 61
    case setpointScaledTimed = 62
    case setpointFloatTimed = 63
    case endOfInitialisation = 70
    case interrogation = 100
    case counterInterrogation = 101
    case read = 102
    case clockSynchronisation = 103
    case test = 104
    case resetProcess = 105
    case testTimed = 107

    /// Whether a time stands behind each element.
    public var hasTime: Bool {
        switch self {
        case .singleTimed, .doubleTimed, .stepTimed, .bitstringTimed, .normalisedTimed, .scaledTimed,
            .floatTimed, .counterTimed, .singleCommandTimed, .doubleCommandTimed, .setpointNormalisedTimed,
            .setpointScaledTimed, .setpointFloatTimed, .testTimed:
            true
        case .single, .double, .step, .bitstring, .normalised, .scaled, .float, .counter, .singleCommand,
            .doubleCommand, .setpointNormalised, .setpointScaled, .setpointFloat, .endOfInitialisation,
            .interrogation, .counterInterrogation, .read, .clockSynchronisation, .test, .resetProcess:
            false
        }
    }

    /// Octets of an element without its address and time.
    var elementLength: Int {
        switch self {
        case .single, .singleTimed, .double, .doubleTimed, .singleCommand, .singleCommandTimed,
            .doubleCommand, .doubleCommandTimed, .endOfInitialisation, .interrogation, .counterInterrogation,
            .resetProcess:
            1
        case .step, .stepTimed, .test, .testTimed: 2
        case .normalised, .normalisedTimed, .scaled, .scaledTimed, .setpointNormalised,
            .setpointNormalisedTimed, .setpointScaled, .setpointScaledTimed:
            3
        case .bitstring, .bitstringTimed, .float, .floatTimed, .counter, .counterTimed, .setpointFloat,
            .setpointFloatTimed:
            5
        case .read: 0
        case .clockSynchronisation: CP56Time.length
        }
    }
}

/// What a measured or indicated value is worth: the quality bits.
public struct Quality: Sendable, Equatable {
    /// OV; of measured values alone.
    public var isOverflow = false
    /// BL.
    public var isBlocked = false
    /// SB.
    public var isSubstituted = false
    /// NT: not topical, stale.
    public var isNotTopical = false
    /// IV.
    public var isInvalid = false

    public init() {}

    public static let good = Quality()
    public static let invalid = {
        var quality = Quality()
        quality.isInvalid = true
        return quality
    }()

    init(_ octet: UInt8) {
        isOverflow = octet & 0x01 != 0
        isBlocked = octet & 0x10 != 0
        isSubstituted = octet & 0x20 != 0
        isNotTopical = octet & 0x40 != 0
        isInvalid = octet & 0x80 != 0
    }

    /// The bits that indications have too.
    var high: UInt8 {
        (isBlocked ? 0x10 : 0) | (isSubstituted ? 0x20 : 0) | (isNotTopical ? 0x40 : 0)
            | (isInvalid ? 0x80 : 0)
    }

    var octet: UInt8 { high | (isOverflow ? 1 : 0) }
}

/// A point with two contacts.
public enum DoublePoint: UInt8, Sendable {
    case intermediate = 0
    case off = 1
    case on = 2
    case faulty = 3
}

/// How a command is to be carried out.
public struct CommandQualifier: Sendable, Equatable {
    /// QU (0 … 31) of a switching command, QL (0 … 127) of a setpoint; 0 = no further definition.
    public var number: UInt8
    /// S/E: select, not execute.
    public var isSelect: Bool

    public init(number: UInt8 = 0, isSelect: Bool = false) {
        self.number = number
        self.isSelect = isSelect
    }
}

/// One element of information, apart from its address and time.
public enum InformationValue: Sendable, Equatable {
    case single(Bool, Quality)
    case double(DoublePoint, Quality)
    /// −64 … 63.
    case step(Int8, isTransient: Bool, Quality)
    case bitstring(UInt32, Quality)
    /// Times 2⁻¹⁵.
    case normalised(Int16, Quality)
    case scaled(Int16, Quality)
    case float(Float, Quality)
    /// The count, and an octet of sequence number (5 bits), carry, adjusted, invalid.
    case counter(Int32, UInt8)
    case singleCommand(Bool, CommandQualifier)
    case doubleCommand(DoublePoint, CommandQualifier)
    /// Times 2⁻¹⁵.
    case setpointNormalised(Int16, CommandQualifier)
    case setpointScaled(Int16, CommandQualifier)
    case setpointFloat(Float, CommandQualifier)
    /// One octet that qualifies what the type says: QOI, QCC, QRP, COI.
    case qualifier(UInt8)
    case nothing
    case time(CP56Time)
    case testPattern(UInt16)
}

/// An element with where it belongs.
public struct InformationObject: Sendable, Equatable {
    /// 0 … 2²⁴ − 1; 0 = of no object.
    public var address: UInt32
    public var value: InformationValue
    /// Of the types that have one.
    public var time: CP56Time?

    public init(_ address: UInt32, _ value: InformationValue, time: CP56Time? = nil) {
        self.address = address
        self.value = value
        self.time = time
    }

    public static let highestAddress: UInt32 = 0xFF_FFFF

    static func octets(_ address: UInt32) -> [UInt8] {
        [
            UInt8(truncatingIfNeeded: address), UInt8(truncatingIfNeeded: address >> 8),
            UInt8(truncatingIfNeeded: address >> 16),
        ]
    }

    /// All objects of an ASDU; `nil` where its length is not exactly theirs, or there are none.
    static func list(_ bytes: [UInt8], _ header: ASDUHeader, _ type: TypeID) -> [InformationObject]? {
        let timeLength = type.hasTime ? CP56Time.length : 0
        let element = type.elementLength + timeLength
        let count = Int(header.count)
        let addresses = header.isSequence ? 1 : count
        guard count > 0, bytes.count == ASDU.headerLength + addresses * 3 + count * element else {
            return nil
        }
        var objects: [InformationObject] = []
        var place = ASDU.headerLength
        var address: UInt32 = 0
        for index in 0..<count {
            if index == 0 || !header.isSequence {
                address =
                    UInt32(bytes[place]) | UInt32(bytes[place + 1]) << 8 | UInt32(bytes[place + 2]) << 16
                place += 3
            } else {
                address += 1
            }
            let end = place + type.elementLength
            let time = type.hasTime ? CP56Time(bytes[end..<(end + timeLength)]) : nil
            objects.append(
                InformationObject(address, InformationValue(type, Array(bytes[place..<end])), time: time))
            place += element
        }
        return address <= Self.highestAddress ? objects : nil
    }
}
