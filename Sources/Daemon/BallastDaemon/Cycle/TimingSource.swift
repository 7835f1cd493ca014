import ControlSocket
import LinuxIO
import Quantities
import SiteConfig
import Synchronization

/// Where the figures on punctuality come from.
struct TimingSource: Sendable {
    private let link: CycleLink
    private let period: Duration
    private let limits: TimingLimitsConfig
    private let writes: [(name: String, latency: Histogram)]

    init(_ site: SiteAssembly) {
        link = site.cycleLink
        period = site.config.control.period
        limits = site.config.control.timing
        writes = site.modbusLinks.map { ($0.name, $0.status.writeLatency) }
    }

    func report() -> TimingReport {
        let timing = link.timing
        var report = TimingReport(
            period_ms: period.milliseconds, overruns: link.overruns.load(ordering: .relaxed),
            lateness: Self.quantiles(timing.lateness), execution: Self.quantiles(timing.execution))
        report.stages = [
            Self.row("image", timing.image), Self.row("step", timing.step),
            Self.row("actuation", timing.actuation), Self.row("publication", timing.publication),
        ]
        report.sample_ages = [
            Self.row("battery", timing.batteryAge), Self.row("inverter", timing.inverterAge),
            Self.row("meter", timing.meterAge), Self.row("pmu", timing.phasorAge),
        ]
        report.write_latencies = writes.map { Self.row($0.name, $0.latency) }
        report.lateness_warn_ms = limits.latenessWarning.milliseconds
        report.execution_warn_ms = limits.executionWarning.milliseconds
        return report
    }

    private static func row(_ name: String, _ histogram: Histogram) -> TimingReport.Row {
        TimingReport.Row(name, quantiles(histogram))
    }

    private static func quantiles(_ histogram: Histogram) -> TimingReport.Quantiles {
        func microseconds(_ share: Double) -> Double { Double(histogram.quantile(share) ?? 0) / 1_000 }
        return TimingReport.Quantiles(
            count: histogram.count, p50_us: microseconds(0.5), p99_us: microseconds(0.99),
            p999_us: microseconds(0.999), max_us: Double(histogram.maximum) / 1_000,
            bins: histogram.steps.map {
                TimingReport.Bin(up_to_us: Double($0.upTo) / 1_000, count: $0.count)
            })
    }
}
