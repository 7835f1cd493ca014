/// One classic CAN frame with its identity: an 11-bit and a 29-bit identifier with the same number are
/// different.
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
    /// Number of valid bytes in `data`: 0 … 8.
    public var length: Int
    public var data: InlineArray<8, UInt8>

    public init(_ identifier: UInt32, isExtended: Bool = false, kind: Kind = .data) {
        self.identifier = identifier
        self.isExtended = isExtended
        self.kind = kind
        length = 0
        data = InlineArray(repeating: 0)
    }

    /// A data frame; bytes beyond the eighth are refused.
    public init?(_ identifier: UInt32, isExtended: Bool = false, bytes: [UInt8]) {
        guard bytes.count <= 8 else { return nil }
        self.init(identifier, isExtended: isExtended)
        for byte in bytes { append(byte) }
    }

    /// Adds a byte; the ninth and later ones are ignored.
    public mutating func append(_ byte: UInt8) {
        guard length < 8 else { return }
        data[length] = byte
        length += 1
    }
}
