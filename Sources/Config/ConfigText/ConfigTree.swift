/// A parsed configuration text: keys, scalars and where they stand. It knows nothing of what they mean.
public struct ConfigNode: Sendable, Equatable {
    public indirect enum Content: Sendable, Equatable {
        /// `isQuoted` tells `"1"` (text) from `1` (a number).
        case scalar(String, isQuoted: Bool)
        case sequence([ConfigNode])
        /// In the order of the file; keys are unique.
        case mapping([ConfigEntry])
    }

    public var content: Content
    public var position: ConfigPosition

    public init(_ content: Content, at position: ConfigPosition) {
        self.content = content
        self.position = position
    }
}

public struct ConfigEntry: Sendable, Equatable {
    public var key: String
    public var keyPosition: ConfigPosition
    public var value: ConfigNode

    public init(key: String, keyPosition: ConfigPosition, value: ConfigNode) {
        self.key = key
        self.keyPosition = keyPosition
        self.value = value
    }
}

/// Where something stands; both count from 1.
public struct ConfigPosition: Sendable, Equatable {
    public var line: Int
    public var column: Int

    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }
}

/// Why a configuration cannot be used. The text names file, line, key, value and what would be allowed.
public struct ConfigError: Error, Equatable, CustomStringConvertible {
    public var file: String
    public var position: ConfigPosition
    /// `bess_units[1].max_power_kw`; empty where the file as a whole is wrong.
    public var key: String
    /// What is wrong and what would be right.
    public var message: String

    public init(file: String, position: ConfigPosition, key: String, message: String) {
        self.file = file
        self.position = position
        self.key = key
        self.message = message
    }

    /// `site.yaml:12:9: bess_units[1].max_power_kw: 0 is outside 1 … 100000 kW`
    public var description: String {
        let place = "\(file):\(position.line):\(position.column)"
        return key.isEmpty ? "\(place): \(message)" : "\(place): \(key): \(message)"
    }
}
