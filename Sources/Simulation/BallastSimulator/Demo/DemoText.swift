import ControlSocket
import SiteConfig

/// What the demonstration shows on the terminal.
enum DemoText {
    /// Redrawn in place on a terminal.
    static func screen(_ status: SiteStatus, phase: String, clock: Double) -> String {
        var lines = [
            "Ballast demonstration   \(phase)   \(Int(clock)) s",
            "",
            "  frequency  \(number(status.frequency_hz)) Hz   \(bar(status.frequency_hz.map { ($0 - 49) / 1.1 }))",
            "  droop      \(number(status.response_kw)) kW asked, \(number(status.setpoint_kw)) kW set,"
                + " \(number(status.site_power_kw)) kW measured",
            "",
        ]
        for unit in status.units {
            lines.append(
                "  \(unit.id)  \(unit.mode)   \(number(unit.power_kw)) kW   \(bar(unit.power_kw.map { $0 / 100 }))"
            )
            lines.append(
                "           SoC \(number(unit.soc_percent)) %   cells \(number(unit.cell_voltage_min_v)) …"
                    + " \(number(unit.cell_voltage_max_v)) V, up to \(number(unit.cell_temperature_max_c)) °C"
            )
            lines.append(
                "           allowed \(number(unit.charge_limit_kw)) … \(number(unit.discharge_limit_kw)) kW"
                    + " (\(unit.discharge_limited_by))")
            lines.append(
                unit.trips.isEmpty ? "" : "           TRIPPED: \(unit.trips.joined(separator: ", "))")
        }
        return lines.joined(separator: "\n")
    }

    /// One line for a log file.
    static func line(_ status: SiteStatus, phase: String, clock: Double) -> String {
        let units = status.units.map { unit in
            let trips = unit.trips.isEmpty ? "" : " TRIPPED \(unit.trips.joined(separator: "+"))"
            return
                "\(unit.id) \(unit.mode) \(number(unit.power_kw)) kW \(number(unit.cell_temperature_max_c)) °C\(trips)"
        }
        return "[\(Int(clock)) s] \(phase): \(number(status.frequency_hz)) Hz, setpoint"
            + " \(number(status.setpoint_kw)) kW; \(units.joined(separator: "; "))"
    }

    /// What a person can try with a site that goes on.
    static func kept(
        site: SiteConfig, victim: String, programs: String, socket: String, plant: String, port: UInt16,
        token: String
    ) -> String {
        let simulator = "ballast-sim ask \(plant)"
        let other = site.units.first { $0.id != victim }?.id ?? victim
        return """

            The site goes on. Ctrl-C ends it and says whether everything happened that was to happen.

              page     http://127.0.0.1:\(port)/     token: \(token)

            In another terminal:
              export PATH=\(programs):$PATH BALLAST_SOCKET=\(socket)
            Look:
              ballastctl top
              ballastctl why
              ballastctl trips
            Change the plant:
              \(simulator) frequency 49.5
              \(simulator) fault cell_overheat \(other) rate_k_per_s=5
              \(simulator) fault bms_silence \(other)
              \(simulator) clear cell_overheat \(victim)
            Be its operator (the trip of \(victim) needs cool cells, a reset, and then a resume):
              ballastctl setpoint 20 --for 5m --reason "a look at the ramp"
              ballastctl reset \(victim) --reason "cells are cool"
              ballastctl resume \(victim) --reason "nobody is in the container"
            """
    }

    static func summary(_ verdicts: [DemoObservation.Verdict], records: String) -> String {
        let lines = verdicts.map { "  \($0.isPassed ? "pass" : "FAIL")  \($0.text)" }
        let failed = verdicts.filter { !$0.isPassed }.count
        let end = failed == 0 ? "all \(verdicts.count) passed" : "\(failed) of \(verdicts.count) FAILED"
        return (["", "What was to happen:"] + lines + ["", "\(end); records in \(records)"]).joined(
            separator: "\n")
    }

    /// Two decimals; `-` where nothing is known.
    static func number(_ value: Double?) -> String {
        guard let value else { return "-" }
        return "\((value * 1_000).rounded() / 1_000)"
    }

    /// 30 characters for 0 … 1.
    private static func bar(_ share: Double?) -> String {
        guard let share else { return "" }
        let width = Int((min(1, max(0, share)) * 30).rounded())
        return String(repeating: "█", count: width) + String(repeating: "·", count: 30 - width)
    }
}
