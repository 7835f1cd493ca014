import ConfigText
import DeviceCodecs
import Quantities
import SiteConfig

/// Every key of a driver's file.
enum DriverKeys {
    static let name = label("name", .required, "the device's make, for people")
    static let kind = ConfigKey<RegisterMap.Kind>.choice("kind", .required, "what it is")
    static let longestRead = ConfigKey.whole(
        "max_registers", 1...125, "", .fixed(125), "most registers in one request"
    ) { $0 }
    static let wordOrder = ConfigKey<Bool>.choice(
        "word_order", [("high_first", false), ("low_first", true)], .fixed("high_first"),
        "which register of two holds the high word; every register may say otherwise")
    static let writesSingly = ConfigKey<Bool>.flag(
        "write_single", .fixed("false"), "the device knows function 6 only, not 16")
    static let forbidden = ConfigKey<[ClosedRange<UInt16>]>(
        "forbidden", allowed: "a list of addresses: [100, 200-299]", .fixed([]), shown: "none",
        "never read and never written, not even in passing"
    ) { (node) throws(ConfigComplaint) in try ranges(node) }
    static let ratedPower = ConfigKey<Watts?>.number(
        "rated_power_kw", 0.1...1_000_000, "kW", .computed("the register rated_power"),
        "of an inverter without a register for it"
    ) { Watts.kilowatts($0) }

    enum Register {
        static let name = ConfigKey.identifier("name", .required, "what we make of it, or any other name")
        static let address = ConfigKey.whole(
            "address", 0...65_535, "", .required, "protocol address: from zero, without any 3x or 4x"
        ) { UInt16(clamping: $0) }
        static let table = ConfigKey<RegisterMap.Table>.choice(
            "table", .fixed("holding"), "holding: function 3; input: function 4")
        static let type = ConfigKey<RegisterDefinition.Number>.choice("type", .fixed("uint16"), "of its bits")
        static let scale = ConfigKey.number(
            "scale", -1_000_000...1_000_000, "", .fixed(1),
            "value = raw · scale + offset; negative turns the sign"
        ) { $0 }
        static let offset = ConfigKey.number("offset", -1e9...1e9, "", .fixed(0), "see scale") { $0 }
        static let unit = label("unit", .fixed(""), "of the value: W, Hz, V …")
        static let absent = ConfigKey<[UInt32]>(
            "absent", allowed: "a list of raw values", .fixed([]), shown: "none",
            "raw values that mean \"no value\""
        ) { (node) throws(ConfigComplaint) in try numbers(node) }
        static let access = ConfigKey<(Bool, Bool)>.choice(
            "access", [("read", (true, false)), ("write", (false, true)), ("read_write", (true, true))],
            .fixed("read"), "what the device allows")
        static let poll = ConfigKey<RegisterMap.Poll>.choice(
            "poll", .fixed("never"), "fast: each poll_ms of the site; slow: each 10 s; never: when asked")
        static let nonVolatile = ConfigKey<Bool>.flag(
            "nonvolatile", .fixed("false"), "in memory that wears out: never written in a cycle")
        static let protection = ConfigKey<Bool>.flag(
            "protection", .fixed("false"), "protects the device: never written while ballastd runs")
    }

    enum Control {
        static let setpoint = ConfigKey.identifier(
            "setpoint", .required, "the register of the power; positive = discharge after its scale")
        static let reversion = ConfigKey<DeviceReversion>.choice(
            "reversion", [("zero", .zero), ("disables", .disables), ("none", .absent)], .required,
            "after silence the device goes to zero power; is on its own; goes on for ever")
        static let reversionTime = ConfigKey<String?>.optionalName(
            "reversion_register", "takes the site's reversion_s at takeover")
        static let hold = ConfigKey<Duration?>.number(
            "hold_s", 1...86_400, "s", .computed("none"), "the device's own time, where it cannot be set"
        ) { .milliseconds(Int64($0 * 1_000)) }
        static let heartbeat = ConfigKey<String?>.optionalName("heartbeat", "a register that is counted up")
        static let heartbeatInterval = ConfigKey.whole(
            "heartbeat_ms", 100...60_000, "ms", .fixed(1_000), "how often"
        ) { Duration.milliseconds($0) }
    }

    enum IO {
        static let inputAddress = ConfigKey.whole(
            "input_address", 0...65_000, "", .fixed(0), "protocol address of input 1"
        ) { UInt16(clamping: $0) }
        static let inputCount = ConfigKey.whole("inputs", 0...64, "", .required, "how many there are") { $0 }
        static let coilAddress = ConfigKey.whole(
            "coil_address", 0...65_000, "", .fixed(0), "protocol address of coil 1"
        ) { UInt16(clamping: $0) }
        static let coilCount = ConfigKey.whole("coils", 0...64, "", .required, "how many there are") { $0 }
        static let writesSingly = ConfigKey<Bool>.flag(
            "coils_one_by_one", .fixed("false"), "the module knows function 5 only, not 15")
    }

    private static func label(
        _ name: String, _ fallback: ConfigDefault<String>, _ note: String
    ) -> ConfigKey<String> {
        ConfigKey(name, allowed: "text of at most 64 letters", fallback, shown: fallback.shownText, note) {
            (node) throws(ConfigComplaint) in
            let text = try node.text("text")
            guard text.unicodeScalars.count <= 64, text.unicodeScalars.allSatisfy({ $0.value >= 0x20 }) else {
                throw ConfigComplaint("is longer than 64 letters, or not plain", at: node.position)
            }
            return text
        }
    }

    // MARK: Lists

    private static func elements(_ node: ConfigNode) throws(ConfigComplaint) -> [ConfigNode] {
        guard case .sequence(let elements) = node.content, elements.count <= 64 else {
            throw ConfigComplaint("expected a list of at most 64", at: node.position)
        }
        return elements
    }

    private static func ranges(_ node: ConfigNode) throws(ConfigComplaint) -> [ClosedRange<UInt16>] {
        var ranges: [ClosedRange<UInt16>] = []
        for element in try elements(node) {
            let ends = try element.text("an address, or two with - between").split(separator: "-")
            guard let low = ends.first.flatMap({ UInt16($0) }), let high = ends.last.flatMap({ UInt16($0) }),
                ends.count <= 2, low <= high
            else {
                throw ConfigComplaint(
                    "expected an address 0 … 65535, or a range 200-299", at: element.position)
            }
            ranges.append(low...high)
        }
        return ranges
    }

    private static func numbers(_ node: ConfigNode) throws(ConfigComplaint) -> [UInt32] {
        var numbers: [UInt32] = []
        for element in try elements(node) {
            guard let number = RawNumber.parse(try element.text("a raw value")) else {
                throw ConfigComplaint("expected a raw value: 65535, 0x8000 or -1", at: element.position)
            }
            numbers.append(number)
        }
        return numbers
    }
}

/// Raw register values as files write them: 65535, 0x8000, -1.
enum RawNumber {
    static func parse(_ text: String) -> UInt32? {
        if text.hasPrefix("0x") { return UInt32(text.dropFirst(2), radix: 16) }
        return UInt32(text) ?? Int32(text).map { UInt32(bitPattern: $0) }
    }
}

extension ConfigDefault where Raw == String {
    fileprivate var shownText: String? {
        switch self {
        case .fixed(let text): text.isEmpty ? "none" : text
        case .required, .computed: nil
        }
    }
}

extension ConfigKey where Value == String? {
    static func optionalName(_ name: String, _ note: String) -> ConfigKey {
        ConfigKey(name, allowed: "the name of a register", .computed("none"), note) {
            (node) throws(ConfigComplaint) in try node.text("the name of a register")
        }
    }
}
