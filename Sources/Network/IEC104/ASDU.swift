/// What an I frame carries: a type, a cause, an address, and information objects.
public struct ASDU: Sendable, Equatable {
    public var type: TypeID
    /// Elements follow each other at addresses that follow each other; read, never sent.
    public var isSequence = false
    public var cause: Cause
    /// P/N: the refusal of a command.
    public var isNegative = false
    /// T: must move nothing.
    public var isTest = false
    /// The master's own number, which confirmations carry back; 0 = none.
    public var originator: UInt8 = 0
    /// 1 … 65534 a station, 65535 all of them.
    public var commonAddress: UInt16
    /// 1 … 127.
    public var objects: [InformationObject]

    public init(
        _ type: TypeID, _ cause: Cause, commonAddress: UInt16, originator: UInt8 = 0,
        objects: [InformationObject]
    ) {
        self.type = type
        self.cause = cause
        self.commonAddress = commonAddress
        self.originator = originator
        self.objects = objects
    }

    /// The common address that means every station.
    public static let everyStation: UInt16 = 0xFFFF
    static let headerLength = 6

    /// What octets say.
    public enum Reading: Sendable, Equatable {
        case asdu(ASDU)
        /// A type that is not spoken here; the header is.
        case unknownType(ASDUHeader)
        /// Shorter or longer than its header says, or without a header.
        case malformed
    }

    /// Reads whatever it is given.
    public static func read(_ bytes: [UInt8]) -> Reading {
        guard let header = ASDUHeader(bytes) else { return .malformed }
        guard let type = TypeID(rawValue: header.type) else { return .unknownType(header) }
        guard let objects = InformationObject.list(bytes, header, type) else { return .malformed }
        var asdu = ASDU(
            type, header.cause, commonAddress: header.commonAddress, originator: header.originator,
            objects: objects)
        asdu.isSequence = header.isSequence
        asdu.isNegative = header.isNegative
        asdu.isTest = header.isTest
        return .asdu(asdu)
    }

    /// The octets, each object with its own address unless `isSequence`.
    ///
    /// - Precondition: every value is of `type`; at most 127 objects.
    public var bytes: [UInt8] {
        precondition((1...127).contains(objects.count))
        var header = ASDUHeader(type: type.rawValue, cause: cause, commonAddress: commonAddress)
        (header.isSequence, header.count) = (isSequence, UInt8(objects.count))
        (header.isNegative, header.isTest, header.originator) = (isNegative, isTest, originator)
        var bytes = header.bytes
        for (index, object) in objects.enumerated() {
            precondition(object.value.fits(type))
            if !isSequence || index == 0 { bytes += InformationObject.octets(object.address) }
            bytes += object.value.bytes
            if type.hasTime, let time = object.time { bytes += time.bytes }
        }
        return bytes
    }

    /// The same with another cause: how commands are confirmed and refused.
    public func answered(_ cause: Cause, isNegative: Bool) -> ASDU {
        var answer = self
        answer.cause = cause
        answer.isNegative = isNegative
        return answer
    }
}

/// The six octets that every ASDU begins with.
public struct ASDUHeader: Sendable, Equatable {
    public var type: UInt8
    public var isSequence = false
    /// 0 … 127.
    public var count: UInt8 = 1
    public var cause: Cause
    public var isNegative = false
    public var isTest = false
    public var originator: UInt8 = 0
    public var commonAddress: UInt16

    init(type: UInt8, cause: Cause, commonAddress: UInt16) {
        self.type = type
        self.cause = cause
        self.commonAddress = commonAddress
    }

    /// `nil` where there are fewer than six octets.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count >= ASDU.headerLength else { return nil }
        type = bytes[0]
        isSequence = bytes[1] & 0x80 != 0
        count = bytes[1] & 0x7F
        cause = Cause(code: bytes[2] & 0x3F)
        isNegative = bytes[2] & 0x40 != 0
        isTest = bytes[2] & 0x80 != 0
        originator = bytes[3]
        commonAddress = UInt16(bytes[4]) | UInt16(bytes[5]) << 8
    }

    var bytes: [UInt8] {
        [
            type, count | (isSequence ? 0x80 : 0),
            cause.code | (isNegative ? 0x40 : 0) | (isTest ? 0x80 : 0), originator,
            UInt8(truncatingIfNeeded: commonAddress), UInt8(truncatingIfNeeded: commonAddress >> 8),
        ]
    }
}

/// Why an ASDU is sent (COT, six bits).
public struct Cause: Sendable, Hashable {
    /// 0 … 63.
    public let code: UInt8

    public init(code: UInt8) { self.code = code & 0x3F }

    public static let periodic = Cause(code: 1)
    public static let spontaneous = Cause(code: 3)
    public static let initialised = Cause(code: 4)
    public static let requested = Cause(code: 5)
    public static let activation = Cause(code: 6)
    public static let activationConfirmation = Cause(code: 7)
    public static let deactivation = Cause(code: 8)
    public static let deactivationConfirmation = Cause(code: 9)
    public static let activationTermination = Cause(code: 10)
    /// The interrogation of the whole station; its groups 1 … 16 follow.
    public static let interrogated = Cause(code: 20)
    /// The request of all counters.
    public static let countersRequested = Cause(code: 37)
    public static let unknownType = Cause(code: 44)
    public static let unknownCause = Cause(code: 45)
    public static let unknownCommonAddress = Cause(code: 46)
    public static let unknownObject = Cause(code: 47)
}
