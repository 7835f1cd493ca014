/// How long a frame keeps the bus, at the worst: with as many stuff bits as there can be, and the pause
/// after it. Source: ISO 11898-1; the usual bound of Tindell and Davis.
public struct CANBitRates: Sendable, BitwiseCopyable, Equatable {
    /// Bits per second of classic frames and of arbitration.
    public var nominal: UInt32
    /// Of the data of CAN FD frames that switch their rate.
    public var data: UInt32

    public init(nominal: UInt32 = 500_000, data: UInt32? = nil) {
        self.nominal = max(1, nominal)
        self.data = max(1, data ?? nominal)
    }

    /// Zero for error frames, whose length nobody tells.
    public func nanoseconds(of frame: CANFrame) -> UInt64 {
        guard frame.kind != .error else { return 0 }
        guard frame.isFlexible else { return Self.time(Self.classicBits(frame), nominal) }
        let (slow, fast) = Self.flexibleBits(frame)
        return Self.time(slow, nominal) + Self.time(fast, frame.hasRateSwitch ? data : nominal)
    }

    private static func time(_ bits: UInt64, _ rate: UInt32) -> UInt64 {
        (bits * 1_000_000_000 + UInt64(rate) - 1) / UInt64(rate)
    }

    /// 47 or 67 bits and the data; all up to the checksum, 34 or 54 bits and the data, may need a stuff bit
    /// after each four.
    static func classicBits(_ frame: CANFrame) -> UInt64 {
        let data = frame.kind == .remote ? 0 : 8 * UInt64(frame.validLength)
        let stuffed: UInt64 = (frame.isExtended ? 54 : 34) + data
        return stuffed + 13 + (stuffed - 1) / 4
    }

    /// Before and after the data phase; in it, with its checksum and that one's fixed stuff bits.
    static func flexibleBits(_ frame: CANFrame) -> (slow: UInt64, fast: UInt64) {
        let head: UInt64 = frame.isExtended ? 36 : 17
        let data = 8 * UInt64(frame.validLength)
        // 4 bits of stuff count, 17 or 21 of checksum, and a fixed stuff bit at each four of them.
        let tail: UInt64 = frame.validLength > 16 ? 4 + 21 + 7 : 4 + 17 + 6
        let stuffed = 5 + data
        return (head + head / 4 + 13, stuffed + stuffed / 4 + tail)
    }
}
