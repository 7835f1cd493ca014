import SiteConfig

extension InterlockMatrix {
    /// One page without scripts or other files, for A4 across.
    var html: String {
        let config = site.config
        let files = site.files.map {
            "<tr><th>\(Self.escaped($0.path))</th><td>sha256 <code>\($0.sha256)</code></td></tr>"
        }
        return """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8"><title>Interlocks of \(Self.escaped(config.siteID))</title>
            <style>\(Self.style)</style></head><body>
            <h1>Interlocks: cause and effect</h1>
            <table class="head">
            <tr><th>Site</th><td>\(Self.escaped(config.siteID)), mode \(config.mode.rawValue)</td></tr>
            <tr><th>Units</th><td>\(Self.escaped(config.units.map(\.id).joined(separator: ", ")))</td></tr>
            <tr><th>Table</th><td>\(Self.escaped(title))</td></tr>
            \(files.joined(separator: "\n"))
            <tr><th>Date</th><td class="blank"></td></tr>
            </table>
            <table class="matrix">
            <thead><tr>\(Self.columns.map { "<th>\($0)</th>" }.joined())</tr></thead>
            <tbody>
            \(rows.map { Self.tableRow($0) }.joined(separator: "\n"))
            </tbody></table>
            \(notInForce.map { "<p><strong>NOT IN FORCE here, though shipped: \($0)</strong></p>" }.joined())
            <p>* Mandatory in production. A limit is passed when it is reached. While a row's signal is missing or stale its
            direction is closed; what is not wired is not judged. Time to safe: the worst case from the evidence appearing on the wire to zero power at the
            slowest unit; it must not exceed half of the process safety time. [V] read in a primary document, [R] common
            reference, [P] proposed, to be confirmed with the cell's datasheet.</p>
            \(Self.signatures)
            </body></html>

            """
    }

    private static let columns = [
        "Row", "Signal", "Warn", "Derate", "Trip", "For", "While", "Closes", "Action", "Reset",
        "Time to safe",
        "Process safety time", "Source",
    ]

    private static func tableRow(_ row: Row) -> String {
        let rule = row.rule
        let symbol = row.unit.symbol.isEmpty ? "" : " \(row.unit.symbol)"
        func shown(_ value: Double?) -> String {
            value.map { "\(row.relation) \(number($0))\(symbol)" } ?? ""
        }
        let hysteresis = rule.hysteresis > 0 ? ", lets go \(number(rule.hysteresis)) inside" : ""
        let time = row.slowest.map { time in
            "\(milliseconds(time.total)) ms (\(time.unit)): "
                + time.parts.filter { $0.duration > .zero }.map { "\(milliseconds($0.duration)) \($0.name)" }
                .joined(separator: " + ")
        }
        let cells = [
            rule.name + (rule.floor == nil ? "" : " *"), rule.signal.word, shown(rule.warn),
            rule.derate.map { "\(number($0.from)) → \(number($0.to))\(symbol)\(hysteresis)" } ?? "",
            shown(rule.trip),
            rule.trip == nil ? "" : "\(milliseconds(rule.debounce)) ms", rule.condition.word, row.effect,
            row.action, rule.reset?.word ?? "by itself",
            time ?? "",
            rule.processSafetyTime.map { "\(milliseconds($0)) ms: \(rule.timeSource)" } ?? "", rule.source,
        ]
        return "<tr>" + cells.map { "<td>\(escaped($0))</td>" }.joined() + "</tr>"
    }

    private static let signatures =
        "<table class=\"sign\">"
        + ["Prepared by", "Checked by", "Approved by"].map { role in
            "<tr><th>\(role)</th><td class=\"blank\"></td><th>Signature</th><td class=\"blank\"></td>"
                + "<th>Date</th><td class=\"blank\"></td></tr>"
        }.joined() + "</table>"

    private static let style = """
        @page{size:A4 landscape;margin:10mm}body{font:9pt sans-serif;color:#000}h1{font-size:14pt;margin:0 0 4mm}
        table{border-collapse:collapse;margin-bottom:4mm}th,td{text-align:left;vertical-align:top;padding:1mm 1.5mm}
        .matrix{width:100%;font-size:7pt}.matrix th,.matrix td{border:.2mm solid #000}.matrix th{background:#eee}
        tr{break-inside:avoid}thead{display:table-header-group}.sign{width:100%;break-inside:avoid}
        .blank{border-bottom:.2mm solid #000;min-width:45mm;height:9mm}code{font-size:8pt}
        """

    /// Whatever a name holds, it stays text.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case _: result.append(character)
            }
        }
        return result
    }
}
