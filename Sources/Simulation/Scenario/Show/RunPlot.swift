import Quantities

/// A run as a time line: frequency; per unit its mode, what the battery allows, setpoint and delivered power;
/// what was done, what tripped, and what was expected when.
public struct RunPlot {
    private static let width = 1_080.0
    private static let left = 64.0
    private static let right = 24.0
    /// More units are told by their sum alone.
    private static let mostUnits = 6

    private let outcome: RunOutcome
    private let samples: [RunSample]
    private let begin: Double
    private let end: Double
    private var canvas = SVGCanvas()
    private var y = 0.0
    private var panelsTop = 0.0

    public init(_ outcome: RunOutcome) {
        self.outcome = outcome
        samples = outcome.history.samples
        begin = min(0, samples.first?.time.seconds ?? 0)
        end = max(samples.last?.time.seconds ?? 1, begin + 1)
    }

    /// The drawing.
    public var svg: String {
        var plot = self
        return plot.drawn()
    }

    private mutating func drawn() -> String {
        head()
        panelsTop = y
        frequency()
        if outcome.history.units.count <= Self.mostUnits {
            for index in outcome.history.units.indices { unit(index) }
        } else {
            sum()
        }
        timeAxis()
        marks()
        expectations()
        return canvas.svg(width: Self.width, height: y + 14)
    }

    private func x(_ time: Double) -> Double {
        Self.left + (time - begin) / (end - begin) * (Self.width - Self.left - Self.right)
    }

    private mutating func head() {
        let isPassed = outcome.isPassed
        canvas.box(
            x: Self.left, y: 14, width: 50, height: 20, fill: isPassed ? "#1a7f37" : "#c62828", radius: 3)
        canvas.text(
            isPassed ? "PASS" : "FAIL", x: Self.left + 25, y: 28, size: 12, colour: "#fff", anchor: "middle",
            isBold: true)
        let rows =
            outcome.scenario.catalogue.isEmpty
            ? "" : "  (\(outcome.scenario.catalogue.joined(separator: ", ")))"
        canvas.text(outcome.name + rows, x: Self.left + 60, y: 29, size: 15, colour: "#111", isBold: true)
        var why = outcome.problem ?? outcome.scenario.why
        if why.count > 150 { why = String(why.prefix(148)) + "…" }
        canvas.text(why, x: Self.left, y: 51, size: 12)
        y = 64
    }

    // MARK: Panels

    /// Scale of a panel's values.
    private struct Scale {
        var low: Double
        var high: Double
        var top: Double
        var height: Double

        init(_ values: [Double], least: Double, top: Double, height: Double) {
            var low = values.min() ?? 0
            var high = values.max() ?? 0
            if high - low < least { (low, high) = ((low + high - least) / 2, (low + high + least) / 2) }
            let room = 0.08 * (high - low)
            (self.low, self.high) = (low - room, high + room)
            (self.top, self.height) = (top, height)
        }

        func y(_ value: Double) -> Double { top + (high - value) / (high - low) * height }

        /// Three to six round numbers.
        var ticks: [Double] {
            var step = 1e-4
            let factors = [2.0, 2.5, 2]
            var index = 0
            while (high - low) / step > 5 {
                step *= factors[index % 3]
                index += 1
            }
            var tick = (low / step).rounded(.up) * step
            var ticks: [Double] = []
            while tick <= high {
                ticks.append(tick.magnitude < step / 2 ? 0 : tick)
                tick += step
            }
            return ticks
        }
    }

    private mutating func grid(_ scale: Scale, title: String, zero: Bool = false) {
        canvas.box(
            x: Self.left, y: scale.top, width: Self.width - Self.left - Self.right, height: scale.height,
            fill: "#fafafa")
        for tick in scale.ticks {
            let isZero = zero && tick == 0
            canvas.line(
                (Self.left, scale.y(tick)), (Self.width - Self.right, scale.y(tick)),
                colour: isZero ? "#999" : "#e4e4e4")
            canvas.text(Figure.text(tick), x: Self.left - 6, y: scale.y(tick) + 4, size: 10, anchor: "end")
        }
        canvas.text(title, x: Self.left, y: scale.top - 6, size: 11, colour: "#111", isBold: true)
    }

    private mutating func frequency() {
        y += 20
        let nominal = samples.first?.frequency.value ?? 50
        let scale = Scale(
            samples.map(\.frequency.value) + [nominal], least: 0.1, top: y, height: 80)
        grid(scale, title: "frequency, Hz")
        legend([("grid", "#1f4e9c"), ("as the controller uses it", "#e07b00")], at: y - 6)
        canvas.curve(points(scale) { $0.frequency.value }, colour: "#1f4e9c", width: 1.8)
        for stretch in stretches({ $0.seenFrequency?.value }, scale) {
            canvas.curve(stretch, colour: "#e07b00", width: 1, dashes: "4 3")
        }
        y += scale.height + 12
    }

    private mutating func unit(_ index: Int) {
        y += 22
        let rated = outcome.history.units[index].rating.kilowatts
        var values: [Double] = [-0.1 * rated, 0.1 * rated]
        for sample in samples {
            values.append(sample.units[index].delivered.kilowatts)
            values.append(sample.units[index].setpoint.kilowatts)
        }
        let scale = Scale(values, least: 0.4 * rated, top: y + 16, height: 110)
        grid(scale, title: "", zero: true)
        canvas.text(
            "\(outcome.history.units[index].id), kW", x: Self.left, y: y - 6, size: 11, colour: "#111",
            isBold: true)
        legend(
            [
                ("delivered", "#006b3c"), ("setpoint in the inverter", "#c05000"),
                ("allowed by the battery", "#b9dcc6"),
            ],
            at: y - 6)
        modes(index)
        allowed(index, scale)
        canvas.curve(
            points(scale, isStepped: true) { $0.units[index].setpoint.kilowatts }, colour: "#c05000",
            width: 1.2)
        canvas.curve(points(scale) { $0.units[index].delivered.kilowatts }, colour: "#006b3c", width: 2)
        trips(index, scale)
        y += 16 + scale.height + 8
    }

    private mutating func sum() {
        y += 22
        let scale = Scale(
            samples.flatMap { [$0.delivered.kilowatts, $0.setpoint.kilowatts, 0] }, least: 10, top: y,
            height: 140)
        grid(scale, title: "site, kW", zero: true)
        canvas.curve(points(scale, isStepped: true) { $0.setpoint.kilowatts }, colour: "#c05000", width: 1.2)
        canvas.curve(points(scale) { $0.delivered.kilowatts }, colour: "#006b3c", width: 2)
        y += scale.height + 8
    }

    private mutating func legend(_ entries: [(name: String, colour: String)], at line: Double) {
        var right = Self.width - Self.right
        for entry in entries.reversed() {
            right -= Double(entry.name.count) * 5.6
            canvas.text(entry.name, x: right, y: line, size: 10)
            canvas.line((right - 20, line - 3), (right - 5, line - 3), colour: entry.colour, width: 3)
            right -= 32
        }
    }

    // MARK: Curves

    /// One point at most for each half pixel; extremes of what is left out are kept.
    private func points(
        _ scale: Scale, isStepped: Bool = false, _ value: (RunSample) -> Double
    ) -> [(x: Double, y: Double)] {
        var points: [(x: Double, y: Double)] = []
        for sample in samples {
            let next = (x: x(sample.time.seconds), y: scale.y(value(sample)))
            if let last = points.last {
                if abs(next.y - last.y) < 0.05, points.count > 1,
                    abs(points[points.count - 2].y - last.y) < 0.05
                {
                    points[points.count - 1].x = next.x
                    continue
                }
                if isStepped, abs(next.y - last.y) >= 0.05 { points.append((next.x, last.y)) }
            }
            points.append(next)
        }
        return points
    }

    /// The parts in which there is a value.
    private func stretches(
        _ value: (RunSample) -> Double?, _ scale: Scale
    ) -> [[(x: Double, y: Double)]] {
        var stretches: [[(x: Double, y: Double)]] = []
        var isOpen = false
        for sample in samples {
            guard let number = value(sample) else {
                isOpen = false
                continue
            }
            let y = min(max(scale.y(number), scale.top), scale.top + scale.height)
            let point = (x: x(sample.time.seconds), y: y)
            if isOpen { stretches[stretches.count - 1].append(point) } else { stretches.append([point]) }
            isOpen = true
        }
        return stretches
    }

    private mutating func allowed(_ index: Int, _ scale: Scale) {
        var upper: [(x: Double, y: Double)] = []
        var lower: [(x: Double, y: Double)] = []
        var last: ClosedRange<Double>?
        for sample in samples {
            guard let range = sample.units[index].allowed else { continue }
            let at = x(sample.time.seconds)
            func put(_ range: ClosedRange<Double>) {
                upper.append((at, max(scale.top, scale.y(range.upperBound / 1_000))))
                lower.append((at, min(scale.top + scale.height, scale.y(range.lowerBound / 1_000))))
            }
            if let last, last != range { put(last) }
            if last != range || sample == samples.last { put(range) }
            last = range
        }
        canvas.area(upper + lower.reversed(), fill: "#b9dcc655")
    }

    // MARK: Bands and marks

    private static let colours: [String: String] = [
        "running": "#2e9e5b", "standby": "#8fb8de", "precharge": "#f2c14e", "stopping": "#f0a35e",
        "tripped": "#d64545", "maintenance": "#9b6fc3", "offline": "#9aa0a6",
    ]

    private mutating func modes(_ index: Int) {
        var from = begin
        var mode: String?
        for (number, sample) in samples.enumerated() {
            let now = sample.units[index].mode
            if number > 0, mode != now {
                band(mode, from: from, to: sample.time.seconds)
                from = sample.time.seconds
            }
            mode = now
        }
        band(mode, from: from, to: end)
    }

    private mutating func band(_ mode: String?, from: Double, to: Double) {
        let (a, b) = (x(from), x(to))
        let name = mode ?? "no daemon"
        canvas.box(
            x: a, y: y, width: b - a, height: 14, fill: mode.flatMap { Self.colours[$0] } ?? "#e9e9e9",
            title: name)
        guard b - a > Double(name.count) * 6 + 6 else { return }
        canvas.text(
            name, x: (a + b) / 2, y: y + 11, size: 10, colour: mode == nil ? "#555" : "#fff", anchor: "middle"
        )
    }

    private mutating func trips(_ index: Int, _ scale: Scale) {
        let unit = outcome.history.units[index].id
        var level = 0
        for event in outcome.history.events where event.name == "trip" && event.unit == unit {
            let at = x(event.time.seconds)
            canvas.line(
                (at, scale.top), (at, scale.top + scale.height), colour: "#d64545", width: 1.2, dashes: "3 2")
            guard level < 6 else { continue }
            let isLate = at > Self.width - 180
            canvas.text(
                event.cause ?? "trip", x: at + (isLate ? -4 : 4), y: scale.top + 12 + 12 * Double(level),
                size: 10,
                colour: "#b02020", anchor: isLate ? "end" : "start")
            level += 1
        }
    }

    private mutating func timeAxis() {
        let scale = Scale([begin, end], least: 0.1, top: 0, height: 1)
        for tick in scale.ticks where tick >= begin && tick <= end {
            canvas.line((x(tick), y), (x(tick), y + 4), colour: "#888")
            canvas.text(Figure.text(tick), x: x(tick), y: y + 16, size: 10, anchor: "middle")
        }
        canvas.text("time, s", x: Self.width - Self.right, y: y + 30, size: 10, anchor: "end")
        y += 22
    }

    /// What was done: a line through all panels, its words below.
    private mutating func marks() {
        let bottom = y - 22
        var shown = 0
        for step in outcome.scenario.steps {
            let at = x(step.at.seconds)
            let colour: String =
                switch step.action {
                case .fault: "#c62828"
                case .clear: "#1a7f37"
                case .frequency, .siteLoad, .gridLoad: "#1f4e9c"
                case .command: "#6a3d9a"
                case .machine, .daemon, .run: "#444"
                }
            canvas.line((at, panelsTop), (at, bottom), colour: colour, width: 0.8, dashes: "2 3")
            guard shown < 24 else { continue }
            shown += 1
            y += 13
            canvas.dot(x: at, y: y - 4, radius: 3, fill: colour)
            let text = "\(Figure.text(step.at.seconds)) s  \(step.action.text)"
            let isLate = at > Self.width / 2
            canvas.text(
                text, x: at + (isLate ? -7 : 7), y: y, size: 10, colour: colour,
                anchor: isLate ? "end" : "start")
        }
        y += 10
    }

    /// Each expectation as a bar: the time in which it may become true, and in which it must hold.
    private mutating func expectations() {
        guard !outcome.verdict.expectations.isEmpty else { return }
        y += 16
        canvas.text("expected", x: Self.left, y: y, size: 11, colour: "#111", isBold: true)
        y += 4
        for verdict in outcome.verdict.expectations {
            y += 15
            let expectation = verdict.expectation
            let isFailed = verdict.judgement.isFailed
            let from = expectation.from.seconds
            let bound = min(end, from + (expectation.within + outcome.allowance).seconds)
            canvas.box(
                x: x(from), y: y - 9, width: max(2, x(bound) - x(from)), height: 10,
                fill: isFailed ? "#f4c7c7" : "#cfe8d8", radius: 2)
            let last: Double? =
                switch expectation.hold {
                case .none: nil
                case .for_(let time): bound + time.seconds
                case .until(let time): time.seconds
                case .toTheEnd: end
                }
            if let last, last > bound {
                canvas.box(
                    x: x(bound), y: y - 6, width: x(min(last, end)) - x(bound), height: 4,
                    fill: isFailed ? "#e28d8d" : "#8cc7a1", radius: 2)
            }
            if let measured = verdict.measured {
                canvas.dot(
                    x: x(min(end, from + measured.seconds)), y: y - 4, radius: 3.5,
                    fill: isFailed ? "#c62828" : "#1a7f37")
            }
            describe(verdict, from: from, to: max(bound, last ?? bound))
        }
        y += 6
    }

    /// Beside its bar, where there is more room.
    private mutating func describe(_ verdict: ExpectationVerdict, from: Double, to: Double) {
        let measured = verdict.measured.map { ", measured \(Figure.text($0.seconds)) s" } ?? ""
        var text = verdict.expectation.what + measured
        if case .failed(let why) = verdict.judgement { text += ": " + why }
        let colour = verdict.judgement.isFailed ? "#b02020" : "#222"
        let (a, b) = (x(from), x(min(to, end)))
        if Self.width - Self.right - b > a - Self.left {
            canvas.text(text, x: b + 8, y: y, size: 10, colour: colour)
        } else if a - Self.left > 300 {
            canvas.text(text, x: a - 8, y: y, size: 10, colour: colour, anchor: "end")
        } else {
            y += 12
            canvas.text(text, x: max(a, Self.left), y: y, size: 10, colour: colour)
        }
    }
}
