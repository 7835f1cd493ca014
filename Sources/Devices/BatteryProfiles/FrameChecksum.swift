/// A checksum over the bytes of a frame, as data: which sum it is, over which bytes, and where it stands.
public struct FrameChecksum: Sendable, BitwiseCopyable, Equatable {
    public enum Kind: UInt8, Sendable, BitwiseCopyable {
        /// Cyclic redundancy check: the remainder of a division by `polynomial`.
        case crc
        case sum
        case exclusiveOr
    }

    /// What of the data identifier goes before the frame's bytes.
    public enum DataIDMode: UInt8, Sendable, BitwiseCopyable {
        case none
        /// Low byte, then high byte (AUTOSAR E2E profile 1, `E2E_P01_DATAID_BOTH`).
        case both
        case low
        /// Low byte with an even counter, high byte with an odd one (`E2E_P01_DATAID_ALT`).
        case alternating
    }

    public var kind: Kind
    /// Bits: 8 or 16.
    public var width: Int
    /// Without its highest bit, highest power first.
    public var polynomial: UInt16
    public var initial: UInt16
    public var finalXor: UInt16
    /// Lowest bit of each byte first.
    public var isReflected: Bool
    public var dataID: UInt16 = 0
    public var dataIDMode = DataIDMode.none
    /// Bytes that it covers, its own left out: `first ... last`.
    public var first = 0
    public var last = 63
    /// Its own first byte.
    public var place = 0
    /// Of a sum of two bytes: the first one is the high one.
    public var isBigEndian = false

    public init(
        _ kind: Kind, width: Int = 8, polynomial: UInt16 = 0, initial: UInt16 = 0, finalXor: UInt16 = 0,
        isReflected: Bool = false
    ) {
        self.kind = kind
        self.width = width
        self.polynomial = polynomial
        self.initial = initial
        self.finalXor = finalXor
        self.isReflected = isReflected
    }

    /// By its name in a profile's file; `nil` for a name that is not known.
    ///
    /// - Source: AUTOSAR CRC library (SAE J1850, 0x2F), AUTOSAR E2E profile 1, and the usual catalogues of
    ///   check values over "123456789".
    public init?(named name: String) {
        switch name {
        case "xor8": self.init(.exclusiveOr)
        case "sum8": self.init(.sum)
        case "sum16": self.init(.sum, width: 16)
        case "crc8": self.init(.crc, polynomial: 0x07)
        case "crc8_sae_j1850": self.init(.crc, polynomial: 0x1D, initial: 0xFF, finalXor: 0xFF)
        case "crc8_autosar": self.init(.crc, polynomial: 0x2F, initial: 0xFF, finalXor: 0xFF)
        case "crc8_maxim": self.init(.crc, polynomial: 0x31, isReflected: true)
        case "crc16_ccitt": self.init(.crc, width: 16, polynomial: 0x1021, initial: 0xFFFF)
        case "crc16_modbus":
            self.init(.crc, width: 16, polynomial: 0x8005, initial: 0xFFFF, isReflected: true)
        case "e2e_p01":
            self.init(.crc, polynomial: 0x1D)
            dataIDMode = .both
        default: return nil
        }
    }

    public static let names = [
        "xor8", "sum8", "sum16", "crc8", "crc8_sae_j1850", "crc8_autosar", "crc8_maxim", "crc16_ccitt",
        "crc16_modbus", "e2e_p01",
    ]

    /// How many bytes it takes in the frame.
    public var size: Int { width / 8 }

    /// What must stand at `place`.
    ///
    /// - Parameter counter: the frame's own, for an alternating data identifier.
    public func value(over bytes: Span<UInt8>, counter: UInt64 = 0) -> UInt16 {
        var register = isReflected ? FrameChecksum.reflect(initial, width) : initial
        switch dataIDMode {
        case .none: break
        case .both:
            take(UInt8(truncatingIfNeeded: dataID), &register)
            take(UInt8(truncatingIfNeeded: dataID >> 8), &register)
        case .low: take(UInt8(truncatingIfNeeded: dataID), &register)
        case .alternating:
            take(UInt8(truncatingIfNeeded: counter & 1 == 0 ? dataID : dataID >> 8), &register)
        }
        for index in 0..<bytes.count where index >= first && index <= last {
            if index < place || index >= place + size { take(bytes[index], &register) }
        }
        return (register ^ finalXor) & mask
    }

    /// What stands at `place`; `nil` where the frame is too short for it.
    public func written(in bytes: Span<UInt8>) -> UInt16? {
        guard place + size <= bytes.count else { return nil }
        if size == 1 { return UInt16(bytes[place]) }
        let (one, two) = (UInt16(bytes[place]), UInt16(bytes[place + 1]))
        return isBigEndian ? one << 8 | two : two << 8 | one
    }

    /// Writes the right value into a frame's bytes; does nothing where they are too few.
    public func write(into bytes: inout [UInt8], counter: UInt64 = 0) {
        guard place + size <= bytes.count else { return }
        let sum = value(over: bytes.span, counter: counter)
        let (low, high) = (UInt8(truncatingIfNeeded: sum), UInt8(truncatingIfNeeded: sum >> 8))
        bytes[place] = size == 2 && isBigEndian ? high : low
        if size == 2 { bytes[place + 1] = isBigEndian ? low : high }
    }

    private var mask: UInt16 { width == 16 ? 0xFFFF : 0xFF }

    private func take(_ byte: UInt8, _ register: inout UInt16) {
        switch kind {
        case .sum: register = (register &+ UInt16(byte)) & mask
        case .exclusiveOr: register ^= UInt16(byte)
        case .crc:
            if isReflected {
                let divisor = FrameChecksum.reflect(polynomial, width)
                register ^= UInt16(byte)
                for _ in 0..<8 { register = register & 1 != 0 ? register >> 1 ^ divisor : register >> 1 }
            } else {
                let top = UInt16(1) << UInt16(width - 1)
                register ^= UInt16(byte) << UInt16(width - 8)
                for _ in 0..<8 {
                    let isCarried = register & top != 0
                    register = (isCarried ? register << 1 ^ polynomial : register << 1) & mask
                }
            }
        }
    }

    private static func reflect(_ value: UInt16, _ width: Int) -> UInt16 {
        var result: UInt16 = 0
        for bit in 0..<width where value >> UInt16(bit) & 1 != 0 {
            result |= 1 << UInt16(width - 1 - bit)
        }
        return result
    }
}

/// A counter in a frame: each new frame says a higher number, up to its end, then zero again.
struct FrameCounter: Sendable, BitwiseCopyable {
    /// Place among all signals of the database.
    var signal: Int
    /// Place among the message's signals.
    var local: Int
    var mask: UInt64
    /// Values are `0 ..< modulo`.
    var modulo: UInt64
    /// Frames that may be lost in a row, and one.
    var maxStep: UInt64
    /// So many frames in a row with one value: frozen.
    var stuckAfter: Int
}

/// How a battery guards one of its messages.
struct FrameProtection: Sendable, BitwiseCopyable {
    var message: Int
    var checksum: FrameChecksum?
    var counter: FrameCounter?
}
