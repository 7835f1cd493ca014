import SiteConfig

/// The cause-and-effect matrix of a site: which signal, past which limit, does what, and how fast.
struct InterlockMatrix {
    struct Row {
        var rule: InterlockRule
        /// One for each unit; empty for a row that only warns.
        var times: [TimeToSafe]
        /// Whether any unit has the signal.
        var isWired: Bool
        /// How long contacts wait at most for the current to end after this row's trip; `nil` where it trips
        /// nothing.
        var patience: Duration?
        /// They part what flows as soon as a zero has had its time to arrive.
        var isEmergency: Bool { rule.signal.partsLoad }

        var unit: LimitUnit { rule.signal.limitUnit }
        var slowest: TimeToSafe? { times.max { $0.total < $1.total } }
        var relation: String { rule.side == .high ? "≥" : "≤" }

        /// `charge`, `discharge`, `both`: what is closed or shrunk.
        var effect: String {
            if !isWired { return "not wired" }
            return rule.trip == nil && rule.derate == nil ? "-" : rule.direction.word
        }
        var action: String { rule.trip == nil ? "warn" : rule.action.word }
    }

    let site: CheckedSite
    let rows: [Row]

    init(_ site: CheckedSite) {
        self.site = site
        let book = ReversionBook(site.config)
        let times = site.config.timesToSafe { book.proof(of: $0).map { .milliseconds($0.milliseconds) } }
        rows = site.config.interlocks.rules.map { rule in
            Row(
                rule: rule, times: times.filter { $0.rule == rule.name },
                isWired: site.config.units.contains { $0.isWired(rule.signal) },
                patience: site.config.openingPatience(of: rule))
        }
    }

    /// Rows that the shipped table of this chemistry has and this site has not: left out or disabled.
    var notInForce: [String] {
        site.config.interlocks.shipped.rules.map(\.name)
            .filter { name in !site.config.interlocks.rules.contains { $0.name == name } }
    }

    /// The table's name and origin.
    var title: String {
        let interlocks = site.config.interlocks
        return interlocks.chemistry.name + ", "
            + (interlocks.tableFile.map { "table \($0)" } ?? "shipped table")
    }

    /// `12`, not `12.0`; at most four decimals.
    static func number(_ value: Double) -> String {
        let rounded = (value * 10_000).rounded() / 10_000
        return Int(exactly: rounded).map { String($0) } ?? String(rounded)
    }

    static func milliseconds(_ time: Duration) -> String {
        let (seconds, attoseconds) = time.components
        return String(seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
    }

    static func limit(_ value: Double?) -> String { value.map { number($0) } ?? "-" }

    static func derate(_ derate: InterlockRule.Derate?) -> String {
        derate.map { "\(number($0.from))→\(number($0.to))" } ?? "-"
    }
}

extension InterlockMatrix {
    /// The matrix in lines of at most 120 columns.
    var text: String {
        var lines = [
            "interlocks: \(title)",
            Self.line(["cause"] + Array(repeating: "", count: 7) + ["effect"]),
            Self.line([
                "row", "signal", "", "warn", "derate", "trip", "for ms", "while", "closes", "action", "reset",
            ]),
        ]
        lines += rows.map { row in
            let rule = row.rule
            let symbol = row.unit.symbol.isEmpty ? "" : " \(row.unit.symbol)"
            return Self.line([
                rule.name + (rule.floor == nil ? "" : "*"), rule.signal.word + symbol, row.relation,
                Self.limit(rule.warn),
                Self.derate(rule.derate), Self.limit(rule.trip),
                rule.trip == nil ? "-" : Self.milliseconds(rule.debounce), Self.short(rule.condition),
                row.effect,
                row.action == "emergency_stop" ? "e-stop" : row.action,
                rule.resetWord,
            ])
        }
        lines += notInForce.map { "  NOT IN FORCE here, though shipped: \($0)" }
        lines += [
            "  * mandatory in production. A missing or stale signal closes the row's direction; what is not wired is not judged.",
            "  what flickers: the time beyond a trip limit is summed too and trips at exposure_ms (ten times 'for ms'), leaking at",
            "  a twentieth; as do so many times in so many s:",
        ]
        lines += counts
        lines += [
            "time to safe in ms: worst case from evidence on the wire to zero power; limit: half of the process safety time;",
            "  open: until contacts part at the latest, where nothing shows before that no current flows",
        ]
        for unit in site.config.units {
            lines.append(Self.line("unit \(unit.id)", Self.columns))
            lines += rows.flatMap { row in row.times.filter { $0.unit == unit.id }.map { Self.line($0) } }
            lines += rows.flatMap(\.times).filter { $0.unit == unit.id && !$0.isMet }.map {
                "  NOT MET: \($0.rule) of \(unit.id): \($0.explanation), with the reversion as it was proven on site"
            }
        }
        lines += openings
        lines += site.files.map { "sha256 \($0.sha256)  \($0.path)" }
        return lines.joined(separator: "\n")
    }

    /// What is counted, four rows in a line.
    private var counts: [String] {
        let words = rows.compactMap { row in
            row.rule.count.map { "\(row.rule.name) \($0.times) in \(Int($0.window.seconds))" }
        }
        return stride(from: 0, to: words.count, by: 4).map { start in
            "    " + words[start..<min(words.count, start + 4)].joined(separator: ", ")
        }
    }

    /// Which row's trip may part a current, and when.
    private var openings: [String] {
        var lines = [
            "contacts wait for the current to end, after a row's trip at most so many ms, no longer than their own",
            "  open_under_load_after_ms; * declared emergency: they part what flows once a zero has had its time",
        ]
        var line = "   "
        for row in rows {
            guard let patience = row.patience, row.isWired else { continue }
            let word = " \(row.rule.name)\(row.isEmergency ? "*" : "") \(Self.milliseconds(patience)),"
            if line.count + word.count > 118 {
                lines.append(line)
                line = "   "
            }
            line += word
        }
        if line.last == "," { line.removeLast() }
        return lines + [line]
    }

    private static let widths = [32, 26, 2, 5, 10, 5, 7, 7, 10, 7, 8]

    private static func line(_ cells: [String]) -> String {
        var text = ""
        for (cell, width) in zip(cells, widths) { text += padded(cell, to: width) }
        while text.last == " " { text.removeLast() }
        return text
    }

    /// What a time may be made of, in the order in which it passes.
    private static let parts = [
        ["sample", "silence"], ["follow"], ["debounce"], ["cycle"], ["write"], ["reversion"], ["response"],
        ["opening"],
    ]
    private static let columns =
        ["evidence"] + parts.dropFirst().flatMap { $0 } + ["total", "limit", "open"]

    private static func line(_ time: TimeToSafe) -> String {
        let durations = parts.map { names in time.parts.first { names.contains($0.name) }?.duration }
        let times = durations + [time.total, time.limit, time.opening]
        return line(time.rule, times.map { $0.map { milliseconds($0) } ?? "-" })
    }

    private static func line(_ name: String, _ numbers: [String]) -> String {
        let cells = zip(numbers, columns).map { number, column in
            String(repeating: " ", count: max(0, max(5, column.count) - number.count)) + number
        }
        return padded("  " + name, to: 34) + cells.joined(separator: " ")
    }

    /// At least one space stands behind it.
    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }

    private static func short(_ condition: InterlockRule.Condition) -> String {
        switch condition {
        case .always: "always"
        case .charging: "chg"
        case .discharging: "dis"
        }
    }
}
