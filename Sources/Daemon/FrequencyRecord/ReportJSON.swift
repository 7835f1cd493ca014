import JSONText
import Quantities

extension FrequencyReport {
    /// One object on one line; what is not known is null.
    public var json: String {
        let members: [(String, String)] = [
            ("from", JSONText.quoted(Words.utc(fromMilliseconds))),
            ("to", JSONText.quoted(Words.utc(toMilliseconds))), ("samples", "\(samples.count)"),
            ("samples_left_out", "\(disordered)"), ("coverage_share", Words.number(coverage, 6)),
            ("without_frequency_s", Words.seconds(withoutFrequencyMilliseconds)),
            ("without_power_s", Words.seconds(withoutPowerMilliseconds)),
            ("newest_sample_age_s", age.map(Words.seconds) ?? "null"),
            ("remarks", Words.list(remarks.map { JSONText.quoted($0) })),
            ("gaps", Words.list(gaps.map(object))),
            ("operating_band_hz", band(rules.operatingBand)),
            ("operating_band_share", Words.number(operatingBandShare, 6)),
            ("events", Words.list(events.map(object))),
            ("score", verdict.json),
        ]
        return Words.object(members) + "\n"
    }

    /// Each event as `json` has it, in the order of `events`.
    public var eventTexts: [String] { events.map(object) }

    private func object(_ gap: Gap) -> String {
        Words.object([
            ("from", JSONText.quoted(Words.utc(gap.fromMilliseconds))),
            ("to", JSONText.quoted(Words.utc(gap.toMilliseconds))),
            ("duration_s", Words.seconds(gap.milliseconds)),
        ])
    }

    private func object(_ event: FrequencyEvent) -> String {
        var response = ("null", "unknown")
        switch event.response {
        case .reached(let time): response = (Words.seconds(time), "reached")
        case .missed: response.1 = "missed"
        case .unknown: break
        }
        let isMeasured = event.deliveredPeak != nil
        let members: [(String, String)] = [
            ("begin", JSONText.quoted(Words.utc(event.startMilliseconds))),
            ("begin_seen", event.begin == .seen ? "true" : "false"),
            ("end", JSONText.quoted(event.end.rawValue)),
            ("duration_s", Words.seconds(event.durationMilliseconds)),
            ("nadir_hz", Words.number(event.nadir.value, 6)),
            ("zenith_hz", Words.number(event.zenith.value, 6)),
            ("expected_peak_kw", Words.number(event.expectedPeak.kilowatts, 3)),
            ("delivered_peak_kw", Words.number(event.deliveredPeak?.kilowatts, 3)),
            ("expected_injected_kwh", Words.number(event.expectedEnergy.injected.value / 1_000, 6)),
            ("expected_absorbed_kwh", Words.number(event.expectedEnergy.absorbed.value / 1_000, 6)),
            (
                "delivered_injected_kwh",
                Words.number(isMeasured ? event.deliveredEnergy.injected.value / 1_000 : nil, 6)
            ),
            (
                "delivered_absorbed_kwh",
                Words.number(isMeasured ? event.deliveredEnergy.absorbed.value / 1_000 : nil, 6)
            ),
            ("energy_ratio", Words.number(event.energyRatio, 6)), ("response", "\"\(response.1)\""),
            ("response_s", response.0), ("beta_mw_per_hz", Words.number(event.betaMegawattsPerHertz, 6)),
            ("beta_share", Words.number(event.betaShare, 6)),
            ("gaps_s", Words.seconds(event.gapMilliseconds)),
            ("unmeasured_s", Words.seconds(event.unmeasuredMilliseconds)),
            ("accuracy", Words.number(event.score.accuracy, 6)),
            ("delay", Words.number(event.score.delay, 6)),
            ("sustained", Words.number(event.score.sustained, 6)),
            ("accuracy_weight_s", Words.seconds(event.score.accuracyWeight)),
            ("sustained_weight_s", Words.seconds(event.score.sustainedWeight)),
        ]
        return Words.object(members + event.heldMembers)
    }

    private func band(_ band: FrequencyRules.Band?) -> String {
        guard let band else { return "null" }
        return "[\(Words.fixed(Double(band.lowMillihertz) / 1_000, 3)),"
            + "\(Words.fixed(Double(band.highMillihertz) / 1_000, 3))]"
    }
}

extension ScoreVerdict {
    /// One object: the verdict, and where there is a score its parts.
    public var json: String {
        var members: [(String, String)] = [("regulatory", "false")]
        switch self {
        case .noData: members.append(("verdict", "\"no_data\""))
        case .noEvents: members.append(("verdict", "\"no_events\""))
        case .notJudged: members.append(("verdict", "\"not_judged\""))
        case .scored(let score):
            members += [
                ("verdict", "\"scored\""), ("total", Words.number(score.total, 3)),
                ("accuracy", Words.number(score.accuracy, 6)), ("delay", Words.number(score.delay, 6)),
                ("sustained", Words.number(score.sustained, 6)),
                ("in_service", Words.number(score.inService, 6)),
                ("beta_share", Words.number(score.betaShare, 6)),
                ("beta_band", score.betaBand.map { JSONText.quoted($0) } ?? "null"),
                ("accuracy_events", "\(score.accuracyEvents)"), ("delay_events", "\(score.delayEvents)"),
                ("sustained_events", "\(score.sustainedEvents)"),
            ]
        }
        return Words.object(members)
    }
}

extension Words {
    static func object(_ members: [(String, String)]) -> String {
        "{" + members.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}"
    }
    static func list(_ items: [String]) -> String { "[" + items.joined(separator: ",") + "]" }
    static func seconds(_ milliseconds: Int64) -> String { fixed(Double(milliseconds) / 1_000, 3) }
    static func number(_ value: Double?, _ decimals: Int) -> String {
        guard let value, value.isFinite, value.magnitude < 1e6 else { return "null" }
        return fixed(value, decimals)
    }
}

extension FrequencyEvent {
    /// What is told of each time to hold.
    fileprivate var heldMembers: [(String, String)] {
        zip(FrequencyRules.holds, heldShares).map { (Self.heldKey($0), Words.number($1, 6)) }
    }

    /// How the share of a time to hold, in ms, is called in an event's record.
    static func heldKey(_ hold: Int64) -> String { "held_\(hold / 1_000)_s" }
}
