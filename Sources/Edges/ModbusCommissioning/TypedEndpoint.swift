import DeviceCodecs

extension ModbusEndpoint {
    /// As people type it.
    ///
    /// - Parameters:
    ///   - text: `tcp://host:port`, `tcp://host` (port 502), or the path of a serial port.
    ///   - line: of a serial port.
    public init?(typed text: String, line: SerialLine = SerialLine(baud: 19_200)) {
        if text.hasPrefix("/") {
            self = .serial(device: text, line: line)
            return
        }
        guard text.hasPrefix("tcp://") else { return nil }
        guard let (host, port) = Self.split(text.dropFirst(6)), !host.isEmpty else { return nil }
        self = .tcp(host: String(host).lowercased(), port: port)
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
