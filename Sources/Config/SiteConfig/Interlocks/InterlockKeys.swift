import ConfigText
import Plant

/// The keys of an interlock's row and of the section `interlocks`.
enum InterlockKeys {
    static let chemistry = ConfigKey<Chemistry>.choice(
        "chemistry", .fixed("lfp"),
        "the kind of cell: gives the shipped table and the limits no site may pass")
    static let table = ConfigKey.path(
        "table", .computed("the shipped table"), "a whole own table, from the folder of this file")
    static let tableChemistry = ConfigKey<Chemistry>.choice(
        "chemistry", .required, "the kind of cell the table is for")

    static let id = ConfigKey<String>.known("id", InterlockID.ofRows.map(\.word), "the row's name; once")
    static let signal = ConfigKey<String>.known("signal", Signal.all.map(\.word), "what is watched")
    static let isEnabled = ConfigKey.flag("enabled", .fixed("true"), "false takes the row out")
    static let side = ConfigKey<InterlockRule.Side>.choice(
        "side", .computed("as shipped"), "on which side of its limits the danger lies")
    static let direction = ConfigKey<InterlockRule.Direction>.choice(
        "direction", .computed("as shipped"), "what it derates, and what closes while the signal is missing")
    static let condition = ConfigKey<InterlockRule.Condition>.choice(
        "while", .computed("always"), "when the trip limit counts")
    static let action = ConfigKey<InterlockRule.Action>.choice(
        "action", .computed("trip"), "what passing the trip limit does")
    static let reset = ConfigKey<Role?>.choice(
        "reset", [("auto", nil)] + Role.words.map { ($0.text, $0.value) },
        .computed("operator; auto where nothing latches"),
        "the least role that may reset; auto: the row lets go by itself")
    static let presence = ConfigKey<InterlockRule.Presence>.choice(
        "presence", .computed("required"), "whether the direction is closed until the signal was seen")
    static let group = ConfigKey.identifier(
        "group", .computed("as shipped, or other"), "what belongs together")
    static let debounce = ConfigKey.whole(
        "debounce_ms", 0...600_000, "ms", .computed("as shipped"), "how long the trip limit must be passed"
    ) { Duration.milliseconds($0) }
    static let exposure = ConfigKey.whole(
        "exposure_ms", 1...3_600_000, "ms", .computed("ten times debounce_ms"),
        "the sum of times beyond the trip limit that trips too; it leaks at a twentieth"
    ) { Duration.milliseconds($0) }
    static let count = ConfigKey.whole(
        "count", 2...5, "",
        .computed("3 for smoke, gas, breaker, battery drop-outs; 5 of inverter, I/O module; else none"),
        "how often the limit is passed anew in count_window_s before that trips too"
    ) { $0 }
    static let countWindow = ConfigKey.whole(
        "count_window_s", 60...3_600, "s", .fixed(600), "the time in which count counts"
    ) { Duration.seconds($0) }
    static let processSafetyTime = ConfigKey.whole(
        "process_safety_time_ms", 1...3_600_000, "ms", .computed("as shipped"),
        "from cause to hazard; zero power must be reached in half of it"
    ) { Duration.milliseconds($0) }
    static let source = sentence("source", "where the limits come from")
    static let timeSource = sentence(
        "process_safety_time_source", "where the process safety time comes from")
    static let isMandatory = ConfigKey.flag(
        "mandatory", .fixed("false"), "in tables only: production cannot do without the row")
    static let floorDebounce = ConfigKey.whole(
        "absolute_debounce_ms", 0...600_000, "ms", .computed("none"),
        "in tables only: the longest debounce in production"
    ) { Duration.milliseconds($0) }

    /// Of a site's own rows; the limits' units follow the signal.
    static var reference: [any ReferenceEntry] {
        let volts: InterlockLimitUnit = ("v", 1, 0...2_000)
        return [
            id, isEnabled, signal, side, direction, limit("warn", volts), derate(volts), limit("trip", volts),
            hysteresis(volts), debounce, exposure, count,
            countWindow, condition, action, reset, presence, group, processSafetyTime, source,
            timeSource,
        ]
    }

    /// `trip_v`, `trip_percent`: one limit in one of the units that its signal can be written in.
    static func limit(
        _ name: String, _ suffix: (text: String, divisor: Double, range: ClosedRange<Double>)
    ) -> ConfigKey<Double> {
        ConfigKey.number(
            "\(name)_\(suffix.text)", suffix.range, suffix.text, .computed("as shipped"), limitNote
        ) {
            $0 / suffix.divisor
        }
    }

    static func hysteresis(_ suffix: InterlockLimitUnit) -> ConfigKey<Double> {
        ConfigKey.number(
            "hysteresis_\(suffix.text)", 0...suffix.range.upperBound, suffix.text,
            .computed("3 K of temperatures, else none"), "how far it must come back before the row lets go"
        ) { $0 / suffix.divisor }
    }

    static func derate(
        _ suffix: (text: String, divisor: Double, range: ClosedRange<Double>)
    ) -> ConfigKey<InterlockRule.Derate> {
        let range = rangeText(suffix.range.lowerBound, suffix.range.upperBound, suffix.text)
        let allowed = "[from, to], each \(range)"
        return ConfigKey("derate_\(suffix.text)", allowed: allowed, .computed("as shipped"), limitNote) {
            (node) throws(ConfigComplaint) in
            guard case .sequence(let ends) = node.content, ends.count == 2 else {
                throw ConfigComplaint("expected two numbers (allowed: \(allowed))", at: node.position)
            }
            return InterlockRule.Derate(
                from: try ends[0].number(in: suffix.range, range) / suffix.divisor,
                to: try ends[1].number(in: suffix.range, range) / suffix.divisor)
        }
    }

    private static let limitNote = "the unit is the signal's: _v, _c, _a, _ratio or _percent, _state, …"

    private static func sentence(_ name: String, _ note: String) -> ConfigKey<String> {
        ConfigKey.text(name, allowed: "a text of 1 … 400 bytes", .computed("none"), note) { text in
            (1...400).contains(text.utf8.count) ? text : nil
        }
    }
}

extension ConfigKey<String> {
    /// One of many words; the message names the nearest.
    static func known(_ name: String, _ words: [String], _ note: String) -> ConfigKey {
        ConfigKey(
            name, allowed: "one of \(words.joined(separator: ", "))", .computed("as shipped"), note,
            form: .words(words)
        ) { (node) throws(ConfigComplaint) in
            let word = try node.text("a known \(name)")
            if words.contains(word) { return word }
            let advice =
                EditDistance.nearest(to: word, among: words).map { "did you mean \($0)?" }
                ?? "allowed: \(words.joined(separator: ", "))"
            throw ConfigComplaint("\(ConfigWording.quoted(word)) is unknown; \(advice)", at: node.position)
        }
    }
}
