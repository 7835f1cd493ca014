// The kinds of values that configuration files hold.

extension ConfigDefault {
    /// The same default in other terms.
    public func map<Other>(_ change: (Raw) -> Other) -> ConfigDefault<Other> {
        switch self {
        case .required: .required
        case .fixed(let raw): .fixed(change(raw))
        case .computed(let how): .computed(how)
        }
    }

    /// The fixed default, written by `show`.
    public func shown(_ show: (Raw) -> String) -> String? {
        switch self {
        case .fixed(let raw): show(raw)
        case .required, .computed: nil
        }
    }
}

extension ConfigKey {
    /// A number in `range`; `convert` gives it its unit.
    public static func number(
        _ name: String, _ range: ClosedRange<Double>, _ unit: String, _ fallback: ConfigDefault<Double>,
        _ note: String, as convert: @escaping @Sendable (Double) -> Value
    ) -> ConfigKey {
        let allowed = rangeText(range.lowerBound, range.upperBound, unit)
        return ConfigKey(
            name, allowed: allowed, fallback.map(convert), shown: fallback.shown(ConfigWording.shown), note,
            form: .number(range)
        ) { (node) throws(ConfigComplaint) in
            convert(try node.number(in: range, allowed))
        }
    }

    /// A whole number in `range`; `12.0` is one.
    public static func whole(
        _ name: String, _ range: ClosedRange<Int>, _ unit: String, _ fallback: ConfigDefault<Int>,
        _ note: String, as convert: @escaping @Sendable (Int) -> Value
    ) -> ConfigKey {
        let (low, high) = (Double(range.lowerBound), Double(range.upperBound))
        let allowed = rangeText(low, high, unit)
        return ConfigKey(
            name, allowed: allowed, fallback.map(convert), shown: fallback.shown { String($0) }, note,
            form: .whole(range)
        ) { (node) throws(ConfigComplaint) in
            let value = try node.number(in: low...high, allowed)
            guard let whole = Int(exactly: value) else {
                throw ConfigComplaint(
                    "\(ConfigWording.shown(value)) is not a whole number (allowed: \(allowed))",
                    at: node.position)
            }
            return convert(whole)
        }
    }

    /// One of a few numbers.
    public static func oneOf(
        _ name: String, _ values: [Double], _ unit: String, _ fallback: ConfigDefault<Double>, _ note: String,
        as convert: @escaping @Sendable (Double) -> Value
    ) -> ConfigKey {
        let list = values.map { ConfigWording.shown($0) }.joined(separator: ", ")
        let allowed = unit.isEmpty ? list : "\(list) \(unit)"
        return ConfigKey(
            name, allowed: allowed, fallback.map(convert), shown: fallback.shown(ConfigWording.shown), note,
            form: .oneOf(values)
        ) { (node) throws(ConfigComplaint) in
            let (value, text) = try node.number(allowed)
            if !values.contains(value) {
                throw ConfigComplaint(
                    "\(ConfigWording.shown(text)) is not one of \(allowed)", at: node.position)
            }
            return convert(value)
        }
    }

    /// One of a few words.
    public static func choice(
        _ name: String, _ words: [(String, Value)], _ fallback: ConfigDefault<String>, _ note: String
    ) -> ConfigKey {
        let allowed = words.map(\.0).joined(separator: ", ")
        let value: @Sendable (String) -> Value? = { word in words.first { $0.0 == word }?.1 }
        let shown = fallback.shown { $0 }
        let fixed: ConfigDefault<Value> =
            switch fallback {
            case .required: .required
            case .computed(let how): .computed(how)
            case .fixed(let word): value(word).map { .fixed($0) } ?? .required
            }
        return ConfigKey(
            name, allowed: allowed, fixed, shown: shown, note, form: .words(words.map(\.0))
        ) {
            (node) throws(ConfigComplaint) in
            let word = try node.text(allowed)
            guard let value = value(word) else {
                throw ConfigComplaint(
                    "\(ConfigWording.quoted(word)) is not one of \(allowed)", at: node.position)
            }
            return value
        }
    }

    /// A text that `read` understands; `read` gives `nil` where it does not.
    public static func text(
        _ name: String, allowed: String, _ fallback: ConfigDefault<Value>, shown: String? = nil,
        _ note: String,
        read: @escaping @Sendable (String) -> Value?
    ) -> ConfigKey {
        ConfigKey(name, allowed: allowed, fallback, shown: shown, note, form: .text) {
            (node) throws(ConfigComplaint) in
            let text = try node.text(allowed)
            guard let value = read(text) else {
                throw ConfigComplaint(
                    "\(ConfigWording.quoted(text)) is not allowed (allowed: \(allowed))", at: node.position)
            }
            return value
        }
    }
}

extension ConfigKey where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// One of the words of an enumeration.
    public static func choice(
        _ name: String, _ fallback: ConfigDefault<String>, _ note: String
    ) -> ConfigKey {
        choice(name, Value.allCases.map { ($0.rawValue, $0) }, fallback, note)
    }
}

extension ConfigKey<Bool> {
    /// `true` or `false`; no other word.
    public static func flag(_ name: String, _ fallback: ConfigDefault<String>, _ note: String) -> ConfigKey {
        choice(name, [("true", true), ("false", false)], fallback, note)
    }
}

extension ConfigKey<String> {
    /// A name that may stand in file names, topics and logs.
    public static func identifier(
        _ name: String, _ fallback: ConfigDefault<String>, _ note: String
    ) -> ConfigKey {
        text(name, allowed: "1 … 64 of A-Z a-z 0-9 _ . -", fallback, shown: fallback.shown { $0 }, note) {
            text in
            let isIdentifier = text.utf8.allSatisfy { CharacterClass.identifier($0) }
            return isIdentifier && (1...64).contains(text.utf8.count) ? text : nil
        }
    }

    /// A name or an IPv4 address.
    public static func host(_ name: String, _ fallback: ConfigDefault<String>, _ note: String) -> ConfigKey {
        text(name, allowed: "a host name or an IPv4 address", fallback, shown: fallback.shown { $0 }, note) {
            text in
            CharacterClass.isHost(text) ? text : nil
        }
    }

    /// A path of at most `limit` bytes.
    public static func path(
        _ name: String, limit: Int = 255, _ fallback: ConfigDefault<String>, _ note: String
    ) -> ConfigKey {
        let allowed = "a path of 1 … \(limit) printable ASCII characters without spaces"
        return text(name, allowed: allowed, fallback, shown: fallback.shown { $0 }, note) { text in
            CharacterClass.isPath(text, limit: limit) ? text : nil
        }
    }
}

/// Which characters names, hosts and paths are made of; ASCII alone.
public enum CharacterClass {
    /// Letters, digits, `_`, `.` and `-`.
    public static func identifier(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    /// A name or an IPv4 address: 1 … 253 bytes, beginning with a letter or a digit.
    public static func isHost(_ text: String) -> Bool {
        guard (1...253).contains(text.utf8.count), let first = text.utf8.first else { return false }
        let isLetterOrDigit = identifier(first) && first != UInt8(ascii: ".") && first != UInt8(ascii: "-")
        return isLetterOrDigit && text.utf8.allSatisfy { identifier($0) }
    }

    /// 1 … `limit` printable bytes without spaces.
    public static func isPath(_ text: String, limit: Int) -> Bool {
        (1...limit).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
