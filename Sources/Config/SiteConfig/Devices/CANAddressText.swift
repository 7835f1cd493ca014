import ConfigText
import DeviceCodecs

extension CANAddress {
    static let forms =
        "socketcan:INTERFACE, cannelloni:HOST:PORT, cannelloni-listen:HOST:PORT, slcan:DEVICE"

    /// Reads one of the four forms; `nil` for anything else.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(
            String.init)
        guard parts.count == 2 else { return nil }
        switch parts[0] {
        case "socketcan":
            // IFNAMSIZ is 16 with the end.
            guard CharacterClass.isPath(parts[1], limit: 15), !parts[1].contains("/") else { return nil }
            self = .socketCAN(interface: parts[1])
        case "cannelloni":
            guard let (host, port) = Self.address(parts[1]) else { return nil }
            self = .cannelloni(host: host, port: port)
        case "cannelloni-listen":
            guard let (host, port) = Self.address(parts[1]) else { return nil }
            self = .cannelloniListen(host: host, port: port)
        case "slcan":
            guard CharacterClass.isPath(parts[1], limit: 255) else { return nil }
            self = .slcan(device: parts[1])
        default: return nil
        }
    }

    var isSocketCAN: Bool {
        switch self {
        case .socketCAN: true
        case .cannelloni, .cannelloniListen, .slcan: false
        }
    }

    private static func address(_ text: String) -> (host: String, port: UInt16)? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, CharacterClass.isHost(parts[0]) else { return nil }
        // Written back, to refuse `+80` and `080`.
        guard let port = UInt16(parts[1]), port > 0, String(port) == parts[1] else { return nil }
        return (parts[0], port)
    }
}
