import Quantities

extension FrequencyReport {
    /// One page without scripts, fonts or pictures from elsewhere; well-formed as XML too.
    public func html(site: String) -> String {
        let drawn = events.prefix(Self.drawnEvents).enumerated().map { section($0.offset + 1, $0.element) }
        let more = events.count - drawn.count
        return """
            <!DOCTYPE html>
            <html lang="en" xmlns="http://www.w3.org/1999/xhtml"><head><meta charset="utf-8"/>
            <title>Frequency response of \(Words.escaped(site))</title>
            <style>\(Self.style)</style></head><body>
            <h1>Frequency response of \(Words.escaped(site))</h1>
            <p>\(Words.utc(fromMilliseconds)) to \(Words.utc(toMilliseconds)). All times are UTC; positive power is injected.</p>
            <h2>Score</h2>
            \(scorePart)
            <h2>Data</h2>
            <p>\(Words.escaped(dataLine)).</p>
            \(gapPart)\(bandLine.map { "<p>\(Words.escaped($0)).</p>" } ?? "")
            <h2>Events</h2>
            \(eventTable)
            \(drawn.joined(separator: "\n"))
            \(more > 0 ? "<p>\(more) more events stand in the table only.</p>" : "")
            </body></html>

            """
    }

    /// More pictures would make the page too large to open.
    static let drawnEvents = 50

    private static let style = """
        body{font:14px/1.4 sans-serif;color:#111;background:#fff;max-width:1100px;margin:24px auto;padding:0 16px}
        h1{font-size:22px}h2{font-size:17px;margin-top:28px}h3{font-size:15px;margin:24px 0 6px}
        table{border-collapse:collapse}th,td{padding:3px 10px 3px 0;text-align:right;border-bottom:1px solid #ddd}
        th{font-weight:600;vertical-align:bottom}td.name,th.name{text-align:left}td{white-space:nowrap}td.name{white-space:normal}.note{color:#8a4b00}
        .total{font-size:28px;font-weight:600}svg{max-width:100%;height:auto}section{break-inside:avoid}
        """

    private var scorePart: String {
        guard case .scored(let score) = verdict else {
            return "<p>\(Words.escaped(scoreLines.joined(separator: " ")))</p>"
        }
        func row(_ name: String, _ value: Double, _ weight: Int, _ what: String) -> String {
            "<tr><td class=\"name\">\(name)</td><td>\(Words.fixed(value, 3))</td><td>\(weight)</td>"
                + "<td class=\"name\">\(Words.escaped(what))</td></tr>"
        }
        let full = Words.span(rules.fullResponse)
        let rows = [
            row(
                "accuracy", score.accuracy, 40,
                "1 − mean of |P − P*| by the expected response (at least 2 % of rated), from \(full) on;"
                    + " \(Words.events(score.accuracyEvents))"),
            row(
                "delay", score.delay, 25,
                "90 % of the peak within \(full); \(Words.events(score.delayEvents))"),
            row(
                "sustained", score.sustained, 20,
                "error within 5 % of rated for up to \(Words.span(rules.hold)), where the state of charge allows;"
                    + " \(Words.events(score.sustainedEvents))"),
            row("in service", score.inService, 15, "of the nameplate; gaps in the data count as out"),
        ]
        let beta = score.betaShare.map {
            "<p>Delivered by expected power at 20 … 52 s: \(Words.fixed($0, 3)), \(score.betaBand ?? "").</p>"
        }
        return
            "<p><span class=\"total\">\(Words.fixed(score.total, 1))</span> of 100. Not a regulator's number.</p>"
            + "<table><tr><th class=\"name\">part</th><th>value</th><th>weight</th><th class=\"name\">what it is</th>"
            + "</tr>\(rows.joined())</table>" + (beta ?? "")
    }

    private var gapPart: String {
        guard !gapLines.isEmpty else { return "" }
        return "<ul>" + gapLines.map { "<li>\(Words.escaped($0))</li>" }.joined() + "</ul>\n"
    }

    private var eventTable: String {
        guard !events.isEmpty else {
            return "<p>No events: the frequency did not leave the deadband in the data.</p>"
        }
        let heads = [
            "#", "begin", "duration", "nadir Hz", "zenith Hz", "expected peak kW", "delivered peak kW",
            "expected kWh", "delivered kWh", "response", "β MW/Hz (share)",
        ]
        let rows = events.enumerated().map { number, event in
            let cells = [
                "\(number + 1)", Words.utc(event.startMilliseconds), Words.span(event.durationMilliseconds),
                Words.fixed(event.nadir.value, 3), Words.fixed(event.zenith.value, 3), event.expectedPeakText,
                event.deliveredPeakText, event.expectedEnergyText, event.deliveredEnergyText,
                event.responseText, event.betaText,
            ]
            return "<tr>" + cells.map { "<td>\(Words.escaped($0))</td>" }.joined() + "</tr>"
        }
        return "<table><tr>" + heads.map { "<th>\($0)</th>" }.joined() + "</tr>\n"
            + rows.joined(separator: "\n") + "</table>"
    }

    private func section(_ number: Int, _ event: FrequencyEvent) -> String {
        let notes = event.notes.map { "<p class=\"note\">\(Words.escaped($0)).</p>" }
        return "<section><h3>Event \(number), \(Words.utc(event.startMilliseconds))</h3>\n"
            + notes.joined() + plot(of: event, number).svg + "</section>"
    }

    /// Frequency and power over the event and up to 30 s before it.
    func plot(of event: FrequencyEvent, _ number: Int) -> Plot {
        let first = samples[..<event.samples.lowerBound].lastIndex {
            $0.milliseconds < event.startMilliseconds - 30_000
        }
        let range = (first.map { $0 + 1 } ?? 0)...event.samples.upperBound
        return plot(range, origin: event.startMilliseconds, title: "Event \(number)")
    }

    private func plot(_ range: ClosedRange<Int>, origin: Int64, title: String) -> Plot {
        func curve(
            _ name: String, _ colour: String, isDashed: Bool = false, _ value: (FrequencySample) -> Double?
        ) -> Plot.Curve {
            var stretches: [[(x: Double, y: Double)]] = [[]]
            var last: Int64?
            for sample in samples[range] {
                let isFar = last.map { sample.milliseconds - $0 > rules.longestStep } ?? false
                last = sample.milliseconds
                let y = value(sample)
                if isFar || y == nil, stretches.last?.isEmpty == false { stretches.append([]) }
                if let y {
                    let x = Double(sample.milliseconds - origin) / 1_000
                    stretches[stretches.count - 1].append((x, y))
                }
            }
            return Plot.Curve(
                name: name, colour: colour, isDashed: isDashed, stretches: stretches.filter { !$0.isEmpty })
        }
        let shown = samples[range.lowerBound].milliseconds...samples[range.upperBound].milliseconds
        let frequency = curve("frequency", "#1f4e9c") { $0.frequency?.value }
        let powers = [
            curve("delivered", "#006b3c") { $0.delivered?.kilowatts },
            curve("expected", "#c05000", isDashed: true) { $0.target?.kilowatts },
        ]
        return Plot(
            title: title, timeTitle: "time since the event's begin, s",
            panels: [
                Plot.Panel(title: "frequency, Hz", curves: [frequency]),
                Plot.Panel(title: "power, kW", curves: powers, showsZero: true),
            ],
            gaps: gaps.filter { shown.contains($0.fromMilliseconds) && shown.contains($0.toMilliseconds) }.map
            {
                (Double($0.fromMilliseconds - origin) / 1_000, Double($0.toMilliseconds - origin) / 1_000)
            })
    }
}
