/// Metrics in the text format of Prometheus: each with its HELP once, whatever order its values come in.
struct MetricsPage {
    private var order: [String] = []
    private var families: [String: (help: String, lines: [String])] = [:]

    /// - Parameter value: `nil` = not known, and then there is no line: never a zero that nobody measured.
    mutating func add(_ name: String, _ help: String, _ labels: [(String, String)], _ value: Double?) {
        if families[name] == nil {
            order.append(name)
            families[name] = (help, [])
        }
        guard let value, value.isFinite else { return }
        let list = labels.map { "\($0.0)=\"\(Self.escaped($0.1))\"" }.joined(separator: ",")
        families[name]?.lines.append("\(name){\(list)} \(value)\n")
    }

    var text: String {
        order.reduce(into: "") { text, name in
            guard let (help, lines) = families[name], !lines.isEmpty else { return }
            text += "# HELP \(name) \(help)\n# TYPE \(name) gauge\n\(lines.joined())"
        }
    }

    /// Whatever a site calls its units and rows.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text.unicodeScalars.prefix(64) {
            switch character {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            case _: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}
