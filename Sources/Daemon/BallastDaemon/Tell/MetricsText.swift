import ControlSocket

/// The site and its cycle in the Prometheus text format. A value that is not fresh has no line.
enum MetricsText {
    static func text(_ status: SiteStatus?, _ timing: TimingReport) -> String {
        var page = Page()
        if let status { add(status, to: &page) }
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

    private typealias Sample = (labels: [(String, String)], value: Double?)

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
        page.add("ballast_unit_running", "gauge", units { $0.mode == "running" ? 1 : 0 })
        page.add("ballast_unit_trips", "gauge", units { Double($0.trips.count) })
        let counters = status.links.flatMap { link in
            link.counters.sorted { $0.key < $1.key }.map { name, count -> Sample in
                ([("link", link.name), ("name", name)], Double(count))
            }
        }
        page.add("ballast_link_counter", "untyped", counters)
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

    private struct Page {
        var text = ""

        mutating func add(_ name: String, _ type: String, _ samples: [Sample]) {
            let lines = samples.compactMap { sample -> String? in
                guard let value = sample.value else { return nil }
                let labels = sample.labels.map { "\($0.0)=\"\(Self.escaped($0.1))\"" }.joined(separator: ",")
                return name + (labels.isEmpty ? "" : "{\(labels)}") + " \((value * 1e9).rounded() / 1e9)\n"
            }
            if lines.isEmpty { return }
            text += "# TYPE \(name) \(type)\n" + lines.joined()
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
