/// Where CAN frames come from and go to.
public enum CANAddress: Sendable, Equatable, Hashable {
    /// A CAN interface of this machine, for example `can0`.
    case socketCAN(interface: String)
    /// A cannelloni TCP gateway; we connect. The host is a numeric address or `localhost`: a name look-up has
    /// no bound in time and would hold up the bus thread.
    case cannelloni(host: String, port: UInt16)
    /// We accept one cannelloni peer at a time.
    case cannelloniListen(host: String, port: UInt16)
    /// An slcan adapter on a tty.
    case slcan(device: String)
}

extension CANAddress: CustomStringConvertible {
    /// As in the configuration: `cannelloni:127.0.0.1:20000`.
    public var description: String {
        switch self {
        case .socketCAN(let interface): "socketcan:" + interface
        case .cannelloni(let host, let port): "cannelloni:\(host):\(port)"
        case .cannelloniListen(let host, let port): "cannelloni-listen:\(host):\(port)"
        case .slcan(let device): "slcan:" + device
        }
    }
}
