/// Curves over one time axis, drawn as SVG without anything from elsewhere. Panels stand below each other.
public struct Plot: Sendable {
    public struct Curve: Sendable {
        public var name: String
        /// A CSS colour.
        public var colour: String
        public var isDashed: Bool
        /// Stretches without a gap, each in the order of time; between two stretches nothing is drawn.
        public var stretches: [[(x: Double, y: Double)]]

        public init(
            name: String, colour: String, isDashed: Bool = false, stretches: [[(x: Double, y: Double)]]
        ) {
            self.name = name
            self.colour = colour
            self.isDashed = isDashed
            self.stretches = stretches
        }
    }

    /// A horizontal stripe.
    public struct Stripe: Sendable {
        public var low: Double
        public var high: Double
        public var name: String

        public init(low: Double, high: Double, name: String) {
            self.low = low
            self.high = high
            self.name = name
        }
    }

    public struct Panel: Sendable {
        /// Quantity and unit.
        public var title: String
        public var curves: [Curve]
        public var stripe: Stripe?
        /// Whether zero is always in view.
        public var showsZero: Bool

        public init(title: String, curves: [Curve], stripe: Stripe? = nil, showsZero: Bool = false) {
            self.title = title
            self.curves = curves
            self.stripe = stripe
            self.showsZero = showsZero
        }
    }

    public var title: String
    public var timeTitle: String
    public var panels: [Panel]
    /// Stretches of the time axis without data.
    public var gaps: [(from: Double, to: Double)]

    public init(title: String, timeTitle: String, panels: [Panel], gaps: [(from: Double, to: Double)] = []) {
        self.title = title
        self.timeTitle = timeTitle
        self.panels = panels
        self.gaps = gaps
    }

    static let width = 880.0
    static let left = 74.0
    static let right = 18.0
    static let panelHeight = 200.0
    static let top = 44.0
    static let between = 46.0
    private var innerWidth: Double { Self.width - Self.left - Self.right }

    /// The drawing.
    public var svg: String {
        let height = Self.top + Double(panels.count) * (Self.panelHeight + Self.between) + 6
        let time = Axis(over: timeValues, ticks: 8, isTight: true)
        var text =
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(one(Self.width)) \(one(height))\""
            + " width=\"\(one(Self.width))\" height=\"\(one(height))\" role=\"img\" font-family=\"sans-serif\""
            + " font-size=\"12\">\n<title>\(Words.escaped(title))</title>\n"
            + "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
        text += label(title, x: Self.left, y: 16, anchor: "start", size: 13, weight: "bold")
        for (index, panel) in panels.enumerated() {
            let y = Self.top + Double(index) * (Self.panelHeight + Self.between)
            text += draw(panel, y, time, isLast: index == panels.count - 1)
        }
        return text + "</svg>\n"
    }

    private var timeValues: [Double] {
        panels.flatMap { $0.curves.flatMap { $0.stretches.flatMap { $0.map(\.x) } } }
            + gaps.flatMap { [$0.from, $0.to] }
    }

    // MARK: One panel

    private func draw(_ panel: Panel, _ top: Double, _ time: Axis, isLast: Bool) -> String {
        var values = panel.curves.flatMap { $0.stretches.flatMap { $0.map(\.y) } }
        if panel.showsZero { values.append(0) }
        let axis = Axis(over: values, ticks: 5, isTight: false)
        func x(_ value: Double) -> Double { Self.left + time.share(value) * innerWidth }
        func y(_ value: Double) -> Double { top + (1 - axis.share(value)) * Self.panelHeight }
        var text = background(panel, top, x: x, y: y)
        for tick in axis.ticks {
            let isZero = panel.showsZero && tick == 0
            text += line(Self.left, y(tick), Self.left + innerWidth, y(tick), isZero ? "#888" : "#e4e4e4")
            text += label(axis.text(tick), x: Self.left - 6, y: y(tick) + 4, anchor: "end")
        }
        for tick in time.ticks {
            text += line(x(tick), top, x(tick), top + Self.panelHeight, "#eee")
            text += label(time.text(tick), x: x(tick), y: top + Self.panelHeight + 15, anchor: "middle")
        }
        for curve in panel.curves { text += draw(curve, x: x, y: y) }
        text += "<rect x=\"\(one(Self.left))\" y=\"\(one(top))\" width=\"\(one(innerWidth))\""
        text += " height=\"\(one(Self.panelHeight))\" fill=\"none\" stroke=\"#555\"/>\n"
        let middle = top + Self.panelHeight / 2
        text += "<text transform=\"translate(16 \(one(middle))) rotate(-90)\" text-anchor=\"middle\">"
        text += "\(Words.escaped(panel.title))</text>\n"
        if isLast {
            let y = top + Self.panelHeight + 33
            text += label(timeTitle, x: Self.left + innerWidth / 2, y: y, anchor: "middle")
        }
        return text + legend(panel, top)
    }

    private func background(
        _ panel: Panel, _ top: Double, x: (Double) -> Double, y: (Double) -> Double
    ) -> String {
        var text = ""
        if let stripe = panel.stripe {
            let high = max(top, min(top + Self.panelHeight, y(stripe.high)))
            let low = max(top, min(top + Self.panelHeight, y(stripe.low)))
            text += rectangle(Self.left, high, innerWidth, low - high, "#e8f3e8")
        }
        for gap in gaps {
            let width = max(2, x(gap.to) - x(gap.from))
            text += rectangle(x(gap.from), top, width, Self.panelHeight, "#c8c8c8")
        }
        return text
    }

    private func draw(_ curve: Curve, x: (Double) -> Double, y: (Double) -> Double) -> String {
        var text = ""
        let dashes = curve.isDashed ? " stroke-dasharray=\"6 3\"" : ""
        for stretch in curve.stretches {
            let points = Self.thinned(stretch)
            guard let first = points.first else { continue }
            if points.count == 1 {
                text += "<circle cx=\"\(one(x(first.x)))\" cy=\"\(one(y(first.y)))\" r=\"2\""
                text += " fill=\"\(curve.colour)\"/>\n"
                continue
            }
            let list = points.map { "\(one(x($0.x))),\(one(y($0.y)))" }.joined(separator: " ")
            text += "<polyline points=\"\(list)\" fill=\"none\" stroke=\"\(curve.colour)\""
            text += " stroke-width=\"1.6\" stroke-linejoin=\"round\"\(dashes)/>\n"
        }
        return text
    }

    /// At most about 2000 points: of each bucket the lowest and the highest, so that no extreme is lost.
    static func thinned(_ points: [(x: Double, y: Double)]) -> [(x: Double, y: Double)] {
        let most = 2_000
        guard points.count > most, let first = points.first, let last = points.last else { return points }
        var result = [first]
        let buckets = most / 2
        for bucket in 0..<buckets {
            let range = (points.count * bucket / buckets)..<(points.count * (bucket + 1) / buckets)
            guard let low = range.min(by: { points[$0].y < points[$1].y }),
                let high = range.max(by: { points[$0].y < points[$1].y })
            else { continue }
            for index in low < high ? [low, high] : (low == high ? [low] : [high, low]) {
                if let end = result.last, points[index].x > end.x { result.append(points[index]) }
            }
        }
        if let end = result.last, last.x > end.x { result.append(last) }
        return result
    }

    /// Above the panel, from the right.
    private func legend(_ panel: Panel, _ top: Double) -> String {
        var entries = panel.curves.map { (name: $0.name, colour: $0.colour, isDashed: $0.isDashed) }
        if let stripe = panel.stripe { entries.append((stripe.name, "#b9d8b9", false)) }
        if !gaps.isEmpty { entries.append(("no data", "#c8c8c8", false)) }
        var x = Self.left + innerWidth
        var text = ""
        for entry in entries.reversed() {
            x -= Double(entry.name.count) * 6.4 + 34
            let dashes = entry.isDashed ? " stroke-dasharray=\"6 3\"" : ""
            text +=
                "<line x1=\"\(one(x))\" y1=\"\(one(top - 9))\" x2=\"\(one(x + 22))\" y2=\"\(one(top - 9))\""
            text += " stroke=\"\(entry.colour)\" stroke-width=\"3\"\(dashes)/>\n"
            text += label(entry.name, x: x + 26, y: top - 5, anchor: "start")
        }
        return text
    }

    // MARK: Pieces

    private func one(_ number: Double) -> String { Words.fixed(number, 1) }

    private func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ colour: String) -> String {
        "<line x1=\"\(one(x1))\" y1=\"\(one(y1))\" x2=\"\(one(x2))\" y2=\"\(one(y2))\" stroke=\"\(colour)\"/>\n"
    }

    private func rectangle(
        _ x: Double, _ y: Double, _ width: Double, _ height: Double, _ colour: String
    ) -> String {
        "<rect x=\"\(one(x))\" y=\"\(one(y))\" width=\"\(one(width))\" height=\"\(one(max(0, height)))\""
            + " fill=\"\(colour)\"/>\n"
    }

    private func label(
        _ text: String, x: Double, y: Double, anchor: String, size: Int = 12, weight: String = "normal"
    ) -> String {
        "<text x=\"\(one(x))\" y=\"\(one(y))\" text-anchor=\"\(anchor)\" font-size=\"\(size)\""
            + " font-weight=\"\(weight)\">\(Words.escaped(text))</text>\n"
    }
}
