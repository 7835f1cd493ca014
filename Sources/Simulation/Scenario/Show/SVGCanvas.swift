/// Shapes of a drawing, gathered as text.
struct SVGCanvas {
    private var parts: [String] = []

    /// Pixels with one decimal.
    static func pixel(_ value: Double) -> String {
        let tenths = Int64((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(Double(tenths) / 10)"
    }

    static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case let other: result.append(other)
            }
        }
        return result
    }

    mutating func text(
        _ text: String, x: Double, y: Double, size: Int = 11, colour: String = "#444",
        anchor: String = "start",
        isBold: Bool = false
    ) {
        let weight = isBold ? " font-weight=\"bold\"" : ""
        parts.append(
            "<text x=\"\(Self.pixel(x))\" y=\"\(Self.pixel(y))\" font-size=\"\(size)\" fill=\"\(colour)\""
                + " text-anchor=\"\(anchor)\"\(weight)>\(Self.escaped(text))</text>")
    }

    mutating func line(
        _ a: (x: Double, y: Double), _ b: (x: Double, y: Double), colour: String, width: Double = 1,
        dashes: String? = nil
    ) {
        let dash = dashes.map { " stroke-dasharray=\"\($0)\"" } ?? ""
        parts.append(
            "<line x1=\"\(Self.pixel(a.x))\" y1=\"\(Self.pixel(a.y))\" x2=\"\(Self.pixel(b.x))\""
                + " y2=\"\(Self.pixel(b.y))\" stroke=\"\(colour)\" stroke-width=\"\(Self.pixel(width))\"\(dash)/>"
        )
    }

    mutating func box(
        x: Double, y: Double, width: Double, height: Double, fill: String, radius: Double = 0,
        title: String? = nil
    ) {
        let corner = radius > 0 ? " rx=\"\(Self.pixel(radius))\"" : ""
        let hint = title.map { "<title>\(Self.escaped($0))</title>" }
        parts.append(
            "<rect x=\"\(Self.pixel(x))\" y=\"\(Self.pixel(y))\" width=\"\(Self.pixel(max(0, width)))\""
                + " height=\"\(Self.pixel(height))\" fill=\"\(fill)\"\(corner)"
                + (hint.map { ">\($0)</rect>" } ?? "/>"))
    }

    mutating func curve(
        _ points: [(x: Double, y: Double)], colour: String, width: Double = 1.5, dashes: String? = nil
    ) {
        guard points.count > 1 else { return }
        let dash = dashes.map { " stroke-dasharray=\"\($0)\"" } ?? ""
        parts.append(
            "<polyline points=\"\(Self.list(points))\" fill=\"none\" stroke=\"\(colour)\""
                + " stroke-width=\"\(Self.pixel(width))\" stroke-linejoin=\"round\"\(dash)/>")
    }

    mutating func area(_ points: [(x: Double, y: Double)], fill: String) {
        guard points.count > 2 else { return }
        parts.append("<polygon points=\"\(Self.list(points))\" fill=\"\(fill)\"/>")
    }

    mutating func dot(x: Double, y: Double, radius: Double, fill: String) {
        parts.append(
            "<circle cx=\"\(Self.pixel(x))\" cy=\"\(Self.pixel(y))\" r=\"\(Self.pixel(radius))\" fill=\"\(fill)\"/>"
        )
    }

    private static func list(_ points: [(x: Double, y: Double)]) -> String {
        points.map { "\(pixel($0.x)),\(pixel($0.y))" }.joined(separator: " ")
    }

    func svg(width: Double, height: Double) -> String {
        let (w, h) = (Self.pixel(width), Self.pixel(height))
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(w)" height="\(h)" viewBox="0 0 \(w) \(h)" \
            font-family="Helvetica, Arial, DejaVu Sans, sans-serif">
            <rect width="\(w)" height="\(h)" fill="#fff"/>
            \(parts.joined(separator: "\n"))
            </svg>

            """
    }
}
