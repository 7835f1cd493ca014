/// CAN frames out of a cannelloni TCP stream: the greeting `CANNELLONIv1`, then bare frames without any
/// separator.
///
/// The stream cannot be resynchronised, so the first byte that makes no sense ends it for good. Any bytes may
/// be fed, in any split. Source: mguentner/cannelloni, TCP form.
public struct CannelloniDecoder: Sendable {
    /// Why the stream can no longer be trusted.
    public enum Fault: UInt8, Sendable, BitwiseCopyable, CaseIterable {
        /// The peer does not speak cannelloni over TCP.
        case greeting
        /// An 11-bit identifier above 0x7FF.
        case identifier
        /// More than 8 bytes, or more than 64 in an FD frame.
        case length
    }

    /// What one byte brought.
    public enum Outcome: Sendable, BitwiseCopyable {
        case more
        /// The greeting is complete; frames follow.
        case greeted
        case frame(CANFrame)
        /// Drop the connection; every later byte answers the same.
        case desynchronised(Fault)
    }

    private enum State: Sendable, BitwiseCopyable {
        case greeting(matched: Int)
        case identifier(taken: Int)
        case length
        case flags
        case data(left: Int)
        case failed(Fault)
    }

    static let greeting: StaticString = "CANNELLONIv1"

    private var state = State.greeting(matched: 0)
    private var identifier: UInt32 = 0
    private var frame = CANFrame(0)
    private var dataLength = 0

    public init() {}

    /// The greeting or a frame has begun and is not complete.
    public var isInsideFrame: Bool {
        switch state {
        case .greeting(let matched): matched > 0
        case .identifier(let taken): taken > 0
        case .length, .flags, .data: true
        case .failed: false
        }
    }

    public mutating func accept(_ byte: UInt8) -> Outcome {
        switch state {
        case .greeting(let matched): acceptGreeting(byte, matched)
        case .identifier(let taken): acceptIdentifier(byte, taken)
        case .length: acceptLength(byte)
        case .flags: acceptFlags(byte)
        case .data(let left): acceptData(byte, left)
        case .failed(let fault): .desynchronised(fault)
        }
    }

    private mutating func acceptGreeting(_ byte: UInt8, _ matched: Int) -> Outcome {
        let expected = Self.greeting.withUTF8Buffer { matched < $0.count ? $0[matched] : 0 }
        guard byte == expected else { return fail(.greeting) }
        guard matched + 1 == Self.greeting.utf8CodeUnitCount else {
            state = .greeting(matched: matched + 1)
            return .more
        }
        state = .identifier(taken: 0)
        return .greeted
    }

    private mutating func acceptIdentifier(_ byte: UInt8, _ taken: Int) -> Outcome {
        identifier = identifier << 8 | UInt32(byte)
        state = taken < 3 ? .identifier(taken: taken + 1) : .length
        return .more
    }

    private mutating func acceptLength(_ byte: UInt8) -> Outcome {
        guard let begun = CANFrame(socketCAN: identifier) else { return fail(.identifier) }
        frame = begun
        frame.isFlexible = byte & 0x80 != 0
        let length = Int(byte & 0x7F)
        guard length <= frame.capacity else { return fail(.length) }
        // A remote frame carries a length but no data.
        dataLength = frame.kind == .remote ? 0 : length
        guard frame.isFlexible else { return begin(dataLength) }
        state = .flags
        return .more
    }

    private mutating func acceptFlags(_ byte: UInt8) -> Outcome {
        frame.hasRateSwitch = byte & 1 != 0
        return begin(dataLength)
    }

    private mutating func begin(_ length: Int) -> Outcome {
        guard length > 0 else { return finish() }
        state = .data(left: length)
        return .more
    }

    private mutating func acceptData(_ byte: UInt8, _ left: Int) -> Outcome {
        frame.append(byte)
        guard left == 1 else {
            state = .data(left: left - 1)
            return .more
        }
        return finish()
    }

    private mutating func finish() -> Outcome {
        state = .identifier(taken: 0)
        return .frame(frame)
    }

    private mutating func fail(_ fault: Fault) -> Outcome {
        state = .failed(fault)
        return .desynchronised(fault)
    }
}

/// The bytes a cannelloni TCP peer sends.
public enum CannelloniEncoder {
    /// Sent once, first, by both sides.
    public static var greeting: CANWireBytes { CANWireBytes(CannelloniDecoder.greeting) }

    public static func encode(_ frame: CANFrame) -> CANWireBytes {
        var bytes = CANWireBytes()
        let identifier = frame.socketCANIdentifier
        for place in 0..<4 {
            bytes.append(UInt8(truncatingIfNeeded: identifier.bigEndian >> UInt32(8 * place)))
        }
        let length = frame.kind == .remote ? 0 : frame.validLength
        bytes.append(UInt8(length) | (frame.isFlexible ? 0x80 : 0))
        if frame.isFlexible { bytes.append(frame.hasRateSwitch ? 1 : 0) }
        for index in 0..<length { bytes.append(frame.data[index]) }
        return bytes
    }
}
