/// Everything that is wrong with a file, in the order of its lines; never empty.
public struct ConfigErrors: Error, Equatable, CustomStringConvertible {
    /// The most errors kept; the rest is counted.
    public static let limit = 50

    public let errors: [ConfigError]
    /// How many more there were.
    public let omitted: Int

    /// A file with one mistake.
    public init(_ error: ConfigError) {
        errors = [error]
        omitted = 0
    }

    /// - Precondition: something was found.
    public init(sorting found: [ConfigError]) {
        precondition(!found.isEmpty)
        let sorted = found.sorted {
            ($0.file, $0.position.line, $0.position.column) < ($1.file, $1.position.line, $1.position.column)
        }
        errors = Array(sorted.prefix(Self.limit))
        omitted = found.count - errors.count
    }

    /// One error a line.
    public var description: String {
        let lines = errors.map(\.description).joined(separator: "\n")
        return omitted == 0 ? lines : "\(lines)\n… and \(omitted) more"
    }
}

/// How values of a file are shown in messages.
public enum ConfigWording {
    /// `text` in quotes, on one line, shortened after 60 characters.
    public static func quoted(_ text: String) -> String { "\"\(shown(text))\"" }

    /// `text` on one line, shortened after 60 characters; control characters appear as `\u{7}`.
    public static func shown(_ text: String) -> String {
        var result = ""
        for (index, scalar) in text.unicodeScalars.enumerated() {
            if index == 60 { return result + "…" }
            let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
            result += isControl ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
        }
        return result
    }

    /// `12`, not `12.0`.
    public static func shown(_ number: Double) -> String {
        Int64(exactly: number).map { String($0) } ?? String(number)
    }
}
