import ConfigText

/// Rows that watch the two sides of one quantity must leave room to run between them.
enum InterlockPairs {
    static func check(_ rules: [InterlockRule], _ reader: ConfigReader) {
        for high in rules where high.side == .high {
            for low in rules where low.side == .low && quantity(low.signal.word) == quantity(high.signal.word)
            {
                check(high, low, reader)
            }
        }
    }

    private static func check(_ high: InterlockRule, _ low: InterlockRule, _ reader: ConfigReader) {
        guard let upper = high.trip, let lower = low.trip, upper <= lower else { return }
        let unit = high.signal.limitUnit.symbol
        reader.refuse(
            "interlocks",
            "row \(high.name) trips at \(ConfigWording.shown(upper)) \(unit), not above row \(low.name),"
                + " which trips at \(ConfigWording.shown(lower)) \(unit): nothing is left between them")
    }

    /// The highest and the lowest of one thing are one quantity.
    private static func quantity(_ signal: String) -> String {
        for end in ["_max", "_min"] where signal.hasSuffix(end) { return String(signal.dropLast(end.count)) }
        return signal
    }
}
