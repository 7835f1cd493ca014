/// CAN frames, commands and answers out of an slcan (Lawicel ASCII) stream, from either end of the line.
///
/// No byte `t`, `T`, `r` or `R` occurs inside a line, so each begins a new one: after any garbage the next
/// whole frame is found again. slcan has no checksum; a damaged line can only be told by its length and its
/// alphabet. Source: Lawicel CANUSB manual; accepts upper and lower case and a time stamp of four digits.
public struct SLCANDecoder: Sendable {
    /// What the computer asks of the adapter.
    public enum Command: Sendable, BitwiseCopyable, Equatable {
        case open, listenOnly, close
        /// `S0` … `S8`.
        case bitRate(UInt8)
        /// Version, serial number, status, filters, time stamps: nothing we act on.
        case other
    }

    /// What one byte brought.
    public enum Outcome: Sendable, BitwiseCopyable {
        case more
        case frame(CANFrame)
        case command(Command)
        /// An empty line, or `z`/`Z`: the adapter has done what it was asked.
        case acknowledged
        /// BEL: the adapter refuses.
        case refused
        /// A line that means nothing has ended; `garbageBytes` has grown.
        case garbage
    }

    /// No line is longer: a 29-bit frame of 8 bytes with its time stamp takes 30.
    private static let lineLimit = 32

    private var line = InlineArray<32, UInt8>(repeating: 0)
    private var count = 0
    private var isOverlong = false

    /// Bytes so far that belonged to no line with a meaning.
    public private(set) var garbageBytes: UInt64 = 0

    public init() {}

    public mutating func accept(_ byte: UInt8) -> Outcome {
        switch byte {
        case 0x0D: return finish()
        case 0x07:
            drop()
            return .refused
        case UInt8(ascii: "t"), UInt8(ascii: "T"), UInt8(ascii: "r"), UInt8(ascii: "R"):
            drop()
            append(byte)
        // Some firmware ends a line with CR and LF.
        case 0x0A where count == 0 && !isOverlong: return .more
        default: append(byte)
        }
        return .more
    }

    private mutating func append(_ byte: UInt8) {
        guard count < Self.lineLimit, !isOverlong else {
            isOverlong = true
            garbageBytes &+= 1
            return
        }
        line[count] = byte
        count += 1
    }

    /// What is collected leads nowhere.
    private mutating func drop() {
        garbageBytes &+= UInt64(count)
        count = 0
        isOverlong = false
    }

    private mutating func finish() -> Outcome {
        if count == 0 { return .acknowledged }
        let outcome = isOverlong ? Outcome.garbage : meaning()
        if case .garbage = outcome { garbageBytes &+= UInt64(count) }
        count = 0
        isOverlong = false
        return outcome
    }

    private func meaning() -> Outcome {
        switch line[0] {
        case UInt8(ascii: "t"): frame(identifierDigits: 3, .data)
        case UInt8(ascii: "T"): frame(identifierDigits: 8, .data)
        case UInt8(ascii: "r"): frame(identifierDigits: 3, .remote)
        case UInt8(ascii: "R"): frame(identifierDigits: 8, .remote)
        case UInt8(ascii: "z") where count == 1: .acknowledged
        case UInt8(ascii: "Z") where count == 1: .acknowledged
        case UInt8(ascii: "O") where count == 1: .command(.open)
        case UInt8(ascii: "L") where count == 1: .command(.listenOnly)
        case UInt8(ascii: "C") where count == 1: .command(.close)
        case UInt8(ascii: "S") where count == 2: bitRate(line[1])
        case UInt8(ascii: "V"), UInt8(ascii: "v"), UInt8(ascii: "N"), UInt8(ascii: "F"), UInt8(ascii: "Z"),
            UInt8(ascii: "s"), UInt8(ascii: "M"), UInt8(ascii: "m"), UInt8(ascii: "X"):
            isText ? .command(.other) : .garbage
        default: .garbage
        }
    }

    private var isText: Bool {
        for index in 0..<count where line[index] < 0x21 || line[index] > 0x7E { return false }
        return true
    }

    private func bitRate(_ digit: UInt8) -> Outcome {
        let zero = UInt8(ascii: "0")
        return digit >= zero && digit <= zero + 8 ? .command(.bitRate(digit - zero)) : .garbage
    }

    private func frame(identifierDigits: Int, _ kind: CANFrame.Kind) -> Outcome {
        let isExtended = identifierDigits == 8
        guard let identifier = number(at: 1, digits: identifierDigits),
            identifier <= (isExtended ? 0x1FFF_FFFF : 0x7FF),
            let length = number(at: 1 + identifierDigits, digits: 1), length <= 8
        else { return .garbage }
        var frame = CANFrame(identifier, isExtended: isExtended, kind: kind)
        var position = 2 + identifierDigits
        if kind == .data {
            for _ in 0..<length {
                guard let byte = number(at: position, digits: 2) else { return .garbage }
                frame.append(UInt8(truncatingIfNeeded: byte))
                position += 2
            }
        }
        let isComplete = count == position || count == position + 4 && number(at: position, digits: 4) != nil
        return isComplete ? .frame(frame) : .garbage
    }

    private func number(at position: Int, digits: Int) -> UInt32? {
        guard position + digits <= count else { return nil }
        var value: UInt32 = 0
        for index in position..<position + digits {
            guard let digit = Self.digit(line[index]) else { return nil }
            value = value << 4 | digit
        }
        return value
    }

    private static func digit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case 0x30...0x39: UInt32(byte) - 0x30
        case 0x41...0x46: UInt32(byte) - 0x41 + 10
        case 0x61...0x66: UInt32(byte) - 0x61 + 10
        default: nil
        }
    }
}

/// The lines an slcan computer or adapter sends.
public enum SLCANEncoder {
    /// Bit rates that all firmware agrees on.
    public enum BitRate: UInt8, Sendable, BitwiseCopyable, CaseIterable {
        case kilobits100 = 3
        case kilobits125 = 4
        case kilobits250 = 5
        case kilobits500 = 6
        case megabit1 = 8
    }

    public static var open: CANWireBytes { CANWireBytes("O\r") }
    /// Open without ever driving the bus: not even acknowledgements.
    public static var listenOnly: CANWireBytes { CANWireBytes("L\r") }
    public static var close: CANWireBytes { CANWireBytes("C\r") }
    /// The adapter's answer to a command it has done.
    public static var done: CANWireBytes { CANWireBytes("\r") }

    public static func bitRate(_ rate: BitRate) -> CANWireBytes {
        var bytes = CANWireBytes("S")
        bytes.append(UInt8(ascii: "0") + rate.rawValue)
        bytes.append(0x0D)
        return bytes
    }

    /// The adapter's answer to a frame it has taken.
    public static func taken(_ frame: CANFrame) -> CANWireBytes {
        frame.isExtended ? CANWireBytes("Z\r") : CANWireBytes("z\r")
    }

    /// `nil` for an error frame, slcan has none, and for CAN FD, on which no two adapters agree.
    public static func encode(_ frame: CANFrame) -> CANWireBytes? {
        if frame.isFlexible { return nil }
        var bytes = CANWireBytes()
        switch frame.kind {
        case .error: return nil
        case .data: bytes.append(frame.isExtended ? UInt8(ascii: "T") : UInt8(ascii: "t"))
        case .remote: bytes.append(frame.isExtended ? UInt8(ascii: "R") : UInt8(ascii: "r"))
        }
        let identifier = frame.identifier & (frame.isExtended ? 0x1FFF_FFFF : 0x7FF)
        append(identifier, digits: frame.isExtended ? 8 : 3, to: &bytes)
        let length = frame.kind == .remote ? 0 : frame.validLength
        append(UInt32(length), digits: 1, to: &bytes)
        for index in 0..<length { append(UInt32(frame.data[index]), digits: 2, to: &bytes) }
        bytes.append(0x0D)
        return bytes
    }

    private static func append(_ value: UInt32, digits: Int, to bytes: inout CANWireBytes) {
        for position in (0..<digits).reversed() {
            let digit = UInt8(truncatingIfNeeded: value >> UInt32(4 * position) & 0xF)
            bytes.append(digit < 10 ? 0x30 + digit : 0x41 + digit - 10)
        }
    }
}
