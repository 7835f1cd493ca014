/// One frame of IEC 60870-5-104: an octet 0x68, a length, four octets of control, and in an I frame an ASDU.
public enum APDU: Sendable, Equatable {
    /// What a U frame says: the connection's own commands and their answers.
    public enum Control: UInt8, Sendable, CaseIterable {
        case startActivation = 0x07
        case startConfirmation = 0x0B
        case stopActivation = 0x13
        case stopConfirmation = 0x23
        case testActivation = 0x43
        case testConfirmation = 0x83
    }

    /// An I frame. Both numbers 0 … 32767; 2 … 249 octets of ASDU.
    case information(send: UInt16, receive: UInt16, asdu: [UInt8])
    /// An S frame.
    case supervisory(receive: UInt16)
    /// A U frame.
    case control(Control)

    /// Why octets are no frame; the connection cannot go on after any of them.
    public enum Fault: Error, Sendable, Equatable {
        case badStart, badLength, badControl
    }

    static let start: UInt8 = 0x68
    /// The most octets behind the length octet.
    static let longest = 253
    /// The most octets of an ASDU.
    public static let longestASDU = longest - 4

    /// The octets as they are sent.
    ///
    /// - Precondition: an ASDU has at most `longestASDU` octets.
    public var bytes: [UInt8] {
        switch self {
        case .information(let send, let receive, let asdu):
            precondition(asdu.count <= Self.longestASDU)
            return [Self.start, UInt8(asdu.count + 4)] + Self.counted(send) + Self.counted(receive) + asdu
        case .supervisory(let receive): return [Self.start, 4, 1, 0] + Self.counted(receive)
        case .control(let control): return [Self.start, 4, control.rawValue, 0, 0, 0]
        }
    }

    /// A frame from what stands behind its length octet.
    init(body: ArraySlice<UInt8>) throws(Fault) {
        let body = Array(body)
        guard body.count >= 4, body.count <= Self.longest else { throw .badLength }
        let receive = Self.number(body[2], body[3])
        if body[0] & 1 == 0 {
            guard body[2] & 1 == 0 else { throw .badControl }
            self = .information(
                send: Self.number(body[0], body[1]), receive: receive, asdu: Array(body[4...]))
            return
        }
        guard body.count == 4 else { throw .badLength }
        if body[0] & 3 == 1 {
            guard body[0] == 1, body[1] == 0, body[2] & 1 == 0 else { throw .badControl }
            self = .supervisory(receive: receive)
        } else {
            guard let control = Control(rawValue: body[0]), body[1...] == [0, 0, 0] else { throw .badControl }
            self = .control(control)
        }
    }

    private static func counted(_ number: UInt16) -> [UInt8] {
        [UInt8(truncatingIfNeeded: number << 1), UInt8(truncatingIfNeeded: number >> 7)]
    }

    private static func number(_ low: UInt8, _ high: UInt8) -> UInt16 { UInt16(low) >> 1 | UInt16(high) << 7 }
}

/// Cuts a TCP stream into frames, however it is split or joined.
public struct APDUStream: Sendable {
    private var waiting: [UInt8] = []

    public init() {}

    /// Takes what has arrived.
    public mutating func append(_ bytes: some Sequence<UInt8>) { waiting += bytes }

    /// Octets of a frame that is not whole yet.
    public var pending: Int { waiting.count }

    /// The next whole frame; `nil` until there is one.
    ///
    /// - Throws: what is no frame; the stream has no place to go on from.
    public mutating func next() throws(APDU.Fault) -> APDU? {
        guard let start = waiting.first else { return nil }
        guard start == APDU.start else { throw .badStart }
        guard waiting.count >= 2 else { return nil }
        let length = Int(waiting[1])
        guard (4...APDU.longest).contains(length) else { throw .badLength }
        guard waiting.count >= 2 + length else { return nil }
        let frame = try APDU(body: waiting[2..<(2 + length)])
        waiting.removeFirst(2 + length)
        return frame
    }
}
