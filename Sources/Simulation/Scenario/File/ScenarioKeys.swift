import ConfigText
import Quantities
import SiteConfig

/// Takes the keys of one mapping of a scenario file by name and refuses what is left over.
struct ScenarioKeys {
    private var left: [ConfigEntry]
    private let node: ConfigNode
    private let path: String
    let file: String

    init(_ node: ConfigNode, path: String, file: String) throws(ConfigError) {
        guard case .mapping(let entries) = node.content else {
            throw ConfigError(file: file, position: node.position, key: path, message: "must be a mapping")
        }
        left = entries
        self.node = node
        self.path = path
        self.file = file
    }

    /// Where the mapping begins.
    var position: ConfigPosition { node.position }

    func has(_ key: String) -> Bool { left.contains { $0.key == key } }

    func error(_ key: String, _ message: String, at position: ConfigPosition? = nil) -> ConfigError {
        ConfigError(
            file: file, position: position ?? node.position, key: path.isEmpty ? key : path + "." + key,
            message: message)
    }

    mutating func take(_ key: String) -> ConfigNode? {
        guard let index = left.firstIndex(where: { $0.key == key }) else { return nil }
        return left.remove(at: index).value
    }

    mutating func text(_ key: String) throws(ConfigError) -> String? {
        guard let value = take(key) else { return nil }
        guard case .scalar(let text, _) = value.content, !text.isEmpty else {
            throw error(key, "must be a text", at: value.position)
        }
        return text
    }

    mutating func requiredText(_ key: String) throws(ConfigError) -> String {
        guard let text = try text(key) else { throw error(key, "is missing") }
        return text
    }

    /// One word, or a list of them; with where each stands.
    mutating func words(_ key: String) throws(ConfigError) -> [(text: String, position: ConfigPosition)] {
        guard let value = take(key) else { return [] }
        let nodes: [ConfigNode]
        if case .sequence(let list) = value.content { nodes = list } else { nodes = [value] }
        var words: [(text: String, position: ConfigPosition)] = []
        for node in nodes {
            guard case .scalar(let text, _) = node.content, !text.isEmpty else {
                throw error(key, "must be a word, or a list of words", at: node.position)
            }
            words.append((text, node.position))
        }
        guard !words.isEmpty else { throw error(key, "must not be empty", at: value.position) }
        return words
    }

    /// A word out of a closed list.
    mutating func choice<Value: RawRepresentable & CaseIterable>(
        _ key: String, _ type: Value.Type
    ) throws(ConfigError) -> Value? where Value.RawValue == String {
        guard let position = left.first(where: { $0.key == key })?.value.position, let word = try text(key)
        else { return nil }
        return try value(word, type, key, position)
    }

    func value<Value: RawRepresentable & CaseIterable>(
        _ word: String, _ type: Value.Type, _ key: String, _ position: ConfigPosition
    ) throws(ConfigError) -> Value where Value.RawValue == String {
        guard let value = Value(rawValue: word) else {
            let names = Value.allCases.map(\.rawValue).joined(separator: ", ")
            throw error(key, "'\(word)' is none of \(names)", at: position)
        }
        return value
    }

    mutating func optionalNumber(
        _ key: String, _ range: ClosedRange<Double>
    ) throws(ConfigError) -> Double? {
        guard let value = take(key) else { return nil }
        return try number(value, key, range)
    }

    func number(
        _ node: ConfigNode, _ key: String, _ range: ClosedRange<Double>
    ) throws(ConfigError) -> Double {
        guard case .scalar(let text, isQuoted: false) = node.content, let number = Double(text),
            range.contains(number)
        else {
            throw error(
                key, "must be a number in \(range.lowerBound) … \(range.upperBound)", at: node.position)
        }
        return number
    }

    mutating func number(
        _ key: String, _ range: ClosedRange<Double>, default fallback: Double
    ) throws(ConfigError) -> Double {
        try optionalNumber(key, range) ?? fallback
    }

    mutating func requiredNumber(_ key: String, _ range: ClosedRange<Double>) throws(ConfigError) -> Double {
        guard let number = try optionalNumber(key, range) else { throw error(key, "is missing") }
        return number
    }

    mutating func optionalTime(
        _ key: String, _ range: ClosedRange<Double> = 0...864_000
    ) throws(ConfigError) -> Duration? {
        try optionalNumber(key, range).map(Self.seconds)
    }

    static func seconds(_ number: Double) -> Duration { .microseconds(Int64((number * 1e6).rounded())) }

    mutating func flag(_ key: String) throws(ConfigError) -> Bool? {
        guard let value = take(key) else { return nil }
        guard case .scalar(let text, isQuoted: false) = value.content, text == "true" || text == "false"
        else { throw error(key, "must be true or false", at: value.position) }
        return text == "true"
    }

    mutating func sequence(_ key: String) throws(ConfigError) -> [ConfigNode] {
        guard let value = take(key) else { return [] }
        guard case .sequence(let nodes) = value.content else {
            throw error(key, "must be a list", at: value.position)
        }
        return nodes
    }

    /// Everything not taken yet, as parameters of a fault.
    mutating func rest() throws(Fault.ParseError) -> [Fault.Parameter] {
        var parameters: [Fault.Parameter] = []
        for entry in left {
            guard case .scalar(let text, _) = entry.value.content else {
                throw .badValue(key: entry.key, value: "a list or mapping", allowed: "a single value")
            }
            parameters.append(Fault.Parameter(key: entry.key, value: text))
        }
        left = []
        return parameters
    }

    func finish() throws(ConfigError) {
        if let first = left.first { throw error(first.key, "is no key here", at: first.keyPosition) }
    }
}
