/// One record of the site's audit: an event, and the hash of the record before, so that none can be changed
/// or taken out without those behind it showing it.
///
/// Its bytes are the hash before in 64 hexadecimal digits, a line end, and the event as JSON. Its own hash is
/// that of its number in decimal digits, a line end, and these bytes.
public struct AuditRecord: Sendable, Equatable {
    /// What stands before the first record of all.
    public static let beginning = String(repeating: "0", count: 64)

    public let number: UInt64
    public let previous: String
    /// A JSON object.
    public let event: [UInt8]

    public init(number: UInt64, previous: String, event: [UInt8]) {
        (self.number, self.previous, self.event) = (number, previous, event)
    }

    /// - Returns: `nil` where these are no bytes of a record.
    public init?(number: UInt64, payload: [UInt8]) {
        guard payload.count > 65, payload[64] == 0x0A, payload[..<64].allSatisfy(AuditHead.isDigit) else {
            return nil
        }
        self.number = number
        previous = String(decoding: payload[..<64], as: UTF8.self)
        event = Array(payload[65...])
    }

    public var payload: [UInt8] { Array(previous.utf8) + [0x0A] + event }

    public var head: AuditHead {
        AuditHead(number: number, hash: SHA256.hex(of: Array("\(number)\n".utf8) + payload))
    }
}

/// Where an audit stands: the number and the hash of its last record. Whoever keeps one knows all before it.
public struct AuditHead: Sendable, Equatable {
    public var number: UInt64
    /// 64 hexadecimal digits, in lower case.
    public var hash: String

    public init(number: UInt64, hash: String) { (self.number, self.hash) = (number, hash) }

    /// From `NUMBER:HASH`; `nil` where it is none.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let number = UInt64(parts[0]), parts[1].utf8.count == 64,
            parts[1].utf8.allSatisfy(Self.isDigit)
        else { return nil }
        self.init(number: number, hash: String(parts[1]))
    }

    public var text: String { "\(number):\(hash)" }

    static func isDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
    }
}
