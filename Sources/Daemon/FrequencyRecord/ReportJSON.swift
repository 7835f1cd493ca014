import JSONText
import Quantities

extension FrequencyReport {
    /// One object on one line; what is not known is null.
    public var json: String {
        let members: [(String, String)] = [
            ("from", JSONText.quoted(Words.utc(fromMilliseconds))),
            ("to", JSONText.quoted(Words.utc(toMilliseconds))), ("samples", "\(samples.count)"),
            ("samples_left_out", "\(disordered)"), ("coverage_share", number(coverage, 6)),
            ("without_frequency_s", seconds(withoutFrequencyMilliseconds)),
            ("without_power_s", seconds(withoutPowerMilliseconds)),
            ("newest_sample_age_s", age.map(seconds) ?? "null"),
            ("remarks", list(remarks.map { JSONText.quoted($0) })), ("gaps", list(gaps.map(object))),
            ("operating_band_hz", band(rules.operatingBand)),
            ("operating_band_share", number(operatingBandShare, 6)), ("events", list(events.map(object))),
            ("score", score),
        ]
        return object(members) + "\n"
    }

    private var score: String {
        var members: [(String, String)] = [("regulatory", "false")]
        switch verdict {
        case .noData: members.append(("verdict", "\"no_data\""))
        case .noEvents: members.append(("verdict", "\"no_events\""))
        case .notJudged: members.append(("verdict", "\"not_judged\""))
        case .scored(let score):
            members += [
                ("verdict", "\"scored\""), ("total", number(score.total, 3)),
                ("accuracy", number(score.accuracy, 6)), ("delay", number(score.delay, 6)),
                ("sustained", number(score.sustained, 6)), ("in_service", number(score.inService, 6)),
                ("beta_share", number(score.betaShare, 6)),
                ("beta_band", score.betaBand.map { JSONText.quoted($0) } ?? "null"),
                ("accuracy_events", "\(score.accuracyEvents)"), ("delay_events", "\(score.delayEvents)"),
                ("sustained_events", "\(score.sustainedEvents)"),
            ]
        }
        return object(members)
    }

    private func object(_ gap: Gap) -> String {
        object([
            ("from", JSONText.quoted(Words.utc(gap.fromMilliseconds))),
            ("to", JSONText.quoted(Words.utc(gap.toMilliseconds))), ("duration_s", seconds(gap.milliseconds)),
        ])
    }

    private func object(_ event: FrequencyEvent) -> String {
        var response = ("null", "unknown")
        switch event.response {
        case .reached(let time): response = (seconds(time), "reached")
        case .missed: response.1 = "missed"
        case .unknown: break
        }
        let isMeasured = event.deliveredPeak != nil
        return object([
            ("begin", JSONText.quoted(Words.utc(event.startMilliseconds))),
            ("begin_seen", event.begin == .seen ? "true" : "false"),
            ("end", JSONText.quoted(event.end.rawValue)), ("duration_s", seconds(event.durationMilliseconds)),
            ("nadir_hz", number(event.nadir.value, 6)), ("zenith_hz", number(event.zenith.value, 6)),
            ("expected_peak_kw", number(event.expectedPeak.kilowatts, 3)),
            ("delivered_peak_kw", number(event.deliveredPeak?.kilowatts, 3)),
            ("expected_injected_kwh", number(event.expectedEnergy.injected.value / 1_000, 6)),
            ("expected_absorbed_kwh", number(event.expectedEnergy.absorbed.value / 1_000, 6)),
            (
                "delivered_injected_kwh",
                number(isMeasured ? event.deliveredEnergy.injected.value / 1_000 : nil, 6)
            ),
            (
                "delivered_absorbed_kwh",
                number(isMeasured ? event.deliveredEnergy.absorbed.value / 1_000 : nil, 6)
            ),
            ("energy_ratio", number(event.energyRatio, 6)), ("response", "\"\(response.1)\""),
            ("response_s", response.0), ("beta_mw_per_hz", number(event.betaMegawattsPerHertz, 6)),
            ("beta_share", number(event.betaShare, 6)), ("gaps_s", seconds(event.gapMilliseconds)),
            ("unmeasured_s", seconds(event.unmeasuredMilliseconds)),
            ("accuracy", number(event.score.accuracy, 6)), ("delay", number(event.score.delay, 6)),
            ("sustained", number(event.score.sustained, 6)),
        ])
    }

    private func band(_ band: FrequencyRules.Band?) -> String {
        guard let band else { return "null" }
        return "[\(Words.fixed(Double(band.lowMillihertz) / 1_000, 3)),"
            + "\(Words.fixed(Double(band.highMillihertz) / 1_000, 3))]"
    }

    private func object(_ members: [(String, String)]) -> String {
        "{" + members.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}"
    }
    private func list(_ items: [String]) -> String { "[" + items.joined(separator: ",") + "]" }
    private func seconds(_ milliseconds: Int64) -> String { Words.fixed(Double(milliseconds) / 1_000, 3) }
    private func number(_ value: Double?, _ decimals: Int) -> String {
        guard let value, value.isFinite, value.magnitude < 1e6 else { return "null" }
        return Words.fixed(value, decimals)
    }
}
