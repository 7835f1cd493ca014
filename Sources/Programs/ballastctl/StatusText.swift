import ControlSocket

/// The status as a page for a terminal.
enum StatusText {
    static func page(_ status: SiteStatus) -> String {
        var lines = DangerText.lines(status)
        lines += [
            "site \(status.site) (\(status.mode))  \(status.at)  cycle \(status.cycle), overruns \(status.overruns)"
        ]
        if status.stopped {
            lines.append("STOPPED \(status.stopped_by ?? ""); 'ballastctl resume' lets it run again")
        }
        lines += [
            "\(status.realtime)",
            "frequency \(text(status.frequency_hz, "Hz"))   base point \(number(status.base_point_kw)) kW"
                + "   droop \(number(status.response_kw)) kW   setpoint \(number(status.setpoint_kw)) kW"
                + "   measured \(text(status.site_power_kw, "kW"))",
        ]
        if let grid = status.grid {
            let isLimited = status.units.contains { $0.limited_by == "site_limit" }
            lines.append(GridText.line(grid, isSiteLimited: isLimited))
        }
        lines += [
            "",
            "unit             mode      power kW  setpoint    SoC %  cell V min/max  cell °C min/max  allowed kW",
        ]
        for unit in status.units { lines += self.unit(unit) }
        if let threads = status.threads_still {
            lines.append("STANDING STILL, though control goes on: \(threads.joined(separator: ", "))")
        }
        if !status.latches_saved { lines.append("LATCHED TRIPS ARE NOT ON DISK: see the daemon's log") }
        lines.append("")
        for link in status.links { lines.append(self.link(link)) }
        return lines.joined(separator: "\n")
    }

    private static func unit(_ unit: UnitStatus) -> [String] {
        let volts = "\(text(unit.cell_voltage_min_v, ""))/\(text(unit.cell_voltage_max_v, ""))"
        let celsius = "\(text(unit.cell_temperature_min_c, ""))/\(text(unit.cell_temperature_max_c, ""))"
        var lines = [
            padded(unit.id, 17) + padded(unit.mode, 8) + right(unit.power_kw, 10)
                + right(unit.setpoint_kw, 10)
                + right(unit.soc_percent, 9) + "  " + padded(volts, 16) + padded(celsius, 17)
                + "\(number(unit.charge_limit_kw)) … \(number(unit.discharge_limit_kw))"
                + " (\(unit.charge_limited_by), \(unit.discharge_limited_by))"
        ]
        if !unit.trips.isEmpty {
            let begun = unit.begun_by.map { ", begun by \($0)" } ?? ""
            let first = (unit.first_out.map { " (\($0) came first)" } ?? "") + begun
            lines.append("    TRIPPED: \(unit.trips.joined(separator: ", "))\(first)")
        }
        if let holds = unit.holds, unit.trips.isEmpty {
            lines.append(
                "    HELD: \(holds.joined(separator: ", ")); 'ballastctl resume \(unit.id)' starts it")
        }
        if let locks = unit.locks { lines += locks.map { "    LOCKED: \($0.text)" } }
        if let openings = unit.worn_openings {
            lines.append("    CONTACTS WORN: opened \(openings) x above breaking_current_a; inspect them")
        }
        if let contactors = unit.contactors { lines.append("    contactors: \(contactors)") }
        if !unit.inputs.isEmpty {
            lines.append("    inputs: \(unit.inputs.map(input).joined(separator: ", "))")
        }
        if !unit.warnings.isEmpty { lines.append("    warnings: \(unit.warnings.joined(separator: ", "))") }
        return lines
    }

    private static func input(_ input: InputStatus) -> String {
        let level = input.active.map { $0 ? "ON" : "off" } ?? "UNREADABLE (\(input.fault ?? "stale"))"
        return "\(input.name) \(level)"
    }

    private static func link(_ link: LinkStatus) -> String {
        let counters = link.counters.sorted { $0.key < $1.key }
            .filter { $0.value != 0 || $0.key == "up" }.map { "\($0.key) \(shown($0.value, of: $0.key))" }
        return "\(link.name): \(counters.joined(separator: ", "))"
    }

    /// In words where the number is a state.
    private static func shown(_ value: UInt64, of counter: String) -> String {
        let states = ["unknown", "active", "warning", "passive", "off"]
        return counter == "bus_state" && value < states.count ? states[Int(value)] : "\(value)"
    }

    static func number(_ value: Double) -> String { "\((value * 100).rounded() / 100)" }
    static func text(_ value: Double?, _ unit: String) -> String {
        guard let value else { return "-" }
        return unit.isEmpty
            ? "\((value * 1_000).rounded() / 1_000)" : "\((value * 1_000).rounded() / 1_000) \(unit)"
    }
    static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }
    static func right(_ value: Double?, _ width: Int) -> String {
        let text = value.map(number) ?? "-"
        return String(repeating: " ", count: max(1, width - text.count)) + text
    }
}
