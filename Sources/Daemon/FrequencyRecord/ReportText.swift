import Quantities

extension FrequencyReport {
    /// For a terminal.
    public var text: String {
        var lines = [
            "frequency response from \(Words.utc(fromMilliseconds)) to \(Words.utc(toMilliseconds))",
            "data      \(dataLine)",
        ]
        lines += gapLines.map { "          \($0)" }
        if let band = bandLine { lines.append("grid      \(band)") }
        lines.append("events    \(events.count)")
        if !events.isEmpty {
            lines += ["", Self.columns] + events.enumerated().map { row($0.offset + 1, $0.element) }
        }
        lines += [""] + scoreLines
        return lines.joined(separator: "\n") + "\n"
    }

    /// Most gaps that a page names one by one.
    static let namedGaps = 20

    var dataLine: String {
        guard !samples.isEmpty else { return "no sample in this time" }
        var text = "\(samples.count) samples cover \(Words.percent(coverage)) of the time"
        if withoutFrequencyMilliseconds > 0 {
            text += "; no frequency for \(Words.span(withoutFrequencyMilliseconds))"
        }
        if withoutPowerMilliseconds > 0 {
            text += "; no fresh delivered power for \(Words.span(withoutPowerMilliseconds))"
        }
        if let age { text += "; the newest is \(Words.span(age)) older than this report" }
        if disordered > 0 { text += "; \(disordered) samples left out: the wall clock was set back" }
        return text
    }

    /// Of the newest sample when the report was made, ms; `nil` where nobody asked up to now.
    var age: Int64? {
        guard let madeAt, let last = samples.last, toMilliseconds <= last.milliseconds else { return nil }
        return max(0, madeAt - last.milliseconds)
    }

    var gapLines: [String] {
        let named = gaps.prefix(Self.namedGaps).map {
            "gap of \(Words.span($0.milliseconds)) from \(Words.utc($0.fromMilliseconds))"
        }
        let rest = gaps.dropFirst(Self.namedGaps)
        guard !rest.isEmpty else { return named + remarks }
        return named + remarks + [
            "and \(rest.count) more gaps, \(Words.span(rest.reduce(0) { $0 + $1.milliseconds })) together"
        ]
    }

    var bandLine: String? {
        guard let band = rules.operatingBand, let share = operatingBandShare else { return nil }
        return
            "\(Words.percent(share, 2)) of the time in the operating band \(Self.hertz(band.lowMillihertz))"
            + " … \(Self.hertz(band.highMillihertz)) Hz (the grid's figure; it is not scored)"
    }

    private static func hertz(_ millihertz: Int) -> String { Words.fixed(Double(millihertz) / 1_000, 3) }

    private static let columns =
        "  #  begin                     duration   frequency Hz       peak kW exp./del.    energy kWh exp./del."
        + "    response  beta MW/Hz (share)"

    private func row(_ number: Int, _ event: FrequencyEvent) -> String {
        let cells: [(String, Int)] = [
            (Words.utc(event.startMilliseconds), 26), (Words.span(event.durationMilliseconds), 11),
            ("\(Words.fixed(event.nadir.value, 3)) … \(Words.fixed(event.zenith.value, 3))", 19),
            ("\(event.expectedPeakText) / \(event.deliveredPeakText)", 21),
            ("\(event.expectedEnergyText) / \(event.deliveredEnergyText)", 24), (event.responseText, 10),
            (event.betaText, 0),
        ]
        let head = String(repeating: " ", count: max(0, 3 - "\(number)".count)) + "\(number)  "
        let line = cells.reduce(head) { $0 + $1.0 + String(repeating: " ", count: max(1, $1.1 - $1.0.count)) }
        let notes = event.notes
        return notes.isEmpty ? line : line + "\n     " + notes.joined(separator: "; ")
    }

    var scoreLines: [String] {
        switch verdict {
        case .noData: return ["score     none: no data"]
        case .noEvents: return ["score     none: no events (the frequency did not leave the deadband)"]
        case .notJudged:
            return [
                "score     none: no event was seen from its begin to beyond \(Words.span(rules.fullResponse)),"
                    + " the time for full response"
            ]
        case .scored(let score):
            var lines = [
                "score     \(Words.fixed(score.total, 1)) of 100; not a regulator's number",
                "  accuracy   \(Words.fixed(score.accuracy, 3))  x 40   1 - mean error, \(Words.events(score.accuracyEvents))",
                "  delay      \(Words.fixed(score.delay, 3))  x 25   90 % within \(Words.span(rules.fullResponse)),"
                    + " \(Words.events(score.delayEvents))",
                "  sustained  \(Words.fixed(score.sustained, 3))  x 20   error within 5 % of rated,"
                    + " \(Words.events(score.sustainedEvents))",
                "  in service \(Words.fixed(score.inService, 3))  x 15   of the nameplate, gaps count as out",
            ]
            if let share = score.betaShare, let band = score.betaBand {
                lines.append(
                    "  beta       \(Words.fixed(share, 3))  delivered by expected at 20 … 52 s: \(band)")
            }
            return lines
        }
    }
}

extension FrequencyEvent {
    private func kilowatts(_ power: Watts) -> String { Words.fixed(power.kilowatts, 1) }
    private func kilowattHours(_ energy: WattHours) -> String { Words.fixed(energy.value / 1_000, 3) }

    var expectedPeakText: String { kilowatts(expectedPeak) }
    var deliveredPeakText: String { deliveredPeak.map(kilowatts) ?? "-" }
    var expectedEnergyText: String { kilowattHours(expectedEnergy.net) }
    /// Where nothing was measured there is no energy, which is not zero.
    var deliveredEnergyText: String { deliveredPeak == nil ? "-" : kilowattHours(deliveredEnergy.net) }

    var responseText: String {
        switch response {
        case .reached(let time): Words.fixed(Double(time) / 1_000, 1) + " s"
        case .missed: "missed"
        case .unknown: "-"
        }
    }

    var betaText: String {
        guard let betaMegawattsPerHertz else { return betaShare.map { "- (\(Words.fixed($0, 3)))" } ?? "-" }
        return Words.fixed(betaMegawattsPerHertz, 4) + (betaShare.map { " (\(Words.fixed($0, 3)))" } ?? "")
    }

    /// What limits the figures of this event.
    var notes: [String] {
        var notes: [String] = []
        if begin == .beforeData { notes.append("began before the data: its begin was not seen") }
        switch end {
        case .returned: break
        case .endOfData: notes.append("cut by the end of the data")
        case .gap: notes.append("cut by a gap in the data")
        }
        if gapMilliseconds > 0 { notes.append("gaps of \(Words.span(gapMilliseconds)) inside") }
        if unmeasuredMilliseconds > 0 {
            notes.append("frequency or power not measured for \(Words.span(unmeasuredMilliseconds))")
        }
        return notes
    }
}
