import ControlSocket
import Testing

@testable import BallastDaemon

@Suite struct MetricsTextTests {
    private static func quantiles(_ count: UInt64) -> TimingReport.Quantiles {
        TimingReport.Quantiles(count: count, p50_us: 26.623, p99_us: 30, p999_us: 40, max_us: 50)
    }

    private static var timing: TimingReport {
        var report = TimingReport(
            period_ms: 20, overruns: 3, lateness: quantiles(10), execution: quantiles(10))
        report.sample_ages = [TimingReport.Row("pmu", quantiles(0))]
        report.write_latencies = [TimingReport.Row("modbus \"a\\b\"", quantiles(1))]
        return report
    }

    @Test func `before the first cycle there are the cycle's own figures alone`() {
        let text = MetricsText.text(nil, Self.timing)
        #expect(text.contains("ballast_cycle_overruns_total 3.0\n"))
        #expect(text.contains("ballast_cycle_seconds{part=\"lateness\",quantile=\"0.5\"} 2.6623e-05\n"))
        #expect(!text.contains("ballast_frequency_hertz"))
    }

    @Test func `every name says what it is, and ends in its unit`() {
        let text = MetricsText.text(WhyUnit.site, Self.timing)
        let lines = text.split(separator: "\n")
        let types = lines.filter { $0.hasPrefix("# TYPE ") }.map { String($0.split(separator: " ")[2]) }
        #expect(types.count > 12 && Set(types).count == types.count)
        for name in types { #expect(text.contains("# HELP \(name) "), "\(name)") }
        #expect(text.contains(#"ballast_unit_trip{unit="A",interlock="smoke"} 1.0"#), "\(text)")
    }

    // swift-format-ignore
    static let fleets: [(asked: Double, limits: [Double], modes: [String], expected: Int, why: Comment)] = [
        (100, [100, 100, 100], ["running", "running", "running"], 2, "one alone bears it"),
        (101, [100, 100, 100], ["running", "running", "running"], 1, "a step above one's limit"),
        (150, [100, 100], ["running", "running"],                 0, "each is needed"),
        (100, [100, 100], ["running", "tripped"],                 0, "what is tripped is no reserve"),
        (  0, [100, 100], ["running", "running"],                 1, "the last one is no redundancy"),
        (  0, [], [],                                             0, "nobody"),
    ]
    @Test(arguments: fleets)
    func `how many units may be lost is counted from the largest on`(
        row: (asked: Double, limits: [Double], modes: [String], expected: Int, why: Comment)
    ) {
        var status = WhyUnit.site
        status.setpoint_kw = row.asked
        status.units = zip(row.limits, row.modes).map { limit, mode in
            var unit = WhyUnit.site.units[0]
            (unit.mode, unit.discharge_limit_kw) = (mode, limit)
            unit.trips = mode == "tripped" ? ["smoke"] : []
            return unit
        }
        #expect(MetricsText.redundancy(status) == row.expected, row.why)
        status.setpoint_kw = -row.asked
        for index in status.units.indices { status.units[index].charge_limit_kw = -row.limits[index] }
        #expect(MetricsText.redundancy(status) == row.expected, row.why)
    }

    @Test func `what has no value has no line, and names are quoted`() {
        let text = MetricsText.text(nil, Self.timing)
        #expect(!text.contains("ballast_sample_age_seconds"), "no record, no type")
        #expect(text.contains(#"{link="modbus \"a\\b\"",quantile="1"}"#), "\(text)")
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            #expect(Double(line.split(separator: " ").last ?? "") != nil, "\(line)")
        }
    }
}

/// A site of one unit, tripped.
private enum WhyUnit {
    static var site: SiteStatus {
        let unit = UnitStatus(
            id: "A", mode: "tripped", rating_kw: 100, asked_kw: 0, limited_by: "none", power_kw: 0,
            setpoint_kw: 0,
            soc_percent: 50, cell_voltage_min_v: 3.2, cell_voltage_max_v: 3.3, cell_temperature_min_c: 20,
            cell_temperature_max_c: 30, pack_voltage_v: 800, pack_current_a: 0, charge_limit_kw: 0,
            discharge_limit_kw: 0, charge_limited_by: "smoke", discharge_limited_by: "smoke",
            trips: ["smoke"],
            warnings: [])
        return SiteStatus(
            site: "s", mode: "simulation", at: "", cycle: 1, period_ms: 20, overruns: 0, frequency_hz: 50,
            base_point_kw: 0, response_kw: 0, target_kw: 0, setpoint_kw: 0, meter_power_kw: nil,
            site_power_kw: 0,
            realtime: "", latches_saved: true, base_point_by: "default", stopped: false, units: [unit],
            links: [])
    }
}
