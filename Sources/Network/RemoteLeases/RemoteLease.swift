/// A power that somebody outside the site asks of it for a time, as it is signed.
///
/// The canonical bytes, big-endian:
///
///     0   6  "BLEASE"
///     6   1  version, 1
///     7   1  kind: 1 = power, 2 = release (what was granted before ends)
///     8   8  sequence, larger than every earlier one of the same key
///    16   8  issued, milliseconds since 1970-01-01 00:00 UTC
///    24   8  from, likewise
///    32   8  until, likewise
///    40   8  power in watts, positive = the site gives; 0 in a release
///    48   …  four names, each a length byte and so many bytes: key, site, target, dispatch;
///            an empty target is the whole site
///     …  64  the Ed25519 signature of all the bytes before it
///
/// There is one way to write a lease: whatever reads differently from how it would be written is refused.
public struct RemoteLease: Sendable, Equatable {
    public enum Kind: UInt8, Sendable {
        case power = 1
        case release = 2
    }

    public var kind: Kind
    /// Larger than every earlier one of the same key.
    public var sequence: UInt64
    /// Milliseconds since 1970-01-01 00:00 UTC.
    public var issued: Int64
    /// Milliseconds since 1970-01-01 00:00 UTC.
    public var from: Int64
    /// Milliseconds since 1970-01-01 00:00 UTC.
    public var until: Int64
    /// Positive = the site gives; 0 in a release.
    public var watts: Int64
    /// The name of the key that signs.
    public var key: String
    public var site: String
    /// Empty = the whole site.
    public var target: String
    /// What it is called where it comes from.
    public var dispatch: String

    public init(
        kind: Kind = .power, sequence: UInt64, issued: Int64, from: Int64, until: Int64, watts: Int64,
        key: String,
        site: String, target: String = "", dispatch: String
    ) {
        self.kind = kind
        self.sequence = sequence
        self.issued = issued
        self.from = from
        self.until = until
        self.watts = watts
        self.key = key
        self.site = site
        self.target = target
        self.dispatch = dispatch
    }

    /// The longest name.
    public static let longestName = 64
    /// The most bytes of a lease with its signature.
    public static let largest = 48 + 4 * (1 + longestName) + signatureLength
    static let signatureLength = 64
    private static let heading = Array("BLEASE".utf8) + [1]

    /// Whether every name can be written: 1 … 64 letters, digits, `_`, `.` and `-`; the target may be empty.
    /// Times lie between 1970 and 2255, a power below 10¹² W.
    public var isWritable: Bool {
        let times = 0...Int64(9_007_199_254_740)
        guard [issued, from, until].allSatisfy(times.contains), watts.magnitude <= 1_000_000_000_000 else {
            return false
        }
        return [key, site, dispatch].allSatisfy { Self.isName($0) } && (target.isEmpty || Self.isName(target))
    }

    /// The bytes that are signed.
    public var canonicalBytes: [UInt8] {
        var bytes = Self.heading + [kind.rawValue]
        for number in [
            sequence, UInt64(bitPattern: issued), UInt64(bitPattern: from), UInt64(bitPattern: until),
            UInt64(bitPattern: watts),
        ] {
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: number >> shift))
            }
        }
        for name in [key, site, target, dispatch] {
            bytes.append(UInt8(truncatingIfNeeded: name.utf8.count))
            bytes += name.utf8
        }
        return bytes
    }

    /// Reads canonical bytes; `nil` for everything else.
    public init?(canonicalBytes bytes: [UInt8]) {
        guard bytes.count >= 48, Array(bytes[..<7]) == Self.heading, let kind = Kind(rawValue: bytes[7])
        else {
            return nil
        }
        func number(_ index: Int) -> UInt64 {
            bytes[index..<(index + 8)].reduce(0) { $0 << 8 | UInt64($1) }
        }
        var rest = bytes[48...]
        func name() -> String? {
            guard let length = rest.popFirst(), Int(length) <= rest.count else { return nil }
            defer { rest = rest.dropFirst(Int(length)) }
            return String(decoding: rest.prefix(Int(length)), as: UTF8.self)
        }
        guard let key = name(), let site = name(), let target = name(), let dispatch = name(), rest.isEmpty
        else {
            return nil
        }
        self.init(
            kind: kind, sequence: number(8), issued: Int64(bitPattern: number(16)),
            from: Int64(bitPattern: number(24)), until: Int64(bitPattern: number(32)),
            watts: Int64(bitPattern: number(40)), key: key, site: site, target: target, dispatch: dispatch)
        guard isWritable, kind == .power || watts == 0, canonicalBytes == bytes else { return nil }
    }

    /// A lease and its signature, apart; `nil` where the bytes are no lease.
    public static func open(_ bytes: [UInt8]) -> (lease: RemoteLease, signed: [UInt8], signature: [UInt8])? {
        guard bytes.count <= largest, bytes.count > signatureLength else { return nil }
        let signed = Array(bytes.dropLast(signatureLength))
        guard let lease = RemoteLease(canonicalBytes: signed) else { return nil }
        return (lease, signed, Array(bytes.suffix(signatureLength)))
    }

    private static func isName(_ text: String) -> Bool {
        (1...longestName).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."),
                    UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}

/// Bytes as hexadecimal digits, the way leases and keys travel in text.
public enum Hexadecimal {
    /// Two small digits a byte.
    public static func text(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// `nil` where there is anything but pairs of digits.
    public static func bytes(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = value(digits[index]), let low = value(digits[index + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
