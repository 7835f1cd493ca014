import ControlSocket
import Testing

@Suite struct TimingTextTests {
    private static func quantiles(_ count: UInt64, _ bins: [TimingReport.Bin] = []) -> TimingReport.Quantiles
    {
        TimingReport.Quantiles(
            count: count, p50_us: 10, p99_us: 20, p999_us: 30.126, max_us: 40, bins: bins)
    }

    private static var report: TimingReport {
        let bins = [
            TimingReport.Bin(up_to_us: 8.5, count: 400), TimingReport.Bin(up_to_us: 15.9, count: 600),
            TimingReport.Bin(up_to_us: 4_096, count: 1),
        ]
        var report = TimingReport(
            period_ms: 20, overruns: 3, lateness: quantiles(1_001, bins), execution: quantiles(1_001))
        report.stages = [TimingReport.Row("step", quantiles(1_001))]
        report.sample_ages = [
            TimingReport.Row("battery", quantiles(5)), TimingReport.Row("pmu", quantiles(0)),
        ]
        report.write_latencies = [TimingReport.Row("modbus 192.0.2.1:502", quantiles(7))]
        report.lateness_warn_ms = 10
        report.execution_warn_ms = 5
        return report
    }

    @Test func `the table has a row for each time and names the limits`() {
        let table = TimingText.table(Self.report)
        for part in [
            "period 20.0 ms, overruns 3; warned of: 10.0 ms late, 5.0 ms of work", "lateness", "execution",
            "  step", "age of battery", "write modbus 192.0.2.1:502", "30.13", "of 1001", "of 7",
        ] {
            #expect(table.contains(part), "\(part) in\n\(table)")
        }
    }

    @Test func `the plot shows a single late cycle among many`() throws {
        let plot = TimingText.plot(Self.report)
        let lines = plot.split(separator: "\n").filter { $0.contains("█") }
        let bars = lines.map { line in line.count { $0 == "█" } }
        #expect(bars.first == 40 && bars.dropFirst().first == 4, "\(plot)")
        #expect(!plot.contains("pmu"), "what has no records has no block")
    }

    @Test func `a report of an older daemon can still be shown`() throws {
        let old =
            #"{"timing": {"period_ms": 20, "overruns": 0, "lateness": {"count": 1, "p50_us": 1, "p99_us": 1,"#
            + #" "p999_us": 1, "max_us": 1}, "execution": {"count": 1, "p50_us": 1, "p99_us": 1, "p999_us": 1,"#
            + #" "max_us": 1}}}"#
        let answer = try #require(JSONLine.decode(ControlAnswer.self, from: Array(old.utf8)))
        let timing = try #require(answer.timing)
        #expect(TimingText.table(timing).contains("lateness") && TimingText.plot(timing).contains("lateness"))
    }
}
