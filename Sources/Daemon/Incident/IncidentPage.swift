import FrequencyRecord

extension Trace {
    /// One page without scripts, fonts or pictures from elsewhere: why it was kept, what happened in which
    /// order, states as bars, and curves. Well-formed as XML too.
    public var page: String { page(beside: []) }

    /// The same with what was said, asked for and measured beside the cycles, in these minutes.
    public func page(beside: [Beside]) -> String {
        let begin = CivilTime(microseconds: beginMicroseconds)
        let title = "Incident at \(site), \(begin.text)"
        let curves = Plot(title: "Site \(site)", timeTitle: "s since \(begin.clock) UTC", panels: sitePanels)
        let unitPlots = units.map { unit in
            "<h2>\(Self.escaped(unit))</h2>" + barPicture(unit)
                + Plot(title: unit, timeTitle: "s since \(begin.clock) UTC", panels: panels(of: unit)).svg
        }
        return """
            <!DOCTYPE html>
            <html lang="en" xmlns="http://www.w3.org/1999/xhtml"><head><meta charset="utf-8"/>
            <meta name="viewport" content="width=device-width, initial-scale=1"/>
            <title>\(Self.escaped(title))</title><style>\(Self.style)</style></head><body>
            <h1>\(Self.escaped(title))</h1>
            \(banner)
            <p>\(Self.escaped(summary))</p>
            <h2>What happened, in order</h2>
            \(happeningTable)
            <h2>The site</h2>
            \(curves.svg)
            \(unitPlots.joined(separator: "\n"))
            \(beside.map(\.html).joined(separator: "\n"))
            <h2>What it carries</h2>
            \(fileTable)
            <p class="note">Times are UTC, as the gateway's clock had them. Power out of the battery is positive. Curves show what the
            controller was given and what it decided, cycle by cycle; what meter or inverter said more than 2 s before, a battery 5 s,
            is a gap.
            Written by \(Self.escaped(about.isEmpty ? "an unknown program" : about)).</p>
            </body></html>

            """
    }

    /// The curves of the page in one drawing (SVG): the site's, then each unit's.
    public var plot: String {
        let begin = CivilTime(microseconds: beginMicroseconds)
        let all = units.flatMap { unit in
            panels(of: unit).map { panel in
                var panel = panel
                panel.title = "\(unit): \(panel.title)"
                return panel
            }
        }
        return Plot(
            title: "Site \(site), \(begin.text)", timeTitle: "s since \(begin.clock) UTC",
            panels: sitePanels + all
        ).svg
    }

    private static let style = """
        body{font:15px/1.45 sans-serif;color:#111;background:#fff;max-width:1100px;margin:24px auto;padding:0 16px}
        h1{font-size:22px}h2{font-size:18px;margin-top:28px}table{border-collapse:collapse;width:100%}
        td,th{padding:3px 12px 3px 0;text-align:left;border-bottom:1px solid #ddd;vertical-align:top}td.t{white-space:nowrap}
        .trip{color:#a00000;font-weight:600}.first{background:#a00000;color:#fff;padding:0 6px;border-radius:3px;margin-left:8px}
        .danger{background:#a00000;color:#fff;padding:12px 16px;font-size:18px;font-weight:600}
        .note{color:#444}iframe{width:100%;height:900px;border:1px solid #ddd}td.l{overflow-wrap:anywhere}svg{max-width:100%;height:auto}
        @media (prefers-color-scheme:dark){body{color:#eee;background:#161616}.trip{color:#ff9090}.note{color:#bbb}td,th{border-color:#444}
        .first,.danger{background:#c00000;color:#fff}svg{background:#fff}}
        @media (max-width:600px){body{padding:0 8px}table{font-size:12px}td,th{padding-right:6px;overflow-wrap:anywhere}
        td.t{white-space:normal}}
        """

    /// What means danger to people comes before everything else.
    private var banner: String {
        let grave = happenings.filter { $0.endangersPeople }
        guard !grave.isEmpty else { return "" }
        let list = grave.map { trip in
            let what = trip.text.split(separator: " ").last.map(String.init) ?? ""
            return "\(what.replacing("_", with: " ")) at \(trip.unit ?? site)"
        }
        return
            "<p class=\"danger\">\(Self.escaped(list.joined(separator: ", "))): keep away and call the fire brigade."
            + " Do not open the container.</p>"
    }

    private var summary: String {
        let length = Number.short(times.last ?? 0)
        var text =
            capture.map {
                "Kept because of: \($0.trigger) (\(CivilTime(microseconds: $0.wallMicroseconds).text)). "
            } ?? ""
        text += "\(times.count) cycles over \(length) s"
        text += ", units \(units.joined(separator: ", "))."
        // Of what it was kept for: something that had tripped long before is another incident.
        let since = (triggerTime ?? 0) - 0.5
        if let first = happenings.first(where: { $0.isFirstOut && $0.time >= since }) {
            text +=
                " First out: \(first.text) of \(first.unit ?? site), \(Number.fixed(first.time + offset, 3)) s after the begin."
        }
        if offset > 0 {
            let begin = CivilTime(microseconds: recordingBeginMicroseconds).text
            text += " A part: seconds count from the recording's begin, \(begin)."
        }
        if let fault { text += " The recording could not be read to its end: \(fault)." }
        return text
    }

    private var fileTable: String {
        let rows = files.map {
            "<tr><td>\(Self.escaped($0.path))</td><td>\($0.bytes) bytes</td><td>\($0.digest)</td></tr>"
        }
        return
            "<table><tr><th>file</th><th>length</th><th>FNV-1a</th></tr>\(rows.joined(separator: "\n"))</table>"
    }

    private var happeningTable: String {
        guard !happenings.isEmpty else { return "<p>Nothing changed.</p>" }
        let most = 500
        let rows = happenings.prefix(most).map { happening in
            let at = CivilTime(microseconds: microseconds(at: happening.time))
            let mark = happening.isFirstOut ? "<span class=\"first\">first out</span>" : ""
            return
                "<tr><td class=\"t\">\(at.clock)</td><td class=\"t\">\(Number.fixed(happening.time + offset, 3)) s</td>"
                + "<td>\(Self.escaped(happening.unit ?? "site"))</td>"
                + "<td\(happening.isTrip ? " class=\"trip\"" : "")>\(Self.escaped(happening.text))\(mark)</td></tr>"
        }
        let more = happenings.count > most ? "<p>\(happenings.count - most) more stand in the JSON.</p>" : ""
        return
            "<table><tr><th>UTC</th><th>since begin</th><th>where</th><th>what</th></tr>\(rows.joined(separator: "\n"))</table>"
            + more
    }

    // MARK: Bars

    private func barPicture(_ unit: String) -> String {
        let own = bars.filter { $0.owner == unit }
        let end = max(times.last ?? 0, 1e-9)
        let (width, left, height) = (880.0, 110.0, 22.0)
        var text = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(Number.short(width)) "
        text +=
            "\(Number.short(Double(own.count) * (height + 4) + 4))\" role=\"img\" font-family=\"sans-serif\" font-size=\"11\">"
        text +=
            "<title>\(Self.escaped("states of \(unit)"))</title><rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>"
        for (row, bar) in own.enumerated() {
            let y = Double(row) * (height + 4) + 2
            text +=
                "<text x=\"\(Number.short(left - 6))\" y=\"\(Number.short(y + 15))\" text-anchor=\"end\" fill=\"#111\">\(Self.escaped(bar.name))</text>"
            for stretch in bar.stretches.prefix(400) {
                let x = left + stretch.from / end * (width - left)
                let span = max(1, (stretch.to - stretch.from) / end * (width - left))
                text +=
                    "<rect x=\"\(Number.short(x))\" y=\"\(Number.short(y))\" width=\"\(Number.short(span))\" height=\"\(Number.short(height))\""
                text +=
                    " fill=\"\(Self.colour(stretch.text))\" stroke=\"#fff\"><title>\(Self.escaped(stretch.text)), "
                text += "\(Number.fixed(stretch.from, 2)) … \(Number.fixed(stretch.to, 2)) s</title></rect>"
                // Where there is room the word stands in it.
                guard Double(stretch.text.utf8.count) * 6.6 + 6 < span else { continue }
                text +=
                    "<text x=\"\(Number.short(x + 4))\" y=\"\(Number.short(y + 15))\" fill=\"#111\">\(Self.escaped(stretch.text))</text>"
            }
        }
        return text + "</svg>"
    }

    private static func colour(_ state: String) -> String {
        switch state {
        case "running", "closed": "#a9d8a2"
        case "tripped": "#f4a3a3"
        case "none": "#eef4ee"
        case "stopping", "precharge", "rating", "entry_ramp", "sharing": "#f6dfa4"
        case "offline", "not read", "unknown": "#cccccc"
        case "open", "standby", "maintenance", "not_in_service": "#c9d7ee"
        case _: "#f3c9a0"
        }
    }

    // MARK: Curves

    private var sitePanels: [Plot.Panel] {
        [
            Plot.Panel(title: "frequency, Hz", curves: [curve(nil, "frequency", "#1f5fa8")]),
            Plot.Panel(
                title: "power, kW",
                curves: [
                    curve(nil, "power asked for", "#888888", isDashed: true),
                    curve(nil, "setpoint", "#1f5fa8"), curve(nil, "meter power", "#b35a00"),
                ], showsZero: true),
        ].filter { !$0.curves.allSatisfy(\.stretches.isEmpty) }
    }

    private func panels(of unit: String) -> [Plot.Panel] {
        [
            Plot.Panel(
                title: "power, kW",
                curves: [
                    curve(unit, "discharge allowed", "#999999", isDashed: true),
                    curve(unit, "charge allowed", "#999999", isDashed: true),
                    curve(unit, "setpoint", "#1f5fa8"), curve(unit, "active power", "#b35a00"),
                ], showsZero: true),
            Plot.Panel(
                title: "cells, V",
                curves: [
                    curve(unit, "highest cell voltage", "#a00000"),
                    curve(unit, "lowest cell voltage", "#1f5fa8"),
                ]),
            Plot.Panel(
                title: "cells, °C",
                curves: [
                    curve(unit, "highest cell temperature", "#a00000"),
                    curve(unit, "lowest cell temperature", "#1f5fa8"),
                ]),
            Plot.Panel(
                title: "battery, A", curves: [curve(unit, "pack current", "#1f5fa8")], showsZero: true),
        ].filter { !$0.curves.allSatisfy(\.stretches.isEmpty) }
    }

    /// At most two points for each step of the picture: the lowest and the highest, so that no spike is lost.
    private func curve(_ owner: String?, _ name: String, _ colour: String, isDashed: Bool = false)
        -> Plot.Curve
    {
        let values = analog.first { $0.owner == owner && $0.name == name }?.values ?? []
        let step = max(1, values.count / 800)
        var stretches: [[(x: Double, y: Double)]] = []
        var open: [(x: Double, y: Double)] = []
        for first in stride(from: 0, to: values.count, by: step) {
            let places = (first..<min(values.count, first + step)).filter { values[$0].isFinite }
            guard let low = places.min(by: { values[$0] < values[$1] }),
                let high = places.max(by: { values[$0] < values[$1] })
            else {
                if !open.isEmpty { stretches.append(open) }
                open = []
                continue
            }
            for place in low == high ? [low] : [min(low, high), max(low, high)] {
                open.append((x: times[place], y: values[place]))
            }
        }
        if !open.isEmpty { stretches.append(open) }
        return Plot.Curve(name: name, colour: colour, isDashed: isDashed, stretches: stretches)
    }

    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case _ where scalar.value < 32 && scalar != "\n" && scalar != "\t": result += " "
            case _: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
