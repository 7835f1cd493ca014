import Quantities

/// The screen of `ballastctl top`: what is known and the size of a terminal → its lines.
public struct TopScreen: Sendable {
    private let state: TopState
    private let columns: Int
    private let rows: Int
    private let now: MonotonicTime
    private let isOld: Bool
    private let isBlank: Bool

    /// - Parameters:
    ///   - columns: 20 or more; less is taken for 20.
    ///   - rows: of the terminal; what does not fit is left out, and said to be.
    public init(_ state: TopState, columns: Int, rows: Int, at now: MonotonicTime) {
        self.state = state
        self.columns = max(20, columns)
        self.rows = max(4, rows)
        self.now = now
        let age = state.age(at: now)
        isOld = age.map { $0 > TopState.oldAge } ?? true
        isBlank = age.map { $0 > TopState.blankAge } ?? true
    }

    /// From the top; never more than there are rows, and none wider than there are columns.
    public var lines: [TopLine] {
        guard let status = state.status else {
            return fitted([TopLine("waiting for the first answer"), trouble].compactMap { $0 }, footer)
        }
        var lines = dangers(status) + [head(status)]
        if let trouble { lines.append(trouble) }
        if status.stopped {
            lines.append(
                TopLine("STOPPED \(status.stopped_by ?? ""); 'ballastctl resume' lets it run again", .bad))
        }
        switch state.view {
        case .site: lines += site(status)
        case .unit(let name): lines += unit(name, status)
        case .links: lines += links(status, most: rows)
        case .help: lines += Self.help.map { TopLine($0) }
        }
        return fitted(lines, footer)
    }

    /// Cut to the terminal; the last row is the footer's.
    private func fitted(_ lines: [TopLine], _ footer: TopLine) -> [TopLine] {
        var shown = lines
        if shown.count > rows - 1 {
            let missing = shown.count - (rows - 2)
            shown = Array(shown.prefix(rows - 2))
            shown.append(TopLine("… \(missing) more lines: make the terminal larger", .warn))
        }
        return (shown + [footer]).map { $0.cut(to: columns) }
    }

    private var footer: TopLine {
        if state.isTyping { return TopLine("filter: \(state.filter)_   enter: keep   esc: drop", .bold) }
        let filter = state.filter.isEmpty ? "" : "   filter \"\(state.filter)\""
        let back = state.view == .site ? "" : "esc back  "
        return TopLine(
            "\(back)q quit  s sort: \(state.order.rawValue)  / filter  ↑↓ enter: a unit  l links  ? help\(filter)",
            .dim)
    }

    private static let help = [
        "", "q quit   s next order (trouble, name, power, charge, temperature)   / filter by name or mode",
        "↑ ↓ or k j: choose a unit   enter: all of it   esc: back   l: links   ?: this",
        "",
        "A figure that is not fresh is –. Where the controller stops answering, all figures turn old after 2 s",
        "and are taken away after 10 s; the second line then says why and since when.",
        "Times are the controller's, in UTC; the last twenty events are its own, what came before is in the journal.",
    ]

    // MARK: The whole

    /// What endangers people is never cut off: its instruction goes on over the next lines.
    private func dangers(_ status: SiteStatus) -> [TopLine] {
        DangerText.lines(status).flatMap { Self.wrapped($0, columns) }.map { TopLine($0, .danger) }
    }

    private func head(_ status: SiteStatus) -> TopLine {
        var line = TopLine("\(status.site) (\(status.mode))", .bold)
        line.add("  \(status.at.dropFirst(11).prefix(8)) UTC  cycle \(status.cycle)")
        let age = state.age(at: now)?.seconds ?? 0
        line.add("  \(Column.number(age, 1)) s old", isOld ? .bad : .good)
        if status.overruns > 0 { line.add("  overruns \(status.overruns)", .warn) }
        if !status.latches_saved { line.add("  LATCHES NOT ON DISK", .bad) }
        return line
    }

    /// Why nothing fresh comes; `nil` while it does.
    private var trouble: TopLine? {
        let age = state.age(at: now).map { WhyText.left($0.seconds) }
        if let failure = state.failure {
            return TopLine("NO ANSWER\(age.map { " for \($0)" } ?? ""): \(failure)", .bad)
        }
        guard let age, isOld else { return nil }
        return TopLine("THE CONTROLLER STANDS STILL: no new cycle for \(age)", .bad)
    }

    private func site(_ status: SiteStatus) -> [TopLine] {
        var lines = figures(status) + [TopLine()] + units
        lines.append(TopLine())
        if !state.trips.isEmpty {
            lines.append(TopLine("trips", .bold))
            lines += state.trips.prefix(6).map(trip)
            if state.trips.count > 6 {
                lines.append(TopLine("  and \(state.trips.count - 6) more: ballastctl trips"))
            }
        }
        lines += links(status, most: 6)
        return lines + events(room: max(1, rows - 1 - lines.count - dangers(status).count - 3))
    }

    /// As the journal has them; of a daemon of an older version what changed while somebody looked.
    private func events(room: Int) -> [TopLine] {
        if state.events.isEmpty {
            let changes = state.changes.prefix(room).map { change in
                TopLine("  \(change.at.dropFirst(11).prefix(8)) \(change.text)")
            }
            return [TopLine("changes since this program began", .bold)]
                + (changes.isEmpty ? [TopLine("  none", .dim)] : changes)
        }
        return [TopLine("last events (UTC)", .bold)]
            + state.events.prefix(room).map { event in
                TopLine("  \(event.at.dropFirst(11).prefix(8)) \(event.text)", event.grave ? .warn : .plain)
            }
    }

    /// A value in its style: old ones are dim and marked, and go in the end.
    private func shown(_ value: Double?, _ decimals: Int) -> String {
        isBlank ? "–" : Column.number(value, decimals)
    }

    private func figures(_ status: SiteStatus) -> [TopLine] {
        let style: TopLine.Style = isOld ? .dim : .bold
        let running = status.units.filter { $0.mode == "running" }
        let (charge, discharge) = running.reduce((0.0, 0.0)) {
            ($0.0 + $1.charge_limit_kw, $0.1 + $1.discharge_limit_kw)
        }
        var first = TopLine("frequency ")
        first.add("\(Column.right(shown(status.frequency_hz, 3), 7)) Hz ", style)
        first.add(Column.sparkline(state.frequencies, columns > 100 ? 40 : 16), isOld ? .dim : .plain)
        first.add("  \(status.grid?.frequency_source ?? "nobody measures")")
        if let grid = status.grid, grid.frequency_health != "good" {
            first.add("  \(grid.frequency_health.uppercased())", .bad)
        }
        if let state = status.grid?.state {
            first.add("  grid \(state)", state == "in_service" ? .plain : .warn)
        }
        var second = TopLine("power     ")
        second.add("\(Column.right(shown(status.site_power_kw, 1), 7)) kW ", style)
        second.add(Column.sparkline(state.powers, columns > 100 ? 40 : 16), isOld ? .dim : .plain)
        second.add(
            "  set \(shown(status.setpoint_kw, 1))  asked \(shown(status.target_kw, 1)) by \(status.base_point_by)"
        )
        second.add("  allowed \(shown(charge, 0)) … \(shown(discharge, 0))", isOld ? .dim : .plain)
        var lines = [first, second]
        if let grid = status.grid?.waits_for { lines.append(TopLine("grid: \(grid)", .warn)) }
        return lines
    }

    // MARK: Units

    private var isWide: Bool { columns >= 110 }

    private var units: [TopLine] {
        let units = state.shownUnits
        let heads =
            Column.left("unit", 14) + Column.left("mode", 12) + Column.right("kW", 8) + Column.right("set", 8)
            + Column.right("SoC %", 7) + Column.right("°C", 6)
            + (isWide ? Column.right("V min", 8) + Column.right("V max", 8) + Column.right("SoH %", 7) : "")
            + Column.right("allowed kW", 16) + "  limited by"
        var lines = [TopLine(heads, .bold)]
        for (index, unit) in units.enumerated() { lines += row(unit, isChosen: index == state.chosenIndex) }
        if units.isEmpty { lines.append(TopLine("  no unit is called like that", .dim)) }
        return lines
    }

    private func row(_ unit: UnitStatus, isChosen: Bool) -> [TopLine] {
        let allowed = "\(shown(unit.charge_limit_kw, 0)) … \(shown(unit.discharge_limit_kw, 0))"
        let numbers =
            Column.right(shown(unit.power_kw, 1), 8) + Column.right(shown(unit.setpoint_kw, 1), 8)
            + Column.right(shown(unit.soc_percent, 1), 7)
            + Column.right(shown(unit.cell_temperature_max_c, 1), 6)
            + (isWide
                ? Column.right(shown(unit.cell_voltage_min_v, 3), 8)
                    + Column.right(shown(unit.cell_voltage_max_v, 3), 8)
                    + Column.right(shown(unit.soh_percent, 0), 7)
                : "") + Column.right(allowed, 16)
        var line = TopLine()
        line.add(isChosen ? "▸" : " ", isChosen ? .bold : .plain)
        line.add(Column.left(unit.id, 13), isChosen ? .bold : .plain)
        line.add(Column.left(isBlank ? "unknown" : unit.mode, 12), modeStyle(unit))
        line.add(numbers, isOld ? .dim : .plain)
        line.add("  " + (unit.limited_by == "none" ? "" : unit.limited_by))
        return [line] + notes(unit).prefix(2).map { TopLine("    \($0.text)", $0.style) }
    }

    private func modeStyle(_ unit: UnitStatus) -> TopLine.Style {
        if isOld { return .dim }
        if unit.mode == "tripped" || unit.mode == "offline" { return .bad }
        return unit.mode == "running" ? .good : .warn
    }

    /// What a person must know of a unit beside its figures, the gravest first.
    private func notes(_ unit: UnitStatus) -> [(text: String, style: TopLine.Style)] {
        var notes: [(String, TopLine.Style)] = []
        if !unit.trips.isEmpty {
            let begun = unit.begun_by.map { ", begun by \($0)" } ?? ""
            notes.append(("TRIPPED: \(unit.trips.joined(separator: ", "))\(begun)", .bad))
        }
        notes += (unit.missing ?? []).map { ($0.text, .bad) }
        if let holds = unit.holds, unit.trips.isEmpty {
            notes.append(("HELD: \(holds.joined(separator: ", ")); 'ballastctl resume \(unit.id)'", .warn))
        }
        notes += (unit.locks ?? []).map { ("LOCKED: \($0.text)", .warn) }
        if let seconds = unit.enters_in_s, unit.holds == nil, unit.locks == nil {
            notes.append(("enters service in \(WhyText.left(seconds)) if all stays good", .warn))
        }
        if !unit.warnings.isEmpty {
            notes.append(("warnings: \(unit.warnings.joined(separator: ", "))", .warn))
        }
        return notes
    }

    /// All of one unit.
    private func unit(_ name: String, _ status: SiteStatus) -> [TopLine] {
        guard let unit = status.units.first(where: { $0.id == name }) else {
            return [TopLine("there is no unit \(name) any more", .bad)]
        }
        func line(_ label: String, _ text: String) -> TopLine {
            TopLine("  \(Column.left(label, 22))\(text)")
        }
        var lines = [TopLine(), TopLine("unit \(unit.id): \(isBlank ? "unknown" : unit.mode)", .bold)]
        lines += Self.wrapped(WhyText.unit(unit, in: status), columns - 2).map { TopLine("  \($0)") }
        lines += notes(unit).map { TopLine("  \($0.text)", $0.style) }
        lines += [
            line(
                "power",
                "\(shown(unit.power_kw, 1)) kW, set \(shown(unit.setpoint_kw, 1)), rating \(shown(unit.rating_kw, 0))"
            ),
            line(
                "allowed",
                "\(shown(unit.charge_limit_kw, 1)) kW (\(unit.charge_limited_by)) …"
                    + " \(shown(unit.discharge_limit_kw, 1)) kW (\(unit.discharge_limited_by))"),
            line(
                "state of charge", "\(shown(unit.soc_percent, 2)) %, health \(shown(unit.soh_percent, 1)) %"),
            line(
                "cells",
                "\(shown(unit.cell_voltage_min_v, 3)) … \(shown(unit.cell_voltage_max_v, 3)) V,"
                    + " \(shown(unit.cell_temperature_min_c, 1)) … \(shown(unit.cell_temperature_max_c, 1)) °C"
            ),
            line("pack", "\(shown(unit.pack_voltage_v, 1)) V, \(shown(unit.pack_current_a, 1)) A"),
            line("contactors", unit.contactors ?? "not told"),
            line("reversion", unit.reversion ?? "–"),
        ]
        for input in unit.inputs {
            let level = input.active.map { $0 ? "ON" : "off" } ?? "UNREADABLE (\(input.fault ?? "stale"))"
            lines.append(line(input.name, isBlank ? "–" : level))
        }
        return lines
    }

    // MARK: Trips and links

    private func trip(_ trip: TripStatus) -> TopLine {
        var line = TopLine("  \(trip.unit) \(trip.interlock)", trip.endangers_people == true ? .danger : .bad)
        line.add(trip.first_out ? "  came first" : "")
        line.add("  \(trip.at.map { "\($0.dropFirst(11).prefix(8)) UTC" } ?? "time not noted")")
        line.add("  reset: \(trip.reset); \(trip.check)")
        return line
    }

    private func links(_ status: SiteStatus, most: Int) -> [TopLine] {
        var lines = [TopLine("links", .bold)]
        for link in status.links.prefix(most) {
            let told = state.age(at: now) ?? .zero
            let age = link.heard_s.map { told + .milliseconds(Int64(min(1e12, max(0, $0 * 1_000)))) }
            let isUp = link.counters["up"] != 0
            var line = TopLine("  \(Column.left(link.name, min(48, columns / 2)))")
            line.add(isUp ? "up  " : "DOWN", isUp ? .good : .bad)
            let isStill = age.map { $0 > TopState.oldAge } ?? true
            line.add(
                age.map { "  last word \(WhyText.left($0.seconds)) ago" } ?? "  never heard",
                isStill ? .bad : .plain)
            let errors = link.counters.filter { $0.value > 0 && Self.faults.contains($0.key) }
            if !errors.isEmpty {
                line.add(
                    "  "
                        + errors.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(
                            separator: " "), .warn)
            }
            lines.append(line)
        }
        if status.links.count > most {
            lines.append(TopLine("  and \(status.links.count - most) more: press l"))
        }
        return lines
    }

    private static let faults: Set<String> = [
        "errors", "timeouts", "reconnects", "checksum_errors", "dropped_frames", "garbage_bytes", "bus_offs",
    ]

    /// At spaces, into lines that fit.
    static func wrapped(_ text: String, _ columns: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            if !line.isEmpty, line.count + 1 + word.count > columns {
                lines.append(line)
                line = "    " + word
            } else {
                line += (line.isEmpty ? "" : " ") + word
            }
        }
        return lines + (line.isEmpty ? [] : [line])
    }
}
