import ControlSocket

/// The site and its cycle in the Prometheus text format. A value that is not fresh has no line.
enum MetricsText {
    static func text(_ status: SiteStatus?, _ timing: TimingReport) -> String {
        var page = Page()
        if let status {
            add(status, to: &page)
            addSite(status, to: &page)
        }
        page.add("ballast_cycle_period_seconds", "gauge", [([], timing.period_ms / 1_000)])
        page.add("ballast_cycle_overruns_total", "counter", [([], Double(timing.overruns))])
        let rows =
            [("lateness", timing.lateness), ("execution", timing.execution)]
            + (timing.stages ?? []).map { ($0.name, $0.quantiles) }
        page.add("ballast_cycle_seconds", "summary", summary("part", rows))
        page.add(
            "ballast_sample_age_seconds", "summary",
            summary("source", (timing.sample_ages ?? []).map { ($0.name, $0.quantiles) }))
        page.add(
            "ballast_write_latency_seconds", "summary",
            summary("link", (timing.write_latencies ?? []).map { ($0.name, $0.quantiles) }))
        return page.text
    }

    /// Every name there is, and what it means.
    static let help: [String: String] = [
        "ballast_cycle_period_seconds": "Length of the control cycle.",
        "ballast_cycle_overruns_total": "Cycles that began late by a whole period or more.",
        "ballast_cycle_seconds": "How late cycles began and how long they worked, by part.",
        "ballast_sample_age_seconds": "Age of samples when a cycle used them, by source.",
        "ballast_write_latency_seconds": "From a decision to its write, by link.",
        "ballast_frequency_hertz": "Grid frequency that is used; absent without a fresh one.",
        "ballast_base_point_watts": "Power asked for before frequency response; positive = discharge.",
        "ballast_setpoint_watts": "Sum of the units' setpoints; positive = discharge.",
        "ballast_power_watts": "Sum of what the inverters measure; absent where one is silent.",
        "ballast_stopped": "1 while a person has taken the site out of service.",
        "ballast_latches_saved": "1 while the latched trips stand on disk.",
        "ballast_unit_power_watts": "Measured power; positive = discharge.",
        "ballast_unit_setpoint_watts": "What is written to the inverter; positive = discharge.",
        "ballast_unit_state_of_charge_ratio": "State of charge, 0 to 1.",
        "ballast_unit_state_of_health_ratio": "State of health, 0 to 1.",
        "ballast_unit_cell_temperature_max_celsius": "Hottest cell.",
        "ballast_unit_cell_temperature_min_celsius": "Coldest cell.",
        "ballast_unit_cell_voltage_max_volts": "Highest cell voltage.",
        "ballast_unit_cell_voltage_min_volts": "Lowest cell voltage.",
        "ballast_unit_running": "1 while the unit is in service.",
        "ballast_unit_trips": "Latched trips.",
        "ballast_unit_trip": "1 for each latched trip, by the row of the interlock table.",
        "ballast_unit_warning": "1 for each warning that stands, by the row of the interlock table.",
        "ballast_link_figure": "What each link has counted.",
    ]

    typealias Sample = (labels: [(String, String)], value: Double?)

    private static func add(_ status: SiteStatus, to page: inout Page) {
        page.add("ballast_frequency_hertz", "gauge", [([], status.frequency_hz)])
        page.add("ballast_base_point_watts", "gauge", [([], status.base_point_kw * 1_000)])
        page.add("ballast_setpoint_watts", "gauge", [([], status.setpoint_kw * 1_000)])
        page.add("ballast_power_watts", "gauge", [([], status.site_power_kw.map { $0 * 1_000 })])
        page.add("ballast_stopped", "gauge", [([], status.stopped ? 1 : 0)])
        page.add("ballast_latches_saved", "gauge", [([], status.latches_saved ? 1 : 0)])
        func units(_ value: (UnitStatus) -> Double?) -> [Sample] {
            status.units.map { ([("unit", $0.id)], value($0)) }
        }
        page.add("ballast_unit_power_watts", "gauge", units { $0.power_kw.map { $0 * 1_000 } })
        page.add("ballast_unit_setpoint_watts", "gauge", units { $0.setpoint_kw * 1_000 })
        page.add("ballast_unit_state_of_charge_ratio", "gauge", units { $0.soc_percent.map { $0 / 100 } })
        page.add("ballast_unit_state_of_health_ratio", "gauge", units { $0.soh_percent.map { $0 / 100 } })
        page.add("ballast_unit_cell_temperature_max_celsius", "gauge", units { $0.cell_temperature_max_c })
        page.add("ballast_unit_cell_temperature_min_celsius", "gauge", units { $0.cell_temperature_min_c })
        page.add("ballast_unit_cell_voltage_max_volts", "gauge", units { $0.cell_voltage_max_v })
        page.add("ballast_unit_cell_voltage_min_volts", "gauge", units { $0.cell_voltage_min_v })
        func rows(_ names: (UnitStatus) -> [String]) -> [Sample] {
            status.units.flatMap { unit -> [Sample] in
                names(unit).map { row -> Sample in ([("unit", unit.id), ("interlock", row)], 1) }
            }
        }
        page.add("ballast_unit_trip", "gauge", rows(\.trips))
        page.add("ballast_unit_warning", "gauge", rows(\.warnings))
        page.add("ballast_unit_running", "gauge", units { $0.mode == "running" ? 1 : 0 })
        page.add("ballast_unit_trips", "gauge", units { Double($0.trips.count) })
        let counters = status.links.flatMap { link in
            link.counters.sorted { $0.key < $1.key }.map { name, count -> Sample in
                ([("link", link.name), ("name", name)], Double(count))
            }
        }
        page.add("ballast_link_figure", "untyped", counters)
    }

    private static func summary(
        _ label: String, _ rows: [(name: String, quantiles: TimingReport.Quantiles)]
    ) -> [Sample] {
        rows.filter { $0.quantiles.count > 0 }.flatMap { name, quantiles -> [Sample] in
            [
                ("0.5", quantiles.p50_us), ("0.99", quantiles.p99_us), ("0.999", quantiles.p999_us),
                ("1", quantiles.max_us),
            ].map { ([(label, name), ("quantile", $0.0)], $0.1 / 1e6) }
        }
    }

    struct Page {
        var text = ""

        mutating func add(_ name: String, _ type: String, _ samples: [Sample]) {
            let lines = samples.compactMap { sample -> String? in
                guard let value = sample.value else { return nil }
                let labels = sample.labels.map { "\($0.0)=\"\(Self.escaped($0.1))\"" }.joined(separator: ",")
                return name + (labels.isEmpty ? "" : "{\(labels)}") + " \((value * 1e9).rounded() / 1e9)\n"
            }
            if lines.isEmpty { return }
            let help =
                (MetricsText.help[name] ?? MetricsText.siteHelp[name]).map { "# HELP \(name) \($0)\n" } ?? ""
            text += help + "# TYPE \(name) \(type)\n" + lines.joined()
        }

        private static func escaped(_ text: String) -> String {
            var escaped = ""
            for character in text {
                if character == "\\" || character == "\"" { escaped.append("\\") }
                escaped.append(character == "\n" ? " " : character)
            }
            return escaped
        }
    }
}
