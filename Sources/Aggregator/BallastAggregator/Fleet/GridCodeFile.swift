import ConfigText
import FrequencyRecord
import YAMLText

/// A grid code as a dated file.
enum GridCodeFile {
    enum Mark: String, CaseIterable { case verified, second_hand, recalled, illustrative }

    /// What the file named by `grid_code` says; `nil` where none is named, or it cannot be used.
    static func read(_ reader: ConfigReader, beside file: String) -> GridCodes? {
        guard let named = reader.value(Keys.path), let name = named else { return nil }
        let folder = file.lastIndex(of: "/").map { String(file[...$0]) } ?? ""
        let path = name.hasPrefix("/") ? name : folder + name
        let tree: ConfigNode
        do { tree = try YAMLText.load(path: path) } catch {
            reader.include(ConfigErrors(error))
            return nil
        }
        do { return try ConfigReader.read(tree, file: path) { codes($0) } } catch {
            reader.include(error)
            return nil
        }
    }

    private static func codes(_ reader: ConfigReader) -> GridCodes? {
        let (regulation, source) = (reader.value(Keys.regulation), reader.value(Keys.source))
        let (mark, nominal) = (reader.value(Keys.mark), reader.value(Keys.nominal))
        let codes = reader.list("rules", count: 1...100) { section, _ in code(section, nominal ?? 50) }
        guard let regulation, let source, let mark, nominal != nil, !codes.isEmpty else { return nil }
        if Set(codes.map(\.effectiveFrom)).count < codes.count {
            reader.refuse("rules", "two are in force from the same day")
        }
        return GridCodes(regulation, source: source, mark: mark.rawValue, codes)
    }

    private static func code(_ reader: ConfigReader, _ nominal: Double) -> GridCode? {
        let (from, deadband) = (reader.value(Keys.from), reader.value(Keys.deadband))
        let (steep, flat) = (reader.value(Keys.steepest), reader.value(Keys.flattest))
        let (full, hold) = (reader.value(Keys.full), reader.value(Keys.hold))
        let (low, high) = (reader.value(Keys.low), reader.value(Keys.high))
        guard let from, let deadband, let steep, let flat, let full, let hold, let low, let high else {
            return nil
        }
        if steep > flat { reader.refuse("droop_min_percent", "is above droop_max_percent") }
        if (low == nil) != (high == nil) {
            reader.refuse("operating_band_low_hz", "both edges of the band stand together")
        }
        guard reader.isClean else { return nil }
        var band: FrequencyRules.Band?
        if let low, let high {
            guard low < high else {
                reader.refuse("operating_band_low_hz", "is not below operating_band_high_hz")
                return nil
            }
            band = FrequencyRules.Band(
                lowMillihertz: Int((low * 1_000).rounded()), highMillihertz: Int((high * 1_000).rounded()))
        }
        return GridCode(
            effectiveFrom: from, fullResponse: full, hold: hold,
            curve: GridCode.Curve(
                nominal: nominal, deadband: deadband, droop: steep / 100...flat / 100, operatingBand: band))
    }

    private enum Keys {
        static let path = ConfigKey<String?>.text(
            "grid_code", allowed: "a path", .fixed(nil), shown: "none",
            "a dated file of what the grid code asks; without it 30 s and 5 min alone are judged"
        ) { .some($0) }
        static let regulation = text("regulation", "what it is called")
        static let source = text("source", "where that stands")
        static let mark = ConfigKey<Mark>.choice("mark", .required, "how sure that is")
        static let nominal = ConfigKey<Double>.choice(
            "nominal_hz", [("50", 50), ("60", 60)], .required, "the grid's nominal frequency")
        static let from = ConfigKey<Int64>.text(
            "effective_from", allowed: "a day, 2023-10-01", .required,
            "the day (UTC) from whose begin it holds", read: CivilDay.milliseconds)
        static let deadband = ConfigKey<Int>.whole(
            "deadband_mhz", 0...1_000, "mHz", .required, "beyond it a site answers, either way"
        ) { $0 }
        static let steepest = ConfigKey<Double>.number(
            "droop_min_percent", 0.1...20, "%", .required, "the steepest droop"
        ) { $0 }
        static let flattest = ConfigKey<Double>.number(
            "droop_max_percent", 0.1...20, "%", .required, "the flattest droop"
        ) { $0 }
        static let full = ConfigKey<Int64>.whole(
            "full_response_s", 1...600, "s", .required, "the time for a full response"
        ) { Int64($0) * 1_000 }
        static let hold = ConfigKey<Int64>.choice(
            "hold_s", FrequencyRules.holds.map { ("\($0 / 1_000)", $0) }, .required,
            "how long it is then held, of the times that sites tell"
        )
        static let low = band("operating_band_low_hz")
        static let high = band("operating_band_high_hz")

        private static func text(_ name: String, _ note: String) -> ConfigKey<String> {
            .text(name, allowed: "a text of 1 … 200 bytes", .required, note) { text in
                (1...200).contains(text.utf8.count) ? text : nil
            }
        }

        private static func band(_ name: String) -> ConfigKey<Double?> {
            ConfigKey(
                name, allowed: "45 … 65 Hz", .fixed(nil), shown: "none", "the grid's normal operating band"
            ) { (node) throws(ConfigComplaint) in try node.number(in: 45...65, "45 … 65 Hz") }
        }
    }
}
