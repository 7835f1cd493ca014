import ConfigText

extension BatteryProfileConfig {
    /// What a unit's section `bms` says of a profile; `nil` where it names none.
    init?(_ reader: ConfigReader) {
        typealias Keys = SiteKeys.Battery
        let file = reader.value(Keys.profile)
        let dialects = reader.value(Keys.dialects)
        let cellCount = reader.value(Keys.cellCount)
        let temperatureCount = reader.value(Keys.temperatureCount)
        let acceptWithout = reader.value(Keys.acceptWithout)
        guard let file else {
            let others = [
                Keys.dialects.name, Keys.cellCount.name, Keys.temperatureCount.name, Keys.acceptWithout.name,
            ]
            for name in others where reader.has(name) && !reader.has(Keys.profile.name) {
                reader.refuse(name, "stands only beside a profile")
            }
            return nil
        }
        if reader.has("pack_voltage_resolution_v") {
            reader.refuse("pack_voltage_resolution_v", "the profile says it (a dialect of pylontech-lv)")
        }
        self.init(
            file: file, dialects: dialects ?? [], cellCount: cellCount ?? nil,
            temperatureCount: temperatureCount ?? nil, acceptsWithoutAlarm: acceptWithout != nil)
    }
}

extension ConfigKey<[String]> {
    /// A list of at most 16 words, each of which `isAllowed`.
    public static func words(
        _ name: String, allowed: String, _ note: String, isAllowed: @escaping @Sendable (String) -> Bool
    ) -> ConfigKey {
        ConfigKey(name, allowed: allowed, .computed("none"), note) {
            (node) throws(ConfigComplaint) -> [String] in
            guard case .sequence(let elements) = node.content, (1...16).contains(elements.count) else {
                throw ConfigComplaint("expected a list (allowed: \(allowed))", at: node.position)
            }
            var words: [String] = []
            for element in elements {
                let word = try element.text(allowed)
                guard isAllowed(word) else {
                    throw ConfigComplaint(
                        "\(ConfigWording.quoted(word)) is not allowed (allowed: \(allowed))",
                        at: element.position)
                }
                words.append(word)
            }
            return words
        }
    }
}
