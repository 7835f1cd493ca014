import Glibc

/// Why a PMU's link is not, or no longer, there; fixed size, so that it can cross a `RingBuffer`.
public enum PhasorError: Error, Equatable, Sendable, BitwiseCopyable {
    public enum Call: UInt8, Sendable, BitwiseCopyable, CaseIterable {
        case socket, bind, listen, connect, accept, option, poll, read, write
    }

    /// The host is neither a numeric address nor `localhost`.
    case hostNotNumeric
    case connectTimedOut
    case peerClosed
    /// The link stands, and no sample has come for 5 s.
    case silent
    case system(Call, errno: CInt)

    /// One sentence part for the operator.
    public var reason: String {
        switch self {
        case .hostNotNumeric: "the host must be a numeric address or localhost"
        case .connectTimedOut: "no answer to the connection attempt within 1 s"
        case .peerClosed: "the PMU closed the connection"
        case .silent: "no sample for 5 s"
        case .system(let call, let code): "\(call): \(String(cString: strerror(code)))"
        }
    }
}
