import ConfigText
import Quantities
import SiteConfig

/// Every key of a profile's file.
enum ProfileKeys {
    static let name = label("name", .required, "the battery's make, for people")
    static let dbc = ConfigKey.path("dbc", .required, "the DBC file, beside this one")
    static let period = ConfigKey.whole(
        "period_ms", 10...60_000, "ms", .required,
        "of the frames that come most often; silence is judged by it"
    ) { Duration.milliseconds($0) }

    static func messagePeriod(_ message: String) -> ConfigKey<Duration> {
        ConfigKey.whole(
            message, 1...600_000, "ms", .required, "of the message, where the DBC file is silent or wrong"
        ) { Duration.milliseconds($0) }
    }
    static let frozenSamples = ConfigKey.whole(
        "frozen_samples", 0...100_000, "", .fixed(0),
        "so many samples without any change while power flows: frozen; 0 = such a battery may well repeat itself"
    ) { $0 }
    static let chemistry = ConfigKey<Chemistry?>.choice(
        "chemistry", Chemistry.allCases.map { ($0.rawValue, $0) }, .computed("several, or not known"),
        "of its cells: a site with another one's interlocks is refused")
    static let guesses = ConfigKey.words(
        "guesses", allowed: "a list of texts", "what nobody has seen on a real battery yet"
    ) { (1...200).contains($0.utf8.count) }

    enum Reading {
        static let signal = reference("signal", .required, "MESSAGE.SIGNAL of the DBC file")
        static let sign = ConfigKey<ValueBinding.Sign>.choice(
            "sign", [("positive", .positive), ("negative", .negative), ("magnitude", .magnitude)],
            .fixed("positive"), "negative where + means charging; magnitude where makers differ")
        static let scale = number("scale", .fixed(1), "value = physical · scale + offset")
        static let offset = number("offset", .fixed(0), "see scale")
        static let low = number("min", .computed("what no battery passes"), "less is implausible")
        static let high = number("max", .computed("what no battery passes"), "more is implausible")
        static let invalid = rawValues("invalid", "raw values that mean \"no value\"")
        static let refine = reference(
            "refine", .computed("none"), "a finer gauge of the same, in the same frame")
        static let refineWithin = ConfigKey.number(
            "refine_within", 0...100, "%", .fixed(1), "it counts where it is that near"
        ) { $0 }
        static let checksScale = ConfigKey.flag(
            "check_scale", .fixed("false"),
            "refuse a pack voltage of about ten times, or a tenth of, the charge voltage limit")
        static let valid = reference(
            "valid", .computed("none"), "a signal that says whether this one is good")
        static let validValue = ConfigKey.whole(
            "valid_value", 0...255, "", .fixed(1), "the raw value of `valid` that means good"
        ) { UInt64($0) }
    }

    enum Cells {
        static let signals = label(
            "signals", .computed("none"), "MESSAGE.SIGNAL with {first..last} in it, one signal for each cell")
        static let valid = label(
            "valid", .computed("none"), "the same for signals that say whether a cell is good")
        static let index = reference("index", .computed("none"), "a signal that names the cell of `value`")
        static let value = reference("value", .computed("none"), "one signal for all cells, named by `index`")
        static let firstIndex = ConfigKey.whole(
            "first", 0...65_535, "", .fixed(0), "the index of the first cell"
        ) {
            Double($0)
        }
        static let count = ConfigKey.whole(
            "count", 1...BatteryProfile.cellLimit, "", .required,
            "how many there are, if the site says nothing"
        ) { $0 }
        static let period = ConfigKey.whole(
            "period_ms", 10...600_000, "ms", .computed("that of the message"),
            "until all cells have come once"
        ) { Duration.milliseconds($0) }
    }

    enum Alarms {
        static let isWarning = ConfigKey<Bool>.choice(
            "severity", [("alarm", false), ("warning", true)], .required,
            "alarm: the battery opens, or is about to open, its contactors")
        static let kind = ConfigKey<Kind>.choice(
            "kind", .required,
            "reported: each frame says all; edge: 1 raises, 2 clears; absent: the battery never says")
        static let isRequired = ConfigKey.flag(
            "required", .fixed("true"), "whether nothing is known before it has come")
        static let zerosToClear = ConfigKey<UInt8?>.whole(
            "clear_after_zeros", 0...255, "", .fixed(0),
            "edge: more zeros in a row than these clear as well; 0: never"
        ) { $0 == 0 ? nil : UInt8(clamping: $0) }
        static let also = ConfigKey<UInt32>.choice(
            "also", AlarmName.all, .computed("none"), "stands besides every other alarm of this source")
        static let signal = reference("signal", .required, "MESSAGE.SIGNAL; all of one source in one message")
        static let alarm = ConfigKey<UInt32>.choice("alarm", AlarmName.all, .required, "what it means")
        static let text = label("text", .required, "for people")
        static let active = rawValues("active", "raw values that mean it stands; without, any but zero")

        enum Kind: String, Sendable, CaseIterable { case reported, edge, absent }
    }

    enum Permissions {
        static let signal = reference("signal", .required, "MESSAGE.SIGNAL")
        static let allowed = rawValues("allowed", "raw values that allow")
        static let forbidden = rawValues("forbidden", "raw values that forbid, where all others allow")
    }

    enum Alive {
        static let signal = reference("signal", .required, "a counter or toggle bit")
        static let stuckAfter = ConfigKey.whole(
            "stuck_after", 1...1_000, "", .fixed(10), "so many frames in a row with one value: frozen"
        ) { $0 }
    }

    enum Protection {
        static let signal = reference(
            "signal", .required, "MESSAGE.SIGNAL of the checksum, in whole bytes")
        static let algorithm = ConfigKey<FrameChecksum>.choice(
            "algorithm",
            FrameChecksum.names.compactMap { name in FrameChecksum(named: name).map { (name, $0) } },
            .required, "which sum it is; the keys below change it")
        static let polynomial = hex("polynomial", "without its highest bit")
        static let initial = hex("initial", "what it begins with")
        static let finalXor = hex("final_xor", "what it is combined with in the end")
        static let isReflected = ConfigKey<Bool>.choice(
            "reflected", [("true", true), ("false", false)], .computed("by the algorithm"),
            "the lowest bit of each byte first")
        static let dataID = hex("data_id", "goes before the frame's bytes")
        static let dataIDMode = ConfigKey<FrameChecksum.DataIDMode>.choice(
            "data_id_mode", [("both", .both), ("low", .low), ("alternating", .alternating)],
            .computed("both"), "low byte and high byte; the low one; or by the counter's lowest bit")
        static let first = ConfigKey.whole("first", 0...63, "", .fixed(0), "the first byte that it covers") {
            $0
        }
        static let last = ConfigKey.whole("last", 0...63, "", .fixed(63), "the last byte that it covers") {
            $0
        }
        static let counterSignal = reference("signal", .required, "MESSAGE.SIGNAL of the counter")
        static let modulo = ConfigKey<UInt64>.whole(
            "modulo", 2...1_000_000, "", .computed("2 to the counter's bits"), "how many values it has"
        ) { UInt64($0) }
        static let maxStep = ConfigKey<UInt64>.whole(
            "max_step", 1...1_000_000, "", .fixed(2), "a wider step than this is refused"
        ) { UInt64($0) }
    }

    enum Send {
        static let id = ConfigKey<UInt32>.text(
            "id", allowed: "0x and hexadecimal digits", .computed("that of message"),
            "identifier of the frame"
        ) { text in
            text.hasPrefix("0x") ? UInt32(text.dropFirst(2), radix: 16) : nil
        }
        static let isExtended = ConfigKey.flag("extended", .fixed("false"), "29 bits")
        static let bytes = ConfigKey<[UInt8]>.text(
            "bytes", allowed: "up to 8 bytes in hexadecimal, with spaces between", .computed("by signals"),
            "what the frame carries"
        ) { text in
            let words = text.split(separator: " ")
            let bytes = words.compactMap { $0.utf8.count == 2 ? UInt8($0, radix: 16) : nil }
            return bytes.count == words.count && bytes.count <= 8 ? bytes : nil
        }
        static let message = label(
            "message", .computed("none"), "a message of the DBC file; the rest of it is zero")
        static let period = ConfigKey.whole("period_ms", 10...60_000, "ms", .required, "sent this often") {
            Duration.milliseconds($0)
        }
        static let condition = ConfigKey<ProfileSend.Condition>.choice(
            "while", .fixed("alive"), "alive; permitted and not_permitted: by the permit for contactors")
        static let signal = label("signal", .required, "of the message")
        static let value = number("value", .computed("by from"), "physical")
        static let source = ConfigKey<ProfileSend.Source>.choice(
            "from", .computed("none"), "filled in at the moment of sending")
        static let scale = number("scale", .fixed(1), "of from: value · scale + offset")
        static let offset = number("offset", .fixed(0), "see scale")
        static let modulo = Protection.modulo
    }

    private static func label(
        _ name: String, _ fallback: ConfigDefault<String>, _ note: String
    ) -> ConfigKey<String> {
        ConfigKey.text(name, allowed: "a text of 1 … 200 bytes", fallback, note) { text in
            (1...200).contains(text.utf8.count) ? text : nil
        }
    }

    private static func reference(
        _ name: String, _ fallback: ConfigDefault<String>, _ note: String
    ) -> ConfigKey<String> {
        ConfigKey.text(name, allowed: "MESSAGE.SIGNAL", fallback, note) { text in
            text.split(separator: ".", omittingEmptySubsequences: false).count == 2 ? text : nil
        }
    }

    private static func number(
        _ name: String, _ fallback: ConfigDefault<Double>, _ note: String
    ) -> ConfigKey<Double> {
        ConfigKey.number(name, -1e9...1e9, "", fallback, note) { $0 }
    }

    private static func hex(_ name: String, _ note: String) -> ConfigKey<UInt16> {
        ConfigKey.text(
            name, allowed: "0x and up to four hexadecimal digits", .computed("by the algorithm"), note
        ) {
            $0.hasPrefix("0x") ? UInt16($0.dropFirst(2), radix: 16) : nil
        }
    }

    private static func rawValues(_ name: String, _ note: String) -> ConfigKey<[UInt64]> {
        let allowed = "a list of whole numbers from 0"
        return ConfigKey(name, allowed: allowed, .computed("none"), note) {
            (node) throws(ConfigComplaint) -> [UInt64] in
            guard case .sequence(let elements) = node.content, elements.count <= 64 else {
                throw ConfigComplaint("expected \(allowed)", at: node.position)
            }
            var values: [UInt64] = []
            for element in elements {
                let (number, _) = try element.number(allowed)
                guard let value = UInt64(exactly: number) else {
                    throw ConfigComplaint("is not one of \(allowed)", at: element.position)
                }
                values.append(value)
            }
            return values
        }
    }
}
