extension CANFrame {
    private static let extendedFlag: UInt32 = 0x8000_0000
    private static let remoteFlag: UInt32 = 0x4000_0000
    private static let errorFlag: UInt32 = 0x2000_0000
    private static let extendedMask: UInt32 = 0x1FFF_FFFF
    private static let standardMask: UInt32 = 0x7FF

    /// The head of a frame from the identifier word of SocketCAN and cannelloni; `nil` where an 11-bit
    /// identifier has more than 11 bits.
    public init?(socketCAN word: UInt32) {
        let number = word & Self.extendedMask
        let isError = word & Self.errorFlag != 0
        let isExtended = word & Self.extendedFlag != 0
        guard isError || isExtended || number <= Self.standardMask else { return nil }
        let kind: Kind = isError ? .error : (word & Self.remoteFlag != 0 ? .remote : .data)
        self.init(number, isExtended: isExtended, kind: kind)
    }

    /// The identifier word of SocketCAN and cannelloni; bits that do not fit the kind of identifier are cut
    /// off.
    public var socketCANIdentifier: UInt32 {
        switch kind {
        case .error: identifier & Self.extendedMask | Self.errorFlag
        case .data: numberAndFormat
        case .remote: numberAndFormat | Self.remoteFlag
        }
    }

    private var numberAndFormat: UInt32 {
        isExtended ? identifier & Self.extendedMask | Self.extendedFlag : identifier & Self.standardMask
    }

    /// One byte; `nil` where the frame ends before.
    func byte(_ offset: Int) -> UInt8? { offset < validLength ? data[offset] : nil }
}
