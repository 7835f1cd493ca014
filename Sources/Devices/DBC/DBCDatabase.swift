/// What a DBC file says: the messages of one CAN network and the signals in them.
public struct DBCDatabase: Sendable {
    /// In the order of the file.
    public var messages: [DBCMessage] = []
    /// What cannot be true of single messages or signals, in the order of the file: overlaps, signals outside
    /// their message, references to nothing. What is affected is not decoded, or not to be trusted.
    public var problems: [DBCError] = []
    /// The comment of the network as a whole.
    public var comment = ""

    /// The message with this identifier; an 11-bit and a 29-bit identifier of the same number are different.
    public func message(_ identifier: UInt32, isExtended: Bool) -> DBCMessage? {
        messages.first { $0.identifier == identifier && $0.isExtended == isExtended }
    }

    public func message(named name: String) -> DBCMessage? { messages.first { $0.name == name } }
}

public struct DBCMessage: Sendable {
    public var name: String
    /// 0 … 0x7FF, or 0 … 0x1FFF_FFFF when extended.
    public var identifier: UInt32
    public var isExtended: Bool
    /// Bytes: 0 … 64; more where a transport protocol carries it, and then only the first 64 are decoded.
    public var length: Int
    public var signals: [DBCSignal] = []
    /// From `GenMsgCycleTime`, in milliseconds; `nil` where the file gives none or zero.
    public var cycleTime: Int?
    public var comment = ""
    public var position: DBCPosition

    /// The identifier with SocketCAN's flag for 29 bits: what tells messages apart.
    public var key: UInt32 { DBCMessage.key(identifier, isExtended: isExtended) }

    public static func key(_ identifier: UInt32, isExtended: Bool) -> UInt32 {
        isExtended ? identifier & 0x1FFF_FFFF | 0x8000_0000 : identifier & 0x1FFF_FFFF
    }

    public func signal(_ name: String) -> DBCSignal? { signals.first { $0.name == name } }
}

public struct DBCSignal: Sendable {
    public enum ByteOrder: Sendable, Equatable {
        /// `@1`: `start` is the least significant bit.
        case intel
        /// `@0`: `start` is the most significant bit.
        case motorola
    }

    /// How the bits are to be read.
    public enum Format: Sendable, Equatable { case unsigned, signed, float32, float64 }

    /// When a multiplexed signal is there: while the switch has one of these values.
    public struct Condition: Sendable, Equatable {
        /// Its place among the message's signals.
        public var selector: Int
        /// Raw values of the switch; each lower bound is at most its upper one.
        public var ranges: [ClosedRange<Int64>]
    }

    public struct ValueText: Sendable, Equatable {
        public var value: Int64
        public var text: String
    }

    public var name: String
    /// Bit 0 is the least significant of byte 0, bit 8 of byte 1.
    public var start: Int
    /// 1 … 64 bits.
    public var length: Int
    public var byteOrder: ByteOrder
    public var format: Format
    /// physical = raw · factor + offset.
    public var factor: Double
    public var offset: Double
    /// Informative: nothing is clamped to it. `nil` where the file says `[0|0]`.
    public var range: ClosedRange<Double>?
    public var unit: String
    public var comment = ""
    public var texts: [ValueText] = []
    /// Other signals are there or not by the value of this one.
    public var isSwitch = false
    /// `nil` for a signal that is always there.
    public var condition: Condition?
    public var position: DBCPosition
    /// The number in `m12`; gives the condition where no range does.
    var multiplexValue: Int64?
    /// A problem stands against it: it is not decoded.
    public internal(set) var isUnusable = false

    /// The text for a raw value, if the file has one.
    public func text(_ raw: Int64) -> String? { texts.first { $0.value == raw }?.text }
}

/// Where something stands; both count from 1, the column in bytes.
public struct DBCPosition: Sendable, Equatable {
    public var line: Int
    public var column: Int
}

/// Why a DBC file, or a part of it, cannot be used.
public struct DBCError: Error, Sendable, Equatable, CustomStringConvertible {
    public var file: String
    public var position: DBCPosition
    /// Name of the message concerned; empty for the file as a whole.
    public var message: String
    /// What is wrong, in words.
    public var reason: String

    /// `battery.dbc:12:6: message Limits: …`
    public var description: String {
        let place = "\(file):\(position.line):\(position.column): "
        return message.isEmpty ? place + reason : "\(place)message \(message): \(reason)"
    }
}

/// What a file may hold at most, so that no input makes us use memory or time without bound.
public enum DBCLimits {
    /// Bytes of the file.
    public static let size = 16 << 20
    public static let messages = 16_384
    /// In one message.
    public static let signals = 4_096
    /// Bytes of a CAN FD frame.
    public static let payload = 64
    /// Switches inside one another.
    public static let depth = 8
    /// Ranges of one multiplexed signal.
    static let ranges = 4_096
    /// Problems that are kept.
    static let problems = 100
    /// Steps of the decoding plan.
    static let steps = 1 << 20
}
