import ConfigText

/// The sections that the project's seed has and this controller does not use yet: campuses and markets.
/// Their keys are checked, so that a mistake in them shows, but nothing of them reaches `SiteConfig`: that it
/// has no effect is said.
enum SeedSections {
    enum Campus {
        static let id = ConfigKey.identifier("id", .required, "the campus's name")
        static let unitCount = ConfigKey.whole(
            "bess_units", 0...10_000, "", .computed("none"), "how many units the campus has, on all sites"
        ) { $0 }
        static let city = ConfigKey.label("city", "place")
        static let state = ConfigKey.label("state", "federal state or province")
        static let latitude = ConfigKey.number(
            "latitude", -90...90, "°", .computed("none"), "north is positive"
        ) { $0 }
        static let longitude = ConfigKey.number(
            "longitude", -180...180, "°", .computed("none"), "east is positive"
        ) { $0 }
    }

    enum Market {
        static let enabled = ConfigKey<Void>.choice(
            "enabled", [("false", ())], .fixed("false"), "trading is not there yet")
        static let name = ConfigKey.identifier("name", .required, "the exchange")
        static let apiURL = ConfigKey.label("api_url", "where the exchange is reached")
        static let credentials = ConfigKey.label("credentials", "the name of a secret, never the secret")
    }

    /// - Returns: those that the file has.
    static func check(_ reader: ConfigReader) -> [String] {
        let there = ["campuses", "market_participation"].filter { reader.has($0) }
        _ = reader.list("campuses", count: 0...1_000) { campus, _ in
            _ = campus.value(Campus.id)
            _ = campus.value(Campus.unitCount)
            return campus.section("location") { location in
                _ = location.value(Campus.city)
                _ = location.value(Campus.state)
                _ = location.value(Campus.latitude)
                return location.value(Campus.longitude)
            }
        }
        _ = reader.section("market_participation") { market in
            _ = market.value(Market.enabled)
            return market.list("exchanges", count: 0...100) { exchange, _ in
                _ = exchange.value(Market.name)
                _ = exchange.value(Market.apiURL)
                return exchange.value(Market.credentials)
            }
        }
        return there
    }
}

extension ConfigKey<String> {
    fileprivate static func label(_ name: String, _ note: String) -> ConfigKey {
        text(name, allowed: "a text of 1 … 200 bytes", .computed("none"), note) { text in
            (1...200).contains(text.utf8.count) ? text : nil
        }
    }
}
