import DeviceCodecs
import Glibc

/// Why a CAN link is not, or no longer, there; fixed size, so that it can cross a `RingBuffer`.
public enum CANError: Error, Equatable, Sendable, BitwiseCopyable {
    public enum Call: UInt8, Sendable, BitwiseCopyable, CaseIterable {
        case socket, bind, listen, connect, accept, open, terminal, poll, read, write
    }

    /// The kernel was built without CAN.
    case noKernelSupport
    case noSuchInterface
    case interfaceDown
    /// Another program reads this tty.
    case inUse
    /// Not one that slcan adapters agree on.
    case unusableBitRate
    /// The host is neither a numeric address nor `localhost`.
    case hostNotNumeric
    case connectTimedOut
    /// The peer took the connection and did not greet within a second.
    case greetingTimedOut
    /// Half a frame came, and then nothing for a second.
    case stalled
    case peerClosed
    case desynchronised(CannelloniDecoder.Fault)
    /// Nobody is on the line yet; the frame is not sent.
    case notUp
    /// The transmit queue is full; the frame is not sent, the link stands.
    case full
    /// An error frame, or CAN FD on a link without it; the frame is not sent.
    case notExpressible
    case system(Call, errno: CInt)

    /// Whether the link is lost. The other errors concern one frame only.
    public var endsSession: Bool {
        switch self {
        case .notUp, .full, .notExpressible: false
        case .noKernelSupport, .noSuchInterface, .interfaceDown, .inUse, .unusableBitRate, .hostNotNumeric,
            .connectTimedOut,
            .greetingTimedOut, .stalled, .peerClosed, .desynchronised, .system:
            true
        }
    }

    /// One sentence for the operator, with the name of what failed.
    public func text(at address: CANAddress) -> String { "\(address): \(reason)" }

    /// The same without the name.
    public var reason: String {
        switch self {
        case .noKernelSupport: "this kernel has no AF_CAN (CONFIG_CAN)"
        case .noSuchInterface: "there is no such network interface"
        case .interfaceDown: "the interface is down; see 'ballastctl can up'"
        case .inUse: "another program reads this device"
        case .unusableBitRate: "slcan adapters know 100, 125, 250, 500 and 1000 kbit/s"
        case .hostNotNumeric: "the host must be a numeric address or localhost"
        case .connectTimedOut: "no answer to the connection attempt within 1 s"
        case .greetingTimedOut: "the peer did not greet within 1 s"
        case .stalled: "half a frame came, then nothing for 1 s"
        case .peerClosed: "the peer closed the connection"
        case .desynchronised(.greeting): "the peer does not speak cannelloni over TCP"
        case .desynchronised(.identifier): "garbage in the stream (identifier)"
        case .desynchronised(.length): "garbage in the stream (length)"
        case .notUp: "the link is not up"
        case .full: "the transmit queue is full"
        case .notExpressible: "the link cannot carry this frame"
        case .system(let call, let code): "\(call): \(String(cString: strerror(code)))"
        }
    }

    static func last(_ call: Call) -> CANError { .system(call, errno: errno) }
}
