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

    @Test func `what has no value has no line, and names are quoted`() {
        let text = MetricsText.text(nil, Self.timing)
        #expect(!text.contains("ballast_sample_age_seconds"), "no record, no type")
        #expect(text.contains(#"{link="modbus \"a\\b\"",quantile="1"}"#), "\(text)")
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            #expect(Double(line.split(separator: " ").last ?? "") != nil, "\(line)")
        }
    }
}
