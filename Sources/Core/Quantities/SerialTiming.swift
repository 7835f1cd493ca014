/// How long bytes take on a serial line, and how frames are told apart there.
///
/// Source: Modbus over Serial Line 1.02, 2.5.1: a frame ends with 3.5 characters of silence (t3.5), which
/// above 19200 bit/s is 1.75 ms.
public struct SerialTiming: Sendable, Equatable, BitwiseCopyable {
    /// Bits per second, at least 1.
    public let baud: Int64
    /// Start, data, parity and stop bits: 10 for 8N1, 11 for 8E1.
    public let bitsPerCharacter: Int64

    public init(baud: Int, hasParity: Bool, stopBits: Int) {
        self.baud = Int64(Swift.max(1, baud))
        bitsPerCharacter = 9 + (hasParity ? 1 : 0) + Int64(stopBits)
    }

    /// Time on the wire, rounded up; `count` is 0 … 100,000.
    public func time(ofBytes count: Int) -> Duration {
        .nanoseconds((Int64(count) * bitsPerCharacter * 1_000_000_000 + baud - 1) / baud)
    }

    /// t3.5.
    public var frameGap: Duration {
        if baud > 19_200 { return .microseconds(1_750) }
        return .nanoseconds((7 * bitsPerCharacter * 500_000_000 + baud - 1) / baud)
    }
}
