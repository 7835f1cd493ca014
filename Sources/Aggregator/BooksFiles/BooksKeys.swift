import Contracts
import ExactAmounts
import Settlement
import ConfigText

/// The kinds of keys that the files of the books have.
package enum BooksKeys {
    package static func name(_ key: String, _ note: String) -> ConfigKey<String> {
        .text(key, allowed: Words.name, .required, note) { Words.isName($0) ? $0 : nil }
    }

    package static func words(_ key: String, _ note: String) -> ConfigKey<String> {
        .text(key, allowed: "1 … 200 characters on one line", .required, note) {
            (1...200).contains($0.count) && Words.isOneLine($0) ? $0 : nil
        }
    }

    package static func time(_ key: String, _ note: String) -> ConfigKey<UTCInstant> {
        .text(key, allowed: Words.time, .required, note) { UTCInstant($0) }
    }

    /// When a resource comes into its zone or leaves it.
    package static func membership(_ key: String, _ note: String) -> ConfigKey<UTCInstant?> {
        .text(key, allowed: Words.time, .fixed(nil), shown: "none", note) { text in
            UTCInstant(text).map { .some($0) }
        }
    }

    /// Without a point's worth of rounding: the text itself is read, never a floating-point number.
    package static func price(
        _ key: String, _ note: String, without fallback: ConfigDefault<Price> = .required
    ) -> ConfigKey<Price> {
        let most = Price.limit.micro
        let allowed = "0 … \(Price.limit.text) INR/kWh, at most 6 decimals"
        return .text(key, allowed: allowed, fallback, shown: "0", note) { text in
            FixedText.parse(text, decimals: 6).flatMap { (0...most).contains($0) ? Price($0) : nil }
        }
    }

    package static let wallet = ConfigKey<MinorUnits>.text(
        "wallet_inr", allowed: "0 … 1000000000000 INR, at most 2 decimals", .fixed(.zero), shown: "0",
        "what the wallet holds before the period"
    ) { text in
        FixedText.parse(text, decimals: 2).flatMap {
            (0...100_000_000_000_000).contains($0) ? MinorUnits($0) : nil
        }
    }

    package static let exportMax = ConfigKey<WholeWatts>.text(
        "export_max_kw", allowed: "0 … 1000000 kW, at most 3 decimals", .fixed(WholeWatts(0)), shown: "0",
        "the most that it can give"
    ) { text in
        FixedText.parse(text, decimals: 3).flatMap { (0...1_000_000_000).contains($0) ? WholeWatts($0) : nil }
    }

    package static let energy = ConfigKey<WattHours>.text(
        "energy_kwh", allowed: "0.001 … 100000000 kWh, at most 3 decimals", .required,
        "promised over the whole window"
    ) { text in
        FixedText.parse(text, decimals: 3).flatMap {
            (1...WattHours.limit.count).contains($0) ? WattHours($0) : nil
        }
    }

    package static let multiplier = ConfigKey<Int64>.text(
        "peak_multiplier", allowed: "0.001 … 100, at most 3 decimals", .fixed(1_000), shown: "1",
        "what the import price is multiplied by"
    ) { text in
        FixedText.parse(text, decimals: 3).flatMap { (1...100_000).contains($0) ? $0 : nil }
    }

    package static func clock(_ key: String, _ note: String) -> ConfigKey<Int> {
        .text(key, allowed: "\"00:00\" … \"24:00\"", .required, note) { text in
            let parts = text.split(separator: ":")
            guard text.utf8.count == 5, parts.count == 2, let hours = FixedText.parse(parts[0], decimals: 0),
                let minutes = FixedText.parse(parts[1], decimals: 0), (0...24).contains(hours),
                (0..<60).contains(minutes), hours * 60 + minutes <= 1_440
            else { return nil }
            return Int(hours * 60 + minutes)
        }
    }

    package static let community = ConfigKey<CommunityPrice>.text(
        "community_price_inr_per_kwh", allowed: "midpoint, or a price of at most 6 decimals",
        .fixed(.midpoint),
        shown: "midpoint", "at which surplus pays deficit"
    ) { text in
        if text == "midpoint" { return .midpoint }
        return FixedText.parse(text, decimals: 6).flatMap {
            (0...Price.limit.micro).contains($0) ? .fixed(Price($0)) : nil
        }
    }

    package static let cooperative = ConfigKey<String?>.text(
        "cooperative", allowed: Words.name, .fixed(nil), shown: "none",
        "zones of one name share what is left of each before the grid has it"
    ) { Words.isName($0) ? .some($0) : nil }

    package static let bitcoinRate = ConfigKey<Int64>.text(
        "inr_per_btc", allowed: "0.000001 … 1000000000 INR, at most 6 decimals", .required,
        "what one bitcoin costs"
    ) { text in
        FixedText.parse(text, decimals: 6).flatMap { (1...1_000_000_000_000_000).contains($0) ? $0 : nil }
    }

    package static let address = ConfigKey<String?>.text(
        "bitcoin_address", allowed: "26 … 90 letters and digits", .fixed(nil), shown: "none",
        "where satoshi would go; not checked here"
    ) { text in
        let isPlain = text.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
        }
        return (26...90).contains(text.utf8.count) && isPlain ? .some(text) : nil
    }
}
