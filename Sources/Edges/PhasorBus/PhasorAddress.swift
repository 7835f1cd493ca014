/// Where a PMU is reached.
public enum PhasorAddress: Sendable, Hashable, CustomStringConvertible {
    /// We connect and command it; by practice port 4712.
    case tcp(host: String, port: UInt16)
    /// We command it by datagrams and it answers where we asked from; by practice port 4713.
    case udp(host: String, port: UInt16)
    /// We connect and command it; its data comes as datagrams to a port of ours, from its address alone.
    case mixed(host: String, port: UInt16, dataPort: UInt16)
    /// It sends by itself, to our address or to a multicast group; we never say anything.
    case udpListen(host: String, port: UInt16)

    public var description: String {
        switch self {
        case .tcp(let host, let port): "tcp:\(host):\(port)"
        case .udp(let host, let port): "udp:\(host):\(port)"
        case .mixed(let host, let port, let dataPort): "tcp:\(host):\(port), data to udp:\(dataPort)"
        case .udpListen(let host, let port): "udp-listen:\(host):\(port)"
        }
    }

    var isListening: Bool {
        switch self {
        case .udpListen: true
        case .tcp, .udp, .mixed: false
        }
    }

    /// Whether what we say travels as a stream.
    var isStream: Bool {
        switch self {
        case .tcp, .mixed: true
        case .udp, .udpListen: false
        }
    }
}
