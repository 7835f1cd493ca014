/// One CAN frame with its identity: an 11-bit and a 29-bit identifier with the same number are different.
public struct CANFrame: Sendable, BitwiseCopyable {
    public enum Kind: UInt8, Sendable, BitwiseCopyable {
        case data
        /// Remote transmission request: no data.
        case remote
        /// The bus controller's own report; never data.
        case error
    }

    /// 0 … 0x7FF, or 0 … 0x1FFF_FFFF when extended. For error frames: the error class.
    public var identifier: UInt32
    public var isExtended: Bool
    public var kind: Kind
    /// CAN FD: up to 64 bytes.
    public var isFlexible = false
    /// CAN FD: the data went, or shall go, at the faster rate (BRS).
    public var hasRateSwitch = false
    /// Number of valid bytes in `data`: 0 … 8, with CAN FD 0 … 64.
    public var length: Int
    public var data: InlineArray<64, UInt8>

    public init(
        _ identifier: UInt32, isExtended: Bool = false, kind: Kind = .data, isFlexible: Bool = false
    ) {
        self.identifier = identifier
        self.isExtended = isExtended
        self.kind = kind
        self.isFlexible = isFlexible
        length = 0
        data = InlineArray(repeating: 0)
    }

    /// A classic data frame; bytes beyond the eighth are refused.
    public init?(_ identifier: UInt32, isExtended: Bool = false, bytes: [UInt8]) {
        guard bytes.count <= 8 else { return nil }
        self.init(identifier, isExtended: isExtended)
        for byte in bytes { append(byte) }
    }

    /// Most bytes that it may carry.
    public var capacity: Int { isFlexible ? 64 : 8 }

    /// `length` as far as it can be true.
    public var validLength: Int { length < 0 ? 0 : (length > capacity ? capacity : length) }

    /// Every byte of at least four is 0xFF: whoever sends that has no value.
    public var isBlank: Bool {
        guard validLength >= 4 else { return false }
        for index in 0..<validLength where data[index] != 0xFF { return false }
        return true
    }

    /// Adds a byte; what does not fit is ignored.
    public mutating func append(_ byte: UInt8) {
        guard length < capacity else { return }
        data[length] = byte
        length += 1
    }

    /// Fills up with zeros to a length that CAN FD can say: 0 … 8, 12, 16, 20, 24, 32, 48, 64.
    public mutating func pad() {
        guard length > 8 else { return }
        let step = length <= 24 ? 4 : (length <= 32 ? 8 : 16)
        while length % step != 0 { append(0) }
    }
}
