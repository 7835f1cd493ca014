extension FrequencyReport {
    /// What the report says of its time in the Prometheus text format; what is not known has no line.
    public var metrics: String {
        var text = ""
        func add(_ name: String, _ help: String, _ value: Double?) {
            guard let value, value.isFinite else { return }
            let name = "ballast_frequency_\(name)"
            text += "# HELP \(name) \(help)\n# TYPE \(name) gauge\n\(name) \((value * 1e6).rounded() / 1e6)\n"
        }
        add(
            "window_seconds", "Length of the time that the figures below are of.",
            Double(toMilliseconds - fromMilliseconds) / 1_000)
        add("coverage_ratio", "Share of that time in which there are samples.", coverage)
        add("activations", "How often in that time the frequency left the deadband.", Double(events.count))
        add("operating_band_ratio", "Share of that time in the grid's operating band.", operatingBandShare)
        guard case .scored(let score) = verdict else { return text }
        add("score_ratio", "Score of the response, 0 to 1; not a regulator's number.", score.total / 100)
        add("accuracy_ratio", "Of the score: delivered against expected power.", score.accuracy)
        add("delay_ratio", "Of the score: how soon the response was full.", score.delay)
        add("sustained_ratio", "Of the score: how long it was held.", score.sustained)
        add("in_service_ratio", "Of the score: share of the rating in service.", score.inService)
        add("beta_ratio", "Mean of delivered by expected power in 20 to 52 s.", score.betaShare)
        return text
    }
}
