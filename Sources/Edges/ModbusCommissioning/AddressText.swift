import ModbusBus

/// Where a link is, as people type it.
public struct LinkText: Sendable, Equatable {
    public let address: ModbusAddress
    public var isSerial: Bool { device.hasPrefix("/") }
    /// `127.0.0.1:502` or `/dev/ttyUSB0`: as the site's file names it.
    public let device: String

    /// - Parameter text: `tcp://host:port`, `tcp://host` (port 502), or the path of a serial port.
    public init?(
        _ text: String, baud: Int = 19_200, parity: ModbusAddress.Parity = .none, stopBits: Int = 1
    ) {
        if text.hasPrefix("/") {
            address = .serial(device: text, baud: baud, parity: parity, stopBits: stopBits)
            device = text
            return
        }
        guard text.hasPrefix("tcp://") else { return nil }
        let place = text.dropFirst(6)
        guard let (host, port) = Self.split(place), !host.isEmpty else { return nil }
        address = .tcp(host: String(host).lowercased(), port: port)
        device = "\(String(host).lowercased()):\(port)"
    }

    /// `[::1]:502` has its address in brackets.
    private static func split(_ text: Substring) -> (Substring, UInt16)? {
        var (host, rest) = (text, Substring())
        if text.first == "[" {
            guard let end = text.firstIndex(of: "]") else { return nil }
            host = text[text.index(after: text.startIndex)..<end]
            rest = text[text.index(after: end)...]
        } else if let colon = text.lastIndex(of: ":") {
            host = text[..<colon]
            rest = text[colon...]
        }
        if rest.isEmpty { return (host, 502) }
        guard rest.first == ":", let port = UInt16(rest.dropFirst()), port > 0 else { return nil }
        return (host, port)
    }
}

/// Unit numbers as people type them.
public enum UnitList {
    /// `1-10,126`; `nil` for anything else, and for numbers outside 0 … 255.
    public static func parse(_ text: String) -> [UInt8]? {
        var units: [UInt8] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false)
            guard let low = ends.first.flatMap({ UInt8($0) }), let high = ends.last.flatMap({ UInt8($0) }),
                ends.count <= 2, low <= high
            else { return nil }
            units += (low...high).filter { !units.contains($0) }
        }
        return units.isEmpty ? nil : units
    }

    /// Asked where nobody says which: on TCP the numbers that makers use.
    public static func usual(isSerial: Bool) -> [UInt8] {
        isSerial ? Array(1...247) : Array(1...10) + [71, 126, 200, 240, 247, 255]
    }
}
