import DeviceCodecs

/// How a link is opened, besides where.
public struct CANLinkSettings: Sendable, Equatable {
    /// An slcan adapter is set to it; for the others it is what the load is reckoned by.
    public var rates: CANBitRates
    /// SocketCAN: what the kernel lets through; empty = everything. Whatever it keeps back is not counted,
    /// neither as unknown nor as load.
    public var filter: [CANIdentifier]
    /// We never send; an slcan adapter does not even acknowledge.
    public var isListenOnly: Bool

    public init(
        rates: CANBitRates = CANBitRates(), filter: [CANIdentifier] = [], isListenOnly: Bool = false
    ) {
        self.rates = rates
        self.filter = filter
        self.isListenOnly = isListenOnly
    }
}

extension SLCANEncoder.BitRate {
    /// `nil` for a rate that not all firmware agrees on.
    init?(bitsPerSecond: UInt32) {
        switch bitsPerSecond {
        case 100_000: self = .kilobits100
        case 125_000: self = .kilobits125
        case 250_000: self = .kilobits250
        case 500_000: self = .kilobits500
        case 1_000_000: self = .megabit1
        default: return nil
        }
    }
}
