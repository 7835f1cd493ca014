import ConfigText

/// Everything that is wrong with what was given, a line each: file, line, column, what is wrong, what would
/// be right.
public struct BooksErrors: Error, CustomStringConvertible {
    /// The most errors kept; the rest is counted.
    static let limit = 50

    public private(set) var lines: [String] = []
    private var omitted = 0

    init() {}

    public init(_ line: String) { lines = [line] }

    init(_ errors: ConfigErrors) { lines = errors.errors.map(\.description) }

    var isEmpty: Bool { lines.isEmpty }

    mutating func add(_ line: String) {
        if lines.count < Self.limit { lines.append(line) } else { omitted += 1 }
    }

    public var description: String {
        lines.joined(separator: "\n") + (omitted == 0 ? "" : "\n… and \(omitted) more")
    }
}
