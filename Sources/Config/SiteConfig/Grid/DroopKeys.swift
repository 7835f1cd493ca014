import ConfigText
import FrequencyResponse
import Quantities

/// The keys of `droop_settings`. What a preset allows narrows them.
enum DroopKeys {
    /// How a response without a preset begins at the edge.
    enum Convention: String, Sendable, CaseIterable { case subtracted, stepped, renormalised }

    static let preset = ConfigKey<GridCode>.choice(
        "preset", GridCode.all.map { ($0.name, $0) }, .computed("none: the keys below alone"),
        "a grid code's or service's numbers; the keys below may change them in the code's range")
    static let convention = ConfigKey<Convention>.choice(
        "convention", .computed("subtracted; a preset has its own"),
        "how the response begins at the deadband's edge: from zero, with a step, or steeper")

    /// What a site may choose, in all.
    struct Ranges {
        var legal = GridCodePreset.Legal(
            edgeMillihertz: 1...1_000, droopPercent: 2...12, openLoopSeconds: 0...60,
            delayMilliseconds: 0...10_000, activationSeconds: 0...600)
        /// Behind the unit in messages.
        var whose = ""
    }

    static func droop(_ ranges: Ranges, _ name: String = "droop_percent") -> ConfigKey<Fraction> {
        let isWhole = name == "droop_percent"
        return ConfigKey.number(
            name, ranges.legal.droopPercent ?? 2...12, "%" + ranges.whose,
            .computed(isWhole ? "5; the preset's" : "droop_percent"),
            isWhole
                ? "share of nominal frequency that asks for full power"
                : "the same on one side of nominal", as: Fraction.percent)
    }

    static let deadband = ConfigKey<(low: Hertz, high: Hertz)>(
        "deadband_hz", allowed: deadbandAllowed, .computed("nominal - 0.03, nominal + 0.03; the preset's"),
        "no response inside; the edges belong to the inside", parse: parseDeadband)
    static let hysteresis = ConfigKey.number(
        "hysteresis_hz", 0...0.05, "Hz", .fixed(0.01),
        "stepped: the response ends only this far inside the edge"
    ) { Int(($0 * 1_000).rounded()) }

    static func openLoop(_ ranges: Ranges) -> ConfigKey<Duration> {
        .number(
            "response_time_s", ranges.legal.openLoopSeconds, "s" + ranges.whose,
            .computed("0; the preset's"), "open-loop response time: 90 % of a step; 0 = at once", as: seconds)
    }

    static func delay(_ ranges: Ranges) -> ConfigKey<Duration> {
        .number(
            "initiation_delay_ms", ranges.legal.delayMilliseconds, "ms" + ranges.whose, .fixed(0),
            "from leaving the deadband until the response begins"
        ) { seconds($0 / 1_000) }
    }

    static func activation(_ ranges: Ranges) -> ConfigKey<Duration> {
        .number(
            "full_activation_s", ranges.legal.activationSeconds, "s" + ranges.whose,
            .computed("1; the preset's"), "ramp of the response: from nothing to the rating; 0 = no ramp",
            as: seconds)
    }

    static let hold = ConfigKey.number(
        "hold_s", 0...3_600, "s", .fixed(0),
        "the largest response stays until frequency was inside for this time; 0 = follows back", as: seconds)
    static let recovery = ConfigKey.number(
        "recovery_s", 0...3_600, "s", .fixed(0),
        "ramp back after an event: from the rating to nothing; 0 = as full_activation_s", as: seconds)

    static let reserve = room("soc_reserve_percent", "above min_soc_percent")
    static let headroom = room("soc_headroom_percent", "below max_soc_percent")
    static let target = ConfigKey.number(
        "soc_target_percent", 0...100, "%", .computed("none: nothing is corrected"),
        "the state of charge to which the base point is moved slowly back", as: Fraction.percent)
    static let band = ConfigKey.number(
        "soc_band_percent", 0.5...50, "%", .fixed(5), "how far it may go from the target first",
        as: Fraction.percent)
    static let correction = ConfigKey.number(
        "soc_correction_percent", 0.1...20, "%", .fixed(5), "share of the rating that moves it back",
        as: Fraction.percent)

    static var reference: [any ReferenceEntry] {
        let ranges = Ranges()
        return [
            preset, convention, deadband, droop(ranges), droop(ranges, "droop_under_percent"),
            droop(ranges, "droop_over_percent"), hysteresis, openLoop(ranges), delay(ranges),
            activation(ranges), hold, recovery, reserve, headroom, target, band, correction,
        ]
    }

    private static func room(_ name: String, _ place: String) -> ConfigKey<Fraction> {
        .number(
            name, 0...100, "%", .computed("what the preset's full power needs for its time; else 0"),
            "state of charge \(place) that is kept for the response", as: Fraction.percent)
    }

    private static let seconds: @Sendable (Double) -> Duration = { .nanoseconds(Int64(($0 * 1e9).rounded())) }
    static let deadbandAllowed = "[low, high] around nominal, at most 3 decimals, in Hz"

    static let parseDeadband: @Sendable (ConfigNode) throws(ConfigComplaint) -> (low: Hertz, high: Hertz) = {
        (node) throws(ConfigComplaint) in
        guard case .sequence(let edges) = node.content, edges.count == 2 else {
            throw ConfigComplaint("expected two numbers (allowed: \(deadbandAllowed))", at: node.position)
        }
        return (low: try edge(edges[0]), high: try edge(edges[1]))
    }

    private static func edge(_ node: ConfigNode) throws(ConfigComplaint) -> Hertz {
        let (number, text) = try node.number(deadbandAllowed)
        let shown = ConfigWording.shown(text)
        if !(45...65).contains(number) {
            throw ConfigComplaint("\(shown) is outside 45 … 65 Hz", at: node.position)
        }
        // Both sides are the nearest double of a decimal fraction: equal if there are no more than three
        // decimals.
        if (number * 1_000).rounded() / 1_000 != number {
            throw ConfigComplaint("\(shown) has more than 3 decimals", at: node.position)
        }
        return Hertz(number)
    }
}
