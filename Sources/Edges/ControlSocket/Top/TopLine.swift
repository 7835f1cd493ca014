/// A line of a screen: pieces of text, each in a style.
public struct TopLine: Sendable, Equatable {
    /// How a piece looks. It never says anything that the words do not say too.
    public enum Style: Sendable, Equatable { case plain, bold, dim, danger, bad, warn, good, chosen }

    public struct Piece: Sendable, Equatable {
        public var text: String
        public var style: Style
    }

    public private(set) var pieces: [Piece] = []

    public init() {}

    public init(_ text: String, _ style: Style = .plain) { add(text, style) }

    public mutating func add(_ text: String, _ style: Style = .plain) {
        if !text.isEmpty { pieces.append(Piece(text: text, style: style)) }
    }

    /// Without styles.
    public var text: String { pieces.map(\.text).joined() }
    /// Columns that it takes.
    public var width: Int { pieces.reduce(0) { $0 + $1.text.count } }

    /// No wider than `columns`; what is cut off is marked.
    public func cut(to columns: Int) -> TopLine {
        guard width > columns else { return self }
        var line = TopLine()
        var left = max(0, columns - 1)
        for piece in pieces where left > 0 {
            let text = String(piece.text.prefix(left))
            line.add(text, piece.style)
            left -= text.count
        }
        line.add("…", .dim)
        return line
    }

    /// For a terminal: ANSI sequences around each piece that is not plain.
    public var ansi: String {
        pieces.map { piece in
            let code: String
            switch piece.style {
            case .plain: return piece.text
            case .bold: code = "1"
            case .dim: code = "2"
            case .danger: code = "1;97;41"
            case .bad: code = "1;31"
            case .warn: code = "33"
            case .good: code = "32"
            case .chosen: code = "7"
            }
            return "\u{1B}[\(code)m\(piece.text)\u{1B}[0m"
        }.joined()
    }

    /// What turns the lines that stand on a terminal into others: each line that differs is written over,
    /// none
    /// is cleared first, so that nothing flickers. Line feeds are left out, so that nothing scrolls.
    ///
    /// - Parameter before: what stands there; `nil` = nobody knows.
    public static func change(from before: [TopLine]?, to lines: [TopLine]) -> String {
        var text = ""
        for (row, line) in lines.enumerated() {
            if let before, before.indices.contains(row), before[row] == line { continue }
            text += "\u{1B}[\(row + 1);1H\(line.ansi)\u{1B}[K"
        }
        let isShorter = before.map { $0.count > lines.count } ?? true
        if isShorter { text += "\u{1B}[\(lines.count + 1);1H\u{1B}[J" }
        // Shown at once by terminals that know how; the others skip what they do not know.
        return text.isEmpty ? "" : "\u{1B}[?2026h\(text)\u{1B}[?2026l"
    }
}

/// Text in columns.
enum Column {
    static func left(_ text: String, _ width: Int) -> String {
        let cut = text.count > width ? text.prefix(max(0, width - 1)) + "…" : text[...]
        return cut + String(repeating: " ", count: max(0, width - cut.count))
    }

    static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    /// With that many decimals; `–` where there is no value.
    static func number(_ value: Double?, _ decimals: Int) -> String {
        guard let value, value.magnitude < 1e12 else { return "–" }
        let scale = (0..<decimals).reduce(1.0) { result, _ in result * 10 }
        let whole = Int64((value.magnitude * scale).rounded())
        let sign = value < 0 && whole > 0 ? "−" : ""
        guard decimals > 0 else { return sign + "\(whole)" }
        let rest = "\(whole % Int64(scale))"
        let zeros = String(repeating: "0", count: decimals - rest.count)
        return "\(sign)\(whole / Int64(scale)).\(zeros)\(rest)"
    }

    /// Bars of the newest values, the lowest and the highest of them as its ends; a gap where nobody knew.
    static func sparkline(_ values: [Double?], _ width: Int) -> String {
        let shown = values.suffix(width)
        let known = shown.compactMap { $0 }
        guard let low = known.min(), let high = known.max() else { return "" }
        let bars = Array("▁▂▃▄▅▆▇█")
        return String(
            shown.map { value -> Character in
                guard let value else { return " " }
                guard high > low else { return bars[3] }
                return bars[min(7, Int((value - low) / (high - low) * 8))]
            })
    }
}
