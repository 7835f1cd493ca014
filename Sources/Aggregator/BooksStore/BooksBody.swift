import BooksFiles
import ConfigText
import ExactAmounts
import YAMLText

/// The body of a request, read key by key with the same keys and messages as the files of the books: JSON is
/// YAML.
enum BooksBody {
    static func read<Result>(
        _ call: BooksCall, _ body: (ConfigReader) -> Result?
    ) throws -> Result {
        do {
            return try ConfigReader.read(try parse(call.body), file: "body", body)
        } catch { throw BooksRefusal.malformed("\(error)") }
    }

    /// The largest list with all of its keys, and some more.
    private static let mostValues = 40_000

    static func parse(_ bytes: [UInt8]) throws(ConfigError) -> ConfigNode {
        try YAMLText.parse(paired(bytes), file: "body", values: mostValues)
    }

    /// JSON may write a character beyond U+FFFF as two escapes, which YAML does not know: as it is, instead.
    private static func paired(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.contains(UInt8(ascii: "\\")) else { return bytes }
        var (result, place) = ([UInt8](), 0)
        while place < bytes.count {
            if let high = unit(bytes, place), (0xD800..<0xDC00).contains(high),
                let low = unit(bytes, place + 6), (0xDC00..<0xE000).contains(low),
                let scalar = Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))
            {
                result += Array(String(scalar).utf8)
                place += 12
            } else {
                // A backslash that is escaped escapes nothing.
                let length = bytes[place] == UInt8(ascii: "\\") ? min(2, bytes.count - place) : 1
                result += bytes[place..<place + length]
                place += length
            }
        }
        return result
    }

    /// The number of `\uXXXX` at a place.
    private static func unit(_ bytes: [UInt8], _ place: Int) -> UInt32? {
        guard place + 6 <= bytes.count, bytes[place] == UInt8(ascii: "\\"),
            bytes[place + 1] == UInt8(ascii: "u")
        else { return nil }
        return UInt32(String(decoding: bytes[place + 2..<place + 6], as: UTF8.self), radix: 16)
    }

    /// A body that says nothing: `{}`, or none at all.
    static func nothing(_ call: BooksCall) throws {
        if call.body.isEmpty { return }
        _ = try read(call) { _ -> Bool? in true }
    }

    static let isListed = flag("is_listed", "stands on the leaderboard")
    static let isAutomatic = flag("automatic", "comes into force when its window begins")

    private static func flag(_ name: String, _ note: String) -> ConfigKey<Bool> {
        .text(name, allowed: "true, false", .fixed(false), shown: "false", note) { text in
            text == "true" ? true : text == "false" ? false : nil
        }
    }

    /// What is paid with.
    static let money = ConfigKey<Asset>.text(
        "asset", allowed: "INR, BTC", .fixed(.inr), shown: "INR", "rupees, or satoshi by the tariffs' rate"
    ) { $0 == "INR" ? .inr : $0 == "BTC" ? .btc : nil }

    static let block = ConfigKey<Int64>.oneOf("block_min", [5, 15, 60], "min", .fixed(15), "settled in") {
        $0 == 5 ? 300 : $0 == 15 ? 900 : 3_600
    }

    static func words(_ name: String, _ note: String, without fallback: String) -> ConfigKey<String> {
        .text(name, allowed: "at most 200 characters on one line", .fixed(fallback), note) {
            $0.count <= 200 && Words.isOneLine($0) ? $0 : nil
        }
    }

    static func optional(_ name: String, _ note: String) -> ConfigKey<String?> {
        .text(name, allowed: "1 … 128 characters on one line", .fixed(nil), shown: "none", note) { text in
            (1...128).contains(text.utf8.count) && Words.isOneLine(text) ? .some(text) : nil
        }
    }

    static func whole(
        _ name: String, _ range: ClosedRange<Int64>, _ fallback: ConfigDefault<Int64>, _ note: String
    ) -> ConfigKey<Int64> {
        let allowed = "a whole number, \(range.lowerBound) … \(range.upperBound)"
        return .text(name, allowed: allowed, fallback, note) { text in
            FixedText.parse(text, decimals: 0).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    static func day(_ name: String, _ note: String) -> ConfigKey<String?> {
        .text(name, allowed: "a day, 2027-01-31", .fixed(nil), shown: "none", note) { text in
            UTCInstant("\(text)T00:00:00Z") == nil ? nil : .some(text)
        }
    }

    static let demand = ConfigKey<Int64?>.text(
        "demand_kw", allowed: "0 … 1000000 kW, at most 3 decimals", .fixed(nil), shown: "none",
        "the most that it draws"
    ) { text in
        FixedText.parse(text, decimals: 3).flatMap { (0...1_000_000_000).contains($0) ? .some($0) : nil }
    }
}

extension BooksCall {
    /// A number of the query; `nil` where it is not there.
    func whole(_ name: String) throws -> Int64? {
        guard let text = query[name] else { return nil }
        guard let value = FixedText.parse(text, decimals: 0), value >= 0 else {
            throw BooksRefusal.malformed("\(name): takes a whole number from 0 on")
        }
        return value
    }

    /// From and until of the query: instants with their offset, or milliseconds since 1970.
    func period() throws -> Period {
        func instant(_ name: String) throws -> UTCInstant {
            guard let text = query[name] else { throw BooksRefusal.malformed("\(name): is missing") }
            if let time = UTCInstant(text) { return time }
            guard let value = FixedText.parse(text, decimals: 0), value >= 0, value < 253_402_300_800_000
            else { throw BooksRefusal.malformed("\(name): takes \(Words.time), or ms since 1970") }
            return UTCInstant(seconds: value / 1_000)
        }
        guard let period = Period(from: try instant("from"), until: try instant("until")) else {
            throw BooksRefusal.malformed("until: is not after from")
        }
        if period.seconds > 400 * 86_400 {
            throw BooksRefusal.malformed("until: more than 400 days after from")
        }
        return period
    }
}
