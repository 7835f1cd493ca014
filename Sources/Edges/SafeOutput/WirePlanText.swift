import DeviceCodecs
import ModbusBus
import Quantities

// The plan as a file: one line for each link, each write and each look, and a checksum. A person can read
// it, a half-written one is found out.
extension WirePlan {
    /// The name of the plan in a state folder.
    public static let name = "wires"
    public static func path(in directory: String) -> String { directory + "/" + name }

    /// A file of more bytes is none of ours.
    public static let sizeLimit = 1 << 20

    private static let heading = "ballast wires 1"

    public var bytes: [UInt8] {
        var text = Self.heading + "\n"
        for link in links {
            text += link.endpoint.words + "\n"
            for write in link.writes { text += write.words + "\n" }
            for look in link.looks { text += look.words + "\n" }
        }
        return Array((text + "checksum \(Self.checksum(text))\n").utf8)
    }

    /// `nil` where the bytes are not a whole plan.
    public init?(bytes: [UInt8]) {
        var lines = String(decoding: bytes, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        guard lines.count >= 3, lines.removeLast().isEmpty, lines[0] == Self.heading else { return nil }
        let checksum = lines.removeLast()
        guard checksum == "checksum \(Self.checksum(lines.joined(separator: "\n") + "\n"))" else {
            return nil
        }
        var links: [(endpoint: ModbusEndpoint, writes: [Write], looks: [Look])] = []
        for line in lines.dropFirst() {
            let words = line.split(separator: " ")
            if let endpoint = ModbusEndpoint(words: words) {
                links.append((endpoint, [], []))
            } else if let write = Write(words: words), !links.isEmpty {
                links[links.count - 1].writes.append(write)
            } else if let look = Look(words: words), !links.isEmpty {
                links[links.count - 1].looks.append(look)
            } else {
                return nil
            }
        }
        self.init(links: links.map { Link($0.endpoint, writes: $0.writes, looks: $0.looks) })
    }

    /// FNV-1a: enough to find a torn or edited file.
    private static func checksum(_ text: String) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return String(hash, radix: 16)
    }
}

extension ModbusEndpoint {
    fileprivate var words: String {
        switch self {
        case .tcp(let host, let port): "tcp \(host) \(port)"
        case .serial(let device, let line):
            "rtu \(device) \(line.baud) \(line.parity.rawValue) \(line.stopBits)\(line.optionWords)"
        }
    }

    fileprivate init?(words: [Substring]) {
        switch words.first {
        case "tcp" where words.count == 3:
            guard let port = UInt16(words[2]) else { return nil }
            self = .tcp(host: String(words[1]), port: port)
        case "rtu" where words.count >= 5:
            guard let baud = Int(words[2]), (50...4_000_000).contains(baud),
                let parity = SerialLine.Parity(rawValue: String(words[3])),
                let stopBits = Int(words[4]), (1...2).contains(stopBits)
            else { return nil }
            var line = SerialLine(baud: baud, parity: parity, stopBits: stopBits)
            guard line.take(words[5...]) else { return nil }
            self = .serial(device: String(words[1]), line: line)
        // Words come from a file.
        default: return nil
        }
    }
}

// What a line has besides its speed, only where it is not the usual: an older plan says nothing of it.
extension SerialLine {
    fileprivate var optionWords: String {
        var words = ""
        if isRS485 { words += " rs485" }
        if echoes { words += " echo" }
        if !isLowLatency { words += " usual_latency" }
        if let gap { words += " gap_us \(gap.nanoseconds / 1_000)" }
        return words
    }

    /// - Returns: whether the words were such options.
    fileprivate mutating func take(_ words: ArraySlice<Substring>) -> Bool {
        var words = words
        while let word = words.popFirst() {
            switch word {
            case "rs485": isRS485 = true
            case "echo": echoes = true
            case "usual_latency": isLowLatency = false
            case "gap_us":
                guard let time = words.popFirst().flatMap({ Int64($0) }), (0...1_000_000).contains(time)
                else { return false }
                gap = .microseconds(time)
            // Words come from a file.
            default: return false
            }
        }
        return true
    }
}

extension WirePlan.Write {
    fileprivate var words: String {
        let place = "\(owner) unit \(device) timeout_ms \(timeout.nanoseconds / 1_000_000) at \(address)"
        switch values {
        case .registers(let values):
            return "registers \(place) = \(values.map { "\($0)" }.joined(separator: " "))"
        case .register(let value): return "register \(place) = \(value)"
        case .coilsOff(let count): return "coils_off \(place) = \(count) \(wait.nanoseconds / 1_000_000_000)"
        }
    }

    fileprivate init?(words: [Substring]) {
        guard words.count >= 10, words[2] == "unit", words[4] == "timeout_ms", words[6] == "at",
            words[8] == "=", let device = UInt8(words[3]), let address = UInt16(words[7]),
            let timeout = Int64(words[5]), (1...10_000).contains(timeout)
        else { return nil }
        let numbers = words[9...].compactMap { UInt16($0) }
        guard numbers.count == words.count - 9 else { return nil }
        switch words[0] {
        case "registers" where numbers.count <= 16: values = .registers(numbers)
        case "register" where numbers.count == 1: values = .register(numbers[0])
        // A plan of a former version says nothing of a wait.
        case "coils_off" where (1...2).contains(numbers.count) && (1...64).contains(numbers[0]):
            values = .coilsOff(Int(numbers[0]))
        // Words come from a file.
        default: return nil
        }
        wait = .seconds(words[0] == "coils_off" && numbers.count == 2 ? Int(numbers[1]) : 0)
        owner = String(words[1])
        self.device = device
        self.address = address
        self.timeout = .milliseconds(timeout)
    }
}

extension WirePlan.Look {
    fileprivate var words: String {
        let table = place.table == .holding ? "holding" : "input"
        let order = place.isLowWordFirst ? "low" : "high"
        let scale = place.scaleAddress.map { "\($0)" } ?? "none"
        return
            "look \(owner) unit \(device) timeout_ms \(timeout.nanoseconds / 1_000_000) at \(place.address)"
            + " = \(side.rawValue) \(table) \(place.number) \(order) scale_at \(scale)"
            + " times \(place.factor) near_zero_w \(nearZero.value)"
    }

    fileprivate init?(words: [Substring]) {
        guard words.count == 19, words[0] == "look", words[2] == "unit", words[4] == "timeout_ms",
            words[6] == "at", words[8] == "=", words[13] == "scale_at", words[15] == "times",
            words[17] == "near_zero_w", let device = UInt8(words[3]), let timeout = Int64(words[5]),
            (1...10_000).contains(timeout), let address = UInt16(words[7]),
            let side = Side(rawValue: String(words[9])), ["holding", "input"].contains(words[10]),
            let number = ModbusValuePlace.Number.allCases.first(where: { "\($0)" == words[11] }),
            ["high", "low"].contains(words[12]), words[14] == "none" || UInt16(words[14]) != nil,
            let factor = Double(words[16]), factor.isFinite, factor != 0, let nearZero = Double(words[18]),
            (0...1e9).contains(nearZero)
        else { return nil }
        self.init(
            owner: String(words[1]), device: device, side: side,
            place: ModbusValuePlace(
                words[10] == "holding" ? .holding : .input, address, number,
                isLowWordFirst: words[12] == "low", factor: factor, scaleAddress: UInt16(words[14])),
            timeout: .milliseconds(timeout), nearZero: Watts(nearZero))
    }
}
